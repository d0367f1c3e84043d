"""Explanations of ranks: a paper's rank and score in each half, the words it shares with the query, and its nearest sentence.

Also explains why an expected paper is missing, and what would bring it into the answer.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..base.arguments import checked
from ..base.choices import Filter, FusionMethod, Mode, check_count, conditions
from ..base.forms import AsJson
from ..base.types import Hit, Paper, Papers, Query, Rows, Vectors
from ..matching.dense import vectors as dense
from ..matching.dense.exact import score
from ..matching.late import QueryTokens
from ..matching.lexical import Analyzer
from ..matching.lexical.fields import readable_term
from ..matching.lexical.written import joined_forms
from ..matching.scope import Scope
from ..matching.search import Probe
from ..options import SearchOptions
from ..papers.sentences import sentences
from ..query.citations.citation_graph import Link
from ..query.index import Index
from ..query.narrowing import filters
from ..query.narrowing.combining import Combination
from ..query.narrowing.demands import Expression, Words, written
from ..query.opening import AnyIndex, opened
from ..query.ranking.leading import named_first

WORDS_TO_TRY = 8
"""Most words of a paper's title that are tried as additions to the query."""


@dataclass(frozen=True, slots=True)
class Place:
    """A paper's rank among all papers that may answer, from 1, and its score, in one half of a search."""

    rank: int
    score: float


@dataclass(frozen=True, slots=True)
class Explanation(AsJson):
    """The explanation of a paper's rank.

    Attributes:
        id: the paper's id.
        dense, bm25: its rank and score in each half; None if the index lacks the half, or no word is shared.
        words: query words in the paper, as typed (if papers are the query, as this paper spells them), with their contributions to its BM25
            score, greatest first.
        sentence: the sentence of its abstract nearest to the query; "" without an abstract.
        meanings: query words that the paper lacks, each with the paper's word closest in meaning, and the mean cosine of its tokens with
            their best matches, best first. Empty without late interaction.
        link: how citations link it with the example papers; None if citations are not used.
    """

    id: str
    dense: Place | None
    bm25: Place | None
    words: Mapping[str, float]
    sentence: str
    meanings: Mapping[str, tuple[str, float]]
    link: Link | None = None


@dataclass(frozen=True, slots=True)
class Absence(AsJson):
    """The explanation of an expected paper's absence.

    Attributes:
        explanation: its rank and score in each half.
        ranks: mode -> its rank in that mode; None if neither half proposes it, or it shares no word with the query.
        failed: conditions of the filter and demands of the query that it fails, one sentence each.
        remedies: changes that would bring it into the answer, one sentence each, the smallest first.
    """

    explanation: Explanation
    ranks: Mapping[Mode, int | None]
    failed: tuple[str, ...]
    remedies: tuple[str, ...]


@checked
def explain(index: AnyIndex, query: str | Query | Probe, ids: Papers, *, filter: Filter = None) -> list[Explanation]:
    """Explain papers' ranks for a query, among all papers that pass the filter and meet the query's demands.

    A `Probe` from an index's reader already contains its filter.

    Raises:
        NoSuchPaper: a paper is not in the index.
        InvalidRequest: as `Index.search`.

    >>> explained = sr.explain(index, "graph networks", ["p0007"])
    >>> explained[0].id
    'p0007'
    """
    with opened(index) as library:
        probe = query if isinstance(query, Probe) else library.reader.probes([query], library.modes[0], filter)[0]
        return explain_rows(library, probe, library.snapshot.named_rows(ids))


@checked
def why_not(
    index: AnyIndex,
    id: str | Paper | Hit,
    query: str | Query,
    *,
    k: int = 10,
    mode: Mode | None = None,
    filter: Filter = None,
    fusion: FusionMethod | None = None,
) -> Absence:
    """Explain why a paper is not among the first k, and what would bring it there.

    Raises as `explain`.

    >>> absence = sr.why_not(index, "p0007", "star dust")
    """
    check_count(k)
    with opened(index) as library:
        return _why_not(library, int(library.named_rows([id])[0]), query, k, mode, filter, fusion)


def _why_not(index: Index, row: int, query: str | Query, k: int, mode: Mode | None, filter: Filter, fusion: FusionMethod | None) -> Absence:
    chosen_mode = index.reader.mode_of(mode or index.modes[0], query)
    probe = index.reader.probes([query], index.modes[0], filter)[0]
    modes: Sequence[Mode] = [chosen_mode] if probe.lacks else index.modes
    failures, others = _failures(index, query, row, filter)
    # a paper that may not answer is ranked as if it might, since lifting the restriction is a remedy
    open_probe = replace(probe, scope=others) if failures else probe
    explanation = explain_rows(index, open_probe, np.array([row]))[0]
    ranks = {name: _rank(index, open_probe, row, name, fusion) for name in modes}
    return Absence(explanation, ranks, tuple(failures), tuple(_remedies(index, open_probe, row, k, chosen_mode, ranks, failures, fusion)))


def unmet(index: Index, query: str) -> list[str]:
    """Demands of a typed query that no paper in the index meets, each by itself, such as a word or a field's text. Raises as `explain`."""
    demands = index.reader.demanding(query, index.snapshot.scope)[0].demands
    parts = [part for demand in demands for part in _words_of(demand)]
    return [written(part) for part in parts if not len(index.snapshot.narrower.meeting([part], index.snapshot.scope))]


def _words_of(demand: Expression) -> Sequence[Expression]:
    """Split a demand of several words into one demand per word."""
    return [Words(word) for word in demand.text.split()] if isinstance(demand, Words) else [demand]


def explain_rows(index: Index, probe: Probe, rows: Rows, sentence: bool = True) -> list[Explanation]:
    """`explain` for the papers at the given rows, with or without their nearest sentences."""
    papers = index.snapshot.papers_at(rows)
    dense_places: list[Place | None] = [None] * len(papers)
    if probe.vector is not None:
        dense_scores = dense.score_rows(index.snapshot.vectors, probe.vector, rows)
        dense_places = [
            Place(*place)
            for place in zip(
                dense.ranks(index.snapshot.vectors, probe.vector, dense_scores, probe.scope), dense_scores.tolist(), strict=True
            )
        ]
    bm25_places, words = _by_words(index, probe, rows, papers)
    nearest = _nearest_sentences(index, probe, papers) if sentence else [""] * len(papers)
    meanings = _meanings(index, probe, papers) if sentence else [{} for _ in papers]
    parts = zip(papers, dense_places, bm25_places, words, nearest, meanings, strict=True)
    return [Explanation(paper.id, *fields) for paper, *fields in parts]


def _by_words(index: Index, probe: Probe, rows: Rows, papers: Sequence[Paper]) -> tuple[list[Place | None], list[dict[str, float]]]:
    """Papers' ranks and scores in BM25, and the words that they share with the query."""
    if (bm25 := index.snapshot.bm25) is None:
        return [None] * len(rows), [{} for _ in rows]
    query_forms = own_words(index.snapshot.analyzer, probe.query.words)
    query_forms |= {term: readable_term(term) for terms in probe.fields.values() for term in terms}
    scores, _ = bm25.scores(probe.all_terms)
    for liked in probe.liked:
        scores[liked.rows] += np.float32(liked.weight)
    passing = np.sort(scores[probe.scope.flags])
    paper_scores = scores[rows]
    ranks = len(passing) - np.searchsorted(passing, paper_scores, side="right") + 1
    weights_by_paper = [bm25.weights(probe.all_terms, row) for row in rows.tolist()]
    places = [
        Place(rank, score) if weights else None
        for rank, score, weights in zip(ranks.tolist(), paper_scores.tolist(), weights_by_paper, strict=True)
    ]
    # terms that were not typed, from example papers or corrections, are shown as the paper spells them
    texts = [
        f"{paper.title} {paper.abstract}" if weights.keys() - query_forms else ""
        for paper, weights in zip(papers, weights_by_paper, strict=True)
    ]
    word_forms = [own_words(index.snapshot.analyzer, text) | query_forms for text in texts]
    words = [{forms[term]: weights[term] for term in weights} for forms, weights in zip(word_forms, weights_by_paper, strict=True)]
    for row, paper_words in zip(rows.tolist(), words, strict=True):
        paper_words |= {f'"{liked.phrase}"': liked.weight for liked in probe.liked if row in liked.rows}
    return places, words


def typed_words(analyzer: Analyzer, text: str) -> dict[str, str]:
    """Map each term to the first word of the text that gives it."""
    words: dict[str, str] = {}
    for word in analyzer.words(text):
        term = analyzer.term(word)
        if term is not None:
            words.setdefault(term, word)
    return words


def own_words(analyzer: Analyzer, text: str) -> dict[str, str]:
    """Map each term to the first word of a text that gives it, in its written form but for capitals."""
    words = typed_words(analyzer, text)
    forms = joined_forms(analyzer, [text], words.values())
    own = {term: forms[word] for term, word in words.items()}
    return {**dict(analyzer.joined(text, typed=True)), **own}


def _nearest_sentences(index: Index, probe: Probe, papers: Sequence[Paper]) -> list[str]:
    """The sentence of each abstract that is nearest to the query: by vectors, or without vectors by shared words."""
    parts = [sentences(paper.abstract) for paper in papers]
    all_sentences = [part for texts in parts for part in texts]
    if not all_sentences:
        return [""] * len(papers)
    if (
        probe.vector is not None
        and index.snapshot.metric is not None
        and not index.reader.query_encoder.lack("paper")
        and index.reader.query_encoder.encoder.identity()["layout"] != "vectors"
    ):
        scores = score(
            probe.vector,
            index.reader.query_encoder.encoder.encode_papers([Paper("", part) for part in all_sentences]),
            index.snapshot.metric,
        )
    else:
        scores = np.array([sum(probe.terms.get(term, 0.0) for term in set(index.snapshot.analyzer.terms(part))) for part in all_sentences])
    ends = np.cumsum([len(texts) for texts in parts]).tolist()
    return [texts[int(scores[end - len(texts) : end].argmax())] if texts else "" for texts, end in zip(parts, ends, strict=True)]


def _meanings(index: Index, probe: Probe, papers: Sequence[Paper]) -> list[dict[str, tuple[str, float]]]:
    """For each paper, its words that match the query's words, by unpacked token vectors."""
    if probe.tokens is None:
        return [{} for _ in papers]
    encoder = index.reader.query_encoder.with_tokens
    return [
        _matched_words(index.snapshot.analyzer, probe.tokens, encoder.words("paper", paper), tokens)
        for paper, tokens in zip(papers, encoder.encode_papers_late(papers), strict=True)
    ]


def _matched_words(analyzer: Analyzer, query: QueryTokens, words: Sequence[str], tokens: Vectors) -> dict[str, tuple[str, float]]:
    own_terms = {term for word in words for term in analyzer.terms(word)}
    # punctuation matches nothing
    cosines = np.where([any(map(str.isalnum, word)) for word in words], query.vectors @ tokens.T, -1.0)
    best = cosines.argmax(axis=1) if len(words) else np.empty(0, np.intp)
    matched: dict[str, tuple[str, float]] = {}
    for word in dict.fromkeys(query.words):
        places = [place for place, other in enumerate(query.words) if other == word]
        terms = set(analyzer.terms(word))
        if terms <= own_terms or not len(words):  # the paper contains the word, in any case, or it is a stop word
            continue
        nearest = max(places, key=lambda place: cosines[place, best[place]])
        matched[word] = words[best[nearest]], float(np.mean([cosines[place, best[place]] for place in places]))
    return dict(sorted(matched.items(), key=lambda item: -item[1][1]))


def _failures(index: Index, query: str | Query, row: int, filter: Filter) -> tuple[list[str], Scope]:
    """Conditions of the filter and demands of the query that a paper fails, and the papers that pass all others."""
    paper = index.snapshot.papers_at(np.array([row]))[0]
    failures, others = [], index.snapshot.scope
    for part in [part for condition in conditions(filter) for part in filters.conjuncts(filters.parse(condition))]:
        mask, _ = index.snapshot.narrower.judge(part)
        if mask[row]:
            others = others.passing(mask)
        else:
            actual_values = ", ".join(f"its {column} is {filters.value_of(paper, column)}" for column in sorted(filters.columns(part)))
            failures.append(f"it fails the filter's {filters.written(part)}: {actual_values}")
    demands = index.reader.demanding(query, index.snapshot.scope)[0].demands if isinstance(query, str) else ()
    for demand in demands:
        meeting = index.snapshot.narrower.meeting([demand], others)
        if meeting.has(np.array([row]))[0]:
            others = meeting
        else:
            failures.append(_failure(index, demand, row))
    return failures, others


def _failure(index: Index, demand: Expression, row: int) -> str:
    """A sentence that says how a paper fails a demand of the query."""
    if isinstance(demand, Words):
        words = [str(word) for word in _words_of(demand) if not _meets(index, word, row)]
        return f"it lacks what the query requires: {', '.join(words)}"
    if isinstance(demand, Combination):
        says = {"OR": "it has none of these, and the query requires one", "NOT": "it has what the query excludes"}
        return f"{says.get(demand.operator, 'it lacks what the query requires')}: {written(demand)}"
    return f"it does not meet the query's {written(demand)}"


def _meets(index: Index, demand: Expression, row: int) -> bool:
    return len(index.snapshot.narrower.meeting([demand], index.snapshot.scope.among(np.array([row])))) == 1


def _rank(index: Index, probe: Probe, row: int, mode: Mode, fusion: FusionMethod | None) -> int | None:
    """A paper's rank in a search in the given mode, with the papers that the query names first; None if the answer does not contain it."""
    searcher, probe = replace(index.searcher, fusion=index.snapshot.tuned(SearchOptions(fusion=fusion))), replace(probe, mode=mode)
    named_rows = probe.named_rows
    if row in named_rows:
        rows = named_first(searcher.search([probe], len(named_rows))[0], replace(probe.named, rows=named_rows), len(named_rows)).rows
        return int(np.flatnonzero(rows == row)[0]) + 1
    if mode == "hybrid":
        (candidates,) = searcher.candidates([probe], searcher.fusion.depth)
        rows = searcher.fused(candidates, len(candidates.rows), searcher.fusion).rows
    else:
        place = getattr(explain_rows(index, probe, np.array([row]), sentence=False)[0], mode)
        if place is None:
            return None
        k = place.rank
        # ties go to the smaller id
        while row not in (rows := searcher.search([probe], k)[0].rows):
            k *= 2
    positions = np.flatnonzero(rows == row)
    if not len(positions):
        return None
    above = rows[: positions[0]]
    return len(above) + int((~np.isin(named_rows, above)).sum()) + 1


def _remedies(
    index: Index,
    probe: Probe,
    row: int,
    k: int,
    chosen_mode: Mode,
    ranks: Mapping[Mode, int | None],
    failures: Sequence[str],
    fusion: FusionMethod | None,
) -> list[str]:
    rank_now = ranks[chosen_mode]
    if failures:
        place = "it would not be among the candidates" if rank_now is None else f"it would be number {rank_now}"
        remedies = [f"without that, {place}"]
    else:
        if rank_now is not None and rank_now <= k:
            return [f"nothing is missing: it is number {rank_now} of the answer"]
        remedies = [] if rank_now is None else [f"`k={rank_now}` would show it"]
    for mode, rank in () if failures else ranks.items():
        if mode != chosen_mode and rank is not None and rank <= k:
            remedies.append(f"`mode={mode!r}` shows it at rank {rank}")
    if (rank_now is None or rank_now > k) and (remedy := _with_a_word(index, probe, row, k, chosen_mode, fusion)):
        remedies.append(remedy)
    return remedies or ["no other mode and no single word of its title brings it in: the query is about something else"]


def _with_a_word(index: Index, probe: Probe, row: int, k: int, mode: Mode, fusion: FusionMethod | None) -> str:
    """The word of the paper's title that brings it highest among the first k when added to the query; "" if there is none."""
    paper = index.snapshot.papers_at(np.array([row]))[0]
    query_terms = {*index.snapshot.analyzer.terms(probe.query.words), *probe.terms}  # including corrections
    missing_words = {term: word for term, word in own_words(index.snapshot.analyzer, paper.title).items() if term not in query_terms}
    if (bm25 := index.snapshot.bm25) is not None:  # the rarest first
        missing_words = dict(sorted(missing_words.items(), key=lambda item: len(bm25.rows_with([item[0]]))))
    best: tuple[int, str] | None = None
    for word in list(missing_words.values())[:WORDS_TO_TRY]:
        words = f"{probe.query.words} {word}"
        extended_probe = replace(
            index.reader.probes([Query(probe.query.id, words, vector=probe.query.vector)], mode, None)[0], scope=probe.scope
        )
        rank = _rank(index, extended_probe, row, mode, fusion)
        if rank is not None and rank <= k and (best is None or rank < best[0]):
            best = rank, word
    return f"with the word {best[1]!r} added it is number {best[0]}" if best else ""

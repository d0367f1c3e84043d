"""Search: dense, BM25, and hybrid. A batch of probes in, one ranking per probe out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from itertools import groupby
from typing import Any, Self

import numpy as np

from ..base.choices import Metric, Mode
from ..base.types import Half, Query, Rows, Scores, TotalIs, Vectors
from ..base.waiting import raise_if_abandoned
from ..runs import WEAK, Ranking
from . import topk
from .dense import VectorShard, full_corpus
from .dense import vectors as dense
from .dense.exact import RowScores
from .effort import USUAL, Effort
from .full_texts import READ, SHARE, WORDS, FullText, Passages, two_best, usual_gains, zeroed
from .fusion import Fusion, rescored_first
from .halves import Halves
from .late import QueryTokens, matches
from .lexical import Bm25
from .lexical.bm25 import FieldTerms
from .lexical.lexical_shard import Weights
from .lexical.scoring import Best
from .lexical.spelling import Correction
from .scope import NO_ROWS, Scope, are_among, union

BATCH = 256
"""Queries whose candidates are in memory at a time."""

FAR = 0.7
"""Weight of shared words in a paper that is far from the query. Half of the words of a query from another field occur by chance."""
FIRST = 10
"""Papers of an answer whose best match gives its strength."""
FOREIGN = 0.3
"""Greatest strength of an answer to a query in a language that the index does not read. It is weak, since such a query shares only names
with papers."""
SHORT, LONG = 3, 8
"""Most words of a short query, whose words should all occur in one near paper; and fewest words of a long query, which may contain words
that no paper needs."""
AROUND, NEAREST = 100, 2
"""Papers nearest to a query in which its words are looked up; and nearest papers whose mean gives their distance, since one may be near by
chance."""
DECIDING = 2.5
"""Exponent of the share of a short query's words that near papers contain. A paper without one deciding word is on another subject, as
papers on networks of neurons are for `graph neural networks`. Measured, see docs/search.md."""
NEARER = 2.0
"""Standard deviations by which a paper with a corrected word must be nearer to the query than papers are on average, as one in forty is. Of
true slips, 3 to 8 in a hundred bring no such paper; of right words of other fields, a third to a half."""
LEAST = 0.01
"""Least factor of scores. A factor of 0 would lose their order in other programs."""
DEEPER = 4
"""If an answer is longer than its proposals, this many times as many papers are proposed, and follow the others. So the first proposals,
and the first papers, do not depend on k."""
LEAST_DEPTH = 20
"""First depth of a dense search with an approximate index: the depth that the usual ten papers, grouped, need."""


@dataclass(frozen=True, eq=False)
class Match:
    """Papers that a text means.

    Attributes:
        by: how the text means them: "id", "DOI", "arXiv number", "PubMed id", "OpenAlex id", "address", "citation key", "title", "beginning
            of a title", "misspelt title", "reference", "text" or "names"; "" if it means none.
        rows: rows of the papers: several if the index has a work twice, or if the text names several papers.
    """

    by: str
    rows: Rows

    def __len__(self) -> int:
        return len(self.rows)


NO_MATCH = Match("", NO_ROWS)


@dataclass(frozen=True, slots=True)
class Liked:
    """A preferred phrase, the rows of the papers with it, ascending, and their bonus in BM25."""

    phrase: str
    rows: Rows = field(compare=False)
    weight: float


@dataclass(frozen=True, slots=True)
class Probe:
    """A query that is ready to be searched.

    Attributes:
        query: the query.
        scope: papers that may answer.
        vector: vector for dense search, (dim,).
        terms: terms for BM25, with their weights.
        own_terms: the query's own terms; feedback adds others to `terms`.
        corrections: corrections of words that no or hardly any paper has; their terms are in `terms`.
        listing: whether the query only asks for values of columns, so that all papers that may answer match equally.
        tokens: token vectors for late interaction.
        named: papers that the query names, which come first.
        fields: field words for terms that may be names, see `matching.lexical.name_terms`.
        without_terms: whether papers without any of the terms may answer, since the demands have no terms (C++, child*).
        lacks: the half of hybrid search that is missing from the answer, see `runs.Ranking`.
        total, total_is: number of papers that satisfy the query, and in what way, see `runs.Ranking`.
        expansion: terms that RM3 adds, with their weights; some may be the query's own.
        liked: preferred phrases.
        remarks: notes for the user on how the query was read, one sentence each.
        is_foreign: whether the query is in a language that the index does not read.
        mode: the mode to search in.
        meeting_passages: for each text that the query demands, the rows of the passages with it.
        in_full_texts: whether full texts are searched, too. They are not for a paper in place of a query, which is compared with papers.
    """

    query: Query
    scope: Scope = field(compare=False)
    vector: Vectors | None = None
    terms: Mapping[str, float] = field(default_factory=dict)
    own_terms: Mapping[str, float] = field(default_factory=dict)
    corrections: Sequence[Correction] = ()
    listing: bool = False
    tokens: QueryTokens | None = None
    named: Match = NO_MATCH
    fields: FieldTerms = field(default_factory=dict)
    without_terms: bool = False
    lacks: Half | None = None
    total: int = 0
    total_is: TotalIs = "passes filters"
    expansion: Mapping[str, float] = field(default_factory=dict)
    liked: Sequence[Liked] = ()
    remarks: Sequence[str] = ()
    is_foreign: bool = False
    mode: Mode = "hybrid"
    meeting_passages: Sequence[Rows] = ()
    in_full_texts: bool = True

    @property
    def named_rows(self) -> Rows:
        """Rows of the named papers that may answer, ascending."""
        return self.scope.kept(self.named.rows)

    @property
    def all_terms(self) -> Mapping[str, float]:
        """Weighted terms, including RM3's, and the field words of terms that may be names."""
        in_fields = {term: weight for terms in self.fields.values() for term, weight in terms.items()}
        added = {term: self.terms.get(term, 0.0) + weight for term, weight in self.expansion.items()}
        return {**self.terms, **added, **in_fields} if added or in_fields else self.terms


@dataclass(frozen=True, slots=True)
class Candidates:
    """Proposals of both halves for a probe, all (n,): rows, and their scores in each half (BM25's are -inf without a common word).
    `token_scores` caches late interaction's scores by row. Scores count full texts, see `matching.full_texts`; `passages` are those that
    were read."""

    probe: Probe
    rows: Rows
    dense: Scores
    bm25: Scores
    token_scores: dict[int, float] = field(default_factory=dict, compare=False)
    passages: Passages | None = None


@dataclass(frozen=True, slots=True)
class Found:
    """Papers found for a probe, in any order, all (n,): see `Ranking`. Scores of parts are -inf for none."""

    probe: Probe
    rows: Rows
    scores: Scores
    parts: Mapping[str, Scores]
    passages: Rows | None = None

    def ranked(self, k: int, ids: Sequence[str], order: Rows) -> Ranking:
        """The k best papers, and those that the probe names; of `ids`, in this order."""
        probe = self.probe
        if len(order) > k:
            named = are_among(self.rows[order[k:]], np.sort(probe.named.rows))
            order = np.concatenate([order[:k], order[k:][named]]) if named.any() else order[:k]
        return Ranking(
            probe.query,
            [ids[place] for place in order.tolist()],
            np.ones(len(order)) if probe.listing else self.scores[order],
            self.rows[order],
            {name: np.where(np.isfinite(part), part, np.nan)[order] for name, part in self.parts.items()},
            corrections={correction.word: correction.meant for correction in probe.corrections},
            listing=probe.listing,
            lacks=probe.lacks,
            remarks=probe.remarks,
            undecided=probe.scope.undecided,
            total=probe.total,
            total_is=probe.total_is,
            ranked=len(probe.scope) if "dense" in self.parts else None,
            passages=None if self.passages is None else self.passages[order],
        )


@dataclass(frozen=True)
class Searcher:
    """Searches the halves of an opened index.

    Attributes:
        halves: the halves to search.
        effort: search effort of an approximate dense half.
        fusion: how the halves are fused.
        weighted: BM25 with other parameters than the index's.
        matched: scores the papers at given rows, (n,), by a query's token vectors, if the index has no token vectors.
    """

    halves: Halves
    effort: Effort = USUAL
    fusion: Fusion = field(default_factory=Fusion)
    weighted: Bm25 | None = None
    matched: Callable[[QueryTokens, Rows], Scores] | None = None

    @classmethod
    def of(cls, halves: Halves, **parts: Any) -> Self:
        """A searcher with the defaults of these halves. A subclass's further fields are `parts`."""
        return cls(halves, halves.usual_effort, halves.fusion, **parts)

    @property
    def bm25(self) -> Bm25 | None:
        """The BM25 half, if any."""
        return self.halves.bm25 if self.weighted is None else self.weighted

    def match(self, tokens: QueryTokens, rows: Rows) -> Scores:
        """Match of a query's token vectors with the papers at the given rows, (n,); see `matching.late.matches`."""
        return matches(self.halves.tokens, tokens, rows)

    def top(self, query_vectors: Vectors, k: int, metric: Metric, device: str | None = None) -> Iterator[RowScores]:
        """The k best of all papers for each vector, (n, dim), by an exhaustive search with `metric`.

        Rows are counted over the undeleted papers. Order, ties and `device` are as in `full_corpus.top`.
        """
        return full_corpus.top(query_vectors, live_vectors(self.halves.vectors, self.halves.scope), k, metric, device)

    def close(self) -> None:
        """Release what searches elsewhere; here nothing."""

    def search(self, probes: Sequence[Probe], k: int) -> list[Ranking]:
        """Rank the papers that may answer each probe, in its mode: the first k, followed by further papers that the probe names.
        `Index.search` says what is guaranteed."""
        rankings: dict[int, Ranking] = {}
        for mode in dict.fromkeys(probe.mode for probe in probes):
            places = [place for place, probe in enumerate(probes) if probe.mode == mode]
            rankings |= zip(places, self._in_mode(mode, [probes[place] for place in places], k), strict=True)
        return [rankings[place] for place in range(len(probes))]

    def _in_mode(self, mode: Mode, probes: Sequence[Probe], k: int) -> list[Ranking]:
        fusion = self.fusion
        rankings: list[Ranking] = []
        for batch in _batches(probes):
            if mode != "hybrid" and self._full_text(batch[0]) is not None:
                rankings += [self._in_one_half(mode, probe, k) for probe in batch]
            elif mode == "bm25":
                bests = self._bests_with_bonus(batch, k, [probe.named_rows for probe in batch])
                rankings += self._rankings(k, [self._bm25(probe, k, *best) for probe, best in zip(batch, bests, strict=True)])
            elif mode == "dense":
                rankings += self._by_vectors(batch, k)
            else:
                rankings += [self._hybrid(candidates, k, fusion) for candidates in self.candidates(batch, fusion.depth)]
        return rankings

    def _nearest(self, probes: Sequence[Probe], k: int) -> list[RowScores]:
        """Nearest vectors of probes that share a scope."""
        raise_if_abandoned()
        return self.near(np.stack([_vector(probe) for probe in probes]), k, probes[0].scope)

    def near(self, query_vectors: Vectors, k: int, scope: Scope) -> list[RowScores]:
        """Nearest papers in a scope for each vector, (n, dim); see `matching.dense.vectors.search`."""
        return dense.search(self.halves.vectors, query_vectors, k, scope, self.effort)

    def _by_vectors(self, probes: Sequence[Probe], k: int) -> list[Ranking]:
        """The papers nearest to each probe of a batch. What an approximate index finds depends on how deep it looks, so it looks as deep as
        for a usual answer first, and what it finds deeper follows, as in hybrid search."""
        depth = LEAST_DEPTH if any(shard.ann_path for shard in self.halves.vectors) else k
        nearest = zip(probes, self._nearest(probes, depth), strict=True)
        rankings = self._rankings(min(k, depth), [self._dense(probe, *near) for probe, near in nearest])
        while depth < min(k, len(probes[0].scope)):
            depth *= DEEPER
            for place, (probe, (rows, scores)) in enumerate(zip(probes, self._nearest(probes, depth), strict=True)):
                first = rankings[place]
                is_new = ~np.isin(rows, first.rows)
                deeper = self._ranked(probe, max(min(k, depth) - len(first), 0), rows[is_new], scores[is_new], {"dense": scores[is_new]})
                rankings[place] = first.followed_by(deeper) if len(deeper) else first
        return rankings

    def bests(self, probes: Sequence[Probe], k: int, others: Sequence[Rows]) -> Iterable[Best]:
        """Best papers by words for each probe of a batch that shares a scope; see `Bm25.best`."""
        assert self.bm25 is not None
        return self.bm25.bests([probe.all_terms for probe in probes], k, probes[0].scope, others)

    def _bests_with_bonus(self, probes: Sequence[Probe], k: int, others: Sequence[Rows]) -> Iterator[Best]:
        """`bests` with bonuses for preferred phrases. Rows with a phrase are scored in addition."""
        liked = [reduce(union, (one.rows for one in probe.liked), NO_ROWS) for probe in probes]
        liked = [probe.scope.kept(rows) for probe, rows in zip(probes, liked, strict=True)]
        asked = [union(rows, other_rows) if len(rows) else other_rows for rows, other_rows in zip(liked, others, strict=True)]
        for probe, rows, own, other_rows, found in zip(probes, liked, others, asked, self.bests(probes, k, asked), strict=True):
            if not len(rows):
                yield found
                continue
            best_rows, best_scores, other_scores = found
            mine = other_scores[np.searchsorted(other_rows, rows)]
            fresh = np.isfinite(mine) & ~np.isin(rows, best_rows)
            best_rows, best_scores = np.concatenate([best_rows, rows[fresh]]), np.concatenate([best_scores, mine[fresh]])
            own_scores = other_scores[np.searchsorted(other_rows, own)]
            for one in probe.liked:
                best_scores = np.where(np.isin(best_rows, one.rows), best_scores + np.float32(one.weight), best_scores)
                own_scores = np.where(np.isin(own, one.rows), own_scores + np.float32(one.weight), own_scores)
            best = topk.best(best_scores, k) if len(best_rows) > k else slice(None)
            yield Best(best_rows[best], best_scores[best], own_scores)

    def _bm25(self, probe: Probe, k: int, rows: Rows, row_scores: Weights, named_scores: Weights) -> Found:
        scores = row_scores.astype(np.float64)
        if len(named_rows := probe.named_rows):
            is_missing = ~are_among(named_rows, np.sort(rows))
            rows, scores = np.concatenate([rows, named_rows[is_missing]]), np.concatenate([scores, named_scores[is_missing]])
        if (probe.listing or probe.without_terms) and len(rows) < k:
            # papers without any of the words: an author's name is seldom in the text
            others = np.setdiff1d(probe.scope.places, rows)
            rows, scores = np.concatenate([rows, others]), np.concatenate([scores, np.full(len(others), -np.inf)])
        return Found(probe, rows, np.where(np.isfinite(scores), scores, 0.0), {"bm25": scores})

    def _dense(self, probe: Probe, rows: Rows, scores: Scores) -> Found:
        if len(named_rows := probe.named_rows):
            missing = named_rows[~are_among(named_rows, np.sort(rows))]
            rows = np.concatenate([rows, missing])
            scores = np.concatenate([scores, dense.score_rows(self.halves.vectors, _vector(probe), missing)])
        return Found(probe, rows, scores, {"dense": scores})

    def candidates(self, probes: Sequence[Probe], depth: int) -> Iterator[Candidates]:
        """Candidates for each probe: the first `depth` proposals of each half and the papers that it names, scored by both halves."""
        for batch in _batches(probes):
            nearest = self._nearest(batch, depth)
            others = [union(rows, probe.named_rows) for probe, (rows, _) in zip(batch, nearest, strict=True)]
            full_text = self._full_text(batch[0])
            if full_text is not None:
                owners = [self._with_words(full_text, probe) for probe in batch]
                sample = batch[0].scope.kept(full_text.sample)  # to be scored with the others
                others = [union(union(rows, own_rows), sample) for rows, own_rows in zip(others, owners, strict=True)]
            bests = self._bests_with_bonus(batch, depth, others)
            for place, (probe, near, best) in enumerate(zip(batch, nearest, bests, strict=True)):
                candidates = self._candidates(probe, near, others[place], best)
                if full_text is not None:
                    first = (near[0][topk.best(near[1], READ)], best[0][topk.best(best[1], READ)], owners[place], probe.named_rows)
                    candidates = self._with_full_texts(full_text, candidates, first)
                yield candidates

    def _full_text(self, probe: Probe) -> FullText[Halves] | None:
        """The full texts that a probe is searched in; None without any."""
        return self.halves.fulltext if probe.in_full_texts else None

    def _with_words(self, full_text: FullText[Halves], probe: Probe) -> Rows:
        """Papers whose passages have the words of a probe best."""
        bm25 = full_text.halves.bm25
        if bm25 is None:
            return NO_ROWS
        rows, _, _ = bm25.best(probe.terms, WORDS, full_text.scope(probe.scope))
        owners: Rows = np.unique(full_text.owners[rows])
        return owners

    def _with_full_texts(self, full_text: FullText[Halves], candidates: Candidates, first: Sequence[Rows]) -> Candidates:
        """Candidates whose scores count full texts, where these are read: those of the papers that come first in some way."""
        probe = candidates.probe
        papers = np.unique(np.concatenate(first))
        papers = papers[full_text.readable[papers]]
        if not len(papers):
            return candidates
        places = np.searchsorted(candidates.rows, papers)
        everyone = union(papers, full_text.sample)
        rows, firsts = full_text.passages_of(everyone)
        is_sample, is_candidate = np.isin(everyone, full_text.sample), np.isin(everyone, papers)
        counted, of_passages = [], []
        for half, own in (("dense", candidates.dense.copy()), ("bm25", candidates.bm25.copy())):
            of_passages.append(self._half_of(full_text.halves, half, probe, rows))
            gains = two_best(of_passages[-1], firsts) - zeroed(self._texts_of(candidates, half, own, everyone))
            own[places] = zeroed(own[places]) + SHARE * (gains - usual_gains(gains, of_passages[-1], firsts, is_sample))[is_candidate]
            counted.append(own)
        kept = np.isin(full_text.owners[rows], papers)
        passages = Passages(rows[kept], of_passages[0][kept], of_passages[1][kept])
        return replace(candidates, dense=counted[0], bm25=counted[1], passages=passages)

    def _texts_of(self, candidates: Candidates, half: str, own: Scores, rows: Rows) -> Scores:
        """Scores of papers by title and abstract alone in one half, (n,). `own` are the candidates' scores, which also count names and
        preferred phrases."""
        probe = candidates.probe
        if half == "bm25" and (probe.fields or probe.liked or probe.expansion):
            return self._half_of(self.halves, half, probe, rows)
        is_candidate = are_among(rows, candidates.rows)
        scores = np.empty(len(rows))
        scores[is_candidate] = own[np.searchsorted(candidates.rows, rows[is_candidate])]
        if not is_candidate.all():  # of the sample, but not among the papers that may answer
            scores[~is_candidate] = self._half_of(self.halves, half, probe, rows[~is_candidate])
        return scores

    def _half_of(self, halves: Halves, half: str, probe: Probe, rows: Rows) -> Scores:
        """Scores of papers, or of passages, in one half, (n,); -inf without a word of the query, and without the half."""
        if half == "dense" and probe.vector is not None:
            return dense.score_rows(halves.vectors, probe.vector, rows)
        bm25 = self.bm25 if halves is self.halves else halves.bm25
        if half == "dense" or bm25 is None or not len(rows):
            return np.full(len(rows), -np.inf)
        order = np.argsort(rows)
        scores = np.empty(len(rows))
        scores[order] = bm25.best(probe.terms, 1, halves.scope, rows[order])[2]
        return scores

    def _in_one_half(self, mode: Mode, probe: Probe, k: int) -> Ranking:
        """The ranking by one half where papers have full texts: the first proposals, whose full texts count, then deeper ones."""
        full_text, depth = self._full_text(probe), self.fusion.depth
        assert full_text is not None
        if mode == "dense":
            ((near, _),) = self._of_passages(full_text).near(_vector(probe)[None], WORDS, full_text.scope(probe.scope))
            owners: Rows = np.unique(full_text.owners[near])
        else:
            owners = self._with_words(full_text, probe)
        sample = probe.scope.kept(full_text.sample)
        rows, scores = self.proposals(mode, probe, depth, union(union(owners, probe.named_rows), sample))
        none = np.full(len(rows), -np.inf)
        alone = Candidates(probe, rows, scores if mode == "dense" else none, scores if mode == "bm25" else none)
        counted = self._with_full_texts(full_text, alone, (rows[topk.best(scores, READ)], owners, probe.named_rows))
        joined = counted.dense if mode == "dense" else counted.bm25
        passages = self._best_passages(full_text, counted)
        kept = np.isfinite(joined) | np.isin(rows, probe.named_rows)  # without those of the sample that have no word of the query
        rows, joined, passages = rows[kept], joined[kept], None if passages is None else passages[kept]
        ranking = self._ranked(probe, k, rows, np.where(np.isfinite(joined), joined, 0.0), {mode: joined}, passages)
        seen = rows
        while len(ranking) < k and len(seen) < len(probe.scope):
            depth *= DEEPER
            rows, scores = self.proposals(mode, probe, depth)
            if depth >= len(probe.scope) and (probe.listing or probe.without_terms):
                others = np.setdiff1d(probe.scope.places, rows)
                rows, scores = np.concatenate([rows, others]), np.concatenate([scores, np.full(len(others), -np.inf)])
            is_new = ~np.isin(rows, seen)
            seen = union(seen, rows[is_new])
            new_scores = np.where(np.isfinite(scores), scores, 0.0)[is_new]
            deeper = self._ranked(probe, k - len(ranking), rows[is_new], new_scores, {mode: scores[is_new]})
            ranking = ranking.followed_by(deeper)
            if depth >= len(probe.scope):
                break
        return ranking

    def _of_passages(self, full_text: FullText[Halves]) -> Searcher:
        """A searcher of passages."""
        return Searcher.of(full_text.halves)

    def _best_passages(self, full_text: FullText[Halves], candidates: Candidates) -> Rows | None:
        """The passage to show of each candidate, (n,); -1 for those whose full text was not read. First come those that have what is
        demanded."""
        if (passages := candidates.passages) is None:
            return None
        demanded = np.zeros(len(passages.rows))
        for rows in candidates.probe.meeting_passages:
            demanded += np.isin(passages.rows, rows)
        papers, shown = passages.shown(full_text.owners, demanded)
        best = np.full(len(candidates.rows), -1, np.int64)
        best[np.searchsorted(candidates.rows, papers)] = shown
        return best

    def proposals(self, mode: Mode, probe: Probe, depth: int, others: Rows = NO_ROWS) -> tuple[Rows, Scores]:
        """The best papers by one half, and others, rows ascending, with their scores, -inf without a common word."""
        if mode == "dense":
            ((rows, scores),) = self._nearest([probe], depth)
            missing = others[~np.isin(others, rows)]
            scores = np.concatenate([scores, dense.score_rows(self.halves.vectors, _vector(probe), missing)])
        else:
            ((rows, best_scores, other_scores),) = self._bests_with_bonus([probe], depth, [others])
            is_missing = ~np.isin(others, rows)
            missing = others[is_missing]
            scores = np.concatenate([best_scores, other_scores[is_missing]]).astype(np.float64)
        rows = np.concatenate([rows, missing])
        order = np.argsort(rows)
        return rows[order], scores[order]

    def _candidates(self, probe: Probe, nearest: RowScores, other_rows: Rows, best: Best) -> Candidates:
        """Score the union of both halves' proposals by both halves, so that no score is missing in the fusion."""
        assert self.bm25 is not None
        best_rows, best_scores, other_scores = best
        rows = union(other_rows, best_rows)
        meaning, words = np.empty(len(rows)), np.empty(len(rows))
        in_nearest = np.searchsorted(rows, nearest[0])
        words[np.searchsorted(rows, other_rows)], words[np.searchsorted(rows, best_rows)] = other_scores, best_scores
        scored = np.zeros(len(rows), bool)
        scored[in_nearest] = True
        meaning[in_nearest] = nearest[1]
        meaning[~scored] = dense.score_rows(self.halves.vectors, _vector(probe), rows[~scored])
        return Candidates(probe, rows, meaning, words)

    def _hybrid(self, candidates: Candidates, k: int, fusion: Fusion) -> Ranking:
        """The k best of the candidates, followed by deeper candidates if they are fewer."""
        ranking, probe, known, depth = self.fused(candidates, k, fusion), candidates.probe, candidates.rows, fusion.depth
        while len(ranking) < k and len(known) < len(probe.scope):
            depth *= DEEPER
            (deeper,) = self.candidates([probe], depth)
            is_new = ~np.isin(deeper.rows, known)
            known = union(known, deeper.rows)
            rows, parts = deeper.rows[is_new], {"dense": deeper.dense[is_new], "bm25": deeper.bm25[is_new]}
            scores = fusion.join(parts["dense"], parts["bm25"], len(probe.terms))
            ranking = ranking.followed_by(self._ranked(probe, k - len(ranking), rows, scores, parts))
        return ranking

    def fused(self, candidates: Candidates, k: int, fusion: Fusion) -> Ranking:
        """The k best of the candidates, and further papers that the query names. Late interaction re-scores the papers that are first
        without it, whatever k is."""
        facts = candidates.dense, candidates.bm25, len(candidates.probe.terms)
        scores = fusion.join(*facts)
        token_scores = np.full(len(scores), -np.inf)
        if fusion.takes_tokens and candidates.probe.tokens is not None and (self.matched or self.halves.late):
            first = topk.best(scores, fusion.token_depth)
            token_scores[first] = self._by_tokens(candidates, candidates.rows[first])
            scores = rescored_first(scores, first, fusion.join(*facts, token_scores))
        full_text = self._full_text(candidates.probe)
        best_passages = None if full_text is None else self._best_passages(full_text, candidates)
        best = union(topk.best(scores, k), np.searchsorted(candidates.rows, candidates.probe.named_rows))
        parts = {"dense": candidates.dense[best], "bm25": candidates.bm25[best]}
        if np.isfinite(token_scores).any():
            parts["tokens"] = token_scores[best]
        of_best = None if best_passages is None else best_passages[best]
        ranking = self._ranked(candidates.probe, k, candidates.rows[best], scores[best], parts, of_best)
        strength = self.strength(candidates, topk.best(scores, FIRST))
        if strength is None or candidates.probe.listing:
            return ranking
        if candidates.probe.is_foreign:
            strength = min(strength, FOREIGN)
        # one positive factor per query, which changes no order
        return replace(ranking, scores=ranking.scores * max(strength, LEAST), strength=strength)

    def _by_tokens(self, candidates: Candidates, rows: Rows) -> Scores:
        """Match of the query's token vectors with candidates at these rows, (n,)."""
        known = candidates.token_scores
        new_rows = np.array([row for row in rows.tolist() if row not in known], np.int64)
        if len(new_rows):
            assert candidates.probe.tokens is not None
            match = self.matched or self.match
            known.update(zip(new_rows.tolist(), match(candidates.probe.tokens, new_rows).tolist(), strict=True))
        return np.array([known[row] for row in rows.tolist()])

    def strength(self, candidates: Candidates, first: Rows) -> float | None:
        """Strength of an answer from 0 to 1: how well the best candidates match their query, by vectors or by words, whichever is greater.

        By vectors, it is the position of the nearest candidate's score between chance and neighbouring papers (`Scale`). By words, it is
        the greatest share of the query's words that one paper contains, weighted by inverse document frequency. A corrected word counts by
        its certainty. For a paper no nearer than chance the share is multiplied by `FAR`, unless the words are names. For a short query,
        both are reduced by words that no near paper, or no paper at all, contains (`DECIDING`), unless all words are such. Returns None
        without a scale, since fused scores are relative to the best candidate, however far it is.
        """
        scale = self.halves.scale
        if scale is None or self.bm25 is None or not len(first):
            return None
        probe = candidates.probe
        whole = {**probe.own_terms, **{correction.term: 1.0 for correction in probe.corrections}}
        total = sum(weight * self.bm25.rarity(term) for term, weight in whole.items())
        certain = {**probe.own_terms, **{correction.term: correction.certainty for correction in probe.corrections}}
        near = scale.strength(candidates.dense[first])
        covered = self._shares(certain, total, candidates, first)
        by_words = covered if probe.fields else covered * (FAR + (1 - FAR) * near)
        known = sum(weight * self.bm25.rarity(term) for term, weight in whole.items() if self._is_known(probe, term))
        if probe.fields or not known or len(whole) > LONG:
            return float(np.maximum(near, by_words).max())
        around = topk.best(candidates.dense, AROUND)
        by_meaning = float(np.sort(scale.scaled(candidates.dense[around]))[-NEAREST:].mean())
        had = float(self._shares(whole, total, candidates, around).max()) / min(1.0, (SHORT / len(whole)) ** 2)
        return float(np.clip(max(by_meaning, by_words.max()) * (known / total * min(had, 1.0)) ** DECIDING, 0.0, 1.0))

    def _is_known(self, probe: Probe, term: str) -> bool:
        """Whether a paper has a term, in its full text if that is searched."""
        full_text = self._full_text(probe)
        in_texts = None if full_text is None else full_text.halves.bm25
        assert self.bm25 is not None
        return bool(self.bm25.frequency(term) or (in_texts is not None and in_texts.frequency(term)))

    def _shares(self, terms: Mapping[str, float], total: float, candidates: Candidates, places: Rows) -> Scores:
        """Share of a query's words, by rarity, that candidates have at some places: of the words that the whole query has, `total`. The
        words may all stand in a passage."""
        assert self.bm25 is not None
        rows, probe = candidates.rows[places], candidates.probe
        shares = self.bm25.covered_rarity(terms, rows, probe.fields) / total if total else np.zeros(len(places))
        full_text, passages = self._full_text(probe), candidates.passages
        if full_text is None or passages is None or (bm25 := full_text.halves.bm25) is None:
            return shares
        chosen = np.isin(full_text.owners[passages.rows], rows)
        passage_rows = passages.rows[chosen]
        if whole := sum(weight * bm25.rarity(term) for term, weight in terms.items()):
            order = np.argsort(rows)
            positions = order[np.searchsorted(rows[order], full_text.owners[passage_rows])]
            np.maximum.at(shares, positions, bm25.covered_rarity(terms, passage_rows) / whole)
        return shares

    def believes(self, correction: Correction, vector: Vectors) -> bool:
        """Whether a correction is plausible. A doubtful one is not if the dense half knows the meaning of the query, (dim,), and no paper
        with the correction is near it."""
        scale = self.halves.scale
        if not correction.doubted or scale is None or self.bm25 is None:
            return True
        if scale.strength(self.near(vector[None], 1, self.halves.scope)[0][1]).max() < WEAK:
            return True
        brought = self.near(vector[None], 1, self.halves.scope.among(self.bm25.rows_with([correction.term])))[0][1]
        background = dense.score_rows(self.halves.vectors, vector, scale.rows)
        return bool(brought.max() > background.mean() + NEARER * background.std())

    def _ranked(
        self, probe: Probe, k: int, rows: Rows, scores: Scores, parts: Mapping[str, Scores], passages: Rows | None = None
    ) -> Ranking:
        (ranking,) = self._rankings(k, [Found(probe, rows, scores, parts, passages)])
        return ranking

    def _rankings(self, k: int, found: Sequence[Found]) -> list[Ranking]:
        """The k best papers found for each probe, and those that it names. All ids are read at once."""
        lengths = [len(one.rows) for one in found]
        ids = self.halves.ids(np.concatenate([one.rows for one in found]))
        order = topk.order(ids, np.concatenate([one.scores for one in found]), np.repeat(np.arange(len(found)), lengths))
        starts = (np.cumsum(lengths) - lengths).tolist()
        return [
            one.ranked(k, ids[start : start + length], order[start : start + length] - start)
            for one, start, length in zip(found, starts, lengths, strict=True)
        ]


def live_vectors(shards: Iterable[VectorShard], scope: Scope) -> list[Vectors]:
    """Vectors of the papers in a scope, (n, dim) for each shard."""
    if scope.mask is None:
        return [shard.vectors for shard in shards]
    return [shard.vectors[scope.part(shard.first, shard.papers).flags] for shard in shards]


def _batches(probes: Sequence[Probe]) -> Iterator[Sequence[Probe]]:
    """Split probes, in order, into batches that share a scope."""
    for _, group in groupby(probes, key=lambda probe: (id(probe.scope), probe.in_full_texts)):
        alike = list(group)
        yield from (alike[start : start + BATCH] for start in range(0, len(alike), BATCH))


def _vector(probe: Probe) -> Vectors:
    assert probe.vector is not None
    return probe.vector

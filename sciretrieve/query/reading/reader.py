"""Turning queries into probes: operators, named papers, corrections and vectors."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from ...base.characters import clean
from ...base.characters import typed as as_typed
from ...base.choices import Filter, Mode
from ...base.errors import InvalidRequest
from ...base.once import once
from ...base.types import Half, Paper, Papers, Query, Rows, TotalIs, Vectors, floats_of, names_of
from ...base.wording import shortlist
from ...encoders.languages import ENGLISH, language_of, mostly_in, seems_english
from ...encoders.query_encoder import QueryEncoder
from ...files.streams import checked_text
from ...matching.dense.exact import NOT_MEASURABLE, measurable
from ...matching.dense.vectors import vectors_at
from ...matching.late import QueryTokens
from ...matching.lexical.bm25 import weigh_terms
from ...matching.lexical.name_terms import NameTerms
from ...matching.lexical.spelling import Speller
from ...matching.lexical.words import TEXTS_REMEMBERED
from ...matching.scope import NO_ROWS, Scope
from ...matching.search import NO_MATCH, Liked, Match, Probe, Searcher
from ..lookup import NAMES
from ..narrowing import operators
from ..narrowing.combining import leaves
from ..narrowing.demands import Demand, Words, wanted
from ..narrowing.operators import TypedQuery
from ..snapshot import Snapshot
from .rocchio import moved, moved_terms, rocchio, rocchio_terms

LACKS: Mapping[Mode, Half] = {"bm25": "meaning", "dense": "words"}
"""The half of hybrid search that a search in one mode lacks."""
TEXTS = ("id", "title", "abstract")
"""Columns that hold a paper's words."""
MOST_LIKED, LONGEST_LIKED = 10, 200
"""Most quotations that are looked up as preferred phrases, and their most characters."""
LIKING = 0.05
"""Bonus for a preferred phrase, as a share of its inverse document frequency. It ranks papers with the phrase first among papers with the
same words, yet words quoted at random change no answer, see bench/typed.py."""
SAMPLED = 64
"""Papers sampled to detect an index's language."""
COMMON, UNKNOWN, SHORT = 20_000, 3, 3
"""Thresholds of language detection. A word is known if more than one paper in COMMON has it; a query is foreign if at least one word in
UNKNOWN is unknown; words of up to SHORT letters, such as de, are names in any language."""
BATCH = TEXTS_REMEMBERED
"""Queries that are looked up and read together: as many as the texts whose reading is cached."""
MOST_SHOWN = 3
"""Most quotations and signs that a remark names."""


class Reader:
    """Turns queries of an open index into probes.

    Attributes:
        snapshot: the open papers, vectors and terms.
    """

    def __init__(self, snapshot: Snapshot, searcher: Searcher, encoder: Callable[[], QueryEncoder]) -> None:
        """
        Args:
            snapshot: the open papers, vectors and terms.
            searcher: judges which corrections are plausible.
            encoder: returns the query encoder; called on first use."""
        self.snapshot, self._searcher, self._encoder = snapshot, searcher, encoder

    @once
    def query_encoder(self) -> QueryEncoder:
        """The query encoder."""
        return self._encoder()

    @once
    def of_passages(self) -> Reader | None:
        """Reads queries of the passages of full texts; None without any."""
        passages = self.snapshot.passages
        return None if passages is None else Reader(passages, Searcher.of(passages), lambda: self.query_encoder)

    def matching_passages(self, text: str, filter: Filter) -> Rows:
        """Rows of the passages that satisfy a typed text by themselves, of papers that pass a filter, ascending. Raises as `matching`."""
        full_text, reader = self.snapshot.fulltext, self.of_passages
        if full_text is None or reader is None:
            return NO_ROWS
        allowed = full_text.scope(self.snapshot.narrower.passing(filter))
        rows: Rows = reader.matching(text, None)[1].places
        return allowed.kept(rows)

    def mode_of_papers(self, mode: Mode, papers: int) -> Mode:
        """The mode in which papers can stand in for a query if `mode` is wanted, as `mode_of`. `papers` is the number of papers outside the
        index."""
        if mode == "bm25" or not (why := "" if self._are_stored(papers) else self.query_encoder.lack("paper_as_query")):
            return mode
        if mode == "hybrid":
            return "bm25"
        raise InvalidRequest(f"{why}; search with `mode='bm25'`")

    def probes(
        self,
        queries: Sequence[str | Query],
        mode: Mode,
        filter: Filter,
        vectors: Vectors | None = None,
        late: bool | None = None,
        *,
        like: Papers = (),
        unlike: Papers = (),
        among: Rows | None = None,
    ) -> list[Probe]:
        """Turn queries into probes. Typed texts are parsed, and missing vectors, (n, dim), are encoded in one batch. Only papers that pass
        the filter, and are `among` the given rows if any, may answer. A query is moved towards papers in `like` and away from papers in
        `unlike`; none of these may answer.

        Raises as `Index.search`.
        """
        self.snapshot.check_files()
        if (like or unlike) and len(queries) > 1:
            raise InvalidRequest("liked and disliked papers belong to one query; search for one query at a time")
        modes = [self.mode_of(mode, query, vectors is not None) for query in queries]
        allowed = self.snapshot.narrower.passing(filter)
        if among is not None:
            allowed = allowed.among(among)
        typed = self._parse(queries, allowed, first=1)
        if not all(query.words.strip() or query.vector is not None for query, *_ in typed):
            raise InvalidRequest("the query is empty, or only leaves papers out; give some words, a sentence or a title")
        read_vectors, tokens = self._vectors([query for query, *_ in typed], modes, vectors, late)
        probes: list[Probe] = []
        for first in range(0, len(typed), BATCH):
            part = slice(first, first + BATCH)
            parts = self._meaning(typed[part]), modes[part], read_vectors[part], tokens[part]
            probes += [self._read_probe(mode, *facts) for facts in zip(*parts, strict=True)]
        return [self._moved_probe(probes[0], like, unlike, mode)] if like or unlike else probes

    def _read_probe(self, mode: Mode, parsed: Parsed, own: Mode, vector: Vectors | None, states: QueryTokens | None) -> Probe:
        """The probe of a parsed query, which is searched in its own mode where `mode` is wanted."""
        query, demands, match, scope = parsed
        total, is_what = self._total(demands, match, scope)
        lacks = LACKS[own] if own != mode else None
        liked = self._liked_phrases(demands.liked, scope) if demands is not None and own != "dense" else ()
        facts: dict[str, Any] = {"tokens": states, "named": match, "lacks": lacks, "total": total, "total_is": is_what}
        if demands is not None and demands.demands and self.snapshot.fulltext is not None:
            facts["meeting_passages"] = self.snapshot.narrower.meeting_passages(demands.demands, scope)
        language = self._other_language(demands.words) if demands is not None and not (len(match) or demands.listing) else ""
        remarks = [] if len(match) else remarks_on(demands, liked)
        if language:
            remarks.append(f"{self._reads}, and the query seems to be in {language}: little but names will match; write it in English")
        facts |= {"liked": liked, "remarks": remarks, "is_foreign": bool(language)}
        return self._probe(query, demands, vector, scope, own, **facts)

    def matching(self, text: str, filter: Filter, *, insists: bool = True) -> tuple[TypedQuery | None, Scope]:
        """Parse a typed text, and find the papers that satisfy it and a filter. The parse is None if the text names papers; the text may be
        empty. The papers are counted as in a search's total, except that `insists` requires a quotation even if no paper contains it.
        Papers are read where terms alone cannot decide.

        Raises InvalidRequest as `Index.search`.
        """
        self.snapshot.check_files()
        ((_, typed, match, scope),) = self._parse([text], self.snapshot.narrower.passing(filter), insists=insists)
        counted, is_what = self._counted(typed, match, scope)
        if typed is not None and typed.free and is_what != "has all words":
            counted = self.snapshot.narrower.meeting([Words(typed.free)], scope)
        return typed, counted

    def _total(self, typed: TypedQuery | None, match: Match, scope: Scope) -> tuple[int, TotalIs]:
        """Number of the papers that a search's total counts, and why they count; see `runs.Ranking`."""
        if typed is not None and typed.free and (total := self.snapshot.narrower.count_with_terms(typed.free, scope)) is not None:
            return total, "has all words"
        counted, is_what = self._counted(None if typed is None else replace(typed, free=""), match, scope)
        return len(counted), is_what

    def _counted(self, typed: TypedQuery | None, match: Match, scope: Scope) -> tuple[Scope, TotalIs]:
        """Papers that a search's total counts, and why they count; see `runs.Ranking`."""
        if typed is None:
            return (scope.among(match.rows), "is named") if len(match) else (scope, "passes filters")
        with_words = self.snapshot.narrower.with_terms(typed.free, scope) if typed.free else None
        if with_words is not None:
            return with_words, "has all words"
        return scope, "meets demands" if typed.demands else "passes filters"

    def _liked_phrases(self, quotations: Sequence[str], scope: Scope) -> Sequence[Liked]:
        """Preferred phrases, with the rows that contain them and their bonus. Single words are left out, since they are searched for
        anyway."""
        if (bm25 := self.snapshot.bm25) is None:
            return ()
        demands = [Demand(None, text, exact=True) for text in quotations[:MOST_LIKED] if len(text) <= LONGEST_LIKED and " " in text]
        liked = []
        for demand in demands:
            if not self.snapshot.narrower.is_without_terms(demand):
                rows = self.snapshot.narrower.meeting([demand], scope).places
                liked.append(Liked(demand.text, rows, LIKING * bm25.rarity_among(len(rows))))
        return liked

    @property
    def _reads(self) -> str:
        """The languages that the index reads, for a message."""
        built = self.snapshot.encoder
        return "the words of this index are read as English" if built is None else f"{built['name']} reads English"

    def _other_language(self, text: str) -> str:
        """The language of a query if the index does not read it, else "". Also "" if most words occur in papers, or if the language is
        unclear. Texts that are clearly English need no language identifier."""
        snapshot, bm25 = self.snapshot, self.snapshot.bm25
        if text.isascii() and seems_english(text):
            return ""
        reads = self.query_encoder.languages if snapshot.has_vectors else (ENGLISH,)
        if not reads:
            return ""
        words = [word for word in snapshot.analyzer.words(text) if len(word) > SHORT or not word.isascii()]
        terms = [term for word in words if (term := snapshot.analyzer.term(word)) is not None]
        least = len(snapshot) / COMMON
        if bm25 is not None and UNKNOWN * sum(bm25.frequency(term) <= least for term in terms) < len(terms):
            return ""
        language = language_of(text)
        return "" if language in reads else language

    def probe(self, query: Query, mode: Mode, vector: Vectors | None, scope: Scope) -> Probe:
        """Turn one unparsed query into a probe that the papers of a scope may answer. Its vector, (dim,), is encoded unless given."""
        (read_vector,), (tokens,) = self._vectors([query], [mode], None if vector is None else [vector], None)
        return self._probe(query, None, read_vector, scope, mode, tokens=tokens)

    def likeness(
        self,
        ids: Papers,
        *,
        text: str | None = None,
        negatives: Papers = (),
        mode: Mode | None = None,
        filter: Filter = None,
    ) -> Probe:
        """The probe of `Index.similar`. Raises as it does."""
        self.snapshot.check_files()
        mode = self.snapshot.checked_mode(mode)
        snapshot = self.snapshot
        if text is not None:
            text = clean(checked_text(text, "text"))
        if not names_of(ids) and not (text or "").strip():
            raise InvalidRequest("nothing to be similar to; give ids of papers, or `text`: a title and an abstract")
        positive_rows, negative_rows = snapshot.named_rows(ids), snapshot.named_rows(negatives)
        outside = []
        if text:
            title, _, abstract = text.partition(". ")
            outside = [Paper("", title, abstract)]
        vector, wanted = None, mode
        mode = self.mode_of_papers(mode, len(outside))
        if mode != "bm25":
            positives = np.concatenate([self.stored_vectors(positive_rows), self.paper_vectors(outside)])
            vector = rocchio(positives, self.stored_vectors(negative_rows))
        groups = (*snapshot.papers_at(positive_rows), *outside), snapshot.papers_at(negative_rows)
        terms = rocchio_terms(*([self._paper_terms(paper, mode) for paper in group] for group in groups))
        passing = snapshot.narrower.passing(filter)
        scope = passing.without(np.concatenate([positive_rows, negative_rows]))
        query = Query(" ".join(snapshot.ids(positive_rows)) or "1")  # queries without an id are numbered from 1
        lacks = LACKS[mode] if mode != wanted else None
        total = len(passing)
        return Probe(query, scope, vector, terms, terms, lacks=lacks, total=total, mode=mode, in_full_texts=False)

    def _moved_probe(self, probe: Probe, like: Papers, unlike: Papers, mode: Mode) -> Probe:
        """Move a probe towards some papers and away from others. None of these may answer it.

        Raises:
            NotFound: a paper is not in the index.
            InvalidRequest: a paper is both liked and disliked.
        """
        snapshot = self.snapshot
        liked, disliked = (_distinct(snapshot.named_rows(names)) for names in (like, unlike))
        if both := snapshot.ids(liked[np.isin(liked, disliked)]):
            raise InvalidRequest(f"the paper {both[0]!r} is both liked and disliked; leave it out of one of them")
        vector, terms = probe.vector, probe.terms
        if vector is not None:
            vector = moved(vector, self.stored_vectors(liked), self.stored_vectors(disliked))
        if snapshot.bm25 is not None and mode != "dense":
            liked_terms, disliked_terms = (
                [self._paper_terms(paper, mode) for paper in snapshot.papers_at(rows)] for rows in (liked, disliked)
            )
            terms = moved_terms(terms, liked_terms, disliked_terms, snapshot.bm25.rarity)
        scope = probe.scope.without(np.concatenate([liked, disliked]))
        return replace(probe, vector=vector, terms=terms, scope=scope, listing=False)

    def without_copies(self, probe: Probe, *names: Papers) -> Probe:
        """A probe that no copy of the named papers may answer, so that grouped answers do not contain them under another id."""
        rows = np.concatenate([self.snapshot.named_rows(each) for each in names])
        return replace(probe, scope=probe.scope.without(self.snapshot.with_copies(rows))) if len(rows) else probe

    def _paper_terms(self, paper: Paper, mode: Mode) -> dict[str, float]:
        return self.terms(Query("", paper=paper).words, mode)

    @once
    def speller(self) -> Speller:
        """The spelling corrector of query words. Only for an index with BM25."""
        assert self.snapshot.bm25 is not None
        return Speller(self.snapshot.analyzer, self.snapshot.bm25, self._texts)

    @once
    def names(self) -> NameTerms:
        """Finds names in queries. Only for an index with BM25."""
        assert self.snapshot.bm25 is not None
        return NameTerms(self.snapshot.analyzer, self.snapshot.bm25)

    def terms(self, words: str, mode: Mode) -> dict[str, float]:
        """Weighted terms of words that were not typed; empty for dense search."""
        return {} if mode == "dense" else weigh_terms(self.snapshot.analyzer.indexed(words))

    def stored_vectors(self, rows: Rows) -> Vectors:
        """Vectors of papers in the index, as queries, (n, dim). Stored vectors serve if the encoder treats queries and papers alike."""
        if not self._are_stored(0):
            return self.paper_vectors(self.snapshot.papers_at(rows))
        return vectors_at(self.snapshot.vectors, rows)

    def paper_vectors(self, papers: Sequence[Paper]) -> Vectors:
        """Vectors of papers in place of queries, (n, dim)."""
        if not papers and self.snapshot.vectors:  # the snapshot knows the dimension, so the encoder need not be opened
            return np.empty((0, self.snapshot.dim), np.float32)
        return self.query_encoder.encode([Query(paper.id, paper=paper) for paper in papers])

    def demanding(self, text: str, allowed: Scope, *, insists: bool = False) -> tuple[TypedQuery, Scope]:
        """Parse a typed text and find the papers that meet its demands. A `perhaps` demand holds if any paper meets it, or if `insists`.
        Raises InvalidRequest if the text cannot be parsed."""
        # column names are read from every shard, so a cold search avoids them
        typed = operators.parse(text, self.snapshot.typed_fields if ":" in text else ())
        if not typed.demands and typed.perhaps is None:
            return typed, allowed
        whole = typed if typed.perhaps is None else TypedQuery(typed.words, (*typed.demands, typed.perhaps))
        scope = self.snapshot.narrower.meeting(whole.demands, allowed)
        if whole is typed or insists or len(scope):
            return whole, scope
        return typed, self.snapshot.narrower.meeting(typed.demands, allowed)

    def _parse(self, queries: Sequence[str | Query], allowed: Scope, *, first: int = 0, insists: bool = False) -> list[Parsed]:
        """Parse queries, numbered from `first`: of each its words, its demands, the papers that it identifies, and the papers that may
        answer. An identifier has no words, so its paper's title is searched for, and related papers follow."""
        parsed = [_given(query, str(number), allowed) for number, query in enumerate(queries, first)]
        texts = [place for place, query in enumerate(queries) if isinstance(query, str)]
        lookup = self.snapshot.lookup
        matches = lookup.each_identified([parsed[place].query.text for place in texts])
        for place, match in zip(texts, matches, strict=True):
            parsed[place] = self._identified(parsed[place], match) if len(match) else self._read(parsed[place], insists=insists)
        return parsed

    def _meaning(self, parsed: Sequence[Parsed]) -> list[Parsed]:
        """Parsed queries, with the papers that typed ones mean. Operands of AND, OR and NOT are subjects, which mean none."""
        titles = [
            place
            for place, one in enumerate(parsed)
            if one.typed is not None and all(isinstance(demand, Demand) for demand in one.typed.demands)
        ]
        meant = self.snapshot.lookup.each_meant([parsed[place].query.text for place in titles], [parsed[place].scope for place in titles])
        with_meant = list(parsed)
        for place, match in zip(titles, meant, strict=True):
            with_meant[place] = parsed[place]._replace(match=match)
        return with_meant

    def _identified(self, parsed: Parsed, match: Match) -> Parsed:
        paper = min(self.snapshot.papers_at(match.rows), key=lambda paper: paper.id)
        return parsed._replace(query=Query(parsed.query.id, paper.title or paper.abstract or parsed.query.text), match=match)

    def _read(self, parsed: Parsed, *, insists: bool) -> Parsed:
        """Parse a typed text, whose papers are not looked up yet."""
        id, text = parsed.query.id, as_typed(parsed.query.text)
        try:
            typed, scope = self.demanding(text, parsed.scope, insists=insists)
        except InvalidRequest:
            # a pasted text may contain anything that looks like an operator; names are typed, so the error stands
            if len(match := self.snapshot.lookup.meant(text, parsed.scope)) and match.by != NAMES:
                return parsed._replace(query=Query(id, text), match=match)
            raise
        return Parsed(Query(id, typed.words), typed, NO_MATCH, scope)

    def mode_of(self, mode: Mode, query: str | Query, has_vector: bool = False) -> Mode:
        """The mode in which a query can be searched if `mode` is wanted. Hybrid becomes BM25 for a text that cannot be encoded, and dense
        for a vector without a text. Raises InvalidRequest if the query does not fit the mode."""
        if isinstance(query, Query) and query.vector is not None:
            has_vector = True
            if not self.snapshot.vectors:
                raise InvalidRequest(f"{self.snapshot.path} has no vectors to compare the query's with; leave out the vector")
            if not query.words.strip():
                if mode == "bm25":
                    raise InvalidRequest("a query that is a vector alone has no words for `mode='bm25'`; give it a text, too")
                return "dense"
        if mode == "bm25" or has_vector:
            return mode
        asked = query if isinstance(query, Query) else Query()
        if (mode == "dense" and asked is query) or not (why := self.query_encoder.lack(asked.side, asked.id)):
            return mode
        if mode == "hybrid":
            return "bm25"
        raise InvalidRequest(
            f"{why}; give the query as a vector, name the encoder of the vectors by `encoder`, or search with `mode='bm25'`"
        )

    def _are_stored(self, others: int) -> bool:
        """Whether the vectors of papers in place of a query are stored in the index. `others` is the number of papers outside it."""
        return not others and self.query_encoder.symmetric

    def _vectors(
        self, queries: Sequence[Query], modes: Sequence[Mode], vectors: Vectors | Sequence[Any] | None, late: bool | None
    ) -> tuple[Sequence[Vectors | None], Sequence[QueryTokens | None]]:
        """Vectors of queries, each (dim,), encoded unless given as (n, dim); and their token vectors for late interaction.

        Raises InvalidRequest if `late` asks for token vectors that cannot be used.
        """
        read: list[Vectors | None] = [None] * len(queries)
        tokens: list[QueryTokens | None] = [None] * len(queries)
        encoder = self.query_encoder
        if late and "hybrid" not in modes:
            raise InvalidRequest(f"late interaction is a part of hybrid search, not of `mode={modes[0]!r}`; leave out one of them")
        if vectors is not None and any(mode != "bm25" for mode in modes):
            read = list(self._checked_vectors(vectors, len(queries)))
        elif vectors is None:
            read = [self._own_vector(number, query) for number, query in enumerate(queries, 1)]
        takes_tokens = self.snapshot.late if late is None else late
        with_tokens = [
            place
            for place, (query, mode) in enumerate(zip(queries, modes, strict=True))
            if mode == "hybrid" and takes_tokens and (query.vector is None or late)
        ]
        if with_tokens:
            encoded, states = encoder.encode_late([queries[place] for place in with_tokens])
            for place, vector, query_states in zip(with_tokens, encoded, states, strict=True):
                read[place] = vector if read[place] is None else read[place]
                tokens[place] = None if query_states is None else self._weigh(queries[place], query_states)
        if unread := [place for place, vector in enumerate(read) if vector is None and modes[place] != "bm25"]:
            for place, vector in zip(unread, encoder.encode([queries[place] for place in unread]), strict=True):
                read[place] = vector
        return [None if mode == "bm25" else vector for mode, vector in zip(modes, read, strict=True)], tokens

    def _weigh(self, query: Query, states: Vectors) -> QueryTokens | None:
        """Token vectors of a query, (tokens, dim), each weighted by its word's rarity in the corpus; None if all words are stop words."""
        analyzer, bm25 = self.snapshot.analyzer, self.snapshot.bm25
        assert bm25 is not None
        words = self.query_encoder.with_tokens.words(query.side, query.paper or Paper("", query.text))
        terms_of = {word: analyzer.terms(word) for word in dict.fromkeys(words)}
        rarities = {word: max(map(bm25.rarity, terms), default=0.0) for word, terms in terms_of.items()}
        weights = np.array([rarities[word] for word in words])
        kept = weights > 0
        return QueryTokens(states[kept], weights[kept], [words[place] for place in np.flatnonzero(kept)]) if kept.any() else None

    def _checked_vectors(self, vectors: Any, queries: int) -> Vectors:
        """Check vectors given for this many queries. Raises InvalidRequest for another shape."""
        try:
            checked = floats_of(vectors, np.float32)
        except TypeError as error:
            raise InvalidRequest(f"vectors of queries are numbers: {error}") from error
        if checked.shape != (expected := (queries, self.snapshot.dim)):
            raise InvalidRequest(f"vectors of queries have the shape {expected}, (queries, dimension), not {checked.shape}")
        if len(wrong := np.flatnonzero(~measurable(checked))):
            raise InvalidRequest(f"the vector of query {wrong[0] + 1} {NOT_MEASURABLE}")
        return checked

    def _own_vector(self, number: int, query: Query) -> Vectors | None:
        """The n-th query's own vector, if it has one. Raises InvalidRequest if it cannot be compared."""
        if query.vector is None or not self.snapshot.vectors:
            return None
        vector = np.asarray(query.vector, np.float32)
        if len(vector) != (dim := self.snapshot.vectors[0].dim):
            raise InvalidRequest(f"the vector of query {number} has {len(vector)} numbers, and those of {self.snapshot.path} have {dim}")
        if not measurable(vector[None])[0]:
            raise InvalidRequest(f"the vector of query {number} {NOT_MEASURABLE}")
        return vector

    def _probe(self, query: Query, typed: TypedQuery | None, vector: Vectors | None, scope: Scope, mode: Mode, **facts: Any) -> Probe:
        """A probe of a query, with its terms, the corrections of unknown words, and further facts. `typed` is the parsed query, if it was
        typed."""
        listing = typed is not None and typed.listing
        if mode == "dense":
            return Probe(query, scope, vector, listing=listing, mode=mode, **facts)
        if query.paper is not None:  # a published text is not misspelt
            terms = self.terms(query.words, mode)
            return Probe(query, scope, vector, terms, terms, in_full_texts=False, mode=mode, **facts)
        snapshot, demands = self.snapshot, typed.demands if typed else ()
        insisted = {word for demand in demands for leaf in leaves(demand) for word in snapshot.analyzer.words(leaf.text)}
        corrections = [one for one in self.speller.corrections(query.words, insisted) if not self._is_in_full_texts(one.word)]
        if vector is not None:  # corrections that the dense half contradicts are dropped
            corrections = [correction for correction in corrections if self._searcher.believes(correction, vector)]
        terms = self.speller.terms(query.words, corrections)
        own_terms = self.speller.own(query.words, terms)
        fields = {} if listing or snapshot.bm25 is None else self.names.in_fields(query.words)
        without_terms = any(snapshot.narrower.is_without_terms(leaf) for demand in demands for leaf in wanted(demand))
        listing = listing or (without_terms and not terms)
        return Probe(
            query, scope, vector, terms, own_terms, corrections, listing, fields=fields, without_terms=without_terms, mode=mode, **facts
        )

    def _is_in_full_texts(self, word: str) -> bool:
        """Whether the full texts have a word, which so is no slip."""
        passages = self.snapshot.passages
        return passages is not None and (bm25 := passages.bm25) is not None and any(map(bm25.frequency, self.snapshot.analyzer.terms(word)))

    def _texts(self, rows: Rows, count: int) -> list[str]:
        """Titles and abstracts of `count` of the papers at the given rows."""
        return [f"{paper.title} {paper.abstract}" for paper in self.snapshot.papers_at(self.snapshot.drawn(rows, count), TEXTS)]


class Parsed(NamedTuple):
    """A query, its demands if it was typed, the papers that it names, and the papers that may answer."""

    query: Query
    typed: TypedQuery | None
    match: Match
    scope: Scope


def _given(query: str | Query, id: str, allowed: Scope) -> Parsed:
    """A query as it was given."""
    if not isinstance(query, Query):
        return Parsed(Query(id, checked_text(query, "query")), None, NO_MATCH, allowed)
    checked_text(query.words, "query")
    return Parsed(query if query.id else replace(query, id=id), None, NO_MATCH, allowed)


def _distinct(rows: Rows) -> Rows:
    return np.array(list(dict.fromkeys(rows.tolist())), np.int64)


def other_language(reader: Reader) -> str:
    """The language of most papers in a sample of an index, if the index does not read it; else "", also if the language is unclear."""
    snapshot = reader.snapshot
    reads = reader.query_encoder.languages if snapshot.has_vectors else (ENGLISH,)
    rows = snapshot.scope.places
    sample = snapshot.papers_at(rows[np.linspace(0, len(rows) - 1, min(len(rows), SAMPLED)).astype(np.int64)], TEXTS) if reads else []
    language = mostly_in(f"{paper.title} {paper.abstract}" for paper in sample)
    return "" if language in reads else language


def remarks_on(typed: TypedQuery | None, liked: Sequence[Liked] = ()) -> list[str]:
    """Remarks for a text that was read as prose but contains possible operators."""
    if typed is None or not (typed.liked or typed.ignored):
        return []
    parts = [f'"{text}"' for text in typed.liked] + list(typed.ignored)
    shown = shortlist(parts[:MOST_SHOWN], len(parts))
    remarks = [f"read as a text, in which {shown} {'demands' if len(parts) == 1 else 'demand'} nothing; join by AND what papers must have"]
    if missing := [f'"{one.phrase}"' for one in liked if not len(one.rows)]:
        remarks.append(f"no eligible paper has {' or '.join(missing[:MOST_SHOWN])}")
    return remarks

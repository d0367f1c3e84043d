"""How typed texts become probes: operators, names, corrections, vectors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ...choices import Filter, Mode
from ...errors import InvalidRequest
from ...files.streams import checked_text
from ...matching.dense.exact import NOT_MEASURABLE, measurable
from ...matching.dense.vectors import vectors_at
from ...matching.late import QueryTokens
from ...matching.lexical.bm25 import weigh_terms
from ...matching.lexical.name_terms import field_terms
from ...matching.lexical.spelling import Correction, Speller
from ...matching.scope import Scope
from ...matching.search import Probe
from ...once import once
from ...types import NO_MATCH, Match, Paper, Query, Rows, TotalIs, Vectors
from ..lookup import NAMES
from ..narrowing import operators
from ..narrowing.demands import Demand, Words, leaves, wanted
from ..narrowing.operators import TypedQuery
from ..snapshot import Snapshot


class Reader:
    """Reads the queries of a snapshot."""

    def __init__(self, snapshot: Snapshot) -> None:
        self.snapshot = snapshot

    def mode(self, mode: Mode, queries: Sequence[str | Query], vectors: Vectors | None) -> Mode:
        """The mode for these queries: BM25 in place of hybrid if the encoder cannot read typed texts. Raises InvalidRequest for dense
        search with such texts."""
        is_typed = any(isinstance(query, str) for query in queries)
        if mode == "bm25" or vectors is not None or not is_typed or self.snapshot.query_encoder.reads_texts:
            return mode
        if mode == "hybrid":
            return "bm25"
        raise InvalidRequest(
            f"the vectors of {self.snapshot.path} were made elsewhere, and nothing here encodes a typed query; "
            "name the model that made them by `encoder`, or search with `mode='bm25'`"
        )

    def probes(self, queries: Sequence[str | Query], mode: Mode, filter: Filter, vectors: Vectors | None, late: bool | None) -> list[Probe]:
        """Queries made ready: what is typed is taken apart, and all vectors that are not given, (n, dim), are encoded at once.

        Raises InvalidRequest as `Index.search`.
        """
        mode = self.mode(mode, queries, vectors)
        allowed = self.snapshot.narrower.passing(filter)
        typed = [self._typed(str(number), query, allowed) for number, query in enumerate(queries, 1)]
        if not all(query.words.strip() for query, *_ in typed):
            raise InvalidRequest("the query is empty, or only leaves papers out; give some words, a sentence or a title")
        read_vectors, tokens = self._vectors([query for query, *_ in typed], mode, vectors, late)
        probes = []
        for (query, demands, match, scope), vector, states in zip(typed, read_vectors, tokens, strict=True):
            counted, is_what = self._counted(demands, match, scope)
            probe = self._probe(query, demands, vector, scope, mode)
            probes.append(replace(probe, tokens=states, named=match, total=len(counted), total_is=is_what))
        return probes

    def matching(self, text: str, filter: Filter) -> tuple[TypedQuery | None, Scope]:
        """A typed text, which may be empty, taken apart, unless it names papers; and the papers that meet all that it and a filter demand,
        as a search's total counts them. Papers are read where terms alone cannot tell whether they have its words.

        Raises InvalidRequest as `Index.search`.
        """
        _, typed, match, scope = self._typed("", text, self.snapshot.narrower.passing(filter))
        counted, is_what = self._counted(typed, match, scope)
        if typed is not None and typed.free and is_what != "has all words":
            counted = self.snapshot.narrower.meeting([Words(typed.free)], scope)
        return typed, counted

    def _counted(self, typed: TypedQuery | None, match: Match, scope: Scope) -> tuple[Scope, TotalIs]:
        """The papers that a search's total counts, and what each of them is; see `runs.Ranking`."""
        if typed is None:
            return (scope.among(match.rows), "is named") if len(match) else (scope, "passes filters")
        with_words = self.snapshot.narrower.with_terms(typed.free, scope) if typed.free else None
        if with_words is not None:
            return with_words, "has all words"
        return scope, "meets demands" if typed.demands else "passes filters"

    def probe(self, query: Query, mode: Mode, vector: Vectors | None, scope: Scope) -> Probe:
        """One query, taken as it is, for which the papers of a scope may answer; its vector, (dim,), is encoded unless it is given."""
        (read_vector,), (tokens,) = self._vectors([query], mode, None if vector is None else vector[None], None)
        return replace(self._probe(query, None, read_vector, scope, mode), tokens=tokens)

    def corrected(self, probe: Probe, corrections: Sequence[Correction]) -> Probe:
        """A probe that was just read, with some of its corrections alone."""
        terms = self.speller.terms(probe.query.words, corrections)
        listing = probe.listing or (probe.without_terms and not terms)
        return replace(probe, terms=terms, own_terms=terms, corrections=corrections, listing=listing)

    @once
    def speller(self) -> Speller:
        """What reads the words of queries; only for an index that has BM25."""
        assert self.snapshot.bm25 is not None
        return Speller(self.snapshot.analyzer, self.snapshot.bm25, self._texts)

    def terms(self, words: str, mode: Mode) -> dict[str, float]:
        """The weighted terms of words that were not typed; none where only vectors are searched."""
        return {} if mode == "dense" else weigh_terms(self.snapshot.analyzer.indexed(words))

    def stored_vectors(self, rows: Rows) -> Vectors:
        """Vectors, as queries, of papers of the index: the stored ones where the encoder makes no difference, (n, dim)."""
        if not self.snapshot.query_encoder.symmetric:
            return self.paper_vectors(self.snapshot.papers_at(rows))
        return vectors_at(self.snapshot.vectors, rows)

    def paper_vectors(self, papers: Sequence[Paper]) -> Vectors:
        """Vectors of papers in place of queries, shape (n, dim)."""
        if not papers and self.snapshot.vectors:  # without opening the encoder, whose dimension this is
            return np.empty((0, self.snapshot.dim), np.float32)
        return self.snapshot.query_encoder.encode([Query(paper.id, paper=paper) for paper in papers])

    def _typed(self, id: str, query: str | Query, allowed: Scope) -> tuple[Query, TypedQuery | None, Match, Scope]:
        """A query taken apart: its words, its demands, the papers that it names, and the papers that may answer. An identifier has no
        words, so the title of its paper is searched for: papers on the same subject follow it."""
        if isinstance(query, Query):
            checked_text(query.words, "query")
            return query, None, NO_MATCH, allowed
        text, snapshot = checked_text(query, "query"), self.snapshot
        if len(match := snapshot.lookup.identified(text)):
            paper = snapshot.papers_at(match.rows[:1])[0]
            return Query(id, paper.title or paper.abstract or text), None, match, allowed
        try:
            # the columns' names are read from every shard, which a cold search can do without
            typed = operators.parse(text, snapshot.columns.names if ":" in text else ())
        except InvalidRequest:
            # what was pasted may have anything in it, but names are typed
            if len(match := snapshot.lookup.meant(text, allowed)) and match.by != NAMES:
                return Query(id, text), None, match, allowed
            raise
        scope = snapshot.narrower.meeting(typed.demands, allowed)
        # what AND, OR and NOT join are subjects
        is_joined = any(not isinstance(demand, Demand) for demand in typed.demands)
        return Query(id, typed.words), typed, NO_MATCH if is_joined else snapshot.lookup.meant(typed.words, scope), scope

    def _vectors(
        self, queries: Sequence[Query], mode: Mode, vectors: Vectors | None, late: bool | None
    ) -> tuple[Sequence[Vectors | None], Sequence[QueryTokens | None]]:
        """The vectors of queries, each (dim,), encoded unless they are given, (n, dim); and for late interaction their token vectors.

        Raises InvalidRequest if `late` asks for these where they can have no part.
        """
        none: list[None] = [None] * len(queries)
        encoder = self.snapshot.query_encoder
        if late and mode != "hybrid":
            raise InvalidRequest(f"late interaction is a part of hybrid search, not of `mode={mode!r}`; leave out one of them")
        if mode == "bm25":
            return none, none
        if vectors is not None:
            vectors = self._checked_vectors(vectors, len(queries))
        if mode != "hybrid" or not (self.snapshot.manifest.late is not None if late is None else late):
            return list(encoder.encode(queries) if vectors is None else vectors), none
        encoded, tokens = encoder.encode_late(queries)
        weighed = [None if states is None else self._weighed(query, states) for query, states in zip(queries, tokens, strict=True)]
        return list(encoded if vectors is None else vectors), weighed

    def _weighed(self, query: Query, states: Vectors) -> QueryTokens | None:
        """A query's token vectors, (tokens, dim), each weighed by how rare its word is in the corpus; None if it has only stop words."""
        analyzer, bm25 = self.snapshot.analyzer, self.snapshot.bm25
        assert bm25 is not None
        words = self.snapshot.query_encoder.with_tokens.words(query.side, query.paper or Paper("", query.text))
        terms_of = {word: analyzer.terms(word) for word in dict.fromkeys(words)}
        rarities = {word: max(map(bm25.rarity, terms), default=0.0) for word, terms in terms_of.items()}
        weights = np.array([rarities[word] for word in words])
        kept = weights > 0
        return QueryTokens(states[kept], weights[kept], [words[place] for place in np.flatnonzero(kept)]) if kept.any() else None

    def _checked_vectors(self, vectors: Vectors, queries: int) -> Vectors:
        """Vectors that were given for so many queries. Raises InvalidRequest for those of another shape."""
        if np.shape(vectors) != (expected := (queries, self.snapshot.dim)):
            raise InvalidRequest(f"vectors of queries have the shape {expected}, (queries, dimension), not {np.shape(vectors)}")
        checked = np.asarray(vectors, np.float32)
        if len(wrong := np.flatnonzero(~measurable(checked))):
            raise InvalidRequest(f"the vector of query {wrong[0] + 1} {NOT_MEASURABLE}")
        return checked

    def _probe(self, query: Query, typed: TypedQuery | None, vector: Vectors | None, scope: Scope, mode: Mode) -> Probe:
        """A query with its typed form (or None), its terms, and the corrections of its unknown words."""
        listing = typed is not None and typed.listing
        if mode == "dense":
            return Probe(query, scope, vector, listing=listing)
        if query.paper is not None:  # what was published is not misspelt
            terms = self.terms(query.words, mode)
            return Probe(query, scope, vector, terms, terms)
        snapshot, demands = self.snapshot, typed.demands if typed else ()
        insisted = {word for demand in demands for leaf in leaves(demand) for word in snapshot.analyzer.words(leaf.text)}
        corrections = self.speller.corrections(query.words, insisted)
        fields = {} if listing or snapshot.bm25 is None else field_terms(snapshot.bm25, snapshot.analyzer, query.words)
        without_terms = any(snapshot.narrower.is_without_terms(leaf) for demand in demands for leaf in wanted(demand))
        probe = Probe(query, scope, vector, listing=listing, fields=fields, without_terms=without_terms)
        return self.corrected(probe, corrections)

    def _texts(self, rows: Rows) -> list[str]:
        """Titles and abstracts of the papers at the given rows."""
        return [f"{paper.title} {paper.abstract}" for paper in self.snapshot.papers_at(rows)]

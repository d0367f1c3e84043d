"""An index opened for searching: a snapshot of it, and what reads queries."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from numbers import Integral
from pathlib import Path
from typing import Unpack

import numpy as np

from ..choices import MODES, SIMILAR_BY, Filter, FusionMethod, Metric, Mode, SimilarBy, check_choice
from ..encoders import moved_encoder, packing_of
from ..encoders.query_encoder import QueryEncoder
from ..encoders.remembered import RememberingEncoder
from ..errors import InvalidRequest
from ..files.streams import checked_text
from ..matching.dense import full_corpus
from ..matching.dense.exact import NOT_MEASURABLE, RowScores, measurable
from ..matching.dense.vectors import vectors_at
from ..matching.effort import EXACT, Effort, knob
from ..matching.fusion import Fusion
from ..matching.late import QueryTokens, match
from ..matching.lexical.bm25 import weigh_terms
from ..matching.lexical.name_terms import field_terms
from ..matching.lexical.spelling import Speller
from ..matching.scope import Scope
from ..once import once
from ..options import SearchKeywords, SearchOptions, changed
from ..protocols import Encoder
from ..runs import Ranking, Run
from ..storage.manifest import read_manifest
from ..types import NO_MATCH, Match, Paper, Query, Rows, Scores, Vectors
from .lookup import NAMES
from .narrowing import operators
from .narrowing.demands import Demand, leaves, wanted
from .narrowing.operators import TypedQuery
from .ranking.diversity import diverse
from .ranking.grouping import grouped
from .ranking.leading import led
from .ranking.linking import DEPTH, Linked
from .ranking.reranking import reranked
from .rocchio import NEGATIVE_WEIGHT, moved, moved_terms, rocchio, rocchio_terms
from .search import Probe
from .snapshot import Snapshot, as_ids

GROUPED = 10
"""How many more papers are looked at where near-duplicates are grouped; more again where that is not enough."""
DIVERSE = 5
"""Of how many times as many papers a diverse answer is chosen."""
GRAPHED = 100_000
"""Papers up to which citations count by themselves among similar papers: reading who cites whom takes some seconds for as many."""


class Index(Snapshot):
    """A snapshot of an index on disk, what was committed when it was opened, that can be searched."""

    def __init__(
        self,
        path: str | Path,
        *,
        encoder: Encoder | str | None = None,
        generation: int | None = None,
        query_encoder: QueryEncoder | None = None,
    ) -> None:
        """Open the index in the directory `path`.

        Args:
            path: the index's directory.
            encoder: what encodes queries, or its name, where the one that filled the index is not to be found again by itself: its
                folder has moved, or the queries' vectors were made elsewhere.
            generation: the generation to open, of those that `sciretrieve info log` shows; by default the current one.
            query_encoder: what encodes queries, of another snapshot of the same index.

        Raises:
            NotFound: there is none, or it is not finished, or it has no such generation.
            CorruptData: it is damaged or of another format version.
            UnknownName, InvalidRequest: the encoder is none.
        """
        super().__init__(path, generation)
        self._given = moved_encoder(encoder, self.manifest.encoder or {}) if isinstance(encoder, str) else encoder
        if self._given is not None and not hasattr(self._given, "encode_queries"):
            raise InvalidRequest(f"`encoder` is a name or what `sciretrieve.load_encoder(name)` gives, not {encoder!r}")
        if query_encoder is not None and query_encoder.fits(self.manifest.encoder):
            vars(self)["query_encoder"] = query_encoder

    def refreshed(self) -> Index:
        """The index as it is now: this snapshot if nothing was committed since, else another one, which shares its encoder.

        This one stays as it is; close it when its last search has ended. Raises as `Index`.
        """
        if read_manifest(self.path).generation == self.manifest.generation:
            return self
        return self._reopened()

    def _reopened(self) -> Index:
        return Index(self.path, encoder=self._given, query_encoder=self.query_encoder)

    @once
    def query_encoder(self) -> QueryEncoder:
        """What encodes queries."""
        return QueryEncoder(self.path, self.manifest.encoder, self.golden, self._given)

    @property
    def encoder(self) -> Encoder:
        """The encoder that filled the index. Raises as `QueryEncoder.encoder`."""
        return self.query_encoder.encoder

    def encode(self, queries: Sequence[Query], *, remember: bool = False) -> Vectors:
        """Vectors of queries, shape (n, dim), see `QueryEncoder.encode`."""
        return self.query_encoder.encode(queries, remember=remember)

    def search(
        self,
        query: str | Query | Sequence[str | Query],
        k: int = 10,
        options: SearchOptions = SearchOptions(),
        *,
        like: str | Sequence[str] = (),
        unlike: str | Sequence[str] = (),
        vectors: Vectors | None = None,
        **changes: Unpack[SearchKeywords],
    ) -> Run:
        """Search for one query or many.

        Args:
            query: a text, a `Query`, or several of either. Texts are numbered from "1", and may have operators as people
                type them, see `sciretrieve.query.narrowing.operators`; a `Query` is taken as it is.
            k: how many papers are wanted for each query.
            options: how to search.
            like: papers of this index, by id, that answer the query, which is moved towards them by Rocchio's formula (see
                `query.rocchio.moved`), in both halves. They, and those of `unlike`, are never among the answers.
            unlike: papers that do not answer it, which it is moved away from.
            vectors: the queries' vectors by the index's encoder, (n, dim), where they are known: then nothing is encoded.
            changes: fields of `SearchOptions`, in place of those of `options`: `search("graph networks", filter="year >= 2018")`.

        Raises:
            NotFound: a paper that is liked or disliked is not in the index.
            InvalidRequest: an empty query, a k below 1, a filter that cannot be read, or a mode the index lacks; papers liked or
                disliked with several queries, or one both liked and disliked.
        """
        chosen = changed(options, changes)
        queries, fusion = _listed(query), self.fusion(chosen.fusion, chosen.alpha)
        mode = self._readable(self._checked(k, chosen.mode), queries, vectors)
        probes = self.probes(queries, mode, chosen.filters, vectors, chosen.late, like=like, unlike=unlike)
        return self._answered(probes, k, mode, fusion, chosen)

    def similar(
        self,
        ids: str | Sequence[str] = (),
        k: int = 10,
        options: SearchOptions = SearchOptions(),
        *,
        text: str | None = None,
        negatives: str | Sequence[str] = (),
        by: SimilarBy | None = None,
        **changes: Unpack[SearchKeywords],
    ) -> Run:
        """Find papers like the given ones, and unlike `negatives`, combined by Rocchio's formula (see `query.search.rocchio`).

        Args:
            ids: papers of this index to be like: one id, or several. They, and the negatives, are never among the answers.
            k: how many papers are wanted.
            options: how to search. A reranker has no query to go by here, and is not asked.
            text: title and abstract of one more paper to be like, which need not be in the index.
            negatives: papers of this index to be unlike.
            by: "text", "citations" (see `CitationGraph.related`), or "both"; by default both in an index of up to 100,000 papers
                that has a column of what they cite.
            changes: fields of `SearchOptions`, in place of those of `options`.

        Raises:
            NotFound: an id is not in the index.
            InvalidRequest: neither ids nor text, citations of an index without references, or as in `search`.
        """
        chosen = replace(changed(options, changes), reranker=None)
        mode, fusion = self._checked(k, chosen.mode), self.fusion(chosen.fusion, chosen.alpha)
        if by == "citations" and (chosen.mode or chosen.fusion or chosen.alpha is not None):
            raise InvalidRequest("--mode, --fusion and --alpha say how texts are compared; leave them out with --by citations")
        linked = self._linked(ids, negatives, text, by, chosen.filters)
        if linked is not None and linked.alone:
            probe = Probe(Query(" ".join(self.ids(self.named_rows(ids)))), None, {}, self.narrower.passing(chosen.filters))
        else:
            probe = self.likeness(ids, text=text, negatives=negatives, mode=mode, filter=chosen.filters)
        return self._answered([probe], k, mode, fusion, chosen, linked)

    def _linked(
        self, ids: str | Sequence[str], negatives: str | Sequence[str], text: str | None, by: SimilarBy | None, filter: Filter
    ) -> Linked | None:
        """The papers that citations link with the given ones, if these count: the mean over the given ones, less a fifth of the mean over
        the negatives, as in Rocchio's formula."""
        if by is not None:
            check_choice("ground", by, SIMILAR_BY)
        if by == "text" or (by is None and (not as_ids(ids) or len(self) > GRAPHED or not self.has_references)):
            return None
        if by == "citations" and text is not None:
            raise InvalidRequest("a text cites nothing; give ids with --by citations, or leave it out")
        positive_rows, negative_rows = self.named_rows(as_ids(ids)), self.named_rows(as_ids(negatives))
        if not len(positive_rows):
            raise InvalidRequest(f"--by {by} goes by what papers of the index cite; give ids of some")
        scores = np.zeros(self.scope.rows)
        for rows, weight in ((positive_rows, 1.0), (negative_rows, -NEGATIVE_WEIGHT)):
            for row in rows.tolist():
                related, closeness = self.citations.related(row)
                scores[related] += weight / len(rows) * closeness
        scope = self.narrower.passing(filter).without(np.concatenate([positive_rows, negative_rows]))
        linked_rows = np.flatnonzero((scores > 0) & scope.flags)
        alone = by == "citations"
        return Linked(linked_rows, scores[linked_rows], self.ids, alone) if alone or len(linked_rows) else None

    def likeness(
        self,
        ids: str | Sequence[str],
        *,
        text: str | None = None,
        negatives: str | Sequence[str] = (),
        mode: Mode | None = None,
        filter: Filter = None,
    ) -> Probe:
        """What `similar` searches with. Raises as it does."""
        ids, negatives = as_ids(ids), as_ids(negatives)
        if text is not None:
            checked_text(text, "text")
        if not ids and not (text or "").strip():
            raise InvalidRequest("nothing to be similar to; give paper ids, or --text with a title and an abstract")
        mode = self._checked(1, mode)
        positive_rows, negative_rows, outside = self.named_rows(ids), self.named_rows(negatives), []
        if text:
            title, _, abstract = text.partition(". ")
            outside = [Paper("", title, abstract)]
        vector = None
        if mode != "bm25":
            positives = np.concatenate([self._vectors_at(positive_rows), self._paper_vectors(outside)])
            vector = rocchio(positives, self._vectors_at(negative_rows))
        groups = (*self.papers_at(positive_rows), *outside), self.papers_at(negative_rows)
        terms = rocchio_terms(*([self._terms(Query("", paper=paper).words, mode) for paper in group] for group in groups))
        scope = self.narrower.passing(filter).without(np.concatenate([positive_rows, negative_rows]))
        return Probe(Query(" ".join(self.ids(positive_rows)) or "text"), vector, terms, scope)

    def score(
        self,
        query: Query,
        ids: Sequence[str],
        *,
        mode: Mode | None = None,
        fusion: FusionMethod | None = None,
        vector: Vectors | None = None,
    ) -> Scores:
        """Score given papers for a query as a search over just them would, in the order of `ids`, which are distinct.

        `vector` is the query's by the index's encoder, (dim,), where it is known.

        Papers that the search has no score for (BM25, without a common word) get less than every other: 0, or if there
        are negative scores the least of them less 1.

        Raises:
            NotFound: an id is not in the index.
            InvalidRequest: as in `search`.
        """
        chosen = self._checked(1, mode)
        if not ids:
            return np.empty(0)
        rows = self.rows(ids)
        if chosen == "bm25":
            probe = self._probe(query, None, None, self.scope.among(rows), chosen)
        else:
            vectors, tokens = self._read([query], chosen, None if vector is None else vector[None])
            probe = replace(self._probe(query, None, vectors[0], self.scope.among(rows), chosen), tokens=tokens[0])
        ranking = self.searcher.search([probe], len(ids), chosen, self.fusion(fusion, None))[0]
        score_of = dict(zip(ranking.rows.tolist(), ranking.scores.tolist(), strict=True))
        least = min(score_of.values(), default=0.0)
        return np.array([score_of.get(row, 0.0 if least >= 0 else least - 1) for row in rows.tolist()])

    def top(self, vectors: Vectors, k: int, metric: Metric, device: str | None = None) -> Iterator[RowScores]:
        """The k best of all papers for each of the vectors, (n, dim), where every paper is scored by `metric`.

        Rows are counted over the papers that are not deleted; order, ties and `device` are those of `full_corpus.top`.
        """
        return full_corpus.top(vectors, self.live_vectors(self.vectors), k, metric, device)

    @once
    def speller(self) -> Speller:
        """What reads the words of queries; only for an index that has BM25."""
        assert self.bm25 is not None
        return Speller(self.analyzer, self.bm25, self._texts)

    def _answered(
        self, probes: Sequence[Probe], k: int, mode: Mode, fusion: Fusion, options: SearchOptions, linked: Linked | None = None
    ) -> Run:
        """Search, and do to the rankings what the options say; as deep as it takes to have k papers left."""
        if options.diversify and not self.vectors:
            raise InvalidRequest(f"{self.path} has no vectors to tell papers' likeness by; leave out --diverse")
        works = DIVERSE * k if options.diversify else k
        depth = works + GROUPED if options.group else works
        searcher = replace(self.searcher, effort=self.effort(options))
        if options.late and self.manifest.late is None:
            searcher = replace(searcher, match=self._match_anew)
        while True:
            searched = max(depth, options.rerank_depth) if options.reranker else depth
            if linked is None:
                run = Run(tuple(searcher.search(probes, searched, mode, fusion)), mode, self)
            elif linked.alone:
                run = Run((linked.ranking(probes[0].query, searched),), "citations", self)
            else:
                by_text = searcher.search(probes, max(searched, DEPTH), mode, fusion)[0]
                run = Run((linked.joined(by_text, searched),), f"{mode}+citations", self)
            if options.reranker is not None:
                run = reranked(run, options.reranker, depth, options.rerank_depth)
            run = replace(run, rankings=tuple(self.leading(*parts, depth) for parts in zip(run, probes, strict=True)))
            if not options.group:
                break
            grouped_rankings = tuple(grouped(ranking, self.papers_at(ranking.rows), works) for ranking in run)
            too_few = any(len(group) < works and len(ranking) >= depth for group, ranking in zip(grouped_rankings, run, strict=True))
            run = replace(run, rankings=grouped_rankings)
            if not too_few:
                break
            depth *= 2
        if options.diversify:
            run = replace(run, rankings=tuple(diverse(ranking, vectors_at(self.vectors, ranking.rows), k) for ranking in run))
        return run

    def leading(self, ranking: Ranking, probe: Probe, k: int) -> Ranking:
        """The first k papers of a probe's ranking after those that the query names, and that may answer, are put first."""
        ranking = replace(ranking, undecided=probe.scope.undecided)
        rows = probe.named.rows[probe.scope.has(probe.named.rows)]
        return led(ranking, Match(probe.named.by, rows), self.ids(rows), k) if len(rows) else ranking

    def _match_anew(self, tokens: QueryTokens, rows: Rows) -> Scores:
        """`match` where the index has no token vectors."""
        encoder = self.query_encoder.with_tokens
        packing = packing_of(encoder)
        return match(packing, tokens, RememberingEncoder(encoder).packed_papers(self.papers_at(rows), packing))

    def probes(
        self,
        queries: Sequence[str | Query],
        mode: Mode,
        filter: Filter,
        vectors: Vectors | None = None,
        late: bool | None = None,
        *,
        like: str | Sequence[str] = (),
        unlike: str | Sequence[str] = (),
    ) -> list[Probe]:
        """Queries made ready: what is typed is taken apart, and all vectors that are not given are encoded at once. Raises as `search`."""
        if (like or unlike) and len(queries) > 1:
            raise InvalidRequest("papers are liked and disliked as answers to one query; search for one query at a time")
        mode = self._readable(mode, queries, vectors)
        allowed = self.narrower.passing(filter)
        parsed: list[Query] = []
        scopes: list[Scope] = []
        typed_queries: list[TypedQuery | None] = []
        matches: list[Match] = []
        for number, item in enumerate(queries, 1):
            checked_text(item.words if isinstance(item, Query) else item, "query")
            if isinstance(item, Query):
                parsed.append(item)
                scopes.append(allowed)
                typed_queries.append(None)
                matches.append(NO_MATCH)
                continue
            typed, match, scope = self._typed(item, allowed)
            parsed.append(Query(str(number), typed.words))
            typed_queries.append(typed)
            matches.append(match)
            scopes.append(scope)
        if not all(query.words.strip() for query in parsed):
            raise InvalidRequest("the query is empty, or only leaves papers out; give some words, a sentence or a title")
        if mode == "bm25" and not late:
            known: Sequence[Vectors | None] = [None] * len(parsed)
            tokens: Sequence[QueryTokens | None] = [None] * len(parsed)
        else:
            vectors, tokens = self._read(parsed, mode, vectors, late)
            known = list(vectors)
        probes = [self._probe(*parts, mode) for parts in zip(parsed, typed_queries, known, scopes, strict=True)]
        probes = [replace(probe, tokens=states, named=match) for probe, states, match in zip(probes, tokens, matches, strict=True)]
        return [self._moved(probes[0], as_ids(like), as_ids(unlike), mode)] if like or unlike else probes

    def _readable(self, mode: Mode, queries: Sequence[str | Query], vectors: Vectors | None) -> Mode:
        """The mode in which these queries can be searched for: BM25 in place of hybrid for typed texts that the encoder cannot read. Raises
        InvalidRequest for dense search with these."""
        is_typed = any(isinstance(query, str) for query in queries)
        if mode == "bm25" or vectors is not None or not is_typed or self.query_encoder.reads_texts:
            return mode
        if mode == "hybrid":
            return "bm25"
        raise InvalidRequest(
            f"the vectors of {self.path} were made elsewhere, and nothing here encodes a typed query; "
            "name the model that made them by `encoder`, or search with `mode='bm25'`"
        )

    def _typed(self, text: str, allowed: Scope) -> tuple[TypedQuery, Match, Scope]:
        """A typed text taken apart, the papers that it names, and those that may answer. In place of an identifier, which has no words, its
        paper's title is searched for, so that papers on its subject follow it."""
        if len(match := self.lookup.identified(text)):
            paper = self.papers_at(match.rows[:1])[0]
            return TypedQuery(paper.title or paper.abstract or text, ()), match, allowed
        try:
            # the columns' names are read from every shard, which a cold search can do without
            typed = operators.parse(text, self.columns.names if ":" in text else ())
        except InvalidRequest:
            # what was pasted may have anything in it, but names are typed
            if len(match := self.lookup.meant(text, allowed)) and match.by != NAMES:
                return TypedQuery(text, ()), match, allowed
            raise
        scope = self.narrower.meeting(typed.demands, allowed)
        # what AND, OR and NOT join are subjects
        is_joined = any(not isinstance(demand, Demand) for demand in typed.demands)
        return typed, NO_MATCH if is_joined else self.lookup.meant(typed.words, scope), scope

    def _read(
        self, queries: Sequence[Query], mode: Mode, vectors: Vectors | None, late: bool | None = None
    ) -> tuple[Vectors, Sequence[QueryTokens | None]]:
        """The vectors of queries, (n, dim), encoded unless they are given; and for late interaction their token vectors.

        Raises InvalidRequest if `late` asks for these where they can have no part.
        """
        if late and mode != "hybrid":
            raise InvalidRequest(f"late interaction is a part of hybrid search, not of --mode {mode}; leave out one of them")
        if vectors is not None:
            vectors = self._checked_vectors(vectors, len(queries))
        if mode != "hybrid" or not (self.manifest.late is not None if late is None else late):
            return self.encode(queries) if vectors is None else vectors, [None] * len(queries)
        encoded, tokens = self.query_encoder.encode_late(queries)
        weighed = [None if states is None else self._weighed(query, states) for query, states in zip(queries, tokens, strict=True)]
        return encoded if vectors is None else vectors, weighed

    def _weighed(self, query: Query, states: Vectors) -> QueryTokens | None:
        """A query's token vectors, (tokens, dim), each weighed by how rare its word is in the corpus; None if it has only stop words."""
        assert self.bm25 is not None
        words = self.query_encoder.with_tokens.words(query.side, query.paper or Paper("", query.text))
        terms_of = {word: self.analyzer.terms(word) for word in dict.fromkeys(words)}
        rarities = {word: max(map(self.bm25.rarity, terms), default=0.0) for word, terms in terms_of.items()}
        weights = np.array([rarities[word] for word in words])
        kept = weights > 0
        return QueryTokens(states[kept], weights[kept], [words[place] for place in np.flatnonzero(kept)]) if kept.any() else None

    def _moved(self, probe: Probe, like: Sequence[str], unlike: Sequence[str], mode: Mode) -> Probe:
        """A probe moved towards papers and away from others, which no longer may answer it."""
        liked, disliked = (np.array(list(dict.fromkeys(self.named_rows(names).tolist())), np.int64) for names in (like, unlike))
        if both := self.ids(liked[np.isin(liked, disliked)]):
            raise InvalidRequest(f"the paper {both[0]!r} is both liked and disliked; leave it out of one of them")
        vector, terms = probe.vector, probe.terms
        if vector is not None:
            vector = moved(vector, self._vectors_at(liked), self._vectors_at(disliked))
        if self.bm25 is not None and mode != "dense":
            liked_terms, disliked_terms = (
                [self._terms(Query("", paper=paper).words, mode) for paper in self.papers_at(rows)] for rows in (liked, disliked)
            )
            terms = moved_terms(terms, liked_terms, disliked_terms, self.bm25.rarity)
        scope = probe.scope.without(np.concatenate([liked, disliked]))
        return replace(probe, vector=vector, terms=terms, scope=scope, listing=False, typed=probe.terms)

    def _checked_vectors(self, vectors: Vectors, queries: int) -> Vectors:
        """Vectors that were given for so many queries. Raises InvalidRequest for those of another shape."""
        if np.shape(vectors) != (expected := (queries, self.vectors[0].dim)):
            raise InvalidRequest(f"vectors of queries have the shape {expected}, (queries, dimension), not {np.shape(vectors)}")
        checked = np.asarray(vectors, np.float32)
        if len(wrong := np.flatnonzero(~measurable(checked))):
            raise InvalidRequest(f"the vector of query {wrong[0] + 1} {NOT_MEASURABLE}")
        return checked

    def _probe(self, query: Query, typed: TypedQuery | None, vector: Vectors | None, scope: Scope, mode: Mode) -> Probe:
        """A query, as it was typed or None, with its terms and with what its unknown words are taken for."""
        listing = typed is not None and typed.listing
        if mode == "dense":
            return Probe(query, vector, {}, scope, listing=listing)
        if query.paper is not None:  # what was published is not misspelt
            return Probe(query, vector, self._terms(query.words, mode), scope)
        demands = typed.demands if typed else ()
        insisted = {word for demand in demands for leaf in leaves(demand) for word in self.analyzer.words(leaf.text)}
        corrections = self.speller.corrections(query.words, insisted)
        if vector is not None:
            corrections = [correction for correction in corrections if self.searcher.believes(correction, vector)]
        terms = self.speller.terms(query.words, corrections)
        fields = {} if listing or self.bm25 is None else field_terms(self.bm25, self.analyzer, query.words)
        without_terms = any(self.narrower.is_without_terms(leaf) for demand in demands for leaf in wanted(demand))
        listing = listing or (without_terms and not terms)
        return Probe(query, vector, terms, scope, corrections, listing, fields=fields, without_terms=without_terms)

    def fusion(self, method: FusionMethod | None, alpha: float | None) -> Fusion:
        """How to join both halves: as the index was tuned, but for what the caller asks."""
        tuned = Fusion(**self.manifest.fusion) if self.manifest.fusion else Fusion()
        return replace(tuned, method=method or tuned.method, alpha=tuned.alpha if alpha is None else alpha)

    def effort(self, options: SearchOptions) -> Effort:
        """How hard the dense half is searched: as was measured to be enough, unless the options say more.

        Raises InvalidRequest for a knob that the type of its dense index does not have.
        """
        has = knob(self.manifest.dense)
        for name in ("ef", "nprobe"):
            if getattr(options, name) is not None and name != has:
                other = f"it has --{has}" if has else "leave it out"
                raise InvalidRequest(f"{self.path} has the dense index {self.manifest.dense}, which has no --{name}; {other}")
        if options.recall is not None:
            return self.manifest.trial.reaching(options.recall) if self.manifest.trial else EXACT
        if options.ef is None and options.nprobe is None:
            return self.searcher.effort
        return Effort(options.ef, options.nprobe, deepens=False)

    def _checked(self, k: int, mode: Mode | None) -> Mode:
        if not isinstance(k, Integral) or k < 1:
            raise InvalidRequest(f"k must be a whole number, at least 1, not {k!r}")
        chosen = self.modes[0] if mode is None else mode
        check_choice("mode", chosen, MODES)
        if chosen not in self.modes:
            lacks = "vectors (it was built with --dense none)" if self.manifest.encoder is None else "BM25 (it was built with --no-lexical)"
            raise InvalidRequest(f"{self.path} has no {lacks}, so it cannot be searched in mode {chosen}; use --mode {self.modes[0]}")
        return chosen

    def _terms(self, words: str, mode: Mode) -> dict[str, float]:
        return {} if mode == "dense" else weigh_terms(self.analyzer.terms(words))

    def corrections(self, query: str) -> dict[str, str]:
        """Words of a query that no paper has, and the words that BM25 looks for in their place, as papers spell them.

        They are taken for a word not typed to its end or for a slip of a letter; see `matching.lexical.spelling`. What is quoted
        must stand in a paper as it is. Where there is no BM25, and where the dense half knows better, nothing is corrected.
        """
        if self.bm25 is None:
            return {}
        return {correction.word: correction.meant for correction in self.probes([query], self.modes[0], None)[0].corrections}

    def _texts(self, rows: Rows) -> list[str]:
        """Titles and abstracts of the papers at the given rows."""
        return [f"{paper.title} {paper.abstract}" for paper in self.papers_at(rows)]

    def _vectors_at(self, rows: Rows) -> Vectors:
        """Vectors, as queries, of papers of the index: the stored ones where the encoder makes no difference, (n, dim)."""
        if not self.encoder.symmetric:
            return self._paper_vectors(self.papers_at(rows))
        return vectors_at(self.vectors, rows)

    def _paper_vectors(self, papers: Sequence[Paper]) -> Vectors:
        """Vectors of papers in place of queries, shape (n, dim)."""
        if not papers and self.vectors:  # without opening the encoder, whose dimension this is
            return np.empty((0, self.vectors[0].dim), np.float32)
        return self.encode([Query(paper.id, paper=paper) for paper in papers])


def _listed(query: str | Query | Sequence[str | Query]) -> list[str | Query]:
    """One query or several as a list. Raises InvalidRequest for what is no query, and for none."""
    queries = [query] if isinstance(query, str | Query) else list(query) if isinstance(query, Sequence) else [query]
    for item in queries:
        if not isinstance(item, str | Query):
            raise InvalidRequest(f"a query is a text or a Query, not {item!r}")
    if not queries:
        raise InvalidRequest("there is no query; give some words, a sentence or a title")
    return queries

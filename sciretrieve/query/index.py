"""An index opened for searching: a snapshot of it, and what reads queries."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from numbers import Integral
from pathlib import Path
from typing import Unpack

import numpy as np

from ..choices import MODES, Filter, FusionMethod, Metric, Mode, SideName, SimilarBy, check_choice
from ..encoders import opened_encoder, packing_of
from ..encoders.query_encoder import QueryEncoder
from ..encoders.remembered import RememberingEncoder
from ..errors import InvalidRequest, WordsAlone
from ..matching.dense import full_corpus
from ..matching.dense.exact import RowScores
from ..matching.effort import EXACT, Effort, knob
from ..matching.fusion import Fusion
from ..matching.late import QueryTokens, match
from ..matching.lexical import Bm25
from ..matching.search import Probe, Searcher
from ..once import once
from ..options import Bm25Parameters, SearchKeywords, SearchOptions, changed
from ..protocols import AnyEncoder, Encoder
from ..runs import Ranking, Run, papers_of
from ..types import NO_MATCH, Match, Paper, Query, Rows, Scores, Vectors
from .ranking.diversity import POOL, diverse
from .ranking.grouping import grouped
from .ranking.leading import led
from .ranking.linking import DEPTH, LinkedPapers, linked_papers
from .ranking.reranking import reranked
from .reading.counting import CountLine, count_lines
from .reading.feedback import fed_back, likeness, without_copies
from .reading.reader import Reader
from .reading.relevance_models import expanded
from .snapshot import NAMING, Snapshot

GROUPED = 10
"""How many more papers are looked at where near-duplicates are grouped; more again where that is not enough."""


class Index(Snapshot):
    """A snapshot of an index on disk, what was committed when it was opened, that can be searched."""

    def __init__(
        self,
        path: str | Path,
        *,
        encoder: AnyEncoder | None = None,
        generation: int | None = None,
        query_encoder: QueryEncoder | None = None,
    ) -> None:
        """Open the index in the directory `path`.

        Args:
            path: the index's directory.
            encoder: what encodes queries, if the index's own encoder cannot be found: the encoder of your own that filled it, see
                `sciretrieve.protocols.OwnEncoder`; a name, where its folder has moved; or the queries' vectors, {id: vector} or
                `vectors:FILE`. Without it such an index is searched by BM25, and says so.
            generation: the generation to open, of those that `sciretrieve info log` shows; by default the current one.
            query_encoder: what encodes queries, of another snapshot of the same index.

        Raises:
            NotFound: there is none, or it is not finished, or it has no such generation.
            CorruptData: it is damaged or of another format version.
            UnknownName, InvalidRequest: the encoder is none.
        """
        super().__init__(path, generation)
        if encoder is not None:
            self._given = opened_encoder(encoder, self.manifest.encoder)
        if query_encoder is not None and query_encoder.fits(self.manifest.encoder):
            vars(self)["query_encoder"] = query_encoder

    def refreshed(self) -> Index:
        """The index as it is now: this snapshot if nothing was committed since, else another one, which shares its encoder if that fits.

        This one stays as it is; close it when its last search has ended. Raises as `Index`.
        """
        return self if self.is_current else self.reopened()

    def reopened(self) -> Index:
        """Another snapshot of the index as it is now, which shares its encoder if that fits, whether or not anything was committed."""
        return Index(self.path, encoder=self._given, query_encoder=self.query_encoder)

    @once
    def reader(self) -> Reader:
        """What reads queries."""
        return Reader(self)

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
        among: Rows | None = None,
        **changes: Unpack[SearchKeywords],
    ) -> Run:
        """Search for one query or many.

        Args:
            query: a text, a `Query`, or several of either. Texts are numbered from "1", and may have operators as people
                type them, see `sciretrieve.query.narrowing.operators`; a `Query` is taken as it is, and may be a vector.
            k: how many papers are wanted for each query.
            options: how to search.
            like: papers of this index, by id, that answer the query, which is moved towards them by Rocchio's formula (see
                `query.reading.rocchio.moved`), in both halves. They, and those of `unlike`, are never among the answers; neither are
                other records of them, where papers are grouped.
            unlike: papers that do not answer it, which it is moved away from.
            vectors: the queries' vectors by the index's encoder, (n, dim), where they are known: then nothing is encoded.
            among: the rows of the papers that alone may answer; by default all may that pass the filter.
            changes: fields of `SearchOptions`, in place of those of `options`: `search("graph networks", filter="year >= 2018")`.

        Raises:
            NotFound: a paper that is liked or disliked is not in the index.
            InvalidRequest: an empty query, a k below 1, a filter that cannot be read, or a mode the index lacks; papers liked or
                disliked with several queries, or one both liked and disliked.
        """
        chosen = changed(options, changes)
        queries, fusion = _listed(query), self.fusion(chosen.fusion, chosen.alpha, chosen.depth)
        mode = self._checked(k, chosen.mode)
        chosen.check_words(mode)
        if chosen.rm3 and (like or unlike):
            raise InvalidRequest("`rm3` guesses which papers are relevant, and these are named; leave out `rm3`, or `like` and `unlike`")
        modes = self.reader.modes(mode, queries, vectors)
        probes = self.probes(queries, mode, chosen.filters, vectors, chosen.late, like=like, unlike=unlike, among=among)
        self._warn(probes, "query")
        if chosen.group and (like or unlike):
            probes = [without_copies(self, probes[0], like, unlike)]
        if chosen.reranker is not None and not all(probe.query.words.strip() for probe in probes):
            raise InvalidRequest("a reranker reads the query, and a vector alone has no text; give it one, or leave out the reranker")
        return self._answered(self.expanded(probes, chosen), k, modes, fusion, chosen)

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
        """Find papers like the given ones, and unlike `negatives`, combined by Rocchio's formula (see `query.reading.rocchio`).

        Args:
            ids: papers of this index to be like: one id, or several. They, and the negatives, are never among the answers; neither are
                other records of them, where papers are grouped.
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
        mode, fusion = self._checked(k, chosen.mode), self.fusion(chosen.fusion, chosen.alpha, chosen.depth)
        chosen.check_words(mode)
        if chosen.rm3:
            raise InvalidRequest("`rm3` expands what a query says, and papers to be like say enough; leave it out")
        if by == "citations" and (chosen.mode or chosen.fusion or chosen.alpha is not None):
            raise InvalidRequest("`mode`, `fusion` and `alpha` say how texts are compared; leave them out with `by='citations'`")
        if by == "citations":
            passing = self.narrower.passing(chosen.filters)
            probe = Probe(Query(" ".join(self.ids(self.named_rows(ids)))), passing, total=len(passing))
        else:
            probe = self.likeness(ids, text=text, negatives=negatives, mode=mode, filter=chosen.filters)
            self._warn([probe], "paper_as_query")
            mode = "bm25" if probe.lacks else mode
        if chosen.group:
            probe = without_copies(self, probe, ids, negatives)
        linked = linked_papers(self, ids, negatives, text, by, probe.scope)
        return self._answered([probe], k, [mode], fusion, chosen, linked)

    def matching(self, query: str = "", filter: Filter = None) -> Rows:
        """The rows of the papers that meet all that a typed query and a filter demand, ascending. Nothing is encoded.

        Words without operators must all be in a paper, in title or abstract, in any form; stop words, and single characters beside other
        words, are not asked for. An empty query demands nothing, an identifier is that of its paper. `papers_at` has the papers,
        and `ids` their ids.

        Raises:
            UnknownName, InvalidRequest: a query or a filter that cannot be read.
        """
        self.check_files()
        return self.reader.matching(query, filter)[1].places

    def count(self, query: str = "", filter: Filter = None) -> int:
        """How many papers meet all that a typed query and a filter demand, see `matching`. Raises as it does."""
        self.check_files()
        return len(self.reader.matching(query, filter)[1])

    def count_lines(self, query: str, filter: Filter = None) -> list[CountLine]:
        """How many papers meet each operand of a typed query, what each operator joins, each filter, and the whole, which is the last line.

        A line counts the papers of the whole index, whatever the other lines demand; the last counts what `count` does. Words side by side
        are one operand. Raises as `matching`, and InvalidRequest where there is neither a query nor a filter.
        """
        self.check_files()
        return count_lines(self.reader, query, filter)

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
        self.check_files()
        return likeness(self.reader, ids, text, negatives, self._checked(1, mode), filter)

    def score(
        self,
        query: Query,
        ids: Sequence[str],
        options: SearchOptions = SearchOptions(),
        *,
        vector: Vectors | None = None,
        **changes: Unpack[SearchKeywords],
    ) -> Scores:
        """Score given papers for a query as a search over just them would, in the order of `ids`, which are distinct.

        `vector` is the query's by the index's encoder, (dim,), where it is known. Of the options those count that say how scores are made.

        Papers that the search has no score for (BM25, without a common word) get less than every other: 0, or if there
        are negative scores the least of them less 1.

        Raises:
            NotFound: an id is not in the index.
            InvalidRequest: as in `search`.
        """
        chosen = changed(options, changes)
        mode = self._checked(1, chosen.mode)
        chosen.check_words(mode)
        if not ids:
            return np.empty(0)
        rows = self.rows(ids)
        probe = self._believed(self.reader.probe(query, mode, vector, self.scope.among(rows)))
        fusion = self.fusion(chosen.fusion, chosen.alpha, chosen.depth)
        ranking = self._searching(chosen).search(self.expanded([probe], chosen), len(ids), mode, fusion)[0]
        score_of = dict(zip(ranking.rows.tolist(), ranking.scores.tolist(), strict=True))
        least = min(score_of.values(), default=0.0)
        return np.array([score_of.get(row, 0.0 if least >= 0 else least - 1) for row in rows.tolist()])

    def top(self, vectors: Vectors, k: int, metric: Metric, device: str | None = None) -> Iterator[RowScores]:
        """The k best of all papers for each of the vectors, (n, dim), where every paper is scored by `metric`.

        Rows are counted over the papers that are not deleted; order, ties and `device` are those of `full_corpus.top`.
        """
        return full_corpus.top(vectors, self.live_vectors(self.vectors), k, metric, device)

    def _answered(
        self,
        probes: Sequence[Probe],
        k: int,
        modes: Sequence[Mode],
        fusion: Fusion,
        options: SearchOptions,
        linked: LinkedPapers | None = None,
    ) -> Run:
        """Search deep enough for k papers, each query in its mode, then rerank, group and diversify as the options say."""
        mode = modes[0] if len(set(modes)) == 1 else self.modes[0]
        if options.diversify and not self.vectors:
            raise InvalidRequest(f"{self.path} has no vectors to tell papers' likeness by; leave out `diversify`")
        works = -(-k // POOL) * POOL if options.diversify else k
        depth = works + GROUPED if options.group else works
        searcher = self._searching(options)
        if options.late and self.manifest.late is None:
            searcher = replace(searcher, match=self._match_anew)
        while True:
            searched = max(depth, options.rerank_depth) if options.reranker else depth
            if linked is None:
                run = Run(_searched(searcher, probes, searched, modes, fusion), mode, self)
            elif linked.alone:
                run = Run((linked.ranking(probes[0].query, searched),), "citations", self)
            else:
                by_text = searcher.search(probes, max(searched, DEPTH), mode, fusion)[0]
                run = Run((linked.joined(by_text, searched),), f"{mode}+citations", self)
            if options.reranker is not None:
                run = reranked(run, options.reranker, options.rerank_depth)
            run = replace(run, rankings=tuple(self.leading(*parts, depth) for parts in zip(run, probes, strict=True)))
            if not options.group:
                break
            named = papers_of(run.rankings, lambda rows: self.papers_at(rows, NAMING))
            parts = zip(run, named, probes, strict=True)
            grouped_rankings = tuple(self._grouped(ranking, papers, probe, works) for ranking, papers, probe in parts)
            too_few = any(len(group) < works and len(ranking) >= depth for group, ranking in zip(grouped_rankings, run, strict=True))
            run = replace(run, rankings=grouped_rankings)
            if not too_few:
                break
            depth *= 2
        if options.diversify:
            run = replace(run, rankings=tuple(diverse(ranking, self.vectors_at(ranking.rows), k) for ranking in run))
        return run

    def _grouped(self, ranking: Ranking, papers: Sequence[Paper], probe: Probe, k: int) -> Ranking:  # noqa: ARG002 - several indexes ask it
        """The first k works of a probe's ranking, of these papers."""
        return grouped(ranking, papers, k)

    def _warn(self, probes: Sequence[Probe], side: SideName) -> None:
        """Warn that words alone answer, if that is so."""
        if any(probe.lacks == "meaning" for probe in probes):
            why = self.query_encoder.lack(side)
            warnings.warn(f"{self.path} is searched by words alone: {why}", WordsAlone, stacklevel=3)

    def _searching(self, options: SearchOptions) -> Searcher:
        """What searches as the options say."""
        searcher = replace(self.searcher, effort=self.effort(options))
        if self.bm25 is None or (options.k1 is None and options.b is None):
            return searcher
        own = self.bm25.parameters
        k1, b = (mine if asked is None else float(asked) for asked, mine in ((options.k1, own.k1), (options.b, own.b)))
        return replace(searcher, bm25=self._weighted(replace(own, k1=k1, b=b)))

    @once
    def _weighted(self) -> Callable[[Bm25Parameters], Bm25]:
        """Gives the BM25 index with other parameters; the last one is remembered, with the weights of its terms."""
        assert self.bm25 is not None
        return lru_cache(1)(self.bm25.weighted)

    def expanded(self, probes: Sequence[Probe], options: SearchOptions) -> Sequence[Probe]:
        """Probes with the terms that RM3 adds, see `query.reading.relevance_models`, if the options ask for it.

        The papers that may answer a probe are those that its terms are taken from.
        """
        if not options.rm3:
            return probes
        asked = [replace(probe, named=NO_MATCH) for probe in probes]
        rankings = self._searching(options).search(asked, options.fb_docs, "bm25", self.fusion(None, None))
        pairs = zip(probes, rankings, strict=True)
        return [probe if probe.listing else expanded(self.reader, probe, ranking, options) for probe, ranking in pairs]

    def leading(self, ranking: Ranking, probe: Probe, k: int) -> Ranking:
        """The first k papers of a probe's ranking in which the papers that the query names, if they may answer, are put first."""
        ranked = len(probe.scope) if "dense" in ranking.parts else None
        ranking = replace(ranking, undecided=probe.scope.undecided, total=probe.total, total_is=probe.total_is, ranked=ranked)
        if len(probe.named_rows):
            return led(ranking, Match(probe.named.by, probe.named_rows), k)
        return ranking.take(range(min(k, len(ranking))))

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
        among: Rows | None = None,
    ) -> list[Probe]:
        """Queries made ready, see `Reader.probes`. Raises as `search`."""
        self.check_files()
        if (like or unlike) and len(queries) > 1:
            raise InvalidRequest("papers are liked and disliked as answers to one query; search for one query at a time")
        probes = [self._believed(probe) for probe in self.reader.probes(queries, mode, filter, vectors, late, among)]
        return [fed_back(self.reader, probes[0], like, unlike, mode)] if like or unlike else probes

    def _believed(self, probe: Probe) -> Probe:
        """A probe without the corrections that the dense half contradicts."""
        if probe.vector is None:
            return probe
        believed = [correction for correction in probe.corrections if self.searcher.believes(correction, probe.vector)]
        return probe if len(believed) == len(probe.corrections) else self.reader.corrected(probe, believed)

    def fusion(self, method: FusionMethod | None, alpha: float | None, depth: int | None = None) -> Fusion:
        """How to join both halves: as the index was tuned, but for what the caller asks."""
        tuned = Fusion.of(self.manifest.fusion) if self.manifest.fusion else Fusion()
        return replace(
            tuned,
            method=method or tuned.method,
            alpha=tuned.alpha if alpha is None else alpha,
            depth=tuned.depth if depth is None else depth,
        )

    def effort(self, options: SearchOptions) -> Effort:
        """How hard the dense half is searched: as was measured to be enough, unless the options say more.

        Raises InvalidRequest for a knob that the type of its dense index does not have.
        """
        has = knob(self.manifest.dense)
        for name in ("ef", "nprobe"):
            if getattr(options, name) is not None and name != has:
                other = f"it has `{has}`" if has else "leave it out"
                raise InvalidRequest(f"{self.path} has the dense index {self.manifest.dense}, which has no `{name}`; {other}")
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
            lacks = "vectors" if self.manifest.encoder is None else "BM25"
            raise InvalidRequest(f"{self.path} has no {lacks}, so it cannot be searched in mode {chosen}; use `mode={self.modes[0]!r}`")
        return chosen

    def corrections(self, query: str) -> dict[str, str]:
        """Words of a query that no paper has, and the words that BM25 looks for in their place, as papers spell them.

        They are taken for a word not typed to its end or for a slip of a letter; see `matching.lexical.spelling`. What is quoted
        must stand in a paper as it is. Where there is no BM25, and where the dense half knows better, nothing is corrected.
        """
        if self.bm25 is None:
            return {}
        return {correction.word: correction.meant for correction in self.probes([query], self.modes[0], None)[0].corrections}


def _searched(searcher: Searcher, probes: Sequence[Probe], k: int, modes: Sequence[Mode], fusion: Fusion) -> tuple[Ranking, ...]:
    """The rankings of probes, each in its mode."""
    rankings: dict[int, Ranking] = {}
    for mode in dict.fromkeys(modes):
        places = [place for place, other in enumerate(modes) if other == mode]
        rankings |= zip(places, searcher.search([probes[place] for place in places], k, mode, fusion), strict=True)
    return tuple(rankings[place] for place in range(len(probes)))


def _listed(query: str | Query | Sequence[str | Query]) -> list[str | Query]:
    """One query or several as a list. Raises InvalidRequest for what is no query, and for none."""
    queries = [query] if isinstance(query, str | Query) else list(query) if isinstance(query, Sequence) else [query]
    for item in queries:
        if not isinstance(item, str | Query):
            raise InvalidRequest(f"a query is a text or a Query, not {item!r}")
    if not queries:
        raise InvalidRequest("there is no query; give some words, a sentence or a title")
    return queries

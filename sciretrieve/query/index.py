"""An index opened for searching: its snapshot, its query reader and its searcher."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import replace
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeAlias, TypeVar, Unpack, overload

import numpy as np

from ..base.arguments import checked
from ..base.choices import SIMILAR_BY, Filter, Mode, SideName, SimilarBy, check_choice, check_count
from ..base.errors import InvalidRequest, NoSuchPaper, WordsAlone, warn
from ..base.types import Hit, Paper, Papers, Passage, Query, Rows, Scores, Vectors, listed, names_of, rows_in
from ..base.waiting import awaited
from ..base.wording import counted, shortened
from ..encoders import packing_of
from ..encoders.remembered import RememberingEncoder
from ..matching.late import QueryTokens, match
from ..matching.search import Probe, Searcher
from ..options import SearchOptions, changed
from ..options.keywords import SearchKeywords
from ..runs import Ranking, Run
from .closing import shut
from .ids import READ_AT_ONCE, Ids
from .ranking.diversity import POOL, diverse
from .ranking.leading import named_first
from .ranking.linking import DEPTH, LinkedPapers, linked_papers
from .ranking.reranking import reranked
from .reading.counting import CountLine, count_lines
from .reading.reader import Reader
from .snapshot import Snapshot

if TYPE_CHECKING:
    from ..papers.corpora import Rejected

GROUPED = 10
"""Number of papers fetched per wanted paper where near-duplicates are grouped. More are fetched if that is not enough."""
Default = TypeVar("Default")
Reopened: TypeAlias = "Callable[[int | None], Index]"
"""Opens the same index again, at a generation or as it is now."""


class Index:
    """An index, or several searched as one, as committed when it was opened.

    `open_index` and `open_many` return one.

    Attributes:
        path: its directory; for several indexes, all names joined, for messages.
        names: the indexes' folder names, or paths if two folders share a name, such as `("papers", "lab")`.
        modes: the available search modes, best first: `("hybrid", "dense", "bm25")`.
        snapshot: the open papers, vectors and terms. This and the next two may change between versions.
        reader: turns queries into probes.
        searcher: turns probes into rankings.

    >>> index = sr.open("indexes/papers")  # an sr.Index
    >>> len(index), "p0007" in index
    (100, True)
    """

    def __init__(self, snapshot: Snapshot, reader: Reader, searcher: Searcher, again: Reopened, members: Sequence[Index] = ()) -> None:
        """
        Args:
            snapshot, reader, searcher: the parts, which this index owns.
            again: opens the index again.
            members: the member indexes, if several are searched as one; they are closed with it."""
        self.path, self.snapshot, self.reader, self.searcher = snapshot.path, snapshot, reader, searcher
        self.names, self.modes = snapshot.names, snapshot.modes
        self._again, self._members = again, tuple(members)

    def passages(
        self,
        query: str | Query,
        k: int = 10,
        options: SearchOptions = SearchOptions(),
        *,
        within: Papers = (),
        **changes: Unpack[SearchKeywords],
    ) -> list[Passage]:
        """The k best passages of full texts for a query.

        Args:
            query: a text, which may contain operators, or a `Query`. What it demands must be in the passage.
            k: number of passages wanted.
            options: how to search; a filter is on papers.
            within: the papers whose passages may answer; by default all papers.
            changes: fields of `SearchOptions` that override `options`.

        Raises:
            NoSuchPaper: a paper in `within` is not in the index.
            InvalidRequest: as in `search`; the index has no full texts.

        >>> _ = sr.add_full_texts("texts", "indexes/papers")
        >>> [passage.paper for passage in index.refreshed().passages("graph networks", k=1, within="p0007")]
        ['p0007']
        """
        full_text, reader, chosen = self.snapshot.fulltext, self.reader.of_passages, changed(options, changes)
        mode = self._checked_mode(k, chosen)
        if full_text is None or reader is None:
            raise InvalidRequest(f"{self.path} has no full texts; `sciretrieve add --fulltext` reads them")
        papers = self.snapshot.narrower.passing(chosen.filters)
        if names := names_of(within):
            papers = papers.among(self.named_rows(names))
        probes = reader.probes([query], mode, None, among=full_text.scope(papers).places)
        self._warn(probes, "query")
        (ranking,) = Searcher.of(reader.snapshot).search(probes, k)
        return [passage for passage in self.snapshot.passages_at(ranking.rows[:k]) if passage is not None]

    def refreshed(self) -> Index:
        """The index as it is now: this object if nothing was committed since, else a newly opened one that shares its encoder if that fits.

        This object stays unchanged; close it after its last search. Raises as opening does.

        >>> index = index.refreshed()
        """
        return self if self.snapshot.is_current else self.reopened()

    @checked
    def reopened(self, generation: int | None = None) -> Index:
        """Open the index once more, as it is now or at a generation, with the same encoder.

        >>> before = index.reopened(1)
        """
        return self._again(generation)

    def close(self) -> None:
        """Release the files: a writer may then remove them, and every later use raises IndexClosed. Closing twice is fine.

        >>> with sr.open("indexes/papers") as opened:  # closes it at the end
        ...     papers = len(opened)
        >>> opened.close()
        """
        for member in self._members:
            member.close()
        self.searcher.close()
        self.snapshot.close()
        shut(self)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.path} of {counted(len(self), 'paper')}>"

    @property
    def members(self) -> tuple[Index, ...]:
        """The indexes searched as one, in the order given; for a single index, itself: `[len(one) for one in indexes.members]`."""
        return self._members or (self,)

    @property
    def rejected(self) -> int:
        """Number of rows that the last ingested corpus had rejected: `assert not index.rejected`."""
        return self.snapshot.rejected

    @property
    def rejections(self) -> tuple[Rejected, ...]:
        """The first 100 rejected rows: `for row in index.rejections: print(row.reason)`. Empty if rejected.jsonl, which lists all, is
        missing or belongs to another corpus."""
        return self.snapshot.rejections

    def __len__(self) -> int:
        return len(self.snapshot)

    def __getitem__(self, id: str | Paper | Hit) -> Paper:
        """The paper with this id. Raises NoSuchPaper, a KeyError, if there is none. `papers` also takes titles and DOIs."""
        return self.papers_at(self.snapshot.rows([id]))[0]

    def __contains__(self, id: object) -> bool:
        """Whether an undeleted paper has this id. Raises InvalidRequest for text that is not valid Unicode."""
        return id in self.snapshot

    def __iter__(self) -> Iterator[Paper]:
        """Iterate over the undeleted papers in row order, a few thousand in memory at a time."""
        rows = self.snapshot.scope.places
        for first in range(0, len(rows), READ_AT_ONCE):
            yield from self.papers_at(rows[first : first + READ_AT_ONCE])

    @overload
    def get(self, id: str | Paper | Hit) -> Paper | None: ...
    @overload
    def get(self, id: str | Paper | Hit, default: Default) -> Paper | Default: ...
    def get(self, id: str | Paper | Hit, default: Default | None = None) -> Paper | Default | None:
        """The paper with this id, or `default` if there is none.

        >>> index.get("p0007").id, index.get("nobody")
        ('p0007', None)
        """
        try:
            return self[id]
        except NoSuchPaper:
            return default

    def keys(self) -> Set[str]:
        """The papers' ids, in the order of the papers, read while iterating.

        For several indexes INDEX:ID. `index[id]` takes each.

        >>> {"p0007", "nobody"} - index.keys()
        {'nobody'}
        """
        return Ids(self.snapshot)

    def to_numpy(self, rows: Rows | None = None) -> Vectors:
        """The papers' vectors as encoded, (n, dim) float32, in the order of `keys`, or at some rows; nobody can write them.

        All vectors of an index of one shard, as `merge` leaves it, without deleted papers are mapped from their file, not copied. Otherwise
        they are gathered in memory, with 4 · dim bytes a paper.

        Raises InvalidRequest for an index without vectors, and for several indexes with different encoders.

        >>> index.to_numpy().shape == (len(index), index.to_numpy(index.matching("graph")).shape[1])
        True
        """
        return self.snapshot.read_only_vectors(None if rows is None else rows_in(rows, self.snapshot.rows_beyond))

    def papers(self, names: Papers) -> list[Paper]:
        """The papers with these names, in order.

        `Snapshot.named_rows` says which names are accepted and what is raised for others.

        >>> [paper.id for paper in index.papers(["p0007", "p0012"])]
        ['p0007', 'p0012']
        """
        return self.papers_at(self.named_rows(names))

    def named_rows(self, names: Papers) -> Rows:
        """Rows of the papers with these names. Raises as `papers`.

        >>> run = index.search("graph", among=index.named_rows(["p0007", "p0012"]))
        """
        return self.snapshot.named_rows(names)

    def papers_at(self, rows: Rows) -> list[Paper]:
        """The papers at these rows, in order.

        >>> papers = index.papers_at(index.matching("graph"))
        """
        return self.snapshot.papers_at(rows_in(rows, self.snapshot.rows_beyond))

    def ids(self, rows: Rows) -> list[str]:
        """The ids of the papers at these rows, without reading the papers.

        >>> ids = index.ids(index.matching("graph"))
        """
        return self.snapshot.ids(rows_in(rows, self.snapshot.rows_beyond))

    def search(
        self,
        query: str | Query | Iterable[str | Query],
        k: int = 10,
        options: SearchOptions = SearchOptions(),
        *,
        offset: int = 0,
        like: Papers = (),
        unlike: Papers = (),
        vectors: Vectors | None = None,
        among: Rows | None = None,
        **changes: Unpack[SearchKeywords],
    ) -> Run:
        """Search for one query or many.

        Args:
            query: a text, a `Query`, or several of either. Texts are numbered from "1" and may contain operators, see
                `sciretrieve.query.narrowing.operators`. A `Query` is used unchanged and may be a vector.
            k: number of papers wanted per query.
            options: how to search.
            offset: number of first papers to leave out, those of the pages before: with k=10, the third page has `offset=20`. Ranks go on.
            like: papers that answer the query. Rocchio's formula moves the query towards them in both halves, see
                `query.reading.rocchio.moved`. Papers in `like` and `unlike` never appear in the answer, nor do their duplicates where
                papers are grouped.
            unlike: papers that do not answer the query; it is moved away from them.
            vectors: the queries' vectors by the index's encoder, (n, dim), if known; then nothing is encoded.
            among: rows of the only papers that may answer; by default all papers that pass the filter.
            changes: fields of `SearchOptions` that override `options`: `search("graph networks", filter="year >= 2018")`.

        Raises:
            NoSuchPaper: a paper in `like` or `unlike` is not in the index.
            InvalidRequest: an empty query, a k below 1, an offset below 0, an unreadable filter, or a mode that the index lacks; `like` or
                `unlike` with several queries, or one paper in both.

        >>> run = index.search("graph networks", k=5, filter="year >= 2000")
        >>> second = index.search("graph networks", k=5, filter="year >= 2000", offset=5)
        """
        chosen = changed(options, changes)
        queries, mode = _as_list(query), self._checked_mode(k, chosen, offset)
        like, unlike = names_of(like), names_of(unlike)
        among = None if among is None else rows_in(among, self.snapshot.rows_beyond)
        probes = self.reader.probes(queries, mode, chosen.filters, vectors, chosen.late, like=like, unlike=unlike, among=among)
        self._warn(probes, "query")
        if chosen.group and (like or unlike):
            probes = [self.reader.without_copies(probes[0], like, unlike)]
        if chosen.reranker is not None and not all(probe.query.words.strip() for probe in probes):
            raise InvalidRequest("a reranker reads the query, and a vector alone has no text; give it one, or leave out the reranker")
        return self._search(self._searcher(chosen), probes, offset + k, chosen).after(offset)

    def similar(
        self,
        ids: Papers = (),
        k: int = 10,
        options: SearchOptions = SearchOptions(),
        *,
        offset: int = 0,
        text: str | None = None,
        negatives: Papers = (),
        by: SimilarBy | None = None,
        **changes: Unpack[SearchKeywords],
    ) -> Run:
        """Find papers like the given ones and unlike `negatives`.

        Rocchio's formula combines them, see `query.reading.rocchio`.

        Args:
            ids: the example papers, one or several: ids, other names, or objects such as hits. Examples and negatives never appear in the
                answer, nor do their duplicates where papers are grouped.
            k: number of papers wanted.
            options: how to search. A reranker is ignored, since there is no query.
            offset: as in `search`.
            text: title and abstract of a further example, which need not be in the index.
            negatives: papers to be unlike.
            by: "text", "citations" (see `CitationGraph.related`) or "both". The default is "both" if the index has at most 100,000 papers
                and a column of references, else "text".
            changes: fields of `SearchOptions` that override `options`.

        Raises:
            NoSuchPaper: an id is not in the index.
            InvalidRequest: neither ids nor text, citations of an index without references, or any reason that `search` has.

        >>> run = index.similar(["p0007"], k=5, by="text")
        """
        chosen = replace(changed(options, changes), reranker=None)
        mode = self._checked_mode(k, chosen, offset)
        if by is not None:
            check_choice("ground", by, SIMILAR_BY)
        ids, negatives = names_of(ids), names_of(negatives)
        if by == "citations" and (chosen.mode or chosen.fusion or chosen.alpha is not None):
            raise InvalidRequest("`mode`, `fusion` and `alpha` apply to texts; leave them out with `by='citations'`")
        if by == "citations":
            passing = self.snapshot.narrower.passing(chosen.filters)
            probe = Probe(Query(" ".join(self.snapshot.ids(self.snapshot.named_rows(ids)))), passing, total=len(passing))
        else:
            probe = self.reader.likeness(ids, text=text, negatives=negatives, mode=mode, filter=chosen.filters)
            self._warn([probe], "paper_as_query")
        if chosen.group:
            probe = self.reader.without_copies(probe, ids, negatives)
        linked = linked_papers(self.snapshot, ids, negatives, text, by, probe.scope)
        return self._search(self._searcher(chosen), [probe], offset + k, chosen, linked).after(offset)

    asearch = awaited(search, 'index.asearch("graph networks")')
    asimilar = awaited(similar, 'index.asimilar("p0007")')

    def full_text(self, name: str) -> list[Passage]:
        """The passages of a paper's full text, in order; empty without one.

        Raises as `papers`.

        >>> index.full_text("p0007")  # empty without one
        []
        """
        full_text = self.snapshot.fulltext
        rows = self.named_rows([name])
        if full_text is None:
            return []
        found = self.snapshot.passages_at(np.flatnonzero(full_text.owners == rows[0]))
        return sorted((passage for passage in found if passage is not None), key=lambda passage: passage.number)

    def matching(self, query: str = "", filter: Filter = None) -> Rows:
        """Rows of the papers that satisfy a typed query and a filter, ascending.

        Without operators, all words must occur in title or abstract, in any form. Stop words are ignored, and so are single characters
        beside other words. An empty query matches every paper; an identifier matches its paper. Nothing is encoded.

        Raises:
            UnknownName, InvalidRequest: the query or the filter cannot be read.

        >>> rows = index.matching("graph OR tree", "year >= 2000")
        """
        return self.reader.matching(query, filter)[1].places

    def count(self, query: str = "", filter: Filter = None) -> int:
        """Number of papers that satisfy a typed query and a filter. Raises as `matching`.

        >>> index.count("graph", "year >= 2000") == len(index.matching("graph", "year >= 2000"))
        True
        """
        return len(self.reader.matching(query, filter)[1])

    def count_lines(self, query: str, filter: Filter = None) -> list[CountLine]:
        """Count the papers for each operand of a typed query, each operator, each filter, and last the whole.

        Each line counts papers of the whole index, whatever the other lines require; the last line equals `count`. Adjacent words form one
        operand. Raises as `matching`, and InvalidRequest if neither a query nor a filter is given.

        >>> lines = [(line.text, line.papers) for line in index.count_lines("graph AND (tree OR forest)")]
        """
        return count_lines(self.reader, query, filter)

    def score(
        self,
        query: str | Query,
        ids: Papers,
        options: SearchOptions = SearchOptions(),
        *,
        vector: Vectors | None = None,
        **changes: Unpack[SearchKeywords],
    ) -> Scores:
        """Score the given papers for a query, in the order of `ids`: ids, other names or objects, all of different papers. The scores are
        those of a search over just these papers.

        `vector` is the query's vector by the index's encoder, (dim,), if known. Only options that affect scores are used.

        A paper without a score (in BM25, without a common word) gets less than every other: 0, or if there are negative scores, the least
        score minus 1.

        Raises:
            NoSuchPaper: a paper is not in the index.
            InvalidRequest: as in `search`.

        >>> scores = index.score(sr.Query(text="graph networks"), ["p0007", "p0012"])
        """
        chosen = changed(options, changes)
        mode = self._checked_mode(1, chosen)
        (asked,) = _as_list([query])
        if not (names := names_of(ids)):
            return np.empty(0)
        rows = self.snapshot.named_rows(names)
        probe = self.reader.probe(asked if isinstance(asked, Query) else Query("1", asked), mode, vector, self.snapshot.scope.among(rows))
        (ranking,) = self._searcher(chosen).search([probe], len(names))
        score_of = dict(zip(ranking.rows.tolist(), ranking.scores.tolist(), strict=True))
        least = min(score_of.values(), default=0.0)
        return np.array([score_of.get(row, 0.0 if least >= 0 else least - 1) for row in rows.tolist()])

    def corrections(self, query: str) -> dict[str, str]:
        """Corrections of query words that no paper has. BM25 searches for the corrected words.

        A word without matches is treated as unfinished or misspelt, see `matching.lexical.spelling`. Quoted words are never corrected.
        Nothing is corrected without BM25, or where the dense half contradicts a correction.

        >>> index.corrections("grahp networks")
        {'grahp': 'graph'}
        """
        if self.snapshot.bm25 is None:
            return {}
        (probe,) = self.reader.probes([query], self.modes[0], None)
        return {correction.word: correction.meant for correction in probe.corrections}

    def _search(
        self,
        searcher: Searcher,
        probes: Sequence[Probe],
        k: int,
        options: SearchOptions,
        linked: LinkedPapers | None = None,
    ) -> Run:
        """Search deep enough for k papers, then rerank, group and diversify as the options ask."""
        modes, scopes, snapshot = {probe.mode for probe in probes}, [probe.scope for probe in probes], self.snapshot
        mode = probes[0].mode if len(modes) == 1 else self.modes[0]
        if options.diversify and not snapshot.vectors:
            raise InvalidRequest(f"{self.path} has no vectors to compare papers by; leave out `diversify`")
        works = -(-k // POOL) * POOL if options.diversify else k
        depth = works + GROUPED if options.group else works
        while True:
            searched = max(depth, options.rerank_depth) if options.reranker else depth
            if linked is None:
                run = Run(tuple(searcher.search(probes, searched)), mode, snapshot)
            elif linked.alone:
                run = Run((linked.ranking(probes[0], searched),), "citations", snapshot)
            else:
                by_text = searcher.search(probes, max(searched, DEPTH))[0]
                run = Run((linked.joined(by_text, searched),), f"{mode}+citations", snapshot)
            if options.reranker is not None:
                run = reranked(run, options.reranker, options.rerank_depth)
            run = replace(run, rankings=tuple(self._with_named_first(*parts, depth) for parts in zip(run, probes, strict=True)))
            if not options.group:
                break
            works_of = tuple(snapshot.grouped(run.rankings, scopes, works))
            too_few = any(len(group) < works and len(ranking) >= depth for group, ranking in zip(works_of, run, strict=True))
            run = replace(run, rankings=works_of)
            if not too_few:
                break
            depth *= 2
        if options.diversify:
            run = replace(run, rankings=tuple(diverse(ranking, snapshot.vectors_at(ranking.rows), k) for ranking in run))
        return run

    def _with_named_first(self, ranking: Ranking, probe: Probe, k: int) -> Ranking:
        """The first k papers of a probe's ranking, with papers that the query names moved to the front if they may answer."""
        if len(probe.named.rows):
            ranking = named_first(ranking, replace(probe.named, rows=probe.named_rows), k)
        ranking = ranking.take(np.arange(k)) if k < len(ranking) else ranking
        return replace(ranking, indexes=self.snapshot.names_at(ranking.rows)) if len(self.names) > 1 else ranking

    def _warn(self, probes: Sequence[Probe], side: SideName) -> None:
        """Warn if BM25 alone answers a query in place of hybrid or dense search."""
        if any(probe.lacks == "meaning" for probe in probes):
            why = self.reader.query_encoder.lack(side)
            warn(f"{self.path} is searched by words alone: {why}", WordsAlone)

    def _checked_mode(self, k: int, options: SearchOptions, offset: int = 0) -> Mode:
        """The mode to search in. Raises InvalidRequest for a wrong k, offset or mode."""
        check_count(k)
        check_count(offset, "offset", least=0)
        mode = self.snapshot.checked_mode(options.mode)
        options.check_words(mode)
        return mode

    def _searcher(self, options: SearchOptions) -> Searcher:
        """The searcher for these options."""
        snapshot, searcher = self.snapshot, self.searcher
        if (options.recall, options.ef, options.nprobe) != (None, None, None):
            searcher = replace(searcher, effort=snapshot.effort(options))
        if (options.fusion, options.alpha, options.depth) != (None, None, None):
            searcher = replace(searcher, fusion=snapshot.tuned(options))
        if options.late and not snapshot.late:
            searcher = replace(searcher, matched=self._token_scores)
        if (options.k1, options.b) == (None, None) or snapshot.bm25 is None:
            return searcher
        own = snapshot.bm25.parameters
        k1, b = (mine if asked is None else float(asked) for asked, mine in ((options.k1, own.k1), (options.b, own.b)))
        return replace(searcher, weighted=snapshot.weighted(replace(own, k1=k1, b=b)))

    def _token_scores(self, tokens: QueryTokens, rows: Rows) -> Scores:
        """Replaces `match` where the index has no token vectors."""
        encoder = self.reader.query_encoder.with_tokens
        packing = packing_of(encoder)
        return match(packing, tokens, RememberingEncoder(encoder).packed_papers(self.snapshot.papers_at(rows), packing))


def _as_list(query: str | Query | Iterable[str | Query]) -> list[str | Query]:
    """One query or several, as a list. Raises InvalidRequest for a value that is no query, and for an empty list."""
    queries: list[Any] = [query] if isinstance(query, Mapping) else listed(query, "a query is a text or a Query")
    for item in queries:
        if not isinstance(item, str | Query):
            raise InvalidRequest(f"a query is a text or a Query, not {shortened(item)}")
    if not queries:
        raise InvalidRequest("there is no query; give some words, a sentence or a title")
    return queries

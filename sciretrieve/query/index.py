"""An index opened for searching: what is open of it, what reads queries, and what searches."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from numbers import Integral
from types import TracebackType
from typing import TYPE_CHECKING, Self, TypeAlias, Unpack

import numpy as np

from ..base.choices import Filter, Mode, SideName, SimilarBy
from ..base.errors import InvalidRequest, WordsAlone
from ..base.types import Paper, Query, Rows, Scores, Vectors
from ..base.wording import counted
from ..encoders import packing_of
from ..encoders.remembered import RememberingEncoder
from ..matching.late import QueryTokens, match
from ..matching.search import Probe, Searcher
from ..options import SearchOptions, changed
from ..options.keywords import SearchKeywords
from ..runs import Ranking, Run
from .closing import closed
from .ranking.diversity import POOL, diverse
from .ranking.leading import led
from .ranking.linking import DEPTH, LinkedPapers, linked_papers
from .ranking.reranking import reranked
from .reading.counting import CountLine, count_lines
from .reading.reader import Reader
from .snapshot import Snapshot

if TYPE_CHECKING:
    from ..papers.corpora import Rejected

GROUPED = 10
"""How many more papers are looked at where near-duplicates are grouped; more again where that is not enough."""
READ_AT_ONCE = 4096
"""Papers that are read at a time where all are."""
Reopened: TypeAlias = "Callable[[int | None], Index]"
"""Gives another index of the same folders, at a generation or as it is now."""


class Index:
    """An index, or several as one, opened for searching: what was committed when it was opened.

    `open_index` and `open_many` open one.

    Attributes:
        path: its directory; of several indexes all names in one, for messages.
        names: what the indexes are called: their folders' names, or their paths where two folders have one name, `("papers", "lab")`.
        modes: the ways in which it can be searched, best first: `("hybrid", "dense", "bm25")`.
        snapshot: the papers, vectors and terms that are open. This and the other parts may change from version to version.
        reader: makes probes of queries.
        searcher: makes rankings of probes.
    """

    def __init__(self, snapshot: Snapshot, reader: Reader, searcher: Searcher, again: Reopened, members: Sequence[Index] = ()) -> None:
        """
        Args:
            snapshot, reader, searcher: its parts, which are its own.
            again: opens it again.
            members: the indexes that it has, where it has several; they are closed with it.
        """
        self.path, self.snapshot, self.reader, self.searcher = snapshot.path, snapshot, reader, searcher
        self.names, self.modes = snapshot.names, snapshot.modes
        self._again, self._members = again, tuple(members)

    def refreshed(self) -> Index:
        """The index as it is now: this object if nothing was committed since, else another one, which shares its encoder if that fits.

        This one stays as it is; close it when its last search has ended. Raises as opening it. `index = index.refreshed()`
        """
        return self if self.snapshot.is_current else self.reopened()

    def reopened(self, generation: int | None = None) -> Index:
        """The index opened once more, as it is now or at a generation, with the same encoder: `before = index.reopened(3)`."""
        return self._again(generation)

    def close(self) -> None:
        """Let go of its files: from then on a writer may remove them, and every use raises IndexClosed. Closing twice is fine.

        `with sr.open(path) as index:` closes it at the end.
        """
        for member in self._members:
            member.close()
        self.searcher.close()
        self.snapshot.close()
        self.__class__ = closed(type(self))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.path} of {counted(len(self), 'paper')}>"

    @property
    def members(self) -> tuple[Index, ...]:
        """The indexes that are searched as one, in the order given; of one index itself: `[len(one) for one in indexes.members]`."""
        return self._members or (self,)

    @property
    def rejected(self) -> int:
        """How many rows of the corpus that was last taken in were not indexed: `assert not index.rejected`."""
        return self.snapshot.rejected

    @property
    def rejections(self) -> tuple[Rejected, ...]:
        """The first 100 of these: `for row in index.rejections: print(row.reason)`. Empty where rejected.jsonl, which lists all, is gone or
        of another corpus since."""
        return self.snapshot.rejections

    def __len__(self) -> int:
        return len(self.snapshot)

    def __getitem__(self, id: str) -> Paper:
        """The paper with this id. Raises NoSuchPaper, a KeyError, if there is none; `papers` takes titles and DOIs, too."""
        return self.papers_at(self.snapshot.rows([id]))[0]

    def __contains__(self, id: object) -> bool:
        """Whether a paper that is not deleted has this id. Raises InvalidRequest for a text that is not Unicode."""
        return id in self.snapshot

    def __iter__(self) -> Iterator[Paper]:
        """All papers that are not deleted, in the order of their rows; a few thousand of them are in memory at a time."""
        rows = self.snapshot.scope.places
        for first in range(0, len(rows), READ_AT_ONCE):
            yield from self.papers_at(rows[first : first + READ_AT_ONCE])

    def papers(self, names: str | Sequence[str]) -> list[Paper]:
        """The papers that a text names, or texts, in that order: `index.papers(["p0007", "10.1000/182", "a title"])`.

        What names a paper, and what is raised for other texts, is said at `Snapshot.named_rows`.
        """
        return self.papers_at(self.named_rows(names))

    def named_rows(self, names: str | Sequence[str]) -> Rows:
        """The rows of these papers: `index.search(query, among=index.named_rows(names))`. Raises as `papers`."""
        return self.snapshot.named_rows(names)

    def papers_at(self, rows: Rows) -> list[Paper]:
        """The papers at some rows, in that order: `index.papers_at(index.matching("graph"))`."""
        return self.snapshot.papers_at(rows)

    def ids(self, rows: Rows) -> list[str]:
        """Their ids, which need no reading of papers: `index.ids(index.matching("graph"))`."""
        return self.snapshot.ids(rows)

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
        """Search for one query or many: `index.search("graph networks", k=5, filter="year >= 2018")`.

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
        queries, mode = _listed(query), self._checked(k, chosen)
        probes = self.reader.probes(queries, mode, chosen.filters, vectors, chosen.late, like=like, unlike=unlike, among=among)
        self._warn(probes, "query")
        if chosen.group and (like or unlike):
            probes = [self.reader.without_copies(probes[0], like, unlike)]
        if chosen.reranker is not None and not all(probe.query.words.strip() for probe in probes):
            raise InvalidRequest("a reranker reads the query, and a vector alone has no text; give it one, or leave out the reranker")
        return self._answered(self._searching(chosen), probes, k, chosen)

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
        """Find papers like the given ones, and unlike `negatives`: `index.similar(["p0007"], k=5, by="text")`.

        They are combined by Rocchio's formula (see `query.reading.rocchio`).

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
        mode = self._checked(k, chosen)
        if by == "citations" and (chosen.mode or chosen.fusion or chosen.alpha is not None):
            raise InvalidRequest("`mode`, `fusion` and `alpha` say how texts are compared; leave them out with `by='citations'`")
        if by == "citations":
            passing = self.snapshot.narrower.passing(chosen.filters)
            probe = Probe(Query(" ".join(self.snapshot.ids(self.snapshot.named_rows(ids)))), passing, total=len(passing))
        else:
            probe = self.reader.likeness(ids, text=text, negatives=negatives, mode=mode, filter=chosen.filters)
            self._warn([probe], "paper_as_query")
        if chosen.group:
            probe = self.reader.without_copies(probe, ids, negatives)
        linked = linked_papers(self.snapshot, ids, negatives, text, by, probe.scope)
        return self._answered(self._searching(chosen), [probe], k, chosen, linked)

    def matching(self, query: str = "", filter: Filter = None) -> Rows:
        """The rows of the papers that meet all that a typed query and a filter demand, ascending: `index.matching("graph OR tree")`.

        Words without operators must all be in a paper, in title or abstract, in any form; stop words, and single characters beside other
        words, are not asked for. An empty query demands nothing, an identifier is that of its paper. Nothing is encoded.

        Raises:
            UnknownName, InvalidRequest: a query or a filter that cannot be read.
        """
        return self.reader.matching(query, filter)[1].places

    def count(self, query: str = "", filter: Filter = None) -> int:
        """How many papers meet all that a typed query and a filter demand: `index.count("graph", "year >= 2018")`. Raises as `matching`."""
        return len(self.reader.matching(query, filter)[1])

    def count_lines(self, query: str, filter: Filter = None) -> list[CountLine]:
        """How many papers meet each operand of a typed query, what each operator joins, each filter, and the whole, which is the last line:
        `for line in index.count_lines("graph AND (tree OR forest)"): print(line.text, line.papers)`.

        A line counts the papers of the whole index, whatever the other lines demand; the last counts what `count` does. Words side by side
        are one operand. Raises as `matching`, and InvalidRequest where there is neither a query nor a filter.
        """
        return count_lines(self.reader, query, filter)

    def score(
        self,
        query: Query,
        ids: Sequence[str],
        options: SearchOptions = SearchOptions(),
        *,
        vector: Vectors | None = None,
        **changes: Unpack[SearchKeywords],
    ) -> Scores:
        """Score given papers for a query as a search over just them would, in the order of `ids`, which are distinct:
        `index.score(sr.Query("1", "graph networks"), ["p0007", "p0012"])`.

        `vector` is the query's by the index's encoder, (dim,), where it is known. Of the options those count that say how scores are made.

        Papers that the search has no score for (BM25, without a common word) get less than every other: 0, or if there
        are negative scores the least of them less 1.

        Raises:
            NotFound: an id is not in the index.
            InvalidRequest: as in `search`.
        """
        chosen = changed(options, changes)
        mode = self._checked(1, chosen)
        if not ids:
            return np.empty(0)
        rows = self.snapshot.rows(ids)
        probe = self.reader.probe(query, mode, vector, self.snapshot.scope.among(rows))
        (ranking,) = self._searching(chosen).search([probe], len(ids))
        score_of = dict(zip(ranking.rows.tolist(), ranking.scores.tolist(), strict=True))
        least = min(score_of.values(), default=0.0)
        return np.array([score_of.get(row, 0.0 if least >= 0 else least - 1) for row in rows.tolist()])

    def corrections(self, query: str) -> dict[str, str]:
        """Words of a query that no paper has, and the words that BM25 looks for in their place, as papers spell them:
        `index.corrections("grahp networks") == {"grahp": "graph"}`.

        They are taken for a word not typed to its end or for a slip of a letter; see `matching.lexical.spelling`. What is quoted
        must stand in a paper as it is. Where there is no BM25, and where the dense half knows better, nothing is corrected.
        """
        if self.snapshot.bm25 is None:
            return {}
        (probe,) = self.reader.probes([query], self.modes[0], None)
        return {correction.word: correction.meant for correction in probe.corrections}

    def _answered(
        self,
        searcher: Searcher,
        probes: Sequence[Probe],
        k: int,
        options: SearchOptions,
        linked: LinkedPapers | None = None,
    ) -> Run:
        """Search deep enough for k papers, then rerank, group and diversify as the options say."""
        modes, scopes, snapshot = {probe.mode for probe in probes}, [probe.scope for probe in probes], self.snapshot
        mode = probes[0].mode if len(modes) == 1 else self.modes[0]
        if options.diversify and not snapshot.vectors:
            raise InvalidRequest(f"{self.path} has no vectors to tell papers' likeness by; leave out `diversify`")
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
            run = replace(run, rankings=tuple(self._led(*parts, depth) for parts in zip(run, probes, strict=True)))
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

    def _led(self, ranking: Ranking, probe: Probe, k: int) -> Ranking:
        """The first k papers of a probe's ranking in which the papers that the query names, if they may answer, are put first."""
        if len(probe.named.rows):
            ranking = led(ranking, replace(probe.named, rows=probe.named_rows), k)
        ranking = ranking.take(range(min(k, len(ranking))))
        return replace(ranking, indexes=self.snapshot.names_at(ranking.rows)) if len(self.names) > 1 else ranking

    def _warn(self, probes: Sequence[Probe], side: SideName) -> None:
        """Warn that words alone answer, if that is so."""
        if any(probe.lacks == "meaning" for probe in probes):
            why = self.reader.query_encoder.lack(side)
            warnings.warn(f"{self.path} is searched by words alone: {why}", WordsAlone, stacklevel=3)

    def _checked(self, k: int, options: SearchOptions) -> Mode:
        """The mode in which the options search. Raises InvalidRequest for a wrong k and a wrong mode."""
        if not isinstance(k, Integral) or k < 1:
            raise InvalidRequest(f"k must be a whole number, at least 1, not {k!r}")
        mode = self.snapshot.checked_mode(options.mode)
        options.check_words(mode)
        return mode

    def _searching(self, options: SearchOptions) -> Searcher:
        """What searches as the options say."""
        snapshot, searcher = self.snapshot, self.searcher
        if (options.recall, options.ef, options.nprobe) != (None, None, None):
            searcher = replace(searcher, effort=snapshot.effort(options))
        if (options.fusion, options.alpha, options.depth) != (None, None, None):
            searcher = replace(searcher, fusion=snapshot.tuned(options))
        if options.late and not snapshot.late:
            searcher = replace(searcher, matched=self._matched)
        if (options.k1, options.b) == (None, None) or snapshot.bm25 is None:
            return searcher
        own = snapshot.bm25.parameters
        k1, b = (mine if asked is None else float(asked) for asked, mine in ((options.k1, own.k1), (options.b, own.b)))
        return replace(searcher, weighted=snapshot.weighted(replace(own, k1=k1, b=b)))

    def _matched(self, tokens: QueryTokens, rows: Rows) -> Scores:
        """`match` where the index has no token vectors."""
        encoder = self.reader.query_encoder.with_tokens
        packing = packing_of(encoder)
        return match(packing, tokens, RememberingEncoder(encoder).packed_papers(self.snapshot.papers_at(rows), packing))


def _listed(query: str | Query | Sequence[str | Query]) -> list[str | Query]:
    """One query or several as a list. Raises InvalidRequest for what is no query, and for none."""
    queries = [query] if isinstance(query, str | Query) else list(query) if isinstance(query, Sequence) else [query]
    for item in queries:
        if not isinstance(item, str | Query):
            raise InvalidRequest(f"a query is a text or a Query, not {item!r}")
    if not queries:
        raise InvalidRequest("there is no query; give some words, a sentence or a title")
    return queries

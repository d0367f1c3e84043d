"""A snapshot: the papers, vectors and terms of an index, or of several together, open for reading."""

from __future__ import annotations

from abc import ABCMeta, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import pyarrow as pa

from ..base.choices import MODES, Metric, Mode, check_choice
from ..base.errors import Ambiguous, InvalidRequest, NoSuchPaper, NotFound
from ..base.once import once
from ..base.types import Paper, Rows, Vectors
from ..base.wording import counted
from ..files.schema import booleans, common_schema
from ..files.streams import checked_text
from ..files.verified import Verified
from ..matching.dense import VectorShard
from ..matching.dense.scale import SAMPLE_SIZE, Scale, scale
from ..matching.dense.vectors import vectors_at
from ..matching.effort import Effort
from ..matching.fusion import Fusion
from ..matching.late import Packing, TokenShard
from ..matching.lexical import Analyzer, Bm25, LexicalShard, Statistics
from ..matching.lexical.corpus_statistics import Frequencies
from ..matching.lexical.lexical_shard import RememberedWeights
from ..matching.scope import Scope
from ..matching.search import live_vectors
from ..matching.sharding import by_shard
from ..options import Bm25Parameters, SearchOptions
from ..papers.duplicates import works
from ..runs import Ranking, papers_of
from ..storage.manifest import Manifest
from ..storage.shards import Shard, scope_of
from .citations import CitationGraph, reference_columns
from .closing import closed
from .lookup import Lookup
from .lookup.copies import possible_copies
from .narrowing.masks import Narrower
from .ranking.grouping import grouped

if TYPE_CHECKING:
    from ..papers.corpora import Rejected

SUGGESTED = 3
"""Papers that are suggested where a name is none."""
LISTED = 5
"""Papers that are shown where a name is one of several."""
MOST_RECORDS = 100
"""More records with one name are not of one work."""
TOLD = ("title", "authors", "venue", "year", "doi", "url")
"""What of a paper may be missing, besides an abstract and further columns."""
NAMING = ("id", "title", "authors", "doi")
"""The columns that tell which papers are one work."""


class Snapshot(metaclass=ABCMeta):
    """What is open for reading: a `Generation` of one index, or `JointSnapshots` of several, whose shards follow each other.

    Attributes:
        path: the index's directory; of several indexes all names in one, for messages.
        names: what the indexes are called: their folders' names, or their paths where two folders have one name.
        shards: the shards, in order.
        encoder: what the manifest says of the encoder that filled it; None without vectors, and where several encoders did.
        metric: how vectors are compared; None without vectors, and where several encoders filled it.
        late: whether it has token vectors.
        statistics: BM25's statistics of all papers; None without BM25.
        parameters: BM25's parameters.
        fusion: how both halves are joined where nobody says otherwise.
        usual_effort: how hard an approximate dense half is searched where nobody says otherwise.
        checksum: what identifies these papers.
    """

    path: Path
    names: tuple[str, ...]
    shards: Sequence[Shard]
    encoder: Mapping[str, Any] | None
    metric: Metric | None
    late: bool
    statistics: Statistics | None
    parameters: Bm25Parameters | None
    fusion: Fusion
    usual_effort: Effort
    checksum: str

    @property
    @abstractmethod
    def manifest(self) -> Manifest:
        """What the generation consists of. Raises InvalidRequest for several indexes, which have one each."""

    def close(self) -> None:
        """Let go of the generation: from then on a writer may remove its files, and every use raises IndexClosed. Closing twice is fine."""
        self._let_go()
        self.__class__ = closed(type(self))

    @abstractmethod
    def _let_go(self) -> None:
        """Let go of what is held."""

    def check_files(self) -> None:
        """Raise CorruptData if a file of it was cut or written over since it was opened, see `Verified.check_again`."""
        for verified in self._files:
            verified.check_again()

    @once
    def _files(self) -> list[Verified]:
        return list({id(shard.verified): shard.verified for shard in self.shards}.values())

    @property
    @abstractmethod
    def is_current(self) -> bool:
        """Whether what is on disk is as this snapshot has it, and not another index that was built in its place. Raises as opening it."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    @abstractmethod
    def __len__(self) -> int:
        """How many papers there are that are not deleted."""

    def __contains__(self, id: object) -> bool:
        """Whether a paper that is not deleted has this id. Raises InvalidRequest for a text that is not Unicode."""
        self.check_files()
        return isinstance(id, str) and bool(self.find([checked_text(id, "id")]))

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.path} of {counted(len(self), 'paper')}>"

    def names_at(self, rows: Rows) -> list[str]:
        """The names of the indexes in which the papers at the given rows stand."""
        return [self.names[0]] * len(rows)

    def whole_names(self, rows: Rows) -> list[str]:
        """What names the papers at the given rows: their ids, or INDEX:ID where several indexes are searched."""
        return self.ids(rows)

    def remarks(self, columns: Iterable[str]) -> list[str]:  # noqa: ARG002
        """What a person should know of a search that asks for these columns: what of it some of several indexes lack, a sentence each."""
        return []

    @property
    def modes(self) -> tuple[Mode, ...]:
        """The ways in which this index can be searched, best first."""
        has = {"dense": self.has_vectors, "bm25": self.statistics is not None}
        has["hybrid"] = has["dense"] and has["bm25"]
        return tuple(mode for mode in MODES if has[mode])

    @property
    def has_vectors(self) -> bool:
        """Whether it can be searched by meaning."""
        return self.encoder is not None

    @property
    def rejected(self) -> int:
        """How many rows of the corpus that was last taken in were not indexed."""
        return self.manifest.rejected

    @once
    def rejections(self) -> tuple[Rejected, ...]:
        """The first 100 of these, with their reasons; none where rejected.jsonl, which lists all, is gone or of another corpus since."""
        from ..papers.corpora.rejections import REJECTED, read_rejections  # a search needs none of it

        return read_rejections(self.path / REJECTED, self.rejected)

    @once
    def scope(self) -> Scope:
        """Which rows' papers are not deleted."""
        return scope_of(self.shards)

    @once
    def columns(self) -> pa.Schema:
        """The columns of the papers that are not deleted, which filters may name and exports have."""
        return common_schema((shard.schema, len(shard.scope)) for shard in self.shards if len(shard.scope))

    def tables(self, names: Sequence[str]) -> Iterator[pa.Table]:
        """Columns of all papers that are not deleted, a shard at a time; names that a shard lacks are left out there."""
        self.check_files()
        for shard in self.shards:
            table = shard.columns(names)
            yield table if shard.scope.mask is None else table.filter(booleans(shard.scope.mask))

    def live_ids(self) -> list[str]:
        """The ids of all papers that are not deleted, in the order of their rows."""
        self.check_files()
        return [id for shard in self.shards for id in _live(shard)]

    def papers_at(self, rows: Rows, names: Sequence[str] | None = None) -> list[Paper]:
        """The papers at the given rows, in that order; with the columns of the given names alone, of which the id is one: without
        abstracts, reading takes a sixth of the time."""
        papers: list[Paper | None] = [None] * len(rows)
        for shard, positions, shard_rows in by_shard(rows, self.shards):
            for position, paper in zip(positions.tolist(), shard.papers_at(shard_rows, names), strict=True):
                papers[position] = paper
        return [paper for paper in papers if paper is not None]

    def rows(self, ids: str | Sequence[str]) -> Rows:
        """Where the papers with the given id, or ids, stand. Raises NotFound for an id that is not in the index."""
        self.check_files()
        ids = [checked_text(id, "id") for id in as_ids(ids)]
        row_of = self.find(ids)
        if missing := [id for id in ids if id not in row_of]:
            raise NoSuchPaper(f"there is no paper {missing[0]!r} in {self.path}; `sciretrieve search` shows the ids of papers")
        return np.array([row_of[id] for id in ids], np.int64)

    def named_rows(self, names: str | Sequence[str], *, strict: bool = False) -> Rows:
        """Where the papers stand that people name: by an id, a DOI, an arXiv number, a PubMed id, an address, a citation key or a title.

        An id is what comes before everything else, so a paper can always be named. Several records of one work, which answers show as one,
        too, are named by the one that says most: with an abstract, and the most columns; of equals by the first.

        Args:
            names: one or several.
            strict: whether it is an error to name several records of one work.

        Raises:
            NotFound: a name is none of a paper of the index.
            Ambiguous: it is one of several works, or if strict of several papers.
        """
        texts = list(as_ids(names))
        row_of, wrong = self.named(texts, strict=strict)
        if wrong:
            raise next(iter(wrong.values()))
        return np.array([row_of[text] for text in texts], np.int64)

    def named(self, names: Sequence[str], *, strict: bool = False) -> tuple[dict[str, int], dict[str, NotFound | Ambiguous]]:
        """The same, name by name: the rows of those that mean a paper, and what `named_rows` would raise for each of the others."""
        self.check_files()
        row_of, wrong = self.find([checked_text(name, "id") for name in names]), dict[str, NotFound | Ambiguous]()
        for text in [name for name in dict.fromkeys(names) if name not in row_of]:
            try:
                row_of[text] = self._named_row(text, strict)
            except (NotFound, Ambiguous) as error:
                wrong[text] = error
        return row_of, wrong

    def _named_row(self, text: str, strict: bool) -> int:
        match = self.lookup.named(text)
        if not len(match):
            alike = [f"{paper.id} ({paper.title})" for paper in self.papers_at(self.lookup.like(text, SUGGESTED))]
            hint = f"did you mean {' or '.join(alike)}?" if alike else "`sciretrieve search` shows the ids of papers"
            raise NotFound(f"there is no paper {text!r} in {self.path}; {hint}")
        if len(match) > 1 and (strict or not self._is_one_work(match.rows)):
            listing = [(paper.id, paper.title, paper.year) for paper in self.papers_at(match.rows[:LISTED])]
            raise Ambiguous(text, match.by, len(match), listing)
        return self._telling(match.rows)

    def _is_one_work(self, rows: Rows) -> bool:
        """Whether answers show the papers at these rows as one."""
        return len(rows) == 1 or (len(rows) <= MOST_RECORDS and len(works(self.papers_at(rows, NAMING))) == 1)

    def _telling(self, rows: Rows) -> int:
        """The row of these whose paper says most."""
        if len(rows) == 1:
            return int(rows[0])
        told = [
            (bool(paper.abstract), sum(map(bool, (*map(paper.__getattribute__, TOLD), *paper.extra.values()))))
            for paper in self.papers_at(rows)
        ]
        return int(rows[max(range(len(rows)), key=told.__getitem__)])

    def find(self, ids: Sequence[str]) -> dict[str, int]:
        """The rows of those of the given ids that are in the index."""
        row_of: dict[str, int] = {}
        for shard in self.shards:
            unplaced = [id for id in ids if id not in row_of]
            if not unplaced:
                break
            row_of |= {id: shard.first + place for id, place in shard.find(unplaced).items()}
        return row_of

    def ids(self, rows: Rows) -> list[str]:
        """The ids of the papers at the given rows."""
        ids = np.empty(len(rows), object)
        for shard, positions, shard_rows in by_shard(rows, self.shards):
            ids[positions] = shard.ids_at(shard_rows)
        return list(ids)

    def drawn(self, rows: Rows, count: int) -> Rows:
        """So many of the papers at the given rows, or all if they are fewer, the same and in the same order whatever rows they have."""
        marks = np.empty(len(rows), np.uint64)
        for shard, positions, shard_rows in by_shard(rows, self.shards):
            marks[positions] = shard.marks[shard_rows]
        if len(rows) > count > 0:
            least = np.flatnonzero(marks <= np.partition(marks, count - 1)[count - 1])  # all papers are too many to be sorted
            rows, marks = rows[least], marks[least]
        drawn: Rows = rows[np.argsort(marks, kind="stable")[:count]]
        return drawn

    def copies(self, rows: Rows) -> list[Rows]:
        """Of the papers at the given rows: for each the rows of the others that are the same work, by DOI or by title and first author."""
        papers = dict(zip(rows.tolist(), self.papers_at(rows, NAMING), strict=True))
        new = list(papers.values())
        while new:  # a copy may have another title, and so copies of its own
            possible = possible_copies(self.shards, self.analyzer, self.bm25, new)
            unknown = possible[~np.isin(possible, list(papers))]
            new = self.papers_at(unknown, NAMING)
            papers |= zip(unknown.tolist(), new, strict=True)
        listed = sorted(papers)
        work_of = {place: work for work in works([papers[row] for row in listed]) for place in work}
        all_rows = np.array(listed, np.int64)
        return [all_rows[[other for other in work_of[listed.index(row)] if listed[other] != row]] for row in rows.tolist()]

    def with_copies(self, rows: Rows) -> Rows:
        """The papers at the given rows with those that are the same works."""
        return np.unique(np.concatenate([rows, *self.copies(rows)]))

    def distinct(self, rows: Rows) -> Rows:
        """Those of the papers at the given rows that are left if each work is taken once, where several indexes are searched."""
        return rows

    @once
    def vectors(self) -> list[VectorShard]:
        """The shards' vectors; empty where the index has none."""
        return self.vectors_of(self.shards)

    def vectors_of(self, shards: Iterable[Shard]) -> list[VectorShard]:
        """The vectors of some of the shards; empty where the index has none."""
        return [] if self.metric is None else [shard.vectors(self.dim, self.metric) for shard in shards]

    @property
    def dim(self) -> int:
        """The dimension of queries' vectors. Only for an index with vectors."""
        assert self.encoder is not None
        return int(self.encoder["dim"])

    def check_comparable(self) -> None:
        """Raise InvalidRequest where vectors are by several encoders, so that they cannot be compared with each other."""
        if self.has_vectors and self.encoder is None:
            raise InvalidRequest(f"the vectors of {self.path} are by different encoders and cannot be compared; take one index at a time")

    def vectors_at(self, rows: Rows) -> Vectors:
        """The vectors of the papers at the given rows, (n, dim), to compare them with each other. Only for an index with vectors.

        Raises as `check_comparable`.
        """
        self.check_comparable()
        self.check_files()
        return vectors_at(self.vectors, rows)

    def live_vectors(self, shards: Iterable[VectorShard]) -> list[Vectors]:
        """The vectors of the papers that are not deleted, (n, dim) for each of the shards."""
        self.check_files()
        return live_vectors(shards, self.scope)

    @once
    def bm25(self) -> Bm25 | None:
        """The BM25 index, or None where there is none."""
        return self.bm25_of(self.shards)

    def bm25_of(self, shards: Iterable[Shard]) -> Bm25 | None:
        """Some of the shards of the BM25 index, with the statistics of all; None where there is none."""
        statistics, parameters, remembered = self.statistics, self.parameters, RememberedWeights()
        if statistics is None or parameters is None:
            return None
        lexical_shards = [
            LexicalShard(
                shard.postings, shard.fields, self.frequencies(shard), shard.scope, shard.first, statistics, parameters, remembered
            )
            for shard in shards
        ]
        return Bm25(lexical_shards, statistics, parameters)

    @once
    def weighted(self) -> Callable[[Bm25Parameters], Bm25]:
        """Gives the BM25 index with other parameters; the last one is remembered, with the weights of its terms."""
        assert self.bm25 is not None
        return lru_cache(1)(self.bm25.weighted)

    @abstractmethod
    def frequencies(self, shard: Shard) -> Frequencies:
        """How many papers of the corpus have each term of a shard, (terms,). Only for an index with BM25."""

    @property
    @abstractmethod
    def analyzer(self) -> Analyzer:
        """How text becomes terms. Raises InvalidRequest where the index was built with another way than this version's."""

    @once
    def narrower(self) -> Narrower:
        """What says which papers may answer."""
        return Narrower(self)

    @once
    def lookup(self) -> Lookup:
        """What says which papers a text means."""
        return Lookup(self)

    @property
    def has_references(self) -> bool:
        """Whether a column says what papers cite."""
        return bool(reference_columns(self.columns))

    @once
    def citations(self) -> CitationGraph:
        """Who cites whom. Raises InvalidRequest where no column says what papers cite."""
        if not self.has_references:
            raise InvalidRequest(
                f"{self.path} has no column with what its papers cite; with one such as references, referenced_works, reference or cites, "
                "a list of ids or DOIs, citations can be followed"
            )
        return CitationGraph.of(self.shards)

    @property
    @abstractmethod
    def golden(self) -> Vectors | None:
        """The encoder's vectors for a probe, see `encoders.golden`, (3, dim); None where papers were not encoded from their texts."""

    @property
    @abstractmethod
    def packing(self) -> Packing | None:
        """How token vectors are packed; None where there are none."""

    @once
    def tokens(self) -> list[TokenShard]:
        """The shards' packed token vectors; empty where the index has none."""
        return self.tokens_of(self.shards)

    @abstractmethod
    def tokens_of(self, shards: Iterable[Shard]) -> list[TokenShard]:
        """The packed token vectors of some of the shards; empty where the index has none."""

    @once
    def scale(self) -> Scale | None:
        """What dense scores mean in this index; None where that cannot be told."""
        if self.golden is None or not self.vectors:
            return None
        return scale(self.vectors, self.golden, self.drawn(self.scope.places, SAMPLE_SIZE))

    @abstractmethod
    def effort(self, options: SearchOptions) -> Effort:
        """How hard the dense half is searched: as was measured to be enough, unless the options say more.

        Raises InvalidRequest for a knob that the type of its dense index does not have.
        """

    def tuned(self, options: SearchOptions) -> Fusion:
        """How to join both halves: as the index was tuned, but for what the options ask."""
        own = self.fusion
        return replace(
            own,
            method=options.fusion or own.method,
            alpha=own.alpha if options.alpha is None else options.alpha,
            depth=own.depth if options.depth is None else options.depth,
        )

    def checked_mode(self, mode: Mode | None) -> Mode:
        """A mode that is asked for, or the best one. Raises InvalidRequest for one that the index lacks."""
        chosen = self.modes[0] if mode is None else mode
        check_choice("mode", chosen, MODES)
        if chosen not in self.modes:
            lacks = "BM25" if self.has_vectors else "vectors"
            raise InvalidRequest(f"{self.path} has no {lacks}, so it cannot be searched in mode {chosen}; use `mode={self.modes[0]!r}`")
        return chosen

    def grouped(self, rankings: Sequence[Ranking], scopes: Sequence[Scope], k: int) -> Sequence[Ranking]:  # noqa: ARG002 - several ask them
        """The first k works of each ranking, for which the papers of a scope may answer."""
        named = papers_of(rankings, lambda rows: self.papers_at(rows, NAMING))
        return [grouped(ranking, papers, k) for ranking, papers in zip(rankings, named, strict=True)]


def _live(shard: Shard) -> list[str]:
    ids = shard.ids if shard.scope.mask is None else shard.ids.filter(booleans(shard.scope.mask))
    live_ids: list[str] = ids.to_pylist()
    return live_ids


def as_ids(ids: str | Sequence[str]) -> Sequence[str]:
    """One id or several as several: a text is one id, not its letters. Raises InvalidRequest for what is neither."""
    if isinstance(ids, str):
        return [ids]
    if not isinstance(ids, Iterable):
        raise InvalidRequest(f"ids of papers are a string or a list of strings, not {ids!r}")
    return list(ids)

"""A snapshot: the papers, vectors and terms of an index, or of several as one, open for reading."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, replace
from functools import lru_cache
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self, TypeVar

import numpy as np
import pyarrow as pa

from ..base.choices import MODES, Mode, check_choice
from ..base.errors import Ambiguous, InvalidRequest, NoSuchPaper, NotFound
from ..base.once import once
from ..base.types import Paper, Rows, Vectors, name_in
from ..base.wording import counted, enumerated
from ..encoders.query_encoder import same_vectors
from ..files.schema import booleans
from ..files.schema import papers_of as papers_in
from ..files.streams import checked_text
from ..files.verified import Verified
from ..matching.dense import VectorShard
from ..matching.dense.scale import SAMPLE_SIZE, Scale, ScaledShard, scale
from ..matching.dense.vectors import vectors_at
from ..matching.effort import Effort
from ..matching.fusion import Fusion
from ..matching.late import Packing, TokenShard
from ..matching.lexical import Analyzer, Bm25, LexicalShard, Statistics
from ..matching.lexical.corpus_statistics import Frequencies, summed
from ..matching.lexical.lexical_shard import RememberedWeights
from ..matching.scope import Scope
from ..matching.search import live_vectors
from ..matching.sharding import by_shard
from ..options import Bm25Parameters, SearchOptions
from ..papers.duplicates import same_works, works
from ..papers.references import reference_columns
from ..runs import Ranking, papers_of
from ..storage.manifest import Manifest
from ..storage.shards import Shard, scope_of
from .citations.citation_graph import CitationGraph
from .closing import closed
from .generation import Generation, columns_of
from .lookup import Lookup
from .lookup.identifying import possible_copies
from .narrowing.masks import Narrower
from .narrowing.nested import place_of
from .ranking.grouping import fullest, grouped

if TYPE_CHECKING:
    from ..papers.corpora import Rejected

Value = TypeVar("Value")

SUGGESTED = 3
"""Papers that are suggested where a name is none."""
LISTED = 5
"""Papers that are shown where a name is one of several."""
MOST_RECORDS = 100
"""More records with one name are not of one work."""
NAMING = ("id", "title", "authors", "doi")
"""The columns that tell which papers are one work."""


class Snapshot:
    """What is open for reading: generations of one index or of several, whose shards follow each other.

    Nothing is merged afterwards. BM25 counts papers and terms over all indexes, and meaning is compared as in one index, or, where encoders
    differ, on the scale of each. So a paper has the score that it has in an index that was built of all the papers.

    Attributes:
        generations: what is open, one of each index.
        path: the index's directory; of several indexes all names in one, for messages.
        names: what the indexes are called: their folders' names, or their paths where two folders have one name.
        shards: the shards, in order.
        encoder: what the manifest says of the encoder that filled it; None without vectors, and where several encoders did.
        metric: how vectors are compared; None without vectors, and where several encoders filled it.
        late: whether it has token vectors, by one encoder.
        statistics: BM25's statistics of all papers; None without BM25.
        parameters: BM25's parameters.
        fusion: how both halves are joined where nobody says otherwise.
        usual_effort: how hard an approximate dense half is searched where nobody says otherwise.
        checksum: what identifies these papers.
        lacking: what keeps several indexes from being searched in every way, a sentence each.
    """

    def __init__(self, generations: Sequence[Generation]) -> None:
        """Read some generations, one of each index, as one.

        Raises InvalidRequest where an index is there twice, or they cannot be searched together: they count words in different ways, or one
        has only vectors and another only BM25.
        """
        self.generations = tuple(generations)
        self.names = _names([one.path for one in generations])
        self.path = generations[0].path if len(generations) == 1 else Path(" + ".join(self.names))
        self._starts = np.cumsum([0, *(sum(shard.papers for shard in one.shards) for one in generations)])
        self.shards = [
            Shard(shard.verified, shard.facts, shard.first + start) if start else shard
            for one, start in zip(generations, self._starts.tolist(), strict=False)
            for shard in one.shards
        ]
        named = dict(zip(self.names, generations, strict=True))
        self.lacking: tuple[str, ...] = tuple(_lacking(named))
        self._spaces, self._scales = _spaces(generations), list[Scale]()
        if len(self._spaces) > 1:
            self._set_scales()
        one = self._spaces[0][0].manifest if len(self._spaces) == 1 else None
        self.encoder, self.metric = (None, None) if one is None else (one.encoder, one.metric)
        self.late = one is not None and all(each.manifest.late is not None for each in generations)
        self.statistics = _statistics(named)
        self.parameters = None if self.statistics is None else _shared([one.manifest.bm25 for one in generations]) or Bm25Parameters()
        self.fusion = _shared([one.fusion for one in generations]) or Fusion()
        self.usual_effort = self.effort(SearchOptions())
        self.checksum = " ".join(one.manifest.checksum for one in generations)

    @classmethod
    def of(cls, path: str | Path, generation: int | None = None) -> Self:
        """That of one index, at a generation, or as it is now. Raises as opening the generation."""
        return cls([Generation(path, generation)])

    def _set_scales(self) -> None:
        """Find the scales of different encoders; without one of them vectors are not searched."""
        for members in self._spaces:
            rows = np.concatenate([np.arange(*self._span(member)) for member in members])
            sample = self.drawn(self.scope.among(rows).places, SAMPLE_SIZE)
            found = scale(self._plain_vectors(members), members[0].golden, sample)
            if found is None:
                names = [name for name, member in zip(self.names, self.generations, strict=True) if member in members]
                self.lacking = (
                    *self.lacking,
                    f"what the scores of {enumerated(names)} mean cannot be told, and others have another encoder, so all of the indexes "
                    "are searched by words alone",
                )
                self._spaces, self._scales = [], []
                return
            self._scales.append(found)

    @property
    def manifest(self) -> Manifest:
        """What the generation consists of. Raises InvalidRequest for several indexes, which have one each."""
        if len(self.generations) > 1:
            raise InvalidRequest(f"{self.path} are several indexes, and this is of one; take one index at a time")
        return self.generations[0].manifest

    def spaces(self) -> Sequence[int]:
        """The places of the indexes that are the first by their encoder; none if vectors are not searched."""
        return [self.generations.index(space[0]) for space in self._spaces]

    def close(self) -> None:
        """Let go of the generation: from then on a writer may remove its files, and every use raises IndexClosed. Closing twice is fine."""
        for one in self.generations:
            one.close()
        self.__class__ = closed(type(self))

    def check_files(self) -> None:
        """Raise CorruptData if a file of it was cut or written over since it was opened, see `Verified.check_again`."""
        for verified in self._files:
            verified.check_again()

    @once
    def _files(self) -> list[Verified]:
        return list({id(shard.verified): shard.verified for shard in self.shards}.values())

    @property
    def is_current(self) -> bool:
        """Whether what is on disk is as this snapshot has it, and not another index that was built in its place. Raises as opening it."""
        return all(one.is_current for one in self.generations)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def __len__(self) -> int:
        """How many papers there are that are not deleted."""
        return sum(one.manifest.papers for one in self.generations)

    def __contains__(self, id: object) -> bool:
        """Whether a paper that is not deleted has this id, or stands under it as INDEX:ID. Raises InvalidRequest for a text that is not
        Unicode."""
        self.check_files()
        return isinstance(id, str) and bool(self._rows_of([checked_text(id, "id")])[id])

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.path} of {counted(len(self), 'paper')}>"

    def names_at(self, rows: Rows) -> list[str]:
        """The names of the indexes in which the papers at the given rows stand."""
        return [self.names[place] for place in (np.searchsorted(self._starts, rows, side="right") - 1).tolist()]

    def whole_names(self, rows: Rows) -> list[str]:
        """What names the papers at the given rows: their ids, or INDEX:ID where several indexes are searched."""
        ids = self.ids(rows)
        return ids if len(self.generations) == 1 else list(map(name_in, self.names_at(rows), ids))

    def remarks(self, columns: Iterable[str]) -> list[str]:
        """What a person should know of a search that asks for these columns: what of it some of several indexes lack, a sentence each."""
        remarks = list(self.lacking)
        for column in dict.fromkeys(columns):
            members = zip(self.names, self.generations, strict=True)
            without = [name for name, member in members if place_of(member.columns.names, column) is None]
            if without and place_of(self.columns.names, column) is not None:
                have = "has" if len(without) == 1 else "have"
                remarks.append(f"{enumerated(without)} {have} no column {column}: to a filter, all of these papers are without a value")
        return remarks

    @property
    def modes(self) -> tuple[Mode, ...]:
        """The ways in which this index can be searched, best first."""
        has = {"dense": self.has_vectors, "bm25": self.statistics is not None}
        has["hybrid"] = has["dense"] and has["bm25"]
        return tuple(mode for mode in MODES if has[mode])

    @property
    def has_vectors(self) -> bool:
        """Whether it can be searched by meaning."""
        return bool(self._spaces)

    @property
    def rejected(self) -> int:
        """How many rows of the corpus that was last taken in were not indexed."""
        return sum(one.manifest.rejected for one in self.generations)

    @once
    def rejections(self) -> tuple[Rejected, ...]:
        """The first 100 of these, with their reasons; none where rejected.jsonl, which lists all, is gone or of another corpus since."""
        from ..papers.corpora.rejections import REJECTED, read_rejections  # a search needs none of it

        return tuple(row for one in self.generations for row in read_rejections(one.path / REJECTED, one.manifest.rejected))

    @once
    def scope(self) -> Scope:
        """Which rows' papers are not deleted."""
        return scope_of(self.shards)

    @once
    def columns(self) -> pa.Schema:
        """The columns of the papers that are not deleted, which filters may name and exports have."""
        return self.generations[0].columns if len(self.generations) == 1 else columns_of(self.shards)

    def tables(self, names: Sequence[str]) -> Iterator[pa.Table]:
        """Columns of all papers that are not deleted, a shard at a time; names that a shard lacks are left out there."""
        self.check_files()
        for shard in self.shards:
            table = shard.columns(names)
            yield table if shard.scope.mask is None else table.filter(booleans(shard.scope.mask))

    def live_ids(self) -> list[str]:
        """The ids of all papers that are not deleted, in the order of their rows."""
        self.check_files()
        return [id for shard in self.shards for id in shard.ids.filter(booleans(shard.scope.flags)).to_pylist()]

    def papers_at(self, rows: Rows, names: Sequence[str] | None = None) -> list[Paper]:
        """The papers at the given rows, in that order; with the columns of the given names alone, of which the id is one: without
        abstracts, reading takes a sixth of the time."""
        papers: list[Paper | None] = [None] * len(rows)
        for shard, positions, shard_rows in by_shard(rows, self.shards):
            for position, paper in zip(positions.tolist(), shard.papers_at(shard_rows, names), strict=True):
                papers[position] = paper
        return [paper for paper in papers if paper is not None]

    def rows(self, ids: str | Sequence[str]) -> Rows:
        """Where the papers with the given id, or ids, stand.

        Raises NotFound for an id that is not in the index, and Ambiguous for one that different papers have in different indexes.
        """
        self.check_files()
        listed = [checked_text(id, "id") for id in as_ids(ids)]
        rows_of = self._rows_of(listed)
        for id, rows in rows_of.items():
            if len(rows) > 1:
                self._check_means_one(id, "id", np.array(rows, np.int64))
        if missing := [id for id, rows in rows_of.items() if not rows]:
            raise NoSuchPaper(f"there is no paper {missing[0]!r} in {self.path}; `sciretrieve search` shows the ids of papers")
        return np.array([rows_of[id][0] for id in listed], np.int64)

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
        if strict and len(match) > 1:
            raise self._ambiguous(text, match.by, match.rows)
        self._check_means_one(text, match.by, match.rows)
        return self._fullest(match.rows)

    def _check_means_one(self, text: str, by: str, rows: Rows) -> None:
        """Raise Ambiguous where a text names several works."""
        if not self._is_one_work(rows):
            raise self._ambiguous(text, by, rows)

    def _ambiguous(self, text: str, by: str, rows: Rows) -> Ambiguous:
        first = zip(self.whole_names(rows[:LISTED]), self.papers_at(rows[:LISTED]), strict=True)
        return Ambiguous(text, by, len(rows), [(name, paper.title, paper.year) for name, paper in first])

    def _is_one_work(self, rows: Rows) -> bool:
        """Whether answers show the papers at these rows as one."""
        return len(rows) == 1 or (len(rows) <= MOST_RECORDS and len(works(self.papers_at(rows, NAMING))) == 1)

    def _fullest(self, rows: Rows) -> int:
        """The row of these whose paper says most."""
        return int(rows[fullest(self.papers_at(rows)) if len(rows) > 1 else 0])

    def find(self, ids: Sequence[str]) -> dict[str, int]:
        """The rows of those of the given ids, or of INDEX:ID, that mean one paper; an id that different papers have in different indexes
        means none."""
        if len(self.generations) == 1:
            return self.generations[0].find(ids)
        rows_of = {id: np.array(rows, np.int64) for id, rows in self._rows_of(ids).items() if rows}
        return {id: int(rows[0]) for id, rows in rows_of.items() if self._is_one_work(rows)}

    def _rows_of(self, ids: Sequence[str]) -> dict[str, list[int]]:
        """For each id its rows in the indexes, in their order; for INDEX:ID, if that is no id, the row of this paper."""
        rows_of: dict[str, list[int]] = {id: [] for id in ids}
        for start, member in zip(self._starts.tolist(), self.generations, strict=False):
            for id, row in member.find(ids).items():
                rows_of[id].append(start + row)
        for start, name, member in zip(self._starts.tolist(), self.names, self.generations if len(self.names) > 1 else (), strict=False):
            within = {
                id: id.removeprefix(name_in(name, "")) for id, rows in rows_of.items() if not rows and id.startswith(name_in(name, ""))
            }
            found = member.find(list(within.values()))
            for id in within:
                rows_of[id] += [start + found[within[id]]] if within[id] in found else []
        return rows_of

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
        """Those of the papers at the given rows, ascending, that are left if each work is taken once, where several indexes are searched:
        of its records, as `same_works` finds them, the one that says the most."""
        if len(self.generations) == 1:
            return rows
        names = ("id", "title", "authors", "year", "doi")
        read = (table for shard, _, shard_rows in by_shard(rows, self.shards) for _, table in shard.read_at(shard_rows, names))
        known = [paper for table in read for paper in papers_in(table)]
        dropped: list[int] = []
        for work in same_works(known):
            places = np.array(work.places)
            dropped += places[rows[places] != self._fullest(rows[places])].tolist()
        return np.delete(rows, dropped)

    @once
    def vectors(self) -> list[VectorShard]:
        """The shards' vectors; empty where the index has none. With different encoders each shard scores on its encoder's scale."""
        if len(self._spaces) <= 1:
            return self.vectors_of(self.shards)
        starts = np.cumsum([0, *(_dim(space[0]) for space in self._spaces)]).tolist()
        found: list[VectorShard] = []
        for start, members, own in zip(starts, self._spaces, self._scales, strict=False):
            for shard in self._plain_vectors(members):
                facts = {field.name: getattr(shard, field.name) for field in fields(VectorShard)}
                found.append(ScaledShard(**facts, start=start, scale=own))
        return sorted(found, key=lambda shard: shard.first)

    def _plain_vectors(self, members: Sequence[Generation]) -> list[VectorShard]:
        """The vectors of some of the indexes, their rows counted over all."""
        metric = members[0].manifest.metric
        assert metric is not None
        return [shard.vectors(_dim(members[0]), metric) for shard in self.shards if self._generation_at(shard.first) in members]

    def _span(self, member: Generation) -> tuple[int, int]:
        """The first row of an index, and the one after its last."""
        place = self.generations.index(member)
        return int(self._starts[place]), int(self._starts[place + 1])

    def _generation_at(self, row: int) -> Generation:
        return self.generations[int(np.searchsorted(self._starts, row, side="right")) - 1]

    def vectors_of(self, shards: Iterable[Shard]) -> list[VectorShard]:
        """The vectors of some of the shards; empty where the index has none."""
        return [] if self.metric is None else [shard.vectors(self.dim, self.metric) for shard in shards]

    @property
    def dim(self) -> int:
        """The dimension of queries' vectors, of which those by all encoders stand one after the other; 0 for an index without vectors."""
        return sum(_dim(space[0]) for space in self._spaces)

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

    def frequencies(self, shard: Shard) -> Frequencies:
        """How many papers of the corpus have each term of a shard, (terms,). Only for an index with BM25."""
        return self.generations[0].frequencies(shard) if len(self.generations) == 1 else self._frequencies[shard.first]

    @once
    def _frequencies(self) -> Mapping[int, Frequencies]:
        """For each shard, by its first row, how many papers of all indexes have each of its terms."""
        parts = [[(shard.postings.terms, member.frequencies(shard)) for shard in member.shards] for member in self.generations]
        counts = [part for parts in summed(parts) for part in parts]
        return {shard.first: part for shard, part in zip(self.shards, counts, strict=True)}

    @once
    def analyzer(self) -> Analyzer:
        """How text becomes terms. Raises InvalidRequest where the index was built with another way than this version's."""
        return Analyzer() if self.statistics is None else self.generations[0].analyzer

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
    def golden(self) -> Vectors | None:
        """The encoder's vectors for a probe, see `encoders.golden`, (3, dim); None where papers were not encoded from texts, or by several
        encoders."""
        return self._spaces[0][0].golden if len(self._spaces) == 1 else None

    @property
    def packing(self) -> Packing | None:
        """How token vectors of the first index are packed; None where any lacks them."""
        return self.generations[0].packing if self.late else None

    @once
    def tokens(self) -> list[TokenShard]:
        """The shards' packed token vectors; empty where the index has none."""
        return self.tokens_of(self.shards)

    def tokens_of(self, shards: Iterable[Shard]) -> list[TokenShard]:
        """The packed token vectors of some of the shards, packed by each index in its own way; empty where the index has none."""
        packed = [(shard, self._generation_at(shard.first).packing) for shard in shards] if self.late else []
        return [shard.tokens(packing) for shard, packing in packed if packing is not None]

    @once
    def scale(self) -> Scale | None:
        """What dense scores mean in this index; None where that cannot be told."""
        if len(self._spaces) > 1:
            return Scale(0.0, 1.0, np.concatenate([each.rows for each in self._scales]))
        if self.golden is None or not self.vectors:
            return None
        return scale(self.vectors, self.golden, self.drawn(self.scope.places, SAMPLE_SIZE))

    def effort(self, options: SearchOptions) -> Effort:
        """How hard the dense half is searched: as hard as the index that needs the most, see `Generation.effort`."""
        efforts = [one.effort(options) for one in self.generations]
        return Effort(
            ef=max((effort.ef for effort in efforts if effort.ef is not None), default=None),
            nprobe=max((effort.nprobe for effort in efforts if effort.nprobe is not None), default=None),
            deepens=any(effort.deepens for effort in efforts),
            exact=any(effort.exact for effort in efforts),
        )

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
        if self.lacking and mode in MODES and mode not in self.modes:
            raise InvalidRequest(f"{self.lacking[0]}; leave out `mode={mode!r}`")
        chosen = self.modes[0] if mode is None else mode
        check_choice("mode", chosen, MODES)
        if chosen not in self.modes:
            lacks = "BM25" if self.has_vectors else "vectors"
            raise InvalidRequest(f"{self.path} has no {lacks}, so it cannot be searched in mode {chosen}; use `mode={self.modes[0]!r}`")
        return chosen

    def grouped(self, rankings: Sequence[Ranking], scopes: Sequence[Scope], k: int) -> Sequence[Ranking]:
        """The first k works of each ranking, for which the papers of a scope may answer."""
        named = papers_of(rankings, lambda rows: self.papers_at(rows, NAMING))
        if len(self.generations) == 1:
            return [grouped(ranking, papers, k) for ranking, papers in zip(rankings, named, strict=True)]
        every = [grouped(ranking, papers, len(ranking)) for ranking, papers in zip(rankings, named, strict=True)]
        return [self._grouped(ranking, scope, k) for ranking, scope in zip(every, scopes, strict=True)]

    def _grouped(self, every: Ranking, scope: Scope, k: int) -> Ranking:
        """The first k works of those of a ranking."""
        first = self._at_its_fullest(every.take(range(min(k, len(every)))), scope)
        if len(first) == min(k, len(every)):
            return first
        whole = self._at_its_fullest(every, scope)
        return whole.take(range(min(k, len(whole))))

    def _at_its_fullest(self, ranking: Ranking, scope: Scope) -> Ranking:
        """A ranking in which each paper stands for all of its copies, those that the search did not come to among them: in its place is
        shown the copy that says the most, of those that may answer, with the scores of the one that was found."""
        rows, also, also_in = ranking.rows.copy(), list[list[str]](), list[list[str]]()
        kept, seen = list[int](), set[int]()
        for place, others in enumerate(self.copies(ranking.rows)):
            also.append([])
            also_in.append([])
            if int(rows[place]) in seen:  # of a work before it, as only a copy shows that the search did not come to
                continue
            kept.append(place)
            seen |= {int(rows[place]), *others.tolist()}
            found = [(ranking.indexes[place], ranking.ids[place]), *zip(ranking.also_in[place], ranking.also[place], strict=True)]
            copies = np.concatenate([rows[place : place + 1], others[scope.has(others)]])
            rows[place] = self._fullest(copies)
            shown = self.names_at(rows[place : place + 1])[0], self.ids(rows[place : place + 1])[0]
            pairs = dict.fromkeys([*found, *zip(self.names_at(others), self.ids(others), strict=True)])
            also_in[place] = [name for name, id in pairs if (name, id) != shown]
            also[place] = [id for name, id in pairs if (name, id) != shown]
        whole = replace(ranking, ids=self.ids(rows), rows=rows, indexes=self.names_at(rows), also=also, also_in=also_in)
        return whole if len(kept) == len(whole) else whole.take(kept)


def as_ids(ids: str | Sequence[str]) -> Sequence[str]:
    """One id or several as several: a text is one id, not its letters. Raises InvalidRequest for what is neither."""
    if isinstance(ids, str):
        return [ids]
    if not isinstance(ids, Iterable):
        raise InvalidRequest(f"ids of papers are a string or a list of strings, not {ids!r}")
    return list(ids)


def _names(paths: Sequence[Path]) -> tuple[str, ...]:
    """What to call indexes. Raises InvalidRequest where one is there twice."""
    resolved = [path.resolve() for path in paths]
    for number, path in enumerate(resolved):
        if path in resolved[:number]:
            raise InvalidRequest(f"the index {paths[number]} is given twice; leave out one of them")
    names = [path.name for path in resolved]
    return tuple(name if names.count(name) == 1 else str(path) for name, path in zip(names, paths, strict=True))


def _spaces(members: Sequence[Generation]) -> list[list[Generation]]:
    """The indexes in groups of one encoder and one metric, whose scores can be compared; none where any has no vectors."""
    if not all(member.manifest.encoder for member in members):
        return []
    spaces: list[list[Generation]] = []
    for member in members:
        for space in spaces:
            if same_vectors(space[0].manifest.encoder, member.manifest.encoder) and space[0].manifest.metric == member.manifest.metric:
                space.append(member)
                break
        else:
            spaces.append([member])
    return spaces


def _lacking(members: Mapping[str, Generation]) -> Iterator[str]:
    """What keeps indexes from being searched in every way in which some of them can be, a sentence each, by their names.

    Raises InvalidRequest where they have no way in common.
    """
    without = {
        "vectors": [name for name, member in members.items() if member.manifest.encoder is None],
        "BM25": [name for name, member in members.items() if member.manifest.lexical is None],
    }
    if without["vectors"] and without["BM25"]:
        raise InvalidRequest(
            f"{without['vectors'][0]} has no vectors, and {without['BM25'][0]} no BM25, so there is no way to search both; "
            "take one index at a time"
        )
    for what, way in (("vectors", "words"), ("BM25", "meaning")):
        if 0 < len(without[what]) < len(members):
            have = "has" if len(without[what]) == 1 else "have"
            yield f"{enumerated(without[what])} {have} no {what}, so all of the indexes are searched by {way} alone"


def _statistics(members: Mapping[str, Generation]) -> Statistics | None:
    """BM25's statistics of all papers; None where any index lacks it. Raises InvalidRequest where they count words in different ways."""
    facts_of = {name: member.manifest.lexical for name, member in members.items() if member.manifest.lexical is not None}
    if len(facts_of) < len(members):
        return None
    (first_name, first), *others = facts_of.items()
    for name, facts in others:
        if facts["analyzer"] != first["analyzer"]:
            older = name if facts["analyzer"].get("form", 0) < first["analyzer"].get("form", 0) else first_name
            raise InvalidRequest(
                f"{first_name} and {name} count words in different ways; `sciretrieve reindex -i {older}` counts them anew, in seconds"
            )
    return Statistics(**{name: sum(int(facts["statistics"][name]) for facts in facts_of.values()) for name in first["statistics"]})


def _shared(values: Sequence[Value]) -> Value | None:
    """The value that all have; None where they differ."""
    return values[0] if all(value == values[0] for value in values) else None


def _dim(member: Generation) -> int:
    """The dimension of the vectors of an index that has some."""
    assert member.manifest.encoder is not None
    return int(member.manifest.encoder["dim"])

"""A snapshot: the open papers, vectors and terms of an index, or of several indexes as one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, replace
from functools import lru_cache
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, NoReturn, Self, TypeVar

import numpy as np
import pyarrow as pa

from ..base.choices import MODES, Mode, check_choice
from ..base.errors import Ambiguous, InvalidRequest, NoSuchPaper, NotFound
from ..base.once import once
from ..base.types import Hit, Paper, Papers, Passage, Rows, Vectors, name_in, names_of
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
from ..matching.full_texts import SAMPLE, FullText, readable
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
from ..papers.likenesses import doi_mark, title_mark
from ..papers.references import reference_columns
from ..runs import Ranking
from ..storage.fulltext import FULLTEXT
from ..storage.manifest import Manifest
from ..storage.shards import Shard, scope_of, texts_at
from .citations.citation_graph import CitationGraph
from .closing import shut
from .full_texts import PRIVATE, owning_rows, passage_of
from .generation import Generation, columns_of
from .lookup import Lookup
from .lookup.identifying import possible_copies
from .narrowing.masks import IN_FULL_TEXTS, Narrower
from .narrowing.nested import place_of
from .ranking.grouping import fullest, grouped, works_of_each

if TYPE_CHECKING:
    from ..papers.corpora import Rejected

Value = TypeVar("Value")

SUGGESTED = 3
"""Papers suggested for an unknown name."""
LISTED = 5
"""Papers listed for an ambiguous name."""
MOST_RECORDS = 100
"""Most records of one work. A name that more records share names no work."""
NAMING = ("id", "title", "authors", "doi")
"""Columns that tell whether papers are the same work."""


class Snapshot:
    """The open generations of one index or of several, with their shards in one sequence.

    Nothing is merged after the search. BM25 counts papers and terms over all indexes. Vectors are compared as in one index, or on each
    encoder's own scale if encoders differ. So a paper's score equals its score in a single index of all the papers.

    Attributes:
        generations: the open generations, one per index.
        path: the index's directory; for several indexes, all names joined, for messages.
        names: the indexes' folder names, or paths if two folders share a name.
        shards: the shards, in order.
        encoder: the manifest's entry on the encoder; None without vectors, and with several encoders.
        metric: how vectors are compared; None without vectors, and with several encoders.
        late: whether there are token vectors by a single encoder.
        statistics: BM25's statistics of all papers; None without BM25.
        parameters: BM25's parameters.
        fusion: how the two halves are fused by default.
        usual_effort: default search effort of an approximate dense half.
        checksum: identifies the papers.
        passages: the passages of the papers' full texts; None without any, and where vectors are by several encoders.
        lacking: reasons why several indexes cannot be searched in some mode, one sentence each.
    """

    def __init__(self, generations: Sequence[Generation]) -> None:
        """Read some generations, one of each index, as one.

        Raises InvalidRequest if an index occurs twice, or if the indexes cannot be searched together: their BM25 analyses differ, or one
        has only vectors and another only BM25.
        """
        self.generations = tuple(generations)
        self.names = _names([one.path for one in generations])
        self.path = generations[0].path if len(generations) == 1 else Path(" + ".join(self.names))
        self._starts = np.cumsum([0, *(sum(shard.papers for shard in one.shards) for one in generations)])
        self.shards = [
            Shard(shard.verified, shard.facts, shard.first + start, shard.kept) if start else shard
            for one, start in zip(generations, self._starts.tolist(), strict=False)
            for shard in one.shards
        ]
        named = dict(zip(self.names, generations, strict=True))
        self.lacking: tuple[str, ...] = tuple(_missing_halves(named))
        self._spaces, self._scales = _spaces(generations), list[Scale]()
        if len(self._spaces) > 1:
            self._set_scales()
        one = self._spaces[0][0].manifest if len(self._spaces) == 1 else None
        self.encoder, self.metric = (None, None) if one is None else (one.encoder, one.metric)
        self.late = one is not None and all(each.manifest.late is not None for each in generations)
        with_texts = [one.passages for one in generations if one.passages is not None and len(self._spaces) <= 1]
        self.passages: Snapshot | None = Snapshot(with_texts) if with_texts else None
        self.statistics = _statistics(named)
        self.parameters = None if self.statistics is None else _common_value([one.manifest.bm25 for one in generations]) or Bm25Parameters()
        self.fusion = _common_value([one.fusion for one in generations]) or Fusion()
        self.usual_effort = self.effort(SearchOptions())
        self.checksum = " ".join(one.manifest.checksum for one in generations)

    @classmethod
    def of(cls, path: str | Path, generation: int | None = None) -> Self:
        """Open the snapshot of one index, at a generation or as it is now. Raises as opening the generation."""
        return cls([Generation(path, generation)])

    def _set_scales(self) -> None:
        """Find the scales of different encoders. If one has none, vectors are not searched."""
        for members in self._spaces:
            rows = np.concatenate([np.arange(*self._span(member)) for member in members])
            sample = self.drawn(self.scope.among(rows).places, SAMPLE_SIZE)
            own_scale = scale(self._plain_vectors(members), members[0].golden, sample)
            if own_scale is None:
                names = [name for name, member in zip(self.names, self.generations, strict=True) if member in members]
                self.lacking = (
                    *self.lacking,
                    f"the scores of {enumerated(names)} have no known scale, and others have another encoder, so all indexes are searched "
                    "by words alone",
                )
                self._spaces, self._scales = [], []
                return
            self._scales.append(own_scale)

    @property
    def manifest(self) -> Manifest:
        """The generation's manifest. Raises InvalidRequest for several indexes, which have one each."""
        if len(self.generations) > 1:
            raise InvalidRequest(f"{self.path} are several indexes, each with its own manifest; take one index at a time")
        return self.generations[0].manifest

    def spaces(self) -> Sequence[int]:
        """Positions of the first index for each encoder; empty if vectors are not searched."""
        return [self.generations.index(space[0]) for space in self._spaces]

    def close(self) -> None:
        """Release the generation: a writer may then remove its files, and every later use raises IndexClosed. Closing twice is fine."""
        for one in self.generations:
            one.close()
            if one.passages is not None:
                one.passages.close()
        shut(self)

    def __reduce__(self) -> NoReturn:
        raise InvalidRequest(f"{self.path} is open in this process; give others its folder, and open it there")

    def check_files(self) -> None:
        """Raise CorruptData if a file was truncated or overwritten since it was opened, see `Verified.check_again`."""
        for verified in self._files:
            verified.check_again()

    @once
    def _files(self) -> list[Verified]:
        of_passages = [] if self.passages is None else self.passages._files
        return [*{id(shard.verified): shard.verified for shard in self.shards}.values(), *of_passages]

    @property
    def is_current(self) -> bool:
        """Whether this snapshot is what is on disk now. False if another index was built in its place. Raises as opening does."""
        return all(one.is_current for one in self.generations)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def __len__(self) -> int:
        """Number of undeleted papers."""
        return sum(one.manifest.papers for one in self.generations)

    def __contains__(self, id: object) -> bool:
        """Whether an undeleted paper has this id, this name as INDEX:ID, or this object's. Raises InvalidRequest for text that is not valid
        Unicode."""
        self.check_files()
        names = names_of([id]) if isinstance(id, str | Paper | Hit) else []
        return any(self._rows_of([checked_text(name, "id")])[name] for name in names)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.path} of {counted(len(self), 'paper')}>"

    def names_at(self, rows: Rows) -> list[str]:
        """Names of the indexes that hold the papers at the given rows."""
        return [self.names[place] for place in (np.searchsorted(self._starts, rows, side="right") - 1).tolist()]

    def whole_names(self, rows: Rows) -> list[str]:
        """Names of the papers at the given rows: ids, or INDEX:ID if several indexes are searched."""
        ids = self.ids(rows)
        return ids if len(self.generations) == 1 else list(map(name_in, self.names_at(rows), ids))

    def remarks(self, columns: Iterable[str]) -> list[str]:
        """Remarks on a search that uses these columns: what some of several indexes lack, one sentence each."""
        remarks = list(self.lacking)
        for column in dict.fromkeys(columns):
            members = zip(self.names, self.generations, strict=True)
            without = [name for name, member in members if place_of(member.columns.names, column) is None]
            if without and place_of(self.columns.names, column) is not None:
                have = "has" if len(without) == 1 else "have"
                remarks.append(f"{enumerated(without)} {have} no column {column}: a filter treats these papers as without a value")
        return remarks

    @property
    def modes(self) -> tuple[Mode, ...]:
        """Available search modes, best first."""
        has = {"dense": self.has_vectors, "bm25": self.statistics is not None}
        has["hybrid"] = has["dense"] and has["bm25"]
        return tuple(mode for mode in MODES if has[mode])

    @property
    def rows_beyond(self) -> int:
        """The first number that is no row."""
        return int(self._starts[-1])

    @property
    def has_vectors(self) -> bool:
        """Whether dense search is available."""
        return bool(self._spaces)

    @property
    def rejected(self) -> int:
        """Number of rows that the last ingested corpus had rejected."""
        return sum(one.manifest.rejected for one in self.generations)

    @once
    def rejections(self) -> tuple[Rejected, ...]:
        """The first 100 rejected rows, with reasons; empty if rejected.jsonl, which lists all, is missing or belongs to another corpus."""
        from ..papers.corpora.rejections import REJECTED, read_rejections  # a search does not need it

        return tuple(row for one in self.generations for row in read_rejections(one.path / REJECTED, one.manifest.rejected))

    @once
    def scope(self) -> Scope:
        """The undeleted papers."""
        return scope_of(self.shards)

    @once
    def columns(self) -> pa.Schema:
        """Columns of the undeleted papers, for filters and exports."""
        return self.generations[0].columns if len(self.generations) == 1 else columns_of(self.shards)

    @property
    def typed_fields(self) -> Sequence[str]:
        """Names that may stand before a colon in a typed query: columns, and the fields of full texts."""
        if all(one.path.name == FULLTEXT for one in self.generations):
            return [*(name for name in self.columns.names if name not in PRIVATE), FULLTEXT]
        return self.columns.names if self.passages is None else [*self.columns.names, *IN_FULL_TEXTS]

    def tables(self, names: Sequence[str]) -> Iterator[pa.Table]:
        """Columns of all undeleted papers, a shard at a time. Columns that a shard lacks are left out there."""
        self.check_files()
        for shard in self.shards:
            table = shard.columns(names)
            yield table if shard.scope.mask is None else table.filter(booleans(shard.scope.mask))

    def live_ids(self) -> list[str]:
        """Ids of all undeleted papers, in row order."""
        self.check_files()
        return [id for shard in self.shards for id in shard.ids.filter(booleans(shard.scope.flags)).to_pylist()]

    def papers_at(self, rows: Rows, names: Sequence[str] | None = None) -> list[Paper]:
        """Papers at the given rows, in order. `names` limits the columns, and must include the id; without abstracts, reading takes a sixth
        of the time."""
        papers: list[Paper | None] = [None] * len(rows)
        for shard, positions, shard_rows in by_shard(rows, self.shards):
            for position, paper in zip(positions.tolist(), shard.papers_at(shard_rows, names), strict=True):
                papers[position] = paper
        return [paper for paper in papers if paper is not None]

    def rows(self, ids: Papers) -> Rows:
        """Rows of the papers with the given ids.

        Raises NoSuchPaper for an id that is not in the index, and Ambiguous for an id that different papers have in different indexes.
        """
        self.check_files()
        texts = [checked_text(id, "id") for id in names_of(ids)]
        rows_of = self._rows_of(texts)
        for id, rows in rows_of.items():
            if len(rows) > 1:
                self._check_means_one(id, "id", np.array(rows, np.int64))
        if missing := [id for id, rows in rows_of.items() if not rows]:
            raise NoSuchPaper(f"there is no paper {missing[0]!r} in {self.path}; `sciretrieve search` shows the ids of papers")
        return np.array([rows_of[id][0] for id in texts], np.int64)

    def named_rows(self, names: Papers, *, strict: bool = False) -> Rows:
        """Rows of the papers with the given names. A name is an id, a DOI, an arXiv number, a PubMed id, an address, a citation key or a
        title.

        An id takes precedence, so every paper can be named. Several records of one work, which answers show as one, are named by the most
        complete record: with an abstract, then with the most columns, ties by row.

        Args:
            names: one name or several.
            strict: whether a name for several records of one work is an error.

        Raises:
            NoSuchPaper: a name matches no paper.
            Ambiguous: a name matches several works, or if strict several papers.
        """
        texts = names_of(names)
        row_of, others = self._by_id(texts)
        row_of |= {text: self._named_row(text, strict) for text in others}
        return np.array([row_of[text] for text in texts], np.int64)

    def named(self, names: Sequence[str], *, strict: bool = False) -> tuple[dict[str, int], dict[str, NotFound | Ambiguous]]:
        """Like `named_rows`, name by name: the rows of names that match, and the errors for the others."""
        row_of, others = self._by_id(names)
        wrong: dict[str, NotFound | Ambiguous] = {}
        for text in others:
            try:
                row_of[text] = self._named_row(text, strict)
            except (NotFound, Ambiguous) as error:
                wrong[text] = error
        return row_of, wrong

    def _by_id(self, names: Sequence[str]) -> tuple[dict[str, int], list[str]]:
        """Rows of the names that are ids, and the other names, each once."""
        self.check_files()
        row_of = self.find([checked_text(name, "id") for name in names])
        return row_of, [name for name in dict.fromkeys(names) if name not in row_of]

    def _named_row(self, text: str, strict: bool) -> int:
        match = self.lookup.named(text)
        if not len(match):
            alike = [f"{paper.id} ({paper.title})" for paper in self.papers_at(self.lookup.like(text, SUGGESTED))]
            hint = f"did you mean {' or '.join(alike)}?" if alike else "`sciretrieve search` shows the ids of papers"
            raise NoSuchPaper(f"there is no paper {text!r} in {self.path}; {hint}")
        if strict and len(match) > 1:
            raise self._ambiguous(text, match.by, match.rows)
        self._check_means_one(text, match.by, match.rows)
        return self._fullest(match.rows)

    def _check_means_one(self, text: str, by: str, rows: Rows) -> None:
        """Raise Ambiguous if a text names several works."""
        if not self._is_one_work(rows):
            raise self._ambiguous(text, by, rows)

    def _ambiguous(self, text: str, by: str, rows: Rows) -> Ambiguous:
        first = zip(self.whole_names(rows[:LISTED]), self.papers_at(rows[:LISTED]), strict=True)
        return Ambiguous(text, by, len(rows), [(name, paper.title, paper.year) for name, paper in first])

    def _is_one_work(self, rows: Rows) -> bool:
        """Whether answers show the papers at these rows as one."""
        return len(rows) == 1 or (len(rows) <= MOST_RECORDS and len(works(self.papers_at(rows, NAMING))) == 1)

    def _fullest(self, rows: Rows) -> int:
        """The row of the most complete of these papers."""
        return int(rows[fullest(self.papers_at(rows)) if len(rows) > 1 else 0])

    def find(self, ids: Sequence[str]) -> dict[str, int]:
        """Rows of the given ids, or INDEX:ID, that match one paper. An id that different papers have in different indexes is left out."""
        if len(self.generations) == 1:
            return self.generations[0].find(ids)
        rows_of = {id: np.array(rows, np.int64) for id, rows in self._rows_of(ids).items() if rows}
        return {id: int(rows[0]) for id, rows in rows_of.items() if self._is_one_work(rows)}

    def _rows_of(self, ids: Sequence[str]) -> dict[str, list[int]]:
        """Rows of each id in the indexes, in order. For INDEX:ID, unless that is an id itself, the row of this paper."""
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
        """Ids of the papers at the given rows."""
        return texts_at(self.shards, "id", rows)

    def drawn(self, rows: Rows, count: int) -> Rows:
        """A sample of the papers at the given rows. The sample and its order do not depend on the row numbers."""
        marks = np.empty(len(rows), np.uint64)
        for shard, positions, shard_rows in by_shard(rows, self.shards):
            marks[positions] = shard.marks[shard_rows]
        if len(rows) > count > 0:
            least = np.flatnonzero(marks <= np.partition(marks, count - 1)[count - 1])  # avoids sorting all papers
            rows, marks = rows[least], marks[least]
        drawn: Rows = rows[np.argsort(marks, kind="stable")[:count]]
        return drawn

    def copies(self, rows: Rows) -> list[Rows]:
        """For each given row, the rows of other records of the same work, by DOI or by title and first author."""
        papers = dict(zip(rows.tolist(), self.papers_at(rows, NAMING), strict=True))
        new = list(papers.values())
        while new:  # a copy may have another title, and with it further copies
            possible = possible_copies(self.shards, self.analyzer, self.bm25, new)
            unknown = possible[~np.isin(possible, list(papers))]
            new = self.papers_at(unknown, NAMING)
            papers |= zip(unknown.tolist(), new, strict=True)
        sorted_rows = sorted(papers)
        work_of = {place: work for work in works([papers[row] for row in sorted_rows]) for place in work}
        all_rows = np.array(sorted_rows, np.int64)
        return [all_rows[[other for other in work_of[sorted_rows.index(row)] if sorted_rows[other] != row]] for row in rows.tolist()]

    def with_copies(self, rows: Rows) -> Rows:
        """The given rows and all further records of the same works."""
        return np.unique(np.concatenate([rows, *self.copies(rows)]))

    def distinct(self, rows: Rows) -> Rows:
        """The given rows, ascending, with one row per work if several indexes are searched: the most complete record, by `same_works`."""
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
    def fulltext(self) -> FullText[Snapshot] | None:
        """The passages of the papers' full texts, and the papers that they belong to; None without any."""
        if self.passages is None:
            return None
        owners: list[Rows] = []
        for start, member in zip(self._starts.tolist(), self.generations, strict=False):
            owners += [] if member.passages is None else owning_rows(member.passages.shards, member.shards, start)
        owning, papers = np.concatenate(owners), int(self._starts[-1])
        sample = self.drawn(np.flatnonzero(readable(owning, papers)), SAMPLE)
        return FullText(self.passages, owning, papers, np.sort(sample))

    def passages_at(self, rows: Rows) -> list[Passage | None]:
        """The passages at the given rows of `passages`, in order; None for the row -1."""
        there = rows[rows >= 0]
        if self.passages is None or self.fulltext is None or not len(there):
            return [None] * len(rows)
        names = self.names_at(self.fulltext.owners[there]) if len(self.names) > 1 else [None] * len(there)
        found = iter(map(passage_of, self.passages.papers_at(there), names))
        return [next(found) if row >= 0 else None for row in rows.tolist()]

    def passage(self, name: str) -> Passage | None:
        """The passage with this name, PAPER#NUMBER, as answers show it; None if there is none."""
        paper, _, number = name.rpartition("#")
        if self.passages is None or self.fulltext is None or not paper or (row := self.find([paper]).get(paper)) is None:
            return None
        found = self.passages_at(np.flatnonzero(self.fulltext.owners == row))
        return next((passage for passage in found if passage is not None and str(passage.number) == number), None)

    @once
    def vectors(self) -> list[VectorShard]:
        """Vectors by shard; empty if the index has none. With different encoders, each shard scores on its encoder's scale."""
        if len(self._spaces) <= 1:
            return self.vectors_of(self.shards)
        starts = np.cumsum([0, *(_dim(space[0]) for space in self._spaces)]).tolist()
        scaled_shards: list[VectorShard] = []
        for start, members, own in zip(starts, self._spaces, self._scales, strict=False):
            for shard in self._plain_vectors(members):
                facts = {field.name: getattr(shard, field.name) for field in fields(VectorShard)}
                scaled_shards.append(ScaledShard(**facts, start=start, scale=own))
        return sorted(scaled_shards, key=lambda shard: shard.first)

    def _plain_vectors(self, members: Sequence[Generation]) -> list[VectorShard]:
        """Vectors of some of the indexes, with rows counted over all."""
        metric = members[0].manifest.metric
        assert metric is not None
        return [shard.vectors(_dim(members[0]), metric) for shard in self.shards if self._generation_at(shard.first) in members]

    def _span(self, member: Generation) -> tuple[int, int]:
        """First row of an index, and the first row after it."""
        place = self.generations.index(member)
        return int(self._starts[place]), int(self._starts[place + 1])

    def _generation_at(self, row: int) -> Generation:
        return self.generations[int(np.searchsorted(self._starts, row, side="right")) - 1]

    def vectors_of(self, shards: Iterable[Shard]) -> list[VectorShard]:
        """Vectors of some of the shards; empty if the index has none."""
        return [] if self.metric is None else [shard.vectors(self.dim, self.metric) for shard in shards]

    @property
    def dim(self) -> int:
        """Dimension of a query's vector; 0 without vectors. With several encoders, their vectors are concatenated."""
        return sum(_dim(space[0]) for space in self._spaces)

    def check_comparable(self) -> None:
        """Raise InvalidRequest if vectors come from several encoders and so cannot be compared with each other."""
        if self.has_vectors and self.encoder is None:
            raise InvalidRequest(f"the vectors of {self.path} are by different encoders and cannot be compared; take one index at a time")

    def vectors_at(self, rows: Rows) -> Vectors:
        """Vectors of the papers at the given rows, (n, dim), for comparing papers. Only for an index with vectors.

        Raises as `check_comparable`.
        """
        self.check_comparable()
        self.check_files()
        return vectors_at(self.vectors, rows)

    def read_only_vectors(self, rows: Rows | None) -> Vectors:
        """What `Index.to_numpy` gives."""
        if not self.has_vectors:
            raise InvalidRequest(f"{self.path} has no vectors; `sciretrieve reindex --encoder` adds them")
        self.check_comparable()
        if rows is None and len(self.shards) == 1 and self.scope.mask is None:
            self.check_files()
            return self.vectors[0].vectors
        vectors = self.vectors_at(self.scope.places if rows is None else rows)
        vectors.flags.writeable = False
        return vectors

    def live_vectors(self, shards: Iterable[VectorShard]) -> list[Vectors]:
        """Vectors of the undeleted papers, (n, dim) for each shard."""
        self.check_files()
        return live_vectors(shards, self.scope)

    @once
    def bm25(self) -> Bm25 | None:
        """The BM25 index; None if there is none."""
        return self.bm25_of(self.shards)

    def bm25_of(self, shards: Iterable[Shard]) -> Bm25 | None:
        """BM25 over some of the shards, with the statistics of all; None if there is none."""
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
        """A function from BM25 parameters to a BM25 index. It caches the last index with its term weights."""
        assert self.bm25 is not None
        return lru_cache(1)(self.bm25.weighted)

    def frequencies(self, shard: Shard) -> Frequencies:
        """Number of papers in the corpus with each term of a shard, (terms,). Only for an index with BM25."""
        return self.generations[0].frequencies(shard) if len(self.generations) == 1 else self._frequencies[shard.first]

    @once
    def _frequencies(self) -> Mapping[int, Frequencies]:
        """Number of papers in all indexes with each term of a shard, by the shard's first row."""
        parts = [[(shard.postings.terms, member.frequencies(shard)) for shard in member.shards] for member in self.generations]
        counts = [part for parts in summed(parts) for part in parts]
        return {shard.first: part for shard, part in zip(self.shards, counts, strict=True)}

    @once
    def analyzer(self) -> Analyzer:
        """How text becomes terms. Raises InvalidRequest if the index was built with another version of the analysis."""
        return Analyzer() if self.statistics is None else self.generations[0].analyzer

    @once
    def narrower(self) -> Narrower:
        """Computes the papers that may answer."""
        return Narrower(self)

    @once
    def lookup(self) -> Lookup:
        """Finds the papers that a text means."""
        return Lookup(self)

    @property
    def has_references(self) -> bool:
        """Whether a column holds references."""
        return bool(reference_columns(self.columns))

    @once
    def citations(self) -> CitationGraph:
        """The citations. Raises InvalidRequest if no column holds references."""
        if not self.has_references:
            raise InvalidRequest(
                f"{self.path} has no column of references; add one such as references, referenced_works, reference or cites, "
                "with lists of ids or DOIs"
            )
        return CitationGraph.of(self.shards)

    @property
    def golden(self) -> Vectors | None:
        """The encoder's vectors for a probe, see `encoders.golden`, (3, dim); None if papers were not encoded from text, or by several
        encoders."""
        return self._spaces[0][0].golden if len(self._spaces) == 1 else None

    @property
    def packing(self) -> Packing | None:
        """How token vectors of the first index are packed; None if an index lacks them."""
        return self.generations[0].packing if self.late else None

    @once
    def tokens(self) -> list[TokenShard]:
        """Packed token vectors by shard; empty if the index has none."""
        return self.tokens_of(self.shards)

    def tokens_of(self, shards: Iterable[Shard]) -> list[TokenShard]:
        """Packed token vectors of some of the shards, each with its index's packing; empty if the index has none."""
        packed = [(shard, self._generation_at(shard.first).packing) for shard in shards] if self.late else []
        return [shard.tokens(packing) for shard, packing in packed if packing is not None]

    @once
    def scale(self) -> Scale | None:
        """The scale of dense scores in this index; None if it is unknown."""
        if len(self._spaces) > 1:
            return Scale(0.0, 1.0, np.concatenate([each.rows for each in self._scales]))
        if self.golden is None or not self.vectors:
            return None
        return scale(self.vectors, self.golden, self.drawn(self.scope.places, SAMPLE_SIZE))

    def effort(self, options: SearchOptions) -> Effort:
        """Search effort of the dense half, the greatest of the indexes' efforts, see `Generation.effort`."""
        efforts = [one.effort(options) for one in self.generations]
        return Effort(
            ef=max((effort.ef for effort in efforts if effort.ef is not None), default=None),
            nprobe=max((effort.nprobe for effort in efforts if effort.nprobe is not None), default=None),
            deepens=any(effort.deepens for effort in efforts),
            exact=any(effort.exact for effort in efforts),
        )

    def tuned(self, options: SearchOptions) -> Fusion:
        """How the two halves are fused: by the index's tuning, with changes from the options."""
        own = self.fusion
        return replace(
            own,
            method=options.fusion or own.method,
            alpha=own.alpha if options.alpha is None else options.alpha,
            depth=own.depth if options.depth is None else options.depth,
        )

    def checked_mode(self, mode: Mode | None) -> Mode:
        """The requested mode, or the best one. Raises InvalidRequest for a mode that the index lacks."""
        if self.lacking and mode in MODES and mode not in self.modes:
            raise InvalidRequest(f"{self.lacking[0]}; leave out `mode={mode!r}`")
        chosen = self.modes[0] if mode is None else mode
        check_choice("mode", chosen, MODES)
        if chosen not in self.modes:
            lacks = "BM25" if self.has_vectors else "vectors"
            raise InvalidRequest(f"{self.path} has no {lacks}, so it cannot be searched in mode {chosen}; use `mode={self.modes[0]!r}`")
        return chosen

    def grouped(self, rankings: Sequence[Ranking], scopes: Sequence[Scope], k: int) -> Sequence[Ranking]:
        """The first k works of each ranking. Papers of the scopes may answer."""
        works = works_of_each(rankings, self._marks_at, lambda rows: self.papers_at(rows, NAMING))
        if len(self.generations) == 1:
            return [grouped(ranking, own, k) for ranking, own in zip(rankings, works, strict=True)]
        every = [grouped(ranking, own, len(ranking)) for ranking, own in zip(rankings, works, strict=True)]
        return [self._grouped(ranking, scope, k) for ranking, scope in zip(every, scopes, strict=True)]

    def _marks_at(self, rows: Rows) -> tuple[list[bytes], list[bytes]]:
        """Marks of the titles and of the DOIs of the papers at the given rows, see `papers.likenesses`."""
        titles, dois = (texts_at(self.shards, name, rows) for name in ("title", "doi"))
        return list(map(title_mark, titles)), list(map(doi_mark, dois))

    def _grouped(self, every: Ranking, scope: Scope, k: int) -> Ranking:
        """The first k works of a ranking of works."""
        first = self._with_fullest_copies(every.take(range(min(k, len(every)))), scope)
        if len(first) == min(k, len(every)):
            return first
        whole = self._with_fullest_copies(every, scope)
        return whole.take(range(min(k, len(whole))))

    def _with_fullest_copies(self, ranking: Ranking, scope: Scope) -> Ranking:
        """Replace each paper by its most complete copy that may answer, including copies that the search did not find. The found paper's
        scores stay."""
        rows, also, also_in = ranking.rows.copy(), list[list[str]](), list[list[str]]()
        kept, seen = list[int](), set[int]()
        for place, others in enumerate(self.copies(ranking.rows)):
            also.append([])
            also_in.append([])
            if int(rows[place]) in seen:  # a copy of an earlier work; only the copy that the search missed links the two
                continue
            kept.append(place)
            seen |= {int(rows[place]), *others.tolist()}
            members = [(ranking.indexes[place], ranking.ids[place]), *zip(ranking.also_in[place], ranking.also[place], strict=True)]
            copies = np.concatenate([rows[place : place + 1], scope.kept(others)])
            rows[place] = self._fullest(copies)
            shown = self.names_at(rows[place : place + 1])[0], self.ids(rows[place : place + 1])[0]
            pairs = dict.fromkeys([*members, *zip(self.names_at(others), self.ids(others), strict=True)])
            also_in[place] = [name for name, id in pairs if (name, id) != shown]
            also[place] = [id for name, id in pairs if (name, id) != shown]
        whole = replace(ranking, ids=self.ids(rows), rows=rows, indexes=self.names_at(rows), also=also, also_in=also_in)
        return whole if len(kept) == len(whole) else whole.take(kept)


def _names(paths: Sequence[Path]) -> tuple[str, ...]:
    """Names of indexes. Raises InvalidRequest if an index occurs twice."""
    resolved = [path.resolve() for path in paths]
    for number, path in enumerate(resolved):
        if path in resolved[:number]:
            raise InvalidRequest(f"the index {paths[number]} is given twice; leave out one of them")
    names = [path.name for path in resolved]
    return tuple(name if names.count(name) == 1 else str(path) for name, path in zip(names, paths, strict=True))


def _spaces(members: Sequence[Generation]) -> list[list[Generation]]:
    """Groups of indexes with the same encoder and metric, whose scores are comparable; empty if an index has no vectors."""
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


def _missing_halves(members: Mapping[str, Generation]) -> Iterator[str]:
    """Reasons why the indexes cannot be searched in every mode that some of them have, one sentence each.

    Raises InvalidRequest if they have no mode in common.
    """
    without = {
        "vectors": [name for name, member in members.items() if member.manifest.encoder is None],
        "BM25": [name for name, member in members.items() if member.manifest.lexical is None],
    }
    if without["vectors"] and without["BM25"]:
        raise InvalidRequest(
            f"{without['vectors'][0]} has no vectors, and {without['BM25'][0]} no BM25, so no mode can search both; "
            "take one index at a time"
        )
    for what, way in (("vectors", "words"), ("BM25", "meaning")):
        if 0 < len(without[what]) < len(members):
            have = "has" if len(without[what]) == 1 else "have"
            yield f"{enumerated(without[what])} {have} no {what}, so all indexes are searched by {way} alone"


def _statistics(members: Mapping[str, Generation]) -> Statistics | None:
    """BM25 statistics of all papers; None if an index lacks BM25. Raises InvalidRequest if the analyses differ."""
    facts_of = {name: member.manifest.lexical for name, member in members.items() if member.manifest.lexical is not None}
    if len(facts_of) < len(members):
        return None
    (first_name, first), *others = facts_of.items()
    for name, facts in others:
        if facts["analyzer"] != first["analyzer"]:
            older = name if facts["analyzer"].get("form", 0) < first["analyzer"].get("form", 0) else first_name
            raise InvalidRequest(
                f"{first_name} and {name} count words in different ways; `sciretrieve reindex -i {older}` recounts them in seconds"
            )
    return Statistics(**{name: sum(int(facts["statistics"][name]) for facts in facts_of.values()) for name in first["statistics"]})


def _common_value(values: Sequence[Value]) -> Value | None:
    """The value that all have in common; None if they differ."""
    return values[0] if all(value == values[0] for value in values) else None


def _dim(member: Generation) -> int:
    """Dimension of the vectors of an index that has vectors."""
    assert member.manifest.encoder is not None
    return int(member.manifest.encoder["dim"])

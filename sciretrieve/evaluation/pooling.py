"""Pooled judging: people judge the first papers of several runs, without seeing which run found a paper, or at which rank.

A pool is an append-only file, so that a crash loses no judgement:

    {"pool": 1, "time": "…"}                                                          first
    {"time": "…", "runs": ["bm25", "hybrid"], "depth": 20, "texts": {"q1": "…"}, "papers": {"q1": ["p7", …]}}      papers to judge
    {"time": "…", "query": "q1", "id": "p7", "grade": 2}                               a judgement; the last one on a paper counts

More runs may be added later, and then only what is new is judged. Sources: Sparck Jones and van Rijsbergen, "Report on the need for and
provision of an 'ideal' information retrieval test collection", 1975; Harman, "Overview of the First TREC", 1993.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..base.errors import InvalidRequest, NotFound
from ..base.types import Paper, Query
from ..files.appending import AppendedFile
from ..files.csv_files import csv_rows, tsv_rows, unguarded
from ..files.writing import write_whole
from ..metrics.judgements import LARGEST_GRADE, Qrels, RunScores, check_ids, grade_of, read_qrels
from ..metrics.measures import trec_order
from ..metrics.trec import qrels_line
from ..papers.corpora.formats import CSV

FORMAT = 1
DEPTH = 20
"""The default number of papers to judge per run and query."""


class Pool(AppendedFile):
    """A pool's file, open for one process."""

    def __init__(self, path: str | Path) -> None:
        """Open a pool, or a new one, whose file appears with its first runs.

        Raises:
            InvalidRequest: the file is no pool, or one of a later version; its line is named.
            IndexBusy: another process has it open.
        """
        super().__init__(Path(path))
        self._texts: dict[str, str] = {}
        self._papers: dict[str, dict[str, int | None]] = {}
        try:
            self._take(0)
        except BaseException:
            self.close()
            raise

    def __len__(self) -> int:
        """The number of papers to judge, counted for each query."""
        return sum(map(len, self._papers.values()))

    @property
    def queries(self) -> Mapping[str, str]:
        """The queries with their texts."""
        return self._texts

    @property
    def judgements(self) -> Qrels:
        """The judgements: query -> paper -> grade, without unjudged queries."""
        rows = {query: {id: grade for id, grade in papers.items() if grade is not None} for query, papers in self._papers.items()}
        return {query: row for query, row in rows.items() if row}

    def unjudged(self) -> Iterator[tuple[str, str]]:
        """The unjudged pairs (query, paper), query by query, in an order independent of ranks and runs."""
        yield from ((query, id) for query, id, grade in self.pairs() if grade is None)

    def pairs(self) -> Iterator[tuple[str, str, int | None]]:
        """All pairs of the pool in the same order: (query, paper, grade or None)."""
        for query, papers in self._papers.items():
            yield from ((query, id, papers[id]) for id in sorted(papers, key=lambda id: _blind_key(query, id)))

    def add(self, runs: Mapping[str, RunScores], queries: Sequence[Query], depth: int = DEPTH) -> int:
        """Add the first papers of runs to the pool, for queries with a text. Returns the number of new papers.

        Args:
            runs: by their names, see `read_runs`.
            queries: the queries with their texts; queries that no run answers are left out.
            depth: the number of papers per run and query; among equal scores the ones that trec_eval ranks first.

        Raises:
            InvalidRequest: no run answers any of these queries, or a query's text differs from the pool's.
        """
        if depth < 1:
            raise InvalidRequest(f"`depth` must be at least 1, not {depth}")
        papers: dict[str, list[str]] = {}
        texts: dict[str, str] = {}
        for query in queries:
            text = query.words
            if self._texts.get(query.id, text) != text:
                raise InvalidRequest(f"query {query.id!r} has another text in {self.path}; a pool has one set of queries")
            first = [id for run in runs.values() for id in trec_order(run.get(query.id, {}))[:depth]]
            known = self._papers.get(query.id, {})
            if new := [id for id in dict.fromkeys(first) if id not in known]:
                papers[query.id], texts[query.id] = sorted(new, key=lambda id: _blind_key(query.id, id)), text
        if not papers and not any(query.id in self._papers for query in queries):
            raise InvalidRequest("the runs answer none of the queries; do they belong to one collection?")
        if papers:
            start = [] if self.rows else [{"pool": FORMAT}]
            # one line for all, so that a crash keeps all or nothing
            count = len(self.rows)
            self.append([*start, {"runs": list(runs), "depth": depth, "texts": texts, "papers": papers}])
            self._take(count)
        return sum(map(len, papers.values()))

    def judge(self, judgements: Sequence[tuple[str, str, int]]) -> None:
        """Add judgements, (query, paper, grade) each, in one write; they are on disk when this returns.

        Raises InvalidRequest for a pair outside the pool, and for an invalid grade.
        """
        for query, id, grade in judgements:
            if id not in self._papers.get(query, {}):
                raise InvalidRequest(f"{self.path} has no paper {id!r} for query {query!r}")
            if not 0 <= grade <= LARGEST_GRADE:
                raise InvalidRequest(f"a grade is a whole number from 0 on, not {grade}")
        self.append({"query": query, "id": id, "grade": grade} for query, id, grade in judgements)
        for query, id, grade in judgements:
            self._papers[query][id] = grade

    def take_over(self, path: Path) -> int:
        """Import judgements from a table (.csv) with the columns query, id and grade, in which an empty grade is skipped, or from qrels.

        Returns the number of judgements. Pairs of qrels outside the pool are skipped; in a table, which is made from the pool, they are an
        error.

        Raises:
            NotFound: there is no such file.
            InvalidRequest: a column is missing, or a row is not a judgement of the pool; the row is named. Or the qrels judge nothing of
                it.
        """
        if path.suffix.lower() == ".csv":
            judgements = list(self._of_table(path))
        else:
            qrels = read_qrels(path)
            check_ids(self._papers, self.path, qrels, path)
            judgements = [(query, id, max(qrels[query][id], 0)) for query, id, _ in self.pairs() if id in qrels.get(query, {})]
        self.judge(judgements)
        return len(judgements)

    def _of_table(self, path: Path) -> Iterator[tuple[str, str, int]]:
        if not path.is_file():
            raise NotFound(f"there is no table {path}")
        for batch in CSV.read(path):
            if batch.rejected:
                raise InvalidRequest(f"{path}, row {batch.rejected[0].row}: {batch.rejected[0].reason}; correct the row, or remove it")
            columns = {name.strip().lower(): batch.table[name].to_pylist() for name in batch.table.column_names}
            if not {"query", "id", "grade"} <= columns.keys():
                raise InvalidRequest(f"{path} needs the columns query, id and grade, as the table that `pool` writes has them")
            for row, query, id, grade in zip(batch.rows, columns["query"], columns["id"], columns["grade"], strict=True):
                if (text := str(grade or "").strip()) == "":
                    continue
                pair = unguarded(str(query or "")), unguarded(str(id or ""))
                if pair[1] not in self._papers.get(pair[0], {}):  # a spreadsheet may have put blanks around them
                    pair = unguarded(str(query or "").strip()), unguarded(str(id or "").strip())
                if pair[1] not in self._papers.get(pair[0], {}):
                    raise InvalidRequest(f"{path}, row {row}: {self.path} has no paper {pair[1]!r} for query {pair[0]!r}")
                number = grade_of(path, row, text)
                if number < 0:
                    raise InvalidRequest(f"{path}, row {row}: a grade is a whole number from 0 on, not {text}")
                yield *pair, number

    def write_table(self, path: Path, papers: Mapping[str, Paper]) -> int:
        """Write a .csv with the unjudged papers and an empty column grade, for a spreadsheet. Returns the number of rows.

        Raises InvalidRequest for another suffix, and if `papers` lacks a paper.
        """
        if path.suffix.lower() != ".csv":
            raise InvalidRequest(f"cannot write {path.name}: the table is a .csv file")
        rows = [("query", "query_text", "id", "title", "abstract", "grade")]
        pairs = list(self.unjudged())
        for query, id in pairs:
            if (paper := papers.get(id)) is None:
                raise InvalidRequest(f"the text of the paper {id!r} is missing; nobody can judge it without")
            rows.append((query, self._texts[query], id, paper.title, paper.abstract, ""))
        write_whole(path, csv_rows(rows).encode("utf-8", "surrogatepass"))
        return len(pairs)

    def write_qrels(self, path: Path) -> int:
        """Write the judgements as BEIR's .tsv, or with any other suffix as TREC's qrels. Returns their number.

        Raises InvalidRequest for an id with a line break in BEIR's form, and for a pool without judgements.
        """
        rows = [(query, id, grade) for query, row in self.judgements.items() for id, grade in sorted(row.items())]
        if not rows:
            raise InvalidRequest(f"nothing of {self.path} is judged yet")
        if path.suffix.lower() == ".tsv":
            if name := next((name for query, id, _ in rows for name in (query, id) if {"\n", "\r"} & set(name)), ""):
                raise InvalidRequest(f"{path} cannot hold the id {name!r}, which has a line's end; write judgements.qrels")
            text = tsv_rows([("query-id", "corpus-id", "score"), *rows])
        else:
            text = "".join(f"{qrels_line(*row)}\n" for row in rows)
        write_whole(path, text.encode())
        return len(rows)

    def coverage(self, runs: Mapping[str, RunScores], depths: Sequence[int]) -> dict[str, dict[int, float]]:
        """By run and depth, the share of judged papers among a query's first ones (judged@k), the mean over the run's queries in the
        pool.
        """
        judged = self.judgements
        shares: dict[str, dict[int, float]] = {}
        for name, run in runs.items():
            rankings = {query: trec_order(run[query]) for query in self._papers if run.get(query)}
            shares[name] = {
                depth: float(np.mean([np.mean([id in judged.get(query, {}) for id in ids[:depth]]) for query, ids in rankings.items()]))
                for depth in depths
                if rankings
            }
        return shares

    def grades(self) -> dict[int, int]:
        """The number of papers of each grade, rising."""
        return dict(sorted(Counter(grade for row in self.judgements.values() for grade in row.values()).items()))

    def _take(self, first: int) -> None:
        """Read the file's rows from a given one on. Raises InvalidRequest."""
        for place in range(first, len(self.rows)):
            self._take_row(self.numbers[place], self.rows[place], is_first=place == 0)

    def _take_row(self, number: int, row: Mapping[str, Any], *, is_first: bool) -> None:
        """Read one row. Raises InvalidRequest."""
        match row:
            case {"pool": int(version)} if is_first:
                if version != FORMAT:
                    raise InvalidRequest(f"{self.path} has format {version}, and this version of sciretrieve reads {FORMAT}")
            case _ if is_first:
                raise InvalidRequest(f"{self.path}, line {number}: not the first line of a pool; name another file")
            case {"texts": dict(texts), "papers": dict(papers)}:
                for query, ids in papers.items():
                    self._texts.setdefault(query, str(texts.get(query, "")))
                    for id in ids:
                        self._papers.setdefault(query, {}).setdefault(str(id), None)
            case {"query": str(query), "id": str(id), "grade": int(grade)} if id in self._papers.get(query, {}):
                self._papers[query][id] = grade
            case _:
                raise InvalidRequest(f"{self.path}, line {number}: neither papers nor a judgement; correct the line, or remove it")


def _blind_key(query: str, id: str) -> str:
    """A sort key that orders a query's papers at random, but always in the same way."""
    return hashlib.sha256(f"{query}\0{id}".encode("utf-8", "surrogatepass")).hexdigest()

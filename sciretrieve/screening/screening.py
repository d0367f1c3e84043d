"""A screening session with its ranking: the next papers to read, imported decisions, and a report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Self

import numpy as np

from ..base.arguments import checked
from ..base.choices import check_count
from ..base.errors import InvalidRequest
from ..base.once import once
from ..base.types import Paper, Scores
from ..files.appending import as_line
from ..files.writing import make_folder, replaced
from ..query.narrowing import operators
from ..query.opening import AnyIndex
from .importing import TakenOver, matched, records_of
from .merging import merged_lines
from .model import RelevanceModel
from .prisma import Prisma, identified_by_column, identified_by_log
from .progress import in_a_row
from .report import write_report
from .rules import dry_run
from .session import Session


class Screening(Session):
    """A screening session over the papers of an index, stored in a file.

    >>> with sr.Screening(index, "review.jsonl", "graph networks") as session:
    ...     session.decide(relevant=[session.next(1)[0].id])
    ...     len(session.relevant)
    1
    """

    @classmethod
    @checked
    def merge(cls, index: AnyIndex, path: str | Path, files: Sequence[str | Path]) -> Self:
        """Merge sessions that several people made over the same papers into a new session, and open it.

        A paper is decided if all who decided on it agree. Otherwise it is in `unresolved` until it is decided in the new session. Settings,
        criteria and query come from the first session, reasons and notes from all. The random sample continues, see `merging`.

        Args:
            index: the index of the papers.
            path: the new session's file.
            files: the sessions' files. Their reviewers must have different names; an unnamed reviewer gets the file's name. A decision's
                line names its reviewer, whichever file it is in, so a decision that several copies share counts once.

        Raises:
            InvalidRequest: the new file exists, the sessions have different papers, or two have the same reviewer.
            NotFound: a session's file does not exist.
            IndexBusy: another process has a file open.

        >>> for name in ("ada", "bob"):
        ...     sr.Screening(index, f"{name}.jsonl", "graph networks", reviewer=name).close()
        >>> sr.Screening.merge(index, "both.jsonl", ["ada.jsonl", "bob.jsonl"]).close()
        """
        target = Path(path)
        if target.exists():
            raise InvalidRequest(f"{target} exists; sessions are merged into a new file, so name another")
        lines = [as_line(row) for row in merged_lines([Path(file) for file in files])]
        cls(index, files[0]).close()  # checks that its papers are the index's
        make_folder(target.parent)
        with replaced(target) as stream:
            stream.writelines(lines)
        return cls(index, target)

    @checked
    def take_over(self, path: str | Path) -> TakenOver:
        """Import decisions and notes from another session, a table, or an export of ASReview or Rayyan, see `importing`.

        If several people decided on a paper and disagree, it is unresolved. Records that match no paper to screen are left out.

        Raises as `importing.records_of`; then nothing is imported.

        >>> with sr.Screening(index, "old.jsonl", "graph networks") as old:
        ...     old.decide(relevant=["p0007"])
        >>> with sr.Screening(index, "new.jsonl", "graph networks") as session:
        ...     session.take_over("old.jsonl").decisions
        1
        """
        records = records_of(Path(path))
        places = matched(records, self.index, self.units)
        rows: list[Mapping[str, Any]] = []
        copied = set(self._file.decisions)  # decisions shared with a copy were made here as well, and may have changed
        for record, place in zip(records, places, strict=True):
            if record.decision in copied:
                record = replace(record, votes={})
            if place is not None and record.line:
                rows.append({"id": self.units.ids[place], "by": "", **record.line})
        self._keep(rows)
        lost = tuple(record.where for record, place in zip(records, places, strict=True) if place is None)
        return TakenOver(len({row["id"] for row in rows if "relevant" in row or "votes" in row}), lost)

    def next(self, count: int = 10) -> list[Paper]:
        """The next papers to read, at most `count`: the most likely relevant ones, or, once the ranking has run dry, the next ones of a
        random sample of the papers unread then.

        Raises:
            InvalidRequest: a count below 1, or neither a query nor a relevant paper to start from.

        >>> with sr.Screening(index, "next.jsonl", "graph networks") as session:
        ...     len(session.next(5))
        5
        """
        check_count(count, "count")
        if self._rule.draws_sample and in_a_row(decision.verdict for decision in self.decisions.values()) >= dry_run(len(self)):
            if self._file.sample is None and len(self.decisions) < len(self):
                self._begin_sample()
            order = [id for id in self._sample if id not in self.decisions][:count]
            if order:
                return self.index.papers(order)
        scores = self._scores()
        places = np.lexsort((np.array(self.units.ids), -scores))
        unread = (self.units.ids[place] for place in places.tolist() if self.units.ids[place] not in self.decisions)
        return self.index.papers([id for id, _ in zip(unread, range(count), strict=False)])

    @checked
    def report(self, folder: str | Path, *, log: str | Path | None = None, sources: str | None = None) -> Prisma:
        """Write prisma.json, prisma.svg and decisions.csv into a folder, and return PRISMA's numbers, see `report.write_report`.

        Args:
            folder: a new folder, or one whose files of these names are replaced.
            log: the log.json of the search strategy that found the index's papers. It says which records were identified, and where.
            sources: a column with each paper's source, in place of a log. By default, the index is the only source.

        Raises:
            InvalidRequest: both are given, the column does not exist, the log is invalid or belongs to another index, or the folder is a
                file.
            NotFound: the log does not exist.

        >>> with sr.Screening(index, "reported.jsonl", "graph networks") as session:
        ...     numbers = session.report("report")
        """
        if log is not None and sources is not None:
            raise InvalidRequest("a log and a column both say what was identified; name one of them")
        identified = identified_by_log(Path(log)) if log is not None else None
        if sources is not None:
            identified = identified_by_column(self.index, sources)
        return write_report(self, folder, identified)

    @once
    def _model(self) -> RelevanceModel:
        columns = self.index.snapshot.columns.names if ":" in self.query else ()
        return RelevanceModel(self.index, self.units.rows, operators.parse(self.query, columns).words if self.query else "")

    def _scores(self) -> Scores:
        """Scores of the papers, (papers,), greater for more likely relevant ones: from the search for the query, and from the first
        decision on from the model, which treats maybes and conflicts as relevant. Raises InvalidRequest."""
        examples = {self.units.place_of[id]: decision.verdict != "exclude" for id, decision in self.decisions.items()}
        if not any(examples.values()) and not self.query.strip():
            raise InvalidRequest("there is nothing to go by yet; give a query, or say of one paper that it is relevant")
        if not examples:
            run = self.index.search(self.query, self._papers, filter=self._settings["filter"], group=False)
            scores = np.full(len(self), -np.inf)
            for id, score in zip(run[0].ids, run[0].scores.tolist(), strict=True):
                if (place := self.units.place_of.get(id)) is not None:
                    scores[place] = max(scores[place], score)
            return scores
        return self._model.scores(list(examples), np.array(list(examples.values())), len(self))

"""A screening session: decisions on papers, stored in a file, and statistics on the unread papers."""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from ..base.arguments import checked
from ..base.choices import Filter, conditions, is_iterable
from ..base.errors import InvalidRequest, NoSuchPaper
from ..base.types import Papers, names_of
from ..base.wording import shortened
from ..files.streams import checked_text
from ..query.opening import AnyIndex, opened
from .agreement import Agreement, agreement_of
from .decisions import FORMAT, WRITTEN, Decision, DecisionFile, Verdict, decided
from .progress import status_of
from .rules import Status, stopping_rule
from .units import Units, near_identical

DEFAULTS: Mapping[str, Any] = {"recall": 0.95, "confidence": 0.95, "rule": "sample", "group": True}


class Session:
    """Decisions on the papers of an index, stored in a file, and their status.

    Attributes:
        index: the index.
        units: the units of decision: papers, with near-identical papers merged.
        undecided: ids of papers left out because the filter is undefined for them.
        decisions: the last decision on each read paper, in the order of reading. Near-identical papers have one entry; `Units.also` lists
            the others.
        notes: the last note, by paper.
        votes: verdicts of several reviewers, by paper; see `merge`.
    """

    @checked
    def __init__(
        self,
        index: AnyIndex,
        path: str | Path,
        query: str | None = None,
        *,
        filter: Filter = None,
        first: int | None = None,
        target: float | None = None,
        confidence: float | None = None,
        rule: str | None = None,
        group: bool | None = None,
        reasons: Iterable[str] = (),
        criteria: str | None = None,
        reviewer: str | None = None,
    ) -> None:
        """Begin a session, or continue the one in a file. When continuing, None keeps a setting.

        Args:
            index: the index; one given by folder or name is closed with the session.
            path: the session's file, see `decisions`; created if missing.
            query: the review's subject in words. Without it, the first papers must be given to `decide`.
            filter: only papers that pass are screened.
            first: number of papers to screen, the first in a search for the query.
            target: the wanted recall, above 0, at most 1; by default 0.95.
            confidence: the wanted probability of reaching it, between 0 and 1; by default 0.95.
            rule: the stopping rule: "sample" (default), a random sample of the unread papers, with a guarantee; "ranking", a test on the
                last papers read, without a guarantee; "budget:N", a number of papers; or "consecutive:N", irrelevant papers in a row. The
                last two say nothing about unread papers.
            group: whether near-identical papers are decided together, see `units`; by default they are.
            reasons: further reasons for exclusion.
            criteria: a text to show while reading, which replaces the previous one.
            reviewer: who decides from now on.

        Raises:
            InvalidRequest: a setting is invalid, or the file is no session or a session with other papers or settings.
            IndexBusy: another process has the file open.
        """
        self._open_files = ExitStack()
        try:
            self.index = self._open_files.enter_context(opened(index))
            self._file = DecisionFile(Path(path))
            self._open_files.callback(self._file.close)
            self._settings = _chosen_settings(
                self._file,
                {
                    "query": query,
                    "filter": None if filter is None else list(conditions(filter)),
                    "first": first,
                    "recall": target,
                    "confidence": confidence,
                    "rule": rule,
                    "group": group,
                },
            )
            self._rule = stopping_rule(self._settings["rule"])
            wanted = _clean_reasons(reasons)
            groups = self._open()
            if not self._file.start:
                facts = {
                    "generation": self.index.snapshot.manifest.generation,
                    "papers": self._papers,
                    "ids": self._digest,
                    "groups": groups,
                }
                self._file.append([{"screening": FORMAT, **self._settings, **facts}])
            self.add_reasons(wanted)
            if criteria is not None and criteria.strip() != self.criteria:
                self._file.append([{"criteria": checked_text(criteria.strip(), "criteria")}])
            if reviewer is not None and reviewer.strip() != self.reviewer:
                self._file.append([{"reviewer": checked_text(reviewer.strip(), "reviewer")}])
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Release the file for other processes. Closing twice does nothing.

        >>> sr.Screening(index, "closed.jsonl", "graph networks").close()
        """
        self._open_files.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def __len__(self) -> int:
        return len(self.units)

    @property
    def path(self) -> Path:
        """The session's file."""
        return self._file.path

    @property
    def settings(self) -> Mapping[str, Any]:
        """The session's original settings: query, filter, first, recall, confidence, rule and group; and its number of papers and
        generation."""
        return self._settings | {"papers": self._papers, "generation": self._file.start["generation"], "begun": self._file.start["time"]}

    @property
    def query(self) -> str:
        """The review's subject; empty if not given."""
        return str(self._settings["query"] or "")

    @property
    def reasons(self) -> Sequence[str]:
        """The known reasons for exclusion."""
        return self._file.reasons

    @property
    def criteria(self) -> str:
        """The text shown while reading; empty if not given."""
        return self._file.criteria

    @property
    def reviewer(self) -> str:
        """Who decides; empty if unnamed."""
        return self._file.reviewer

    @property
    def relevant(self) -> list[str]:
        """Ids of the relevant papers, in the order of reading."""
        return self.with_verdict("include")

    @property
    def irrelevant(self) -> list[str]:
        """Ids of the irrelevant papers, in the order of reading."""
        return self.with_verdict("exclude")

    @property
    def unresolved(self) -> list[str]:
        """Ids of read papers that are maybes or conflicts."""
        return [id for id, decision in self.decisions.items() if decision.verdict in ("maybe", None)]

    @property
    def agreement(self) -> Agreement | None:
        """Agreement of reviewers on the same papers; None if no paper has two. Unnamed reviewers are not counted."""
        return agreement_of([{name: verdict for name, verdict in votes.items() if name} for votes in self.votes.values()])

    def with_verdict(self, verdict: Verdict | None) -> list[str]:
        """Ids of the papers with this verdict, in the order of reading; None for conflicts.

        >>> with sr.Screening(index, "verdicts.jsonl", "graph networks") as session:
        ...     session.with_verdict("maybe")
        []
        """
        return [id for id, decision in self.decisions.items() if decision.verdict == verdict]

    @checked
    def decide(
        self,
        relevant: Papers = (),
        irrelevant: Papers = (),
        maybe: Papers = (),
        *,
        reason: str = "",
        note: str = "",
    ) -> None:
        """Record decisions: relevant, irrelevant and maybe. A later decision on a paper replaces an earlier one.

        They are on disk when this returns. A new reason for exclusion becomes known.

        Args:
            relevant, irrelevant, maybe: ids, of near-identical papers any.
            reason: why the irrelevant papers are excluded.
            note: a note on all of these papers.

        Raises:
            InvalidRequest: an id is not to be screened or occurs twice, or a reason is given without an exclusion. Then nothing is
                recorded.

        >>> with sr.Screening(index, "decided.jsonl", "graph networks", reasons=["not on graphs"]) as session:
        ...     session.decide(relevant=["p0007"], irrelevant=["p0012"], reason="not on graphs")
        """
        given: dict[Verdict, list[str]] = {
            "include": self._shown(relevant),
            "exclude": self._shown(irrelevant),
            "maybe": self._shown(maybe),
        }
        seen: dict[str, Verdict] = {}
        for verdict, ids in given.items():
            for id in ids:
                if seen.setdefault(id, verdict) != verdict:
                    raise InvalidRequest(f"{id!r} is given two decisions, {seen[id]} and {verdict}; say one of them")
        if reason.strip() and not given["exclude"]:
            raise InvalidRequest("a reason is for papers that are excluded; name one")
        if note.strip() and not seen:
            raise InvalidRequest("a note is for papers on which something is decided; name one")
        self._keep(
            [{"id": id, **decided(verdict, reason if verdict == "exclude" else "", note)} for verdict, ids in given.items() for id in ids]
        )

    @checked
    def note(self, id: Papers, text: str) -> None:
        """Record a note on a paper, which replaces the previous one. Raises NoSuchPaper if the paper is not to be screened.

        >>> with sr.Screening(index, "noted.jsonl", "graph networks") as session:
        ...     session.note("p0007", "ask the authors")
        """
        self._keep([{"id": shown, "note": checked_text(text.strip(), "note")} for shown in self._shown(id)])

    def add_reasons(self, reasons: Iterable[str]) -> None:
        """Add reasons for exclusion. Known ones are ignored.

        >>> with sr.Screening(index, "reasons.jsonl", "graph networks") as session:
        ...     session.add_reasons(["not on graphs"])
        """
        if new := [reason for reason in _clean_reasons(reasons) if self._known(reason) == reason and reason not in self.reasons]:
            self._file.append([{"reasons": new}])

    def _keep(self, rows: Sequence[Mapping[str, Any]]) -> None:
        """Append decisions, votes and notes to the file, see `decisions`. Their ids are those of shown papers."""
        self.add_reasons(row["reason"] for row in rows if "reason" in row)
        before = len(self._file.decisions)
        self._file.append({**row, "reason": self._known(row["reason"])} if "reason" in row else row for row in rows)
        self._take_in(before)

    @property
    def status(self) -> Status:
        """The session's status, and whether to stop."""
        verdicts = {id: decision.verdict for id, decision in self.decisions.items()}
        target, confidence, rule = (self._settings[name] for name in ("recall", "confidence", "rule"))
        return status_of(verdicts, self._sample, len(self), target, confidence, rule)

    def _open(self) -> list[list[str]]:
        """Find the papers to screen and apply the file's decisions. Returns the groups of near-identical papers. Raises InvalidRequest if
        the papers have changed since the session began."""
        scope = self.index.snapshot.narrower.passing(self._settings["filter"])
        self.undecided = self.index.snapshot.ids(scope.undecided)
        if (first := self._settings["first"]) is not None:
            run = self.index.search(self.query, first, filter=self._settings["filter"], group=False)
            scope = scope.among(run[0].rows)
        ids = self.index.snapshot.ids(scope.places)
        if not ids:
            raise InvalidRequest(f"no paper of {self.index.path} passes; there is nothing to screen")
        self._papers = len(ids)
        self._digest = hashlib.sha256("\n".join(sorted(ids)).encode()).hexdigest()
        start = self._file.start
        if start and start.get("ids") != self._digest:
            raise InvalidRequest(
                f"{self.path} was begun over other papers, in generation {start.get('generation')} of its index; open that one with "
                "`generation`, or begin another file and take these decisions over with `take_over`"
            )
        groups: list[list[str]] = (
            start.get("groups", []) if start else near_identical(self.index, scope.places) if self._settings["group"] else []
        )
        if not _are_groups(groups, set(ids)):
            raise InvalidRequest(f"{self.path}, line 1: not the first line of a screening session; name another file")
        self.units = Units.of(ids, scope.places, groups)
        for id, number in self._file.named.items():
            if id not in self.units.place_of:
                raise InvalidRequest(
                    f"{self.path}, line {number}: there is no paper {id!r} among those to screen; correct the line, or remove it"
                )
        self.decisions = dict[str, Decision]()
        self._take_in(0)
        self._sample = self._sample_order()
        return groups

    def _take_in(self, first: int) -> None:
        """Apply the file's decisions from number `first` on, and its notes and votes."""
        for decision in self._file.decisions[first:]:
            self.decisions[self._unit(decision.id)] = decision
        self.notes = {self._unit(id): note for id, note in self._file.notes.items() if note}
        self.votes = {self._unit(id): votes for id, votes in self._file.votes.items()}

    def _unit(self, id: str) -> str:
        """Id of the paper shown for this paper."""
        return self.units.ids[self.units.place_of[id]]

    def _shown(self, ids: Papers) -> list[str]:
        """Papers shown for the given papers, without repeats. Raises NoSuchPaper for one that is not to be screened."""
        requested = names_of(ids)
        for id in requested:
            if id not in self.units.place_of:
                raise NoSuchPaper(f"there is no paper {id!r} among the {self._papers:,} to screen; `sciretrieve search` shows ids")
        return list(dict.fromkeys(self._unit(id) for id in requested))

    def _known(self, reason: str) -> str:
        """A reason in its known spelling, ignoring case; unchanged if new."""
        text = " ".join(reason.split())
        return next((known for known in self.reasons if known.casefold() == text.casefold()), text)

    def _begin_sample(self) -> None:
        """Draw the random sample of the unread papers. Its seed is derived from the papers and decisions, so that nobody can choose it."""
        verdicts = [[id, WRITTEN[decision.verdict] if decision.verdict else None] for id, decision in self.decisions.items()]
        seed = int.from_bytes(hashlib.sha256(json.dumps([self._digest, verdicts]).encode()).digest()[:8], "big")
        self._file.append([{"seed": seed}])
        self._sample = self._sample_order()

    def _sample_order(self) -> list[str]:
        """Papers that were unread when the sample began, in random order; empty before it begins."""
        if self._file.sample is None:
            return []
        read = {self._unit(decision.id) for decision in self._file.decisions[: self._file.sample.after]}
        unread = sorted(id for id in self.units.ids if id not in read)
        random.Random(self._file.sample.seed).shuffle(unread)
        return unread


def _clean_reasons(reasons: Iterable[str]) -> list[str]:
    """Reasons with single blanks, without repeats. Raises InvalidRequest for an empty one."""
    if not is_iterable(reasons):
        raise InvalidRequest(f"reasons for exclusion are a list of strings, not {shortened(reasons)}")
    texts = [" ".join(checked_text(reason, "reason").split()) for reason in ([reasons] if isinstance(reasons, str) else reasons)]
    if not all(texts):
        raise InvalidRequest("a reason for exclusion is empty; say what it is")
    return list(dict.fromkeys(texts))


def _chosen_settings(file: DecisionFile, given: Mapping[str, Any]) -> dict[str, Any]:
    """A session's settings: those it began with, or for a new session the given ones.

    Args:
        file: the session's file.
        given: query, filter, first, recall, confidence, rule and group; None keeps the original or takes the default.

    Raises:
        InvalidRequest: a setting is invalid or differs from the session's, or the file lacks its settings.
    """
    if start := file.start:
        began: dict[str, Any] = {name: start.get(name) for name in given}
        if not all(_is_value(name, began[name]) for name in given):
            raise InvalidRequest(f"{file.path}, line 1: not the first line of a screening session; name another file")
        for name, value in given.items():
            if value is not None and value != began[name]:
                was, said = _setting_text(name, began[name]), _setting_text(name, value)
                raise InvalidRequest(f"{file.path} was begun with {was}, not {said}; leave it out to continue, or name another file")
        chosen = began
    else:
        if given["query"] is not None and not given["query"].strip():
            raise InvalidRequest("the query is empty; give some words, a sentence or a title")
        chosen = {name: DEFAULTS.get(name) if value is None else value for name, value in given.items()}
    if not 0 < chosen["recall"] <= 1:
        raise InvalidRequest(f"`target`, the share of the relevant papers to read, is above 0 and at most 1, not {chosen['recall']}")
    if not 0 < chosen["confidence"] < 1:
        raise InvalidRequest(f"a confidence lies between 0 and 1, not {chosen['confidence']}")
    if chosen["first"] is not None and (chosen["first"] < 1 or not (chosen["query"] or "").strip()):
        raise InvalidRequest("`first` is at least 1, and needs a query")
    return chosen


def _are_groups(groups: Any, ids: set[str]) -> bool:
    """Whether these are disjoint lists of at least two of the ids."""
    if not isinstance(groups, list) or not all(isinstance(group, list) and len(group) > 1 for group in groups):
        return False
    members = [id for group in groups for id in group]
    return all(isinstance(id, str) and id in ids for id in members) and len(set(members)) == len(members)


def _is_value(name: str, value: Any) -> bool:
    """Whether a file's value is valid for this setting."""
    if name == "filter":
        return value is None or (isinstance(value, list) and all(isinstance(condition, str) for condition in value))
    numbers, kinds = int | float, {"query": str | None, "first": int | None, "rule": str, "group": bool}
    return isinstance(value, kinds.get(name, numbers))


def _setting_text(name: str, value: Any) -> str:
    name = {"recall": "target"}.get(name, name)
    return f"no {name}" if value is None else f"{name} {value!r}"

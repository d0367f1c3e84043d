"""A screening session: decisions on papers, kept in a file, and what they say of the papers that nobody has read."""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from ..base.choices import Filter, conditions
from ..base.errors import InvalidRequest
from ..files.streams import checked_text
from ..query.index import Index
from ..query.snapshot import as_ids
from .agreement import Agreement, agreement_of
from .decisions import FORMAT, WRITTEN, Decision, DecisionFile, Verdict, decided
from .progress import status_of
from .rules import Status, stopping_rule
from .units import Units, near_identical

DEFAULTS: Mapping[str, Any] = {"recall": 0.95, "confidence": 0.95, "rule": "sample", "group": True}


class Session:
    """Decisions on the papers of an index, kept in a file, and how far they are.

    Attributes:
        index: whose papers are screened.
        units: what is decided on: papers, of which near-identical ones are one.
        undecided: ids of papers that are left out, since the filter cannot compare their values.
        decisions: the last decision on each paper that was read, in the order in which they were first read. Of near-identical papers,
            one is here, and `Units.also` has the others.
        notes: the last note on each paper that has one.
        votes: what several people decided, by paper; see `merge`.
    """

    def __init__(
        self,
        index: Index,
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
        """Begin a session, or continue the one in a file; what is None is then as it was when it began.

        Args:
            index: whose papers are screened.
            path: the session's file, see `decisions`; a new one is made.
            query: what the review is about, in words. Without one, the first papers must be named by `decide`.
            filter: only papers that pass are screened.
            first: only so many papers are screened, those that a search for the query ranks first.
            target: the share of the relevant papers that is to be read, above 0, at most 1; 0.95 if nothing is said.
            confidence: how sure to be of that, above 0, below 1; 0.95 if nothing is said.
            rule: what the stopping rule goes by: "sample" (if nothing is said), a random sample of the unread papers, which has a
                guarantee; "ranking", the papers that were read last, which has none; "budget:N", a number of papers that can be read; or
                "consecutive:N", so many irrelevant papers in a row. The last two say nothing of the unread.
            group: whether near-identical papers are decided on as one, see `units`; they are if nothing is said.
            reasons: reasons for exclusion, which add to those that are known.
            criteria: a text that is shown while somebody reads, in place of the one before.
            reviewer: who decides from here on.

        Raises:
            InvalidRequest: no such settings; or the file is no session's, or one over other papers or with other settings.
            IndexBusy: another process has the file open.
        """
        self.index = index
        self._file = DecisionFile(Path(path))
        try:
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
            wanted = _cleaned(reasons)
            groups = self._open()
            if not self._file.start:
                facts = {"generation": index.snapshot.manifest.generation, "papers": self._papers, "ids": self._digest, "groups": groups}
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
        """Let another process continue the session. Closing twice does nothing."""
        self._file.close()

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
        """How the session began: query, filter, first, recall, confidence, rule, group; and how many papers it has, in which generation."""
        return self._settings | {"papers": self._papers, "generation": self._file.start["generation"], "begun": self._file.start["time"]}

    @property
    def query(self) -> str:
        """What the review is about; empty if nothing was said."""
        return str(self._settings["query"] or "")

    @property
    def reasons(self) -> Sequence[str]:
        """The reasons for exclusion that are known."""
        return self._file.reasons

    @property
    def criteria(self) -> str:
        """What is shown while somebody reads; empty if nothing was said."""
        return self._file.criteria

    @property
    def reviewer(self) -> str:
        """Who decides; empty if nobody was named."""
        return self._file.reviewer

    @property
    def relevant(self) -> list[str]:
        """The ids of the relevant papers, in the order in which they were first read."""
        return self.with_verdict("include")

    @property
    def irrelevant(self) -> list[str]:
        """The ids of the irrelevant papers, in that order."""
        return self.with_verdict("exclude")

    @property
    def unresolved(self) -> list[str]:
        """The ids of the papers that are read and neither relevant nor irrelevant: maybes, and those on which people disagree."""
        return [id for id, decision in self.decisions.items() if decision.verdict in ("maybe", None)]

    @property
    def agreement(self) -> Agreement | None:
        """How far those who decided on the same papers agree; None where no two did. Somebody without a name is not counted."""
        return agreement_of([{name: verdict for name, verdict in votes.items() if name} for votes in self.votes.values()])

    def with_verdict(self, verdict: Verdict | None) -> list[str]:
        """The ids of the papers on which that was decided, in the order in which they were first read; None: people disagree."""
        return [id for id, decision in self.decisions.items() if decision.verdict == verdict]

    def decide(
        self,
        relevant: str | Iterable[str] = (),
        irrelevant: str | Iterable[str] = (),
        maybe: str | Iterable[str] = (),
        *,
        reason: str = "",
        note: str = "",
    ) -> None:
        """Keep decisions: these papers are relevant, those are not, and others may be. A later decision on a paper replaces an earlier one.

        They are on disk when this returns. A reason for exclusion that is new adds to those that are known.

        Args:
            relevant, irrelevant, maybe: ids; of near-identical papers any.
            reason: why the irrelevant ones are excluded.
            note: what else is to be kept of all of them.

        Raises:
            InvalidRequest: an id is not among the papers to screen, or twice; or there is a reason, and nothing is excluded. Then no
                decision is kept.
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

    def note(self, id: str, text: str) -> None:
        """Keep a note on a paper, in place of the one before. Raises InvalidRequest where there is no such paper."""
        self._keep([{"id": shown, "note": checked_text(text.strip(), "note")} for shown in self._shown(id)])

    def add_reasons(self, reasons: Iterable[str]) -> None:
        """Let more reasons for exclusion be known; those that are known already make no difference."""
        if new := [reason for reason in _cleaned(reasons) if self._known(reason) == reason and reason not in self.reasons]:
            self._file.append([{"reasons": new}])

    def _keep(self, rows: Sequence[Mapping[str, Any]]) -> None:
        """Append decisions, votes and notes as lines of the file, see `decisions`, whose ids are those of shown papers."""
        self.add_reasons(row["reason"] for row in rows if "reason" in row)
        before = len(self._file.decisions)
        self._file.append({**row, "reason": self._known(row["reason"])} if "reason" in row else row for row in rows)
        self._take_in(before)

    @property
    def status(self) -> Status:
        """How far the session is, and whether to stop."""
        verdicts = {id: decision.verdict for id, decision in self.decisions.items()}
        target, confidence, rule = (self._settings[name] for name in ("recall", "confidence", "rule"))
        return status_of(verdicts, self._sample, len(self), target, confidence, rule)

    def _open(self) -> list[list[str]]:
        """Find the papers to screen, and what was decided on them; returns their groups of near-identical ones. Raises InvalidRequest if
        the papers are others than when the session began."""
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
        self._sample = self._drawn()
        return groups

    def _take_in(self, first: int) -> None:
        """Take in the file's decisions from the one with that number on, and its notes and votes."""
        for decision in self._file.decisions[first:]:
            self.decisions[self._unit(decision.id)] = decision
        self.notes = {self._unit(id): note for id, note in self._file.notes.items() if note}
        self.votes = {self._unit(id): votes for id, votes in self._file.votes.items()}

    def _unit(self, id: str) -> str:
        """The id of the paper that is shown for it."""
        return self.units.ids[self.units.place_of[id]]

    def _shown(self, ids: str | Iterable[str]) -> list[str]:
        """The papers that are shown for the given ones, each once. Raises InvalidRequest for an id that is not to be screened."""
        listed = list(as_ids(ids) if isinstance(ids, str) else ids)
        for id in listed:
            if id not in self.units.place_of:
                raise InvalidRequest(f"there is no paper {id!r} among the {self._papers:,} to screen; `sciretrieve search` shows ids")
        return list(dict.fromkeys(self._unit(id) for id in listed))

    def _known(self, reason: str) -> str:
        """A reason as it is known, whatever its case; itself if it is new."""
        text = " ".join(reason.split())
        return next((known for known in self.reasons if known.casefold() == text.casefold()), text)

    def _begin_sample(self) -> None:
        """Draw the random sample of what is unread. Its seed is another for all other papers and decisions, and the same for the same, so
        that nobody can choose it."""
        verdicts = [[id, WRITTEN[decision.verdict] if decision.verdict else None] for id, decision in self.decisions.items()]
        seed = int.from_bytes(hashlib.sha256(json.dumps([self._digest, verdicts]).encode()).digest()[:8], "big")
        self._file.append([{"seed": seed}])
        self._sample = self._drawn()

    def _drawn(self) -> list[str]:
        """All papers that were unread when the sample began, in its random order; none before it begins."""
        if self._file.sample is None:
            return []
        read = {self._unit(decision.id) for decision in self._file.decisions[: self._file.sample.after]}
        unread = sorted(id for id in self.units.ids if id not in read)
        random.Random(self._file.sample.seed).shuffle(unread)
        return unread


def _cleaned(reasons: Iterable[str]) -> list[str]:
    """Reasons with single blanks, each once. Raises InvalidRequest for one that is empty."""
    texts = [" ".join(checked_text(reason, "reason").split()) for reason in ([reasons] if isinstance(reasons, str) else reasons)]
    if not all(texts):
        raise InvalidRequest("a reason for exclusion is empty; say what it is")
    return list(dict.fromkeys(texts))


def _chosen_settings(file: DecisionFile, given: Mapping[str, Any]) -> dict[str, Any]:
    """A session's settings: those it began with, or for a new one the given ones.

    Args:
        file: the session's file.
        given: query, filter, first, recall, confidence, rule and group; None is what it was, or the default.

    Raises:
        InvalidRequest: there are no such settings, the session began with others, or the file does not say how it began.
    """
    if start := file.start:
        began: dict[str, Any] = {name: start.get(name) for name in given}
        if not all(_is_value(name, began[name]) for name in given):
            raise InvalidRequest(f"{file.path}, line 1: not the first line of a screening session; name another file")
        for name, value in given.items():
            if value is not None and value != began[name]:
                was, said = _in_words(name, began[name]), _in_words(name, value)
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
        raise InvalidRequest("the first papers of a query are screened: at least one, and there must be a query")
    return chosen


def _are_groups(groups: Any, ids: set[str]) -> bool:
    """Whether these are lists of two papers or more, none of which is in two."""
    if not isinstance(groups, list) or not all(isinstance(group, list) and len(group) > 1 for group in groups):
        return False
    members = [id for group in groups for id in group]
    return all(isinstance(id, str) and id in ids for id in members) and len(set(members)) == len(members)


def _is_value(name: str, value: Any) -> bool:
    """Whether a file may say this of a setting."""
    if name == "filter":
        return value is None or (isinstance(value, list) and all(isinstance(condition, str) for condition in value))
    numbers, kinds = int | float, {"query": str | None, "first": int | None, "rule": str, "group": bool}
    return isinstance(value, kinds.get(name, numbers))


def _in_words(name: str, value: Any) -> str:
    name = {"recall": "target"}.get(name, name)
    return f"no {name}" if value is None else f"{name} {value!r}"

"""A screening session: decisions on papers, which papers to read next, and what is known of the papers that nobody has read."""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Self, TypeAlias

import numpy as np

from ..choices import Filter, check_choice
from ..errors import InvalidRequest
from ..once import once
from ..query.index import Index
from ..query.narrowing import operators
from ..query.snapshot import as_ids
from ..types import Paper, Scores
from .bounds import least_relevant, most_relevant, ranked_p_value
from .decisions import DecisionFile, labels_of
from .model import Model

Rule: TypeAlias = Literal["sample", "ranking"]
"""What the stopping rule goes by."""
RULES: tuple[Rule, ...] = ("sample", "ranking")
DRY, DRY_SHARE = 50, 0.05
"""Irrelevant papers in a row after which a random sample is read instead of the ranking: at least so many, and at least this share of all
papers, as what a sample costs grows with them, too. Measured, see docs/screening.md."""


@dataclass(frozen=True, slots=True)
class Status:
    """How far a session is.

    Attributes:
        papers: how many papers there are to screen.
        read: on how many of them there is a decision.
        relevant: how many of these are relevant.
        rule: what the stopping rule goes by.
        target: the recall to be reached.
        confidence: the probability of what is claimed.
        sampled: how many papers of the random sample were read; 0 before it begins.
        sampled_relevant: how many of these are relevant.
        recall: the estimate of the share of the relevant papers that were read; None without a sample.
        low, high: what that share is at least and at most, each with the probability `confidence`, at all moments of the session at
            once; None without a sample.
        p_value: of a recall below the target, if the ranking was no worse than chance; see `ranked_p_value`.
        stop: whether the stopping rule says that enough is read.
    """

    papers: int
    read: int
    relevant: int
    rule: Rule
    target: float
    confidence: float
    sampled: int
    sampled_relevant: int
    recall: float | None
    low: float | None
    high: float | None
    p_value: float
    stop: bool

    @property
    def unread(self) -> int:
        """How many papers there is no decision on."""
        return self.papers - self.read

    @property
    def claim(self) -> str:
        """What may be said of the recall now, and on what assumption, as a sentence."""
        sure, target = f"{100 * self.confidence:g} %", f"{100 * self.target:g} %"
        if not self.unread:
            return "all papers are read"
        if self.rule == "ranking":
            assumption = "if the ranking finds no less than chance does (no guarantee)"
            verdict = "stop" if self.stop else "go on"
            return f"{verdict}: p = {self.p_value:.3g} that less than {target} of the relevant papers are read, {assumption}"
        if self.low is None:
            begins = f"after {dry_run(self.papers):,} irrelevant papers in a row"
            return f"go on: the recall is estimated from a random sample, which begins {begins}"
        known = f"{sure} sure that at least {100 * self.low:.1f} % of the relevant papers are read (from a random sample of the unread)"
        return f"stop: {known}" if self.stop else f"go on: {known}; {target} is wanted"


class Screening:
    """A screening session over the papers of an index, kept in a file.

    Attributes:
        index: whose papers are screened.
        undecided: ids of papers that are left out, since the filter cannot compare their values.
    """

    def __init__(
        self,
        index: Index,
        path: str | Path,
        query: str | None = None,
        *,
        filter: Filter = None,
        first: int | None = None,
        recall: float | None = None,
        confidence: float | None = None,
        rule: Rule | None = None,
    ) -> None:
        """Begin a session, or continue the one in a file; what is None is then as it was when it began.

        Args:
            index: whose papers are screened.
            path: the session's file, see `decisions`; a new one is made.
            query: what the review is about, in words. Without one, the first papers must be named by `decide`.
            filter: only papers that pass are screened.
            first: only so many papers are screened, those that a search for the query ranks first.
            recall: the share of the relevant papers that is to be read, above 0, at most 1; 0.95 if nothing is said.
            confidence: how sure to be of that, above 0, below 1; 0.95 if nothing is said.
            rule: what the stopping rule goes by: "sample" (if nothing is said), a random sample of the unread papers, which has a
                guarantee; or "ranking", the papers that were read last, which has none.

        Raises:
            InvalidRequest: no such settings; or the file is no session's, or one over other papers or with other settings.
            IndexBusy: another process has the file open.
        """
        self.index = index
        self._file = DecisionFile(Path(path))
        try:
            self._settings = self._chosen(
                {
                    "query": query,
                    "filter": None if filter is None else [filter] if isinstance(filter, str) else list(filter),
                    "first": first,
                    "recall": recall,
                    "confidence": confidence,
                    "rule": rule,
                }
            )
            self._open()
            if not self._file.start:
                facts = {"generation": index.manifest.generation, "papers": len(self), "ids": self._digest}
                self._file.begin({**self._settings, **facts})
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
        return len(self._ids)

    @property
    def path(self) -> Path:
        """The session's file."""
        return self._file.path

    @property
    def query(self) -> str:
        """What the review is about; empty if nothing was said."""
        return str(self._settings["query"] or "")

    @property
    def decisions(self) -> Mapping[str, bool]:
        """The papers on which there is a decision, in the order in which they were first read, and whether they are relevant."""
        return self._labels

    @property
    def relevant(self) -> list[str]:
        """The ids of the relevant papers, in that order."""
        return [id for id, is_relevant in self._labels.items() if is_relevant]

    @property
    def irrelevant(self) -> list[str]:
        """The ids of the irrelevant papers, in that order."""
        return [id for id, is_relevant in self._labels.items() if not is_relevant]

    def decide(self, relevant: str | Iterable[str] = (), irrelevant: str | Iterable[str] = ()) -> None:
        """Keep decisions: these papers are relevant, and those are not. A later decision on a paper replaces an earlier one.

        They are on disk when this returns.

        Raises:
            InvalidRequest: an id is not among the papers to screen, or in both; then no decision is kept.
        """
        wanted, unwanted = (list(as_ids(ids) if isinstance(ids, str) else ids) for ids in (relevant, irrelevant))
        for id in [*wanted, *unwanted]:
            if id not in self._place_of:
                raise InvalidRequest(f"there is no paper {id!r} among the {len(self):,} to screen; `sciretrieve search` shows ids")
        if both := set(wanted) & set(unwanted):
            raise InvalidRequest(f"{min(both)!r} is said to be relevant and irrelevant; say one of them")
        decisions = [(id, True) for id in wanted] + [(id, False) for id in unwanted]
        if decisions:
            self._file.decide(decisions)
            self._labels.update(decisions)

    def take_over(self, path: str | Path) -> int:
        """Keep decisions made elsewhere, see `decisions.labels_of`; says how many. Papers that are not to be screened here are left out.

        Raises as `labels_of`.
        """
        labels = {id: is_relevant for id, is_relevant in labels_of(Path(path)) if id in self._place_of}
        self.decide([id for id in labels if labels[id]], [id for id in labels if not labels[id]])
        return len(labels)

    def next(self, count: int = 10) -> list[Paper]:
        """The papers to read next, fewer where fewer are left: the likeliest to be relevant, or, once these have run dry, the next
        ones of a random sample of what was unread then.

        Raises:
            InvalidRequest: a count below 1, or there is neither a query nor a relevant paper to begin with.
        """
        if count < 1:
            raise InvalidRequest(f"at least 1 paper must be asked for, not {count}")
        if self._settings["rule"] == "sample" and self._is_dry():
            if self._file.sample is None and len(self._labels) < len(self):
                self._file.begin_sample(self._seed())
                self._sample = self._drawn()
            order = [id for id in self._sample if id not in self._labels][:count]
            if order:
                return self.index.papers(order)
        scores = self._scores()
        places = np.lexsort((self._ids_array, -scores))
        unread = (self._ids[place] for place in places.tolist() if self._ids[place] not in self._labels)
        return self.index.papers([id for id, _ in zip(unread, range(count), strict=False)])

    @property
    def status(self) -> Status:
        """How far the session is, and whether to stop."""
        labels, target, confidence = self._labels, self._settings["recall"], self._settings["confidence"]
        relevant = sum(labels.values())
        sampled = self._sampled()
        places = [place for place, id in enumerate(sampled) if labels[id]]
        recall = low = high = None
        if sampled:
            urn = set(self._sample)
            in_urn = sum(is_relevant for id, is_relevant in labels.items() if id in urn)
            before = relevant - in_urn
            expected = len(places) / len(sampled) * len(urn)
            most = max(most_relevant(places, len(sampled), len(urn), confidence), in_urn)
            most = min(most, in_urn + len(self) - len(labels))
            least = max(least_relevant(places, len(urn), confidence), in_urn)
            recall, low, high = (_share(relevant, before + max(total, in_urn)) for total in (min(expected, most), most, least))
        p_value = ranked_p_value(list(labels.values()), len(self), target)
        if len(labels) == len(self):
            recall, low, high, p_value = 1.0, 1.0, 1.0, 0.0
        rule: Rule = self._settings["rule"]
        stop = p_value <= 1 - confidence if rule == "ranking" else low is not None and low >= target
        return Status(
            len(self), len(labels), relevant, rule, target, confidence, len(sampled), len(places), recall, low, high, p_value, stop
        )

    def _chosen(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """The session's settings: those it began with, or for a new one the given ones. Raises InvalidRequest."""
        if start := self._file.start:
            if not all(_is_value(name, start.get(name)) for name in given):
                raise InvalidRequest(f"{self.path}, line 1: not the first line of a screening session; name another file")
            chosen: dict[str, Any] = {}
            for name, value in given.items():
                chosen[name] = start.get(name)
                if value is not None and value != chosen[name]:
                    was, said = _in_words(name, chosen[name]), _in_words(name, value)
                    raise InvalidRequest(f"{self.path} was begun with {was}, not {said}; leave it out to continue, or name another file")
        else:
            if given["query"] is not None and not given["query"].strip():
                raise InvalidRequest("the query is empty; give some words, a sentence or a title")
            defaults: dict[str, Any] = {"recall": 0.95, "confidence": 0.95, "rule": "sample"}
            chosen = {name: defaults.get(name) if value is None else value for name, value in given.items()}
        if not 0 < chosen["recall"] <= 1:
            raise InvalidRequest(f"a recall to reach is above 0 and at most 1, not {chosen['recall']}")
        if not 0 < chosen["confidence"] < 1:
            raise InvalidRequest(f"a confidence lies between 0 and 1, not {chosen['confidence']}")
        check_choice("rule", chosen["rule"], RULES)
        if chosen["first"] is not None and (chosen["first"] < 1 or not (chosen["query"] or "").strip()):
            raise InvalidRequest("the first papers of a query are screened: at least one, and there must be a query")
        return chosen

    def _open(self) -> None:
        """Find the papers to screen, and what was decided on them. Raises InvalidRequest if they are others than when it began."""
        scope = self.index.narrower.passing(self._settings["filter"])
        self.undecided = self.index.ids(scope.undecided)
        if (first := self._settings["first"]) is not None:
            run = self.index.search(self.query, first, filter=self._settings["filter"], group=False)
            scope = scope.among(run[0].rows)
        self._rows = scope.places
        self._ids = self.index.ids(self._rows)
        if not self._ids:
            raise InvalidRequest(f"no paper of {self.index.path} passes; there is nothing to screen")
        self._ids_array = np.array(self._ids)
        self._place_of = {id: place for place, id in enumerate(self._ids)}
        self._digest = hashlib.sha256("\n".join(sorted(self._ids)).encode()).hexdigest()
        start = self._file.start
        if start and start.get("ids") != self._digest:
            raise InvalidRequest(
                f"{self.path} was begun over other papers, in generation {start.get('generation')} of its index; open that one with "
                "--generation, or begin another file and take these decisions over with --import"
            )
        for decision in self._file.decisions:
            if decision.id not in self._place_of:
                raise InvalidRequest(
                    f"{self.path}, line {decision.number}: there is no paper {decision.id!r} among those to screen; correct the line, "
                    "or remove it"
                )
        self._labels = {decision.id: decision.relevant for decision in self._file.decisions}
        self._sample = self._drawn()

    def _seed(self) -> int:
        """The random sample's seed: another for all other papers and decisions, the same for the same, so that nobody can choose it."""
        text = json.dumps([self._digest, list(self._labels.items())])
        return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")

    def _drawn(self) -> list[str]:
        """All papers that were unread when the sample began, in its random order; none before it begins."""
        if self._file.sample is None:
            return []
        seed, count = self._file.sample
        read = {decision.id for decision in self._file.decisions[:count]}
        unread = sorted(id for id in self._ids if id not in read)
        random.Random(seed).shuffle(unread)
        return unread

    def _sampled(self) -> list[str]:
        """The papers of the sample that are read: as far as there is a decision on every one, however it came to be read."""
        for place, id in enumerate(self._sample):
            if id not in self._labels:
                return self._sample[:place]
        return self._sample

    def _is_dry(self) -> bool:
        """Whether the last papers read were irrelevant, so many that the ranking has little more to offer."""
        length = dry_run(len(self))
        last = list(self._labels.values())[-length:]
        return len(last) == length and not any(last)

    @once
    def _model(self) -> Model:
        columns = self.index.columns.names if ":" in self.query else ()
        return Model(self.index, self._rows, operators.parse(self.query, columns).words if self.query else "")

    def _scores(self) -> Scores:
        """How likely each paper is to be relevant, (papers,): as the search for the query ranks them, and from the first decision on as
        the decisions teach. Raises InvalidRequest."""
        if not any(self._labels.values()) and not self.query.strip():
            raise InvalidRequest("there is nothing to go by yet; give a query, or say of one paper that it is relevant")
        if not self._labels:
            run = self.index.search(self.query, len(self), filter=self._settings["filter"], group=False)
            scores = np.full(len(self), -np.inf)
            for id, score in zip(run[0].ids, run[0].scores.tolist(), strict=True):
                if id in self._place_of:
                    scores[self._place_of[id]] = score
            return scores
        return self._model.scores([self._place_of[id] for id in self._labels], np.array(list(self._labels.values())), len(self))


def dry_run(papers: int) -> int:
    """After how many irrelevant papers in a row a ranking of so many papers has run dry."""
    return max(DRY, round(DRY_SHARE * papers))


def _share(count: int, total: float) -> float:
    return count / total if total else 1.0


def _is_value(name: str, value: Any) -> bool:
    """Whether a file may say this of a setting."""
    if name == "filter":
        return value is None or (isinstance(value, list) and all(isinstance(condition, str) for condition in value))
    kinds: dict[str, Any] = {"query": str | None, "first": int | None, "recall": int | float, "confidence": int | float, "rule": str}
    return isinstance(value, kinds[name])


def _in_words(name: str, value: Any) -> str:
    return f"no {name}" if value is None else f"{name} {value!r}"

"""Several processes, and several threads, on one index: each answer is exactly that of the generation that its reader has open."""

from __future__ import annotations

import shutil
import tempfile
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

import sciretrieve as sr
from sciretrieve.base.choices import Mode
from sciretrieve.base.errors import IndexBusy, IndexExists, InvalidRequest, NotFound
from sciretrieve.storage.manifest import generations, read_manifest
from tests.conftest import Effort
from tests.torture.peers import QUERIES, Answers, Papers, Remote, Stage, answers
from tests.torture.peers import change as make
from tests.toy_encoder import LetterEncoder

IDS = tuple(f"p{number}" for number in range(10))
VERSIONS = 3
READERS, WRITERS = 2, 2
THREADS = 4
FURTHEST = 90
"""Steps before which a change is paused; the longest have about as many."""

State = dict[str, int]
"""The papers of a generation, by id: which version of each."""


def paper(id: str, version: int) -> dict[str, Any]:
    words = ("alpha", "beta", "gamma", "delta", "epsilon")
    number = int(id[1:])
    title = f"{words[number % 5]} {words[(number * version) % 3]}" + " revised" * version
    return {"id": id, "title": title, "abstract": " ".join(words[: (number + version) % 5]), "version": version}


def papers_of(state: State) -> Papers:
    return [paper(id, version) for id, version in state.items()]


def state_of(path: Path, generation: int | None = None) -> State:
    """What is in a generation on disk."""
    with sr.open(path, generation=generation) as index:
        rows = [row for table in index.snapshot.tables(["id", "version"]) for row in table.to_pylist()]
    state = {row["id"]: row["version"] for row in rows}
    assert len(state) == len(rows)
    return state


@pytest.fixture(scope="module")
def stage() -> Iterator[Stage]:
    """The process that starts all others."""
    with Stage() as process:
        yield process


class Afresh:
    """The answers of indexes built afresh, each set of papers once."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._answers: dict[frozenset[tuple[str, int]], Answers] = {}

    def __getitem__(self, state: State) -> Answers:
        key = frozenset(state.items())
        if key not in self._answers:
            ordered = dict(sorted(state.items()))
            path = self._folder / str(len(self._answers))
            sr.build(papers_of(ordered), path, encoder="letters", shard_size=4).close()
            with sr.open(path, encoder=LetterEncoder()) as index:
                self._answers[key] = answers(index)
            shutil.rmtree(path)
        return self._answers[key]


@dataclass(frozen=True)
class Change:
    """A change that a writer is told to make."""

    command: str
    papers: State = field(default_factory=dict)
    ids: tuple[str, ...] = ()
    resume: bool = True

    def after(self, state: State) -> State | None:
        """What the index is to have then; None if the change is to be refused."""
        if self.command == "add":
            return {**state, **self.papers}
        if self.command in ("sync", "overwrite"):
            return self.papers or None
        if self.command == "delete":
            return {id: state[id] for id in state if id not in self.ids} or None if self.ids and state.keys() >= set(self.ids) else None
        return state

    @property
    def is_request(self) -> bool:
        """Whether there is something to do at all: else it is refused before the lock is asked for."""
        return self.command != "delete" or bool(self.ids)

    def arguments(self, path: Path) -> tuple[Any, ...]:
        return path, self.command, papers_of(self.papers), list(self.ids), self.resume


states = st.dictionaries(st.sampled_from(IDS), st.integers(0, VERSIONS - 1), min_size=1, max_size=len(IDS))
changes = st.one_of(
    st.builds(Change, st.sampled_from(["add", "sync"]), states, resume=st.sampled_from([True, True, False])),
    st.builds(Change, st.just("delete"), ids=st.lists(st.sampled_from(IDS), max_size=3).map(tuple)),
    st.builds(Change, st.just("merge")),
    st.builds(Change, st.just("overwrite"), states, resume=st.booleans()),
)
a_writer, a_reader = st.integers(0, WRITERS - 1), st.integers(0, READERS - 1)


class Processes(RuleBasedStateMachine):
    """Readers and writers of one index, and what each generation of it must have.

    Every rule may be chosen at any time, and does nothing where it does not apply: who wins a race differs from run to run, and
    what Hypothesis draws must not.
    """

    stage: ClassVar[Stage]
    afresh: ClassVar[Afresh]
    readers: ClassVar[list[Remote]]
    writers: ClassVar[list[Remote]]
    counts: ClassVar[dict[str, int]]

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp())
        self.path = self.folder / "index"
        self.states: dict[int, State] = {}
        self.generation = 0
        self.unfinished: list[Change] = []
        """What killed writers may have left half done."""

    @initialize(papers=states)
    def build(self, papers: State) -> None:
        sr.build(papers_of(papers), self.path, encoder="letters", shard_size=3).close()
        self.generation, self.states = 1, {1: papers}
        for remote in self.readers:
            remote.generation = remote.ask("open", self.path, None)

    def count(self, what: str) -> None:
        self.counts[what] = self.counts.get(what, 0) + 1

    @property
    def now(self) -> State:
        return self.states[self.generation]

    @property
    def paused(self) -> Remote | None:
        return next((writer for writer in self.writers if writer.paused is not None), None)

    # readers

    @rule(reader=a_reader, back=st.integers(0, 3))
    def open(self, reader: int, back: int) -> None:
        remote = self.readers[reader]
        if remote.generation is not None:
            remote.ask("close")
        openable = [number for number in generations(self.path) if number <= self.generation]
        wanted = openable[-1 - back] if 0 < back < len(openable) else None
        remote.generation = remote.ask("open", self.path, wanted)
        self.seen_at(remote.generation, wanted)

    def seen_at(self, generation: int, wanted: int | None = None) -> None:
        """Check which generation a reader was given: the current one, unless a writer is just past its commit."""
        if wanted is not None:
            assert generation == wanted
        elif self.paused is None:
            assert generation == self.generation
        else:
            self.committed_by(self.paused.paused, self.paused.base)
            assert generation == self.generation

    def all_search(self) -> None:
        """Whatever writers have done, or are in the midst of, each reader gets the answers of its generation."""
        reading = [remote for remote in self.readers if remote.generation is not None]
        for remote in reading:
            remote.tell("search")
        for remote in reading:
            kind, found = remote.reply()
            assert kind == "done", found
            assert found == self.afresh[self.states[remote.generation or 0]]
            self.count("searches")

    @rule()
    def search(self) -> None:
        self.all_search()

    @rule(reader=a_reader)
    def refresh(self, reader: int) -> None:
        remote = self.readers[reader]
        if remote.generation is not None:
            remote.generation = remote.ask("refresh")
            self.seen_at(remote.generation)

    @rule(reader=a_reader)
    def close(self, reader: int) -> None:
        remote = self.readers[reader]
        if remote.generation is not None:
            remote.ask("close")
            remote.generation = None

    @rule(reader=a_reader)
    def kill_a_reader(self, reader: int) -> None:
        self.readers[reader].kill()
        self.readers[reader] = self.stage.peer()

    # writers

    @rule(writer=a_writer, change=changes)
    def change(self, writer: int, change: Change) -> None:
        if self.writers[writer].paused is None:
            self.writers[writer].tell("change", 0, *change.arguments(self.path))
            self.ended(self.writers[writer], change)

    @rule(writer=a_writer, change=changes, step=st.integers(1, FURTHEST))
    def change_and_pause(self, writer: int, change: Change, step: int) -> None:
        if self.paused is not None:
            return
        remote = self.writers[writer]
        remote.tell("change", step, *change.arguments(self.path))
        remote.paused, remote.base = change, self.generation
        self.ended(remote, change)

    @rule()
    def go_on(self) -> None:
        remote = self.paused
        if remote is None:
            return
        remote.connection.send("go on")
        self.ended(remote, remote.paused)

    @rule()
    def kill_a_writer(self) -> None:
        remote = self.paused
        if remote is None:
            return
        change = remote.paused
        remote.kill()
        self.writers[self.writers.index(remote)] = self.stage.peer()
        self.committed_by(change, remote.base)
        self.unfinished.append(change)
        self.count("kills")
        self.all_search()

    @rule(first=changes, second=changes)
    def race(self, first: Change, second: Change) -> None:
        """Both writers at the same time, and the readers too."""
        if self.paused is not None:
            return
        told = [*zip(self.writers, (first, second), strict=True)]
        for remote, change in told:
            remote.tell("change", 0, *change.arguments(self.path))
        self.all_search()
        replies = [(remote.reply(), change) for remote, change in told]
        heard = [(kind, value, change) for (kind, value), change in replies if not isinstance(value, IndexBusy)]
        assert heard
        self.count("races" if len(heard) < 2 else "races without a collision")
        for kind, value, change in self.in_order(heard):
            others = (first, second) if kind == "refused" else ()
            self.concluded(kind, value, change, self.generation, value if kind == "done" else self.generation, others)
        assert read_manifest(self.path).generation == self.generation

    def in_order(self, replies: list[tuple[str, Any, Change]]) -> list[tuple[str, Any, Change]]:
        """Replies in the order of the commits; a refusal says nothing of the order.

        Of two with the same generation, one changed nothing: it was second, or the first would not have come to that generation.
        """
        replies.sort(key=lambda reply: reply[1] if reply[0] == "done" else 0)
        same = len(replies) == 2 and replies[0][:2] == replies[1][:2] and replies[0][1] > self.generation
        if same and replies[0][2].after(self.now) != state_of(self.path):
            replies.reverse()
        return replies

    def ended(self, remote: Remote, change: Change) -> None:
        """Take what a writer says of its change."""
        holder = self.paused if self.paused is not remote else None
        base = remote.base if remote.paused is not None else self.generation
        kind, value = remote.reply()
        if kind == "paused":
            self.count("pauses")
            self.all_search()
            return
        remote.paused = None
        if holder is not None and change.is_request:
            assert isinstance(value, IndexBusy), value
            assert f"process {holder.pid} on " in str(value)
            self.count("collisions")
            return
        self.concluded(kind, value, change, base, read_manifest(self.path).generation)
        assert kind == "refused" or value == self.generation

    def concluded(self, kind: str, value: Any, change: Change, base: int, last: int, others: tuple[Change, ...] = ()) -> None:
        """Check that a change did what it was to do, or why it was refused."""
        before = self.states[base]
        if kind == "done":
            self.committed_by(change, base, last, finished=True)
            if change.command in ("add", "sync", "overwrite"):
                self.unfinished.clear()
        elif isinstance(value, IndexExists):  # what a killed writer encoded is to be finished first
            assert self.unfinished
            assert change.command != "delete"
            self.count("unfinished work in the way")
        else:
            assert isinstance(value, InvalidRequest | NotFound), value
            assert any(change.after(state) is None for state in (before, *(other.after(before) or before for other in others)))

    def committed_by(self, change: Change, base: int, last: int | None = None, *, finished: bool = False) -> None:
        """Take up what a change committed after the generation `base`: what it was to do, or as much of it as it had come to.

        An add or a sync first finishes another one that was killed, as a commit of its own.
        """
        manifest = read_manifest(self.path)
        new = [record.generation for record in manifest.log if base < record.generation <= (last or manifest.generation)]
        before = self.states[base]
        courses: list[tuple[list[State], State]] = [([], before)]
        if change.command in ("add", "sync") and change.resume:
            courses += [([earlier], earlier) for other in self.unfinished for earlier in self.earlier(other, before)]
        paths = []
        for course, state in courses:
            target = change.after(state)
            if target is not None:
                paths.append([*course, target])
            if target == state or not finished:
                paths.append(course)
        kept = set(generations(self.path))
        actual = [state_of(self.path, number) if number in kept else None for number in new]
        fitting = [
            path
            for path in paths
            if len(path) == len(actual) and all(state in (None, wanted) for state, wanted in zip(actual, path, strict=True))
        ]
        assert fitting, (change, before, actual, paths)
        for number, state in zip(new, fitting[0], strict=True):
            if number not in self.states:
                self.count("commits")
            self.states[number], self.generation = state, max(self.generation, number)

    def earlier(self, other: Change, before: State) -> list[State]:
        """What an index may have once another change, which was killed, is finished: it was going to put what was new when it began."""
        if other.command not in ("add", "sync"):
            return []
        news = [{id: version for id, version in other.papers.items() if base.get(id) != version} for base in self.states.values()]
        return [{**before, **new} for new in news]

    @invariant()
    def the_lock_is_free_unless_a_writer_is_paused(self) -> None:
        if self.states and self.paused is None:
            assert read_manifest(self.path).generation == self.generation

    def teardown(self) -> None:
        for number, remote in enumerate(self.writers):
            if remote.paused is not None:
                remote.kill()
                self.writers[number] = self.stage.peer()
        self.all_search()
        for remote in self.readers:
            if remote.generation is not None:
                remote.ask("close")
                remote.generation = None
        if self.states:
            assert not sr.verify(self.path, encoder=LetterEncoder()).faults
            make(self.path, "overwrite", papers_of(dict.fromkeys(IDS, 0)), [], resume=False)
            assert state_of(self.path) == dict.fromkeys(IDS, 0)
            assert len(list((self.path / "shards").iterdir())) == -(-len(IDS) // 3)
        shutil.rmtree(self.folder)


def test_processes_see_what_they_have_open_and_write_one_at_a_time(stage: Stage, tmp_path: Path, effort: Effort) -> None:
    class Here(Processes):
        pass

    Here.stage, Here.afresh, Here.counts = stage, Afresh(tmp_path), {}
    Here.readers = [stage.peer() for _ in range(READERS)]
    Here.writers = [stage.peer() for _ in range(WRITERS)]
    try:
        run_state_machine_as_test(
            Here,
            settings=settings(
                max_examples=effort(10, 200),
                stateful_step_count=effort(20, 50),
                suppress_health_check=list(HealthCheck),
                deadline=None,
                phases=[Phase.explicit, Phase.reuse, Phase.generate],  # who wins a race is not repeated, so failures cannot be shrunk
            ),
        )
    finally:
        for remote in (*Here.readers, *Here.writers):
            remote.kill()
    print(Here.counts)
    for what in ("searches", "commits", "pauses", "kills", "collisions", "races"):
        assert Here.counts.get(what, 0) >= effort(0, 10), Here.counts
    assert Here.counts.get("unfinished work in the way", 0) >= effort(0, 1), Here.counts  # rare: only some kills leave any


@pytest.mark.parametrize("modes", [("hybrid",), ("dense", "bm25")], ids=str)
def test_threads_search_while_another_adds_and_refreshes(modes: tuple[Mode, ...], tmp_path: Path, effort: Effort) -> None:
    """Each search is asked of one snapshot, and gets that snapshot's answer, whichever thread was first to read a file of it."""
    path, afresh, rounds = tmp_path / "index", Afresh(tmp_path), effort(6, 60)
    sr.build(papers_of({IDS[0]: 0}), path, encoder="letters", shard_size=3).close()
    current = [sr.open(path, encoder=LetterEncoder())]
    states = {1: {IDS[0]: 0}}
    start, done = threading.Barrier(THREADS + 1), threading.Event()

    def search(thread: int) -> list[tuple[int, Mode, Any]]:
        start.wait(60)
        found: list[tuple[int, Mode, Any]] = []
        while not done.is_set() or not found:
            index = current[-1]
            mode = modes[(len(found) + thread) % len(modes)]
            run = index.search(QUERIES, 100, mode=mode, group=False)
            found.append((index.snapshot.manifest.generation, mode, [(list(ranking.ids), ranking.scores.tobytes()) for ranking in run]))
        return found

    with ThreadPoolExecutor(THREADS) as pool:
        searches = [pool.submit(search, thread) for thread in range(THREADS)]
        try:
            start.wait(60)
            state = states[1]
            for number in range(1, rounds):
                state = {**state, IDS[number % len(IDS)]: number % VERSIONS, IDS[(3 * number) % len(IDS)]: (number + 1) % VERSIONS}
                make(path, "add", papers_of(state), [])
                current.append(current[-1].refreshed())
                states[current[-1].snapshot.manifest.generation] = state
        finally:
            done.set()
        for thread in searches:
            for generation, mode, answer in thread.result():
                assert answer == afresh[states[generation]][mode]
    assert current[-1].snapshot.manifest.generation > rounds // 2

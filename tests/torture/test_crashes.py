"""Crashes and power failures in the middle of every command that writes: an index is as it was or as it will be, and the next run finishes.

Each command is run once, with all that it does to the disk recorded, from the very first build on. Then the disk is put together again as a
crash may have left it, at hundreds of moments (`make torture`: thousands) and in many ways, see `disk`, and looked at, and the command is
run again; some of these runs crash, too.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

import sciretrieve as sr
from sciretrieve.base.errors import CorruptData, NotFound
from sciretrieve.encoders.golden import PROBE
from sciretrieve.files.schema import papers_of
from sciretrieve.files.writing import describe
from sciretrieve.lifecycle import restore
from sciretrieve.matching.late import Packing, learn
from sciretrieve.progress import Silent
from sciretrieve.protocols import Advance
from sciretrieve.storage.fulltext import FULLTEXT, WORK
from sciretrieve.storage.manifest import generation_file, generations, kept_generations, read_manifest
from sciretrieve.storage.pending import KINDS, Pending
from sciretrieve.storage.repairing import repair
from sciretrieve.storage.sweeping import sweep
from sciretrieve.storage.verifying import verify
from tests.conftest import Effort
from tests.made_up import made_up_papers, read_corpus, write_jsonl
from tests.torture import building
from tests.torture.disk import CRASHES, KILLS, LEFT_OUT, Recording, recorded
from tests.torture.stories import (
    COMMANDS,
    STORIES,
    Command,
    Corpora,
    Log,
    Story,
    Texts,
    add_more,
    build,
    build_others,
    commits_of,
    delete_papers,
    files_of,
    interrupted,
    merge_shards,
    seen,
    strays,
    sync_later,
    told,
    tune,
)
from tests.toy_encoder import NAMED, LetterEncoder

ROOT = Path(__file__).parents[2]
WINDOW_CRASHES = ("killed", "killed while it writes", "nothing survives", "torn data survives", "some survives")


@pytest.fixture(scope="module", autouse=True)
def letters() -> Iterator[None]:
    """The encoder of every index here has windows of four papers; and nothing is forced to a disk that no power fails."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(LetterEncoder, "window", 4)
        patch.setattr("os.fsync", lambda handle: None)
        yield


@pytest.fixture(scope="module")
def corpora(tmp_path_factory: pytest.TempPathFactory) -> Corpora:
    return Corpora(tmp_path_factory.mktemp("corpora"))


@pytest.fixture(scope="module")
def tell(corpora: Corpora, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Story]:
    """Tells the stories, each once."""
    stories: dict[str, Story] = {}

    def story(name: str) -> Story:
        if name not in stories:
            stories[name] = told(name, tmp_path_factory.mktemp("story"), corpora)
        return stories[name]

    return story


@pytest.mark.parametrize("name", STORIES)
def test_what_is_recorded_is_all_that_is_done(name: str, tell: Callable[[str], Story]) -> None:
    story = tell(name)
    paths = [path for path in story.disk.rglob("*") if path.name != LEFT_OUT]
    assert story.recording.tree.contents() == {
        f"{path.relative_to(story.disk)}{'/' * path.is_dir()}": None if path.is_dir() else path.read_bytes() for path in paths
    }


@pytest.mark.parametrize("name", STORIES)
def test_all_is_on_disk_before_the_manifest_names_it(name: str, tell: Callable[[str], Story], tmp_path: Path) -> None:
    """Where all is lost that was not forced to disk, but not the new manifest's name."""
    story = tell(name)
    assert story.commits
    for place in story.commits:
        story.recording.crashed("the last survives", place).tree.put(tmp_path / str(place))
        index = tmp_path / str(place) / "index"
        manifest = read_manifest(index)
        assert generation_file(index, manifest.generation).read_bytes() == (index / "manifest.json").read_bytes()
        for file, facts in manifest.files():
            assert facts.items() >= describe(index / file).items()


def moments(recording: Recording, first: int, wanted: int, chance: Random) -> Iterator[tuple[str, int, Recording]]:
    """Crashes after `first` operations or more, none like another: how, after how many operations, and what is left.

    At first those in which most may be lost: when all is done, and when a manifest has just got its name.
    """
    last = len(recording.operations)
    plan = [("nothing survives", last), ("removals survive", last)]
    plan += [(kind, place) for place in commits_of(recording, first) for kind in ("the last survives", "killed")]
    step = max((last - first) / wanted, 1.0)
    places = sorted({min(first + int(step * (number + chance.random())), last) for number in range(int((last - first) / step) + 1)})
    known: set[tuple[bool, bytes]] = set()
    for turn in range(20 * len(CRASHES)):
        for kind, place in plan:
            crash = recording.crashed(kind, place, chance)
            key = kind in KILLS, crash.tree.digest()  # after a kill, what is there need not be on disk
            if key not in known:
                known.add(key)
                yield kind, place, crash
                if len(known) == wanted:
                    return
        plan = [(CRASHES[(7 * number + turn) % len(CRASHES)], place) for number, place in enumerate(places)]


def endured(story: Story, crash: Recording, index: Path, corpora: Corpora, *, is_done: bool, **options: Any) -> Recording:
    """Look at what a crash left, run the command again, and look again. `is_done`: whether it had ended. Returns the recorded run."""
    crash.tree.put(index.parent)
    left = seen(index)
    assert left.answers in [state.answers for state in (story.states[-1:] if is_done else story.states)]
    assert left.faults <= story.states[0].faults
    with recorded(index.parent, crash) as again:
        story.run(index, corpora, **options)
    assert seen(index) == story.states[-1]
    assert files_of(index) == story.files
    if story.name != "delete":  # which may have had nothing to do
        assert strays(index) == set()
    shutil.rmtree(index.parent)
    return again


@pytest.mark.parametrize("name", STORIES)
def test_a_crash_leaves_what_was_or_what_will_be(
    name: str, tell: Callable[[str], Story], corpora: Corpora, tmp_path: Path, effort: Effort
) -> None:
    """Some runs of the same command after a crash crash, too; after a kill all is lost that the second run, too, did not force to disk."""
    story, chance, index = tell(name), Random(name), tmp_path / "disk" / "index"
    tally: Counter[str] = Counter()
    for number, (kind, place, crash) in enumerate(moments(story.recording, story.first, effort(9, 270), chance)):
        with described(name, kind, place, story.recording):
            again = endured(story, crash, index, corpora, is_done=place == story.last)
            tally[kind] += 1
        second_kind, second_place = "nothing survives", (last := len(again.operations))
        if number % 4 == 0:
            second_kind, second_place = chance.choice(CRASHES), chance.randint(len(crash.operations), last)
        elif kind not in KILLS:
            continue
        with described(name, f"{kind} after {place}, and again {second_kind}", second_place, again):
            endured(story, again.crashed(second_kind, second_place, chance), index, corpora, is_done=second_place == last)
            tally["and again"] += 1
    print(f"{name}: {tally.total()} crashes:", ", ".join(f"{count} {kind}" for kind, count in tally.items()))


@contextmanager
def described(name: str, kind: str, place: int, recording: Recording) -> Iterator[None]:
    """Tell of an error in the block after which crash it was."""
    try:
        yield
    except BaseException as error:
        error.add_note(f"{name}: {kind} after {place} of {len(recording.operations)}, {recording.operations[place - 1 :][:1]!r:.200}")
        raise


def texts(index: Path, generation: int | None = None) -> Texts | None:
    """Titles and abstracts of the papers of an index, or of an earlier generation of it, by id; None if there is none."""
    try:
        opened = sr.open(index, encoder=LetterEncoder(), generation=generation)
    except NotFound:
        return None
    with opened:
        return {paper.id: (paper.title, paper.abstract) for paper in opened.papers(opened.snapshot.live_ids())}


def texts_in(corpus: Path) -> Texts:
    """The same of the papers of a corpus."""
    return {paper.id: (paper.title, paper.abstract) for paper in papers_of(read_corpus(corpus)[0])}


@pytest.fixture
def late_letters() -> Iterator[None]:
    """Letters have token vectors, too: one for each paper, which is its vector."""
    packing = learn(np.random.default_rng(0).normal(size=(200, LetterEncoder.dim)).astype(np.float32))

    def encode_packed(encoder: LetterEncoder, papers: Any, packing: Packing, advance: Advance) -> tuple[Any, ...]:
        vectors = encoder.encode(papers, advance)
        return vectors, *packing.pack(vectors, np.ones(len(vectors), np.int64))

    with pytest.MonkeyPatch.context() as patch:
        for name in (
            *("lifecycle.reindexing.with_tokens", "lifecycle.updating.late"),
            *("encoders.query_encoder.late", "storage.repairing.late"),
        ):
            patch.setattr(f"sciretrieve.{name}", lambda encoder: encoder)
        for name in ("lifecycle.reindexing", "storage.repairing"):
            patch.setattr(f"sciretrieve.{name}.packing_of", lambda _: packing)
        patch.setattr("sciretrieve.storage.shards.filling.encode_packed", encode_packed)
        yield


@pytest.mark.usefixtures("late_letters")
@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_others_and_the_first_again(name: str, corpora: Corpora, tmp_path: Path, effort: Effort) -> None:
    """The first crashes at any of its operations on files; others, and the first again, come to their ends. Nothing stands in the way of
    any, papers are right, and each generation that the log has is what its commit made it: it can be opened and restored."""
    first, chance, index = COMMANDS[name], Random(name), tmp_path / "disk" / "index"
    written = {name: texts_in(path) for name, path in vars(corpora).items()}
    index.parent.mkdir()
    with recorded(index.parent) as start:
        for step in first.before:
            step(index, corpora)
    log = {number: texts(index, number) or {} for number in generations(index)}
    with recorded(index.parent, start) as recording:
        first.step(index, corpora)
    begun, last = len(start.operations), len(recording.operations)
    places = list(range(begun, last + 1))
    committing = commits_of(recording, begun)[0]
    places = effort([committing - 1, committing, chance.choice(places[len(places) // 3 :])], places)
    others = list(COMMANDS)
    for turn, place in enumerate(places):
        chosen = [others[(others.index(name) + 1 + turn) % len(others)], *chance.sample(others, chance.randrange(2))]
        if place == committing:  # it is done, and its mark may still be there
            chosen = ["restore", "add others"]
        shutil.rmtree(index.parent)
        kind = chance.choice(CRASHES)
        recording.crashed(kind, place, chance).tree.put(index.parent)
        with described(name, f"{kind}, then {', then '.join(chosen)},", place, recording):
            followed(index, corpora, first, [COMMANDS[other] for other in chosen], log, written)


@pytest.mark.usefixtures("late_letters")
@pytest.mark.parametrize("name", [name for name in COMMANDS if name != "repair"])
def test_after_two_crashes_a_sync_puts_all_in_order(name: str, corpora: Corpora, tmp_path: Path, effort: Effort) -> None:
    """A command crashes, and another one on what that left."""
    first, chance, index = COMMANDS[name], Random(f"{name}, twice"), tmp_path / "disk" / "index"
    index.parent.mkdir()
    with recorded(index.parent) as start:
        for step in first.before:
            step(index, corpora)
    with recorded(index.parent, start) as recording:
        first.step(index, corpora)
    for _ in range(effort(2, 40)):
        place, other = (
            chance.randint(len(start.operations), len(recording.operations)),
            chance.choice([other for other in COMMANDS if other != "repair"]),
        )
        crash = put_back(index, recording, place, chance)
        with described(name, f"crashed, then {other}, crashed,", place, recording):
            with recorded(index.parent, crash) as again, suppress(NotFound):  # an index that was to be built
                COMMANDS[other].step(index, corpora)
            put_back(index, again, chance.randint(len(crash.operations), len(again.operations)), chance)
            if texts(index) is None:
                build_others(index, corpora)
            sync_later(index, corpora)
            merge_shards(index, corpora)
            assert Pending.read(index, "change") is None
            leave_off(index)
            assert texts(index) == texts_in(corpora.later_library)
            assert verify(index, encoder=LetterEncoder()).faults == ()
            assert strays(index) <= {"rejected.jsonl"}  # of a corpus all of whose papers were there


def leave_off(index: Path) -> None:
    """Remove what the same command could still take up: a build, and full texts that were not all read."""
    for directory in (index, index / FULLTEXT):
        for kind in KINDS if directory.is_dir() else ():
            if (waiting := Pending.read(directory, kind)) is not None:
                waiting.clear()
    if (index / WORK).exists():
        (index / WORK).unlink()
        sweep(index, Silent())


def put_back(index: Path, recording: Recording, place: int, chance: Random) -> Recording:
    """Put what a crash after so many operations leaves in the place of what there is."""
    shutil.rmtree(index.parent)
    crash = recording.crashed(chance.choice(CRASHES), place, chance)
    crash.tree.put(index.parent)
    return crash


TAKEN_IN = {"add": "more", "add others": "others", "sync": "later_library"}
"""The corpora that commands encode papers of, and do not lose what they encoded."""


def followed(index: Path, corpora: Corpora, first: Command, others: Sequence[Command], before: Log, written: Mapping[str, Texts]) -> None:
    """Run other commands on what a killed one has left, and then that one again."""
    log, was, left = dict(before), before.get(max(before, default=0)), texts(index)
    assert left in (was, first.texts(was or {}, written, log))
    is_committed = enter(index, log, left or {})
    # an add or sync that had encoded something is finished by the next one
    unfinished = {} if is_committed else taken_in(first, was or {}, written)
    failed: list[tuple[Command, Texts]] = []
    for other in (*others, first):
        state, kept = texts(index), {number: log[number] for number in openable(index)}
        try:
            (other.step if other is first else other.other or other.step)(index, corpora)
        except (CorruptData, NotFound):  # a file that was to be repaired, or an index that was to be built
            assert other is not first
            assert first is COMMANDS["repair"] or state is None
            assert texts(index) == state
            failed += [(other, taken_in(other, state, written))] if state is not None else []
            continue
        finished = {**(state or {}), **unfinished}
        made = texts(index) or {}
        assert made in (other.texts(state or {}, written, kept), other.texts(finished, written, kept))
        enter(index, log, finished, made)
        if {**finished, **made} == made:
            unfinished = {}
    for other, waiting in failed:  # which may have work that waits
        state = texts(index) or {}
        other.step(index, corpora)
        enter(index, log, {**state, **waiting}, texts(index) or {})
    assert verify(index, encoder=LetterEncoder()).faults == ()
    if len(log) > len(before) + 1 and first.before:  # all may have had nothing to do
        assert strays(index) <= {"rejected.jsonl"}  # of a corpus all of whose papers were there
    check_log(index, log)


def taken_in(command: Command, state: Texts, written: Mapping[str, Texts]) -> Texts:
    """The papers that a command encodes for an index that is in some state."""
    corpus = next((written[corpus] for name, corpus in TAKEN_IN.items() if COMMANDS[name] is command), {})
    return {id: text for id, text in corpus.items() if state.get(id) != text}


def openable(index: Path) -> list[int]:
    """The generations that are listed as those that can be opened."""
    return kept_generations(index, read_manifest(index)) if (index / "manifest.json").exists() else []


def enter(index: Path, log: Log, *states: Texts) -> bool:
    """Enter into the log what has been committed since; at most so many commits are to have made these states, the last ones. Says whether
    there were any."""
    records = read_manifest(index).log if (index / "manifest.json").exists() else ()
    new = [record.generation for record in records if record.generation > max(log, default=0)]
    assert len(new) <= len(states)
    log.update(zip(reversed(new), reversed(states), strict=False))
    return bool(new)


def check_log(index: Path, log: Log) -> None:
    """See that all generations that can be opened are as they were made, can be restored, and that there are no others."""
    assert repair(index, encoder=LetterEncoder(), progress=False).faults == ()
    numbers = openable(index)
    assert {record.generation for record in read_manifest(index).log} <= log.keys()
    for number in range(1, max(numbers) + 2):
        if number in numbers:
            assert texts(index, number) == log[number], f"generation {number}"
            continue
        assert texts(index, number) is None
        with pytest.raises(NotFound):
            restore(index, number)
    for number in numbers[:-1]:
        restore(index, number)
        assert texts(index) == log[number], f"generation {number}, restored"
        assert verify(index, encoder=LetterEncoder(), progress=False).faults == ()


def test_a_sync_that_another_command_was_finishing_is_taken_up_as_it_was(
    tell: Callable[[str], Story], corpora: Corpora, tmp_path: Path
) -> None:
    story, index = tell("add after an interrupted sync"), tmp_path / "disk" / "index"
    story.recording.crashed("killed", story.commits[0] - 1).tree.put(index.parent)
    sync_later(index, corpora)
    assert texts(index) == texts_in(corpora.later_library)


def test_a_crash_loses_at_most_two_windows(corpora: Corpora, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, effort: Effort) -> None:
    """Of a shard of six windows of four papers, the last of which may not be wholly on disk."""
    corpus = write_jsonl(tmp_path / "papers.jsonl", made_up_papers(24, seed=8))
    encoder, index = LetterEncoder(), tmp_path / "disk" / "index"
    encode, encoded = encoder.encode, list[int]()
    monkeypatch.setitem(NAMED, "letters", encoder)
    index.parent.mkdir()

    def noted(tokens: Any, _: Any = None) -> Any:
        # the probe is encoded at every start, to see that the encoder is as it was
        encoded.extend([len(recording.operations)] * sum(paper.id != PROBE.id for paper in tokens))
        return encode(tokens)

    monkeypatch.setattr(encoder, "encode", noted)
    with recorded(index.parent) as recording:
        sr.build(corpus, index, encoder="letters", shard_size=50).close()
    files, places = files_of(index), list(encoded)
    assert len(places) == 24
    for number, place in enumerate(range(min(places), max(places) + 4)):
        for kind in effort([WINDOW_CRASHES[number % len(WINDOW_CRASHES)]], WINDOW_CRASHES):
            encoded.clear()
            shutil.rmtree(index.parent)
            recording.crashed(kind, place, Random(place)).tree.put(index.parent)
            sr.build(corpus, index, encoder="letters", shard_size=50).close()
            assert files_of(index) == files
            done = sum(when < place for when in places)
            assert len(encoded) <= len(places) - done + 2 * encoder.window, f"{kind} after {place}"


def test_an_unfinished_replacement_waits_while_the_index_changes(corpora: Corpora, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    index, encoder = tmp_path / "index", LetterEncoder()
    build()(index, corpora)
    interrupted(build_others, 17)(index, corpora)
    unfinished = {path: path.read_bytes() for path in (index / "shards").glob("00000[23]*/*")}
    assert len(unfinished) > 4
    tune(index, corpora)
    assert texts(index) == texts_in(corpora.library)
    for change in (add_more, sync_later, delete_papers("p0010"), merge_shards, tune):
        change(index, corpora)
    assert {path: path.read_bytes() for path in unfinished} == unfinished
    monkeypatch.setitem(NAMED, "letters", encoder)
    build_others(index, corpora)
    assert texts(index) == texts_in(corpora.others)
    assert len(encoder.asked) <= 2 + 3  # the unfinished shard's papers and the probe
    assert strays(index) == set()


def test_what_an_abandoned_build_left_goes_with_the_next_commit(corpora: Corpora, tmp_path: Path) -> None:
    index = tmp_path / "index"
    interrupted(build_others, 17)(index, corpora)
    build()(index, corpora, overwrite=True)
    assert strays(index) == set()
    shard = read_manifest(index).shards[0].name
    left = [
        "shards/000005.partial/ids.arrow",
        f"shards/{shard}/dense-000007.faiss.tmp",
        "encoder/golden-000007.npy.tmp",
        "lexical/000007/5.npy",
    ]
    for name in [*left, "generations/000009.json", "pending.deleted.npy"]:
        (index / name).parent.mkdir(exist_ok=True)
        (index / name).touch()
    tune(index, corpora)
    assert strays(index) == set()


def killed(corpus: Path, index: Path, steps: int) -> None:
    """Have another process build the index, and kill it when it has said so many times that it got on, or a few times more."""
    command = [sys.executable, "-m", building.__name__, str(corpus), str(index)]
    with subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(b"." * (steps + 8))
        process.stdin.flush()
        for _ in zip(range(steps), process.stdout, strict=False):
            pass
        process.kill()


def test_a_build_killed_in_another_process_is_finished_to_the_same_bytes(tmp_path: Path, effort: Effort) -> None:
    """Each is killed three times on its way, before it can come to its end."""
    corpus, chance, index = write_jsonl(tmp_path / "papers.jsonl", made_up_papers(1200, seed=9)), Random(), tmp_path / "killed"
    building.build(corpus, tmp_path / "whole")
    whole, files = seen(tmp_path / "whole"), files_of(tmp_path / "whole")
    for _ in range(effort(1, 20)):
        for _ in range(3):
            killed(corpus, index, chance.randint(1, 35))
            assert (index / "pending.json").exists()
            assert seen(index).answers is None
        building.build(corpus, index)
        assert seen(index) == whole
        assert files_of(index) == files
        assert strays(index) == set()
        shutil.rmtree(index)

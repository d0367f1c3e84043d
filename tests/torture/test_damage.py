"""Damage to files: every byte of every file of an index. It is named, it changes no answer, and it is repaired where that can be done.

Also damage that keeps the checksum, as in an index from a stranger, whose manifest fits it.
"""

from __future__ import annotations

import copy
import io
import pickle
import random
import re
import shutil
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import faiss
import numpy as np
import pytest

import sciretrieve as sr
from sciretrieve import lifecycle
from sciretrieve.base.errors import CorruptData, InvalidRequest, NotFound
from sciretrieve.files.verified import Verified
from sciretrieve.files.writing import read_sealed, write_sealed
from sciretrieve.storage import verifying
from sciretrieve.storage.manifest import MANIFEST, generation_file, read_manifest
from sciretrieve.storage.repairing import repair
from tests.conftest import Effort
from tests.edited import edited_manifest
from tests.listeners import Notes
from tests.torture.operations import Corpora, actions, build, letters_for_all, verified

Answers = dict[str, Any]

PARTS = 4
"""Parts that the longest tests are in, each with some of the files."""
UNREAD = {".lock", "rejected.jsonl", "shard.json"}
"""Files that nothing reads in an index that is not being changed."""


@pytest.fixture(autouse=True)
def letters(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """One encoder for all; and FAISS is asked even where a shard is so small that a scan is faster."""
    monkeypatch.setattr("sciretrieve.matching.dense.vectors.SCANS_PER_CANDIDATE", 0)
    monkeypatch.setattr("sciretrieve.matching.dense.vectors.SELECTIVE", 0)
    with letters_for_all():
        yield


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An index with three generations: built, made equal to another corpus, and thinned."""
    folder = tmp_path_factory.mktemp("damage")
    corpora = Corpora.write(folder)
    with letters_for_all():
        build(corpora, folder / "index")
        lifecycle.sync(corpora.second, folder / "index", allow_deletions=True)
        lifecycle.delete(folder / "index", ["p0006", "p0015"])
    with sr.open(folder / "index") as index:
        assert len(index.snapshot.shards) == 3
        assert sum(shard.facts.deleted_file is not None for shard in index.snapshot.shards) >= 2
        assert all(shard.facts.ann_file for shard in index.snapshot.shards)
    return folder / "index"


@pytest.fixture
def index(sound: Path, tmp_path: Path) -> Path:
    """A copy of it, to damage."""
    return Path(shutil.copytree(sound, tmp_path / "index"))


def files(index: Path) -> list[str]:
    """The names of all files that an index is read from."""
    paths = (path for path in sorted(index.rglob("*")) if path.is_file() and path.name not in UNREAD)
    return [path.relative_to(index).as_posix() for path in paths]


def one_of_each(index: Path) -> list[str]:
    """A file of each kind, and of each kind one that only older generations name."""
    current = {name for name, _ in read_manifest(index).files()}
    kinds = {(re.sub(r"\d+", "N", name), name in current): name for name in files(index)}
    return sorted(kinds.values())


def everything(index: Path, folder: Path) -> Answers:
    """What all ways to read an index answer, each opening it anew; or the error in the place of the answer."""
    answers: Answers = {}
    for name, action in actions(folder).items():
        try:
            with sr.open(index) as opened_index:
                answers[name] = action(opened_index)
        except CorruptData as error:
            answers[name] = error
    return answers


@contextmanager
def replaced(path: Path, data: bytes | None) -> Iterator[None]:
    """Have another file in the place of one, or a folder in its place if there are no data; not the same file changed, which an
    opened index may still have mapped."""
    kept = path.with_name(".kept")
    path.rename(kept)
    try:
        if data is None:
            path.mkdir()
        else:
            path.write_bytes(data)
        yield
    finally:
        if path.is_dir():
            path.rmdir()
        kept.replace(path)


@contextmanager
def removed(path: Path) -> Iterator[None]:
    kept = path.with_name(".kept")
    path.rename(kept)
    try:
        yield
    finally:
        kept.replace(path)


def flipped(data: bytes, position: int, chance: random.Random) -> bytes:
    """Data of which one byte is another."""
    return data[:position] + bytes([data[position] ^ chance.randint(1, 255)]) + data[position + 1 :]


def misshapen(index: Path, name: str) -> dict[str, bytes | None]:
    """A file's contents after other damage than a flip, by what happened; None for a folder in its place."""
    data = (index / name).read_bytes()
    # the manifest of an older generation in the place of the current one is an older index, and no damage
    others = [other for other in files(index) if other != name and (name != MANIFEST or not other.startswith("generations/"))]
    contents: dict[str, bytes | None] = {
        "emptied": b"",
        "cut in half": data[: len(data) // 2],
        "a byte short": data[:-1],
        "a byte long": data + b"\0",
        "a folder": None,
    }
    sizes = {other: (index / other).stat().st_size for other in others}
    same = next((other for other in others if sizes[other] == len(data) and (index / other).read_bytes() != data), None)
    alike = next((other for other in others if Path(other).suffix == Path(name).suffix and sizes[other] != len(data)), others[0])
    if same is not None:
        contents["swapped with one as long"] = (index / same).read_bytes()
    contents["swapped with another"] = (index / alike).read_bytes()
    return contents


def check_named(index: Path, name: str) -> None:
    """Verifying names a damaged file."""
    faults = verifying.verify(index).faults
    assert name in {fault.file for fault in faults}, faults
    assert all("\n" not in fault.what for fault in faults)


def check_answers(index: Path, name: str, before: Answers, folder: Path) -> int:
    """Whatever is read, it answers as before or says that this file is damaged; returns how often it says so."""
    refusals = 0
    for action, answer in everything(index, folder).items():
        if isinstance(answer, CorruptData):
            assert str(index / name) in str(answer)
            assert "\n" not in str(answer)
            refusals += 1
        else:
            assert answer == before[action], action
    return refusals


def can_be_gone(index: Path, name: str) -> bool:
    """Whether a file is the manifest of an older generation, which a sweep removes."""
    return name.startswith("generations/") and name != generation_name(index)


def generation_name(index: Path) -> str:
    return generation_file(Path(), read_manifest(index).generation).as_posix()


@pytest.mark.parametrize("part", range(PARTS))
def test_a_byte_that_is_another_is_named_and_changes_no_answer(part: int, index: Path, tmp_path: Path, effort: Effort) -> None:
    before = everything(index, tmp_path)
    assert not any(isinstance(answer, CorruptData) for answer in before.values())
    chance = random.Random(part)
    refusals = 0
    kinds = one_of_each(index)
    for name in files(index)[part::PARTS]:
        data = (index / name).read_bytes()
        positions = effort(sorted(chance.sample(range(len(data)), 3)), range(len(data)))
        searched = set(chance.sample(list(positions), effort(3 * (name in kinds), 40)))
        for position in positions:
            with replaced(index / name, flipped(data, position, chance)):
                check_named(index, name)
                if position in searched:
                    refusals += check_answers(index, name, before, tmp_path)
    assert refusals
    assert not verified(index).faults


def test_a_file_that_is_missing_or_another_is_named_and_changes_no_answer(index: Path, tmp_path: Path, effort: Effort) -> None:
    before = everything(index, tmp_path)
    chance = random.Random(2)
    for name in effort(one_of_each(index), files(index)):
        contents = misshapen(index, name)
        searched = effort({chance.choice([*contents, "removed"])}, {*contents, "removed"})
        for what, data in contents.items():
            with replaced(index / name, data):
                check_named(index, name)
                if what in searched:
                    check_answers(index, name, before, tmp_path)
        with removed(index / name):
            if not can_be_gone(index, name):
                check_named(index, name)
            if "removed" in searched:
                check_answers(index, name, before, tmp_path)
    assert not verified(index).faults


def test_files_that_nothing_reads_may_be_damaged(index: Path, tmp_path: Path) -> None:
    before = everything(index, tmp_path)
    unread = [path for path in index.rglob("*") if path.name in UNREAD]
    assert {path.name for path in unread} == UNREAD
    for path in unread:
        path.write_bytes(b"")
    assert not verified(index).faults
    assert everything(index, tmp_path) == before


def lost(index: Path, name: str) -> bool:
    """Whether a file cannot be made anew: papers of the current generation, and what it says is deleted."""
    current = {file for file, _ in read_manifest(index).files()}
    return name in current and Path(name).name.startswith(("papers.parquet", "deleted-"))


def damages(index: Path, name: str, chance: random.Random) -> dict[str, Callable[[Path], None]]:
    """Ways to damage a file, by what happens to it."""
    data = (index / name).read_bytes()
    contents = {**misshapen(index, name), "flipped": flipped(data, chance.randrange(len(data)), chance)}

    def put(content: bytes | None) -> Callable[[Path], None]:
        def damage(path: Path) -> None:
            path.unlink()
            path.mkdir() if content is None else path.write_bytes(content)

        return damage

    ways = {what: put(content) for what, content in contents.items()}
    return ways if can_be_gone(index, name) else {**ways, "removed": Path.unlink}


def test_what_can_be_made_anew_is_repaired(sound: Path, tmp_path: Path, effort: Effort) -> None:
    before = everything(sound, tmp_path)
    chance = random.Random(3)
    for name in effort(one_of_each(sound), files(sound)):
        ways = damages(sound, name, chance)
        for what in effort([chance.choice(list(ways))], list(ways)):
            index = Path(shutil.copytree(sound, tmp_path / "index"))
            ways[what](index / name)
            faults = repair(index).faults
            if lost(sound, name):
                assert {fault.file for fault in faults} == {name}
                assert all("cannot be rebuilt" in fault.what for fault in faults)
                check_named(index, name)
                assert check_answers(index, name, before, tmp_path)
                assert (index / "generations/000002.json").exists()  # where the papers may still be had
            else:
                assert faults == (), (name, what)
                assert verified(index).faults == ()
                assert everything(index, tmp_path) == before, (name, what)
            shutil.rmtree(index)


def spoil(*paths: Path) -> None:
    for path in paths:
        path.write_bytes(path.read_bytes()[:-3])


def test_a_manifest_that_is_lost_with_its_generation_s_is_that_of_the_generation_before(index: Path, tmp_path: Path) -> None:
    with sr.open(index, generation=2) as older:
        before = {name: action(older) for name, action in actions(tmp_path).items()}
    spoil(index / MANIFEST, index / "generations/000003.json")
    notes = Notes()
    assert not repair(index, progress=notes).faults
    assert any("generation 2 is current now" in text for text in notes.texts)
    assert everything(index, tmp_path) == before


def test_a_manifest_is_restored_though_files_are_damaged_too(index: Path, tmp_path: Path) -> None:
    """It is that of the newest generation whose papers are there, not that of an older one which happens to be whole."""
    before = everything(index, tmp_path)
    (index / MANIFEST).unlink()
    spoil(index / "lexical/000003/000001.npy")
    assert not repair(index).faults
    assert everything(index, tmp_path) == before


def test_where_all_manifests_are_damaged_nothing_can_be_repaired(index: Path) -> None:
    spoil(index / MANIFEST, *(index / "generations").iterdir())
    files_before = {path: path.read_bytes() for path in index.rglob("*") if path.is_file() and path.name != ".lock"}
    with pytest.raises(CorruptData, match=re.escape(str(index / MANIFEST))) as caught:
        repair(index)
    assert "\n" not in str(caught.value)
    assert [fault.file for fault in verifying.verify(index).faults] == [MANIFEST]
    assert {path: path.read_bytes() for path in files_before} == files_before


@pytest.fixture
def unchecked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files are read as they are, as if the manifest's checksums fitted them."""

    def passed(self: Verified, name: str, facts: Mapping[str, Any]) -> Path:
        return self.directory / name

    monkeypatch.setattr(Verified, "check", passed)
    monkeypatch.setattr(verifying, "_file_faults", lambda *_: ())


def wild(data: bytes, chance: random.Random) -> bytes:
    """Data with one byte or some of them, in one place or in several, that are others."""
    changed = bytearray(data)
    for _ in range(chance.choice([1, 1, 1, 3])):
        start = chance.randrange(len(data))
        end = min(start + chance.choice([1, 1, 4, 8, 32]), len(data))
        changed[start:end] = chance.choice([chance.randbytes(end - start), b"\0" * (end - start), b"\xff" * (end - start)])
    return wild(data, chance) if changed == data else bytes(changed)


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize("part", range(PARTS))
def test_damage_that_keeps_the_checksum_is_an_answer_or_is_named(part: int, index: Path, tmp_path: Path, effort: Effort) -> None:
    chance = random.Random(4 + part)
    read = actions(tmp_path)
    names = [name for name, _ in sorted(read_manifest(index).files()) if not name.endswith(".faiss")]
    assert {Path(name).suffix for name in names} == {".npy", ".arrow", ".parquet"}
    refusals = 0
    for name in names[part::PARTS]:
        data = (index / name).read_bytes()
        for _ in range(effort(2, 400)):
            with replaced(index / name, wild(data, chance)), warnings.catch_warnings():
                warnings.simplefilter("ignore", RuntimeWarning)  # of infinite numbers and the like
                faults = verifying.verify(index).faults
                refusals += len(faults)
                assert all("\n" not in fault.what for fault in faults)
                for action in chance.sample(list(read), 3):
                    refusal = refused(index, read[action])
                    assert "\n" not in refusal
                    # golden vectors that are others are as of another encoder, and ids that are others are other papers'
                    excuse = "other vectors" if "golden" in name else "there is no paper" if "ids.arrow" in name else str(index)
                    assert not refusal or str(index) in refusal or excuse in refusal
    assert refusals


def refused(index: Path, action: Callable[[sr.Index], Any]) -> str:
    """How an index refuses to be read in some way; "" if it answers."""
    try:
        with sr.open(index) as opened_index:
            action(opened_index)
    except (CorruptData, InvalidRequest, NotFound) as error:
        return str(error)
    return ""


def test_a_faiss_index_is_read_only_if_it_is_as_it_was_written(
    index: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, effort: Effort
) -> None:
    """What FAISS does with a file that means harm cannot be known: it is C++, and checks little."""
    read_paths: list[str] = []
    read_index = faiss.read_index

    def noted(path: str, *options: Any) -> Any:
        read_paths.append(path)
        return read_index(path, *options)

    monkeypatch.setattr(faiss, "read_index", noted)
    names = [name for name, _ in read_manifest(index).files() if name.endswith(".faiss")]
    everything(index, tmp_path)
    assert set(read_paths) == {str(index / name) for name in names}
    chance = random.Random(5)
    for name in names:
        for _ in range(effort(1, 100)):
            with replaced(index / name, wild((index / name).read_bytes(), chance)):
                read_paths.clear()
                answers = everything(index, tmp_path)
                assert verifying.verify(index).faults
                assert str(index / name) not in read_paths
                assert isinstance(answers["dense"], CorruptData)


PATHS_OUTSIDE = (
    *("../outside", "../../outside", "/etc/passwd", "shards/../../outside", "a/b", "..", ".", "", "000000\0", "000000/", "000000\n"),
    *("000003/../../outside", "golden-000001.npy/../../outside", "vectors.npy/../../outside", "dense-000001.faiss/../../outside"),
)
"""Names that lead out of an index, or nowhere."""


def renamed_shard(manifest: dict[str, Any], name: str) -> None:
    manifest["lexical"]["files"][f"{name}.npy"] = manifest["lexical"]["files"].pop(f"{manifest['shards'][0]['name']}.npy")
    manifest["shards"][0]["name"] = name


def files_of(manifest: dict[str, Any]) -> dict[str, Any]:
    facts: dict[str, Any] = manifest["shards"][0]["files"]
    return facts


RENAMES: dict[str, Callable[[dict[str, Any], str], object]] = {
    "golden": lambda manifest, name: manifest["encoder"]["golden"].update(file=name),
    "golden within": lambda manifest, name: manifest["encoder"]["golden"].update(file=f"encoder/{name}"),
    "folder": lambda manifest, name: manifest["lexical"].update(folder=name),
    "folder within": lambda manifest, name: manifest["lexical"].update(folder=f"lexical/{name}"),
    "frequencies": lambda manifest, name: manifest["lexical"]["files"].update({name: manifest["lexical"]["files"].popitem()[1]}),
    "shard": renamed_shard,
    "vectors": lambda manifest, name: files_of(manifest).update({name: files_of(manifest).pop("vectors.npy")}),
    "further file": lambda manifest, name: files_of(manifest).update({name: files_of(manifest)["vectors.npy"]}),
}


@pytest.mark.parametrize("rename", RENAMES)
def test_a_manifest_that_names_files_elsewhere_is_refused(index: Path, rename: str) -> None:
    whole, answers = read_sealed(index / MANIFEST), {}
    for name in PATHS_OUTSIDE:
        with edited_manifest(index) as manifest:
            manifest |= copy.deepcopy(whole)
            RENAMES[rename](manifest, name)
        answers[name] = [refusal(use, index) for use in USES], [fault.file for fault in verifying.verify(index).faults]
    others = [f"{index / generation_file(index, 3)} is damaged", *[f"{index / MANIFEST} is damaged"] * 3]
    expected = [f"{index / MANIFEST} is damaged", *others], [MANIFEST]
    assert {name: answer for name, answer in answers.items() if answer != expected} == {}


USES: tuple[Callable[[Path], object], ...] = (
    *(sr.open, lambda path: sr.open(path, generation=3)),
    *(lifecycle.merge, lifecycle.reindex, lambda path: lifecycle.delete(path, "p0004")),
)
"""What reads a manifest."""


def refusal(use: Callable[[Path], object], index: Path) -> str:
    """What an index is refused for, without the details."""
    with pytest.raises(CorruptData) as caught:
        use(index)
    return str(caught.value).partition(" (")[0]


VALUES: tuple[Any, ...] = (
    *(None, True, -1, 0, 1, 2**31, 2**63, 0.5, float("inf"), float("nan"), "", "x", "000000"),
    *([], [1], {}, {"a": 1}, [[]], {"bytes": 1, "sha256": ""}),
)
"""What may stand in a manifest in the place of something else."""


def places(value: Any) -> list[tuple[Any, Any]]:
    """All places in JSON: what each is in, and its name or number there."""
    inner = list(value.items()) if isinstance(value, dict) else list(enumerate(value)) if isinstance(value, list) else []
    return [place for key, item in inner for place in ((value, key), *places(item))]


def test_a_manifest_of_other_values_is_refused_or_of_no_consequence(index: Path, tmp_path: Path, effort: Effort) -> None:
    chance = random.Random(6)
    read = actions(tmp_path)
    sound = read_sealed(index / MANIFEST)
    refusals = 0
    for _ in range(effort(60, 5000)):
        manifest = copy.deepcopy(sound)
        within, key = chance.choice(places(manifest))
        if chance.random() < 0.2:
            del within[key]
        else:
            within[key] = chance.choice(VALUES)
        for path in (index / MANIFEST, index / "generations/000003.json"):
            write_sealed(path, manifest)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)
            assert all("\n" not in fault.what for fault in verifying.verify(index).faults)
            refusal = refused(index, read[chance.choice(list(read))])
        assert "\n" not in refusal
        refusals += bool(refusal)
    assert refusals > effort(60, 5000) / 4


class Pickled:
    """Makes a file when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> Any:
        return Path.touch, (self.path,)


@pytest.mark.usefixtures("unchecked")
def test_nothing_is_unpickled(index: Path, tmp_path: Path) -> None:
    trap = tmp_path / "unpickled"
    objects = io.BytesIO()
    np.save(objects, np.array([Pickled(trap)], object), allow_pickle=True)
    before = everything(index, tmp_path)
    for name in (name for name, _ in read_manifest(index).files() if name.endswith(".npy")):
        for data in (objects.getvalue(), pickle.dumps(Pickled(trap))):
            with replaced(index / name, data):
                assert check_answers(index, name, before, tmp_path)
                check_named(index, name)
    assert not trap.exists()
    np.load(io.BytesIO(objects.getvalue()), allow_pickle=True)
    assert trap.exists()  # the trap does work

"""Building in parts: what several machines build without knowing of each other is, joined, the index that one would have built."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

import sciretrieve as sr
from sciretrieve.base.errors import InvalidRequest
from sciretrieve.base.types import Paper
from sciretrieve.lifecycle import parts
from sciretrieve.options import BuildSettings
from tests.command_line import sciretrieve
from tests.lifecycle.test_building import contents
from tests.listeners import Stop, StopAfter
from tests.made_up import made_up_papers, write_jsonl
from tests.toy_encoder import NAMED, LetterEncoder

SETTINGS = BuildSettings(encoder=None, shard_size=30)
SHARES = ("1/3", "2/3", "3/3")


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    return write_jsonl(tmp_path / "corpus.jsonl", [*made_up_papers(200), {"id": "textless"}])


def manifest(index: sr.Index) -> dict[str, object]:
    """What a manifest says, less when it was written."""
    facts: dict[str, object] = json.loads((index.path / "manifest.json").read_text())
    return {name: value for name, value in facts.items() if name not in ("created", "log", "checksum")}


def test_parts_make_the_index_of_one_machine(corpus: Path, tmp_path: Path) -> None:
    whole = sr.build(corpus, tmp_path / "whole", SETTINGS)
    built = [sr.build_part(corpus, tmp_path / "parts", share, SETTINGS) for share in reversed(SHARES)]
    assert sum(part.papers for part in built) == len(whole)
    assert [part.shards for part in built] == [2, 2, 3]
    with pytest.raises(sr.NoSuchIndex, match=r"has parts of an index, and none yet; `sciretrieve index parts .*` joins them"):
        sr.open(tmp_path / "parts")
    with pytest.raises(InvalidRequest, match="is an unfinished index, or part of one, and no corpus; name the corpus"):
        sr.build(tmp_path / "parts", tmp_path / "of parts", SETTINGS)
    made = sr.index_parts(tmp_path / "parts")
    assert (made.parts, made.shards) == (3, 7)
    joined = sr.open(tmp_path / "parts")
    assert contents(joined) == contents(whole)
    assert manifest(joined) == manifest(whole)
    assert (joined.path / "rejected.jsonl").read_bytes() == (whole.path / "rejected.jsonl").read_bytes()
    assert not (tmp_path / "parts" / "parts").exists()


@pytest.mark.parametrize("of", [2, 3, 7, 20])
def test_any_corpus_is_divided_into_even_ranges_that_make_one_index(tmp_path: Path, of: int) -> None:
    rows = made_up_papers(20)
    corpus = tmp_path / "corpus"  # of several files, which are read one by one
    corpus.mkdir()
    for number, share in enumerate(([*rows[:6]], [*rows[6:11], {"id": "textless"}], rows[11:])):
        write_jsonl(corpus / f"{number}.jsonl", share)
    settings = BuildSettings(encoder=None, shard_size=1000 if of % 2 else 8)
    built = [sr.build_part(corpus, tmp_path / "parts", f"{number}/{of}", settings) for number in range(1, of + 1)]
    ends = np.cumsum([part.papers for part in built])
    assert [part.first for part in built] == [1, *(ends[:-1] + 1)]
    assert {part.of for part in built} == {ends[-1]} == {20}
    assert min(part.papers for part in built) >= 1
    assert max(part.papers for part in built) <= 20 / of * 5 / 3 + 1
    sr.index_parts(tmp_path / "parts")
    whole, joined = sr.build(corpus, tmp_path / "whole", settings), sr.open(tmp_path / "parts")
    assert joined.snapshot.live_ids() == whole.snapshot.live_ids()
    queries = [row["title"] for row in rows[:10]]
    assert [[*zip(found.ids, found.scores, strict=True)] for found in joined.search(queries, 20)] == [
        [*zip(found.ids, found.scores, strict=True)] for found in whole.search(queries, 20)
    ]
    assert not sr.verify(joined.path).faults
    sr.merge(tmp_path / "parts")
    assert len(sr.open(tmp_path / "parts").snapshot.manifest.shards) == len(whole.snapshot.manifest.shards)


@pytest.mark.parametrize("part", ["1/41", "41/41", "7/1000000000"])
def test_a_part_that_would_be_empty_is_refused_and_leaves_nothing(tmp_path: Path, part: str) -> None:
    corpus = write_jsonl(tmp_path / "corpus.jsonl", made_up_papers(40))
    with pytest.raises(InvalidRequest, match=r"40 papers are too few for .* parts, of which some would be empty; make 40 parts at most"):
        sr.build_part(corpus, tmp_path / "parts", part, encoder=None)
    sr.build_part(corpus, tmp_path / "parts", "1/40", encoder=None)


def test_parts_that_were_built_elsewhere_are_copied_together(corpus: Path, tmp_path: Path) -> None:
    for number, share in enumerate(SHARES):
        machine = tmp_path / f"machine-{number}"
        machine.mkdir()
        own_corpus = shutil.copy(corpus, machine / "corpus.jsonl")  # another path, another time
        sr.build_part(own_corpus, machine / "index", share, SETTINGS)
        shutil.copytree(machine / "index" / "parts", tmp_path / "index" / "parts", dirs_exist_ok=True)
    sr.index_parts(tmp_path / "index")
    joined, whole = contents(sr.open(tmp_path / "index")), contents(sr.build(corpus, tmp_path / "whole", SETTINGS))
    assert {**joined, "rejected.jsonl": b""} == {**whole, "rejected.jsonl": b""}  # it names the corpus's file


def test_an_interrupted_part_resumes(corpus: Path, tmp_path: Path) -> None:
    with pytest.raises(Stop):
        sr.build_part(corpus, tmp_path / "index", "1/3", SETTINGS, progress=StopAfter(40, "papers"))
    with pytest.raises(InvalidRequest, match=r"2/3.* missing"):
        sr.index_parts(tmp_path / "index")
    for share in SHARES[1:]:
        sr.build_part(corpus, tmp_path / "index", share, SETTINGS)
    with pytest.raises(InvalidRequest, match=r"1/3.* unfinished"):
        sr.index_parts(tmp_path / "index")
    sr.build_part(corpus, tmp_path / "index", "1/3", SETTINGS)
    sr.index_parts(tmp_path / "index")
    assert contents(sr.open(tmp_path / "index")) == contents(sr.build(corpus, tmp_path / "whole", SETTINGS))


@pytest.mark.parametrize("step", ["Pending.begin", "publish", "remove"])
def test_an_interrupted_join_resumes(corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str) -> None:
    for share in SHARES:
        sr.build_part(corpus, tmp_path / "index", share, SETTINGS)

    def stop(*_: object, **__: object) -> None:
        raise Stop

    with monkeypatch.context() as patch:
        patch.setattr(f"sciretrieve.lifecycle.parts.{step}", stop)
        with pytest.raises(Stop):
            sr.index_parts(tmp_path / "index")
    with pytest.raises(InvalidRequest, match="sciretrieve index parts"):
        sr.build(corpus, tmp_path / "index", SETTINGS)
    sr.index_parts(tmp_path / "index")
    assert contents(sr.open(tmp_path / "index")) == contents(sr.build(corpus, tmp_path / "whole", SETTINGS))


def test_parts_of_other_corpora_or_settings_are_refused(corpus: Path, tmp_path: Path) -> None:
    sr.build_part(corpus, tmp_path / "index", "1/2", SETTINGS)
    other = write_jsonl(tmp_path / "other.jsonl", made_up_papers(150))
    sr.build_part(other, tmp_path / "index", "2/2", SETTINGS)
    with pytest.raises(InvalidRequest, match=r"1/2 and 2/2 .* another corpus"):
        sr.index_parts(tmp_path / "index")
    sr.build_part(corpus, tmp_path / "index", "2/2", SETTINGS, limit=180, overwrite=True)
    with pytest.raises(InvalidRequest, match=r"another corpus, `limit`"):
        sr.index_parts(tmp_path / "index")
    sr.build_part(corpus, tmp_path / "index", "1/3", SETTINGS)
    with pytest.raises(InvalidRequest, match="several divisions"):
        sr.index_parts(tmp_path / "index")


class Drifted(LetterEncoder):
    """The same by name and identity, with other vectors: as another version of a library makes them."""

    def _vector(self, paper: Paper, side: int) -> list[float]:
        return super()._vector(paper, side)[::-1]


def test_parts_whose_encoders_give_other_vectors_are_refused(corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for share, encoder in (("1/2", LetterEncoder()), ("2/2", Drifted())):
        monkeypatch.setitem(NAMED, "letters", encoder)
        sr.build_part(corpus, tmp_path / "index", share, encoder="letters", shard_size=30)
    with pytest.raises(InvalidRequest, match="another vector for the same text, though their encoder has one name"):
        sr.index_parts(tmp_path / "index")
    sr.build_part(corpus, tmp_path / "index", "1/2", encoder="letters", shard_size=30, overwrite=True)
    sr.index_parts(tmp_path / "index")


def test_an_index_that_is_there_is_not_touched(corpus: Path, tmp_path: Path) -> None:
    index = sr.build(corpus, tmp_path / "index", SETTINGS)
    with pytest.raises(InvalidRequest, match="holds an index already"):
        sr.build_part(corpus, tmp_path / "index", "1/2", SETTINGS)
    sr.build_part(corpus, tmp_path / "other", "1/1", SETTINGS)
    shutil.copytree(tmp_path / "other" / "parts", tmp_path / "index" / "parts")
    with pytest.raises(InvalidRequest, match="new directory"):
        sr.index_parts(tmp_path / "index")
    assert len(sr.open(index.path)) == len(index)


@pytest.mark.parametrize("part", ["0/3", "4/3", "3", "a/b", "1/0", "-1/3", "²/3"])
def test_a_part_that_is_none(corpus: Path, tmp_path: Path, part: str) -> None:
    with pytest.raises(InvalidRequest, match="`part` wants I/N"):
        sr.build_part(corpus, tmp_path / "index", part, SETTINGS)
    assert not (tmp_path / "index").exists()


def test_a_place_with_other_files_is_refused(corpus: Path, tmp_path: Path) -> None:
    for place, why in ((corpus, "is a file"), (tmp_path, "holds other files")):
        with pytest.raises(InvalidRequest, match=why):
            sr.build_part(corpus, place, "1/2", SETTINGS)


def test_the_commands(corpus: Path, tmp_path: Path) -> None:
    index = tmp_path / "index"
    options = ["--dense", "none", "--set", "shard_size=30", "-o", str(index)]
    first = sciretrieve("index", corpus, *options, "--part", "1/2")
    assert first.returncode == 0
    assert f"sciretrieve index parts {index}" in first.stderr
    assert "part 1/2 gets the papers 1 to 120 of 200" in first.stderr
    assert "part 1/2: 120 papers, 1 to 120 of 200, in 4 shards" in first.stderr
    estimated = sciretrieve("index", corpus, *options, "--part", "1/2", "--dry-run")
    assert (estimated.returncode, "leave out --part" in estimated.stderr) == (2, True)
    early = sciretrieve("index", "parts", index)
    assert early.returncode == 2
    assert "part 2/2" in early.stderr
    assert sciretrieve("index", corpus, *options, "--part", "2/2").returncode == 0
    joined = sciretrieve("index", "parts", index)
    assert joined.returncode == 0
    assert "2 parts" in joined.stderr
    assert len(sr.open(index)) == 200
    assert parts.has_parts(index) is False

"""A log run again: the same counts on the same generations, whatever became of the indexes, and what differs is said."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

import sciretrieve as sr
from sciretrieve.base.errors import CorruptData, InvalidRequest, NotFound
from sciretrieve.strategies import parse, replay, run, write
from tests.strategies.libraries import built, made_up

STRATEGY = """
since = 2009
[lines]
s1 = 'mouse'
s2 = 'heart OR unavailable:"exp Heart/"'
s3 = 's1 NOT s2'
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two libraries, and the log of a strategy over them."""
    for number, name in enumerate(("mine", "lab"), 1):
        built(made_up(name, 30, number), tmp_path / name).close()
    write(run(parse(STRATEGY), [tmp_path / "mine", tmp_path / "lab"]), tmp_path / "out")
    return tmp_path


def log(folder: Path) -> dict[str, Any]:
    value: dict[str, Any] = json.loads((folder / "out" / "log.json").read_text())
    return value


def changed(folder: Path, value: Any) -> Path:
    path = folder / "changed.json"
    path.write_text(json.dumps(value))
    return path


def test_the_counts_are_the_same(folder: Path) -> None:
    again = replay(folder / "out" / "log.json")
    assert again.differences == ()
    assert again.date == log(folder)["date"]
    assert again.result.log["lines"] == log(folder)["lines"]


def test_the_generations_are_those_of_then(folder: Path) -> None:
    sr.add([{"id": "new", "title": "A mouse", "year": 2012}], folder / "mine")
    sr.delete(folder / "lab", "lab05")
    again = replay(folder / "out" / "log.json")
    assert again.differences == ()
    assert [index["generation"] for index in again.result.log["indexes"]] == [1, 1]
    now = run(parse(STRATEGY), [folder / "mine", folder / "lab"])
    assert [index["generation"] for index in now.log["indexes"]] == [2, 2]
    assert now.log["lines"][0]["counts"]["mine"] == log(folder)["lines"][0]["counts"]["mine"] + 1


def test_a_generation_that_is_gone(folder: Path) -> None:
    sr.delete(folder / "lab", "lab05")
    sr.merge(folder / "lab")
    with pytest.raises(NotFound, match="has no generation 1") as error:
        replay(folder / "out" / "log.json")
    assert "\n" not in str(error.value)


def test_indexes_that_have_moved(folder: Path) -> None:
    for name in ("mine", "lab"):
        (folder / name).rename(folder / f"new-{name}")
    with pytest.raises(NotFound, match="there is no index"):
        replay(folder / "out" / "log.json")
    assert replay(folder / "out" / "log.json", [folder / "new-mine", folder / "new-lab"]).differences == ()
    with pytest.raises(InvalidRequest, match=r"is of 2 indexes; name as many, in this order: mine, lab"):
        replay(folder / "out" / "log.json", [folder / "new-mine"])


def test_what_differs_is_said(folder: Path) -> None:
    value = log(folder)
    value["lines"][0]["counts"]["lab"] += 1000
    value["result"]["papers"] += 5
    count, papers = log(folder)["lines"][0]["counts"]["lab"], log(folder)["result"]["papers"]
    assert replay(changed(folder, value)).differences == (
        f"line s1 has {count:,} in lab, and had {count + 1000:,}",
        f"the result has {papers:,} papers, and had {papers + 5:,}",
    )


def test_an_index_built_anew_in_its_place_differs(folder: Path) -> None:
    shutil.rmtree(folder / "lab")
    built(made_up("lab", 12, 5), folder / "lab").close()
    differences = replay(folder / "out" / "log.json").differences
    assert (differences[0], differences[-1]) == (
        "index lab has 12 papers, and had 30",
        "index lab was rebuilt since: its generation 1 differs",
    )


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"schema": 2}, InvalidRequest, "has schema 2, of a later version of sciretrieve; this one reads up to 1"),
        ({"schema": 0}, CorruptData, "is not the log of a strategy"),
        ({"indexes": []}, CorruptData, "is not the log of a strategy"),
        ({"lines": [{"name": "s1"}]}, CorruptData, "is not the log of a strategy"),
        ({"lines": [{"name": "s1", "counts": {"mine": "many", "lab": 1}}]}, CorruptData, "is not the log of a strategy"),
        ({"strategy": 3}, CorruptData, "is not the log of a strategy"),
        ({"result": None}, CorruptData, "is not the log of a strategy"),
        ({"strategy": "[lines]"}, InvalidRequest, "the strategy in .*changed.json: it has no lines"),
    ],
)
def test_what_is_no_log(folder: Path, change: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message) as raised:
        replay(changed(folder, log(folder) | change))
    assert "\n" not in str(raised.value)


def test_files_that_are_no_log(folder: Path) -> None:
    with pytest.raises(NotFound, match="there is no log"):
        replay(folder / "none.json")
    (folder / "text.json").write_text("{")
    with pytest.raises(CorruptData, match="cannot be read as the log of a strategy"):
        replay(folder / "text.json")
    with pytest.raises(CorruptData, match="is not the log of a strategy"):
        replay(changed(folder, [1]))


def test_an_index_may_have_any_name(tmp_path: Path) -> None:
    built(made_up("value", 5, 5), tmp_path / "value").close()
    write(run(parse("[lines]\ns1 = 'mouse'"), [tmp_path / "value"]), tmp_path / "out")
    assert replay(tmp_path / "out" / "log.json").differences == ()

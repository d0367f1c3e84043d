"""Receipts: they are computed again from any folder and after a move, and say by hashes what has changed."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from sciretrieve.base.errors import InvalidRequest, NotFound
from sciretrieve.evaluation import evaluate, receipts, replay
from tests.evaluation.made_up_benchmarks import write_beir
from tests.read_only import read_only

WORDS = ("apple", "bridge", "copper", "desert", "engine", "forest")


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a BEIR directory, in which one is."""
    papers = ({"id": f"d{at}", "title": word, "abstract": f"{word} {WORDS[at - 1]}"} for at, word in enumerate(WORDS))
    queries = {f"q{at}": word for at, word in enumerate(WORDS)}
    write_beir(tmp_path / "project" / "data", papers, queries, {f"q{at}": {f"d{at}": 1} for at in range(len(WORDS))})
    monkeypatch.chdir(tmp_path / "project")
    return tmp_path / "project"


@pytest.fixture
def receipt(project: Path) -> Path:
    """The receipt of an evaluation whose folders were all named from where one was."""
    evaluate("beir:data", mode="bm25", output="run", cache="cache", progress=False)
    return project / "run" / "receipt.json"


def edited(path: Path, **changes: Any) -> None:
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


def test_a_receipt_is_computed_again_from_anywhere(receipt: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = replay(receipt, progress=False)
    monkeypatch.chdir(tmp_path)
    index = next((tmp_path / "project" / "cache").glob("*/manifest.json"))
    before = index.stat().st_mtime_ns
    report, differences = replay(receipt, progress=False)
    assert (differences, list(report.notes)) == ([], list(first[0].notes))
    assert index.stat().st_mtime_ns == before  # its papers are not indexed again
    assert not (tmp_path / "cache").exists()


def test_a_project_may_move(receipt: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.move(tmp_path / "project", tmp_path / "elsewhere")
    monkeypatch.chdir(tmp_path)
    moved = tmp_path / "elsewhere" / "run" / "receipt.json"
    report, differences = replay(moved, progress=False)
    assert differences == []
    assert not any("SHA-256" in note and "index" not in note for note in report.notes)
    shutil.rmtree(tmp_path / "elsewhere" / "data")
    with pytest.raises(NotFound, match="project/data"):
        replay(moved, progress=False)


def test_nothing_is_written_beside_a_receipt(receipt: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With its index, and after a move, by which the index is outdated; from a folder without write permission."""
    index = receipt.parents[1] / "cache/beir-data-bm25"
    (index / ".lock").unlink()
    _, differences = read_only(receipt.parents[1], lambda: replay(receipt, progress=False))
    assert (differences, (index / ".lock").exists()) == ([], False)
    shutil.move(tmp_path / "project", tmp_path / "medium")
    monkeypatch.chdir(tmp_path / "medium")
    before = sorted(Path().rglob("*"))
    _, differences = read_only(Path.cwd(), lambda: replay(Path("run/receipt.json"), progress=False))
    assert (differences, sorted(Path().rglob("*"))) == ([], before)


@pytest.mark.parametrize(
    ("file", "old", "new", "changed", "differs"),
    [
        ("qrels/test.tsv", "q1\td1", "q1\td4", "judgements", True),
        ("queries.jsonl", "apple", "apple apple", "queries", False),
        ("corpus.jsonl", '"text": "bridge apple"', '"text": "bridge apples"', "corpus", False),
    ],
)
def test_what_has_changed_is_named_with_its_hashes(
    file: str, old: str, new: str, changed: str, differs: bool, receipt: Path, project: Path
) -> None:
    path = project / "data" / file
    path.write_text(path.read_text().replace(old, new))
    report, differences = replay(receipt, progress=False)
    before = json.loads(receipt.read_text())["hashes"]
    lines = [note for note in report.notes if "SHA-256" in note and not note.startswith("index")]
    assert [line.split(":")[0] for line in lines] == [changed]
    assert lines[0].startswith(f"{changed}: SHA-256 {before[changed][:12]}… in the receipt, ")
    assert bool(differences) == differs
    assert not differs or lines[0] in differences


def test_code_and_versions_are_compared(receipt: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    facts = json.loads(receipt.read_text())
    assert facts["hashes"]["code"] == receipts.code_hash()
    edited(receipt, versions=facts["versions"] | {"numpy": "0.1"})
    monkeypatch.setattr(receipts, "code_hash", lambda: "f" * 64)
    report, differences = replay(receipt, progress=False)
    assert differences == []
    assert f"code: SHA-256 {facts['hashes']['code'][:12]}… in the receipt, {'f' * 12}… now" in report.notes
    assert any(note.startswith("numpy was 0.1 and is ") for note in report.notes)


def test_the_same_contents_have_the_same_hashes_wherever_they_are(receipt: Path, tmp_path: Path) -> None:
    shutil.copytree("data", tmp_path / "copy")
    evaluate(f"beir:{tmp_path / 'copy'}", mode="bm25", output=tmp_path / "other", cache=tmp_path / "cache", progress=False)
    one, other = (json.loads(path.read_text())["hashes"] for path in (receipt, tmp_path / "other" / "receipt.json"))
    assert {name: one[name] for name in one if name != "index"} == {name: other[name] for name in other if name != "index"}


def test_an_earlier_receipt_is_read_and_said_to_be_one(receipt: Path) -> None:
    facts = json.loads(receipt.read_text())
    old = {name: facts[name] for name in ("request", "measures", "encoder", "versions", "times")}
    receipt.write_text(json.dumps({"schema": 1, "manifest": facts["hashes"]["index"], **old}))
    report, differences = replay(receipt, progress=False)
    assert differences == []
    assert receipts.OLD in report.notes


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"schema": 3}, "is of a later version"),
        ({"request": {"benchmark": "beir:data"}}, "is not a receipt"),
        ({"measures": None}, "is not a receipt"),
        ({"measures": {}}, "is not a receipt"),
        ({"request": {"benchmark": "beir:data", "measures": [], "unknown": 1}}, "is not a receipt"),
        ({"paths": {"nothing": "/x"}}, "is not a receipt"),
    ],
)
def test_what_is_no_receipt_is_refused(changes: dict[str, Any], words: str, receipt: Path) -> None:
    edited(receipt, **changes)
    with pytest.raises(InvalidRequest, match=words):
        replay(receipt, progress=False)


@pytest.mark.parametrize("text", ["", '{"schema": 2', "[]", '{"schema": 2, "schema": 2}'])
def test_a_damaged_receipt_is_no_damaged_index(text: str, tmp_path: Path) -> None:
    (tmp_path / "receipt.json").write_text(text)
    with pytest.raises(InvalidRequest, match=r"receipt\.json") as refusal:
        replay(tmp_path / "receipt.json", progress=False)
    assert "index" not in str(refusal.value).replace(str(tmp_path), "")
    with pytest.raises(NotFound, match="there is no receipt"):
        replay(tmp_path, progress=False)

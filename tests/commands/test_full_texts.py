"""`--fulltext`, `--passages`, `count`, `show` and `info`, as people type them."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

import sciretrieve as sr
from sciretrieve.base.errors import IndexBusy
from sciretrieve.storage.manifest import read_manifest
from tests.command_line import answer, sciretrieve
from tests.lifecycle.test_full_texts import body, papers
from tests.made_up import write_jsonl


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    return write_jsonl(tmp_path / "papers.jsonl", [{**row, "text": None} for row in papers()])


@pytest.fixture
def texts(tmp_path: Path) -> Path:
    folder = tmp_path / "texts"
    folder.mkdir()
    for number in (1, 2, 4):
        (folder / f"p{number:02}.txt").write_text(body(number))
    return folder


@pytest.fixture
def index(corpus: Path, texts: Path, tmp_path: Path) -> Path:
    answer("index", corpus, "-o", tmp_path / "index", "--dense", "none", "--fulltext", texts)
    return tmp_path / "index"


def test_an_index_of_papers_and_full_texts(index: Path, texts: Path) -> None:
    (line,) = [line for line in answer("info", "-i", index).splitlines() if line.startswith("full text")]
    assert "passages" in line
    (texts / "p05.txt").write_text(body(5))
    again = sciretrieve("add", "--fulltext", texts, "-i", index)
    assert (again.returncode, "1 full text read, 3 unchanged" in again.stderr) == (0, True)
    assert "p. " not in answer("search", "zebra5", "-i", index)
    assert "2 Methods: The method takes zebra5" in " ".join(answer("search", "zebra5", "-i", index).split())


def test_passages_are_printed(index: Path) -> None:
    first = answer("search", "zebra4", "--passages", "-k", "1", "-i", index).splitlines()
    assert first[0].startswith("p04#")
    value = json.loads(answer("search", "zebra4", "--passages", "-k", "1", "-f", "json", "-i", index))
    (passage,) = value["passages"]
    name = f"{passage['paper']}#{passage['number']}"
    assert first[0].startswith(name)
    (line,) = answer("search", "zebra4", "--passages", "-k", "1", "-f", "jsonl", "-i", index).splitlines()
    assert json.loads(line) == passage
    assert answer("show", name, "-i", index).splitlines() == first
    assert json.loads(answer("show", name, "-f", "json", "-i", index))["passages"] == [passage]
    refused = sciretrieve("search", "zebra4", "--passages", "-f", "csv", "-i", index)
    assert (refused.returncode, refused.stderr) == (2, "sciretrieve: --passages are printed with --format table, json or jsonl, not csv\n")


def test_a_hit_has_its_passage_in_json(index: Path) -> None:
    (hit, *_) = json.loads(answer("search", "zebra4", "-f", "json", "-i", index))["hits"]
    assert hit["passage"]["section"] == "2 Methods"
    assert "zebra4" in hit["passage"]["text"]


def test_sections_are_shown_and_counts_say_that_they_count_full_texts(index: Path) -> None:
    assert "1 Introduction · 2 Methods" in answer("show", "p04", "-i", index)
    assert [row["head"] for row in json.loads(answer("show", "p04", "-f", "json", "-i", index))["papers"][0]["sections"]] == [
        "1 Introduction",
        "2 Methods",
    ]
    counted = sciretrieve("count", "zebra4", "-i", index)
    assert counted.stdout.split() == ["#1", "1", "zebra4"]
    assert counted.stderr.startswith("full texts are counted, too; ")


def test_full_texts_open_at_the_page(index: Path, texts: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("webbrowser.open", lambda address: False)
    assert answer("show", "p04", "--open", "-i", index) == f"{(texts / 'p04.txt').as_uri()}#page=1\n"
    assert answer("show", "p04#2", "--open", "-i", index) == f"{(texts / 'p04.txt').as_uri()}#page=1\n"


def test_full_texts_are_read_later(corpus: Path, texts: Path, tmp_path: Path) -> None:
    index = tmp_path / "index"
    told = sciretrieve("index", corpus, "-o", index, "--dense", "none", "--fulltext", texts, "--later")
    assert "read in the background" in told.stderr
    assert answer("count", "paper", "-i", index).split()[1] == "12"  # at once
    for _ in range(600):
        if read_manifest(index).fulltext is not None:
            break
        time.sleep(0.1)
    while True:  # until the process has ended
        try:
            sr.merge(index)
            break
        except IndexBusy:
            time.sleep(0.1)
    assert answer("count", "zebra4", "-i", index).split()[1] == "1"
    assert "3 full texts read" in (index / "fulltext.log").read_text()


def test_what_cannot_be_read_is_said_and_nothing_is_lost(index: Path, texts: Path) -> None:
    for path in texts.iterdir():
        path.unlink()
    for number in (1, 2, 3, 4, 5, 6, 7, 8):
        (texts / f"p{number:02}.pdf").write_bytes(b"%PDF-1.7\n")
    told = sciretrieve("add", "--fulltext", texts, "-i", index)
    assert told.returncode == 0
    assert told.stderr.count("is broken, and cannot be read as a PDF") == 5
    assert f"3 more were left out: see {index / 'fulltext-rejected.jsonl'}" in told.stderr
    assert len((index / "fulltext-rejected.jsonl").read_text().splitlines()) == 8
    assert answer("count", "zebra4", "-i", index).split()[1] == "1"


def test_wrong_uses_say_what_to_do(index: Path, corpus: Path) -> None:
    for arguments, message in (
        (("add", "-i", index), "name a corpus to add, full texts to read by --fulltext, or both"),
        (("add", "--fulltext", "nowhere", "-i", index), "nowhere is no folder, and no column of the papers either"),
        (("index", corpus, "--fulltext", "x", "--part", "1/2"), "full texts are read once the parts are joined"),
    ):
        result = sciretrieve(*map(str, arguments))
        assert (result.returncode, message in result.stderr, result.stderr.count("\n")) == (2, True, 1)


def test_passages_of_one_id_in_two_indexes_have_their_own_titles(index: Path, texts: Path, tmp_path: Path) -> None:
    renamed = write_jsonl(tmp_path / "renamed.jsonl", [{**row, "title": f"Renamed {row['id']}"} for row in papers()])
    answer("index", renamed, "-o", tmp_path / "other", "--dense", "none", "--fulltext", texts)
    printed = answer("search", "zebra4", "--passages", "-k", "4", "-i", index, "-i", tmp_path / "other").splitlines()
    heads = [line for line in printed if line.startswith(("index:", "other:"))]
    assert {line.split(":")[0] for line in heads} == {"index", "other"}
    assert all(("Renamed" in line) == line.startswith("other:") for line in heads)
    name = next(line for line in heads if line.startswith("other:")).split(" · ")[0]
    assert "Renamed" in answer("show", name, "-i", index, "-i", tmp_path / "other").splitlines()[0]

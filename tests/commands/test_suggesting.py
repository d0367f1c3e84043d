"""`suggest` on the command line: a table, JSON, copies, and one line for what cannot be read."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import sciretrieve as sr
from tests.command_line import answer, sciretrieve

CLAIM = "It has been reported that songs of warblers recorded near rivers in spring differ from those elsewhere"


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Some papers, searched by words."""
    path = tmp_path_factory.mktemp("birds") / "index"
    songs = {"id": "bird2004", "title": "Warblers", "abstract": "Songs of warblers are recorded in spring near rivers.", "year": 2004}
    ice = {"id": "frost2010", "title": "Glacier melt", "abstract": "Ice of glaciers melts faster than models predicted.", "year": 2010}
    stars = {"id": "star2011", "title": "Spin of neutron stars", "abstract": "The spin of neutron stars slows down.", "year": 2011}
    branes = {"id": "brane1999", "title": "Gravity on branes", "abstract": "Gravity is trapped on a brane.", "year": 1999}
    sr.build([songs, ice, stars, branes], path, encoder=None, progress=False)
    return path


def test_a_paragraph_gets_a_table_and_json(library: Path) -> None:
    printed = sciretrieve("suggest", "-", "-i", library, stdin=f"{CLAIM}.")
    assert printed.returncode == 0
    assert "bird2004" in printed.stdout
    assert "Songs of warblers are recorded" in printed.stdout
    assert "papers fit 1 of them" in printed.stderr
    value = json.loads(sciretrieve("suggest", "-", "-i", library, "-f", "json", stdin=f"{CLAIM}.").stdout)
    assert [paper["key"] for paper in value["sentences"][0]["papers"]] == ["bird2004"]


def test_a_copy_is_written_beside_the_draft(library: Path, tmp_path: Path) -> None:
    (tmp_path / "draft.tex").write_text(f"{CLAIM}.\n")
    answer("suggest", tmp_path / "draft.tex", "-i", library, "--insert")
    assert (tmp_path / "draft.cited.tex").read_text() == f"{CLAIM}~\\cite{{bird2004}}.\n"
    again = sciretrieve("suggest", tmp_path / "draft.tex", "-i", library, "--insert")
    assert (again.returncode, again.stderr.count("\n")) == (2, 1)


@pytest.mark.parametrize("arguments", [("missing.tex",), ("paper.pdf",), ("-", "--insert"), ("empty.md",)])
def test_bad_input_gets_one_line(library: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...]) -> None:
    monkeypatch.chdir(tmp_path)
    Path("empty.md").touch()
    Path("paper.pdf").write_bytes(b"%PDF-1.4")
    printed = sciretrieve("suggest", *arguments, "-i", library)
    assert (printed.returncode, printed.stderr.count("\n")) == (2, 1)

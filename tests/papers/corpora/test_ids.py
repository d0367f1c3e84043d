"""Whose an id is: papers that share one, and are others, both stay, wherever they meet."""

from pathlib import Path
from typing import Any

import pytest

import sciretrieve as sr
from sciretrieve.papers.corpora.ids import own_id
from tests.made_up import read_corpus, write_jsonl

ADAMS, BROWN = {"authors": ["Ann Adams"]}, {"authors": ["Bob Brown"]}


@pytest.mark.parametrize(
    ("first", "second", "is_other"),
    [
        ({"title": "On whales", **ADAMS}, {"title": "On sparrows", **BROWN}, True),
        ({"title": "On whales", **ADAMS}, {"title": "On sparrows", **ADAMS}, False),  # a title that was corrected
        (
            {"title": "On whales and the other mammals of the sea", **ADAMS},
            {"title": "On Whales and the other mammals of the sea.", **BROWN},
            False,
        ),
        ({"title": "Editorial", **ADAMS}, {"title": "Editorial", **BROWN}, True),
        ({"title": "On whales"}, {"title": "On sparrows"}, False),  # nothing says that they are others
    ],
)
def test_a_paper_with_the_id_of_another_gets_its_own(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, first: Any, second: Any, is_other: bool
) -> None:
    papers, rejected = read_corpus(write_jsonl(tmp_path / "p.jsonl", [{"id": "1", **first}, {"id": "1", **second}]))
    assert len(papers) == 1 + is_other
    assert [row.reason for row in rejected] == ["duplicate id"] * (not is_other)
    assert ("had the id of another paper, and got a new id: 1-" in caplog.text) == is_other
    assert papers["id"].to_pylist()[0] == "1"
    assert len(set(papers["id"].to_pylist())) == len(papers)


def test_numbers_of_records_are_of_another_paper_where_the_title_is_another(tmp_path: Path) -> None:
    (tmp_path / "p.ris").write_text(
        "".join(f"TY  - JOUR\nID  - 1\nTI  - {title}\nER  - \n\n" for title in ("On whales", "On sparrows", "On Whales."))
    )
    papers, rejected = read_corpus(tmp_path / "p.ris")
    assert papers["title"].to_pylist() == ["On whales", "On sparrows"]
    assert [row.reason for row in rejected] == ["duplicate id"]


def test_adding_keeps_both_and_adding_again_changes_nothing(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    for name, author, title in (("a", "Ann Smith", "On whales"), ("b", "Bob Smith-Jones", "On sparrows")):
        (tmp_path / f"{name}.bib").write_text(f"@article{{smith2020, author={{{author}}}, title={{{title}}}, year=2020}}\n")
    sr.build(tmp_path / "a.bib", tmp_path / "index", encoder=None, progress=False).close()
    for added in (1, 0, 0):
        update = sr.add(tmp_path / "b.bib", tmp_path / "index", progress=False)
        assert (update.papers, update.added, update.replaced, update.unchanged) == (2, added, 0, 1 - added)
    assert "had the id of another paper of the index, and got a new id: smith2020-" in caplog.text
    with sr.open(tmp_path / "index") as index:
        assert sorted(paper.title for paper in index.papers_at(index.matching("whales OR sparrows"))) == ["On sparrows", "On whales"]
    for count in (2, 2):  # the same files together are what is there
        update = sr.sync([tmp_path / "a.bib", tmp_path / "b.bib"], tmp_path / "index", progress=False)
        assert (update.papers, update.added, update.replaced, update.deleted) == (count, 0, 0, 0)


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_an_id_that_is_given_to_a_paper_and_that_another_row_has_is_of_one_paper(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, order: tuple[int, int]
) -> None:
    whales, sparrows = {"id": "1", "title": "On whales", **ADAMS}, {"id": "1", "title": "On sparrows", **BROWN}
    rows = [sparrows, {**sparrows, "id": own_id("1", "On sparrows", ["Bob Brown"])}]
    sr.build([whales], tmp_path / "index", encoder=None, progress=False).close()
    for abstract, added in (("", 1), ("An abstract", 0), ("An abstract", 0)):
        update = sr.add([{**rows[place], "abstract": abstract} for place in order], tmp_path / "index", progress=False)
        assert (update.papers, update.added, update.added + update.replaced + update.unchanged) == (2, added, 2)
        assert "papers: 1 paper repeated an earlier one: 1-" in caplog.text
        assert sr.verify(tmp_path / "index", progress=False).faults == ()
        caplog.clear()


@pytest.mark.parametrize("id", ["N/A", "-", "nan", "None", "NULL", "#N/A", "#REF!", "1E+15", "3,1E+12"])
def test_what_stands_for_no_id_is_none(tmp_path: Path, id: str) -> None:
    rows = [{"id": id, "title": f"A title number {number}", "doi": id} for number in range(3)]
    papers, rejected = read_corpus(write_jsonl(tmp_path / "p.jsonl", rows))
    assert rejected == []
    assert all(made.startswith("made-") for made in papers["id"].to_pylist())


def test_ids_of_a_named_column_are_strong_although_a_format_s_own_are_weak(tmp_path: Path) -> None:
    columns = sr.ColumnMap(id="eprint")

    def write(title: str) -> Path:
        (tmp_path / "p.bib").write_text(f"@article{{smith2020, title={{{title}}}, eprint={{2001.00001}}}}\n")
        return tmp_path / "p.bib"

    sr.build(write("On whales"), tmp_path / "index", encoder=None, columns=columns, progress=False).close()
    update = sr.add(write("On sparrows"), tmp_path / "index", columns=columns, progress=False)
    assert (update.papers, update.added, update.replaced) == (1, 0, 1)

"""RIS out: the tags that came in, and records made of other papers, as rispy reads them."""

from pathlib import Path
from typing import Any

import pytest
import rispy

from sciretrieve.answers import outputs
from sciretrieve.base.types import Hit, Paper
from sciretrieve.files.schema import papers_of
from tests.made_up import read_corpus

RECORDS = """TY  - CHAP
ID  - z1
T1  - A chapter
A1  - Lovelace, Ada
A2  - Turing, Alan
BT  - The whole book
SP  - 1
EP  - 10
XX  - a tag of its own
N1  - my own note
ER  - 

TY  - THES
TI  - No id
PB  - MIT
M3  - PhD
  that goes on
ER  - 
"""  # noqa: W291


def written(papers: list[Paper]) -> list[dict[str, Any]]:
    """Papers as records, as rispy reads them."""
    return list(rispy.loads("\n".join(outputs.FORMATS["ris"]([Hit(n, 0.5, paper, {}) for n, paper in enumerate(papers, 1)])) + "\n"))


def test_what_was_read_comes_back_without_a_mark_of_ours(tmp_path: Path) -> None:
    (tmp_path / "p.ris").write_text(RECORDS)
    papers = papers_of(read_corpus(tmp_path / "p.ris")[0])
    assert written(papers) == rispy.loads(RECORDS)


def test_the_book_of_a_chapter_is_its_venue(tmp_path: Path) -> None:
    (tmp_path / "p.ris").write_text(RECORDS)
    chapter, _ = read_corpus(tmp_path / "p.ris")[0].to_pylist()
    assert (chapter["venue"], chapter["editors"], chapter["pages"], chapter["type"]) == ("The whole book", ["Alan Turing"], "1-10", "CHAP")


BIBTEX = r"""
@inproceedings{a, title = {T}, author = {M{\"u}ller, J. and others}, booktitle = {Proc. of X}, pages = {1--10}, volume = 3,
  year = 2000, editor = {Li, W. and Xu, Y.}, doi = {10.1000/a\_b}}
@phdthesis{b, title = {U}, school = {MIT}, year = {2001}}
"""


def test_a_bibliography_in_bibtex_as_ris(tmp_path: Path) -> None:
    (tmp_path / "p.bib").write_text(BIBTEX)
    first, second = written(papers_of(read_corpus(tmp_path / "p.bib")[0]))
    expected = {"type_of_reference": "CONF", "id": "a", "authors": ["Müller, J."], "secondary_title": "Proc. of X", "start_page": "1"}
    expected |= {"end_page": "10", "volume": "3", "year": "2000", "secondary_authors": ["Li, W.", "Xu, Y."], "doi": "10.1000/a_b"}
    assert {tag: first[tag] for tag in expected} == expected
    assert (second["type_of_reference"], second["publisher"]) == ("THES", "MIT")


@pytest.mark.parametrize(
    ("paper", "expected"),
    [
        (Paper("1", "T", venue="Nature"), {"type_of_reference": "JOUR", "journal_name": "Nature"}),
        (Paper("1", "T", venue="Proc. of ACL"), {"type_of_reference": "CONF", "secondary_title": "Proc. of ACL"}),
        (Paper("1", "T", extra={"type": "mastersthesis"}), {"type_of_reference": "THES"}),
        (Paper("10.1145/3.4", "T"), {"type_of_reference": "GEN", "doi": "10.1145/3.4"}),
        (Paper("1409.0473", "T"), {"type_of_reference": "UNPB"}),
        (
            Paper("1", "T", "a\nb", extra={"pages": "3--9", "editor": ["A B", "C D"]}),
            {"start_page": "3", "end_page": "9", "abstract": "a b"},
        ),
        (Paper("1", "T", extra={"editor": ["A B", "C D"]}), {"secondary_authors": ["B, A", "D, C"]}),
    ],
)
def test_records_are_made_of_what_a_corpus_has(paper: Paper, expected: dict[str, Any]) -> None:
    (record,) = written([paper])
    assert {tag: record[tag] for tag in expected} == expected

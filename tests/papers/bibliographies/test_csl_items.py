"""CSL-JSON out: what was read comes back as it was, and what was not is an item that CSL's schema allows and pandoc sets."""

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from sciretrieve.answers import outputs
from sciretrieve.base.types import Hit, Paper
from sciretrieve.files.schema import papers_of
from tests.made_up import read_corpus

ITEMS: list[dict[str, Any]] = [
    {
        "id": "http://zotero.org/users/1/items/AB",
        "type": "paper-conference",
        "title": "On <i>E. coli</i> &amp; more",
        "author": [{"family": "Oord", "given": "A.", "non-dropping-particle": "van den"}, {"literal": "A group"}],
        "issued": {"date-parts": [["2019", 3]]},
        "event-title": "ICML",
        "custom": {"a": [1, None]},
    },
    {"id": 7, "type": "book", "title": "A book", "volume": 3, "abstract": "Of\n two lines", "issued": {"raw": "c. 2020"}},
]
TEXTS = {"abstract", "container-title", "collection-title", "publisher", "publisher-place", "page", "title", "genre", "note", "URL", "DOI"}
TEXTS |= {"ISBN", "ISSN", "PMID", "volume", "issue", "number", "edition", "keyword", "archive"}
"""CSL's variables that may be a text, of those that we write; the schema allows no others."""


def written(papers: list[Paper]) -> list[dict[str, Any]]:
    """Papers as items."""
    text = "\n".join(outputs.FORMATS["csl-json"]([Hit(n, 0.5, paper, {}) for n, paper in enumerate(papers, 1)]))
    return list(json.loads(text))


def read(path: Path, text: str) -> list[Paper]:
    """The papers of a corpus with that text."""
    path.write_text(text, encoding="utf-8")
    return papers_of(read_corpus(path)[0])


def test_what_was_read_comes_back_unchanged(tmp_path: Path) -> None:
    papers = read(tmp_path / "library.json", json.dumps(ITEMS))
    assert papers[0].title == "On E. coli & more"
    assert written(papers) == ITEMS
    assert written(papers[::-1]) == ITEMS[::-1]


def test_crossref_keeps_its_names_in_parts_and_its_day(tmp_path: Path) -> None:
    work = {
        "DOI": "10.1000/a",
        "type": "journal-article",
        "title": ["On heat"],
        "container-title": ["Annalen"],
        "author": [{"given": "Gabriel", "family": "García Márquez", "sequence": "first", "affiliation": []}],
        "issued": {"date-parts": [[1905, 3, 1]]},
        "page": "1-10",
        "issue": "4",
    }
    (item,) = written(read(tmp_path / "works.json", json.dumps({"message": {"items": [work]}})))
    assert item == {
        "id": "garciamarquez1905heat",
        "type": "article-journal",
        "author": [{"family": "García Márquez", "given": "Gabriel"}],
        "issued": {"date-parts": [[1905, 3, 1]]},
        "title": "On heat",
        "container-title": "Annalen",
        "issue": "4",
        "page": "1-10",
        "DOI": "10.1000/a",
    }


BIBTEX = r"""
@inproceedings{a, title = {The {\TeX}book}, author = {Smith, Jr., John and {\"O}zg{\"u}r van den Berg and {The Google Team}},
  pages = {1--10}, booktitle = {Proc. of X}, year = 2000, month = mar, editor = {de la Cruz, Ana}, volume = 3, number = 2,
  publisher = {ACM}, note = {Best paper}}
@phdthesis{b, title = {U}, school = {MIT}, year = {2001}, address = {Cambridge}}
@mastersthesis{c, title = {V}, school = {MIT}}
@techreport{d, title = {W}, institution = {NASA}, number = {TR-7}}
@misc{e, title = {X}, eprint = {1409.0473}, archiveprefix = {arXiv}}
@book{f, title = {Y}, publisher = {Knopf}, edition = {2}, isbn = {3}}
@incollection{g, title = {Z}, booktitle = {The whole}, doi = {10.1000/Z}}
@article{h, title = {A tale}, author = {Garc{\'\i}a M{\'a}rquez, Gabriel and {Li}, Wei and others}, journal = {Z. f{\"u}r Physik}}
"""


def test_a_bibliography_in_bibtex_as_items(tmp_path: Path) -> None:
    items = written(read(tmp_path / "p.bib", BIBTEX))
    assert items[0] == {
        "id": "a",
        "type": "paper-conference",
        "author": [
            {"family": "Smith", "given": "John", "suffix": "Jr."},
            {"family": "Berg", "given": "Özgür", "non-dropping-particle": "van den"},
            {"literal": "The Google Team"},
        ],
        "editor": [{"family": "Cruz", "given": "Ana", "non-dropping-particle": "de la"}],
        "issued": {"date-parts": [[2000, 3]]},
        "title": "The TeXbook",
        "container-title": "Proc. of X",
        "publisher": "ACM",
        "issue": "2",
        "page": "1-10",
        "volume": "3",
        "note": "Best paper",
    }
    assert items[1:7] == [
        {"id": "b", "type": "thesis", "issued": {"date-parts": [[2001]]}, "title": "U", "publisher": "MIT", "publisher-place": "Cambridge"},
        {"id": "c", "type": "thesis", "title": "V", "publisher": "MIT", "genre": "Master's thesis"},
        {"id": "d", "type": "report", "title": "W", "publisher": "NASA", "number": "TR-7"},
        {
            "id": "e",
            "type": "article",
            "title": "X",
            "publisher": "arXiv",
            "number": "arXiv:1409.0473",
            "genre": "preprint",
            "archive": "arXiv",
            "URL": "https://arxiv.org/abs/1409.0473",
        },
        {"id": "f", "type": "book", "title": "Y", "publisher": "Knopf", "edition": "2", "ISBN": "3"},
        {"id": "g", "type": "chapter", "title": "Z", "container-title": "The whole", "DOI": "10.1000/z"},
    ]


def test_what_is_no_item_is_not_taken_for_one() -> None:
    for value in ("[]", "{", '{"title": "x"}', "yes", 3):
        (item,) = written([Paper("own", "T", extra={"csl": value})])
        assert item == {"id": "own", "type": "document", "title": "T"}


def test_every_item_has_only_what_the_schema_allows(tmp_path: Path) -> None:
    papers = read(tmp_path / "p.bib", BIBTEX)
    papers += [Paper("10.1/x", "A\nB", "C\n\nD", 3, "V", ("", "Aristotle"), extra={"month": 13, "author": [{"name": "x"}], "pmid": 3})]
    for item in written(papers):
        assert set(item) <= {"id", "type", "author", "editor", "issued", *TEXTS}
        assert all(
            isinstance(item[name], str) and item[name] and "\n" not in item[name] for name in set(item) - {"author", "editor", "issued"}
        )
        for person in (*item.get("author", ()), *item.get("editor", ())):
            assert set(person) <= {"family", "given", "non-dropping-particle", "dropping-particle", "suffix", "literal"}
            assert {"family", "literal"} & set(person)


@pytest.mark.skipif(shutil.which("pandoc") is None, reason="pandoc is not installed")
def test_pandoc_sets_the_items(tmp_path: Path) -> None:
    (tmp_path / "p.json").write_text(json.dumps(written(read(tmp_path / "p.bib", BIBTEX))), encoding="utf-8")
    source = "As [@a; @b] say, and @e.\n"
    arguments = ["pandoc", "--citeproc", "--bibliography", str(tmp_path / "p.json"), "-f", "markdown", "-t", "plain", "--wrap=none"]
    result = subprocess.run(arguments, input=source, capture_output=True, text=True, check=True)
    assert not result.stderr
    assert "As (Smith et al. 2000; “U” 2001) say" in result.stdout
    assert (
        "Smith, John, Jr., Özgür van den Berg, and The Google Team. 2000. “The TeXbook.” In Proc. Of X, edited by Ana de la Cruz"
        in result.stdout
    )

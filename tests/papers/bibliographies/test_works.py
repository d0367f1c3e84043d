"""What all writers see of a paper: dates, pages and numbers, however sources write them and call their columns."""

from typing import Any

import pytest

from sciretrieve.base.types import Paper
from sciretrieve.files.schema import papers_of
from sciretrieve.papers import identifiers
from sciretrieve.papers.bibliographies.page_ranges import pages_in
from sciretrieve.papers.bibliographies.works import publication_of
from tests.made_up import read_corpus
from tests.papers.bibliographies.test_round_trips import INPUTS


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("21--24", "21–24"),
        ("21–24", "21–24"),
        ("pp. 21-24", "21–24"),
        ("S. 5-9", "5–9"),
        ("583-9", "583–589"),
        ("61-9", "61–69"),
        ("e1000-e1009", "e1000–e1009"),
        ("S1-S5, 12", "S1–S5, 12"),
        ("A-12", "A-12"),
        ("A-12-A-15", "A-12–A-15"),
        ("3-1–3-24", "3-1–3-24"),
        ("xi-xv", "xi–xv"),
        ("79-&", "79"),
        ("123-+", "123"),
        ("7-7", "7"),
        ("n/a-n/a", ""),
        ("-", ""),
        ("9-May", "9-May"),
    ],
)
def test_pages(text: str, expected: str) -> None:
    assert ", ".join(pages.text("–") for pages in pages_in(text)) == expected


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("114-pages.csv", {"page_text": ["21-24", "21-24", "21-24", "583-589", "e1000-e1009"]}),
        ("12-scopus-new.csv", {"page_text": ["5999-6009", "1-2"], "kind.ris": ["CONF", "JOUR"]}),
        ("24-ieee.csv", {"page_text": ["770-778"], "isbns": [("9781467388511",)], "issns": [("1063-6919",)], "kind.ris": ["CONF"]}),
        ("26-wos-excel.csv", {"page_text": ["79-86", "379-423"], "date": ["1951-03", "1948"]}),
        ("27-lens.csv", {"page_text": ["1735-1780"], "date": ["1997-11-15"], "issns": [("0899-7667",)]}),
        ("94-pop.csv", {"page_text": ["1735-1780"]}),
        ("31-rayyan.csv", {"date": ["2011-03-01"]}),
        ("32-covidence.csv", {"date": ["2011-03"]}),
    ],
)
def test_details_under_the_names_that_databases_give_them(name: str, expected: dict[str, list[Any]]) -> None:
    found = [publication_of(paper) for paper in papers_of(read_corpus(INPUTS / name)[0])]
    for field, values in expected.items():
        seen = [
            each.page_text("-") if field == "page_text" else each.kind.ris if field == "kind.ris" else getattr(each, field)
            for each in found
        ]
        assert seen[: len(values)] == values


@pytest.mark.parametrize(
    ("paper", "expected"),
    [
        (Paper("1", "T", year=2020, extra={"date": "2020-05/2020-06"}), {"date": "2020-05"}),
        (Paper("1", "T", year=1998, extra={"Publication Date": "SEP 12"}), {"date": "1998-09-12"}),
        (Paper("1", "T", year=2019, extra={"month": "jul"}), {"date": "2019-07"}),
        (Paper("1", "T", year=2019, extra={"issued": {"date-parts": [[2019, 5, 1]]}}), {"date": "2019-05-01"}),
        (Paper("1", "T", year=2019, extra={"issued": '{"date-parts": [["2019", "5"]]}'}), {"date": "2019-05"}),
        (Paper("1", "T", year=2019, extra={"date": "2018-05"}), {"date": "2019"}),
        (Paper("1", "T", extra={"type": "thesis", "school": "MIT"}), {"venue": "MIT", "publisher": "", "container": "", "source": "MIT"}),
        (Paper("1", "T", venue="CoRR", extra={"type": "article", "volume": "abs/1706.03762", "arxiv": "1706.03762"}), {"volume": ""}),
        (Paper("1", "T", venue="Nature", extra={"type": "article", "arxiv": "1706.03762"}), {"is_arxiv": False, "arxiv": "1706.03762"}),
        (Paper("1", "T", extra={"note": "Best paper; PMID: 5", "pmid": 5}), {"note": "Best paper", "pmid": "5"}),
        (Paper("1", "T", extra={"EID": "2-s2.0-1", "Art. No.": "104"}), {"archived": "2-s2.0-1", "page_text": "104"}),
        (Paper("1", "T", venue="J", extra={"EID": "2-s2.0-1", "Art. No.": "104"}), {"archived": "2-s2.0-1", "article": "104"}),
    ],
)
def test_columns_of_any_name(paper: Paper, expected: dict[str, Any]) -> None:
    found = publication_of(paper)
    assert {name: found.page_text("-") if name == "page_text" else getattr(found, name) for name in expected} == expected


@pytest.mark.parametrize(
    ("text", "isbn", "issn"),
    [
        ("0-306-40615-2", "9780306406157", None),
        ("ISBN 978-0-306-40615-7", "9780306406157", None),
        ("080442957X", "9780804429573", None),
        ("978-0-306-40615-8", None, None),
        ("1063-6919", None, "1063-6919"),
        ("8997667", None, "0899-7667"),
        ("20200101", None, None),
        ("x", None, None),
    ],
)
def test_numbers_of_books_and_journals(text: str, isbn: str | None, issn: str | None) -> None:
    assert (identifiers.isbn(text), identifiers.issn(text)) == (isbn, issn)

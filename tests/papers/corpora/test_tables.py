"""Tables as databases export them: what stands above the header, quotation marks that are text, names of columns in other words."""

from pathlib import Path
from typing import Any

import pytest

from sciretrieve.base.errors import InvalidRequest
from tests.made_up import read_corpus

INPUTS = Path(__file__).parents[1] / "inputs"
EXPECTED: dict[str, list[dict[str, Any]]] = {
    "12-scopus-new.csv": [
        {"id": "2-s2.0-1", "authors": ["Ashish Vaswani", "Noam Shazeer"], "venue": "Advances in Neural Information Processing Systems"},
        {"id": "2-s2.0-2", "authors": ["Geoffrey E. Hinton"], "abstract": "", "doi": "10.1000/nn.2019.1"},
    ],
    "13-scopus-old-commas.csv": [
        {"authors": ["G.N. Gatica", "F.A. Sequeira"]},
        {"authors": ["Gatica G.N.", "Sequeira F.A.", "Oyarzua R."]},
        {"authors": [], "abstract": ""},
        {"authors": []},
    ],
    "17-wos-tab-utf16.txt": [
        {
            "id": "WOS:A1948UH03900001",
            "authors": ["Claude E. Shannon"],
            "pages": "379-423",
            "keywords": ["entropy", "channel"],
            "year": 1948,
        },
        {"id": "WOS:000000000000002", "abstract": '"Two measures are discussed.', "authors": ["S. Kullback", "R. A. Leibler"]},
    ],
    "21-dimensions.csv": [
        {"id": "pub.1000000001", "title": "On random graphs I", "year": 1959, "pmid": "31452104", "authors": ["P. Erdős", "A. Rényi"]},
        {"id": "pub.1000000002", "year": 1960, "url": "https://app.dimensions.ai/details/publication/pub.1000000002"},
    ],
    "23-pubmed.csv": [
        {"id": "34265844", "authors": ["Jumper J", "Evans R", "Pritzel A"], "venue": "Nature", "volume": 596, "pages": "583-589"},
        {"id": "1", "authors": ["Makar AB"], "number": 2},
    ],
    "26-wos-excel.csv": [{"id": "WOS:A1951XH21900006", "authors": ["S. Kullback", "R. A. Leibler"]}, {"pmid": "31452104"}],
    "28-embase-vertical.csv": [
        {
            "title": "Sleep and memory in night workers",
            "authors": ["Adams A.", "Brown B."],
            "venue": "Sleep Research",
            "year": 2020,
            "pages": "5-9",
        },
        {"title": "Dreams of shift workers", "authors": ["Clark C."], "year": 2021},
    ],
    "50-index-col.csv": [{"title": "Pandas index column"}, {"title": "Second paper of pandas"}],
    "65-excel-trailing.csv": [{"id": "1"}, {"id": "2"}],
    "66-cat-csv.csv": [{"id": "1"}, {"id": "2"}],
    "92-german.csv": [
        {"title": "Über Größen", "authors": ["K. Müller"], "venue": "Zeitschrift für Größen", "year": 2001, "abstract": "Text"}
    ],
    "93-french.csv": [{"title": "Sur la théorie", "authors": ["J. Dupont", "P. Durand"], "venue": "Revue X", "year": 1999}],
    "94-pop.csv": [{"venue": "Neural computation", "authors": ["S Hochreiter", "J Schmidhuber"], "url": "https://ieeexplore.ieee.org/x"}],
    "96-springer.csv": [{"authors": ["Ada Lovelace", "Alan Turing", "Grace Hopper"], "doi": "10.1007/s1", "volume": 1, "number": 2}],
    "104-quotes.tsv": [
        {"title": '"Big data" in medicine'},
        {"title": 'A 5" disk', "abstract": '"Unclosed quotation begins the abstract', "year": 2002},
        {"id": "3"},
        {"abstract": 'ends with "quote"'},
        {"title": "Whole title in quotes", "abstract": 'abc "d" e'},
    ],
}
SAME = {"18-wos-tab-utf8.txt": "17-wos-tab-utf16.txt", "19-wos-tab.tsv": "17-wos-tab-utf16.txt", "22-dimensions.xlsx": "21-dimensions.csv"}


@pytest.mark.parametrize("name", [*EXPECTED, *SAME])
def test_a_database_s_table_is_read_whole(name: str) -> None:
    papers, rejected = read_corpus(INPUTS / name)
    assert rejected == []
    for paper, expected in zip(papers.to_pylist(), EXPECTED[SAME.get(name, name)], strict=True):
        assert {field: paper[field] for field in expected} == expected


def test_a_header_whose_names_say_nothing_is_refused_in_one_line() -> None:
    with pytest.raises(InvalidRequest, match="neither a title nor an abstract column among Title, full, Abstract"):
        read_corpus(INPUTS / "106-header-comma.csv")


@pytest.mark.parametrize(
    "above",
    ["sep=;\n", "Search: graphs\n\n", '"Exported on Oct 14, 2024; criteria: title"\n', "IEEE Xplore search\nhttps://x.org/?q=a;b\n\n"],
)
def test_what_stands_above_the_header_is_no_paper(tmp_path: Path, above: str) -> None:
    (tmp_path / "p.csv").write_text(above + "id;title;year\n1;A title;2001\n", encoding="utf-8")
    papers, rejected = read_corpus(tmp_path / "p.csv")
    assert (papers.select(["id", "title", "year"]).to_pylist(), rejected) == ([{"id": "1", "title": "A title", "year": 2001}], [])


def test_a_long_table_loses_no_row_to_the_search_for_its_header(tmp_path: Path) -> None:
    rows = [f"{number};Title {number};text" for number in range(50)]
    for header in ("id;title;note", "id;name of it;note"):
        (tmp_path / "p.csv").write_text("\n".join([header, *rows]), encoding="utf-8")
        columns = {} if "title" in header else {"title": "name of it"}
        assert read_corpus(tmp_path / "p.csv", **columns)[0]["id"].to_pylist() == [str(number) for number in range(50)]


def test_a_table_whose_quotation_marks_are_text_may_be_longer_than_a_row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sciretrieve.papers.corpora.delimited.LONGEST_LINE", 1000)
    lines = ["PT\tAU\tTI\tSO\tUT", *(f'J\tDoe, J\t"Title {number}\tThe journal\tWOS:{number}' for number in range(100))]
    (tmp_path / "p.txt").write_text("\n".join(lines), encoding="utf-8")
    papers, rejected = read_corpus(tmp_path / "p.txt")
    assert (papers["title"].to_pylist(), rejected) == ([f'"Title {number}' for number in range(100)], [])

"""CSV and TSV: Python's csv module writes them, and what it wrote comes back."""

import csv
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sciretrieve.base.characters import clean
from sciretrieve.papers.corpora.markup import is_placeholder, plain_text
from tests.made_up import read_corpus

texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=20).filter(
    lambda text: not is_placeholder(text) and plain_text(text) == text
)


@settings(max_examples=50, deadline=None)
@given(
    st.lists(st.tuples(texts, texts), min_size=1, max_size=8),
    st.sampled_from([(".csv", ","), (".csv", ";"), (".csv", "|"), (".tsv", "\t")]),
)
def test_what_was_written_comes_back(tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, str]], kind: tuple[str, str]) -> None:
    suffix, delimiter = kind
    path = tmp_path_factory.mktemp("csv") / f"p{suffix}"
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, delimiter=delimiter)
        writer.writerow(["id", "title", "abstract"])
        writer.writerows([f"p{number}", title, abstract] for number, (title, abstract) in enumerate(rows))
    papers, rejected = read_corpus(path)
    # Arrow and Python agree on what is white space but for the file and group separators
    expected = [(clean(title).strip(SPACES), clean(abstract).strip(SPACES)) for title, abstract in rows]
    got = dict(zip(papers["id"].to_pylist(), zip(papers["title"].to_pylist(), papers["abstract"].to_pylist(), strict=True), strict=True))
    for number, pair in enumerate(expected):
        if any(pair):
            assert tuple(text.strip(SPACES) for text in got[f"p{number}"]) == pair
    assert {item.reason for item in rejected} <= {"no title and no abstract"}


SPACES = "".join(chr(code) for code in range(0x110000) if chr(code).isspace())


def write(path: Path, text: str | bytes) -> Path:
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def test_columns_of_numbers_become_numbers_and_ids_stay_as_they_are(tmp_path: Path) -> None:
    text = "id,title,cited,score,code,mixed\n0704.0010,a,3,1.5,007,1\n1706.03762,b,,2,012,x\n1706.1000,c,4,nan,100,3\n"
    papers, _ = read_corpus(write(tmp_path / "p.csv", text))
    assert papers["id"].to_pylist() == ["0704.0010", "1706.03762", "1706.1000"]
    assert papers["cited"].to_pylist() == [3, None, 4]
    assert papers["cited"].type == pa.int64()
    assert papers["score"].to_pylist()[:2] == [1.5, 2.0]
    assert papers["code"].to_pylist() == ["007", "012", "100"]
    assert papers["mixed"].to_pylist() == ["1", "x", "3"]


def test_rows_of_the_wrong_width_and_broken_bytes_cost_themselves_alone(tmp_path: Path) -> None:
    text = "id,title\na,fine é\nb\nc,too,many\n\nd,br\udcffken\ne,also fine\n".encode(errors="surrogateescape")
    papers, rejected = read_corpus(write(tmp_path / "p.csv", text))
    assert papers["id"].to_pylist() == ["a", "e"]
    assert [(item.row, item.reason) for item in rejected] == [
        (2, "1 fields where the header has 2"),
        (3, "3 fields where the header has 2"),
        (5, "broken UTF-8"),
    ]


@pytest.mark.parametrize("last", ["", 'e,"not closed either\n'])
def test_a_quotation_mark_that_is_not_closed_costs_its_row(tmp_path: Path, last: str) -> None:
    text = 'id,title,year\na,"A, one",2001\nb,"not closed,2002\nc,plain,2003\nd,"of two\nlines",2004\n' + last
    papers, rejected = read_corpus(write(tmp_path / "p.csv", text))
    assert papers.select(["id", "title", "year"]).to_pylist() == [
        {"id": "a", "title": "A, one", "year": 2001},
        {"id": "c", "title": "plain", "year": 2003},
        {"id": "d", "title": "of two\nlines", "year": 2004},
    ]
    expected = [(2, "a quotation mark in line 3 is not closed"), (5, "a quotation mark in line 7 is not closed")]
    assert [(item.row, item.reason) for item in rejected] == expected[: 1 + bool(last)]


@settings(max_examples=50, deadline=None)
@given(st.lists(texts, min_size=1, max_size=8), st.integers(0, 7))
def test_wherever_it_is_not_closed_no_other_row_is_lost(tmp_path_factory: pytest.TempPathFactory, titles: list[str], place: int) -> None:
    place %= len(titles)
    # after one that is not closed, a title that begins with what may follow the end of a field looks like its end
    titles = [title.lstrip(",\r\n") for title in titles]
    quoted = ['"' + title.replace('"', '""').replace("\r", "\n") + '"' for title in titles]
    quoted[place] = '"open'
    path = tmp_path_factory.mktemp("csv") / "p.csv"
    path.write_text("id,title\n" + "".join(f"{number},{title}\n" for number, title in enumerate(quoted)), encoding="utf-8", newline="")
    papers, rejected = read_corpus(path)
    expected = [str(number) for number, title in enumerate(titles) if title.strip(SPACES) and number != place]
    found = papers["id"].to_pylist()
    assert set(expected) <= set(found)
    assert str(place) not in found
    assert rejected


def test_quotation_marks_within_fields_are_text(tmp_path: Path) -> None:
    text = 'id,title\na,a 5" disk\nb,"bad" luck\nc,"so ""it"" is"\nd,"why"?\n'
    papers, rejected = read_corpus(write(tmp_path / "p.csv", text))
    assert papers["title"].to_pylist() == ['a 5" disk', "bad luck", 'so "it" is', "why?"]
    assert rejected == []


def test_what_spreadsheets_write(tmp_path: Path) -> None:
    text = '\ufeff\r\n"Paper; number";Title;Year\r\n1;"A ""quoted"" title;\r\nof two lines";2020\r\n'
    papers, _ = read_corpus(write(tmp_path / "p.csv", text), id="Paper; number")
    assert papers.select(["id", "title", "year"]).to_pylist() == [{"id": "1", "title": 'A "quoted" title;\r\nof two lines', "year": 2020}]


TEXTS = {
    "cp1252": "Über Wärme und Größe bei Müller, naïve",
    "cp1250": "Zażółć gęślą jaźń w środku Łodzi",
    "cp1251": "Исследование нейронных сетей",
    "koi8_r": "Исследование нейронных сетей в поиске",
    "cp1253": "Μελέτη των νευρωνικών δικτύων",
    "shift_jis": "日本語の論文の検索について",
    "gb18030": "图神经网络的研究与应用综述",
    "cp949": "한국어 논문 검색에 대한 연구입니다",
    "utf-16": "Über Größe, 日本語",
    "utf-8-sig": "Über Größe, 日本語",
}


@pytest.mark.parametrize("encoding", TEXTS)
def test_files_of_any_encoding(tmp_path: Path, encoding: str, caplog: pytest.LogCaptureFixture) -> None:
    text = "id;title\n" + "".join(f"{number};{TEXTS[encoding]}\n" for number in range(20))
    papers, rejected = read_corpus(write(tmp_path / "p.csv", text.encode(encoding)))
    assert papers["title"].to_pylist() == [TEXTS[encoding]] * 20
    assert rejected == []
    assert ("is not UTF-8, and is read as" in caplog.text) == (not encoding.startswith("utf"))


ZOTERO = (
    '"Key","Item Type","Publication Year","Author","Title","Publication Title","ISBN","ISSN","DOI","Url","Abstract Note","Date",'
    '"Date Added","Editor","Manual Tags","Automatic Tags","Conference Name","Series","Extra"\n'
    '"ABCD2345","journalArticle","2019","Lovelace, Ada; Team, The; Plato","A title","Nature","","1234-5678","10.1000/Z.1",'
    '"https://example.org","Of it.","2019-03-01","2020-01-01 10:00:00","","to read; graphs","auto","","","kept"\n'
    '"BCDE3456","conferencePaper","2020","Turing, Alan","Another","","","","","","","2020","2020-01-02 10:00:00","Curie, Marie","","",'
    '"A Conference","",""\n'
)


def test_zoteros_csv(tmp_path: Path) -> None:
    article, paper = read_corpus(write(tmp_path / "My Library.csv", "\ufeff" + ZOTERO))[0].to_pylist()
    expected = {
        "id": "ABCD2345",
        "title": "A title",
        "abstract": "Of it.",
        "year": 2019,
        "venue": "Nature",
        "authors": ["Ada Lovelace", "The Team", "Plato"],
        "doi": "10.1000/z.1",
        "url": "https://example.org",
        "tags": ["to read", "graphs"],
        "automatic_tags": ["auto"],
        "Item Type": "journalArticle",
        "Extra": "kept",
        "Date Added": "2020-01-01 10:00:00",
    }
    assert {column: article[column] for column in expected} == expected
    assert (paper["id"], paper["venue"], paper["editors"], paper["authors"]) == (
        "BCDE3456",
        "A Conference",
        ["Marie Curie"],
        ["Alan Turing"],
    )


def test_one_letter_is_enough(tmp_path: Path) -> None:
    papers, _ = read_corpus(write(tmp_path / "p.csv", "id,title\n1,a paper by Müller\n2,more\n".encode("cp1252")))
    assert papers["title"].to_pylist() == ["a paper by Müller", "more"]
    _, rejected = read_corpus(write(tmp_path / "q.csv", "id,title\n1,Müller, Größe\n".encode() + b"2,br\xffken\n"))
    assert rejected[-1].reason == "broken UTF-8"

"""From columns to papers: which names are recognised, and how values of every source become one kind."""

import hashlib
import json
from datetime import datetime, time, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sciretrieve.papers.corpora import open_corpus
from sciretrieve.papers.corpora.ids import SeenIds
from sciretrieve.papers.corpora.people import people_in
from tests.made_up import read_corpus, write_jsonl

SOURCES: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "S2ORC": (
        {"corpusid": 42, "title": "T", "abstract": "A", "authors": [{"first": "Ada", "last": "Lovelace"}], "journal": "Nature"},
        {"id": "42", "venue": "Nature", "authors": ["Ada Lovelace"]},
    ),
    "PubMed": (
        {
            "pmid": 123,
            "article_title": "T",
            "abstract_text": "A",
            "pub_year": "1999 Jan",
            "journal": "Lancet",
            "authors": "Curie M; Meitner L",
        },
        {"id": "123", "title": "T", "abstract": "A", "year": 1999, "venue": "Lancet", "authors": ["Curie M", "Meitner L"]},
    ),
    "CORD-19": (
        {
            "cord_uid": "ug7v899j",
            "title": "T",
            "abstract": "A",
            "publish_time": "2001-07-04",
            "authors": "Madani, Tariq A; Al-Ghamdi, Aisha A",
        },
        {"id": "ug7v899j", "year": 2001, "authors": ["Tariq A Madani", "Aisha A Al-Ghamdi"]},
    ),
    "S2ORC's journal": (
        {"corpusid": 43, "title": "T", "journal": {"name": "Nature", "volume": "3"}},
        {"venue": "Nature", "journal": {"name": "Nature", "volume": "3"}},
    ),
    "OpenAlex as a table": (
        {"id": "W3", "title": "T", "abstract_inverted_index": '{"be": [1], "to": [0]}', "primary_location.source.display_name": "PNAS"},
        {"abstract": "to be", "venue": "PNAS"},
    ),
    "TREC": ({"docno": "X-1", "text": "only text"}, {"id": "X-1", "title": "", "abstract": "only text"}),
    "only a DOI": ({"DOI": "10.1/x", "Title": "T"}, {"id": "10.1/x", "title": "T", "doi": "10.1/x"}),
}


@pytest.mark.parametrize("source", SOURCES)
def test_the_columns_of_known_sources(tmp_path: Path, source: str) -> None:
    row, expected = SOURCES[source]
    (paper,) = read_corpus(write_jsonl(tmp_path / "p.jsonl", [row]))[0].to_pylist()
    assert {name: paper[name] for name in expected} == expected


def test_named_columns_win_and_the_others_keep_their_values(tmp_path: Path) -> None:
    row = {"id": "row-1", "key": "k1", "title": "running title", "full": "T", "summary": "S", "abstract": "A", "n": 7}
    papers, _ = read_corpus(write_jsonl(tmp_path / "p.jsonl", [row]), id="key", title="full", abstract="summary")
    (paper,) = papers.to_pylist()
    assert (paper["id"], paper["title"], paper["abstract"]) == ("k1", "T", "S")
    assert (paper["id_"], paper["title_"], paper["abstract_"], paper["n"]) == ("row-1", "running title", "A", 7)


def test_a_row_without_a_value_takes_it_from_the_next_column(tmp_path: Path) -> None:
    row = {"title": "t", "venue": "V", "journal": "J", "summary": "S", "publication_date": "2001-02-03"}
    rows: list[dict[str, Any]] = [
        {**row, "id": 1, "abstract": "", "year": None},
        {**row, "id": 2, "abstract": "A", "year": 2005, "venue": " "},
        {"id": 3, "title": "t", "venue": None, "journal": None, "authors": [], "author": "Ada Lovelace"},
    ]
    first, second, third = read_corpus(write_jsonl(tmp_path / "p.jsonl", rows))[0].to_pylist()
    assert (first["venue"], first["abstract"], first["year"]) == ("V", "S", 2001)
    assert (second["venue"], second["abstract"], second["year"]) == ("J", "A", 2005)
    assert (third["venue"], third["abstract"], third["authors"]) == (None, "", ["Ada Lovelace"])
    assert [row["journal"] for row in (first, second, third)] == ["J", "J", None]


def test_a_column_that_the_user_names_stands_alone(tmp_path: Path) -> None:
    rows = [{"id": 1, "title": "t", "note": "", "abstract": "A"}]
    assert read_corpus(write_jsonl(tmp_path / "p.jsonl", rows), abstract="note")[0].to_pylist()[0]["abstract"] == ""


near_names = st.builds(
    lambda name, tail: name + "_" * tail,
    st.sampled_from(["id", "title", "year", "ID", "Title", "key", "doi", "venue", "journal", "x"]),
    st.integers(0, 3),
)


@settings(max_examples=50, deadline=None)
@given(st.lists(st.lists(near_names, unique=True, max_size=8), min_size=1, max_size=3), st.sampled_from(["id", "own"]))
def test_no_column_is_lost_whatever_it_is_called(tmp_path_factory: pytest.TempPathFactory, files: list[list[str]], named: str) -> None:
    folder = tmp_path_factory.mktemp("columns")
    values = {(number, name): f"{number}-{name}" for number, names in enumerate(files) for name in names}
    for number, names in enumerate(files):
        row = (
            {name: values[number, name] for name in names} | {"own": f"{number}", "title": f"{number}-title"} | {named: f"{number}-{named}"}
        )
        write_jsonl(folder / f"{number}.jsonl", [row])
        values |= {(number, name): value for name, value in row.items()}
    papers, rejected = read_corpus(folder, id="own")
    assert rejected == []
    for number, row in enumerate(papers.to_pylist()):
        texts = {str(value) for value in row.values()}
        # a text without a year in it is no year
        assert {value for (file, name), value in values.items() if file == number and name != "year"} <= texts


def test_a_renamed_column_keeps_its_name_in_every_file(tmp_path: Path) -> None:
    write_jsonl(tmp_path / "a.jsonl", [{"key": 1, "title": "t", "id": "first"}])
    write_jsonl(tmp_path / "b.jsonl", [{"key": 2, "title": "t", "id": "second", "id_": "own"}])
    first, second = read_corpus(tmp_path, id="key")[0].to_pylist()
    assert (first["id_"], second["id_"]) == ("first", "second")
    assert "own" in second.values()


@pytest.mark.parametrize("half", [0, 8])
def test_ids_whose_digests_agree_in_one_half_are_two(monkeypatch: pytest.MonkeyPatch, half: int) -> None:
    class Digest:
        """A digest of which the other half is the same for all."""

        def __init__(self, text: bytes, digest_size: int) -> None:
            self.bytes = hashlib.blake2b(text, digest_size=digest_size).digest()

        def digest(self) -> bytes:
            return bytes(8) + self.bytes[8:] if half == 0 else self.bytes[:8] + bytes(8)

    monkeypatch.setattr("sciretrieve.papers.corpora.ids.blake2b", Digest)
    ids = [str(number) for number in range(50)]
    seen_ids = SeenIds()
    assert seen_ids.add(ids[:25])[0].tolist() == 25 * [True]
    assert seen_ids.add(ids)[0].tolist() == 25 * [False] + 25 * [True]
    assert seen_ids.add(ids)[0].tolist() == 50 * [False]


@pytest.mark.parametrize(
    ("value", "year"),
    [(2017, 2017), ("2017", 2017), ("2017-03-01", 2017), ("March 2017", 2017), (2017.0, 2017), ("1687", 1687), ("c. 1905?", 1905)]
    + [(None, None), ("", None), ("in press", None), (20170301, None), (0, None), ("12345", None), ("2150", None)],
)
def test_years(tmp_path: Path, value: Any, year: int | None) -> None:
    (paper,) = read_corpus(write_jsonl(tmp_path / "p.jsonl", [{"id": "1", "title": "t", "year": value}]))[0].to_pylist()
    assert paper["year"] == year


@pytest.mark.parametrize(
    ("value", "names"),
    [
        (None, []),
        ("", []),
        ("Ada Lovelace", ["Ada Lovelace"]),
        ("Lovelace, Ada", ["Ada Lovelace"]),
        ("Ada Lovelace, Alan Turing", ["Ada Lovelace", "Alan Turing"]),
        ("Lovelace, Ada and Turing, Alan", ["Ada Lovelace", "Alan Turing"]),
        ("Lovelace, Ada; Turing, Alan;", ["Ada Lovelace", "Alan Turing"]),
        ("Ada Lovelace|Alan Turing", ["Ada Lovelace", "Alan Turing"]),
        (["Ada Lovelace", None, ""], ["Ada Lovelace"]),
        ([{"name": "Ada Lovelace"}, {"name": None}], ["Ada Lovelace"]),
        (12, ["12"]),
        ([3, {"name": 4}], ["3", "4"]),
        ("Smith JA, Jones B; for the ABC Study Group", ["Smith JA", "Jones B", "for the ABC Study Group"]),
        ("Smith, John; and Doe, Jane", ["John Smith", "Jane Doe"]),
        ("Brown, B.; Smith, A., and Doe, C.", ["B. Brown", "A. Smith", "C. Doe"]),
        ("Smith, J., Jones, K., … & Brown, B.", ["J. Smith", "K. Jones", "B. Brown"]),
        ("Smith, J., Jones, K., . . . Brown, B.", ["J. Smith", "K. Jones", "B. Brown"]),
        ("Müller, K./Meier, H.", ["K. Müller", "H. Meier"]),
        ("Smith J., Jr., Doe A.", ["J. Smith Jr.", "Doe A."]),
        ("Smith, John, PhD; Doe, Jane, MD, MPH", ["John Smith", "Jane Doe"]),
        ("John Smith, PhD, and Jane Doe, Ph.D.", ["John Smith", "Jane Doe"]),
        ("Doe, MD, Roe, JA", ["MD Doe", "JA Roe"]),  # initials
        ("Smith, J. [1]; Doe, J.*†", ["J. Smith", "J. Doe"]),
        ("John Smith1,2, Jane Doe3", ["John Smith", "Jane Doe"]),
        (["Author1", "Author2"], ["Author1", "Author2"]),
        ("COVID19", ["COVID19"]),
        ("Smith, John 0000-0002-1825-0097; Doe, Jane, 1950-1999", ["John Smith", "Jane Doe"]),
        (["Smith, John; Doe, Jane"], ["John Smith", "Jane Doe"]),
        ([["Lovelace", "Ada", ""], ["King", "Martin Luther", "Jr."]], ["Ada Lovelace", "Martin Luther King Jr."]),
        ('Kaiser, {\\L}ukasz; M\\"uller, K.', ["Łukasz Kaiser", "K. Müller"]),
        ("[Anonymous]", []),
    ],
)
def test_authors(value: Any, names: list[str]) -> None:
    assert people_in(value).texts == names


NAME_PARTS = [
    "Ada",
    "van",
    "O'Brien",
    "J.",
    "JA",
    "and",
    "&",
    "y",
    ",",
    ";",
    "/",
    " / ",
    "1",
    "*",
    "…",
    "...",
    "PhD",
    "{\\\\L}",
    "Anonymous",
    "nan",
    "\n",
]


@given(st.lists(st.lists(st.sampled_from(NAME_PARTS), min_size=1, max_size=5).map(" ".join), min_size=1, max_size=3))
def test_names_do_not_depend_on_those_of_other_papers(names: list[str]) -> None:
    """A table whose names are plain is taken as it is, any other is read name by name."""
    rows = [{"id": str(number), "title": "T", "authors": authors} for number, authors in enumerate([names, ["Doe, Jane"]])]
    alone, beside = (next(open_corpus(pa.Table.from_pylist(part)).batches()).papers["authors"][0].as_py() for part in (rows[:1], rows))
    assert alone == beside


@given(st.lists(st.lists(st.tuples(st.text(max_size=3), st.integers(1, 9), st.integers(1, 9)))))
def test_seen_ids_know_their_first_works(calls: list[list[tuple[str, int, int]]]) -> None:
    seen_ids, expected = SeenIds(), dict[str, tuple[int, int]]()
    for rows in calls:
        is_new, holders = seen_ids.add([id for id, *_ in rows], np.array([work for _, *work in rows], np.int64).reshape(-1, 2))
        for (id, *work), flag, holder in zip(rows, is_new, holders.tolist(), strict=True):
            assert flag == (id not in expected)
            assert tuple(holder) == expected.setdefault(id, (work[0], work[1]))


def test_an_id_of_an_earlier_file_is_a_duplicate(tmp_path: Path) -> None:
    write_jsonl(tmp_path / "a.jsonl", [{"id": "1", "title": "first"}, {"id": "2", "title": "only"}])
    write_jsonl(tmp_path / "b.jsonl", [{"id": 1, "title": "second"}, {"id": " 2 ", "title": "spaces"}, {"id": "3", "title": "new"}])
    papers, rejected = read_corpus(tmp_path)
    assert papers.select(["id", "title"]).to_pylist() == [
        {"id": "1", "title": "first"},
        {"id": "2", "title": "only"},
        {"id": "3", "title": "new"},
    ]
    assert [(Path(item.source).name, item.row, item.id, item.reason) for item in rejected] == [
        ("b.jsonl", 1, "1", "duplicate id"),
        ("b.jsonl", 2, "2", "duplicate id"),
    ]


FAR = pa.array([5, 10**8], pa.int32()).view(pa.date32())
"""A date of 1970, and one of the year 275,760, which Python's calendar does not have."""
LONG = pa.array([5, 2**62], pa.int64())


@pytest.mark.parametrize(
    "column",
    [FAR, LONG.view(pa.timestamp("ms")), LONG.view(pa.duration("s")), LONG.view(pa.time64("us"))]
    + [pa.ListArray.from_arrays([0, 1, 2], FAR), pa.StructArray.from_arrays([FAR], ["day"])],
    ids=["date", "timestamp", "duration", "time", "list", "object"],
)
def test_a_time_that_python_does_not_have_is_a_bad_row(column: pa.Array) -> None:
    papers = pa.table({"id": ["now", "then"], "title": ["a", "b"], "when": column})
    (batch,) = open_corpus(papers).batches()
    assert batch.papers["id"].to_pylist() == ["now"]
    assert [(item.row, item.reason) for item in batch.rejected] == [(2, "a date or time in 'when' is out of range")]


def test_a_span_of_months_is_text() -> None:
    papers = pa.table({"id": ["a"], "title": ["t"], "span": pa.array([pa.MonthDayNano([1, 2, 3])])})
    (batch,) = open_corpus(papers).batches()
    assert batch.papers["span"].to_pylist() == ["MonthDayNano(months=1, days=2, nanoseconds=3)"]


@pytest.mark.parametrize("value", [("", b"\xbc"), {"name": ("a", b"\xbc")}])
def test_bytes_among_texts_become_text(value: Any) -> None:
    papers = [{"id": "a", "title": "t", "notes": None}, {"id": "b", "title": "t", "notes": value}]
    (batch,) = open_corpus(papers).batches()
    assert batch.papers["id"].to_pylist() == ["a", "b"]
    assert r"\xbc" in batch.papers["notes"].to_pylist()[1]


def test_years_of_times_in_a_zone_that_arrow_does_not_know(tmp_path: Path) -> None:
    times = pa.array([datetime(2000, 6, 1), None], pa.timestamp("us", "posix/UTC"))
    pq.write_table(pa.table({"id": ["a", "b"], "title": ["T", "T"], "year": times}), tmp_path / "papers.parquet")
    assert [paper["year"] for paper in read_corpus(tmp_path / "papers.parquet")[0].to_pylist()] == [2000, None]


def test_made_ids_are_the_same_in_every_order_and_company(tmp_path: Path) -> None:
    rows = [{"title": f"T {number}", "year": 2000 + number, "authors": ["Ada Lovelace"]} for number in range(5)]
    first = read_corpus(write_jsonl(tmp_path / "p.jsonl", rows))[0]
    other = read_corpus(write_jsonl(tmp_path / "q.jsonl", [{"id": "a", "title": "x", "doi": "10.1000/a", "note": 1}, *reversed(rows)]))[0]
    ids = dict(zip(first["title"].to_pylist(), first["id"].to_pylist(), strict=True))
    assert len(set(ids.values())) == 5
    assert all(id.startswith("made-") for id in ids.values())
    assert {**ids, "x": "a"} == dict(zip(other["title"].to_pylist(), other["id"].to_pylist(), strict=True))
    _, rejected = read_corpus(write_jsonl(tmp_path / "r.jsonl", [*rows, rows[2]]))
    assert [(item.row, item.reason, item.id) for item in rejected] == [(6, "duplicate id", ids["T 2"])]


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ({"id": "https://doi.org/10.1000/X"}, {"doi": "10.1000/x"}),
        ({"id": "arXiv:1409.0473v2"}, {"arxiv": "1409.0473", "id": "arXiv:1409.0473v2"}),
        ({"id": "1", "doi": "https://doi.org/10.48550/arXiv.1409.0473"}, {"doi": "10.48550/arxiv.1409.0473", "arxiv": "1409.0473"}),
        ({"id": "1", "url": "https://arxiv.org/abs/1409.0473"}, {"arxiv": "1409.0473", "url": "https://arxiv.org/abs/1409.0473"}),
        ({"id": "1", "url": "https://pubmed.ncbi.nlm.nih.gov/77/"}, {"pmid": "77"}),
        ({"id": "1", "doi": "none of that"}, {"doi": "none of that"}),
        ({"id": "1", "arxiv": "1409.0473v2"}, {"arxiv": "1409.0473", "arxiv_": "1409.0473v2"}),
        ({"id": "1", "arxiv": "1409.0473"}, {"arxiv": "1409.0473", "arxiv_": None}),
        ({"id": "1", "eprint": "hal-0123"}, {"arxiv": None, "eprint": "hal-0123"}),
        ({"id": "1", "pmid": 77.0}, {"pmid": "77"}),
        ({"id": "2101.00001"}, {"arxiv": None}),
        ({"id": "1", "externalIds": {"PubMed": 77, "DOI": "10.1000/A"}}, {"pmid": "77", "doi": "10.1000/a"}),
    ],
)
def test_identifiers_have_one_form_and_what_more_was_said_stays(tmp_path: Path, row: dict[str, Any], expected: dict[str, Any]) -> None:
    (paper,) = read_corpus(write_jsonl(tmp_path / "p.jsonl", [{**row, "title": "T"}]))[0].to_pylist()
    assert {name: paper.get(name) for name in expected} == expected


TEXTS = ("title", "abstract", "venue", "own")


def test_texts_are_stored_in_one_form(tmp_path: Path) -> None:
    odd = "Mu\u0308ller\u00a0on inter\u00adaction \u202e“x”"
    rows: list[dict[str, Any]] = [
        {"id": "mu\u0308-1", **dict.fromkeys(TEXTS, odd), "authors": [odd, "Ada"], "keywords": [odd], "at": {"name": odd}},
        {"id": "2", "title": "plain", "abstract": "", "authors": ["Ada"], "venue": None, "keywords": [], "own": None, "at": {"name": "x"}},
    ]
    papers, _ = read_corpus(write_jsonl(tmp_path / "papers.jsonl", rows))
    form = "Müller on interaction “x”"
    stored, plain = papers.to_pylist()
    assert [stored[name] for name in TEXTS] == [form] * 4
    assert (stored["authors"], stored["keywords"], stored["at"]) == ([form, "Ada"], [form], {"name": form})
    assert stored["id"] == "mu\u0308-1"  # judgements and vectors name it so
    assert {name: plain[name] for name in rows[1]} == rows[1]


def array_of(values: list[Any], kind: Any) -> pa.Array:
    return pa.array(values, kind)


ODD_ARRAYS: list[tuple[pa.Array, list[Any]]] = [
    (array_of(["a", None], pa.string_view()), ["a", None]),
    (array_of([b"a", None], pa.binary_view()), [b"a", None]),
    (array_of([["a"], None], pa.list_view(pa.string())), [["a"], None]),
    (pa.RunEndEncodedArray.from_arrays([1, 2], pa.array(["x", "y"])), ["x", "y"]),
    (pa.array([7, None]).dictionary_encode(), [7, None]),
    (pa.DictionaryArray.from_arrays(pa.array([0, 1]), pa.array([["a"], ["b"]])), [["a"], ["b"]]),
    (pa.array(["é", "b"], pa.large_string()).dictionary_encode(), ["é", "b"]),
    (pa.StructArray.from_arrays([pa.array(["a", "b"], pa.string_view())], ["s"]), [{"s": "a"}, {"s": "b"}]),
    (pa.StructArray.from_arrays([pa.array(["a", "b"]).dictionary_encode()], ["s"]), [{"s": "a"}, {"s": "b"}]),
    (pa.StructArray.from_arrays([pa.array([1, 2]), pa.array([3, 4])], ["t", "t"]), [str([("t", 1), ("t", 3)]), str([("t", 2), ("t", 4)])]),
    (array_of([{}, None], pa.struct([])), ["{}", None]),
    (array_of([[{}], []], pa.list_(pa.struct([]))), [["{}"], []]),
    (pa.UnionArray.from_dense(pa.array([0, 1], pa.int8()), pa.array([0, 0], pa.int32()), [pa.array([1]), pa.array(["x"])]), ["1", "x"]),
    (pa.ExtensionArray.from_storage(pa.uuid(), pa.array([b"0123456789abcdef", None], pa.binary(16))), [b"0123456789abcdef", None]),
    (array_of([0.5, None], pa.float16()), [0.5, None]),
    (array_of([datetime(2020, 1, 1), None], pa.timestamp("ns")), [datetime(2020, 1, 1), None]),
    (array_of([timedelta(1), None], pa.duration("s")), [timedelta(1), None]),
    (array_of([time(12, 30), None], pa.time32("s")), [time(12, 30), None]),
]


@pytest.mark.parametrize("place", range(len(ODD_ARRAYS)))
def test_columns_of_any_type_are_stored_and_read_as_any_field(tmp_path: Path, place: int) -> None:
    column, expected = ODD_ARRAYS[place]
    (batch,) = open_corpus(pa.table({"id": ["1", "2"], "title": ["a", "b"], "column": column})).batches()
    assert batch.papers["column"].to_pylist() == expected
    pq.write_table(batch.papers, tmp_path / "papers.parquet")
    for field in ("id", "title", "abstract", "year", "venue", "authors", "doi", "url", "arxiv", "pmid"):
        others = {name: ["1", "2"] for name in ("id", "title") if name != field}
        for batch in open_corpus(pa.table({**others, field: column})).batches():
            pq.write_table(batch.papers, tmp_path / "papers.parquet")


def test_parts_of_names_do_not_hide_what_was_edited_since(tmp_path: Path) -> None:
    """A person opens an export in a spreadsheet, and changes the authors beside the column with their parts."""
    parts = [{"family": "Lloyd Webber", "given": "Andrew", "particle": "", "suffix": "", "literal": ""}]
    rows = [
        {"id": "1", "title": "T", "authors": "Andrew Lloyd Webber", "author_parts": json.dumps(parts)},
        {"id": "2", "title": "T2", "authors": "Tim Rice", "author_parts": json.dumps(parts)},
        {"id": "3", "title": "T3", "authors": None, "author_parts": json.dumps(parts)},
    ]
    papers = next(open_corpus(pa.Table.from_pylist(rows)).batches()).papers
    assert papers["authors"].to_pylist() == [["Andrew Lloyd Webber"], ["Tim Rice"], ["Andrew Lloyd Webber"]]
    assert [bool(value) for value in papers["author_parts"].to_pylist()] == [True, False, True]
    own = pa.table({"id": ["1"], "title": ["T"], "authors": ["Ada Lovelace"], "author_parts": ["first and second"]})
    papers = next(open_corpus(own).batches()).papers
    assert papers["authors"].to_pylist() == [["Ada Lovelace"]]
    assert papers["author_parts"].to_pylist() == ["first and second"]


@pytest.mark.parametrize("column", ["editors", "editor", "Editors", "Book Editors", "editor_names"])
def test_editors_are_read_as_authors_are(column: str) -> None:
    table = pa.table({"id": ["1"], "title": ["T"], column: ["Doe, Jane; Roe, Richard"]})
    papers = next(open_corpus(table).batches()).papers
    assert papers["editors"].to_pylist() == [["Jane Doe", "Richard Roe"]]
    assert column == "editors" or column not in papers.column_names


@pytest.mark.parametrize(
    "title", ["['Attention is all you need']", '["Attention is all", "you need"]', "{'en': 'Attention is all you need'}"]
)
def test_titles_printed_as_lists_and_objects_are_texts(title: str) -> None:
    papers = next(open_corpus(pa.table({"id": ["1", "2"], "title": [title, "['A] note'"]})).batches()).papers
    assert papers["title"].to_pylist() == ["Attention is all you need", "['A] note'"]

"""Finding the files behind what the user names, and knowing again what was read before."""

from __future__ import annotations

import codecs
import gzip
import io
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest

from sciretrieve.base.errors import IndexExists, InvalidRequest, NotFound
from sciretrieve.base.types import Paper
from sciretrieve.papers.corpora import ColumnMap, open_corpus
from tests.made_up import read_corpus, write_jsonl
from tests.papers.corpora.test_xml_formats import CITATION, HEAD


def test_several_sources_are_read_in_the_order_given(tmp_path: Path) -> None:
    for name in "ab":
        write_jsonl(tmp_path / f"{name}.jsonl", [{"id": name, "title": name}])
    (tmp_path / "c.csv").write_text("id,title\nc,c\n")
    sources = [tmp_path / name for name in ("b.jsonl", "c.csv", "a.jsonl")]
    assert read_corpus(*sources)[0]["id"].to_pylist() == ["b", "c", "a"]
    assert open_corpus(sources).count() == 3


def test_hidden_and_underscored_files_of_a_directory_are_not_papers(tmp_path: Path) -> None:
    (tmp_path / "deep" / "er").mkdir(parents=True)
    for name in (".hidden.jsonl", "_meta.jsonl", "deep/er/papers.jsonl"):
        write_jsonl(tmp_path / name, [{"id": name, "title": "t"}])
    (tmp_path / "README.md").touch()
    assert read_corpus(tmp_path)[0]["id"].to_pylist() == ["deep/er/papers.jsonl"]


def test_a_directory_may_have_compressed_files_without_a_suffix_of_their_own(tmp_path: Path) -> None:
    """As OpenAlex's snapshot has them, beside a manifest."""
    part = tmp_path / "updated_date=2026-11-01"
    part.mkdir()
    (part / "part_000.gz").write_bytes(gzip.compress(b'{"id": "https://openalex.org/W1", "title": "t"}\n'))
    (tmp_path / "manifest").write_text('{"entries": []}')
    assert read_corpus(tmp_path)[0]["id"].to_pylist() == ["https://openalex.org/W1"]


def give(monkeypatch: pytest.MonkeyPatch, text: bytes) -> None:
    """Stand this on standard input."""
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text)))


def test_standard_input_is_json_lines_that_can_be_read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    give(monkeypatch, b"".join(b'{"id": %d, "title": "t"}\n' % number for number in range(3000)))
    corpus = open_corpus("-")
    assert (corpus.count(), corpus.fingerprint()) == (3000, corpus.fingerprint())
    for _ in range(2):
        assert [batch.papers["id"].to_pylist() for batch in corpus.batches()] == [[str(number) for number in range(3000)]]


@pytest.mark.parametrize("before", ["\n", "This file was created with JabRef 2.10.\nEncoding: UTF8\n\n", "% mine\n", '@string{x = "y"}\n'])
def test_standard_input_may_be_bibtex(monkeypatch: pytest.MonkeyPatch, before: str) -> None:
    give(monkeypatch, before.encode() + b"@misc{a, title = {T}}\n")
    assert read_corpus("-")[0]["id"].to_pylist() == ["a"]


def test_standard_input_may_be_csv(monkeypatch: pytest.MonkeyPatch) -> None:
    give(monkeypatch, b"Key;Title\na;T\nb;U\n")
    assert read_corpus("-")[0].select(["id", "title"]).to_pylist() == [{"id": "a", "title": "T"}, {"id": "b", "title": "U"}]


def test_a_directory_may_mix_formats_and_hold_files_that_have_another_suffix(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("id,title\na,A\n")
    write_jsonl(tmp_path / "b.jsonl", [{"id": "b", "title": "B"}])
    (tmp_path / "c.bib").write_text("@misc{c, title = {C}}\n")
    (tmp_path / "d.json").write_text("TY  - JOUR\nID  - d\nTI  - D\nER  - \n")
    write_jsonl(tmp_path / "e.bib", [{"id": "e", "title": "E"}])
    (tmp_path / "README.md").touch()
    papers, rejected = read_corpus(tmp_path)
    assert (papers["id"].to_pylist(), papers["title"].to_pylist(), rejected) == (list("abcde"), list("ABCDE"), [])


def test_another_standard_input_is_another_corpus(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    import sciretrieve as sr

    give(monkeypatch, b'{"id": 1, "title": "first"}\n')
    sr.build("-", tmp_path / "index", encoder=None)
    give(monkeypatch, b'{"id": 1, "title": "first"}\n')
    assert len(sr.build("-", tmp_path / "index", encoder=None)) == 1
    give(monkeypatch, b'{"id": 2, "title": "other"}\n')
    with pytest.raises(IndexExists):
        sr.build("-", tmp_path / "index", encoder=None)


ROWS = [{"id": 7, "title": "T", "authors": ["Ada Lovelace"], "year": 1843}, {"id": 8, "title": "U", "year": None, "cited": 3}]


def polars_frame(rows: list[dict[str, Any]]) -> Any:
    return pytest.importorskip("polars").DataFrame(rows)


def batches(rows: list[dict[str, Any]]) -> list[pa.RecordBatch]:
    return [pa.RecordBatch.from_pylist([row]) for row in rows]


def reader(rows: list[dict[str, Any]]) -> Any:
    table = pa.Table.from_pylist(rows)
    return pa.RecordBatchReader.from_batches(table.schema, table.to_batches())


def papers(rows: list[dict[str, Any]]) -> list[Paper]:
    return [
        Paper(str(row["id"]), row["title"], authors=tuple(row.get("authors", ())), year=row["year"], extra={"cited": row.get("cited")})
        for row in rows
    ]


KINDS: list[Callable[[list[dict[str, Any]]], Any]] = [list, tuple, iter, pd.DataFrame, polars_frame, pa.Table.from_pylist, batches, reader]
KINDS += [papers, lambda rows: pa.RecordBatch.from_pylist(rows), lambda rows: pd.DataFrame(rows).to_dict("records")]
KINDS += [lambda rows: pa.table(pd.DataFrame(rows)), lambda rows: pd.DataFrame(rows).set_index("id")]


@pytest.mark.parametrize("kind", KINDS)
def test_tables_in_memory_are_corpora(kind: Callable[[list[dict[str, Any]]], Any]) -> None:
    corpus = open_corpus(kind(ROWS))
    (batch,) = corpus.batches()
    assert batch.papers.select(["id", "title", "year"]).to_pylist() == [
        {"id": "7", "title": "T", "year": 1843},
        {"id": "8", "title": "U", "year": None},
    ]
    assert batch.papers["authors"].to_pylist()[0] == ["Ada Lovelace"]
    assert corpus.count() == 2
    assert corpus.fingerprint() == open_corpus(kind(ROWS)).fingerprint() != open_corpus(kind(ROWS[:1])).fingerprint()


@pytest.mark.parametrize(
    ("kind", "source"),
    [
        (list, "in memory: a list of 2 rows"),
        (pd.DataFrame, "in memory: pandas.DataFrame of 2 rows"),
        (polars_frame, "in memory: polars.DataFrame of 2 rows"),
        (batches, "in memory: pyarrow.RecordBatch of 2 rows"),
        (papers, "in memory: a list of Paper of 2 rows"),
    ],
)
def test_an_index_of_them_says_what_it_is_of(tmp_path: Path, kind: Callable[[list[dict[str, Any]]], Any], source: str) -> None:
    import sciretrieve as sr

    index = sr.build(kind(ROWS), tmp_path / "index", encoder=None)
    assert index.snapshot.manifest.sources[0].corpus == (source,)
    assert len(sr.build(kind(ROWS), tmp_path / "index", encoder=None)) == 2
    more = [*ROWS, {"id": 9, "title": "V", "year": 2000}]
    with pytest.raises(IndexExists, match=r"`sr\.sync\(papers, '.*index'\)` makes it equal to these papers, `sr\.add"):
        sr.build(kind(more), tmp_path / "index", encoder=None)
    assert sr.add(kind(more[2:]), tmp_path / "index").papers == 3
    update = sr.sync(kind(more[1:]), tmp_path / "index", allow_deletions=True)
    assert (update.deleted, update.unchanged, update.papers) == (1, 2, 2)
    assert sr.estimate(kind(more), encoder=None).papers == 3


def test_what_pandas_has_for_a_missing_value_is_no_text() -> None:
    rows = [{"id": "a", "title": "T", "abstract": float("nan"), "year": pd.NaT}, {"id": "b", "title": pd.NA, "abstract": "x", "year": 1}]
    (batch,) = open_corpus(rows).batches()
    found = batch.papers.select(["title", "abstract", "year"]).to_pylist()
    assert found[0] == {"title": "T", "abstract": "", "year": None}
    assert found[1]["title"] == ""


@pytest.mark.parametrize(
    "value",
    [
        {"id": ["a"], "title": ["T"]},
        {"id": "a", "title": "T"},
        pd.Series(["a"]),
        [pd.Series(["a"])],
        pd.concat([pd.DataFrame(ROWS), pd.DataFrame(ROWS)], axis=1),
        [{1: "a"}],
        [Paper("a"), {"id": "b"}, 3],
        *(None, 123, [{"id": 1}, "papers.jsonl"], [3], pd.DataFrame({"a": [1, "x"]})),
    ],
)
def test_what_is_no_table_is_refused_in_one_line(value: Any) -> None:
    with pytest.raises(InvalidRequest, match=r"is not a corpus|cannot be read as a table of papers|neither a title nor") as caught:
        list(open_corpus(value).batches())
    assert "\n" not in str(caught.value)


SURROGATES = [{"id": "a", "title": "fine"}, {"id": "b", "title": "br\ud800ken"}, {"id": "c", "title": "well"}]
PANDAS = pd.DataFrame({name: pd.Series([row[name] for row in SURROGATES], dtype=object) for name in ("id", "title")})
BYTES = pa.array([b"fine", b"br\xffken", b"well"])
FORMS: dict[str, Any] = {
    "dicts": SURROGATES,
    "papers": [Paper(row["id"], row["title"]) for row in SURROGATES],
    "both": [*SURROGATES[:1], Paper("b", "\udfff"), *SURROGATES[2:]],
    "in a list": [{**row, "title": "t", "authors": ["A", row["title"]]} for row in SURROGATES],
    "name": [SURROGATES[0], {**SURROGATES[0], "id": "b", "\ud800": 1}, SURROGATES[2]],
    "data frame": PANDAS,
    "index": PANDAS.set_index("id"),
    "data frames": [PANDAS[:1], PANDAS[1:]],
    "table": pa.table({"id": ["a", "b", "c"], "title": pa.Array.from_buffers(pa.string(), 3, BYTES.buffers())}),
}


@pytest.mark.parametrize("form", FORMS)
def test_a_row_in_memory_with_a_lone_surrogate_is_rejected_alone(form: str) -> None:
    corpus = open_corpus(FORMS[form])
    (batch,) = corpus.batches()
    assert batch.papers["id"].to_pylist() == ["a", "c"]
    assert [(row.row, row.reason) for row in batch.rejected] == [(2, "broken UTF-8")]
    assert corpus.count() == 3
    assert "3 rows" in corpus.sources[0]


def test_rows_in_memory_keep_their_numbers_where_none_or_few_are_sound() -> None:
    (batch,) = open_corpus(SURROGATES[1:2] * 2).batches()
    assert ([row.row for row in batch.rejected], len(batch.papers)) == ([1, 2], 0)
    rows = [SURROGATES[1] if place % 5000 == 0 else {"id": str(place), "title": "t"} for place in range(9000)]
    rows[8999] = {"title": ""}
    batches = [*open_corpus(rows).batches()]
    assert [row.row for batch in batches for row in batch.rejected] == [1, 5001, 9000]
    assert [id for batch in batches for id in batch.papers["id"].to_pylist()] == [row["id"] for row in rows[:-1] if row["title"] == "t"]
    assert open_corpus(rows).fingerprint() != open_corpus(rows[1:]).fingerprint()


@pytest.mark.parametrize(
    ("source", "name"),
    [("papers.jsonl", "papers"), ("old.papers.jsonl.gz", "old"), ("folder", "folder"), ("folder/*.jsonl", "folder"), ("-", "stdin")],
)
def test_a_corpus_is_named_after_its_source(tmp_path: Path, source: str, name: str) -> None:
    (tmp_path / "folder").mkdir()
    for file in ("papers.jsonl", "old.papers.jsonl.gz", "folder/a.jsonl", "folder/b.jsonl"):
        (tmp_path / file).touch()
    assert open_corpus(source).name == name


def test_the_fingerprint_changes_with_the_files_and_the_columns(tmp_path: Path) -> None:
    path = write_jsonl(tmp_path / "p.jsonl", [{"id": 1, "title": "t"}])
    first = open_corpus(path).fingerprint()
    assert open_corpus(path).fingerprint() == first
    assert open_corpus(path, ColumnMap(title="other")).fingerprint() != first
    os.utime(path, ns=(0, 0))
    touched = open_corpus(path).fingerprint()
    assert touched != first
    write_jsonl(tmp_path / "q.jsonl", [{"id": 2, "title": "t"}])
    assert open_corpus([path, tmp_path / "q.jsonl"]).fingerprint() != touched


@pytest.mark.parametrize(
    ("source", "error", "words"),
    [
        ("absent.jsonl", NotFound, "there is no corpus absent.jsonl"),
        ("absent/*.parquet", NotFound, "there is no corpus absent"),
        ("notes.docx", InvalidRequest, r"no supported format \(.*\.parquet"),
        ("empty", NotFound, "holds no supported file"),
    ],
)
def test_what_is_no_corpus(tmp_path: Path, source: str, error: type[Exception], words: str) -> None:
    (tmp_path / "notes.docx").touch()
    (tmp_path / "empty").mkdir()
    with pytest.raises(error, match=words):
        open_corpus(source)
    with pytest.raises(InvalidRequest, match="no corpus given"):
        open_corpus([])


BROKEN: dict[str, bytes] = {
    "p.jsonl": b'{"id": "a", "title": "br\xffken"}\n{"id": "b", "title": "fine \xc3\xa9"}\n',
    "p.csv": b"id,title\na,br\xffken\nb,fine \xc3\xa9\n",
    "p.bib": b"@misc{a, title = {br\xffken}}\n@misc{b, title = {fine \xc3\xa9}}\n",
    "p.ris": b"TY  - JOUR\nT1  - br\xffken\nER  - \nTY  - JOUR\nT1  - fine \xc3\xa9\nER  - \n",
    "p.json": b'[{"id": "a", "title": "br\xffken"}, {"id": "b", "title": "fine \xc3\xa9"}]',
    "little.csv": codecs.BOM_UTF16_LE + "id,title\na,br\udc41ken\nb,fine é\n".encode("utf-16-le", "surrogatepass") + b"\0",
    "big.csv": codecs.BOM_UTF16_BE + "id,title\na,br\udc41ken\nb,fine é\n".encode("utf-16-be", "surrogatepass") + b"\0",
    "little.bib": codecs.BOM_UTF16_LE
    + "@misc{a, title = {br\ud800ken}}\n@misc{b, title = {fine é}}\n".encode("utf-16-le", "surrogatepass")
    + b"\x41",
}


@pytest.mark.parametrize("name", BROKEN)
def test_broken_letters_cost_their_row_alone_in_every_format(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(BROKEN[name])
    table, rejected = read_corpus(tmp_path / name)
    assert table["title"].to_pylist() == ["fine é"]
    assert (rejected[0].row, rejected[0].reason.partition(" at byte")[0]) == (1, "broken UTF-8")


LAUGHS = (
    '<!DOCTYPE PubmedArticleSet [<!ENTITY a "ha">'
    + "".join(f'<!ENTITY {chr(98 + n)} "{10 * f"&{chr(97 + n)};"}">' for n in range(9))
    + "]><PubmedArticleSet><PubmedArticle><MedlineCitation><PMID>&j;</PMID></MedlineCitation></PubmedArticle></PubmedArticleSet>"
)
OUTSIDE = '<!DOCTYPE PubmedArticleSet [<!ENTITY a SYSTEM "file:///etc/passwd">]><PubmedArticleSet><PubmedArticle>&a;</PubmedArticle></PubmedArticleSet>'
ARTICLES = HEAD + CITATION.format(number=1)
REFUSED: list[tuple[str, str, str]] = [
    ("p.ris", "no tags at all\n", "cannot be read as RIS"),
    ("p.enw", "\\section{no tags}", "cannot be read as EndNote's .enw"),
    ("p.csv", 'id,"title\na,b\n', "cannot be read: a quotation mark in line 1 is not closed"),
    ("p.csv", "PK\x03\x04id,title\na,b\n", "p.csv cannot be read"),
    ("p.csv", "\udcfd7zXZ\0id,title\na,b\n", "p.csv cannot be read"),
    ("p.csv", "\x1f\udc8bid,title\na,b\n", "p.csv cannot be read"),
    ("p.csv", "\x28\udcb5\x2f\udcfdid,title\na,b\n", "p.csv cannot be read"),
    ("p.json", '[{"id": 1, "title": "x"}, {"id": 2, ', "after record 2: "),
    ("p.json", '[{"id": 1, "title": "x"} {"id": 2}]', "after record 1: expected ','"),
    ("p.json", '[{"id": 1, "title": "x"}, oops]', "after record 2: Expecting value"),
    ("p.json", '[{"id": 1, "title": "x"}', "after record 1: it is cut short"),
    ("p.json", '{\n"results": [{"id": 1, "title": "x"}', "after record 1: it is cut short"),
    ("p.json", "{\n3: 4}", "a member without a name"),
    ("p.json", "[" * 100_000, "nested too deeply"),
    ("p.json", '[{"id": 1, "title": "x"}, {"id": ' + "1" * 5_000 + "}]", "after record 2: a number with too many digits"),
    ("p.xml", LAUGHS, "it declares the entity 'a'"),
    ("p.xml", OUTSIDE, "it declares the entity 'a'"),
    ("p.xml", "<PubmedArticleSet>" + "<a>" * 10_000, "nested too deeply"),
    ("p.xml", "<PubmedArticleSet><PubmedArticle>" + "<a>" * 10_000, "nested too deeply"),
    ("p.xml", ARTICLES + "<PubmedArticle>", "after record 1: "),
    ("p.xml", ARTICLES + "<PubmedArticle></b>", "after record 1: mismatched tag"),
    ("p.xml", ARTICLES + "<PubmedArticle>&nbsp;", "after record 1: "),
    ("p.xml", "<PubmedArticleSet>\udcff</PubmedArticleSet>", "not well-formed"),
    ("p.xml", "<svg></svg>", "is no XML that is read here (PubMed, arXiv's Atom, TEI, JATS, MODS, ACL Anthology, EndNote)"),
    ("p.xml", "", "is no XML that is read here"),
]


@pytest.mark.parametrize(("name", "text", "reason"), REFUSED, ids=range(len(REFUSED)))
def test_a_file_that_cannot_be_read_is_refused_in_one_line(tmp_path: Path, name: str, text: str, reason: str) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8", errors="surrogateescape")
    with pytest.raises(InvalidRequest) as caught:
        read_corpus(tmp_path / name)
    assert reason in str(caught.value)
    assert "\n" not in str(caught.value)

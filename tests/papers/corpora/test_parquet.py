"""Parquet corpora: read back as they were written, whatever the row groups; damage is named, and costs one row or one line."""

from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sciretrieve.base.errors import InvalidRequest, UnknownName
from sciretrieve.files.schema import PAPER_FIELDS
from sciretrieve.papers.corpora import open_corpus
from tests.made_up import read_corpus


@pytest.mark.parametrize("row_group", [1, 7, 100_000])
def test_rows_come_back_with_their_types(papers: list[dict[str, Any]], tmp_path: Path, row_group: int) -> None:
    table = pa.Table.from_pylist(papers)
    pq.write_table(table, tmp_path / "papers.parquet", row_group_size=row_group)
    read_papers, rejected = read_corpus(tmp_path / "papers.parquet")
    expected = [row for row in papers if row["title"] or row["abstract"]]
    assert rejected == []
    assert [{name: row[name] for name in papers[0]} for row in read_papers.to_pylist()] == expected
    assert read_papers.schema.field("citations").type == pa.int64()
    assert read_papers.schema.field("impact").type == pa.float64()
    assert open_corpus(tmp_path / "papers.parquet").count() == len(papers)


def test_broken_utf8_costs_its_row_alone(tmp_path: Path) -> None:
    titles = pa.array([b"fine", b"br\xffken", "naïve".encode(), b"fine too"], pa.binary())
    text = pa.StringArray.from_buffers(4, titles.buffers()[1], titles.buffers()[2])
    pq.write_table(pa.table({"id": ["a", "b", "c", "d"], "title": text}), tmp_path / "p.parquet")
    papers, rejected = read_corpus(tmp_path / "p.parquet")
    assert papers["title"].to_pylist() == ["fine", "naïve", "fine too"]
    assert [(item.row, item.reason) for item in rejected] == [(2, "broken UTF-8")]


def test_row_numbers_of_pandas_are_no_column(tmp_path: Path) -> None:
    table = pd.DataFrame({"id": ["a", "b", "c", "d"], "title": ["A", "B", "C", "D"], "year": [2001, 2003, 1999, 2004]})
    table[table.year > 2000].to_parquet(path := tmp_path / "recent.parquet")
    assert "__index_level_0__" in pq.ParquetFile(path).schema_arrow.names
    assert [batch.papers.column_names for batch in open_corpus(path).batches()] == [[field.name for field in PAPER_FIELDS]]


def test_float_ids_of_pandas_are_whole_numbers_again(tmp_path: Path) -> None:
    pq.write_table(pa.table({"id": [7.0, float("nan"), 12.0], "title": ["x", "y", "z"]}), tmp_path / "p.parquet")
    papers, rejected = read_corpus(tmp_path / "p.parquet")
    first, made, last = papers["id"].to_pylist()
    assert (first, made[:5], last) == ("7", "made-", "12")
    assert rejected == []


def test_dictionary_and_large_types(tmp_path: Path) -> None:
    table = pa.table(
        {
            "id": pa.array([1, 2], pa.uint32()),
            "title": pa.array(["x", "y"]).dictionary_encode(),
            "abstract": pa.array([["one", "two"], None], pa.large_list(pa.large_string())),
            "authors": pa.array([["A B"], None], pa.large_list(pa.large_string())),
            "published": pa.array([0, 10**12], pa.timestamp("ms")),
        }
    )
    pq.write_table(table, tmp_path / "p.parquet")
    papers, _ = read_corpus(tmp_path / "p.parquet")
    assert papers.select(["id", "title", "abstract", "authors", "year"]).to_pylist() == [
        {"id": "1", "title": "x", "abstract": "one two", "authors": ["A B"], "year": 1970},
        {"id": "2", "title": "y", "abstract": "", "authors": [], "year": 2001},
    ]


@pytest.mark.parametrize("damage", ["text", "cut", "empty", "page"])
def test_damaged_files_are_one_clear_line(tmp_path: Path, damage: str) -> None:
    path = tmp_path / "p.parquet"
    pq.write_table(pa.table({"id": [str(n) for n in range(5000)], "title": ["t" * (n % 40 + 1) for n in range(5000)]}), path)
    whole = path.read_bytes()
    page = whole[:200] + bytes(200) + whole[400:]
    path.write_bytes({"text": b"id,title\n1,x\n", "cut": whole[: len(whole) // 2], "empty": b"", "page": page}[damage])
    with pytest.raises(InvalidRequest, match=r"p\.parquet cannot be read as Parquet") as caught:
        read_corpus(path)
    assert "\n" not in str(caught.value)


def test_missing_columns_are_named(tmp_path: Path) -> None:
    pq.write_table(pa.table({"identifier": ["a"], "heading": ["x"]}), tmp_path / "p.parquet")
    with pytest.raises(InvalidRequest, match=r"neither a title nor an abstract column among identifier, heading; name them with `title`"):
        read_corpus(tmp_path / "p.parquet")
    with pytest.raises(InvalidRequest, match=r"neither a title nor an abstract column"):
        read_corpus(tmp_path / "p.parquet", id="identifier")
    with pytest.raises(UnknownName, match=r"did you mean 'heading'"):
        read_corpus(tmp_path / "p.parquet", id="identifier", title="headings")
    assert read_corpus(tmp_path / "p.parquet", id="identifier", title="heading")[0]["title"].to_pylist() == ["x"]


def test_a_directory_and_a_glob_are_one_corpus(tmp_path: Path) -> None:
    for number in range(3):
        pq.write_table(pa.table({"id": [f"{number}a", f"{number}b"], "title": ["x", "y"]}), tmp_path / f"part-{number}.parquet")
    (tmp_path / "_SUCCESS").touch()
    for source in (tmp_path, str(tmp_path / "part-*.parquet")):
        assert read_corpus(source)[0]["id"].to_pylist() == ["0a", "0b", "1a", "1b", "2a", "2b"]
        assert open_corpus(source).count() == 6

"""Commands that take several indexes: `-i A -i B`, and `-i '*'`."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any
from unittest import mock

import jsonschema
import pyarrow.parquet as pq
import pytest

import sciretrieve as sr
from sciretrieve.commands import completing
from tests.command_line import answer, sciretrieve

SEA: list[dict[str, Any]] = [
    {"id": "1", "title": "Tides of the sea", "abstract": "The moon makes tides.", "authors": ["Ada Lovelace"], "depth": 40},
    {"id": "2", "title": "Salt in the sea", "year": 2001, "depth": 7},
]
SKY: list[dict[str, Any]] = [
    {"id": "1", "title": "Winds of the sky", "abstract": "Winds blow over the sea."},
    {"id": "3", "title": "Tides of the Sea", "authors": ["Lovelace, A."], "year": 1999},
]


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two indexes by name, `sea` and `sky`, and an unfinished one."""
    for name, rows in (("sea", SEA), ("sky", SKY)):
        sr.build(rows, tmp_path / "indexes" / name, encoder=None, progress=False).close()
    (tmp_path / "indexes" / "begun" / "shards").mkdir(parents=True)
    (tmp_path / "indexes" / "begun" / "pending.json").write_text("{}")


BOTH = ("-i", "sea", "-i", "sky")


@pytest.mark.parametrize("named", [BOTH, ("-i", "*"), ("-i", "*", "-i", "sea")], ids=["names", "all", "all and one"])
def test_search_answers_from_all_of_them(named: tuple[str, ...]) -> None:
    found = json.loads(answer("search", "sea", *named, "-f", "json"))
    jsonschema.validate(found, sr.schema("answer"), cls=jsonschema.Draft202012Validator)
    hits = {(hit["index"], hit["id"], *zip(hit["also_in"], hit["also"], strict=True)) for hit in found["hits"]}
    assert hits == {("sea", "1", ("sky", "3")), ("sea", "2"), ("sky", "1")}


def test_one_name_is_one_index() -> None:
    (hit,) = json.loads(answer("search", "winds", "-i", "sky", "-f", "json"))["hits"]
    assert "index" not in hit
    assert "also_in" not in hit


def test_a_table_names_papers_with_their_index() -> None:
    lines = answer("search", "tides", *BOTH).splitlines()
    assert lines[1].endswith("sea:1 · also sky:3")


def test_spreadsheets_have_a_column_for_the_index() -> None:
    rows = list(csv.DictReader(io.StringIO(answer("search", "tides", *BOTH, "-f", "csv"))))
    assert [(row["index"], row["id"], row["also"], row["also_in"]) for row in rows] == [("sea", "1", "3", "sky")]
    assert answer("search", "tides", *BOTH, "-f", "tsv", "--fields", "index,id").splitlines() == ["index\tid", "sea\t1"]
    assert sciretrieve("search", "tides", "-i", "sea", "--fields", "index").returncode == 2


def test_papers_are_named_with_their_index() -> None:
    assert json.loads(answer("show", "sky:1", *BOTH, "-f", "json"))["papers"][0]["title"] == "Winds of the sky"
    refused = sciretrieve("show", "1", *BOTH)
    assert (refused.returncode, refused.stderr.count("\n")) == (2, 1)
    assert "name one by its id: sea:1 (Tides of the sea); sky:1 (Winds of the sky)" in refused.stderr
    assert answer("cite", "sea:1,3".partition(",")[0], "3", *BOTH).count(",") == 1
    similar = json.loads(answer("similar", "sea:1", *BOTH, "-f", "json"))
    assert {(hit["index"], hit["id"]) for hit in similar["hits"]} == {("sea", "2"), ("sky", "1")}
    liked = json.loads(answer("search", "sea", "--like", "sky:1", *BOTH, "-f", "json"))
    assert ("sky", "1") not in {(hit["index"], hit["id"]) for hit in liked["hits"]}


def test_bibliographies_have_each_paper_once() -> None:
    assert answer("search", "sea", *BOTH, "-f", "bibtex").lower().count("tides of the sea") == 1
    assert answer("search", "sea", *BOTH, "-f", "html").count("sea + sky") == 1


def test_an_export_has_each_paper_once(tmp_path: Path) -> None:
    result = sciretrieve("export", *BOTH, "-o", "all.csv")
    assert result.stderr.startswith("3 papers: all.csv")
    rows = list(csv.DictReader((tmp_path / "all.csv").read_text().splitlines()))
    assert [(row["id"], row["index"], row["depth"]) for row in rows] == [("1", "sea", "40"), ("2", "sea", "7"), ("1", "sky", "")]
    answer("export", *BOTH, "-o", "some.parquet", "--query", "winds OR salt")
    assert pq.read_table("some.parquet").select(["id", "index"]).to_pylist() == [{"id": "2", "index": "sea"}, {"id": "1", "index": "sky"}]
    answer("export", *BOTH, "-o", "all.bib")
    assert (tmp_path / "all.bib").read_text().count("@") == 3


def test_counts_are_of_records() -> None:
    lines = answer("count", "sea AND tides", *BOTH).splitlines()
    assert [int(line.split()[1]) for line in lines] == [4, 2, 2]


def test_a_column_that_one_lacks_is_noted() -> None:
    result = sciretrieve("search", "sea", *BOTH, "--filter", "depth > 10", "-f", "jsonl")
    assert [json.loads(line)["id"] for line in result.stdout.splitlines()] == ["1"]
    assert result.stderr == "sky has no column depth: a filter treats these papers as without a value\n"
    assert sciretrieve("search", "sea", *BOTH, "--filter", "dept > 10").returncode == 2


@pytest.mark.parametrize(
    ("option", "named"),
    [
        (("--set", "generation=1"), "--set generation"),
        (("--save", "x"), "--save"),
        (("-f", "trec"), "-f trec"),
        (("--ray", "auto"), "--ray"),
    ],
    ids=["generation", "save", "trec", "distributed"],
)
def test_options_of_one_index_are_refused(option: tuple[str, ...], named: str) -> None:
    result = sciretrieve("search", "sea", *BOTH, *option)
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr == f"sciretrieve: {named} is for one index; leave it out, or name one index with -i\n"


def test_what_takes_one_index_says_so() -> None:
    for words in (("batch", "queries.txt"), ("info",), ("delete", "1")):
        result = sciretrieve(*words, *BOTH)
        assert (result.returncode, result.stderr.count("\n")) == (2, 1)
        assert "is given 2 times; give it once" in result.stderr


def test_all_of_none_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "empty").mkdir()
    monkeypatch.chdir(tmp_path / "empty")
    monkeypatch.setattr(Path, "home", lambda: tmp_path / "empty")
    result = sciretrieve("search", "sea", "-i", "*")
    assert (result.returncode, result.stderr.count("\n")) == (2, 1)
    assert "there is no index in ./indexes" in result.stderr


def test_ids_are_completed_from_all_of_them() -> None:
    context = mock.Mock(params={"index": ["sea", "sky"]})
    assert sorted(completing.ids(context, "")) == ["1", "2", "3"]

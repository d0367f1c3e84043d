"""From an answer into a manuscript: formats of hits, keys, and bibliographies that are added to."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest
import rispy
from pybtex.database import parse_string

import sciretrieve as sr
from tests.command_line import answer, sciretrieve

BIB = r"""
@inproceedings{Knuth84, title = {Literate shells}, author = {Knuth, Donald E.}, booktitle = {Proc. of {X}}, pages = {1--10},
  note = {Best paper}, year = 1984, month = jun}
@phdthesis{zh, title = {图 shells}, school = {MIT}, year = 2020}
@book{tex, title = {The {\TeX}book of shells}, publisher = {Addison-Wesley}, year = 1986}
@misc{pre, title = {Shells, early}, eprint = {1409.0473}, archivePrefix = {arXiv}, primaryClass = {cs.CL}}
"""
PAPERS = [
    {
        "id": "10.1145/3341161.3342903",
        "title": "Thin shells",
        "type": "ConferencePaper",
        "venue": "Proc. of Y",
        "year": 2019,
        "authors": ["A. Li"],
    },
    {"id": "W1", "title": "Shells again", "venue": "Nature", "doi": "10.1000/z", "authors": ["Jörg Müller"], "volume": "3", "pages": "1-9"},
]


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An index of a bibliography and of papers from elsewhere."""
    folder = tmp_path_factory.mktemp("library")
    (folder / "mine.bib").write_text(BIB, encoding="utf-8")
    (folder / "others.jsonl").write_text("".join(json.dumps(paper) + "\n" for paper in PAPERS), encoding="utf-8")
    sr.build([folder / "mine.bib", folder / "others.jsonl"], folder / "index", encoder=None)
    return folder / "index"


def test_a_bibliography_keeps_keys_types_and_fields(library: Path) -> None:
    """All that was once lost."""
    entries = parse_string(answer("search", "shells", "-i", library, "-f", "bibtex"), "bibtex").entries
    originals = parse_string(BIB, "bibtex").entries
    assert {key: entries[key] for key in originals} == dict(originals)
    made = entries["li2019thin"]
    assert (made.type, made.fields["doi"], made.fields["booktitle"]) == ("inproceedings", "10.1145/3341161.3342903", "Proc. of Y")
    assert set(entries) == {*originals, "li2019thin", "W1"}

    records = {record["title"]: record for record in rispy.loads(answer("search", "shells", "-i", library, "-f", "ris"))}
    assert (records["图 shells"]["type_of_reference"], records["Literate shells"]["notes"][0]) == ("THES", "Best paper")
    items = {item["id"]: item for item in json.loads(answer("search", "shells", "-i", library, "-f", "csl-json"))}
    assert set(items) == {*originals, "li2019thin", "W1"}
    assert (items["zh"]["type"], items["zh"]["publisher"], items["pre"]["number"]) == ("thesis", "MIT", "arXiv:1409.0473")


def test_cite_prints_keys_for_latex(library: Path) -> None:
    assert answer("cite", "Knuth84", "10.1145/3341161.3342903", "-i", library) == "Knuth84,li2019thin\n"
    assert answer("cite", "-", "-i", library, stdin="W1\n\nzh\n") == "W1,zh\n"
    result = sciretrieve("cite", "nobody", "-i", library)
    assert (result.returncode, result.stdout) == (2, "")
    assert "nobody" in result.stderr


def test_search_then_cite_into_a_bibliography(library: Path, tmp_path: Path) -> None:
    refs = tmp_path / "refs.bib"
    refs.write_text("@article{li, title = {Thin Shells}, author = {Li, Ada}, year = 2019}\n")
    result = sciretrieve("cite", "zh", "10.1145/3341161.3342903", "-i", library, "--append", refs)
    assert (result.returncode, result.stdout) == (0, "zh,li\n")
    assert result.stderr == f"{refs}: 1 paper added, 1 there already\n"
    result = sciretrieve("search", "shells", "-i", library, "-f", "jsonl", "--append", refs, "--quiet")
    assert (result.stdout.count("\n"), result.stderr) == (6, "")
    assert set(parse_string(refs.read_text(), "bibtex").entries) == {"li", "zh", "Knuth84", "tex", "pre", "W1"}
    whole = refs.read_bytes()
    result = sciretrieve("similar", "zh", "-i", library, "--append", refs)
    assert result.stderr == f"{refs}: 0 papers added, 5 there already\n"
    assert refs.read_bytes() == whole


def test_a_bibliography_that_cannot_be_added_to_is_one_line(library: Path, tmp_path: Path) -> None:
    for name, words in (("refs.txt", "name a .bib, .ris or .json file"), ("no/refs.bib", "no directory")):
        result = sciretrieve("search", "shells", "-i", library, "--append", tmp_path / name)
        assert (result.returncode, result.stdout, result.stderr.count("\n")) == (2, "", 1)
        assert words in result.stderr
    (tmp_path / "refs.bib").write_text("@misc{a, title = {\n")
    result = sciretrieve("cite", "zh", "-i", library, "--append", tmp_path / "refs.bib")
    assert "1 entry of" in result.stderr


def test_a_whole_library_is_exported_as_a_bibliography(library: Path, tmp_path: Path) -> None:
    for name in ("all.bib", "all.ris", "all.json"):
        answer("export", "-i", library, "-o", tmp_path / name)
        assert sciretrieve("similar", "zh", "-i", library, "--append", tmp_path / name).stderr.endswith(
            ": 0 papers added, 5 there already\n"
        )
    originals = parse_string(BIB, "bibtex").entries
    entries = parse_string((tmp_path / "all.bib").read_text(encoding="utf-8"), "bibtex").entries
    assert list(entries) == [*originals, "li2019thin", "W1"]
    assert {key: entries[key] for key in originals} == dict(originals)
    assert len(rispy.loads((tmp_path / "all.ris").read_text(encoding="utf-8"))) == 6
    assert [item["id"] for item in json.loads((tmp_path / "all.json").read_text(encoding="utf-8"))] == list(entries)


@pytest.mark.skipif(shutil.which("pandoc") is None, reason="pandoc is not installed")
def test_pandoc_reads_every_bibliography(library: Path, tmp_path: Path) -> None:
    titles = ["Literate shells", "图 shells", "TeXbook of shells", "Shells, early", "Thin shells", "Shells again"]
    for format, suffix in (("bibtex", "bib"), ("csl-json", "json"), ("ris", "ris"), ("markdown", "md"), ("html", "html")):
        (tmp_path / f"refs.{suffix}").write_text(answer("search", "shells", "-i", library, "-f", format), encoding="utf-8")
        source = (
            [str(tmp_path / f"refs.{suffix}")] if format in ("markdown", "html") else ["--bibliography", str(tmp_path / f"refs.{suffix}")]
        )
        command = ["pandoc", "--citeproc", "-t", "plain", "--wrap=none", *source]
        text = subprocess.run(command, input="---\nnocite: '@*'\n---\n", capture_output=True, text=True, check=True).stdout
        assert all(title.lower() in text.lower() for title in titles), (format, text)


def test_answers_are_sorted_by_year_and_have_the_fields_that_are_wanted(library: Path) -> None:
    ask = ("search", "shells", "-i", library)
    plain = {row["id"]: row for row in map(json.loads, answer(*ask, "-f", "jsonl", "--fields", "id,year,rank").splitlines())}
    newest = [
        json.loads(line) for line in answer(*ask, "-f", "jsonl", "--fields", "id,year", "--fields", "rank", "--sort", "year").splitlines()
    ]
    assert [row["year"] for row in newest] == [2020, 2019, 1986, 1984, None, None]
    assert {row["id"]: row for row in newest} == plain
    assert newest[4]["rank"] < newest[5]["rank"]
    keys = [row["id"] if row["id"].isalnum() else "li2019thin" for row in newest]
    assert list(parse_string(answer(*ask, "-f", "bibtex", "--sort", "year"), "bibtex").entries) == keys
    explained = json.loads(answer(*ask, "-f", "json", "--sort", "year", "--explain"))["hits"]
    assert [hit["explanation"]["bm25"]["score"] for hit in explained] == pytest.approx([hit["scores"]["bm25"] for hit in explained])
    assert len({hit["scores"]["bm25"] for hit in explained}) > 1
    assert answer(*ask, "--fields", "id,note", "-k", "6").splitlines()[0] == "id                       note"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--fields", "nope"], "nope"),
        (["--fields", "id", "-f", "bibtex"], "--fields chooses columns"),
        (["--fields", "id", "--explain"], "--explain is not shown"),
        (["--sort", "year", "-f", "trec"], "leave out --sort"),
    ],
)
def test_fields_and_orders_that_a_format_lacks_are_refused(library: Path, arguments: list[str], words: str) -> None:
    result = sciretrieve("search", "shells", "-i", library, "--append", library.parent / "never.bib", *arguments)
    assert (result.returncode, result.stdout, result.stderr.count("\n")) == (2, "", 1)
    assert words in result.stderr
    assert not (library.parent / "never.bib").exists()

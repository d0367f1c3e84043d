"""Bibliographies that are added to: nothing twice, nothing changed that was there, read by those who read bibliographies."""

import json
import os
import shutil
import stat
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import rispy
from pybtex.database import parse_string

import sciretrieve as sr
from sciretrieve.base.errors import InvalidRequest
from sciretrieve.base.types import Paper
from sciretrieve.files.schema import papers_of
from tests.made_up import read_corpus

BIB = r"""% my own, since 2009
@string{nips = "Advances in {NIPS}"}
@article{Vaswani, title = {Attention Is All You {Need}}, author = {Vaswani, Ashish and others}, journal = nips, year = 2017}

@misc{kipf2017semi, title = {Another paper}, author={Li, Wei}, year = 1999, doi = {https://doi.org/10.1000/ABC}}
  @comment{left as it is}
@online{arx, title = {On heat}, eprint = {1409.0473v2}, archiveprefix = {arXiv}}
@article{med, title = {In medicine}, pmid = {123}}
@book{notitle, publisher = {X}}"""

ATTENTION = Paper("https://openalex.org/W1", "Attention is all you need.", "", 2017, "NIPS", ("Ashish Vaswani", "Noam Shazeer"))
KIPF = Paper("kipf2017semi", "Semi-supervised classification with graph convolutional networks", "", 2017, "ICLR", ("Thomas Kipf",))


def bib_of(papers: list[Paper], tmp_path: Path, text: str = BIB) -> tuple[sr.Citations, str]:
    """What is said of adding papers to a bibliography, and what is added to its text."""
    path = tmp_path / "refs.bib"
    path.write_bytes(text.encode())
    citations = sr.cite(papers, path)
    whole = path.read_bytes().decode()
    assert whole.startswith(text)
    assert not list(tmp_path.glob("*.tmp"))
    return citations, whole.removeprefix(text)


def test_keys_without_a_bibliography() -> None:
    assert sr.cite([ATTENTION, KIPF]) == sr.Citations(["vaswani2017attention", "kipf2017semi"])


@pytest.mark.parametrize(
    ("paper", "key"),
    [
        (ATTENTION, "Vaswani"),
        (Paper("x", "Attention is all you need", "", None, None, ("A. Vaswani",)), "Vaswani"),
        (Paper("vaswani", "Attention is all you need", "", 2018), "Vaswani"),
        (Paper("10.1000/abc", "Something else"), "kipf2017semi"),
        (Paper("x", "y", doi="10.1000/abC"), "kipf2017semi"),
        (Paper("1409.0473", "y"), "arx"),
        (Paper("y", "y", doi="10.48550/arXiv.1409.0473", extra={"arxiv": "1409.0473"}), "arx"),
        (Paper("x", "y", extra={"pmid": "123"}), "med"),
        (Paper("notitle"), "notitle"),
    ],
)
def test_what_is_there_is_not_added(paper: Paper, key: str, tmp_path: Path) -> None:
    assert bib_of([paper], tmp_path) == (sr.Citations([key], 0, 1), "")


@pytest.mark.parametrize(
    "paper",
    [
        Paper("x", "Attention is all you need", "", 2018, None, ("Ashish Vaswani",)),
        Paper("x", "Attention is all you need", "", 2017, None, ("Noam Shazeer",)),
        Paper("x", "On heat", "", None, "Annalen"),
        Paper("x", "", "Only an abstract."),
    ],
)
def test_what_is_only_alike_is_added(paper: Paper, tmp_path: Path) -> None:
    citations, added = bib_of([paper], tmp_path)
    assert (citations.keys, citations.added) == (["x"], 1)
    assert list(parse_string(added, "bibtex").entries) == ["x"]


def test_only_what_is_lacking_is_added_and_keys_that_clash_are_told_apart(tmp_path: Path) -> None:
    again = Paper("https://x.org/k", KIPF.title, "", 2017, None, ("Kipf, T.",))
    other = Paper("NoTitle", "A title", extra={"bibtex": "@misc{NoTitle,\n  title = {A title},\n  month = may\n}"})
    citations, added = bib_of([KIPF, ATTENTION, again, other], tmp_path)
    assert citations == sr.Citations(["kipf2017semia", "Vaswani", "kipf2017semia", "NoTitlea"], 2, 2)
    entries = parse_string(BIB + added, "bibtex").entries
    assert set(entries) == {"Vaswani", "kipf2017semi", "arx", "med", "notitle", "kipf2017semia", "NoTitlea"}
    assert entries["kipf2017semia"].fields["booktitle" if entries["kipf2017semia"].type == "inproceedings" else "journal"] == "ICLR"
    assert "@misc{NoTitlea,\n  title = {A title},\n  month = may\n}\n" in added
    # a second time there is nothing to add, and the keys are the same
    assert bib_of([KIPF, ATTENTION, again, other], tmp_path, BIB + added) == (sr.Citations(citations.keys, 0, 4), "")


def test_ends_of_lines_links_and_modes_stay(tmp_path: Path) -> None:
    _, added = bib_of([KIPF], tmp_path, "@misc{a, title = {T}}\r\n")
    assert added.count("\n") == added.count("\r\n") == added.count("\r") > 3
    assert added.startswith("\r\n@")
    (tmp_path / "link.bib").symlink_to("refs.bib")
    (tmp_path / "refs.bib").chmod(0o640)
    assert sr.cite([ATTENTION], str(tmp_path / "link.bib")).added == 1
    assert (tmp_path / "link.bib").is_symlink()
    assert stat.S_IMODE((tmp_path / "refs.bib").stat().st_mode) == 0o640
    assert "Attention" in (tmp_path / "refs.bib").read_text()


def test_a_missing_file_is_made_and_one_without_news_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "new.bib"
    assert sr.cite([KIPF], path).added == 1
    assert path.read_text().startswith("@article{kipf2017semi,\n")
    before = path.stat()
    assert sr.cite([KIPF], path).present == 1
    assert (path.stat().st_ino, path.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


def test_a_broken_entry_is_counted_and_its_text_stays(tmp_path: Path) -> None:
    citations, added = bib_of([KIPF], tmp_path, "@misc{a, title = {T}}\n@article{broken, title = {\n")
    assert (citations.added, citations.unread) == (1, 1)
    assert "@article{kipf2017semi," in added


def test_ris(tmp_path: Path) -> None:
    path = tmp_path / "refs.ris"
    text = "TY  - JOUR\nID  - z1\nTI  - On heat\nDO  - 10.1000/abc\nER  - \n"
    path.write_text(text)
    citations = sr.cite([Paper("x", "y", doi="10.1000/abc"), KIPF, Paper("q", "Q", extra={"ris": "TY  - JOUR\nID  - q\nTI  - Q"})], path)
    assert citations == sr.Citations(["z1", "kipf2017semi", "q"], 2, 1)
    assert path.read_text().startswith(text)
    records = rispy.loads(path.read_text())
    assert [record["id"] for record in records] == ["z1", "kipf2017semi", "q"]
    assert all("notes" not in record for record in records)
    assert sr.cite([KIPF], path).added == 0
    strange = Paper("9205060", "On walls", "", 1992, None, (r"M. Cveti\v c",))
    assert [sr.cite([strange], path).added for _ in range(2)] == [1, 0]


@pytest.mark.parametrize("text", ["[]", '[\n {"id": "kipf2017semi", "type": "book", "title": "T",\n  "issued": {"raw": "1"}}]\n\n', ""])
def test_csl_json(tmp_path: Path, text: str) -> None:
    path = tmp_path / "refs.json"
    path.write_text(text)
    citations = sr.cite([KIPF, ATTENTION, KIPF], path)
    before, after = json.loads(text or "[]"), json.loads(path.read_text())
    key = "kipf2017semia" if before else "kipf2017semi"
    assert citations == sr.Citations([key, "vaswani2017attention", key], 2, 1)
    assert after[: len(before)] == before
    assert [item["id"] for item in after[len(before) :]] == [key, "vaswani2017attention"]
    assert path.read_text().startswith(text.rstrip()[:-1].rstrip())
    assert sr.cite([KIPF, ATTENTION], path).added == 0


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("refs.txt", b"", r"name a \.bib, \.ris or \.json file"),
        ("no/refs.bib", b"", "no directory"),
        ("refs.bib", "@misc{a, title = {Über}}".encode("latin-1"), "not in UTF-8.*iconv"),
        ("refs.json", b'{"items": []}', "no list of CSL-JSON"),
        ("refs.json", b"[1]", "no list of CSL-JSON"),
        ("refs.json", b"[", "no list of CSL-JSON"),
        ("refs.ris", b"@misc{a, title = {T}}", "cannot be read as RIS"),
    ],
)
def test_what_cannot_be_added_to_is_left_alone(name: str, data: bytes, message: str, tmp_path: Path) -> None:
    path = tmp_path / name
    if path.parent.is_dir():
        path.write_bytes(data)
    with pytest.raises(InvalidRequest, match=message):
        sr.cite([KIPF], path)
    assert not path.exists() or path.read_bytes() == data


def test_two_at_a_time_lose_nothing(tmp_path: Path) -> None:
    papers = [Paper(f"p{number}", f"Title {number}", "", number) for number in range(12)]
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda paper: sr.cite([paper], tmp_path / "refs.bib"), papers))
    assert set(parse_string((tmp_path / "refs.bib").read_text(), "bibtex").entries) == {paper.id for paper in papers}


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_file_that_cannot_be_written_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "refs.bib").touch(0o400)
    with pytest.raises(PermissionError):
        sr.cite([KIPF], tmp_path / "refs.bib")


@pytest.mark.skipif(not (shutil.which("pdflatex") and shutil.which("bibtex")), reason="LaTeX is not installed")
def test_latex_accepts_the_bibliography(tmp_path: Path) -> None:
    titles = ["Graphs & trees: 100% of {A}_1 #3 ~ ^ \\ $x$", "Über Wärme — 5 €", "T"]
    papers = [
        Paper(
            f"k{n}",
            title,
            "An abstract\n\nof $x_1$ & more",
            2000 + n,
            venue,
            ("Jörg Müller Jr.", "The LIGO Collaboration", "A. van den Oord"),
        )
        for n, title in enumerate(titles)
        for venue in ("Proc. of X & Y", "Nature", "MIT thesis")[n : n + 1]
    ]
    papers += papers_of(read_corpus(_written(tmp_path / "mine.bib", BIB))[0])
    keys = ",".join(sr.cite(papers, tmp_path / "refs.bib").keys)
    document = (
        rf"\documentclass{{article}}\begin{{document}}\cite{{{keys}}}\bibliographystyle{{plain}}\bibliography{{refs}}\end{{document}}"
    )
    _written(tmp_path / "paper.tex", document)
    for command in (["pdflatex", "paper"], ["bibtex", "paper"], ["pdflatex", "paper"], ["pdflatex", "paper"]):
        arguments = [
            command[0],
            *(["-draftmode", "-interaction=nonstopmode", "-halt-on-error"] if command[0] == "pdflatex" else []),
            command[1],
        ]
        result = subprocess.run(arguments, cwd=tmp_path, capture_output=True, text=True, errors="replace", check=False)
        assert result.returncode == 0, result.stdout
    assert "Citation" not in (tmp_path / "paper.log").read_text(errors="replace")
    assert "error" not in (tmp_path / "paper.blg").read_text(errors="replace")


def _written(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path

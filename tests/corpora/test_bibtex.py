"""BibTeX: LaTeX as plain text, macros, what pybtex's own full parser reads, and files that people break by hand."""

from __future__ import annotations

from pathlib import Path

import pytest
from pybtex.database import parse_string

from sciretrieve.errors import InvalidRequest
from tests.made_up import read_corpus

LIBRARY = r"""
@string{nips = "Advances in Neural Information Processing Systems"}
@comment{exported by hand}
@preamble{"\newcommand{\x}{y}"}

@inproceedings{vaswani2017attention,
  title = {Attention is {A}ll you {N}eed},
  author = {Vaswani, Ashish and Shazeer, Noam and {van den Oord}, A{\"a}ron and {The Google Team}},
  booktitle = nips, year = 2017, month = dec, doi = {10.5555/3295222},
}
@article{muller,
  Title = "{\"U}ber die $\alpha$-Synuklein-{H}ypothese",
  AUTHOR = "M{\"u}ller, J{\"o}rg and Jos{\'e} Garc{\'\i}a",
  journal = "Z. f{\"u}r " # "Physik", date = {1998-04-02}, abstract = {Two words \& 5\,\% more.}, keywords = {a, b},
}
@book{Curie, title = {Radioactivit\'e}, year = {in press}}
"""


def test_entries_become_papers(tmp_path: Path) -> None:
    (tmp_path / "library.bib").write_text(LIBRARY, encoding="utf-8")
    read, rejected = read_corpus(tmp_path / "library.bib")
    first, second, third = read.to_pylist()
    assert rejected == []
    assert (first["id"], first["title"], first["year"], first["doi"]) == (
        "vaswani2017attention",
        "Attention is All you Need",
        2017,
        "10.5555/3295222",
    )
    assert first["venue"] == "Advances in Neural Information Processing Systems"
    assert first["authors"] == ["Ashish Vaswani", "Noam Shazeer", "Aäron van den Oord", "The Google Team"]
    assert (second["title"], second["venue"], second["year"]) == ("Über die α-Synuklein-Hypothese", "Z. für Physik", 1998)
    assert second["authors"] == ["Jörg Müller", "José García"]
    assert second["abstract"].startswith("Two words & 5")
    assert (third["title"], third["year"], third["type"]) == ("Radioactivité", None, "book")


def test_the_same_entries_as_pybtex_itself(tmp_path: Path) -> None:
    (tmp_path / "library.bib").write_text(LIBRARY, encoding="utf-8")
    read, _ = read_corpus(tmp_path / "library.bib")
    assert read["id"].to_pylist() == list(parse_string(LIBRARY, "bibtex").entries)


@pytest.mark.parametrize(
    ("broken", "survivors"),
    [
        ("@article{open, title = {No end, year = 2000\n", {"good"}),
        ("@article{nokey\n title {x}}\n", {"good", "after"}),
        ("@article{, title = {No key}}\n", {"good", "after"}),
        ("@article{good, title = {Again}}\n", {"good", "after"}),
        ("@misc{empty, year = 2000}\n", {"good", "after"}),
        ("stray words between entries\n", {"good", "after"}),
        (r"@misc{maths, title = {The $O(n^{2}$ {\foo{bar} of $x_1} and more}}" + "\n", {"good", "after"}),
    ],
)
def test_a_broken_entry_costs_itself(tmp_path: Path, broken: str, survivors: set[str]) -> None:
    good, after = "@article{good, title = {Good}}\n", "@article{after, title = {After}}\n"
    (tmp_path / "p.bib").write_text(good + broken + after)
    read, rejected = read_corpus(tmp_path / "p.bib")
    assert survivors <= set(read["id"].to_pylist())
    assert all("\n" not in item.reason for item in rejected)
    if "stray" not in broken and "maths" not in broken:
        assert rejected


def test_a_macro_of_another_file_stands_for_itself(tmp_path: Path) -> None:
    (tmp_path / "p.bib").write_text("@article{macro, title = {Fine}, journal = JMLR, month = May}\n")
    read, rejected = read_corpus(tmp_path / "p.bib")
    assert rejected == []
    assert read.select(["id", "venue", "month"]).to_pylist() == [{"id": "macro", "venue": "JMLR", "month": "May"}]


def test_broken_utf8_costs_its_entry(tmp_path: Path) -> None:
    (tmp_path / "p.bib").write_bytes(b"@misc{a, title = {br\xffken}}\n@misc{b, title = {fine \xc3\xa9}}\n")
    read, rejected = read_corpus(tmp_path / "p.bib")
    assert read["title"].to_pylist() == ["fine é"]
    assert [(item.row, item.reason) for item in rejected] == [(1, "broken UTF-8")]


def test_no_entries(tmp_path: Path) -> None:
    import sciretrieve as sr

    (tmp_path / "p.bib").write_text("just words\n")
    with pytest.raises(InvalidRequest, match="no paper to index"):
        sr.build(tmp_path / "p.bib", tmp_path / "index", encoder=None)

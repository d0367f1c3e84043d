"""BibTeX: LaTeX as plain text, macros, what pybtex's own full parser reads, and files that people break by hand."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pybtex.database import Person, parse_string
from pybtex.richtext import Text

from sciretrieve.corpora.latex import plain_text
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
    papers, rejected = read_corpus(tmp_path / "library.bib")
    first, second, third = papers.to_pylist()
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
    papers, _ = read_corpus(tmp_path / "library.bib")
    assert papers["id"].to_pylist() == list(parse_string(LIBRARY, "bibtex").entries)


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
    papers, rejected = read_corpus(tmp_path / "p.bib")
    assert survivors <= set(papers["id"].to_pylist())
    assert all("\n" not in item.reason for item in rejected)
    if "stray" not in broken and "maths" not in broken:
        assert rejected


def test_a_macro_of_another_file_stands_for_itself(tmp_path: Path) -> None:
    (tmp_path / "p.bib").write_text("@article{macro, title = {Fine}, journal = JMLR, month = May}\n")
    papers, rejected = read_corpus(tmp_path / "p.bib")
    assert rejected == []
    assert papers.select(["id", "venue", "month"]).to_pylist() == [{"id": "macro", "venue": "JMLR", "month": "May"}]


def test_broken_utf8_costs_its_entry(tmp_path: Path) -> None:
    (tmp_path / "p.bib").write_bytes(b"@misc{a, title = {br\xffken}}\n@misc{b, title = {fine \xc3\xa9}}\n")
    papers, rejected = read_corpus(tmp_path / "p.bib")
    assert papers["title"].to_pylist() == ["fine é"]
    assert [(item.row, item.reason) for item in rejected] == [(1, "broken UTF-8")]


def test_no_entries(tmp_path: Path) -> None:
    import sciretrieve as sr

    (tmp_path / "p.bib").write_text("just words\n")
    with pytest.raises(InvalidRequest, match="no paper to index"):
        sr.build(tmp_path / "p.bib", tmp_path / "index", encoder=None)


def test_a_field_that_is_named_as_something_of_ours_keeps_its_values(tmp_path: Path) -> None:
    fields = "title = {T}, id = {own}, Type = {PhD thesis}, venue = {V}, bibtex = {b}, authors = {A}, author = {Li, Wei}, journal = {J}"
    (tmp_path / "p.bib").write_text(f"@phdthesis{{key, {fields}}}\n")
    (paper,) = read_corpus(tmp_path / "p.bib")[0].to_pylist()
    assert (paper["id"], paper["type"], paper["venue"]) == ("key", "phdthesis", "J")
    assert (paper["id_"], paper["type_"], paper["venue_"], paper["bibtex_"]) == ("own", "PhD thesis", "V", "b")
    assert {"A", "Wei Li"} <= {*paper["authors"], *paper["authors_"]}


def test_others_are_no_author(tmp_path: Path) -> None:
    (tmp_path / "p.bib").write_text(
        "@misc{a, title = {T}, author = {Smith, Jr., John and {Barnes and Noble} AND Ada Lovelace and others}}\n"
    )
    (paper,) = read_corpus(tmp_path / "p.bib")[0].to_pylist()
    assert paper["authors"] == ["John Smith Jr.", "Barnes and Noble", "Ada Lovelace"]


def test_names_and_texts_as_pybtex_reads_them(tmp_path: Path) -> None:
    names = [
        r"Lovelace, Ada",
        "Alan M. Turing",
        "van der Berg, Jan",
        "Ludwig van Beethoven",
        r"{\O}stergaard, S{\o}ren",
        "de la Cruz, III, Ana",
    ]
    (tmp_path / "p.bib").write_text(f"@misc{{a, title = {{T}}, author = {{{' and '.join(names)}}}}}\n", encoding="utf-8")
    (paper,) = read_corpus(tmp_path / "p.bib")[0].to_pylist()
    parts = ("first_names", "middle_names", "prelast_names", "last_names", "lineage_names")
    people = [[name for part in parts for name in getattr(Person(text), part)] for text in names]
    assert paper["authors"] == [str(Text.from_latex(" ".join(person))) for person in people]


@pytest.mark.parametrize(
    ("latex", "plain"),
    [
        (r"\'{e}\'e\' e\'\i\'{\i}", "éééíí"),
        (r"\c{c}\c c \v{Z}\H{o}\u g\k a\r{A}\d{t}\={a}\.z", "çç ŽőğąÅṭāż"),
        (r"Stra{\ss}e, \AA ngstr{\o}m {\L}\'od\'z \OE uvre", "Straße, Ångstrøm Łódź Œuvre"),
        (r"a \TeX\ file of \emph{in vivo} {\em data} \textbf{now}\cite{x,y}", "a TeX file of in vivo data now"),
        (r"100% of 50\% \& \#1 \$5 x\_y \{z\}", "100% of 50% & #1 $5 x_y {z}"),
        ("pages 1--2 --- ``so''~", "pages 1–2 — “so” "),
        (r"$\alpha$ is $O(n^{2})$, from $5 to $6", "α is O(n^2), from $5 to $6"),
        (r"\unknown{x} \'", r"\unknownx '"),
        ("https://a.org/~b", "https://a.org/ b"),
        (r"\~{}\^{}\textasciitilde{}\textbackslash", "~^~\\"),
    ],
)
def test_markup_becomes_plain_text(latex: str, plain: str) -> None:
    assert plain_text(latex) == plain


@given(st.text(st.sampled_from("7b \\{}$~'\"^-`civ%é"), max_size=30))
def test_whatever_the_markup_the_digits_stay(latex: str) -> None:
    assert plain_text(latex).count("7") == latex.count("7")


def test_urls_and_dois_are_not_read_as_markup(tmp_path: Path) -> None:
    fields = r"title = {T}, url = {https://x.org/~a/b%20c_d?e=1&f=2#g}, doi = {10.1/a\_b\%c}"
    (tmp_path / "p.bib").write_text(f"@misc{{a, {fields}}}\n")
    (paper,) = read_corpus(tmp_path / "p.bib")[0].to_pylist()
    assert (paper["url"], paper["doi"]) == ("https://x.org/~a/b%20c_d?e=1&f=2#g", "10.1/a_b%c")


def test_reading_looks_for_no_plugin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # pybtex's own rendering looks through all installed packages for a backend, once for every field
    monkeypatch.setattr("pybtex.plugin.find_plugin", lambda *_: pytest.fail("looked for a plugin"))
    (tmp_path / "library.bib").write_text(LIBRARY, encoding="utf-8")
    assert len(read_corpus(tmp_path / "library.bib")[0]) == 3

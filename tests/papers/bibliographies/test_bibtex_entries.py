"""BibTeX out: what was read comes back as it was, and what was not is an entry that BibTeX and pybtex understand."""

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from pybtex.database import Entry, parse_string

import sciretrieve as sr
from sciretrieve.answers import outputs
from sciretrieve.base.types import Paper
from sciretrieve.files.schema import papers_of
from sciretrieve.papers.bibliographies.bibtex_entries import entries
from sciretrieve.papers.bibliographies.keys import keys_of
from sciretrieve.papers.corpora.latex import plain_text
from tests.made_up import read_corpus

MESSY = r"""
@string{nips = "Advances in {NIPS}"}
@preamble{"\newcommand{\x}{y}"}
Notes between entries.
@InProceedings{Knuth84, TITLE = {The {\TeX}book \& {\"U}ber
   two   lines}, Author = "Knuth, Donald E. and {The Google Team} and others", booktitle = nips, year = 1984, month = jun, pages = {1--10}}
@phdthesis(zh, title = {图神经网络}, author = {李, 明}, school = "A" # " " # nips, type = {Ph.{D}. thesis}, year = {2020})
@online{key:with/odd.chars+1, title = {Verbatim}, url = {https://x.org/~a/b%20c_d?e=1&f=#g}, urldate = {2020-01-02}, note = {}}
@incollection{mü, title = "Math $O(n^{2})$ \emph{now}", crossref = {Knuth84}, editor = {de la Cruz, III, Ana and Smith, Jr., John},
  month = "10~" # jan, keywords = {a, b}, file = {:C\:/x.pdf:PDF}, eprint = {1409.0473}, archivePrefix = {arXiv}, x-own = {"quoted"}}
@article{last, title = {No comma at the end}, author = {M{\"u}ller, J. and Garc{\'\i}a, Jos{\'e}}, journal = {Z. f{\"u}r Physik}}
"""


def parsed(text: str) -> dict[str, tuple[str, Entry]]:
    """Entries as pybtex reads them, by key."""
    return {key: (entry.original_type.lower(), entry) for key, entry in parse_string(text, "bibtex").entries.items()}


def written(path: Path) -> str:
    """A bibliography read, and its papers written again."""
    return "\n\n".join(entries(papers_of(read_corpus(path)[0])))


def test_a_messy_bibliography_comes_back_field_by_field(tmp_path: Path) -> None:
    (tmp_path / "messy.bib").write_text(MESSY, encoding="utf-8")
    text = written(tmp_path / "messy.bib")
    assert parsed(text) == parsed(MESSY)
    assert "month = jun" in text
    assert "month = {10~} # jan" in text


def test_through_an_index_too(tmp_path: Path) -> None:
    (tmp_path / "messy.bib").write_text(MESSY, encoding="utf-8")
    index = sr.build(tmp_path / "messy.bib", tmp_path / "index", encoder=None)
    hits = index.search("über the two lines", mode="bm25").hits
    assert parsed("\n".join(outputs.FORMATS["bibtex"](hits)))["Knuth84"] == parsed(MESSY)["Knuth84"]


texts = st.recursive(
    st.text("ab é\\'\"%&#$~_^-@,=\n図", max_size=8), lambda inner: st.builds("{{{}}}{}".format, inner, inner), max_leaves=4
)
keys = st.text("aZé図0:./+-_", min_size=1, max_size=6)
fields = st.dictionaries(st.sampled_from(["title", "Year", "note", "x-own", "journal", "url", "abstract", "booktitle"]), texts, max_size=5)


@given(st.dictionaries(keys, st.tuples(st.sampled_from(["article", "Misc", "online"]), fields), max_size=3))
def test_whatever_the_entries_pybtex_reads_the_same_again(
    tmp_path_factory: pytest.TempPathFactory, library: dict[str, tuple[str, dict[str, str]]]
) -> None:
    library = {key: value for key, value in library.items() if [other.lower() for other in library].count(key.lower()) == 1}
    bib = "".join(
        f"@{kind}{{{key}, title = {{T}}{''.join(f', {name} = {{{text}}}' for name, text in fields.items() if name != 'title')}}}\n"
        for key, (kind, fields) in library.items()
    )
    path = tmp_path_factory.mktemp("bib") / "p.bib"
    path.write_text(bib, encoding="utf-8")
    assert parsed(written(path)) == parsed(bib) if library else True


@given(
    st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=40) | st.text("{}\\~^-`'%& ab₂⁻", max_size=20) | st.just("costs $5")
)
def test_a_text_written_is_the_text_read(text: str) -> None:
    assume(text.count("$") < 2)
    (entry,) = parse_string(next(entries([Paper("x", text, abstract=f"a {text}")])), "bibtex").entries.values()
    assert plain_text(entry.fields["abstract"]) == " ".join(f"a {text}".split())
    assert plain_text(entry.fields.get("title", "")) == " ".join(text.split())


@pytest.mark.parametrize(
    ("title", "latex"),
    [
        (r"On ${\hat c}=1$ strings", r"On ${\hat c}=1$ strings"),
        ("$x$ & $$y_1$$", r"$x$ \& $$y_1$$"),
        ("It costs $5 and $6_", r"It costs \$5 and \$6\_"),
        ("Half $ of it", r"Half \$ of it"),
        (r"An open ${\bf x$ brace", r"An open \$\textbraceleft{}\textbackslash{}bf x\$ brace"),
        (r"A $100\%_{x}$ # of $a%_b#$", r"A $100\%_{x}$ \# of $a\%_b\#$"),
        ("CO₂ at 10⁻⁵ m²", r"CO\textsubscript{2} at 10\textsuperscript{-5} m²"),
        ("Müller’s α-helix", "Müller’s α-helix"),
    ],
)
def test_formulas_are_as_they_were_and_what_stands_low_is_printed(title: str, latex: str) -> None:
    (entry,) = parse_string(next(entries([Paper("x", title)])), "bibtex").entries.values()
    assert entry.fields["title"] == f"{{{latex}}}"
    if "$" not in title:
        assert plain_text(latex) == title


@pytest.mark.parametrize(
    ("paper", "kind", "expected"),
    [
        (Paper("1", "T", venue="Nature"), "article", {"journal": "Nature"}),
        (Paper("1", "T", venue="Proceedings of ACL"), "inproceedings", {"booktitle": "Proceedings of ACL"}),
        (Paper("1", "T", venue="ACL", extra={"publicationTypes": ["Conference"]}), "inproceedings", {"booktitle": "ACL"}),
        (Paper("1", "T", venue="MIT", extra={"Item Type": "thesis"}), "phdthesis", {"school": "MIT"}),
        (Paper("1", "T", extra={"type": "BOOK", "publisher": "MIT Press", "ISBN": "3"}), "book", {"publisher": "MIT Press", "isbn": "3"}),
        (
            Paper("1409.0473", "T", extra={"categories": "cs.CL cs.LG"}),
            "misc",
            {"eprint": "1409.0473", "archivePrefix": "arXiv", "primaryClass": "cs.CL", "url": "https://arxiv.org/abs/1409.0473"},
        ),
        (Paper("1", "T", venue="arXiv", url="https://arxiv.org/abs/1409.0473v2"), "misc", {"eprint": "1409.0473v2"}),
        (Paper("https://doi.org/10.1145/3.4", "T"), "misc", {"doi": "10.1145/3.4"}),
        (Paper("10.1145/a_b", "T", venue="J"), "article", {"doi": "10.1145/a_b"}),
        (
            Paper("https://openalex.org/W1", "T", doi="https://doi.org/10.1145/3"),
            "misc",
            {"doi": "10.1145/3", "url": "https://openalex.org/W1"},
        ),
        (
            Paper("1", "T", venue="J", extra={"biblio": {"volume": "3", "issue": "2", "first_page": "10", "last_page": "12"}}),
            "article",
            {"volume": "3", "number": "2", "pages": "10--12"},
        ),
        (Paper("1", "T", extra={"editors": ["Ada Lovelace", "Alan Turing"]}), "misc", {}),
    ],
)
def test_entries_are_made_of_what_a_corpus_has(paper: Paper, kind: str, expected: dict[str, str]) -> None:
    (entry,) = parse_string(next(entries([paper])), "bibtex").entries.values()
    assert entry.type == kind
    assert {name: entry.fields[name] for name in expected} == expected
    assert "url" not in entry.fields or "url" in expected or "eprint" in expected
    if "editors" in paper.extra:
        assert [str(person) for person in entry.persons["editor"]] == ["Lovelace, Ada", "Turing, Alan"]


def test_names_are_taken_apart_as_they_are_meant() -> None:
    paper = Paper(
        "x", "T", authors=("John Smith Jr.", "The LIGO Collaboration", "Barnes and Noble", "Müller, Jörg", "Jan van Berg and A. Li")
    )
    (entry,) = parse_string(next(entries([paper])), "bibtex").entries.values()
    first, group, shop, *_ = entry.persons["author"]
    assert (first.last_names, first.lineage_names) == (["Smith"], ["Jr."])
    assert (group.last_names, shop.last_names) == (["{The LIGO Collaboration}"], ["{Barnes and Noble}"])
    assert len(entry.persons["author"]) == 6
    names = ("Doudna JA", "Drischler J.A.", "E. O. Wilson", "Aäron van den Oord Jr.")
    (entry,) = parse_string(next(entries([Paper("x", "T", authors=names)])), "bibtex").entries.values()
    assert [" ".join(person.prelast_names + person.last_names) for person in entry.persons["author"]] == [
        "Doudna",
        "Drischler",
        "Wilson",
        "van den Oord",
    ]


def test_a_paper_has_the_same_key_in_every_answer() -> None:
    def paper(id: str, title: str = "On heat", year: int | None = 1905) -> Paper:
        return Paper(id, title, year=year, authors=("Jörg Müller",))

    single_key = keys_of([paper("10.1000/1", "Warmth")], [None])
    assert keys_of([paper("7"), paper("10.1000/1", "Warmth")], [None, None])[1:] == single_key == ["muller1905warmth"]
    # two of one name are told apart by their ids, not by their ranks
    assert keys_of([paper("2"), paper("1")], [None, None]) == ["muller1905heatb", "muller1905heata"]
    assert keys_of([paper("2"), paper("1"), paper("x")], [None, None, "Muller1905heata"]) == [
        "muller1905heatc",
        "muller1905heatb",
        "Muller1905heata",
    ]
    for key in ("jinek2012programmable", "DBLP:conf/acl/Li19", "mü"):
        assert keys_of([replace(paper(key), doi="10.1000/1")], [None]) == [key]
    for id in (
        "https://x.org/1",
        "123",
        "10.1000/1",
        "doi:10.1000/1",
        "arXiv:1409.0473",
        "hep-th/9901001",
        "ris:00ff",
        "made-" + 5 * "00ff",
        "two words",
    ):
        assert keys_of([paper(id)], [None]) == ["muller1905heat"]
    assert keys_of([paper("jinek2012programmable"), paper("https://x.org/1")], [None, None]) == ["jinek2012programmable", "muller1905heat"]
    (chinese,) = keys_of([Paper("12", "图神经网络", authors=("李 明",))], [None])
    assert chinese.startswith("anonymous")
    assert chinese != keys_of([Paper("13", "图神经网络", authors=("李 明",))], [None])[0]


def test_a_column_called_bibtex_that_holds_no_entry_is_not_taken_for_one() -> None:
    for value in ("@article{open, title = {x}", "yes", 3, "@article{a, title = {x}}}"):
        (entry,) = parse_string(next(entries([Paper("own", "T", extra={"bibtex": value})])), "bibtex").entries.values()
        assert (entry.key, entry.fields["title"]) == ("own", "{T}")


@pytest.mark.parametrize(
    ("id", "extra", "key"),
    [
        ("836B6913", {"citationKey": "vaswani2017attention"}, "vaswani2017attention"),
        ("E34F2459", {"extra": "PMID: 5\nCitation Key: lovelace43"}, "lovelace43"),
        ("x", {"citation-key": "fromCsl", "note": "Citation Key: other"}, "fromCsl"),
        ("E34F2459", {}, "lovelace1843notes"),
        ("E34F2459", {"Key": "E34F2459"}, "lovelace1843notes"),
        ("lovelace1843", {"citationKey": "not a key"}, "lovelace1843"),
    ],
)
def test_a_papers_own_citation_key_comes_first_and_zoteros_number_of_an_item_is_none(id: str, extra: dict[str, str], key: str) -> None:
    paper = Paper(id, "Notes on the Engine", "", 1843, None, ("Ada Lovelace",), extra=extra)
    assert keys_of([paper], [None]) == [key]

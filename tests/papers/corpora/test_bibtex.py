"""BibTeX: LaTeX as plain text, macros, what pybtex's own full parser reads, and files that people break by hand."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pybtex.database import Person, parse_string
from pybtex.richtext import Text

from sciretrieve.files.schema import papers_of
from sciretrieve.papers.bibliographies import bibtex_entries
from sciretrieve.papers.corpora.latex import plain_text
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
    assert second["keywords"] == ["a", "b"]
    assert (third["title"], third["year"], third["type"]) == ("Radioactivité", None, "book")


@pytest.mark.parametrize(
    ("broken", "key", "reason"),
    [
        ("@article{open, title = {No end, year = 2000\n", "open", "line 3 is broken: a brace or a quotation mark is not closed"),
        ("@string{open = {No end\n", None, "line 3 is broken"),
        ("@article{nokey\n title {x}}\n", "nokey", "line 3 is broken: '=' expected in line 4"),
        ("@article nobrace, title = {x}}\n", None, "'(' or '{' expected in line 3"),
        ("@article{good, title = {Good}}\n", "good", "duplicate id"),
        ("@misc{empty, year = 2000}\n", "empty", "no title and no abstract"),
    ],
)
def test_a_broken_entry_is_named_and_costs_itself(tmp_path: Path, broken: str, key: str | None, reason: str) -> None:
    good, after = "@article{good, title = {Good}}\n\n", "@article{after,\n  title = {After}}\n@misc{last, title = {Last}}\n"
    (tmp_path / "p.bib").write_text(good + broken + after)
    papers, rejected = read_corpus(tmp_path / "p.bib")
    assert papers["id"].to_pylist() == ["good", "after", "last"]
    assert papers["title"].to_pylist() == ["Good", "After", "Last"]
    assert [(item.row, item.id) for item in rejected] == [(2, key)]
    assert reason in rejected[0].reason
    assert "\n" not in rejected[0].reason


@pytest.mark.parametrize(
    "text",
    [
        "stray words between entries, by me@example.org\n",
        "@comment{jabref-meta: databaseType:bibtex;}\n",
        "@Comment without braces\n",
        "% @x is a comment\n",
        r"@misc{maths, title = {The $O(n^{2}$ {\foo{bar} of $x_1} and more}}" + "\n",
        "@misc{mail, title = {Mail\n@me at home}, note = {\n  @article is a kind}}\n",
        "@misc{one, title = {On}} @misc{line, title = {one line}}@misc{more, title = {More}}\n",
        "}\n",
    ],
)
def test_nothing_is_wrong_with_it(tmp_path: Path, text: str) -> None:
    (tmp_path / "p.bib").write_text("@article{good, title = {Good}}\n" + text + "@article{after, title = {After}}\n")
    papers, rejected = read_corpus(tmp_path / "p.bib")
    assert rejected == []
    assert papers["id"].to_pylist()[:: len(papers) - 1] == ["good", "after"]
    assert len(papers) == 2 + text.count("@misc{")


@given(st.integers(0, 400), st.sampled_from(["", "{", "}", '"']))
def test_whatever_is_wrong_in_one_entry_the_others_are_read(tmp_path_factory: pytest.TempPathFactory, place: int, sign: str) -> None:
    (first, *_), path = LIBRARY.strip().split("@article"), tmp_path_factory.mktemp("bib") / "p.bib"
    place %= len(first)
    damaged = first[:place] + sign + first[place + (not sign) :]
    path.write_text(f"@misc{{before, title = {{Before}}}}\n{damaged}\n@misc{{after, title = {{After}}}}\n@misc{{last, title = {{Last}}}}\n")
    ids = read_corpus(path)[0]["id"].to_pylist()
    assert (ids[0], ids[-2:]) == ("before", ["after", "last"])


PARENTS = r"""
@inproceedings{child, title = {A child}, author = {Li, Wei}, pages = {1--2}, crossref = {Proc}}
@inproceedings{own, title = {Its own}, booktitle = {Own}, publisher = {Mine}, year = 2001, crossref = "proc"}
@incollection{data, title = {With data}, xdata = {acm, shared}, crossref = {book}}
@article{issue, title = {In an issue}, crossref = {periodical}}
@inbook{chapter, chapter = 3, crossref = {book}}
@article{odd, title = {Odd}, crossref = {proc}}
@xdata{acm, publisher = {ACM}, location = {New York}}
@xdata{shared, xdata = {acm}, publisher = {Other}, note = {Shared}}
@proceedings{proc, title = {Proc. of X}, booktitle = {Proceedings of {X}}, year = 2000, publisher = pub, editor = {Ray, Ed and others},
  doi = {10.1000/proc}, abstract = {Of all.}, url = {https://example.org}, crossref = {loop}}
@book{book, title = {A Book}, subtitle = {For All}, author = {Curie, Marie}, date = {1999-05}, crossref = {book}}
@periodical{periodical, title = {A Journal}, year = 1998}
@misc{loop, title = {Loop}, crossref = {proc}, volume = 7}
@misc{orphan, title = {Orphan}, crossref = {nowhere}, xdata = {nothing}}
"""


def test_entries_take_what_they_lack_from_their_parents(tmp_path: Path) -> None:
    (tmp_path / "p.bib").write_text('@string{pub = "A Press"}' + PARENTS)
    papers, rejected = read_corpus(tmp_path / "p.bib")
    assert rejected == []
    rows = {row["id"]: {name: value for name, value in row.items() if value not in (None, "", [])} for row in papers.to_pylist()}
    assert list(rows) == ["child", "own", "data", "issue", "chapter", "odd", "proc", "book", "periodical", "loop", "orphan"]
    child, own, data = rows["child"], rows["own"], rows["data"]
    assert (child["venue"], child["year"], child["publisher"], child["editors"]) == ("Proceedings of X", 2000, "A Press", ["Ed Ray"])
    assert (child["authors"], child["pages"], child["volume"]) == (["Wei Li"], "1–2", "7")
    assert (own["venue"], own["year"], own["publisher"]) == ("Own", 2001, "Mine")
    assert (data["publisher"], data["location"], data["note"], data["venue"]) == ("ACM", "New York", "Shared", "A Book")
    assert (data["authors"], data["year"]) == (["Marie Curie"], 1999)
    assert (rows["issue"]["venue"], rows["issue"]["year"]) == ("A Journal", 1998)
    assert rows["odd"]["venue"] == "Proceedings of X"
    assert (rows["chapter"]["title"], rows["chapter"]["venue"]) == ("A Book", "A Book")
    # what identifies or describes the parent is not of its children
    assert not {"doi", "abstract", "url", "subtitle"} & {*child, *data}
    # and the entries themselves stay as they are
    written = "".join(papers["bibtex"].to_pylist())
    assert "  crossref = {Proc}\n}" in child["bibtex"]
    assert [written.count(text) for text in ("A Press", "A Book", "crossref")] == [1, 1, 10]


@pytest.mark.torture
@pytest.mark.parametrize(
    "text",
    [
        "".join(f"@misc{{k{n}, title = {{T}}, crossref = {{k{n + 1}}}}}\n" for n in range(2000)),
        "".join(f"@misc{{k{n}, title = {{T}}, xdata = {{{','.join(f'k{m}' for m in range(n + 1, n + 20))}}}}}\n" for n in range(2000)),
        "@misc{x, title = {T}}" * 20_000,
        "@misc{open, title = {\n" * 20_000,
        "@misc{" + " " * 1_000_000,
        "@misc{open, title = " + "{" * 1_000_000,
    ],
    ids=["a chain of parents", "many parents", "one line", "nothing closed", "blanks", "braces"],
)
def test_odd_files_take_no_time(tmp_path: Path, text: str) -> None:
    # each of these took minutes, or ended in a RecursionError, if an entry were looked for beyond the next, or a parent twice
    (tmp_path / "p.bib").write_text(text)
    papers, rejected = read_corpus(tmp_path / "p.bib")
    assert len(papers) + len(rejected) == max(text.count("@misc{"), 1)


def test_parents_come_out_after_the_entries_that_need_them(tmp_path: Path) -> None:
    (tmp_path / "p.bib").write_text('@string{pub = "A Press"}' + PARENTS)
    papers = {paper.id: paper for paper in papers_of(read_corpus(tmp_path / "p.bib")[0])}

    def keys_of(*ids: str, taken: Sequence[str] = ()) -> list[str]:
        return list(parse_string("\n".join(bibtex_entries.entries([papers[id] for id in ids], taken)), "bibtex").entries)

    assert keys_of("child") == ["child", "proc", "loop"]
    assert keys_of("child", "proc", "own") == ["child", "proc", "own", "loop"]
    assert keys_of("data") == ["data", "acm", "shared", "book"]
    assert keys_of("data", taken=["ACM", "book"]) == ["data", "shared"]
    assert keys_of(*papers) == [*papers, "acm", "shared"]
    assert keys_of("orphan") == ["orphan"]
    # what BibTeX would say of such a file
    (tmp_path / "out.bib").write_text("\n".join(bibtex_entries.entries([papers["child"]])))
    assert read_corpus(tmp_path / "out.bib")[0]["venue"].to_pylist()[0] == "Proceedings of X"


def test_parents_are_added_to_a_bibliography_once(tmp_path: Path) -> None:
    import sciretrieve as sr

    (tmp_path / "p.bib").write_text(PARENTS.replace("pub,", "{P},"))
    papers = papers_of(read_corpus(tmp_path / "p.bib")[0])
    for paper in papers[:3]:
        sr.cite([paper], append=tmp_path / "refs.bib")
    text = (tmp_path / "refs.bib").read_text()
    assert list(parse_string(text, "bibtex").entries) == ["child", "proc", "loop", "own", "data", "acm", "shared", "book"]


def test_names_in_the_forms_of_biblatex(tmp_path: Path) -> None:
    names = r"family=Berg, given=Jan, prefix=van der, suffix=Jr. and family={Acme, Inc.} and given={J{\"o}rg}, given-i=J, family=M{\"u}ller"
    (tmp_path / "p.bib").write_text(f"@misc{{a, title = {{T}}, author = {{{names}}}}}\n")
    assert read_corpus(tmp_path / "p.bib")[0]["authors"].to_pylist() == [["Jan van der Berg Jr.", "Acme, Inc.", "Jörg Müller"]]


@pytest.mark.parametrize(
    ("authors", "byline"),
    [
        (r"Smith, Jr., John and others", "Smith et al."),
        (r"Smith, Jr., John", "Smith"),
        (r"{van den Oord}, A{\"a}ron and Li, Wei", "van den Oord and Li"),
        (r"van 't Hoff, Jacobus and de la Cruz, III, Ana", "van 't Hoff and de la Cruz"),
        (r"Smith, John and Li, Wei and et al.", "Smith et al."),
        (r"A and B and {The LIGO Collaboration}", "A et al."),
        (r"ada lovelace", "lovelace"),
        (r"others", ""),
    ],
)
def test_who_is_named_where_a_paper_is_cited(tmp_path: Path, authors: str, byline: str) -> None:
    from sciretrieve.papers.bibliographies import author_names as names

    (tmp_path / "p.bib").write_text(f"@misc{{a, title = {{T}}, author = {{{authors}}}}}\n")
    papers, _ = read_corpus(tmp_path / "p.bib")
    (paper,) = papers_of(papers)
    assert names.byline(paper) == byline
    assert f"author = {{{authors}}}" in papers["bibtex"][0].as_py()


def test_a_macro_of_another_file_stands_for_itself(tmp_path: Path) -> None:
    (tmp_path / "p.bib").write_text("@article{macro, title = {Fine}, journal = JMLR, month = May}\n")
    papers, rejected = read_corpus(tmp_path / "p.bib")
    assert rejected == []
    assert papers.select(["id", "venue", "month"]).to_pylist() == [{"id": "macro", "venue": "JMLR", "month": "May"}]


@pytest.mark.parametrize("encoding", ["cp1252", "cp1251", "utf-16", "utf-8-sig"])
def test_bibliographies_of_any_encoding(tmp_path: Path, encoding: str, caplog: pytest.LogCaptureFixture) -> None:
    title = {"cp1251": "Исследование нейронных сетей"}.get(encoding, "Über Größe und Wärme, naïve")
    text = "@misc{filler, title = {ASCII " + "only " * 20_000 + f"}}}}\n@misc{{a, title = {{{title}}}}}\n"
    (tmp_path / "p.bib").write_bytes(text.encode(encoding))
    papers, rejected = read_corpus(tmp_path / "p.bib")
    assert (papers["title"][1].as_py(), rejected) == (title, [])
    assert (f"p.bib is not UTF-8, and is read as {encoding}" in caplog.text) == (not encoding.startswith("utf"))


def test_a_field_that_is_named_as_something_of_ours_keeps_its_values(tmp_path: Path) -> None:
    fields = "title = {T}, id = {own}, Type = {PhD thesis}, venue = {V}, bibtex = {b}, authors = {A}, author = {Li, Wei}, journal = {J}"
    (tmp_path / "p.bib").write_text(f"@phdthesis{{key, {fields}}}\n")
    (paper,) = read_corpus(tmp_path / "p.bib")[0].to_pylist()
    assert (paper["id"], paper["type"], paper["venue"]) == ("key", "phdthesis", "J")
    assert (paper["id_"], paper["type_"], paper["venue_"], paper["bibtex_"]) == ("own", "PhD thesis", "V", "b")
    assert (paper["authors"], paper["authors_"]) == (["Wei Li"], "A")


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
        (r"$\alpha$ is $O(n^{2})$, from $5 to $6", "α is O(n²), from $5 to $6"),
        (r"\unknown{x} \'", "x '"),
        (r"C:\unknown and {\unknown}", r"C:\unknown and \unknown"),
        (r"Erd\H os, Fran\c cois, Nguy\~{\^e}n, Ti\'{\^{e}}n, \dh\th\dj\ng, \=\i, \t{oo}", "Erdős, François, Nguyễn, Tiến, ðþđŋ, ī, oo"),
        (r"{\aa}ngstrom \aa ngstrom {\ss} {\ae}on \'\i j", "ångstrom ångstrom ß æon íj"),
        (r"\LaTeXe, pdf{\LaTeX}, \XeTeX", "LaTeX2ε, pdfLaTeX, XeTeX"),
        (r"see \url{https://a.org/~b_c--d%20} now", "see https://a.org/~b_c--d%20 now"),
        (r"\href{https://a.org/~b}{a link}, {\noopsort{1973}}1980", "a link, 1980"),
        (r"\textcolor{red}{red}\footnote{Not so.} text~\citep[p.~2]{x}.", "red text."),
        (r"\ensuremath{\alpha} \(x^2\) \[y\] $$z$$ $k$-means, $L1$", "α x² y z k-means, L1"),
        (r"$x \le y \to \infty$, $O(n \log n)$, $\frac{1}{2}\sqrt{2}$", "x ≤ y → ∞, O(n log n), 1/2√2"),
        (r"CO$_2$ at 37$^\circ$C, 5$\,\mu$m, $\sim$10\,\texteuro, $\mathbb{R}^d$", "CO₂ at 37°C, 5 µm, ∼10 €, ℝᵈ"),
        (
            r"$^{208}$Pb, Fe$^{3+}$, 10$^{-3}$, H$_2$O, $x_i^{n+1}$, CO\textsubscript{2}, 20$^{th}$",
            "²⁰⁸Pb, Fe³⁺, 10⁻³, H₂O, xᵢⁿ⁺¹, CO₂, 20th",
        ),
        (
            r"$T_{\rm eff}$, $x_{max}$, $T_\mathrm{n}$, $V_{\text{0}}$, $x^{a_b}$, $A^*$, $f_B$, $\mathbb{Z}_2$",
            "T_eff, x_max, Tₙ, V₀, x^a_b, A^*, f_B, ℤ₂",
        ),
        (r"\textquotedblleft so\textquotedblright{} \guillemotleft da\guillemotright", "“so” «da»"),
        (r"\begin{itemize}\item one\\two\newline three\end{itemize}", " one two three"),
        ("https://a.org/~b", "https://a.org/ b"),
        (r"\~{}\^{}\textasciitilde{}\textbackslash", "~^~\\"),
    ],
)
def test_markup_becomes_plain_text(latex: str, plain: str) -> None:
    assert plain_text(latex) == plain


@given(st.text(st.sampled_from("7b \\{}$~'\"^-`civ%é"), max_size=30))
def test_whatever_the_markup_the_digits_stay(latex: str) -> None:
    assert sum(map(plain_text(latex).count, "7⁷₇")) == latex.count("7")


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

"""Full texts in XML, JSON, HTML and LaTeX: sections, sentences without what stands within them, references; and hostile files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sciretrieve.base.errors import InvalidRequest
from sciretrieve.papers.fulltext.document import Document
from sciretrieve.papers.fulltext.reading import passages, read_document

JATS = """<?xml version="1.0"?><!DOCTYPE article PUBLIC "-//NLM//DTD JATS 1.2//EN" "JATS.dtd">
<article xmlns:xlink="http://www.w3.org/1999/xlink"><front><article-meta><article-id pub-id-type="doi">10.1000/ice</article-id>
<title-group><article-title>Birds of <italic>the</italic> ice</article-title></title-group>
<contrib-group><contrib><name><surname>Maker</surname><given-names>Ada</given-names></name></contrib></contrib-group>
<abstract abstract-type="graphical"><p>A picture.</p></abstract>
<abstract><sec><title>Aim</title><p>To count.</p></sec><sec><title>Result</title><p>Counted.</p></sec></abstract></article-meta></front>
<body><sec><label>1</label><title>Introduction</title><p>Birds live on
ice<sup><xref ref-type="bibr" rid="r1">1</xref></sup>, as CO<sub>2</sub>
does<xref ref-type="fn" rid="f">*</xref>, and <fig id="g"><label>Fig. 1.</label><caption><title>Birds.</title>
<p>On ice.</p></caption></fig>fly
[<xref ref-type="bibr" rid="r2">2</xref>].</p><sec><title>Methods</title><p>We count.</p>
<table-wrap><label>Table 1</label><caption><p>Numbers.</p></caption><table><tr><td>1</td><td>2</td></tr></table></table-wrap>
<p>We count again.</p></sec></sec></body>
<back><ack><p>We thank all.</p></ack><fn-group><fn id="f"><p>Solid carbon dioxide.</p></fn></fn-group><ref-list><title>References</title>
<ref id="r1"><label>1</label><mixed-citation>Maker A. <italic>Birds</italic>. 1998.</mixed-citation></ref>
<ref id="r2"><element-citation>
<name><surname>Taker</surname></name><article-title>More</article-title><year>2001</year></element-citation></ref>
</ref-list></back></article>"""
TEI = """<TEI xmlns="http://www.tei-c.org/ns/1.0"><teiHeader><fileDesc><titleStmt><title>Birds of the ice</title></titleStmt>
<sourceDesc><biblStruct><analytic><author><persName><forename>Ada</forename><surname>Maker</surname></persName></author></analytic>
<idno type="DOI">10.1000/ice</idno></biblStruct></sourceDesc></fileDesc><profileDesc>
<abstract><div><p coords="1,2,3,4,5"><s>To count.</s><s>Counted.</s></p>
</div></abstract></profileDesc></teiHeader><text><body><div><head n="1" coords="1,9,9,9,9">Introduction</head>
<p coords="1,1,1,1,1;1,2,2,2,2">Birds live
<ref type="bibr">[1]</ref> here.</p></div><div><head n="1.1">Methods</head><p coords="2,1,1,1,1">We count.</p></div>
<figure coords="2,1,1,1,1"><head>Figure 1:</head><figDesc>Birds on ice.</figDesc></figure>
<note place="foot" coords="2,5,5,5,5">Or so.</note></body>
<back><div type="acknowledgement"><div><head>Acknowledgements</head><p>We thank all.</p></div></div>
<div type="references"><listBibl><biblStruct>
<analytic><title>Birds</title><author><persName><surname>Maker</surname></persName></author></analytic>
<monogr><imprint><date when="1998"/></imprint></monogr>
</biblStruct><biblStruct><note type="raw_reference">B. Taker. 2001. More.</note></biblStruct></listBibl></div></back></text></TEI>"""
HTML = """<!DOCTYPE html><html><head><title>Birds | A Journal</title><meta name="citation_doi" content="10.1000/ice">
<meta name="citation_title" content="Birds of the ice"><style>p {}</style></head><body>
<nav>Home<ul><li>Other</li></ul></nav><h1>Birds of the ice</h1>
<h2>Abstract</h2><p>To count.<br>Counted.</p><h2>1 Introduction</h2><p>Birds live on ice<sup>2</sup>, as CO<sub>2</sub> does,
and<span class="ltx_note ltx_role_footnote"><sup>1</sup><span class="ltx_note_content">Or <i>so</i>.</span></span> <b>fly</b>.</p>
<figure><img src="x"><figcaption>Figure 1: Birds.</figcaption></figure><table><caption>Table 1: Numbers.</caption><tr><td>1<td>2</table>
<script>var x = "<p>no</p>";</script>
<h2>References</h2><ol><li>Maker. 1998.</li><li>Taker. 2001.</li></ol><footer>Imprint</footer></body></html>"""
LATEX = r"""\documentclass{article} % a comment
\newcommand{\ours}{BirdNet}
\title{Birds of the \emph{ice}\thanks{By all}}
\author{Ada Maker}
\begin{document}\maketitle
\begin{abstract}To count. Counted.\end{abstract}
\section{Introduction}\label{sec:intro}
Birds\footnote{Or so.} live on ice~\cite{maker}, 100\% of them, as na\"ive \ours{} says
(see Section~\ref{sec:intro}).

\begin{figure}[t]\includegraphics[width=1cm]{x}\caption{Birds \textbf{on} ice.}\label{f}\end{figure}
They weigh $10^3$ grams.
\subsection*{Methods}
\input{methods}
\input{../secret}
\begin{thebibliography}{9}
\bibitem{maker} A. Maker. \newblock Birds. 1998.
\bibitem[Taker(2001)]{taker} B. Taker. More. 2001.
\end{thebibliography}
\end{document} Nothing."""


def read(folder: Path, name: str, text: str) -> Document:
    (folder / name).write_text(text, encoding="utf-8")
    return read_document(folder / name)


def blocks(document: Document, kind: str) -> list[str]:
    return [document.text[block.start : block.end] for section in document.sections for block in section.blocks if block.kind == kind]


def test_jats(tmp_path: Path) -> None:
    document = read(tmp_path, "paper.nxml", JATS)
    assert document.title == "Birds of the ice"
    assert "doi:10.1000/ice" in document.front
    assert [(section.head, section.level) for section in document.sections] == [
        ("Abstract", 1),
        ("1 Introduction", 1),
        ("Methods", 2),
        ("Acknowledgements", 1),
    ]
    assert blocks(document, "text") == [
        *(
            "Aim: To count.",
            "Result: Counted.",
            "Birds live on ice, as CO₂ does, and fly [2].",
            "We count.",
            "We count again.",
            "We thank all.",
        ),
    ]
    assert blocks(document, "caption") == ["Fig. 1: Birds. On ice.", "Table 1: Numbers."]
    assert blocks(document, "note") == ["Solid carbon dioxide."]
    assert document.references == ("Maker A. Birds. 1998.", "Taker, More, 2001")


def test_tei(tmp_path: Path) -> None:
    document = read(tmp_path, "paper.tei.xml", TEI)
    assert document.title == "Birds of the ice"
    assert "DOI:10.1000/ice" in document.front
    assert [(section.head, section.level) for section in document.sections] == [
        ("Abstract", 1),
        ("1 Introduction", 1),
        ("1.1 Methods", 2),
        ("Acknowledgements", 1),
    ]
    assert blocks(document, "text") == ["To count. Counted.", "Birds live [1] here.", "We count.", "We thank all."]
    assert blocks(document, "caption") == ["Figure 1: Birds on ice."]
    assert blocks(document, "note") == ["Or so."]
    assert document.references == ("Maker, Birds, 1998", "B. Taker. 2001. More.")
    assert [passage.page for passage in passages(document) if "We count" in passage.text] == [2]
    assert document.page_count == 2


def test_s2orc_in_paragraphs(tmp_path: Path) -> None:
    source = {
        "abstract": [{"text": "To count."}],
        "body_text": [
            {"text": "Birds live.", "section": "Introduction", "sec_num": "1"},
            {"text": "They fly.", "section": "Introduction", "sec_num": "1"},
            {"text": "We count.", "section": "Methods"},
        ],
        "ref_entries": {"FIGREF0": {"text": "Figure 1: Birds.", "type": "figure"}},
        "bib_entries": {"BIBREF0": {"title": "Birds", "authors": [{"first": "A.", "last": "Maker"}], "year": 1998, "venue": ""}},
    }
    for paper in ({"title": "Birds of the ice", **source}, {"metadata": {"title": "Birds of the ice"}, "pdf_parse": source}):
        document = read(tmp_path, "paper.json", json.dumps(paper))
        assert document.title == "Birds of the ice"
        assert document.text == (
            "Abstract\n\nTo count.\n\n1 Introduction\n\nBirds live.\n\nThey fly.\n\nMethods\n\nWe count.\n\nFigure 1: Birds."
        )
        assert document.references == ("A. Maker. Birds. 1998",)


def test_s2orc_with_annotations(tmp_path: Path) -> None:
    text = "Birds of the ice\nTo count.\nIntroduction\nBirds live.\nFigure 1: Birds.\nMaker. 1998."

    def marked(*texts: str, **attributes: str) -> str:
        ranges = [{"start": text.index(said), "end": str(text.index(said) + len(said)), "attributes": attributes} for said in texts]
        return json.dumps([*ranges, {"start": 3, "end": 10_000}, {"start": None, "end": 3}, "nonsense"])

    annotations = {
        "title": marked("Birds of the ice"),
        "abstract": marked("To count."),
        "paragraph": marked("To count.", "Birds live."),
        "sectionheader": marked("Introduction", n="1"),
        "figurecaption": marked("Figure 1: Birds."),
        "bibentry": marked("Maker. 1998."),
        "formula": None,
    }
    paper: dict[str, Any] = {"externalids": {"DOI": "10.1000/ice"}, "content": {"text": text, "annotations": annotations}}
    document = read(tmp_path, "paper.json", json.dumps(paper))
    assert document.title == "Birds of the ice"
    assert "doi:10.1000/ice" in document.front
    assert document.text == "Abstract\n\nTo count.\n\n1 Introduction\n\nBirds live.\n\nFigure 1: Birds."
    assert document.references == ("Maker. 1998.",)
    bare = read(tmp_path, "paper.json", json.dumps({"content": {"text": "Birds live.\n\nThey fly.", "annotations": None}}))
    assert bare.text == "Birds live.\n\nThey fly."


def test_html(tmp_path: Path) -> None:
    document = read(tmp_path, "paper.html", HTML)
    assert document.title == "Birds of the ice"
    assert "doi:10.1000/ice" in document.front
    assert [section.head for section in document.sections] == ["Abstract", "1 Introduction"]
    assert blocks(document, "text") == ["To count.", "Counted.", "Birds live on ice², as CO₂ does, and fly."]
    assert blocks(document, "caption") == ["Figure 1: Birds.", "Table 1: Numbers."]
    assert blocks(document, "note") == ["Or so."]
    assert document.references == ("Maker. 1998.", "Taker. 2001.")
    assert "Other" not in document.text
    assert "Imprint" not in document.text


def test_latex(tmp_path: Path) -> None:
    (tmp_path / "own").mkdir()
    (tmp_path / "secret.tex").write_text("A secret.")
    (tmp_path / "own" / "methods.tex").write_text("We count.\\input{methods}")
    document = read(tmp_path / "own", "paper.tex", LATEX)
    assert document.title == "Birds of the ice"
    assert [(section.head, section.level) for section in document.sections] == [("Abstract", 1), ("Introduction", 1), ("Methods", 2)]
    assert blocks(document, "text")[:3] == [
        "To count. Counted.",
        "Birds live on ice, 100% of them, as naïve BirdNet says (see Section).",
        "They weigh 10³ grams.",
    ]
    assert set(blocks(document, "text")[3:]) == {"We count."}
    assert blocks(document, "caption") == ["Figure: Birds on ice."]
    assert blocks(document, "note") == ["Or so."]
    assert document.references == ("A. Maker. Birds. 1998.", "B. Taker. More. 2001.")
    assert "secret" not in document.text


BOMB = '<?xml version="1.0"?><!DOCTYPE article [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><article><body><p>&b;</p></body></article>'
OUTSIDE = '<?xml version="1.0"?><!DOCTYPE article [<!ENTITY a SYSTEM "secret.txt">]><article><body><p>&a;</p></body></article>'


@pytest.mark.parametrize(
    ("name", "text", "reason"),
    [
        ("paper.xml", BOMB, "declares the entity"),
        ("paper.xml", OUTSIDE, "declares the entity"),
        ("paper.xml", JATS[:900], "cannot be read as XML"),
        ("paper.xml", f"<article>{'<sec>' * 500}", "nested too deeply"),
        ("paper.xml", "<mods/>", "is no XML of a full text"),
        ("paper.xml", "<article/>", "has no text"),
        ("paper.xml", "<teiCorpus/>", "has no full text as JATS or TEI"),
        ("paper.json", "[" * 200_000, "is no JSON to its end"),
        ("paper.json", "{", "is no JSON to its end"),
        ("paper.json", "[1]", "has no full text as S2ORC has it"),
        ("paper.json", '{"body_text": "x"}', "has no full text as S2ORC has it"),
        ("paper.html", "<html><script>x</script>", "has no text"),
        ("paper.tex", r"\documentclass{article}\begin{document}\end{document}", "has no text"),
    ],
)
def test_what_cannot_be_read_is_said_in_one_line(tmp_path: Path, name: str, text: str, reason: str) -> None:
    with pytest.raises(InvalidRequest, match=reason) as caught:
        read(tmp_path, name, text)
    assert "\n" not in str(caught.value)


TAGS = ["<p>", "</p>", "<table>", "</td>", "<sup>", "</sup>", "<h2>", "</h2>", "<figcaption>", '<span class="footnote">', "</span>", "<!--"]
OTHERS = [
    "Birds. ",
    "1 Introduction",
    "<",
    "{",
    "}",
    "$x^2$",
    "\\section{",
    "\\footnote{",
    "\\begin{figure}",
    "\\caption{",
    "%",
    "\n\n",
    "\\",
]


@given(st.lists(st.sampled_from(TAGS + OTHERS), max_size=25), st.sampled_from(["paper.html", "paper.tex", "paper.md"]))
def test_any_text_is_read(tmp_path_factory: pytest.TempPathFactory, pieces: list[str], name: str) -> None:
    document = read(tmp_path_factory.mktemp("any"), name, f"Birds.\n\n{''.join(pieces)}")
    assert all(passage.text == " ".join(document.text[passage.start : passage.end].split()) for passage in passages(document))

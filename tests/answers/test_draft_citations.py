"""What drafts should cite: which sentences get papers, which papers, with what support, and where the keys are put."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

import jsonschema
import pytest

import sciretrieve as sr

BODY = "Tests of warped spaces are rare.\n\n# 4 Results\n\nGravity is localised on a brane by the warped metric of five dimensions."
LIBRARY: list[dict[str, Any]] = [
    {"id": "W1", "title": "An alternative to compactification", "abstract": "Gravity is trapped on a brane without compact dimensions.",
     "authors": ["Lisa Randall", "Raman Sundrum"], "year": 1999, "body": BODY},
    {"id": "10.5/w2", "title": "Warblers of Alaska", "abstract": "Songs of warblers are recorded in spring near rivers.",
     "authors": ["Ann Bird"], "year": 2004, "body": ""},
    {"id": "W3", "title": "Glacier melt", "abstract": "Ice of glaciers melts faster than models of climate predicted before.",
     "authors": ["Bo Frost"], "year": 2010, "body": ""},
    {"id": "W4", "title": "Spin of neutron stars", "abstract": "The spin of neutron stars slows down by magnetic fields.",
     "authors": ["Cy Star"], "year": 2011, "body": ""},
]  # fmt: skip
CLAIM = "It has been reported that songs of warblers recorded near rivers in spring differ from those elsewhere"


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> sr.Index:
    """Papers with a full text and without, searched by words."""
    path = tmp_path_factory.mktemp("library") / "index"
    sr.build(LIBRARY, path, encoder=None, progress=False)
    sr.add_full_texts("body", path, progress=False)
    return sr.open(path)


def keys(library: sr.Index, text: str) -> list[list[str]]:
    return [[paper.key for paper in one.papers] for one in sr.suggest(library, text).sentences]


def test_a_claim_gets_the_paper_that_supports_it_and_others_get_nothing(library: sr.Index) -> None:
    found = sr.suggest(library, f"{CLAIM}. The weather was pleasant on most of the days that we spent outside.\n\nThanks.")
    assert [one.sentence.text for one in found.sentences] == [f"{CLAIM}."]
    (paper,) = found.sentences[0].papers
    assert (paper.paper.id, paper.by, paper.passage) == ("10.5/w2", "text", None)
    assert paper.sentence == "Songs of warblers are recorded in spring near rivers."
    jsonschema.validate(found.to_dict(), sr.schema("suggestions"), cls=jsonschema.Draft202012Validator)


def test_names_in_a_sentence_name_their_paper_with_its_best_passage(library: sr.Index) -> None:
    (one,) = sr.suggest(library, "Randall and Sundrum showed that gravity can be localised on a brane.").sentences
    paper = one.papers[0]
    assert (paper.paper.id, paper.by, paper.score) == ("W1", "names", 1.0)
    assert paper.passage is not None
    assert (paper.passage.section, paper.sentence) == (
        "4 Results",
        "Gravity is localised on a brane by the warped metric of five dimensions.",
    )
    (one,) = sr.suggest(library, "We repeat Sundrum’s thoughts on what dimensions may be.").sentences
    assert [paper.by for paper in one.papers] == ["names"]
    assert keys(library, "Randall and Smith showed that pasta can be cooked in a pan.") == []


@pytest.mark.parametrize(
    "text",
    [
        f"{CLAIM} [@x].",
        f"{CLAIM} (Miller, 2001).",
        f"{CLAIM} [12].",
        f"{CLAIM}~\\cite{{x}}.",
        f"# Abstract\n\n{CLAIM}.",
        f"# 7 Conclusions\n\n{CLAIM}.",
    ],
)
def test_what_cites_already_and_where_nobody_cites_there_is_silence(library: sr.Index, text: str) -> None:
    assert keys(library, text) == []


@pytest.mark.parametrize("citation", ["[@bird2004warblers]", "(Bird, 2004)", "as Bird (2004) says", "~\\cite{other,bird2004warblers}"])
def test_papers_cited_nearby_are_not_suggested_again(library: sr.Index, citation: str) -> None:
    assert keys(library, f"{CLAIM}. Much is known {citation}.") == []
    apart = " ".join(f"Sentence {number} of a paragraph says nothing." for number in range(5))
    assert keys(library, f"{CLAIM}.\n\n{apart}\n\nMuch is known {citation}.") != []


def test_keys_are_put_into_a_copy_that_is_the_same_otherwise(library: sr.Index, tmp_path: Path) -> None:
    (key,) = keys(library, f"{CLAIM}.")[0]
    before = "\ufeff\\section{Birds} % note. Here\r\nÄ  b~c.\r\n\r\n\\emph{"
    after = "}.\r\n\\begin{equation} x \\end{equation}\r\n"
    draft = tmp_path / "paper.tex"
    draft.write_bytes(f"{before}{CLAIM}{after}".encode())
    copy = sr.suggest(library, draft).insert()
    assert copy == tmp_path / "paper.cited.tex"
    assert copy.read_bytes().decode() == f"{before}{CLAIM}}}~\\cite{{{key}}}{after[1:]}"
    assert draft.read_bytes().decode() == f"{before}{CLAIM}{after}"
    with pytest.raises(sr.InvalidRequest, match="exists already"):
        sr.suggest(library, draft).insert()
    (tmp_path / "note.md").write_text(f"- *{CLAIM}*!\n")
    assert sr.suggest(library, str(tmp_path / "note.md")).insert().read_text() == f"- *{CLAIM}* [@{key}]!\n"
    (tmp_path / "old.txt").write_bytes(f"Ä {CLAIM}.".encode("latin-1"))
    with pytest.raises(sr.InvalidRequest, match="UTF-8"):
        sr.suggest(library, tmp_path / "old.txt").insert()
    with pytest.raises(sr.InvalidRequest, match="no file"):
        sr.suggest(library, f"{CLAIM}.").insert()


def test_word_documents_are_read_and_bad_ones_refused(library: sr.Index, tmp_path: Path) -> None:
    space = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
    head = '<w:p><w:pPr><w:pStyle w:val="Heading1"/></w:pPr><w:r><w:t>2 Birds</w:t></w:r></w:p>'
    half = len(CLAIM) // 2
    text = f"<w:p><w:r><w:t>{CLAIM[:half]}</w:t></w:r><w:r><w:t>{CLAIM[half:]}.</w:t></w:r></w:p>"

    def document(name: str, xml: str) -> Path:
        with zipfile.ZipFile(tmp_path / name, "w") as archive:
            archive.writestr("word/document.xml", xml)
        return tmp_path / name

    (one,) = sr.suggest(library, document("a.docx", f"<w:document {space}><w:body>{head}{text}</w:body></w:document>")).sentences
    assert (one.sentence.section, one.sentence.text, one.papers[0].paper.id) == ("2 Birds", f"{CLAIM}.", "10.5/w2")
    bomb = document("b.docx", f'<!DOCTYPE d [<!ENTITY e "x">]><w:document {space}>{text}</w:document>')
    (tmp_path / "c.docx").write_text("no zip")
    for bad in (bomb, tmp_path / "c.docx", document("d.docx", "<w:document")):
        with pytest.raises(sr.InvalidRequest):
            sr.suggest(library, bad)


@pytest.mark.parametrize("content", [b"", b"\0\1\2", b"# Head alone\n"])
def test_files_without_text_are_refused(library: sr.Index, tmp_path: Path, content: bytes) -> None:
    (tmp_path / "draft.md").write_bytes(content)
    with pytest.raises(sr.InvalidRequest):
        sr.suggest(library, tmp_path / "draft.md")

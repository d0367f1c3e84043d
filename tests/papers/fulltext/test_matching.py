"""Which file is whose: by names, identifiers and titles; and what is said where that is not clear."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sciretrieve.base.errors import NotFound
from sciretrieve.papers.fulltext.document import Document, Part, document_of
from sciretrieve.papers.fulltext.matching import KnownPaper, PaperFiles, files_of

PAPERS = [
    KnownPaper("10.1000/ice.1", "Counting Birds on Ice", doi="10.1000/ice.1", keys=("maker2021birds",)),
    KnownPaper("W99", "Counting Birds on Ice and Snow in the Dark", arxiv="2101.00001"),
    KnownPaper("acl:P05-1", "Birds", doi="10.1000/P05"),
    KnownPaper("Ünal 2003", "Großvögel auf dem Eis: Eine Zählung"),
]


def document(title: str = "", text: str = "Nobody knows it.", front: str = "") -> Document:
    return document_of([Part("text", text)], title=title, front=front)


@pytest.mark.parametrize(
    ("name", "id"),
    [
        ("W99.pdf", "W99"),
        ("maker2021birds.pdf", "10.1000/ice.1"),
        ("10.1000%2Fice.1.pdf", "10.1000/ice.1"),
        ("10.1000_ice.1.pdf", "10.1000/ice.1"),
        ("10.1000-ICE.1.xml", "10.1000/ice.1"),
        ("acl_P05-1.txt", "acl:P05-1"),
        ("10.1000_p05.pdf", "acl:P05-1"),
        ("2101.00001v3.pdf", "W99"),
        ("Ünal 2003.pdf", "Ünal 2003"),
        ("U\u0308nal_2003.pdf", "Ünal 2003"),
        ("MAKER2021Birds.PDF", "10.1000/ice.1"),
        ("W99.txt.gz", "W99"),
    ],
)
def test_files_are_named_after_ids_keys_and_identifiers(name: str, id: str) -> None:
    assert PaperFiles(PAPERS).named(Path(name)) == [id]


@pytest.mark.parametrize(
    ("found", "id"),
    [
        (document(front="arXiv:2101.00001v2 [cs.DL] 3 Jan 2021"), "W99"),
        (document(front="https://doi.org/10.1000/ICE.1"), "10.1000/ice.1"),
        (document("COUNTING BIRDS ON ICE"), "10.1000/ice.1"),
        (document("Count\u00ading Birds on\nIce"), "10.1000/ice.1"),
        (document("Counting Birds on Ice and Snow in the Dark"), "W99"),
        (document("Counting Birds on Ice and Snow in the Dark A. Maker University of the Ice"), "W99"),
        (document("Grossvogel auf dem Eis", "", "GROSSVÖGEL AUF DEM EIS: EINE ZÄHLUNG"), "Ünal 2003"),
        (document(text="Counting birds on ice\n\nBy Ada Maker."), "10.1000/ice.1"),
        (document(text="This is 10.1000/p05, a paper."), "acl:P05-1"),
        (document("Birds"), "acl:P05-1"),
    ],
)
def test_first_pages_say_what_paper_it_is(found: Document, id: str) -> None:
    matches = PaperFiles(PAPERS).matches([(Path("scan001.pdf"), found)])
    assert (dict(matches.files), matches.notes) == ({id: Path("scan001.pdf")}, ())


@pytest.mark.parametrize(
    "found",
    [
        document("Birds of a feather"),
        document("A critique of Counting Birds on Ice, and of much else that was written of late on the birds there"),
        document("Other", "Two are cited: 10.1000/p05 and arXiv:2101.00001."),
        document("Other", "Much text. " * 100 + "Counting Birds on Ice"),
        None,
    ],
)
def test_what_is_no_papers_is_said(found: Document | None) -> None:
    matches = PaperFiles(PAPERS).matches([(Path("scan001.pdf"), found)])
    assert matches.files == {}
    assert matches.notes == ("scan001.pdf is the full text of no paper here, by its name or its first page",)


def test_of_two_files_of_a_paper_the_surest_readable_one_is_taken() -> None:
    title = document("Counting Birds on Ice")
    files = [(Path("a.pdf"), title), (Path("maker2021birds.xml"), title), (Path("maker2021birds.pdf"), title)]
    matches = PaperFiles(PAPERS).matches(files)
    assert matches.files == {"10.1000/ice.1": Path("maker2021birds.pdf")}
    assert matches.notes == ("10.1000/ice.1 has 3 full texts, of which maker2021birds.pdf is taken, and not maker2021birds.xml, a.pdf",)
    broken = PaperFiles(PAPERS).matches([(Path("maker2021birds.pdf"), None), (Path("a.pdf"), title)])
    assert broken.files == {"10.1000/ice.1": Path("a.pdf")}


def test_a_file_that_may_be_of_two_papers_is_the_firsts_by_id() -> None:
    twins = [KnownPaper("b", "The Same Title of Birds"), KnownPaper("a", "The same title of birds")]
    matches = PaperFiles(twins).matches([(Path("x.pdf"), document("The Same Title of Birds"))])
    assert matches.files == {"a": Path("x.pdf")}
    assert matches.notes == ("x.pdf may be the full text of a and b, and is taken for that of a",)


@given(st.permutations([Path("a.pdf"), Path("W99.pdf"), Path("w99.txt"), Path("b.txt"), Path("nothing.pdf")]))
def test_the_order_of_files_does_not_matter(paths: list[Path]) -> None:
    documents = {Path("a.pdf"): document("Birds"), Path("b.txt"): document("Birds")}
    matches = PaperFiles(PAPERS).matches([(path, documents.get(path, document())) for path in paths])
    assert matches.files == {"acl:P05-1": Path("a.pdf"), "W99": Path("W99.pdf")}
    assert len(matches.notes) == 3


def test_files_of_a_folder(tmp_path: Path) -> None:
    names = ["b.pdf", "A.PDF", "sub/c.txt", ".hidden/d.pdf", ".e.pdf", "notes.docx", "paper.bib", "f.txt.gz"]
    for name in names:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(b"")
    (tmp_path / "folder.pdf").mkdir()
    assert [path.relative_to(tmp_path).as_posix() for path in files_of(tmp_path)] == ["A.PDF", "b.pdf", "f.txt.gz", "sub/c.txt"]
    with pytest.raises(NotFound, match="is no folder"):
        files_of(tmp_path / "missing")

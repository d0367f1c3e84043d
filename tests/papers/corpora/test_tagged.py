"""Records of tagged lines: RIS in its dialects, Web of Science, EndNote's .enw, RefWorks, MEDLINE and ERIC, PubMed's XML."""

import logging
from pathlib import Path
from typing import Any

import pytest
import rispy

from sciretrieve.base.errors import InvalidRequest
from sciretrieve.files.schema import papers_of
from sciretrieve.papers.bibliographies import ris_records
from tests.made_up import read_corpus

INPUTS = Path(__file__).parents[1] / "inputs"
SHANNON = {
    "id": "WOS:A1948UH03900001",
    "title": "A MATHEMATICAL THEORY OF COMMUNICATION",
    "abstract": "The recent development of various methods of modulation has intensified the interest in a general theory.",
    "venue": "BELL SYSTEM TECHNICAL JOURNAL",
    "authors": ["Claude E. Shannon"],
    "keywords": ["entropy", "channel"],
    "pages": "379-423",
    "year": 1948,
}
KULLBACK = {"id": "WOS:000000000000002", "authors": ["S. Kullback", "R. A. Leibler"], "year": 1951}
COCHRANE: list[dict[str, Any]] = [
    {
        "title": "Aspirin for headache: a randomised trial",
        "abstract": "Aspirin was compared with placebo.",
        "venue": "Journal of Headache",
        "year": 2011,
        "authors": ["A Adams", "B Brown"],
        "doi": "10.1000/cochrane.1",
        "pmid": "12345678",
        "volume": "12",
        "number": "3",
        "pages": "100-110",
        "accession_number": "CN-00000001",
        "keywords": ["Aspirin [*therapeutic use]", "Headache [*drug therapy]"],
    },
    {"title": "Ibuprofen for fever: a pilot study", "year": 2013, "venue": "Journal of Fever", "abstract": "Ibuprofen lowers fever."},
]
OVID: list[dict[str, Any]] = [
    {
        "title": "Sleep and memory in night workers",
        "authors": ["A. Adams", "B. Brown"],
        "venue": "Sleep Research",
        "doi": "10.1000/sleep.2020.1",
        "pages": "5-9",
        "year": 2020,
    },
    {"title": "Dreams of shift workers", "abstract": "Dreams were short.", "authors": ["C. Clark"], "database": "Embase"},
]
ERIC: list[dict[str, Any]] = [
    {
        "id": "ED189449",
        "title": "New Beginnings. A Manual for Growth",
        "abstract": "This manual shares ideas and exercises.",
        "authors": ["Nancy Burnside"],
        "more_authors": True,
        "url": "http://eric.ed.gov/?id=ED189449",
        "keywords": ["Adult Development", "Career Choice"],
    },
    {"id": "EJ000001", "title": "Teaching Fractions with Pies", "venue": "Journal of Pies", "year": 1991},
]
LSTM = {"title": "Long short-term memory", "authors": ["Sepp Hochreiter", "Jürgen Schmidhuber"], "doi": "10.1162/neco.1997.9.8.1735"}
EXPECTED: dict[str, list[dict[str, Any]]] = {
    "01-ris-continuation.ris": [
        {
            "title": "On Computable Numbers, with an Application to the Entscheidungsproblem",
            "abstract": "The computable numbers may be described briefly as the real numbers whose expressions as a decimal are calculable "
            "by finite means.\n\nA second paragraph speaks of zebras.",
            "keywords": ["logic", "machines"],
        }
    ],
    "02-ris-ty-not-first.ris": [
        {"title": "Population structure of baboons in a canyon reserve", "authors": ["A. J. Able"], "database": "SourceA", "pages": "67"},
        {"title": "Nests of weaver birds on telegraph poles", "authors": ["B. Baker"], "database": "SourceB", "venue": "Ostrich"},
    ],
    "03-cochrane.ris": COCHRANE,
    "04-cochrane-txt.txt": COCHRANE,
    "05-ovid-embase.ris": OVID,
    "06-ovid-embase.txt": OVID,
    "07-ebsco-t2.ris": [{"venue": "Time", "date": "1952-07", "pages": "48-49", "issn": "0040781X"}],
    "08-ris-two-dates.ris": [
        {"year": 2014, "date": "2014-04-01", "venue": "Neuron", "journal_abbreviation": "Neur."}
        | {"abstract": "The long abstract about grid cells and concepts."}
    ],
    "09-ris-loose-tags.ris": [
        {"title": "Notes on the Analytical Engine", "authors": ["Ada Lovelace"], "year": 1843, "abstract": "A sketch with notes."},
        {"title": "On the Economy of Machinery and Manufactures", "year": 1832},
    ],
    "10-ris-utf16.ris": [{"authors": ["Pál Erdős"], "venue": "Canadian Journal of Mathematics"}],
    "14-scopus.ris": [{"venue": "Advances in Neural Information Processing Systems", "pages": "5999-6009", "language": "English"}],
    "15-wos-plain.txt": [SHANNON, KULLBACK],
    "16-wos.ciw": [SHANNON, KULLBACK],
    "29-endnote.enw": [
        {**LSTM, "venue": "Neural computation", "volume": "9", "number": "8", "pages": "1735-1780", "keywords": ["recurrent", "memory"]},
        {"title": "Attention is all you need", "venue": "Advances in Neural Information Processing Systems", "year": 2017},
    ],
    "30-refworks.txt": [{**LSTM, "volume": "9"}, {"authors": ["杨育伟", "蔡洪"], "venue": "飞行器测控学报", "year": 2015}],
    "33-eric.nbib": ERIC,
    "34-eric-txt.txt": ERIC,
    "35-pubmed-medline.txt": [
        {
            "id": "34265844",
            "title": "Highly accurate protein structure prediction with AlphaFold",
            "date": "2021-08",
            "authors": ["John Jumper"],
        },
        {
            "title": "[On the diagnosis of an old disease]",
            "original_title": "Zur Diagnose einer alten Krankheit",
            "authors": ["Karl Müller Jr", "The Old Disease Group"],
            "doi": "10.1000/old(98)1",
            "year": 1998,
        },
    ],
    "52-endnote-kw-lines.ris": [
        {
            "keywords": ["Adult", "Female", "*Humans", "Sleep, REM"],
            "urls": ["https://x.org/1", "https://x.org/2"],
            "abstract": "First line. Second line. TY and other words at a line's begin.",
        }
    ],
    "53-a1-then-au.ris": [{"authors": ["Oudin A", "Braback L", "Astrom D"]}],
    "54-cat-bom.ris": [{"title": f"Paper number {number} of a concatenation", "year": 2000 + number} for number in (1, 2, 3, 4)],
    "55-cr-only.ris": [{"title": f"Paper number {number} of a concatenation", "year": 2000 + number} for number in (1, 2)],
    "56-cr-only.nbib": [{"id": "1", "title": "First of two records", "year": 1975}, {"id": "2", "title": "Second of two records"}],
    "59-ris-doubles.ris": [
        {
            "title": "Energy poverty in Europe: a multidimensional approach",
            "authors": ["Carlo Andrea Bollino", "Fabrizio Botti"],
            "abstract": "English abstract of energy poverty.\n\nResumen en castellano.",
            "keywords": ["energy", "poverty", "Europe"],
            "date": "2017-03",
            "doi": "10.1000/energy.1",
        },
        {"title": "Record after one without ER", "year": 2018},
        {"title": "Record after one with a bare ER", "year": 2019},
        {"title": "Electronic", "year": 2020},
        {"title": "Swallowed by ER line", "year": 2021},
    ],
    "79-pubmed.xml": [
        {
            "title": "TIC236 mutations and H₂O₂ levels in S. pombe",
            "abstract": "Patient: Female, 16\n\nBACKGROUND: We use p < 0.05 with H₂O₂.",
            "authors": ["Gabriel García Márquez Jr", "Investigators of the Canadian Study"],
            "more_authors": True,
            "date": "1998-11",
        },
        {"title": "Zur Diagnose"},
    ],
    "86-ris-suffix.ris": [
        {
            "authors": [
                *("Martin Luther King Jr.", "World Health Organization", "Gabriel García Márquez", "Johnson & Johnson"),
                "Study Group on Sleep, The",
            ]
        },
        {"school": "MIT", "address": "Cambridge"},
        {
            "venue": "Handbook of things",
            "editors": ["Ed Editor"],
            "address": "London",
            "edition": "2nd",
            "series": "Series of handbooks",
            "volume": "3",
            "number": "7",
            "pages": "1-20",
            "note": "A note; Another note",
            "article_number": "e12345",
            "language": "en",
            "urls": ["https://a.org", "https://b.org", "file:///x.pdf"],
        },
    ],
    "91-jstor.ris": [{"title": "On the Theory of Things", "abstract": "", "authors": ["Bertrand Russell"], "doi": "10.2307/2248381"}],
    "97-editorials.ris": [{"title": "Editorial", "venue": f"Journal of {name}"} for name in ("Sleep", "Fever", "Pies")],
    "109-ris-in-txt.txt": [{"title": "RIS in a text file"}],
    "110-ris-blank-first.txt": [{"title": "RIS after a line"}],
    "111-no-suffix": [{"title": "RIS without a suffix"}],
}


def facts(path: Path, expected: list[dict[str, Any]]) -> list[dict[str, Any]]:
    papers, rejected = read_corpus(path)
    assert rejected == []
    return [{field: paper[field] for field in wanted} for paper, wanted in zip(papers.to_pylist(), expected, strict=True)]


@pytest.mark.parametrize("name", EXPECTED)
def test_an_input_is_read_whole(name: str) -> None:
    assert facts(INPUTS / name, EXPECTED[name]) == EXPECTED[name]


MADE: dict[str, tuple[str, list[dict[str, Any]]]] = {
    "an abstract's lines are no tags": (
        "TY  - JOUR\nTI  - Cells\nAB  - We studied\nER-positive tumours, and\nIL-6 in\n"
        "T2-weighted images;\nCI - an interval\nPY  - 2001\nER  - \n",
        [{"abstract": "We studied ER-positive tumours, and IL-6 in T2-weighted images; CI - an interval", "year": 2001}],
    ),
    "no end, no type, but an empty line": (
        "TY  - JOUR\nTI  - One\n\nAU  - B, B.\nTI  - Two\nPY  - 2002\n",
        [{"title": "One", "authors": []}, {"title": "Two", "authors": ["B. B"]}],
    ),
    "an edited book, with an institution as EndNote has it": (
        "TY  - EDBOOK\nAU  - Adams, A.\nAU  - Acme Widgets,\nTI  - All\nT2  - The series\nSN  - 978-3-16-148410-0\nER  - \n",
        [{"authors": [], "editors": ["A. Adams", "Acme Widgets"], "series": "The series", "venue": None}],
    ),
    "all authors in one line": (
        "TY  - JOUR\nTI  - A\nAU  - Adams, A., García Márquez, G., & Clark, C., et al.\nER  - \n"
        "TY  - JOUR\nTI  - B\nAU  - Department of Health, Education, and Welfare\nER  - \nTY  - JOUR\nTI  - C\nAU  - Doe J, Roe R, Poe P\n",
        [
            {"authors": ["A. Adams", "G. García Márquez", "C. Clark"], "more_authors": True},
            {"authors": ["Department of Health, Education, and Welfare"]},
            {"authors": ["Doe J", "Roe R", "Poe P"]},
        ],
    ),
    "Embase's number of PubMed": (
        "TY  - JOUR\nT1  - A\nA1  - O'Neil, Mary Ann, PhD\nCP  - Conference X\n"
        "U2  - L620000\nC5  - 29000000\nDB  - Embase\nDB  - Medline\nL2  - http://dx.doi.org/10.1186/s1-1\nER  - \n",
        [{"pmid": "29000000", "doi": "10.1186/s1-1", "accession_number": "L620000", "authors": ["Mary Ann O'Neil"]}],
    ),
    "Ovid's form for EndNote": (
        "<1. >\nVN  - Ovid Technologies\nDB  - Ovid MEDLINE(R)\nUI  - 12345678\n"
        "TI  - First\nAU  - Adams A\nSO  - Sleep. 41(2):5-9, 2020\n\n"
        "<2. >\nVN  - Ovid Technologies\nTI  - Second\nSO  - Journal of Fever\n",
        [{"title": "First", "venue": "Sleep", "pmid": "12345678"}, {"title": "Second", "venue": "Journal of Fever"}],
    ),
    "the first of two files of Web of Science has no end": (
        "FN Clarivate\nVR 1.0\nPT J\nAU Doe, J\n   King, ML Jr\nCA Acme Widgets\nTI One\nPY 1999\nPD JUL-AUG\nSN 0378-5955\nER\n\nEF"
        "\ufeffFN Clarivate\nVR 1.0\nPT B\nAU [Anonymous]\nBE Roe, R\nTI Two\nSO The book\nBN 978-3-16-148410-0\n\nPT J\nTI Three\nER\n",
        [
            {"authors": ["J Doe", "ML King Jr", "Acme Widgets"], "date": "1999-07", "issn": "0378-5955"},
            {"title": "Two", "authors": [], "editors": ["R Roe"], "venue": "The book"},
            {"title": "Three"},
        ],
    ),
    "titles before types, as repositories write .enw": (
        "%T One\n%0 Journal Article\n%A Doe, Jane\n%B The Quarterly\n%D 2021\n%8 September  1, 2021\n\n%T Two\n%0 Book\n%A Roe, R.\n"
        "%I Wiley\n%C London\n%@ 978-3-16-148410-0\n%7 2nd\n\n%A Poe, P.\n%T Three\n%0 Thesis\n%I MIT\n",
        [
            {"title": "One", "venue": "The Quarterly", "date": "2021-09-01"},
            {"title": "Two", "publisher": "Wiley", "address": "London", "edition": "2nd", "venue": None},
            {"title": "Three", "authors": ["P. Poe"], "school": "MIT"},
        ],
    ),
    "RefWorks' books and pages": (
        "RT Book, Section\nSR 1\nID 7\nA1 Doe,Jane\nA2 Roe,Richard\nT1 A part\nT2 The whole\nYR 2001\nSP 3\nOP 9\n"
        "K1 one;two\nPB Wiley\nPP London\n\n"
        "RT Journal Article\nID 8\nT1 An article\nAB More\nthan one line\n",
        [
            {"id": "7", "title": "A part", "venue": "The whole", "editors": ["Richard Roe"], "pages": "3-9", "keywords": ["one", "two"]},
            {"id": "8", "abstract": "More than one line"},
        ],
    ),
    "MEDLINE's chapters, editors, short names and web page": (
        "<pre>\nPMID- 7\nTI  - A chapter in the U.S.\nBTI - The book.\nAU  - Doe J\nFED - Roe, Richard 3rd\nED  - Roe R\n"
        "DP  - 2000 Dec 23-30\nIS  - 0378-5955 (Print)\nDCOM- 20200101\n\n"
        "PMID- 8\nTI  - And more...\nFAU - Doe, Jane\nAU  - Doe J\nAU  - Poe P\n</pre>\n",
        [
            {"title": "A chapter in the U.S.", "venue": "The book", "authors": ["Doe J"], "editors": ["Richard Roe III"]}
            | {"date": "2000-12-23", "issn": "0378-5955"},
            {"title": "And more...", "authors": ["Jane Doe", "Poe P"]},
        ],
    ),
}


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("name", MADE)
def test_a_dialect_is_known_by_its_contents(tmp_path: Path, name: str, end: str) -> None:
    text, expected = MADE[name]
    (tmp_path / "export.txt").write_bytes(text.replace("\n", end).encode())
    assert facts(tmp_path / "export.txt", expected) == expected


@pytest.mark.parametrize("name", [name for name in EXPECTED if ".ris" in name or "ovid" in name or "cochrane" in name])
def test_what_was_read_as_ris_comes_out_as_other_programs_read_it(tmp_path: Path, name: str) -> None:
    papers = read_corpus(INPUTS / name)[0]
    text = ris_records.text(papers_of(papers))
    records = rispy.loads(text)
    titles = [record.get("title") or record.get("primary_title") for record in records]
    assert len(titles) == len(papers)
    assert all(titles)
    assert all(record["type_of_reference"] for record in records)
    (tmp_path / "again.ris").write_text(text, encoding="utf-8")
    again = read_corpus(tmp_path / "again.ris")[0]
    fields = ["id", "title", "abstract", "year", "venue", "authors", "doi"]
    assert again.select(fields).to_pylist() == papers.select(fields).to_pylist()


def test_cochranes_record_comes_out_in_tags_that_other_programs_know() -> None:
    record, _ = rispy.loads(ris_records.text(papers_of(read_corpus(INPUTS / "03-cochrane.ris")[0])))
    expected = {"journal_name": "Journal of Headache", "year": "2011", "number": "3", "start_page": "100", "end_page": "110"}
    expected |= {"doi": "10.1000/cochrane.1"}
    assert {tag: record[tag] for tag in expected} == expected
    assert record["keywords"] == COCHRANE[0]["keywords"]


def test_a_record_number_is_no_papers_id_alone(caplog: pytest.LogCaptureFixture) -> None:
    papers, rejected = read_corpus(INPUTS / "11-ris-same-id-a.ris", INPUTS / "11-ris-same-id-b.ris")
    assert (len(papers), rejected) == (3, [])
    assert "had the id of another paper" in caplog.text


def test_a_record_without_text_is_rejected_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "p.ciw").write_text("FN X\nVR 1.0\nPT J\nAU Doe, J\nER\n\nPT J\nTI A\nER\n\nEF\n")
    papers, rejected = read_corpus(tmp_path / "p.ciw")
    assert papers["title"].to_pylist() == ["A"]
    assert [(row.row, row.reason) for row in rejected] == [(1, "no title and no abstract (the record of line 1)")]


def test_a_list_printed_by_pubmed_is_refused_with_the_format_to_save() -> None:
    with pytest.raises(InvalidRequest, match=r"without names of fields; save it there as PubMed \(\.nbib\)"):
        read_corpus(INPUTS / "88-pubmed-abstract.txt")


def test_a_folders_text_files_are_read_if_they_look_like_papers(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    for name in ("04-cochrane-txt.txt", "30-refworks.txt", "88-pubmed-abstract.txt", "111-no-suffix"):
        (tmp_path / name).write_bytes((INPUTS / name).read_bytes())
    (tmp_path / "notes.txt").write_text("Dear Ada,\nthe papers are in the folder.\n")
    (tmp_path / "manifest").write_text('{"entries": []}')
    with caplog.at_level(logging.WARNING):
        papers, rejected = read_corpus(tmp_path)
    assert (len(papers), rejected) == (5, [])
    assert "these files are not read: 88-pubmed-abstract.txt, manifest, notes.txt" in caplog.text

"""Facts stay what they are: papers of all inputs, and made ones, written in each form, read from it, and written in another."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, replace
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from sciretrieve.answers import outputs
from sciretrieve.base.errors import InvalidRequest
from sciretrieve.base.types import Hit, Paper
from sciretrieve.files.schema import FIELD_NAMES, papers_of
from sciretrieve.papers.bibliographies import bibtex_entries, csl_items, endnote_records, ris_records
from sciretrieve.papers.bibliographies.works import publication_of
from sciretrieve.papers.corpora.latex import plain_text
from tests.conftest import Effort
from tests.made_up import read_corpus

INPUTS = Path(__file__).parents[1] / "inputs"
ORIGINALS = {"bibtex", "bibtex_parents", "ris", "csl"}
"""Columns with records that are written unchanged; without them, all of a record is ours."""


def csv(papers: Sequence[Paper]) -> str:
    """Papers as a table of all their columns."""
    names = [*FIELD_NAMES, *dict.fromkeys(name for paper in papers for name in paper.extra)]
    return "\n".join(outputs.csv_lines([Hit(rank, 0.5, paper, {}) for rank, paper in enumerate(papers, 1)], names)) + "\n"


FORMS: Mapping[str, Callable[[Sequence[Paper]], str]] = {
    ".bib": bibtex_entries.text,
    ".ris": ris_records.text,
    ".json": csl_items.text,
    ".xml": endnote_records.text,
    ".csv": csv,
}
LEFT_OUT = {".ris": {"has_more"}, ".json": {"has_more"}, ".xml": {"has_more"}}
"""What a form has no place for: that there are more authors than are named."""


def read(path: Path) -> list[Paper]:
    """The papers of a file, without the records that they were read from."""
    extras = ((paper, paper.extra.items()) for paper in papers_of(read_corpus(path)[0]))
    return [replace(paper, extra={name: value for name, value in extra if name not in ORIGINALS}) for paper, extra in extras]


def through(papers: Sequence[Paper], form: str, folder: Path) -> list[Paper]:
    """Papers written in a form, and read from it."""
    path = folder / f"papers{form}"
    path.write_text(FORMS[form](papers), encoding="utf-8", newline="")
    return read(path)


def facts(paper: Paper) -> dict[str, Any]:
    """What a paper's writers know of it. Formulas, and what stands low, count as plain text, and particles as a part of a name."""

    def comparable(name: str, value: Any) -> Any:
        if name in ("authors", "editors"):
            return [(person.text, person.cited, person.suffix) for person in value]
        if name == "year":  # only BibLaTeX and CSL have years before the first
            return value if value and value > 0 else None
        text = plain_text(value) if isinstance(value, str) and "$" in value else value
        # of a table, no cell is a formula
        return unicodedata.normalize("NFKC", text).removeprefix("'") if isinstance(text, str) else text

    publication = publication_of(paper)
    return {field.name: comparable(field.name, getattr(publication, field.name)) for field in fields(publication)}


def check(papers: Sequence[Paper], forms: Sequence[str], folder: Path) -> None:
    """Papers have the same facts after they went through forms, one after the other."""
    known, papers_now = [facts(paper) for paper in papers], papers
    for form in forms:
        papers_now = through(papers_now, form, folder)
    gone = {name for form in forms for name in LEFT_OUT.get(form, ())}
    assert len(papers_now) == len(papers)
    changes = [
        (name, fact, found[name])
        for paper, of_paper in zip(papers_now, known, strict=True)
        for found in [facts(paper)]
        for name, fact in of_paper.items()
        if name not in gone and fact != found[name]
    ]
    assert not changes


@pytest.mark.parametrize("path", sorted(INPUTS.iterdir()), ids=lambda path: path.name)
def test_the_papers_of_every_input(tmp_path: Path, path: Path) -> None:
    try:
        papers = read(path)
    except InvalidRequest:
        return
    for form in FORMS if papers else ():
        check([plain(paper) for paper in papers], [form], tmp_path)


def plain(paper: Paper) -> Paper:
    """A paper whose texts no spreadsheet takes for formulas, as a table would write them with an apostrophe."""
    return replace(paper, authors=tuple(name.lstrip("=+-@") for name in paper.authors))


WORDS = "Graph ~ search_in 100% of {all} #1 & more < x > y, e.g. \\alpha ^2 Müller’s “naïve” café – 中文 α-helix CO₂ 10⁻⁵"
WORDS += " it's -- O(n) [a] 5+5=10 @home"
TITLES = st.lists(st.sampled_from(WORDS.split()), min_size=1, max_size=8).map(lambda words: " ".join(["On", *words]))
TEXTS = TITLES | st.sampled_from([r"On ${\hat c}=1$ strings", "Costs of $5", "A $x_1$ and $y$"])
PERSONS = st.sampled_from(
    [
        "Ada Lovelace",
        "García Márquez, Gabriel",
        "van den Oord, Aäron",
        "King, Martin Luther, Jr.",
        "Aristotle",
        {"literal": "World Health Organization"},
        {"literal": "U.S. Department of Health and Human Services"},
        {"literal": "CERN"},
        {"family": "Beethoven", "given": "Ludwig", "non-dropping-particle": "van"},
        {"family": "Lloyd Webber", "given": "Andrew"},
        {"family": "O’Neil", "given": "Seán"},
        "李 明",
        "J.-P. Serre",
        "Doudna JA",
    ]
)
KINDS = "article inproceedings book incollection phdthesis mastersthesis techreport misc dataset software patent online preprint"
COLUMNS: Mapping[str, st.SearchStrategy[Any]] = {
    "abstract": TEXTS,
    "year": st.integers(1450, 2050),
    "venue": TITLES | st.sampled_from(["Nature", "Proceedings of X", "bioRxiv"]),
    "authors": st.lists(PERSONS, min_size=1, max_size=4, unique_by=str),
    "editors": st.lists(PERSONS, min_size=1, max_size=2, unique_by=str),
    "type": st.sampled_from(KINDS.split()),
    "date": st.sampled_from(["2019-05", "2019-05-03", "1999", "2020-12-31"]),
    "month": st.sampled_from(["jul", "SEP 12", 3, "03"]),
    "volume": st.integers(1, 400) | st.just("12A"),
    "number": st.integers(1, 50) | st.just("S1"),
    "pages": st.sampled_from(["21--24", "583-9", "e1000-e1009", "pp. 1–2", "7", "S1-S5, 12", "A-12", "3-1–3-24", "xi-xv", "Art. No. 104"]),
    "article_number": st.sampled_from(["e12345", "104"]),
    "publisher": TITLES,
    "address": st.just("Cambridge, MA"),
    "edition": st.sampled_from(["2", "Second"]),
    "series": TITLES,
    "isbn": st.sampled_from(["0-306-40615-2", "9781467388511", "978-0-306-40615-7; 0306406152"]),
    "issn": st.sampled_from(["1063-6919", "08997667", "1063-6919, 0899-7667"]),
    "language": st.sampled_from(["en", "German"]),
    "note": TITLES,
    "keywords": st.lists(st.sampled_from(["graphs", "graphs, directed", "α & β", "100%"]), min_size=2, max_size=3, unique=True),
    "doi": st.sampled_from(["10.1000/abc", "10.1000/a_b(c)<1>"]),
    "url": st.sampled_from(["https://example.org/a?b=1&c=~d", "https://arxiv.org/abs/1706.03762v2"]),
    "arxiv": st.sampled_from(["1706.03762", "hep-th/9901001"]),
    "primaryclass": st.sampled_from(["cs.CL", "hep-th"]),
    "pmid": st.integers(1, 40_000_000),
    "pmcid": st.just("PMC8371605"),
    "database": st.just("Scopus"),
    "accession_number": st.just("WOS:A1951XH21900006"),
    "event": st.just("A meeting, Berlin"),
    "journal_abbreviation": st.just("J. Appl. Ph."),
}
PAPERS = st.lists(st.fixed_dictionaries({"title": TEXTS}, optional=COLUMNS), min_size=10, max_size=10)
"""Records of papers, each with any of the columns that a source may have."""


def made(records: Sequence[Mapping[str, Any]], folder: Path) -> list[Paper]:
    """The papers of records, read as any others are."""
    path = folder / "papers.jsonl"
    path.write_text("".join(f"{json.dumps({'id': f'p{place}', **record})}\n" for place, record in enumerate(records)), encoding="utf-8")
    return read(path)


@pytest.mark.parametrize("forms", [*permutations(FORMS, 2)], ids=" to ".join)
def test_made_papers_from_each_form_to_each(tmp_path: Path, forms: tuple[str, str], effort: Effort) -> None:
    """Twenty pairs of forms, 2,000 papers in all with `--torture`."""

    @settings(max_examples=effort(2, 10), phases=[Phase.generate])
    @given(PAPERS)
    def check_made(records: list[dict[str, Any]]) -> None:
        check(made(records, tmp_path), forms, tmp_path)

    check_made()

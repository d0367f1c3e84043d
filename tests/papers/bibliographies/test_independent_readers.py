"""Other programs' readers find in what is written what was meant, field by field: in papers of all inputs, and in made ones."""

from __future__ import annotations

import io
import json
import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pandas as pd
import pytest
import rispy
from hypothesis import Phase, given, settings
from pybtex.database import Person, parse_string

from sciretrieve.base.errors import InvalidRequest
from sciretrieve.base.types import Paper
from sciretrieve.papers.bibliographies import bibtex_entries, csl_items, endnote_records, ris_records
from sciretrieve.papers.bibliographies.author_names import Name
from sciretrieve.papers.bibliographies.works import publication_of
from tests.conftest import Effort
from tests.papers.bibliographies.test_round_trips import INPUTS, PAPERS, csv, made, read

bibtexparser = pytest.importorskip("bibtexparser")
latex2text = pytest.importorskip("pylatexenc.latex2text")
citeproc = pytest.importorskip("citeproc.source.json")

Facts = Mapping[str, Any]
TEXTS = {"title": "title", "volume": "volume", "number": "number", "series": "series", "edition": "edition", "publisher": "publisher"}
TEXTS |= {"place": "address", "language": "language", "note": "note", "abstract": "abstract", "doi": "doi", "arxiv": "eprint"}
TEXTS |= {"arxiv_class": "primaryclass", "pmid": "pmid", "pmcid": "pmcid", "article": "eid", "event": "eventtitle"}
"""What of a publication is a field in BibTeX."""
MONTHS = [pd.Timestamp(2000, month, 1).month_name() for month in range(1, 13)]


def folded(text: object) -> str:
    """A text in which what stands low or high is plain, in one line."""
    bare = re.sub(r"\s*\$\$\s*", "$$", unicodedata.normalize("NFKC", str(text or "")))  # pylatexenc has blanks around formulas
    return " ".join(bare.replace("\u2212", "-").split())


def decoded(latex: str) -> str:
    """LaTeX as pylatexenc reads it; formulas as they are, as the text has them."""
    for command, sign in ((r"\textbraceleft{}", r"\{"), (r"\textbraceright{}", r"\}")):  # which pylatexenc does not know
        latex = latex.replace(command, sign)
    text = latex2text.LatexNodes2Text(math_mode="verbatim").latex_to_text(latex)
    return folded(text.replace("ˆ", "^"))


def by_bibtex(papers: Sequence[Paper]) -> Iterator[tuple[Facts, Facts]]:
    """What pybtex finds of each paper, and what was meant; bibtexparser finds the same."""
    text = bibtex_entries.text(papers)
    entries = parse_string(text, "bibtex").entries
    library = bibtexparser.parse_string(text)
    assert not library.failed_blocks
    for paper, key, entry in zip(papers, bibtex_entries.keys(papers), library.entries, strict=True):
        other, meant = entries[key], publication_of(paper)
        fields = {name.lower(): value for name, value in other.fields.items()}
        values = {field.key: field.value for field in entry.fields if field.key not in ("author", "editor", "month")}
        assert values == {name: " ".join(fields[name].split()) for name in values}
        persons = [*map(_person, other.persons.get("author", [])), *map(_person, other.persons.get("editor", []))]
        month = MONTHS.index(fields["month"]) + 1 if "month" in fields else 0
        names = {field: decoded(fields.get(field, "")) for field in TEXTS.values()}
        pages = fields.get("pages", "").replace("--", "-")
        yield (
            {**names, "persons": persons, "month": month, "year": fields.get("year", ""), "pages": decoded(pages), "type": other.type},
            {
                **{field: folded(getattr(meant, name)) for name, field in TEXTS.items()},
                "persons": [*map(_shown, meant.authors), *["others"] * meant.has_more, *map(_shown, meant.editors)],
                "month": meant.month,
                "year": folded(meant.year),
                "pages": folded(meant.page_text("-") or meant.article),
                "type": meant.kind.bibtex,
            }
            | ({"series": folded(meant.series)} if meant.kind.venue == "series" else {}),
        )


def _person(person: Person) -> str:
    words = (person.first_names, person.middle_names, person.prelast_names, person.last_names, person.lineage_names)
    return decoded(" ".join(chain.from_iterable(words)).replace("{", "").replace("}", "")).replace("{", "").replace("}", "")


def _shown(name: Name) -> str:
    return (
        folded(" ".join(filter(None, (name.given, name.particle, name.literal or name.family, name.suffix))))
        .replace("{", "")
        .replace("}", "")
    )


def by_ris(papers: Sequence[Paper]) -> Iterator[tuple[Facts, Facts]]:
    """What rispy finds of each paper, and what was meant."""
    for record, paper in zip(rispy.loads(ris_records.text(papers)), papers, strict=True):
        meant = publication_of(paper)
        ranges = len(meant.pages) == 1
        expected = {
            "type_of_reference": meant.kind.ris,
            "title": meant.title,
            "authors": [name.inverted for name in meant.authors],
            "year": str(meant.year or ""),
            "volume": meant.volume,
            "number": meant.number,
            "start_page": meant.pages[0].first if ranges else meant.page_text("-"),
            "end_page": meant.pages[0].last if ranges else "",
            "custom7": meant.article,
            "publisher": meant.source,
            "place_published": meant.place,
            "edition": meant.edition,
            "issn": ", ".join((*meant.isbns, *meant.issns)),
            "language": meant.language,
            "doi": meant.doi,
            "urls": [meant.url] if meant.url else [],
            "keywords": list(meant.keywords),
            "abstract": meant.abstract,
            "notes": meant.notes,
        }
        found = {name: record.get(name, type(value)()) for name, value in expected.items()}
        found["authors"] = [name.removesuffix(",") for name in found["authors"]]
        yield found, expected


def by_csl(papers: Sequence[Paper]) -> Iterator[tuple[Facts, Facts]]:
    """What citeproc-py finds of each paper, and what was meant."""
    items = json.loads(csl_items.text(papers))
    # it knows the variables of CSL 1.0.1
    later = ("PMID", "PMCID", "categories", "container-title-short")
    source = citeproc.CiteProcJSON([{name: value for name, value in item.items() if name not in later} for item in items])
    for item, paper in zip(items, papers, strict=True):
        found, meant = source[str(item["id"]).lower()], publication_of(paper)
        date = found.get("issued", {})
        expected = {
            "type": meant.kind.csl,
            "title": meant.title,
            "author": [(name.literal or name.family or name.given, name.suffix) for name in meant.authors],
            "issued": [part for part in (meant.year, meant.month, meant.day) if part],
            "container_title": meant.container,
            "publisher": meant.source,
            "page": meant.page_text("-") or meant.article,
            "volume": meant.volume,
            "DOI": meant.doi,
            "URL": meant.url,
            "PMID": meant.pmid,
        }
        texts = {name: str(found.get(name) or "") for name, value in expected.items() if isinstance(value, str)}
        people = [(name.get("literal") or name.get("family"), name.get("suffix", "")) for name in found.get("author", ())]
        parts = [date[part] for part in ("year", "month", "day") if part in date]
        yield texts | {"type": found.type, "author": people, "issued": parts, "PMID": item.get("PMID", "")}, expected


def by_xml(papers: Sequence[Paper]) -> Iterator[tuple[Facts, Facts]]:
    """What ElementTree finds of each paper, and what was meant."""
    for record, paper in zip(ElementTree.fromstring(endnote_records.text(papers)).iter("record"), papers, strict=True):
        meant = publication_of(paper)
        expected = {
            "titles/title": meant.title,
            "dates/year": str(meant.year or ""),
            "pages": meant.page_text("-") or meant.article,
            "volume": meant.volume,
            "number": meant.number,
            "edition": meant.edition,
            "isbn": ", ".join((*meant.isbns, *meant.issns)),
            "electronic-resource-num": meant.doi,
            "abstract": meant.abstract,
            "urls/related-urls/url": meant.url,
            "contributors/authors": [name.inverted for name in meant.authors],
        }
        texts: dict[str, Any] = {path: record.findtext(path, "") for path in expected}
        texts["contributors/authors"] = [(name.text or "").removesuffix(",") for name in record.iterfind("contributors/authors/author")]
        yield texts, expected


def by_csv(papers: Sequence[Paper]) -> Iterator[tuple[Facts, Facts]]:
    """What pandas finds of each paper, and what was meant."""
    table = pd.read_csv(io.StringIO(csv(papers)), dtype=str, keep_default_na=False)
    for (_, row), paper in zip(table.iterrows(), papers, strict=True):
        expected = {"id": paper.id, "title": paper.title, "abstract": paper.abstract, "year": str(paper.year or ""), "doi": paper.doi or ""}
        yield {name: str(row[name]).removeprefix("'") for name in expected}, expected


READERS: Mapping[str, Callable[[Sequence[Paper]], Iterator[tuple[Facts, Facts]]]] = {
    "BibTeX": by_bibtex,
    "RIS": by_ris,
    "CSL-JSON": by_csl,
    "EndNote XML": by_xml,
    "CSV": by_csv,
}


def check(papers: Sequence[Paper], form: str) -> None:
    """A reader finds all facts of papers."""
    changes = [
        (paper.id, name, fact, found[name])
        for paper, (found, meant) in zip(papers, READERS[form](papers), strict=True)
        for name, fact in meant.items()
        if found[name] != fact
    ]
    assert not changes


@pytest.mark.parametrize("form", READERS)
@pytest.mark.filterwarnings("ignore")
def test_the_papers_of_every_input(form: str) -> None:
    for path in sorted(INPUTS.iterdir()):
        try:
            papers = read(path)
        except InvalidRequest:
            continue
        check(papers, form)


@pytest.mark.parametrize("form", READERS)
@pytest.mark.filterwarnings("ignore")
def test_made_papers(tmp_path: Path, form: str, effort: Effort) -> None:
    """A hundred papers; 2,000 with `--torture`."""

    @settings(max_examples=effort(10, 200), phases=[Phase.generate])
    @given(PAPERS)
    def check_made(records: list[dict[str, Any]]) -> None:
        check(made(records, tmp_path), form)

    check_made()

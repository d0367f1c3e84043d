"""CSL-JSON: papers as items for Zotero, pandoc and other programs that set citations in a style of the Citation Style Language."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

from ...base.types import Paper
from ...base.wording import as_json
from .author_names import Name, names_of
from .keys import keys_of
from .keywords import joined, keywords_of
from .works import ARTICLE, MASTERS_THESIS, PAPER, PREPRINT, arxiv_of, details_of, doi_of, kind_of, url_of

ITEM = "csl"
"""The column with a paper's original item from a file of CSL-JSON, as JSON."""

NAME_PARTS = ("family", "given", "dropping-particle", "non-dropping-particle", "suffix", "literal")
VARIABLES = {"publisher-place": "address", "edition": "edition", "volume": "volume", "ISBN": "isbn", "ISSN": "issn", "note": "note"}
"""CSL's variable -> the field of `works.DETAILS` that has it, whatever the kind of publication."""
MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")


def items(papers: Sequence[Paper], taken: Collection[str] = ()) -> Iterator[dict[str, Any]]:
    """Papers as items, in order. Those read from CSL-JSON are unchanged, but for an id that is `taken`; others are made from the papers'
    fields, with citation keys as ids.

    Source: https://github.com/citation-style-language/schema, csl-data.json of version 1.0.2.
    """
    originals = [_original(paper) for paper in papers]
    own_ids = [None if item is None else str(item["id"]) for item in originals]
    for paper, item, own_id, key in zip(papers, originals, own_ids, keys_of(papers, own_ids, taken), strict=True):
        if item is None:
            yield _new_item(paper, key)
        else:
            yield item if key == own_id else item | {"id": key}


def text(papers: Sequence[Paper]) -> str:
    """The same items as the text of a file."""
    return as_json(list(items(papers)), indent=2) + "\n"


def _original(paper: Paper) -> dict[str, Any] | None:
    with suppress(ValueError, TypeError, RecursionError):
        item = json.loads(paper.extra[ITEM]) if ITEM in paper.extra else None
        return item if isinstance(item, dict) and "id" in item else None
    return None


def _new_item(paper: Paper, key: str) -> dict[str, Any]:
    kind, details, arxiv = kind_of(paper), details_of(paper), arxiv_of(paper)
    publishers = (details.get(field, "") for field in ("publisher", "school", "institution"))
    texts = {
        "title": paper.title,
        "container-title": details.get("booktitle", ""),
        "publisher": next(filter(None, publishers), ""),
        "issue" if kind in (ARTICLE, PAPER) else "number": details.get("number", ""),
        "page": re.sub(r"(?<=\w)\s*[-–—]+\s*(?=\w)", "-", details.get("pages", "")),
        "genre": "Master's thesis" if kind == MASTERS_THESIS else "",
        "DOI": doi_of(paper) or "",
        "PMID": str(paper.extra.get("pmid") or ""),
        "URL": url_of(paper) or (f"https://arxiv.org/abs/{arxiv}" if arxiv else ""),
        "keyword": joined(keywords_of(paper)),
        "abstract": paper.abstract,
    }
    if paper.venue:
        texts[kind.csl_venue] = paper.venue
    texts |= {variable: details.get(field, "") for variable, field in VARIABLES.items()}
    if kind == PREPRINT and arxiv:
        texts["number"] = f"arXiv:{arxiv}"
    persons = {"author": _people(paper, "author", "authors"), "editor": _people(paper, "editor", "editors")}
    item: dict[str, Any] = {"id": key, "type": kind.csl}
    item |= {variable: names for variable, names in persons.items() if names}
    if paper.year is not None:
        item["issued"] = {"date-parts": [_date(paper, details)]}
    return item | {variable: plain for variable, text in texts.items() if (plain := " ".join(text.split()))}


def _people(paper: Paper, column: str, names: str) -> list[dict[str, str]]:
    """Names in CSL's parts: those that a record from Crossref has in parts already, else what the names' words say."""
    persons = paper.extra.get(column)
    if isinstance(persons, list) and persons and all(isinstance(person, Mapping) for person in persons):
        records = [{part: str(person[part]) for part in NAME_PARTS if person.get(part)} for person in persons]
        if all("family" in record or "literal" in record for record in records):
            return records
    return [_name(name) for name in names_of(paper, names)]


def _name(name: Name) -> dict[str, str]:
    texts = {"literal": name.literal, "family": name.family, "given": name.given}
    texts |= {"non-dropping-particle": name.particle, "suffix": name.suffix}
    return {part: text for part, text in texts.items() if text}


def _date(paper: Paper, details: Mapping[str, str]) -> list[int]:
    """The year, with the month and the day where the corpus has them."""
    issued = paper.extra.get("issued")
    dates = issued.get("date-parts") if isinstance(issued, Mapping) else None
    if dates and isinstance(dates[0], list) and dates[0][:1] == [paper.year] and all(isinstance(part, int) for part in dates[0]):
        return list(dates[0])
    month = details.get("month", "").lower()
    number = int(month) if month.isdecimal() else MONTHS.index(month[:3]) + 1 if month[:3] in MONTHS else 0
    return [int(paper.year or 0), *([number] if 1 <= number <= 12 else [])]

"""CSL-JSON: papers as items for Zotero, pandoc and other programs that set citations in a style of the Citation Style Language."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from typing import Any

from ...base.types import Paper
from ...base.wording import as_json
from .author_names import Name
from .keys import keys_of
from .keywords import joined
from .works import ARTICLE, ARXIV, BOOK, CHAPTER, PAPER, PREPRINT, SERIAL, publication_of

ITEM = "csl"
"""The column with a paper's original item from a file of CSL-JSON, as JSON."""


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
    work = publication_of(paper)
    is_part = work.kind in (ARTICLE, PAPER)
    texts = {
        "title": work.title,
        "container-title": work.container,
        "container-title-short": work.abbreviation,
        "collection-title": work.series,
        "event-title": work.event,
        "publisher": work.source,
        "publisher-place": work.place,
        "volume": work.volume,
        "issue" if is_part else "collection-number" if work.kind in (BOOK, CHAPTER) else "number": work.number,
        "page": work.page_text("-") or work.article,
        "edition": work.edition,
        "genre": work.kind.genre,
        "archive": work.archive,
        "archive_location": work.archived,
        "DOI": work.doi,
        "PMID": work.pmid,
        "PMCID": work.pmcid,
        "ISBN": " ".join(work.isbns),
        "ISSN": ", ".join(work.issns),
        "URL": work.url,
        "language": work.language,
        "note": work.note if work.kind == PREPRINT else "; ".join(filter(None, (work.note, work.arxiv and f"arXiv:{work.arxiv}"))),
        "keyword": joined(work.keywords),
        "abstract": work.abstract,
    }
    if work.article and work.kind in SERIAL:
        texts["number"] = work.article
    if work.is_arxiv:
        texts |= {"number": f"arXiv:{work.arxiv}", "archive": work.archive or ARXIV}
    persons = {"author": [_name(name) for name in work.authors], "editor": [_name(name) for name in work.editors]}
    item: dict[str, Any] = {"id": key, "type": work.kind.csl}
    item |= {variable: names for variable, names in persons.items() if names}
    if work.year is not None:
        item["issued"] = {"date-parts": [[part for part in (work.year, work.month, work.day) if part]]}
    if work.arxiv_class:
        item["categories"] = [work.arxiv_class]
    return item | {variable: text for variable, text in texts.items() if text}


def _name(name: Name) -> dict[str, str]:
    texts = {
        "literal": name.literal,
        "family": name.family or (name.given if not name.literal else ""),
        "given": name.given if name.family else "",
    }
    texts |= {"non-dropping-particle": name.particle, "suffix": name.suffix}
    return {part: text for part, text in texts.items() if text}

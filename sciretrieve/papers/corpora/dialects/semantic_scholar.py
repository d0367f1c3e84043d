"""Semantic Scholar: papers of its Graph API, and S2ORC's full texts.

Of the datasets' papers and of the API's most is plain: `columns` finds the identifiers in their objects. S2ORC has no titles and
abstracts of its own, but says where they are in the full text; its older releases have abstracts in paragraphs.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from ..raw import Row, free_name

NESTED = ("citedPaper", "citingPaper")
"""Where the API's lists of references, citations and recommendations have the paper itself."""
OWN_IDS = ("paperId", "corpusid")
SIGNS = (*OWN_IDS, "paper_id", *NESTED, "content")
BIBLIOGRAPHIES = ("bibentry", "bib_entry")
"""What a bibliography's entries are called among a full text's marks."""
TEXTS = {"title": " ", "abstract": "\n\n"}
"""What is marked in a full text and becomes a column, and what comes between its parts."""


def fits(row: Row) -> bool:
    """Whether it has an id of Semantic Scholar, or a form of S2ORC."""
    if not row.keys().isdisjoint(OWN_IDS) or _is_paragraphs(row.get("abstract")):
        return True
    if any(isinstance(row.get(name), Mapping) for name in NESTED):
        return True
    content = row.get("content")
    return isinstance(content, Mapping) and isinstance(content.get("annotations"), Mapping) and isinstance(content.get("text"), str)


def paper(row: Row) -> Row:
    """The paper out of its wrapping, with an id, a title and an abstract, and the papers that a full text cites."""
    plain_row = dict(row)
    for name in NESTED:
        if isinstance(inner := row.get(name), Mapping):
            others = {free_name(key, inner): value for key, value in plain_row.items() if key != name}
            plain_row = {**inner, **others}
    if not plain_row.get("id") and (id := next((plain_row[name] for name in (*OWN_IDS, "paper_id") if plain_row.get(name)), None)):
        plain_row["id"] = str(id)
    paragraphs: Any = plain_row.get("abstract")
    if _is_paragraphs(paragraphs):
        plain_row["abstract"] = "\n\n".join(str(paragraph.get("text") or "") for paragraph in paragraphs)
        plain_row["abstract_"] = json.dumps(paragraphs, ensure_ascii=False)
    content: Any = plain_row.get("content")
    if isinstance(content, Mapping):
        marks: Any = content.get("annotations")
        for name, between in TEXTS.items() if isinstance(marks, Mapping) and isinstance(content.get("text"), str) else ():
            if not plain_row.get(name) and (text := between.join(_marked(content["text"], marks.get(name)))):
                plain_row[name] = text
        if not plain_row.get("references") and isinstance(marks, Mapping) and (matched := _matched(marks)):
            plain_row["references"] = matched
        # as an object, each kind of mark would be a column within the column
        plain_row["content"] = json.dumps(content, ensure_ascii=False)
    return plain_row


def _is_paragraphs(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(item, Mapping) and "text" in item for item in value)


def _matched(marks: Mapping[str, Any]) -> list[str]:
    """The papers that a full text's bibliography was matched with, in its order."""
    entries = next((marks[name] for name in BIBLIOGRAPHIES if marks.get(name)), None)
    facts = (entry.get("attributes") for entry in _objects(entries))
    ids = (fact.get("matched_paper_id") for fact in facts if isinstance(fact, Mapping))
    return list(dict.fromkeys(f"CorpusId:{id}" for id in ids if isinstance(id, int | str) and str(id).isdecimal()))


def _marked(text: str, marks: Any) -> Iterator[str]:
    """The parts of a text that marks cover, objects with `start` and `end`."""
    for mark in _objects(marks):
        start, end = mark.get("start"), mark.get("end")
        if isinstance(start, int | str) and isinstance(end, int | str) and str(start).isdecimal() and str(end).isdecimal():
            yield " ".join(text[int(start) : int(end)].split())


def _objects(marks: Any) -> Iterator[Mapping[str, Any]]:
    """The objects of a list, or of a list as JSON."""
    if isinstance(marks, str):
        try:
            marks = json.loads(marks)
        except (ValueError, RecursionError):
            return
    yield from (mark for mark in (marks if isinstance(marks, list) else ()) if isinstance(mark, Mapping))

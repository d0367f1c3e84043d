"""Full texts as S2ORC has them: JSON with paragraphs, as at first, or a text with annotations, as Semantic Scholar gives it now."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ...base.errors import InvalidRequest
from ...files.streams import read_text
from .document import Document, Kind, Part, document_of
from .heads import level_of

ANNOTATED: Mapping[str, Kind] = {
    "sectionheader": "head",
    "section_header": "head",
    "paragraph": "text",
    "figurecaption": "caption",
    "figure_caption": "caption",
    "bibentry": "reference",
    "bib_entry": "reference",
}
"""Annotations, and what they say of a part of the text."""


def read_s2orc(path: Path) -> Document:
    """A file of one paper as a document. Raises InvalidRequest: it is no JSON, or has no full text as S2ORC has it."""
    try:
        paper = json.loads(read_text(path))
    except (ValueError, RecursionError) as error:
        raise InvalidRequest(f"{path} is no JSON to its end: {error}") from error
    paper = paper if isinstance(paper, dict) else {}
    for key in ("content", "body"):
        if isinstance(content := paper.get(key), dict) and isinstance(content.get("text"), str):
            return _annotated(paper, content)
    for source in (paper, paper.get("pdf_parse"), paper.get("latex_parse")):
        if isinstance(source, dict) and isinstance(source.get("body_text"), list):
            return _in_paragraphs(paper, source)
    raise InvalidRequest(f"{path} has no full text as S2ORC has it: neither `body_text`, nor `content` with a text and annotations")


def _in_paragraphs(paper: Mapping[str, Any], source: Mapping[str, Any]) -> Document:
    metadata = paper.get("metadata")
    title = _text(paper.get("title")) or _text(metadata.get("title") if isinstance(metadata, dict) else "")
    return document_of(_parts_of_paragraphs(paper, source), title=title, front=_front(paper, title))


def _parts_of_paragraphs(paper: Mapping[str, Any], source: Mapping[str, Any]) -> Iterator[Part]:
    abstract = source.get("abstract") or paper.get("abstract")
    paragraphs = [{"text": abstract}] if isinstance(abstract, str) else abstract if isinstance(abstract, list) else []
    if paragraphs:
        yield Part("head", "Abstract")
    yield from (Part("text", text) for paragraph in paragraphs if (text := _text(_field(paragraph, "text"))))
    last = None
    for paragraph in source["body_text"]:
        head = " ".join(filter(None, (_text(_field(paragraph, "sec_num")), _text(_field(paragraph, "section")))))
        if head != last and head:
            yield Part("head", head, level=level_of(head))
        last = head
        if text := _text(_field(paragraph, "text")):
            yield Part("text", text)
    entries = source.get("ref_entries")
    yield from (Part("caption", text) for entry in (entries or {}).values() if (text := _text(_field(entry, "text"))))
    entries = source.get("bib_entries")
    yield from (Part("reference", text) for entry in (entries or {}).values() if (text := _reference(entry)))


def _reference(entry: Any) -> str:
    if raw := _text(_field(entry, "raw_text")):
        return raw
    people = _field(entry, "authors")
    names = [" ".join(filter(None, (_text(_field(person, "first")), _text(_field(person, "last"))))) for person in people or ()]
    return ". ".join(filter(None, (", ".join(names), *(_text(_field(entry, name)) for name in ("title", "venue", "year")))))


def _annotated(paper: Mapping[str, Any], content: Mapping[str, Any]) -> Document:
    text, annotations = content["text"], content.get("annotations")
    annotations = annotations if isinstance(annotations, dict) else {}
    titles = [text[start:end] for start, end, _ in _ranges(annotations.get("title"), len(text))]
    title = _text(paper.get("title")) or _text(titles[0] if titles else "")
    pieces = [
        (start, end, kind, number) for name, kind in ANNOTATED.items() for start, end, number in _ranges(annotations.get(name), len(text))
    ]
    parts: list[Part] = []
    within = sorted({(start, end) for start, end, _ in _ranges(annotations.get("abstract"), len(text))})
    if within:
        parts += [Part("head", "Abstract"), *(Part("text", said) for start, end in within if (said := _text(text[start:end])))]
    for start, end, kind, number in sorted(pieces):
        said = _text(text[start:end])
        if not said or any(first <= start and end <= last for first, last in within):
            continue
        if kind == "head" and number and not said.startswith(number):
            said = f"{number} {said}"
        parts.append(Part(kind, said, level=level_of(said) if kind == "head" else 1))
    if not any(part.kind == "text" for part in parts):
        parts += [Part("text", said) for block in text.split("\n\n") if (said := _text(block))]
    references = paper.get("bibliography")
    if isinstance(references, dict) and isinstance(references.get("text"), str):
        own, marks = references["text"], references.get("annotations")
        marks = marks if isinstance(marks, dict) else {}
        entries = [entry for name in ("bib_entry", "bibentry") for entry in _ranges(marks.get(name), len(own))]
        parts += [Part("reference", _text(own[start:end])) for start, end, _ in sorted(entries)]
    return document_of(parts, title=title, front=_front(paper, title))


def _ranges(value: Any, length: int) -> Iterator[tuple[int, int, str]]:
    """Annotations as their ranges and their numbers: a list, or JSON of one. What is out of the text is left out."""
    try:
        items = json.loads(value) if isinstance(value, str) else value
    except (ValueError, RecursionError):
        items = None
    for item in items if isinstance(items, list) else ():
        try:
            start, end = int(_field(item, "start")), int(_field(item, "end"))
        except (TypeError, ValueError):
            continue
        if 0 <= start < end <= length:
            yield start, end, _text(_field(_field(item, "attributes"), "n"))


def _front(paper: Mapping[str, Any], title: str) -> str:
    ids: dict[str, Any] = next((paper[name] for name in ("externalids", "externalIds") if isinstance(paper.get(name), dict)), {})
    known = {**ids, "doi": paper.get("doi"), "arxiv": paper.get("arxiv_id")}
    return " ".join([*(f"{name.lower()}:{value}" for name, value in known.items() if value), title])


def _field(value: Any, name: str) -> Any:
    return value.get(name) if isinstance(value, dict) else None


def _text(value: Any) -> str:
    return " ".join(str(value).split()) if isinstance(value, str | int) else ""

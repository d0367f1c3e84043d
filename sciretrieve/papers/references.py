"""What a paper cites, as its columns say it: lists of ids, objects with ids, JSON, or ids in one text. Each reference has one name or more.

A name is a DOI, arXiv number, PubMed, OpenAlex or Semantic Scholar id in one form with its kind before it, "doi:10.1000/abc"; else the text
as it is given, which may be the id of a paper.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..base.types import Rows
from ..files.schema import letters
from . import identifiers

REFERENCES = (
    *("references", "referencedworks", "outboundcitations", "outcitations", "referenceids", "citedids", "citedpapers", "cites"),
    *("reference", "citedreferences"),
)
"""Columns with what a paper cites, by their letters, best first: of Semantic Scholar, PubMed, OpenAlex, S2ORC, Crossref and others."""
OBJECTS = frozenset({"citedpaper", "externalids", "ids"})
"""Fields of a reference, or of a paper, that are objects with ids."""

PUBMED = ("id", "pmid")
"""The columns that are equal where a paper comes from PubMed, whose references are bare numbers."""

MARKS = re.compile(r"\s*[;|,\n]\s*")
SIGNED = re.compile(r"\b(doi|arxiv|pmid|corpusid)\s*:\s*", re.IGNORECASE)
"""What an identifier may have before it: without a blank after it, it is one word."""
IN_PROSE = re.compile(identifiers.REGISTRANT + r"/[^\s\"<>]+|arxiv:[^\s,;)\]]+|pmid:\d+|https?://[^\s\"<>]+", re.IGNORECASE)
OPENALEX = re.compile(r"(?:(?i:(?:https?://)?(?:api\.)?openalex\.org/(?:works/)?w)|W)(\d+)")
SEMANTIC_SCHOLAR = re.compile(r"(?:https?://)?(?:www\.)?(?:api\.)?semanticscholar\.org/\S*?([0-9a-f]{40})", re.IGNORECASE)
LIKELY = (
    rf"(?i){identifiers.REGISTRANT}/"
    + r"|arxiv|doi|pmid|pubmed|openalex|semanticscholar|corpusid|^\d{4}\.\d{4,5}(v\d+)?$|^[a-z-]+(\.[a-z]{2})?/\d{7}"
)
"""What every DOI, arXiv number and PubMed id contains. A text without it, as most are, is taken as it is."""


def _corpus_id(text: str) -> str | None:
    return text if text.isascii() and text.isdigit() else None


KINDS: Mapping[str, Callable[[str], str | None]] = {
    "doi": identifiers.doi,
    "arxiv": identifiers.arxiv,
    "pmid": identifiers.pmid,
    "corpusid": _corpus_id,
}
"""Kinds of identifiers that have fields of their own, and what reads one from a text."""


IDENTIFIER = rf"^(?:{'|'.join([*KINDS, 'openalex'])}):|^[0-9a-f]{{40}}$"
"""Names that are known elsewhere, too: identifiers with their kind, and Semantic Scholar's."""


@dataclass(frozen=True, slots=True)
class Form:
    """The usual form of an identifier, which Arrow reads for millions at once: its kind, what may stand before it, and the rest."""

    kind: str
    lead: str
    bare: str


NUMBER = r"^[1-9]\d{0,8}$"
FORMS = (
    Form("doi", f"^{identifiers.DOI_ADDRESS}", rf"^{identifiers.REGISTRANT}/[^\s%a][^\s%]*[^\s%.,;]$"),
    Form("openalex", r"^https://openalex\.org/", r"^W\d+$"),
)
"""Not DOIs whose last part begins with an a, as in 10.48550/arXiv.1706.03762, which is an arXiv number."""
KIND_OF = {
    **{"doi": "doi", "arxiv": "arxiv", "arxivid": "arxiv", "pmid": "pmid", "pubmed": "pmid", "pubmedid": "pmid"},
    **{"corpusid": "corpusid", "s2corpusid": "corpusid"},
}
"""Fields, by their letters, with identifiers of a kind, those first that are the same in every source."""
ANY = ("id", "paperid", "docid", "docno", "documentid", "openalex", "openalexid", "citekey", "sha")
"""Fields, by their letters, with ids of any kind. Not `key`: Crossref's is the place in the list."""
FIELDS = (*KIND_OF, *ANY)
"""All fields with a paper's names, in the order in which they are asked."""
LABELS = ("title", "articletitle", "unstructured", "volumetitle", "journaltitle")
"""Fields, by their letters, that say in words what is cited, best first."""


@dataclass(frozen=True, slots=True)
class Reference:
    """One reference of a paper: all its names, those first that are the same in every source; and what it says in words, or ""."""

    names: tuple[str, ...]
    label: str = ""

    def __str__(self) -> str:
        """What it says in words, and its first name."""
        return " · ".join(dict.fromkeys(filter(None, (self.label, *self.names[:1]))))


@dataclass(frozen=True, slots=True)
class References:
    """References of a table's papers: of each the row of the paper in the table, (n,), and columns of names, each (n,), some missing."""

    citing: Rows
    names: Sequence[pa.DictionaryArray]


def reference_columns(schema: pa.Schema) -> list[str]:
    """The columns of papers with what they cite, best first. Numbers are counts of references, and no column of them."""
    ranked = [(REFERENCES.index(letters(field.name)), field.name) for field in schema if letters(field.name) in REFERENCES]
    return [name for _, name in sorted(ranked) if _may_hold(schema.field(name).type)]


def _may_hold(kind: pa.DataType) -> bool:
    return bool(pa.types.is_nested(kind) or pa.types.is_string(kind) or pa.types.is_large_string(kind))


def name_of(text: str) -> str:
    """The name that a text is: an identifier in its one form, with its kind before it, or the text itself.

    >>> name_of("https://doi.org/10.1000/ABC"), name_of("https://openalex.org/W12"), name_of("kipf2017semi")
    ('doi:10.1000/abc', 'openalex:W12', 'kipf2017semi')
    """
    if number := identifiers.arxiv(text):
        return f"arxiv:{number}"
    if doi := identifiers.doi(text):
        return f"doi:{doi}"
    if not text.isdigit() and (number := identifiers.pmid(text)):
        return f"pmid:{number}"
    if match := OPENALEX.fullmatch(text):
        return f"openalex:W{match[1]}"
    if match := SEMANTIC_SCHOLAR.fullmatch(text):
        return match[1].lower()
    return f"corpusid:{text[9:].strip()}" if text[:9].lower() == "corpusid:" else text


def name_of_kind(field: str, text: str) -> str | None:
    """The name in a field, by its letters, of a paper or a reference; None if it does not hold what it says."""
    kind = KIND_OF.get(field)
    if kind is None:
        return name_of(text) if text else None
    if kind == "doi" and (number := identifiers.arxiv(text)):  # 10.48550/arXiv.1706.03762
        return f"arxiv:{number}"
    value = KINDS[kind](text)
    return f"{kind}:{value}" if value else None


def references_in(value: Any) -> Iterator[Reference]:
    """The references that a value of a column holds.

    The value is a list of ids, or of objects with ids; or the same as JSON; or ids in one text, between blanks, or between commas,
    semicolons or bars. Of a text with both blanks and marks, which is prose, only the identifiers count. A number alone is a count.
    """
    if isinstance(value, str):
        yield from _in_text(value)
    elif isinstance(value, Mapping):
        if reference := _in_object(value):
            yield reference
    elif isinstance(value, list | tuple):
        for item in value:
            if isinstance(item, str):
                yield from _in_text(item) if item.startswith('{"') else _in_line(item)
            elif _is_text(item):
                yield Reference((_text(item),))
            else:
                yield from references_in(item)


def _in_text(text: str) -> Iterator[Reference]:
    text = text.strip()
    if text[:1] in ("[", "{"):
        try:
            value = json.loads(text)
        except (ValueError, RecursionError):
            pass
        else:
            yield from references_in(value)
            return
    text = SIGNED.sub(r"\1:", text)
    parts = [part for part in MARKS.split(text) if part]
    if any(len(part.split()) > 1 for part in parts):
        parts = IN_PROSE.findall(text) if len(parts) > 1 else text.split()
    if not (len(parts) == 1 and parts[0].isdigit()):
        yield from (Reference((name_of(bare),)) for part in parts if (bare := part.strip("()[]").rstrip(".")))


def _in_line(text: str) -> Iterator[Reference]:
    """A list's item: an id, or a reference in words, perhaps with identifiers."""
    text = " ".join(text.split())
    line = SIGNED.sub(r"\1:", text)
    if " " not in line:
        if line:
            yield Reference((name_of(line),))
        return
    found = [name_of(part.rstrip(".,;)]")) for part in IN_PROSE.findall(line)]
    yield Reference((*(name for name in found if ":" in name and not name.startswith("http")), text), text)


def _in_object(value: Mapping[str, Any]) -> Reference | None:
    fields = dict(_fields_of(value))
    names = (name_of_kind(field, _text(fields[field])) for field in FIELDS if _is_text(fields.get(field)))
    label = next((" ".join(_text(fields[field]).split()) for field in LABELS if isinstance(fields.get(field), str)), "")
    found = tuple(dict.fromkeys(name for name in names if name))
    return Reference(found, label) if found or label else None


def _fields_of(value: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """The fields of an object by their letters, and of those of its objects that have ids; the outer ones win."""
    for key, item in value.items():
        if isinstance(item, Mapping) and letters(key) in OBJECTS:
            yield from _fields_of(item)
    yield from ((letters(key), item) for key, item in value.items() if item is not None and not isinstance(item, Mapping))


def references_of(row: Mapping[str, Any], columns: Iterable[str]) -> Iterator[Reference]:
    """The references of one paper, given with all its columns, in those of the given ones that it has: as `read` finds them."""
    from_pubmed = row.get(PUBMED[0]) is not None and row.get(PUBMED[0]) == row.get(PUBMED[1])
    for reference in (reference for name in columns for reference in references_in(row.get(name))):
        if reference.names and from_pubmed:
            numbered = (f"pmid:{name}" if re.fullmatch(NUMBER, name) else name for name in reference.names)
            yield replace(reference, names=tuple(numbered))
        else:
            yield reference


def _is_text(value: Any) -> bool:
    return isinstance(value, str | int | float) and not isinstance(value, bool)


def _text(value: Any) -> str:
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value).strip()


def read(table: pa.Table, columns: Iterable[str]) -> Iterator[References]:
    """The references of a table's papers in those of the given columns that it has: lists and objects by Arrow, others one by one."""
    from_pubmed = (
        pc.fill_null(pc.equal(*map(table.column, PUBMED)), False).combine_chunks() if set(PUBMED) <= set(table.column_names) else None
    )
    for name in columns:
        for chunk, first in _chunks(table[name]) if name in table.column_names else ():
            references = _read(chunk, first)
            if from_pubmed is not None and pc.any(from_pubmed).as_py():
                references = replace(references, names=[_numbered(names, references.citing, from_pubmed) for names in references.names])
            yield references


def _numbered(names: pa.DictionaryArray, citing: Rows, from_pubmed: pa.BooleanArray) -> pa.DictionaryArray:
    """The names with the bare numbers in papers from PubMed as PubMed ids: elsewhere a number may be anything."""
    texts = names.dictionary_decode()
    is_number = pc.and_(from_pubmed.take(pa.array(citing)), pc.match_substring_regex(texts, NUMBER))
    return pc.if_else(is_number, pc.binary_join_element_wise("pmid:", texts, ""), texts).dictionary_encode()


def _chunks(column: pa.ChunkedArray) -> Iterator[tuple[pa.Array, int]]:
    first = 0
    for chunk in column.chunks:
        yield chunk, first
        first += len(chunk)


def _read(column: pa.Array, first: int) -> References:
    kind = column.type
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        citing = first + pc.list_parent_indices(column).to_numpy().astype(np.int64)
        items = column.flatten()
        if pa.types.is_integer(items.type) or (pa.types.is_string(items.type) and not _has_blanks(items)):
            return References(citing, [named("id", items)])
        if pa.types.is_struct(items.type):
            return References(citing, list(name_columns(items)))
    citing_list: list[int] = []
    names: list[tuple[str, ...]] = []
    for row, value in enumerate(column.to_pylist(), first):
        for reference in references_in(value):
            citing_list.append(row)
            names.append(reference.names)
    width = max(map(len, names), default=0)
    padded = [pa.array([own[place] if place < len(own) else None for own in names], pa.string()) for place in range(width)]
    return References(np.array(citing_list, np.int64), [column.dictionary_encode() for column in padded])


def _has_blanks(texts: pa.Array) -> bool:
    return bool(pc.any(pc.match_substring_regex(texts, r"\S\s+\S")).as_py())


def name_columns(values: pa.StructArray) -> Iterator[pa.DictionaryArray]:
    """The names of objects, a column for each of their fields that has some, in the order of `FIELDS`."""
    leaves = dict(_leaves(values))
    for field in FIELDS:
        if field in leaves:
            yield named(field, leaves[field])


def _leaves(values: pa.StructArray) -> Iterator[tuple[str, pa.Array]]:
    children = dict(zip([field.name for field in values.type], values.flatten(), strict=True))
    for key, child in children.items():
        if pa.types.is_struct(child.type) and letters(key) in OBJECTS:
            yield from _leaves(child)
    for key, child in children.items():
        if not pa.types.is_nested(child.type) and not pa.types.is_null(child.type):
            yield letters(key), child


def named(field: str, values: pa.Array | pa.ChunkedArray) -> pa.DictionaryArray:
    """The names that values of a field are, (n,), each different value looked at once; missing where a value is none."""
    encoded = _strings(values).dictionary_encode()
    texts, kind = encoded.dictionary, KIND_OF.get(field, "")
    names = pa.nulls(len(texts), pa.string())
    for form in FORMS:
        if kind in ("", form.kind):
            bare = pc.replace_substring_regex(pc.utf8_lower(texts) if form.kind == "doi" else texts, form.lead, "")
            names = pc.if_else(pc.match_substring_regex(bare, form.bare), pc.binary_join_element_wise(f"{form.kind}:", bare, ""), names)
    unread = pc.is_null(names)
    if not kind:
        names = pc.coalesce(names, pc.if_else(pc.equal(texts, ""), None, texts))
        unread = pc.and_(unread, pc.match_substring_regex(texts, LIKELY))
    read = [name_of_kind(field, text) for text in texts.filter(unread).to_pylist()]
    names = pc.replace_with_mask(names, unread, pa.array(read, pa.string()))
    return pa.DictionaryArray.from_arrays(encoded.indices, names)


def _strings(values: pa.Array | pa.ChunkedArray) -> pa.Array:
    if isinstance(values, pa.ChunkedArray):
        values = values.combine_chunks()
    if pa.types.is_floating(values.type):
        return pa.array([None if value is None else _text(value) for value in values.to_pylist()], pa.string())
    return pc.utf8_trim_whitespace(values.cast(pa.string()))

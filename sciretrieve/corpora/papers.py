"""From a source's own columns to papers: names recognised or mapped, values brought to one type, bad rows rejected."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from ..errors import InvalidRequest, UnknownName
from ..schema import FIELD_NAMES, PAPER_FIELDS, column_from
from .raw import RawBatch, Rejected
from .seen import SeenIds

ALIASES: Mapping[str, tuple[str, ...]] = {
    "id": ("id", "_id", "paper_id", "paperid", "corpusid", "corpus_id", "doc_id", "docid", "docno", "document_id")
    + ("pmid", "arxiv_id", "arxivid", "cord_uid", "citekey", "key", "doi"),
    "title": ("title", "paper_title", "display_name", "article_title", "document_title"),
    "abstract": ("abstract", "text", "summary", "paperabstract", "paper_abstract", "abstract_text", "description"),
    "year": ("year", "publication_year", "pub_year", "publicationyear", "published_year", "publication_date")
    + ("publicationdate", "publish_time", "published", "pub_date", "pubdate", "date", "update_date"),
    "venue": ("venue", "journal", "booktitle", "journal_name", "container_title", "container-title", "journal-ref")
    + ("journal_ref", "conference", "source_title", "publication_title"),
    "authors": ("authors", "author", "author_names", "authorships", "creators"),
    "doi": ("doi",),
    "url": ("url", "link", "paper_url"),
}
"""Column names recognised without mapping, best first, compared without regard to case."""

YEAR = re.compile(r"(?:^|\D)(1[4-9]\d\d|20\d\d)(?:\D|$)")


@dataclass(frozen=True, slots=True)
class ColumnMap:
    """The columns that the user named for a field; None leaves it to `ALIASES`."""

    id: str | None = None
    title: str | None = None
    abstract: str | None = None
    year: str | None = None
    venue: str | None = None
    authors: str | None = None

    def resolve(self, source: str, columns: list[str]) -> dict[str, str]:
        """Field -> column for one source. Raises InvalidRequest where there is no id, or neither title nor abstract."""
        lowered = {column.lower(): column for column in reversed(columns)}
        found = {}
        for field, aliases in ALIASES.items():
            found[field] = next((lowered[alias] for alias in aliases if alias in lowered), None)
        for named in fields(self):
            column = getattr(self, named.name)
            if column is not None and column not in columns:
                raise UnknownName(f"column (for --{named.name}) of {source}", column, columns)
            found[named.name] = column or found[named.name]
        listed = ", ".join(columns[:12])
        if found["id"] is None:
            raise InvalidRequest(f"{source} has no id column among {listed}; name it with --id COLUMN")
        if found["title"] is None and found["abstract"] is None:
            raise InvalidRequest(
                f"{source} has neither a title nor an abstract column among {listed}; name them with --title and --abstract"
            )
        return {field: column for field, column in found.items() if column is not None}


def papers(batches: Iterator[RawBatch], columns: ColumnMap, textless: bool) -> Iterator[tuple[pa.Table, list[Rejected]]]:
    """Turn raw batches into tables with the columns of `PAPER_FIELDS` first, and the rows that were rejected.

    Rejected are rows without an id, those without both title and abstract (unless `textless`), and those whose id an
    earlier row has.
    """
    seen = SeenIds()
    for batch in batches:
        if batch.table.num_rows == 0:
            yield pa.schema(PAPER_FIELDS).empty_table(), batch.rejected
            continue
        table = _canonical(batch, columns)
        ids = table["id"].to_pylist()
        empty = pc.and_(not textless, pc.and_(pc.equal(table["title"], ""), pc.equal(table["abstract"], ""))).to_pylist()
        new = iter(seen.add([id for id, blank in zip(ids, empty, strict=True) if id and not blank]))
        rejected = list(batch.rejected)
        for id, blank, number in zip(ids, empty, batch.rows, strict=True):
            if not id:
                rejected.append(Rejected(batch.source, number, "no id"))
            elif blank:
                rejected.append(Rejected(batch.source, number, "no title and no abstract", id))
            elif not next(new):
                rejected.append(Rejected(batch.source, number, "duplicate id", id))
        dropped = {item.row for item in rejected}
        mask = pa.array([number not in dropped for number in batch.rows])
        yield table.filter(mask), sorted(rejected, key=lambda item: item.row)


def _canonical(batch: RawBatch, columns: ColumnMap) -> pa.Table:
    table = batch.table
    found = columns.resolve(batch.source, table.column_names)
    out: dict[str, Any] = {}
    for field in PAPER_FIELDS:
        raw = table[found[field.name]] if field.name in found else pa.nulls(table.num_rows)
        out[field.name] = CONVERTERS[field.name](raw).cast(field.type)
    for name in table.column_names:
        if name not in found.values():
            # a column that has a field's name but was not mapped to it keeps its values under a name of its own
            out[f"{name}_" if name in FIELD_NAMES else name] = _typed(table[name]) if batch.untyped else _decoded(table[name])
    return pa.table(out)


def _decoded(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """The values of a dictionary-encoded column (pandas's categories) themselves."""
    return column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column


def _typed(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Texts as integers if all print the same as such (007 stays text), as decimals if all are numbers."""
    if column.type != pa.string() or column.null_count == len(column):
        return column
    try:
        typed = column.cast(pa.int64())
        return typed if pc.all(pc.equal(typed.cast(pa.string()), column)).as_py() else column
    except pa.ArrowInvalid:
        pass
    try:
        return column.cast(pa.float64())
    except pa.ArrowInvalid:
        return column


def _ids(column: pa.ChunkedArray) -> pa.Array:
    if pa.types.is_floating(column.type):
        # whole numbers become floats where pandas met a missing one: 7.0 and NaN are 7 and nothing
        column = pc.if_else(pc.is_finite(column), column, None)
        if pc.all(pc.equal(pc.floor(column), column), min_count=0).as_py():
            column = column.cast(pa.int64(), safe=False)
    return pc.utf8_trim_whitespace(pc.fill_null(_strings(column), ""))


def _texts(column: pa.ChunkedArray) -> pa.Array:
    if pa.types.is_list(column.type) or pa.types.is_large_list(column.type):
        parts = (value if value is not None else [] for value in column.to_pylist())
        column = pa.array([" ".join(str(part) for part in part_list if part) for part_list in parts], pa.string())
    return pc.utf8_trim_whitespace(pc.fill_null(_strings(column), ""))


def _optional(column: pa.ChunkedArray) -> pa.Array:
    trimmed = pc.utf8_trim_whitespace(_strings(column))
    return pc.if_else(pc.equal(trimmed, ""), None, trimmed)


def _strings(column: pa.ChunkedArray) -> pa.ChunkedArray | pa.Array:
    if pa.types.is_null(column.type):
        return pa.nulls(len(column), pa.string())
    try:
        return column.cast(pa.string())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return column_from([None if value is None else str(value) for value in column.to_pylist()]).cast(pa.string())


def _years(column: pa.ChunkedArray) -> pa.Array:
    if pa.types.is_temporal(column.type):
        return pc.year(column)
    texts = _strings(column.cast(pa.int64(), safe=False) if pa.types.is_floating(column.type) else column)
    matches = (YEAR.search(text) if text else None for text in texts.to_pylist())
    return pa.array([int(match[1]) if match else None for match in matches], pa.int32())


def _authors(column: pa.ChunkedArray) -> pa.Array:
    return pa.array([author_names(value) for value in column.to_pylist()], pa.list_(pa.string()))


def author_names(value: Any) -> list[str]:
    """Authors as a list of names, from a list of names, a list of objects with a name, or one string.

    A string is split at semicolons or bars, else at " and ", else at commas if every part holds a full name
    ("Ada Lovelace, Alan Turing" are two people, "Lovelace, Ada" is one).
    """
    if value is None:
        return []
    if isinstance(value, str):
        for separator in (r"[;|]", r"\s+and\s+"):
            parts = [part.strip() for part in re.split(separator, value) if part.strip()]
            if len(parts) > 1:
                return parts
        parts = [part.strip() for part in value.split(",") if part.strip()]
        return parts if len(parts) > 1 and all(" " in part for part in parts) else [value.strip()] if parts else []
    if isinstance(value, Mapping):
        author = value.get("author")  # OpenAlex nests the author in an authorship
        nested: Mapping[str, Any] = author if isinstance(author, Mapping) else value
        name = nested.get("name") or nested.get("display_name")
        name = name or " ".join(str(part) for part in (nested.get("first"), nested.get("last")) if part)
        return [str(name)] if name else []
    if not isinstance(value, list | tuple):
        return [str(value)]
    return [name for item in value for name in ([item] if isinstance(item, str) else author_names(item)) if name]


CONVERTERS = {
    "id": _ids,
    "title": _texts,
    "abstract": _texts,
    "year": _years,
    "venue": _optional,
    "authors": _authors,
    "doi": _optional,
    "url": _optional,
}

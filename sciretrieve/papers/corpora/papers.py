"""From a source's own columns to papers: names recognised or mapped, values brought to one type, bad rows rejected."""

from __future__ import annotations

import json
import operator
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from hashlib import blake2b
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ...base.characters import clean
from ...files.schema import FIELD_NAMES, PAPER_FIELDS, column_from, is_bytes, is_list, is_text, letters
from ...options import ColumnMap
from .. import identifiers
from ..bibliographies.author_names import MORE_AUTHORS, PARTS
from ..bibliographies.keywords import COLUMNS as KEYWORDS
from ..printed import printed
from .columns import INVERTED, Fields, resolved, uninverted
from .ids import SeenIds, are_others, own_id, warn_of_own_ids, works_of
from .markup import PLACEHOLDERS, plain_column, without_placeholders
from .people import FIELDS as NAME_FIELDS
from .people import NAMES, NO_PLAIN_NAME, People, people_in
from .raw import MOST_COLUMNS, RawBatch, Rejected, too_many_columns

YEAR = re.compile(r"(?:^|\D)(1[4-9]\d\d|20\d\d)(?:\D|$)")
EARLY_YEAR = re.compile(r"(?!-9{3,4}$)-0?[1-9]\d{2,3}|0[1-9]\d\d|1[0-3]\d\d")
"""A year that is no other number only where it is all that there is: of an old manuscript, or before Christ."""
ROW_NUMBERS = re.compile(r"__index_level_\d+__")
"""The columns in which pandas keeps the rows' numbers in a Parquet file of a table that was filtered or sorted."""
SEPARATOR = "; "
"""What exports put between the values of a list in a cell."""
EDITORS, DATE = "editors", "date"
EDITOR_COLUMNS = {"editors", "editor", "editornames", "bookeditors"}
"""Columns with editors, by their letters."""
EXACT_DATE = r"(?i)\d{4}\s*[-/]\s*\d|\d{4}[.]\s?\d{1,2}[.]|\d[-/.]\d{4}|\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)"
"""A date of more than a year."""
LONGEST_NOTE = 10_000
LEAST_SECONDS, MOST_SECONDS = 100_000_000, 100_000_000_000
"""Numbers above which a date is no year and no day such as 20190501, but seconds; and milliseconds."""
NAME_KEYS = ("display_name", "name", "title")
"""The keys with the name of an object in place of a text, such as a journal with its volume and pages."""


@dataclass(frozen=True, slots=True)
class Identifier:
    """A kind of identifier: a function that reads it, the pattern of its final form, and a pattern of texts that may hold one."""

    read: Callable[[str], str | None]
    bare: str
    sign: str


PLAIN = r"!$%()*+/0-9:=@\[\\\]^_a-z{|}~\-"
"""Characters of most DOIs, of which none has to be replaced or may be of what stands around one."""
IDENTIFIERS = {
    "doi": Identifier(
        identifiers.doi,
        rf"^{identifiers.REGISTRANT}/[{PLAIN}.]*[{PLAIN}]$",
        r"(?i)^\W?10\.|doi[:./]|/10\.\d{4}",
    ),
    "arxiv": Identifier(identifiers.arxiv, r"^\d{4}\.\d{4,5}$", "(?i)arxiv"),
    "pmid": Identifier(identifiers.pmid, r"^[1-9]\d{0,8}$", r"(?i)pmid|ncbi\.nlm"),
    "pmcid": Identifier(identifiers.pmcid, r"^PMC[1-9]\d{0,8}$", r"(?i)pmc"),
}
"""By their columns; all but the first are further columns, present where a paper has one."""
NOTES = {
    "note",
    "notes",
    "extra",
    "annote",
    "howpublished",
    "archiveid",
    "comment",
    "number",
    "volume",
    "journal",
    "publicationtitle",
    "eprint",
}
"""Further columns, by their letters, in which people put identifiers, each on a line of its own."""
NOTED = r"(?i)arxiv|pmid|pmcid|doi|\babs/"


@dataclass(frozen=True, slots=True)
class Batch:
    """Some papers of one source, with the columns of `PAPER_FIELDS` first; the source's columns for each field; the rejected rows; and
    whether ids are such as other sources give to other papers, see `RawBatch`."""

    source: str
    papers: pa.Table
    fields: Fields
    rejected: list[Rejected]
    has_weak_ids: bool = False


def papers(batches: Iterator[RawBatch], columns: ColumnMap, textless: bool) -> Iterator[Batch]:
    """Turn raw batches into papers.

    Rows are rejected that have neither title nor abstract (unless `textless`), or the id of an earlier row of the same paper; another paper
    gets an id of its own, see `ids`. A row without an id gets one from what it says, the same in every order and beside any other rows.
    """
    seen_ids = SeenIds()
    renamed: list[tuple[str, str]] = []
    names: dict[str, str] = {}
    for batch in batches:
        if batch.table.num_rows == 0:
            yield Batch(batch.source, pa.schema(PAPER_FIELDS).empty_table(), {}, _without_other_ids(batch.rejected, columns))
            continue
        fields = resolved(columns, batch.source, batch.table.column_names)
        table = _canonical(batch, fields, names)
        ids = table["id"].to_pylist()
        blank_flags = pc.and_(not textless, pc.and_(pc.equal(table["title"], ""), pc.equal(table["abstract"], ""))).to_pylist()
        blank_flags = [blank or not id for id, blank in zip(ids, blank_flags, strict=True)]  # without a text, no id was made
        has_weak_ids = batch.has_weak_ids and columns.id is None
        count = len(renamed)
        new_flags = iter(_with_own_ids(seen_ids, table, ids, blank_flags, has_weak_ids, renamed))
        if len(renamed) > count:
            table = table.set_column(0, "id", pa.array(ids, pa.string()))
        rejected = _without_other_ids(batch.rejected, columns)
        for id, blank, number in zip(ids, blank_flags, batch.rows, strict=True):
            if blank:
                rejected.append(Rejected(batch.source, number, "no title and no abstract", id or None))
            elif not next(new_flags):
                rejected.append(Rejected(batch.source, number, "duplicate id", id))
        rejected_rows = {item.row for item in rejected}
        for name in table.column_names:
            for place in _unreadable(table[name]):
                if batch.rows[place] not in rejected_rows:
                    rejected.append(Rejected(batch.source, batch.rows[place], f"a date or time in {name!r} is out of range", ids[place]))
                    rejected_rows.add(batch.rows[place])
        mask = pa.array([number not in rejected_rows for number in batch.rows])
        yield Batch(batch.source, table.filter(mask), fields, sorted(rejected, key=lambda item: item.row), has_weak_ids)
    warn_of_own_ids(batch.source if renamed else "", renamed)


def _with_own_ids(
    seen_ids: SeenIds, table: pa.Table, ids: list[str], blank_flags: Sequence[bool], is_weak: bool, renamed: list[tuple[str, str]]
) -> list[bool]:
    """Whether the ids of rows with a text are new to a corpus. Those of papers whose ids others have are replaced in `ids`, and listed in
    `renamed`."""
    places = [place for place, blank in enumerate(blank_flags) if not blank]
    papers = table.select(["title", "authors"]).take(pa.array(places, pa.int64()))
    works, titles = works_of(papers), papers["title"].to_pylist()
    is_new, holders = seen_ids.add([ids[place] for place in places], works)
    others = np.flatnonzero(~is_new & are_others(works, holders, titles, is_weak)).tolist()
    if others:
        authors = papers["authors"].to_pylist()
        own_ids = [own_id(ids[places[number]], titles[number], authors[number] or []) for number in others]
        renamed += zip([ids[places[number]] for number in others], own_ids, strict=True)
        is_new[others], _ = seen_ids.add(own_ids, works[others])
        for number, new_id in zip(others, own_ids, strict=True):
            ids[places[number]] = new_id
    return list(is_new.tolist())


def first(batches: Iterator[Batch], limit: int | None) -> Iterator[Batch]:
    """Batches up to so many papers, or all of them."""
    left = limit
    for batch in batches:
        yield batch if left is None else replace(batch, papers=batch.papers.slice(0, left))
        if left is not None and (left := left - len(batch.papers)) <= 0:
            return


def _without_other_ids(rejected: Sequence[Rejected], columns: ColumnMap) -> list[Rejected]:
    """Rows that a format's reader rejected; if another column holds the ids, those that it took are dropped."""
    return [replace(row, id=None) for row in rejected] if columns.id is not None else list(rejected)


def _canonical(batch: RawBatch, fields: Fields, names: dict[str, str]) -> pa.Table:
    """A batch with the columns of `PAPER_FIELDS`, then its others.

    `names` maps the other columns of the whole corpus to their new names, and is extended here: a column that is named like a
    field, but is not the first source of that field, gets a free name, and keeps it in all batches.
    """
    table = pa.Table.from_arrays([_storable(column) for column in batch.table.columns], batch.table.column_names)
    out: dict[str, Any] = {}
    people: dict[str, Any] = {}
    for field in PAPER_FIELDS:
        columns = fields.get(field.name, ())
        if field.name == "authors":
            out["authors"], people = _people(table, columns, "authors")
            continue
        values = _first_present(table, columns, field) if columns else pa.nulls(table.num_rows, field.type)
        out[field.name] = values if field.name == "id" else cleaned(values)  # other files name papers by their ids as they are
    out["title"], out["abstract"] = pc.fill_null(out["title"], ""), pc.fill_null(out["abstract"], "")
    out |= _identifiers(out, table, fields)
    out["id"] = _with_made_ids(out)
    # of an object, such as a journal with its volume, or an author with an id, the field has only the name
    source_columns = {
        columns[0]
        for field, columns in fields.items()
        if columns[0] == INVERTED
        or not (
            _is_object(table, columns[0])
            or _is_shortened(table, columns[0], out, field)
            or (field == "year" and (columns[0] in names or _has_dates(table, columns[0])))
        )
    }
    if editors := _editor_columns(table):
        out[EDITORS], parts = _people(table, editors, EDITORS)
        people |= parts
        source_columns |= {name for name in editors if not _is_object(table, name)}
    gone = source_columns | {name for name in PARTS.values() if _has_parts(table, name)} | ({MORE_AUTHORS} if _says_more(table) else set())
    other_columns = [name for name in table.column_names if name not in gone and not ROW_NUMBERS.fullmatch(name)]
    used_names, others = {*FIELD_NAMES, *IDENTIFIERS, *people, EDITORS, *names.values()}, set(other_columns)
    for name in other_columns:
        if name not in names:
            new_name = DATE if name == "year" else name  # a column of the year that has months, too
            while new_name in used_names or (new_name != name and new_name in others):
                new_name += "_"
            names[name] = new_name
            used_names.add(new_name)
    if len(names) > MOST_COLUMNS:
        raise too_many_columns(len(names))
    for name in other_columns:
        values = plain_column(table[name]) if letters(name) in KEYWORDS else table[name]
        out[names[name]] = cleaned(_typed(without_placeholders(values)) if batch.untyped else values)
    return pa.table(out | people)


def _identifiers(out: Mapping[str, Any], table: pa.Table, fields: Fields) -> dict[str, pa.Array | pa.ChunkedArray]:
    """The columns of `IDENTIFIERS`: from the source's own, else from a DOI, a URL or an id that says one. A DOI that is none stays."""
    columns = {}
    for name, identifier in IDENTIFIERS.items():
        own = out["doi"] if name == "doi" else _first_present(table, fields.get(name, ()), pa.field(name, pa.string()))
        is_bare = pc.match_substring_regex(own, identifier.bare)
        values = pc.if_else(is_bare, own, pa.scalar(None, pa.string()))
        values = _with_read(values, own, pc.invert(is_bare), identifier.read)
        for texts in (out["doi"], out["url"], out["id"]) if values.null_count else ():
            is_likely = pc.and_(pc.is_null(values), pc.match_substring_regex(texts, identifier.sign))
            values = _with_read(values, texts, is_likely, identifier.read)
        for column in _notes(table) if values.null_count else ():
            is_likely = pc.and_(pc.is_null(values), pc.match_substring_regex(column, NOTED))
            values = _with_read(values, column, is_likely, partial(_noted, read=identifier.read))
        if name == "doi":
            values = pc.coalesce(values, own)
        if name == "doi" or values.null_count < len(values):
            columns[name] = values
    return columns


def _notes(table: pa.Table) -> list[pa.ChunkedArray]:
    return [table[name] for name in table.column_names if letters(name) in NOTES and is_text(table[name].type)]


def _noted(text: str, read: Callable[[str], str | None]) -> str | None:
    """What a note says on a line of its own, or between semicolons, after its name: `PMID: 31452104`, `arXiv:1512.03385 [cs]`."""
    lines = (line.strip() for line in re.split(r"[\r\n]+|;\s", text[:LONGEST_NOTE]))
    return next((value for line in lines if not line.isdigit() and (value := read(line))), None)


def _with_read(
    values: pa.ChunkedArray, texts: pa.ChunkedArray, wanted: pa.ChunkedArray, read: Callable[[str], str | None]
) -> pa.Array | pa.ChunkedArray:
    """`values`, and where they are wanted, what `read` makes of the texts."""
    if not pc.any(wanted).as_py():
        return values
    pairs = zip(texts.to_pylist(), wanted.to_pylist(), strict=True)
    return pc.coalesce(values, pa.array([read(text) if text and is_wanted else None for text, is_wanted in pairs], pa.string()))


def _is_shortened(table: pa.Table, column: str, out: Mapping[str, Any], field: str) -> bool:
    """Whether a column says more than the arXiv or PubMed ids made of it: a version, another archive's number."""
    if field not in IDENTIFIERS or field == "doi" or column not in table.column_names:
        return False
    texts = _optional(table[column])
    return field not in out or texts.to_pylist() != pc.if_else(pc.is_valid(texts), out[field], None).to_pylist()


def _has_dates(table: pa.Table, column: str) -> bool:
    """Whether a column of the year says more than years."""
    if column not in table.column_names:
        return False
    values = table[column]
    if pa.types.is_temporal(values.type):
        return bool(values.null_count < len(values))
    return is_text(values.type) and bool(pc.any(pc.match_substring_regex(values, EXACT_DATE)).as_py())


def _with_made_ids(out: Mapping[str, Any]) -> pa.Array:
    """The ids, and for rows without one, if they have any text, a digest of all that the row says in fields."""
    ids = pc.fill_null(out["id"], "")
    blank = pc.equal(ids, "")
    if not pc.any(blank).as_py():
        return ids
    rows = pa.table({name: out[name] for name in (*FIELD_NAMES, *IDENTIFIERS) if name in out and name != "id"}).to_pylist()
    return pa.array(
        [id or (_made_id(row) if row["title"] or row["abstract"] else "") for id, row in zip(ids.to_pylist(), rows, strict=True)],
        pa.string(),
    )


def _made_id(row: Mapping[str, Any]) -> str:
    facts = json.dumps({name: value for name, value in row.items() if value})
    return "made-" + blake2b(facts.encode(), digest_size=10).hexdigest()


def _first_present(table: pa.Table, columns: tuple[str, ...], field: pa.Field) -> pa.Array | pa.ChunkedArray:
    """A field's values, each from the first of `columns` that is not empty in its row."""
    values = pa.nulls(table.num_rows, field.type)
    for name in columns:
        blank = _blank(values)
        if not pc.any(blank).as_py():
            break
        texts = CONVERTERS[field.name](_column(table, name)).cast(field.type)
        values = pc.if_else(blank, _without_no_ids(texts, name) if field.name == "id" else plain_column(texts), values)
    return values


def _without_no_ids(ids: pa.Array, column: str) -> pa.Array:
    """Ids, without those that stand for a missing one; what Excel has made of a long number is none, and no database counts from 0."""
    is_number = any(letters(column).startswith(name) for name in IDENTIFIERS)
    pattern = rf"^({'|'.join(map(re.escape, PLACEHOLDERS))}|\d(?:[.,]\d+)?E\+\d+{'|0+(?:[.]0)?' * is_number})$"
    return pc.if_else(pc.match_substring_regex(ids, pattern), pa.scalar(None, pa.string()), ids)


def _people(table: pa.Table, columns: Sequence[str], field: str) -> tuple[Any, dict[str, Any]]:
    """The names of people in columns, each paper's from the first that has any, as texts; and what else is known of them: the column of
    their parts, and the one that says that there are more, where some paper has such."""
    kind, columns = pa.list_(pa.string()), [name for name in columns if "." in name or name in table.column_names]
    has_parts = _has_parts(table, PARTS[field])
    if (
        len(columns) == 1
        and not has_parts
        and "." not in columns[0]
        and (names := table[columns[0]]).type == kind
        and not (_has_marks(names) or _says_more(table))
    ):
        return cleaned(pc.coalesce(names, pa.scalar([], kind))), {}
    readings: list[People] = [People()] * table.num_rows
    written: list[list[str]] = [[]] * table.num_rows
    for column in (_column(table, name) for name in columns):
        values = column.to_pylist()
        written = [names or _as_exported(value) for value, names in zip(values, written, strict=True)]
        readings = [reading if reading.names else people_in(value) for value, reading in zip(values, readings, strict=True)]
    if has_parts:
        stored = map(people_in, table[PARTS[field]].to_pylist())
        readings = [_in_parts(*row) for row in zip(readings, written, stored, strict=True)]
    texts = cleaned(pa.array([reading.texts for reading in readings], kind))
    parts = [reading.parts for reading in readings]
    more: dict[str, Any] = {}
    if any(parts):
        more[PARTS[field]] = cleaned(pa.array(parts, NAMES))
    if field == "authors":
        given = table[MORE_AUTHORS].to_pylist() if _says_more(table) else [None] * table.num_rows
        if any(flags := [reading.has_more or bool(flag) for reading, flag in zip(readings, given, strict=True)]):
            more[MORE_AUTHORS] = pa.array([flag or None for flag in flags], pa.bool_())
    return texts, more


def _as_exported(value: Any) -> list[str]:
    """A list of names, or a cell of a table as exports join one."""
    return value.split(SEPARATOR) if isinstance(value, str) else [str(one) for one in value] if isinstance(value, list) else []


def _letters_of(names: Sequence[str]) -> list[list[str]]:
    """The letters of each name, which are the same in whatever order its parts stand."""
    return [sorted(filter(str.isalnum, name.casefold())) for name in names]


def _in_parts(reading: People, written: list[str], stored: People) -> People:
    """People in the parts that an export has beside their names, unless the names were changed since."""
    is_unchanged = not reading.names or _letters_of(stored.texts) in (_letters_of(reading.texts), _letters_of(written))
    return People(stored.names, reading.has_more) if stored.names and is_unchanged else reading


def _has_parts(table: pa.Table, name: str) -> bool:
    """Whether a column has names in parts as readers yield and exports print them, not something else of that name."""
    if name not in table.column_names:
        return False
    if not is_text(table[name].type):
        return bool(table[name].type == NAMES)
    values = [printed(value) for value in table[name].to_pylist() if value]
    return bool(values) and all(
        isinstance(people, list) and all(isinstance(one, dict) and one.keys() == NAME_FIELDS for one in people) for people in values
    )


def _editor_columns(table: pa.Table) -> list[str]:
    """The columns with editors, the one of that name first. A number of an edition's or a record's editor is none."""
    names = [
        name for name in table.column_names if letters(name) in EDITOR_COLUMNS and (is_text(kind := table[name].type) or is_list(kind))
    ]
    return sorted(names, key=lambda name: name != EDITORS)


def _says_more(table: pa.Table) -> bool:
    return MORE_AUTHORS in table.column_names and pa.types.is_boolean(table[MORE_AUTHORS].type)


def _has_marks(names: pa.ChunkedArray) -> bool:
    """Whether any of some lists of names has what makes it more than a name in its natural order."""
    return bool(pc.any(pc.match_substring_regex(pc.list_flatten(names), NO_PLAIN_NAME)).as_py()) or names.null_count > 0


def _blank(values: pa.Array | pa.ChunkedArray) -> pa.Array | pa.ChunkedArray:
    if pa.types.is_list(values.type):
        return pc.fill_null(pc.equal(pc.list_value_length(values), 0), True)
    return pc.fill_null(pc.equal(values, ""), True) if pa.types.is_string(values.type) else pc.is_null(values)


def _column(table: pa.Table, path: str) -> pa.ChunkedArray:
    """A column by its name, or a field within a column's objects; an object in place of a text is replaced by its name."""
    name, *inner = [path] if path in table.column_names else path.split(".")
    column = table[name]
    while pa.types.is_struct(column.type) and name != INVERTED:
        keys = [field.name for field in column.type]
        key = next((key for wanted in (inner[:1] or NAME_KEYS) for key in keys if key.lower() == wanted), None)
        if key is None:
            return pa.chunked_array([pa.nulls(len(column))]) if inner else column
        column, inner = pc.struct_field(column, key), inner[1:]
    return column if not inner else pa.chunked_array([pa.nulls(len(column))])


def _is_object(table: pa.Table, name: str) -> bool:
    """Whether a column has objects, or lists of them, that say more than names: authors with their ids and institutions."""
    if name not in table.column_names or table[name].type == NAMES:
        return False
    kind = table[name].type
    return bool(pa.types.is_struct(kind.value_type if pa.types.is_list(kind) else kind))


def cleaned(values: Any) -> Any:
    """An array, or a chunked one, whose texts, those in lists and objects, too, are in the form that they are stored in, see
    `characters.clean`; the same array where they are."""
    if isinstance(values, pa.ChunkedArray):
        chunks = [cleaned(chunk) for chunk in values.chunks]
        return pa.chunked_array(chunks, values.type) if any(map(operator.is_not, chunks, values.chunks)) else values
    kind = values.type
    if is_text(kind):
        flags = pc.fill_null(pc.invert(pc.string_is_ascii(values)), False)
        others = values.filter(flags).to_pylist()
        texts = [clean(text) for text in others]
        return values if texts == others else pc.replace_with_mask(values, flags, pa.array(texts, kind))
    if is_list(kind):
        inner = [values.flatten()]
    elif pa.types.is_struct(kind):
        inner = [values.field(number) for number in range(kind.num_fields)]
    else:
        return values
    return pa.array(map(_cleaned, values.to_pylist()), kind) if any(cleaned(part) is not part for part in inner) else values


def _cleaned(value: Any) -> Any:
    """A text, or all texts of a list or an object."""
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, list):
        return [_cleaned(item) for item in value]
    return {name: _cleaned(item) for name, item in value.items()} if isinstance(value, dict) else value


def _storable(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """A column as Parquet stores it: dictionaries (pandas's categories) decoded, views (Polars's texts) copied, months as texts."""
    kind = column.type
    if isinstance(kind, pa.BaseExtensionType):
        return _storable(pa.chunked_array([chunk.storage for chunk in column.chunks], kind.storage_type))
    if pa.types.is_dictionary(kind) and is_text(kind.value_type):
        column, kind = column.cast(kind.value_type), kind.value_type
    if kind in (pa.string_view(), pa.large_string()):
        return column.cast(pa.string())
    if pa.types.is_float16(kind):  # for which Arrow cannot compute much
        return column.cast(pa.float32())
    if _is_stored(kind):
        return column
    try:
        values = column.to_pylist()
    except ValueError:  # an object has a field twice
        values = [str(value) if value.is_valid else None for value in column]
    is_plain = not pa.types.is_interval(kind)
    return pa.chunked_array([column_from([value if is_plain or value is None else str(value) for value in values])])


def _is_stored(kind: pa.DataType) -> bool:
    """Whether Parquet stores a type, and Arrow computes with it."""
    types = pa.types
    if types.is_struct(kind):
        names = [kind.field(place).name for place in range(kind.num_fields)]
        return 0 < len(names) == len({*names}) and all(_is_stored(kind.field(place).type) for place in range(kind.num_fields))
    if types.is_map(kind) or is_list(kind):
        return all(_is_stored(kind.field(place).type) for place in range(kind.num_fields))
    is_number_or_time = types.is_primitive(kind) and not types.is_interval(kind)
    return bool(is_number_or_time or types.is_null(kind) or types.is_decimal(kind) or is_text(kind) or is_bytes(kind))


def _unreadable(column: pa.ChunkedArray) -> list[int]:
    """The rows with a date or time that Arrow can hold and Python, or a Parquet file, cannot: of the year 300,000, say."""
    if not _has_times(column.type) or _is_readable(column):
        return []
    return [row for row in range(len(column)) if not _is_readable(column.slice(row, 1))]


def _has_times(kind: pa.DataType) -> bool:
    return pa.types.is_temporal(kind) or any(_has_times(kind.field(number).type) for number in range(kind.num_fields))


def _is_readable(column: pa.ChunkedArray) -> bool:
    try:
        column.validate(full=True)
        column.to_pylist()
    except (OverflowError, ValueError, pa.ArrowException):
        return False
    return True


def _typed(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Texts as integers if all survive the round trip (007 stays text), as floats if all are numbers."""
    if column.type != pa.string() or column.null_count == len(column):
        return column
    try:
        integers = column.cast(pa.int64())
        return integers if pc.all(pc.equal(integers.cast(pa.string()), column)).as_py() else column
    except pa.ArrowInvalid:
        pass
    try:
        return column.cast(pa.float64())
    except pa.ArrowInvalid:
        return column


def _ids(column: pa.ChunkedArray) -> pa.Array:
    texts = pc.utf8_trim_whitespace(pc.fill_null(_whole_numbers(column), ""))
    return pc.replace_substring_regex(texts, r"^(\d{5,})\.0+$", r"\1")  # whole numbers that a table had among missing ones


def _whole_numbers(column: pa.ChunkedArray) -> pa.ChunkedArray | pa.Array:
    if pa.types.is_floating(column.type):
        # pandas turns whole numbers with a missing value into floats: 7.0 and NaN are 7 and nothing
        column = pc.if_else(pc.is_finite(column), column, None)
        if pc.all(pc.equal(pc.floor(column), column), min_count=0).as_py():
            column = column.cast(pa.int64(), safe=False)
    return _strings(column)


def _unprinted(text: str | None) -> str | None:
    """A text that is a list or an object as printed, as happens beside rows with texts, as what it holds: the parts of a list, an object's
    name, of an object by languages the English text."""
    value = None if text is None or not text.startswith(('["', '{"', "['", "{'")) else printed(text)
    if isinstance(value, list):
        return " ".join(str(part) for part in value if isinstance(part, str | int | float))
    if not isinstance(value, dict):
        return text
    texts = {key.lower(): part for key, part in value.items() if isinstance(part, str)}
    return next(
        (texts[key] for key in (*NAME_KEYS, "value", "text", "en", "eng", "en-us") if key in texts), next(iter(texts.values()), text)
    )


def _all_unprinted(texts: pa.Array) -> pa.Array:
    if not pc.any(pc.match_substring_regex(texts, "^[\\[{][\"']")).as_py():
        return texts
    return pa.array(map(_unprinted, texts.to_pylist()), pa.string())


def _texts(column: pa.ChunkedArray) -> pa.Array:
    if pa.types.is_list(column.type) or pa.types.is_large_list(column.type):
        parts = (value if value is not None else [] for value in column.to_pylist())
        column = pa.array([" ".join(str(part) for part in part_list if part) for part_list in parts], pa.string())
    return _all_unprinted(pc.utf8_trim_whitespace(pc.fill_null(_strings(column), "")))


def _abstracts(column: pa.ChunkedArray) -> pa.Array:
    kind = column.type
    if pa.types.is_map(kind) or pa.types.is_struct(kind):
        return _texts(pa.chunked_array([pa.array(map(_uninverted_text, column.to_pylist()), pa.string())]))
    if not is_list(kind) and pc.any(pc.starts_with(texts := _strings(column), "{")).as_py():
        column = pa.chunked_array([pa.array(map(_uninverted_text, texts.to_pylist()), pa.string())])
    return _texts(column)


def _uninverted_text(value: Any) -> str | None:
    text = uninverted(value)
    return text if text is None or isinstance(text, str) else json.dumps(text, ensure_ascii=False, default=str)


def _optional(column: pa.ChunkedArray) -> pa.Array:
    texts = _all_unprinted(pc.utf8_trim_whitespace(_strings(column)))
    return pc.if_else(pc.equal(texts, ""), None, texts)


def _strings(column: pa.ChunkedArray) -> pa.ChunkedArray | pa.Array:
    if pa.types.is_null(column.type):
        return pa.nulls(len(column), pa.string())
    try:
        return column.cast(pa.string())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return column_from([None if value is None else str(value) for value in column.to_pylist()]).cast(pa.string())


def _years(column: pa.ChunkedArray) -> pa.Array:
    if pa.types.is_timestamp(column.type) or pa.types.is_date(column.type):
        try:
            return pc.year(column)
        except pa.ArrowInvalid:  # the time zone is none that Arrow knows: then the year in UTC
            return pc.year(column.cast(pa.timestamp(column.type.unit)))
    if pa.types.is_floating(column.type):
        column = column.cast(pa.int64(), safe=False)
    if pa.types.is_integer(column.type):  # seconds or milliseconds since 1970
        column = pc.if_else(pc.greater(column, MOST_SECONDS), pc.divide(column.cast(pa.int64()), 1000), column.cast(pa.int64()))
        moments = pc.if_else(pc.greater(column, LEAST_SECONDS), column, None).cast(pa.timestamp("s"))
        return pc.coalesce(pc.year(moments).cast(pa.int32()), _years_in(_strings(column)))
    return _years_in(_strings(column))


def _years_in(texts: pa.Array | pa.ChunkedArray) -> pa.Array:
    return pa.array([_year(text) if text else None for text in texts.to_pylist()], pa.int32())


def _year(text: str) -> int | None:
    if match := YEAR.search(text):
        return int(match[1])
    return int(text) if EARLY_YEAR.fullmatch(text.strip()) else None


CONVERTERS = {
    "id": _ids,
    "title": _texts,
    "abstract": _abstracts,
    "year": _years,
    "venue": _optional,
    "doi": _optional,
    "url": _optional,
    "arxiv": _optional,
    "pmid": _whole_numbers,
    "pmcid": _optional,
}

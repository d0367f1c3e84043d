"""Finds papers by id: a paper's own, or one of Semantic Scholar's kinds, DOI:, ARXIV:, PMID:, CorpusId:, URL: …"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from urllib.parse import unquote, urlsplit

import pyarrow as pa
import pyarrow.compute as pc

from ...base.errors import InvalidRequest, NotFound
from ...base.types import Rows
from ...files.schema import letters, texts
from ...files.streams import checked_text
from ...papers import identifiers
from ...query.index import Index
from .columns import IDENTIFIERS, OBJECTS, normal

PREFIXED = re.compile(r"(DOI|ARXIV|PMID|PMCID|MAG|ACL|CorpusID|DBLP|URL):(.*)", re.IGNORECASE | re.DOTALL)
KINDS = {"PMID": "PubMed", "PMCID": "PubMedCentral", "MAG": "MAG", "ACL": "ACL", "CORPUSID": "CorpusId", "DBLP": "DBLP"}
"""Kinds of ids, and Semantic Scholar's names for them."""
PAPER_PAGE = re.compile(r"/paper/(.+)")
"""The path of a paper's page, at Semantic Scholar and here."""
SHA = re.compile(r"(?:.*/)?([0-9a-f]{40})")


def row_of(index: Index, id: str) -> int:
    """The row of the paper with an id. Raises NotFound, and InvalidRequest for an ambiguous id, or one that is not text."""
    (row,) = rows_of(index, [id])
    if row is None:
        return int(index.named_rows(_bare(id))[0])  # raises with the reason
    return row


def rows_of(index: Index, ids: Sequence[str]) -> list[int | None]:
    """The rows of the papers with some ids, (n,); None for an unknown or ambiguous id. Columns are read once for all ids."""
    known = index.snapshot.find([checked_text(id, "id") for id in ids])
    rows: list[int | None] = [known.get(id) for id in ids]
    wanted: dict[str, dict[str, list[int]]] = {}
    for place, id in enumerate(ids):
        if rows[place] is None and (named := _named(id)) is not None:
            wanted.setdefault(named[0], {}).setdefault(named[1], []).append(place)
    for kind, places_of in wanted.items():
        for value, row in _with_values(index, kind, list(places_of)):
            for place in places_of[value]:
                rows[place] = row if rows[place] is None else rows[place]
    for place, id in enumerate(ids):
        if rows[place] is None and id.strip():
            rows[place] = _row_named(index, _bare(id))
    return rows


def _row_named(index: Index, name: str) -> int | None:
    """The row of the paper with a name; None for an unknown or ambiguous name, without suggestions."""
    if len(found := index.snapshot.lookup.named(name)) == 1:
        return int(found.rows[0])
    if len(found):  # possibly one work in several indexes
        with suppress(NotFound, InvalidRequest):
            return int(index.named_rows(name)[0])
    return None


def _named(id: str) -> tuple[str, str] | None:
    """The kind of an identifier and its normal form; None for other names of papers."""
    match = PREFIXED.fullmatch(id.strip())
    text = match[2].strip() if match else id.strip()
    prefix = match[1].upper() if match else ""
    if prefix in ("", "ARXIV", "DOI", "URL") and (number := identifiers.arxiv(text)):
        return "ArXiv", number
    if prefix in ("", "DOI", "URL") and (doi := identifiers.doi(text)):
        return "DOI", doi
    if (kind := KINDS.get(prefix)) is not None and (value := normal(kind, text)):
        return kind, value
    return None


def _bare(id: str) -> str:
    """A name that an index knows: an id without the prefix that only Semantic Scholar uses, or taken from the address of a paper's page."""
    match = PREFIXED.fullmatch(id.strip())
    if match is None or match[1].upper() in ("DOI", "ARXIV", "PMID"):
        return id
    if match[1].upper() != "URL":
        return id
    address = match[2].strip()
    page = PAPER_PAGE.search(urlsplit(address).path)
    if page is None:
        return address
    sha = SHA.fullmatch(page[1])
    return sha[1] if sha else unquote(page[1])


def _with_values(index: Index, kind: str, values: Sequence[str]) -> Iterator[tuple[str, int]]:
    """Identifiers of a kind, each with the row of the first paper that has it."""
    remaining, seen = set(values), set[str]()
    for shard in index.snapshot.shards:
        for column in _columns(shard.schema, kind):
            texts_of_column = _column(shard.columns([column[0]])[column[0]], column)
            found = pc.is_in(texts_of_column, value_set=texts(_spellings(kind, values)))
            rows: Rows = pc.indices_nonzero(found).to_numpy().astype("int64")
            for row in rows[shard.scope.has(rows)].tolist():
                value = _form(kind, texts_of_column[row].as_py())
                if value in remaining and value not in seen:
                    seen.add(value)
                    yield value, row + shard.first


def _form(kind: str, text: str) -> str | None:
    """The normal form of an identifier in a column."""
    read = {"DOI": identifiers.doi, "ArXiv": identifiers.arxiv}.get(kind)
    return read(text) if read is not None else normal(kind, text)


def _spellings(kind: str, values: Sequence[str]) -> list[str]:
    """The possible spellings of identifiers in columns."""
    if kind == "PubMedCentral":
        return [spelling for value in values for spelling in (value, f"PMC{value}", f"https://www.ncbi.nlm.nih.gov/pmc/articles/{value}",
                f"https://www.ncbi.nlm.nih.gov/pmc/articles/PMC{value}")]  # fmt: skip
    if kind == "PubMed":
        return [spelling for value in values for spelling in (value, f"https://pubmed.ncbi.nlm.nih.gov/{value}")]
    return list(values)


def _columns(schema: pa.Schema, kind: str) -> Iterator[tuple[str, ...]]:
    """The columns of a shard with identifiers of a kind, including fields of columns of objects."""
    names = {"DOI": ("doi",), "ArXiv": ("arxiv",)}.get(kind) or IDENTIFIERS[kind]
    for field in schema:
        if letters(field.name) in names and not pa.types.is_nested(field.type):
            yield (field.name,)
        if letters(field.name) in OBJECTS and pa.types.is_struct(field.type):
            yield from ((field.name, inner.name) for inner in field.type if letters(inner.name) in names)


def _column(values: pa.ChunkedArray, path: tuple[str, ...]) -> pa.Array:
    """A column, or a field of its objects, as texts."""
    array = values.combine_chunks()
    if len(path) > 1:
        array = pc.struct_field(array, path[1])
    if pa.types.is_floating(array.type):
        array = array.cast(pa.int64(), safe=False)
    return array.cast(pa.string())

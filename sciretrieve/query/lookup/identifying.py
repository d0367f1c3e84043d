"""Exact lookup of papers: by id, DOI, arXiv number, PubMed id, address and citation key.

Columns are compared in Arrow, one shard at a time. A column is read only if the text looks like its values.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import reduce

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ...base.types import Paper, Rows
from ...files.schema import letters, texts
from ...files.schema import text as as_text
from ...matching.lexical import Analyzer, Bm25
from ...matching.lexical.lists import numbers_of
from ...matching.scope import NO_ROWS
from ...papers import identifiers
from ...papers.bibliographies.keys import KEY_COLUMNS, NOTE_COLUMNS
from ...storage.shards import Shard

NAMES = {"doi": "DOI", "arxiv": "arXiv number", "pmid": "PubMed id", "pmcid": "PMC id"}
"""Identifier columns and their names in messages."""
CITED = re.compile(r"\[?@([^\s\[\]{}@,;]+)\]?|\\\w*cite\w*\*?(?:\[[^\]]*\])*\{([^\s{},]+)\}")
"""Citation keys as Markdown and LaTeX cite them."""
KEY = re.compile(r"(?=.*(?:\d|[_:/+]|[a-z][A-Z]))[^\W\d_][\w:.+/'-]*")
"""A text that looks like a citation key and not like a word."""
OPENALEX = re.compile(r"(?:https?://)?(?:api\.)?openalex\.org/(?:works/)?(W\d+)|(W\d{4,})", re.IGNORECASE)
ADDRESS = re.compile(r"(https?)://(\S*?)/?")
LEAST_ALIKE = 3
"""Characters that two ids must share to be similar."""
LETTERS_PER_SLIP, MOST_SLIPS = 6, 3
"""Characters of an id per allowed slip, and the most slips."""
MOST_ALIKE = 100
"""Papers that may share a title. A title that more papers share, such as "Editorial", identifies none."""
LONGEST = 2048
"""Longest text, in characters, that can be an id or an address."""


def identified(shards: Sequence[Shard], texts: Sequence[str]) -> list[tuple[str, Rows]]:
    """For each text, the kind of name that it is, for example "DOI", and the rows of the papers that it names, ascending; "" and no rows if
    it names none.

    An id takes precedence over every other kind. A text with several identifiers, such as a pasted bibliography, names several papers.
    """
    stripped = [text.strip() for text in texts]
    ids = {text for text in stripped if len(text) <= LONGEST}
    known = _rows_of_ids(shards, ids)

    def with_id(id: str) -> Rows:
        return known.get(id, NO_ROWS) if id in ids else _rows_of_ids(shards, [id]).get(id, NO_ROWS)

    return [next(((name, rows) for name, rows in _named(shards, text, with_id) if len(rows)), ("", NO_ROWS)) for text in stripped]


def with_ids_like(shards: Sequence[Shard], text: str, count: int) -> Rows:
    """The first `count` papers whose ids contain a text; else papers whose ids equal it but for slips; else papers whose ids begin alike.
    Case is ignored."""
    if not LEAST_ALIKE <= len(text) <= LONGEST:
        return np.empty(0, np.int64)
    rows = rows_flagged(shards, [pc.match_substring(shard.ids, text, ignore_case=True) for shard in shards])
    if not len(rows):
        rows = _with_slips(shards, text)
    if not len(rows):
        start = text[: max(LEAST_ALIKE, len(text) * 3 // 4)]
        rows = rows_flagged(shards, [pc.starts_with(shard.ids, start, ignore_case=True) for shard in shards])
    return rows[:count]


def possible_copies(shards: Sequence[Shard], analyzer: Analyzer, bm25: Bm25 | None, papers: Sequence[Paper]) -> Rows:
    """Rows of the undeleted papers that may be one of the given works, the given papers included, over all shards and ascending.

    DOIs are compared as stored, in lower case. Titles are looked up in BM25, or without it by exact letters.
    """
    dois = [doi for paper in papers if paper.doi and (doi := identifiers.doi(paper.doi))]
    parts = [_with_any(shards, "doi", dois)]
    if bm25 is None:
        parts.append(_with_any(shards, "title", [paper.title for paper in papers if paper.title]))
    else:
        alike = (bm25.rows_with(analyzer.terms(title), "title") for title in {paper.title for paper in papers})
        parts += [rows for rows in alike if len(rows) <= MOST_ALIKE]
    return np.unique(np.concatenate(parts))


def _with_any(shards: Sequence[Shard], column: str, values: Sequence[str]) -> Rows:
    having = [shard for shard in shards if values and column in shard.schema.names]
    wanted = texts(values)
    return rows_flagged(having, [pc.is_in(shard.columns([column])[column], value_set=wanted) for shard in having])


def _with_slips(shards: Sequence[Shard], text: str) -> Rows:
    """Papers whose ids differ from a text by a few slips of letters, fewest first."""
    from rapidfuzz import process
    from rapidfuzz.distance import OSA

    most = min(len(text) // LETTERS_PER_SLIP, MOST_SLIPS)
    candidates: list[tuple[int, int]] = []
    for shard in shards if most else ():
        ids = pc.utf8_lower(shard.ids).to_pylist()
        near = process.extract(text.lower(), ids, scorer=OSA.distance, score_cutoff=most, limit=None)
        candidates += [(slips, shard.first + row) for _, slips, row in near if shard.scope.has(np.array([row]))[0]]
    return np.array([row for _, row in sorted(candidates)], np.int64)


def _named(shards: Sequence[Shard], text: str, with_id: Callable[[str], Rows]) -> Iterator[tuple[str, Rows]]:
    """Rows by kind of name, the surest kind first. Each kind is tried only when the caller asks for the next."""
    is_short = len(text) <= LONGEST
    if is_short:
        yield "id", with_id(text)
    mentioned: dict[str, list[str]] = {}
    for column, value in identifiers.mentioned(text):
        mentioned.setdefault(column, []).append(value)
    readings = (identifiers.doi, identifiers.arxiv, identifiers.pmid, identifiers.pmcid)
    is_one = bool(mentioned) and any(read(text) for read in readings) and not identifiers.SEVERAL.search(text)
    for column, values in mentioned.items():
        with_ids = _together([with_id(value) for value in values])
        if is_one:  # one id needs no reading of the column
            yield NAMES[column], with_ids
        yield NAMES[column], _together([with_ids, _with_values(shards, column, values)])
        if column == "arxiv":  # a corpus of arXiv papers alone may leave out the archive's name
            yield NAMES[column], _together([with_id(value.partition("/")[2]) for value in values if "/" in value])
    if openalex := OPENALEX.fullmatch(text):
        number = (openalex[1] or openalex[2]).upper()
        yield "OpenAlex id", _together([with_id(id) for id in (number, f"https://openalex.org/{number}")])
    if is_short and (address := ADDRESS.fullmatch(text)):
        yield (
            "address",
            _with_values(shards, "url", [f"{scheme}://{address[2]}{slash}" for scheme in ("https", "http") for slash in ("", "/")]),
        )
    cited = CITED.fullmatch(text) if is_short else None
    key = (cited[1] or cited[2]) if cited else text
    if is_short and (cited or (" " not in key and KEY.fullmatch(key))):
        yield "citation key", _together([with_id(key), *(_with_key(shard, key) for shard in shards)])
        yield "citation key", _together([shard.first + shard.find_in_any_case(key) for shard in shards])


def _rows_of_ids(shards: Sequence[Shard], ids: Collection[str]) -> dict[str, Rows]:
    """Rows of the papers that have one of some ids, in any shard, by id."""
    rows: dict[str, list[int]] = {}
    for shard in shards:
        for id, row in shard.find([*ids]).items():
            rows.setdefault(id, []).append(shard.first + row)
    return {id: np.array(of_id, np.int64) for id, of_id in rows.items()}


def _with_values(shards: Sequence[Shard], column: str, values: Sequence[str]) -> Rows:
    """Rows of the papers that have one of the values in a text column; none if there is no such column."""
    having = [shard for shard in shards if column in shard.schema.names and shard.schema.field(column).type == pa.string()]
    columns = [shard.columns([column])[column] for shard in having]
    return rows_flagged(having, [reduce(pc.or_, (pc.equal(one, as_text(value)) for value in values)) for one in columns])


def _with_key(shard: Shard, key: str) -> Rows:
    """Rows of a shard's papers that have a citation key. Case is ignored, as in BibTeX."""
    flags = []
    for field in shard.schema:
        name = letters(field.name)
        if field.type == pa.string() and name in KEY_COLUMNS:
            flags.append(pc.equal(pc.utf8_lower(shard.columns([field.name])[field.name]), as_text(key.lower())))
        elif field.type == pa.string() and name in NOTE_COLUMNS:
            line = rf"(?im)^\s*citation key:\s*{re.escape(key)}\s*$"
            flags.append(pc.match_substring_regex(shard.columns([field.name])[field.name], line))
    return _together([rows_flagged([shard], [flag]) for flag in flags])


def rows_flagged(shards: Sequence[Shard], flags: Sequence[pa.BooleanArray | pa.ChunkedArray]) -> Rows:
    """Rows of the shards' undeleted papers that are flagged, counted over all shards."""
    parts = [np.empty(0, np.int64)]
    for shard, flag in zip(shards, flags, strict=True):
        rows = numbers_of(pc.indices_nonzero(flag), np.uint64).astype(np.int64)
        parts.append(shard.scope.kept(rows) + shard.first)
    return np.concatenate(parts)


def _together(rows: Sequence[Rows]) -> Rows:
    return np.unique(np.concatenate([np.empty(0, np.int64), *rows]))

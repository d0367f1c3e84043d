"""Papers by what names them exactly: their ids, DOIs, arXiv numbers, PubMed ids, addresses and citation keys.

Columns are compared in Arrow, a shard at a time, and read only where the text looks like what they hold.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import reduce

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ...base.types import Paper, Rows
from ...files.schema import letters, texts
from ...files.schema import text as as_text
from ...matching.lexical import Analyzer, Bm25
from ...matching.lexical.lists import numbers_of
from ...papers import identifiers
from ...papers.bibliographies.keys import KEY_COLUMNS, NOTE_COLUMNS
from ...storage.shards import Shard

NAMES = {"doi": "DOI", "arxiv": "arXiv number", "pmid": "PubMed id"}
"""Columns of identifiers, and what these are called."""
CITED = re.compile(r"\[?@([^\s\[\]{}@,;]+)\]?|\\\w*cite\w*\*?(?:\[[^\]]*\])*\{([^\s{},]+)\}")
"""A key as it is cited in Markdown and in LaTeX."""
KEY = re.compile(r"(?=.*(?:\d|[_:/+]|[a-z][A-Z]))[^\W\d_][\w:.+/'-]*")
"""What looks like a key and like no word."""
OPENALEX = re.compile(r"(?:https?://)?(?:api\.)?openalex\.org/(?:works/)?(W\d+)|(W\d{4,})", re.IGNORECASE)
ADDRESS = re.compile(r"(https?)://(\S*?)/?")
LEAST_ALIKE = 3
"""Characters that ids must share to be alike."""
LETTERS_PER_SLIP, MOST_SLIPS = 6, 3
"""Characters of an id for each slip in it, and the most slips."""
MOST_ALIKE = 100
"""Papers that may share a title; one that more have, such as "Editorial", names no work."""
LONGEST = 2048
"""Characters beyond which a text is neither an id nor an address."""


def identified(shards: Sequence[Shard], text: str) -> tuple[str, Rows]:
    """How a text names papers, for example by "DOI", and the rows of these papers, ascending; "" and no rows where it names none.

    An id comes before everything else that a text may be. A text with several identifiers, such as a pasted bibliography, means
    several papers.
    """
    text = text.strip()
    for name, rows in _named(shards, text):
        if len(rows):
            return name, rows
    return "", np.empty(0, np.int64)


def with_ids_like(shards: Sequence[Shard], text: str, count: int) -> Rows:
    """Papers whose ids have a text in them, or else are it with slips, or else begin as it does, ignoring case; the first `count`."""
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
    """The rows, over all shards and ascending, of the papers that are not deleted and may be one of the given works, these among them.

    A DOI is found as it is stored, in small letters. Titles are looked up in BM25; without it, by their letters as they are.
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
    """Papers whose ids a text is with a few slips of letters, fewest first."""
    from rapidfuzz import process
    from rapidfuzz.distance import OSA

    most = min(len(text) // LETTERS_PER_SLIP, MOST_SLIPS)
    found: list[tuple[int, int]] = []
    for shard in shards if most else ():
        ids = pc.utf8_lower(shard.ids).to_pylist()
        near = process.extract(text.lower(), ids, scorer=OSA.distance, score_cutoff=most, limit=None)
        found += [(slips, shard.first + row) for _, slips, row in near if shard.scope.has(np.array([row]))[0]]
    return np.array([row for _, row in sorted(found)], np.int64)


def _named(shards: Sequence[Shard], text: str) -> Iterator[tuple[str, Rows]]:
    """The rows that each kind of name finds, the surest kind first. A kind is tried only when the caller asks for it."""
    is_short = len(text) <= LONGEST
    if is_short:
        yield "id", _with_id(shards, text)
    mentioned: dict[str, list[str]] = {}
    for column, value in identifiers.mentioned(text):
        mentioned.setdefault(column, []).append(value)
    is_one = any(read(text) for read in (identifiers.doi, identifiers.arxiv, identifiers.pmid))
    for column, values in mentioned.items():
        with_ids = _together([_with_id(shards, value) for value in values])
        if is_one:  # then no column need be read
            yield NAMES[column], with_ids
        yield NAMES[column], _together([with_ids, _with_values(shards, column, values)])
        if column == "arxiv":  # a corpus of one archive may leave out its name
            yield NAMES[column], _together([_with_id(shards, value.partition("/")[2]) for value in values if "/" in value])
    if openalex := OPENALEX.fullmatch(text):
        number = (openalex[1] or openalex[2]).upper()
        yield "OpenAlex id", _together([_with_id(shards, id) for id in (number, f"https://openalex.org/{number}")])
    if is_short and (address := ADDRESS.fullmatch(text)):
        yield (
            "address",
            _with_values(shards, "url", [f"{scheme}://{address[2]}{slash}" for scheme in ("https", "http") for slash in ("", "/")]),
        )
    cited = CITED.fullmatch(text) if is_short else None
    key = (cited[1] or cited[2]) if cited else text
    if is_short and (cited or KEY.fullmatch(key)):
        yield "citation key", _together([_with_id(shards, key), *(_with_key(shard, key) for shard in shards)])
        yield "citation key", _together([shard.first + shard.find_in_any_case(key) for shard in shards])


def _with_id(shards: Sequence[Shard], id: str) -> Rows:
    rows = [shard.first + row for shard in shards for row in shard.find([id]).values()]
    return np.array(rows, np.int64)


def _with_values(shards: Sequence[Shard], column: str, values: Sequence[str]) -> Rows:
    """The rows of the papers that have one of the values in a column of texts; none where there is no such column."""
    having = [shard for shard in shards if column in shard.schema.names and shard.schema.field(column).type == pa.string()]
    columns = [shard.columns([column])[column] for shard in having]
    return rows_flagged(having, [reduce(pc.or_, (pc.equal(one, as_text(value)) for value in values)) for one in columns])


def _with_key(shard: Shard, key: str) -> Rows:
    """The rows of a shard's papers that have a citation key, in whatever case: BibTeX knows none."""
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
    """The rows of those of some shards' papers that are flagged and not deleted, over all shards."""
    parts = [np.empty(0, np.int64)]
    for shard, flag in zip(shards, flags, strict=True):
        rows = numbers_of(pc.indices_nonzero(flag), np.uint64).astype(np.int64)
        parts.append(rows[shard.scope.has(rows)] + shard.first)
    return np.concatenate(parts)


def _together(rows: Sequence[Rows]) -> Rows:
    return np.unique(np.concatenate([np.empty(0, np.int64), *rows]))

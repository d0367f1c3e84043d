"""Queries from files: JSON Lines, tab-separated, plain text (one a line), or a BEIR directory's queries.jsonl."""

from __future__ import annotations

import logging
from collections.abc import Container
from pathlib import Path

from ...base.errors import InvalidRequest, NotFound
from ...base.types import Paper, Query
from ...files.streams import lines
from . import jsonl
from .raw import Rejected, Row

LOG = logging.getLogger(__name__)
ID_KEYS = ("_id", "id", "query_id", "qid")
TEXT_KEYS = ("text", "query", "question", "title")


def read_queries(source: str | Path, ids: Container[str] | None = None) -> list[Query]:
    """Read queries in file order; those with the given `ids` alone, where given: of JSON Lines the others need no text.

    `.jsonl` rows have an id (`_id`, `id`, `query_id`) and a `text` or `query`; a row with a `title` and an `abstract`
    and neither of those is a paper as query. `.tsv` rows are id, tab, text. Of any other file each line is a query,
    numbered from 1. `-` is standard input, as lines. Of queries with the same id the first is kept, and a warning logged.

    Raises:
        NotFound: there is no such file.
        InvalidRequest: a row is no query, or there is none at all.
    """
    path = Path(source)
    if path.is_dir():
        path = next((path / name for name in ("queries.jsonl", "queries.jsonl.gz") if (path / name).is_file()), path)
    if str(source) != "-" and not path.is_file():
        raise NotFound(f"there are no queries at {source}; name a .jsonl, .tsv or .txt file, or a BEIR directory")
    suffixes = {suffix.lower() for suffix in path.suffixes}
    if suffixes & {".jsonl", ".ndjson"}:
        queries = [query for number, row in jsonl.objects(path) if (query := _from_row(path, number, row, ids)) is not None]
    else:
        line_queries = [_from_line(path, number, line, ".tsv" in suffixes) for number, line in enumerate(lines(path), 1) if line.strip()]
        queries = [query for query in line_queries if ids is None or query.id in ids]
    if not queries and ids is None:
        raise InvalidRequest(f"{source} holds no queries")
    first_of = {query.id: query for query in reversed(queries)}
    if repeat_count := len(queries) - len(first_of):
        LOG.warning("%s: %d queries have the id of an earlier one; the first of each is kept", source, repeat_count)
    return [query for query in queries if first_of[query.id] is query]


def _from_row(path: Path, number: int, row: Row | Rejected, ids: Container[str] | None) -> Query | None:
    if isinstance(row, Rejected):
        raise InvalidRequest(f"{path}, line {number}: {row.reason}")
    id = str(next((row[key] for key in ID_KEYS if row.get(key) is not None), number))
    if ids is not None and id not in ids:
        return None
    title, abstract = str(row.get("title") or ""), str(row.get("abstract") or "")
    if abstract and not (row.get("text") or row.get("query")):
        return Query(id, paper=Paper(id, title, abstract))
    text = next((str(row[key]) for key in TEXT_KEYS if row.get(key)), "")
    if not text.strip():
        raise InvalidRequest(f"{path}, line {number}: no query text (looked for {', '.join(TEXT_KEYS)})")
    return Query(id, text)


def _from_line(path: Path, number: int, line: bytes, has_id: bool) -> Query:
    try:
        text = line.decode("utf-8-sig").strip()
    except UnicodeDecodeError as error:
        raise InvalidRequest(f"{path}, line {number}: broken UTF-8 at byte {error.start}") from error
    if not has_id:
        return Query(str(number), text)
    id, tab, query_text = text.partition("\t")
    if not tab or not query_text.strip():
        raise InvalidRequest(f"{path}, line {number}: expected an id, a tab and a query")
    return Query(id, query_text)

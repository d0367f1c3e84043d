"""Tables of texts as databases and spreadsheets export them: where the header is, and which rows are papers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from ...files.schema import letters
from .columns import ALIASES
from .dialects import databases, zotero
from .raw import MOST_COLUMNS, Rejected, Row, free_name, too_many_columns

TEXT_NAMES = {letters(name) for field in ("title", "abstract") for name in ALIASES[field]}
NAMES = {letters(name) for names in ALIASES.values() for name in names}
MOST_ABOVE = 20
"""Rows above the header, such as a search and its date."""


def is_header(names: Sequence[str], *, is_first: bool = True) -> bool:
    """Whether a row is a header: it has several names, one of them that of a title or an abstract in some database. If it is not the first
    row, which may be a paper, it has the name of another field, too."""
    known = {letters(name) for name in names}
    has_text = not TEXT_NAMES.isdisjoint(known)
    return len(names) > 1 and ((has_text and (is_first or len(known & NAMES) > 1)) or databases.is_web_of_science(names))


def header_of(names: Sequence[str]) -> list[str]:
    """The columns' names, each once. Raises InvalidRequest."""
    if len(names) > MOST_COLUMNS:
        raise too_many_columns(len(names))
    header: dict[str, None] = {}
    last: dict[str, str] = {}  # what a name that is repeated became
    for name in names:
        last[name] = free_name(last[name] + "_" if name in last else name, header)
        header[last[name]] = None
    return list(header)


def papers_of_rows(
    source: str, header: list[str], rows: Iterable[Sequence[object] | str], what: str
) -> Iterator[tuple[int, Row | Rejected]]:
    """The papers of numbered rows of cells, with the columns of a header; a text is what is wrong with a row.

    Empty rows and further headers are none. Empty cells beyond the header do not count. `what` the cells are called in messages.
    """
    plain = databases.reader(header) or (zotero.paper if zotero.fits(dict.fromkeys(header)) else None)
    kept = [place for place, name in enumerate(header) if name or place]  # a first column without a name has pandas' row numbers
    for number, cells in enumerate(rows, 1):
        if isinstance(cells, str):
            yield number, Rejected(source, number, cells)
            continue
        end = max((place for place, cell in enumerate(cells, 1) if cell not in (None, "")), default=0)
        if not end or list(cells) == header:
            continue
        if end > len(header) or (what == "fields" and len(cells) < len(header)):
            yield number, Rejected(source, number, f"{max(end, len(cells))} {what} where the header has {len(header)}")
            continue
        values = [*cells, *[None] * len(header)]
        row = {header[place]: None if values[place] == "" else values[place] for place in kept}
        yield number, plain({name: value and str(value) for name, value in row.items()}) if plain else row

"""BibTeX and BibLaTeX, parsed by pybtex, with LaTeX accents and braces turned into plain text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ..streams import read_text
from .raw import RawBatch, Rejected, Row, batches_of_rows

NOT_PAPERS = {"string", "preamble", "comment"}


def read(path: Path) -> Iterator[RawBatch]:
    """Yield the entries of a bibliography in batches; row n is its n-th entry."""
    return batches_of_rows(str(path), _rows(path))


def _rows(path: Path) -> Iterator[tuple[int, Row | Rejected]]:
    # pybtex takes a quarter of a second to import: only those who read BibTeX pay for it
    from pybtex.database import Person
    from pybtex.database.input.bibtex import LowLevelParser
    from pybtex.textutils import normalize_whitespace

    errors: list[Exception] = []
    parser = LowLevelParser(read_text(path), handle_error=errors.append, macros=_Macros())
    number = 0
    for kind, content in parser:
        number += 1
        if errors:
            yield number, Rejected(str(path), number, "; ".join(map(str, errors)))
            errors.clear()
            continue
        if kind.lower() in NOT_PAPERS or not isinstance(content, tuple) or len(content) != 2:
            number -= 1
            continue
        key, fields = content
        values = {name.lower(): normalize_whitespace("".join(parts)) for name, parts in fields}
        row: dict[str, Any] = {name: _plain(value) for name, value in values.items() if name not in ("author", "editor")}
        row["year"] = row.get("year") or row.get("date")
        row["venue"] = row.get("journal") or row.get("journaltitle") or row.get("booktitle")
        names = re.split(r"\s+and\s+", values.get("author", ""))
        row["authors"] = [_name(Person(name)) for name in names if name.strip()]
        row["type"] = kind.lower()
        yield number, {"id": key, **row}
    for error in errors:
        number += 1
        yield number, Rejected(str(path), number, str(error))


class _Macros(dict[str, str]):
    """The @string definitions by lower-cased name. One that is not defined (months, other files') stands for itself."""

    def __setitem__(self, name: str, value: str) -> None:
        super().__setitem__(name.lower(), value)

    def __getitem__(self, name: str) -> str:
        return self.get(name.lower(), name)


def _plain(latex: str) -> str:
    """LaTeX as plain text; as it stands where it cannot be parsed."""
    from pybtex.richtext import Text

    try:
        return str(Text.from_latex(latex).render_as("text"))
    except Exception:  # pybtex and latexcodec raise many kinds on malformed markup; the text itself is still good
        return latex


def _name(person: object) -> str:
    parts = ("first_names", "middle_names", "prelast_names", "last_names", "lineage_names")
    return _plain(" ".join(name for part in parts for name in getattr(person, part)))

"""Lines of TREC's files, and the encoding of ids in them.

Blanks separate fields. So an id with white space or control characters is percent-encoded, and so is an id that looks encoded. In such a
line the unused column, `Q0` of runs and `0` of judgements, ends with `%`. In all other lines, including those of other programs, ids are
literal: `a%20b` is `a%20b`.
"""

from __future__ import annotations

import re
from urllib.parse import quote, unquote

MARK = "%"
"""The end of the unused column in a line with encoded ids; also the encoding of the empty id."""
RESERVED = re.compile(r"[\s\x00-\x1f\x7f-\x9f\ufeff]|^\{")
"""Characters that an id cannot have here: white space, control characters, byte order marks, and a brace at the beginning, as in JSON."""
SUSPECT = re.compile(rf"{RESERVED.pattern}|%")


def encoded(id: str) -> str:
    """An id in a form for TREC's files; different ids stay different. A percent sign stays, unless it would be read as an escape."""
    if not SUSPECT.search(id):
        return id or MARK
    plain = unquote(id)
    if RESERVED.search(plain) or id == MARK or (plain != id and "%" in plain):
        return SUSPECT.sub(lambda found: quote(found[0], safe=""), id)
    return id


def decoded(id: str) -> str:
    """The id that `encoded` turned into this text."""
    plain = unquote(id)
    return "" if id == MARK else plain if encoded(plain) == id else id


def run_line(query: str, id: str, rank: int, score: str, tag: str) -> str:
    """A line of a run: query, Q0, paper, rank, score, tag."""
    return f"{_columns(query, 'Q0', id)} {rank} {score} {'-'.join(tag.split()) or 'run'}"


def qrels_line(query: str, id: str, grade: int) -> str:
    """A line of judgements: query, 0, paper, grade."""
    return f"{_columns(query, '0', id)} {grade}"


def _columns(query: str, between: str, id: str) -> str:
    first, second = encoded(query), encoded(id)
    return f"{first} {between}{MARK * ((first, second) != (query, id))} {second}"


def ids_of(query: str, between: str, id: str) -> tuple[str, str]:
    """The ids of a line, from its first three columns."""
    return (decoded(query), decoded(id)) if between.endswith(MARK) else (query, id)

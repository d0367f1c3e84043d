"""Answers of a budget: as much as a language model has room for, and a cursor with which the rest can be asked for.

A cursor is all that is known of a page: where it ended, after which item, in which state of the indexes, and of which call. So no process
remembers anything, and any may go on.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from ...base.errors import InvalidRequest
from .results import Item, ToolResult

UNITS = 3
"""Units of a text for a token, see `units_of`. Most models' vocabularies have a third fewer tokens for prose, and as many for tables: to be
over the budget is worse than to be below it."""
SIGN = re.compile(r"[^a-zA-Z\s]")
"""What vocabularies have few long pieces of: digits, signs and letters of other alphabets."""
AT_ONCE = 8
"""Items that are made at a time: what is not shown is hardly made."""
LAYOUT = struct.Struct(">I6s4s4s")
"""The place of the first item to come, the call, the indexes' state and the last item shown."""
LONGEST = "0" * 24
"""A cursor that takes more room than any: digits count twice."""
CHANGED = "the indexes changed since the page before, so papers may be missing or come twice"

AnyResult = TypeVar("AnyResult", bound=ToolResult)


@dataclass(frozen=True, slots=True)
class Ask:
    """What of an answer is asked for.

    Attributes:
        call: the tool, and all of its arguments but these.
        budget: tokens that the answer may have.
        cursor: where to go on, as the page before gave it; "" for the beginning.
    """

    call: tuple[object, ...]
    budget: int
    cursor: str


def page(ask: Ask, state: str, names: Sequence[str], make: Callable[[range], Sequence[Item]], frame: AnyResult) -> AnyResult:
    """As much of an answer as its budget holds, and one item at least.

    Neither the text nor the JSON is over the budget: clients give the one or the other to their model.

    Args:
        state: what identifies the indexes as they are now.
        names: what names each item of the whole answer.
        make: the items at some places.
        frame: the answer without items.

    Raises InvalidRequest for a cursor of another call.
    """
    start, is_changed = _start(ask, state, names)
    frame = frame.model_copy(update={"notes": [*frame.notes, *[CHANGED] * is_changed]})
    left = [ask.budget * UNITS - size for size in _sizes(frame.model_copy(update={"cursor": LONGEST}))]
    taken: list[Item] = []
    is_cut = False
    while not is_cut and start + len(taken) < len(names):
        first = start + len(taken)
        for item in make(range(first, min(first + AT_ONCE, len(names)))):
            left = [room - size - 2 for room, size in zip(left, _sizes(item), strict=True)]
            if is_cut := bool(taken) and min(left) < 0:
                break
            taken.append(item)
    end = start + len(taken)
    cursor = _cursor(ask, state, end, names[end - 1]) if end < len(names) else ""
    return frame.model_copy(update={"cursor": cursor, **frame.lists_of(taken)})


def _sizes(value: Item | ToolResult) -> tuple[int, int]:
    """The units of something as text and as JSON."""
    return units_of(value.text()), units_of(value.model_dump_json(exclude_defaults=True))


def units_of(text: str) -> int:
    """How long a text is for a language model: its bytes in UTF-8, of which digits, signs and letters of other alphabets have one more."""
    return len(text.encode()) + len(SIGN.findall(text))


def _cursor(ask: Ask, state: str, place: int, last: str) -> str:
    packed = LAYOUT.pack(place, _digest(repr(ask.call), 6), _digest(state, 4), _digest(last, 4))
    return base64.urlsafe_b64encode(packed).decode()


def _start(ask: Ask, state: str, names: Sequence[str]) -> tuple[int, bool]:
    """The place of the first item of a page, and whether the indexes changed since the page before.

    Then it is the one after the item that was shown last, wherever that is now; if that is gone, the page goes on where it was.
    """
    if not ask.cursor:
        return 0, False
    try:
        place, call, then, last = LAYOUT.unpack(base64.urlsafe_b64decode(ask.cursor.strip().encode()))
    except (binascii.Error, struct.error, UnicodeEncodeError, ValueError) as error:
        raise InvalidRequest(
            "this is no cursor; give the one at the end of the page before, or leave `cursor` out to begin anew"
        ) from error
    if call != _digest(repr(ask.call), 6):
        raise InvalidRequest(
            "this cursor is of another call; repeat the arguments of that call with it, or leave `cursor` out to begin anew"
        )
    if then == _digest(state, 4):
        return place, False
    found = next((number for number, name in enumerate(names) if _digest(name, 4) == last), None)
    return (min(max(place - 1, 0), len(names)) if found is None else found + 1), True


def _digest(text: str, size: int) -> bytes:
    return hashlib.blake2b(text.encode(errors="surrogatepass"), digest_size=size).digest()

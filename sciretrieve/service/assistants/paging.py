"""Pages of answers within a budget of tokens, with a cursor to ask for the rest.

A cursor contains all facts of a page: its end, its last item, the state of the indexes, and the call. So no process stores anything, and
any process can go on.
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
"""Units of a text per token, see `units_of`. Most vocabularies need a third fewer tokens for prose, and as many for tables: a page over the
budget is worse than one below it.
"""
SIGN = re.compile(r"[^a-zA-Z\s]")
"""Characters that vocabularies split finely: digits, signs and letters of other alphabets."""
AT_ONCE = 8
"""Items made at a time, so that few unshown items are made."""
LAYOUT = struct.Struct(">I6s4s4s")
"""The place of the next item, the call, the indexes' state and the last item shown."""
LONGEST = "0" * 24
"""A cursor longer than any other: digits count twice."""
CHANGED = "the indexes changed since the page before, so papers may be missing or come twice"

AnyResult = TypeVar("AnyResult", bound=ToolResult)


@dataclass(frozen=True, slots=True)
class Ask:
    """The part of an answer to return.

    Attributes:
        call: the tool, and all of its arguments but these.
        budget: the most tokens of the answer.
        cursor: the cursor of the previous page; "" for the beginning.
    """

    call: tuple[object, ...]
    budget: int
    cursor: str


def page(ask: Ask, state: str, names: Sequence[str], make: Callable[[range], Sequence[Item]], frame: AnyResult) -> AnyResult:
    """As much of an answer as fits its budget, but at least one item.

    Both the text and the JSON are within the budget, since clients give either to their model.

    Args:
        ask: the part to return.
        state: identifies the current state of the indexes.
        names: the names of all items of the answer.
        make: makes the items at some places.
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
    """The units of a value as text and as JSON."""
    return units_of(value.text()), units_of(value.model_dump_json(exclude_defaults=True))


def units_of(text: str) -> int:
    """The length of a text for a language model: its bytes in UTF-8, plus one for each digit, sign and letter of another alphabet."""
    return len(text.encode()) + len(SIGN.findall(text))


def _cursor(ask: Ask, state: str, place: int, last: str) -> str:
    packed = LAYOUT.pack(place, _digest(repr(ask.call), 6), _digest(state, 4), _digest(last, 4))
    return base64.urlsafe_b64encode(packed).decode()


def _start(ask: Ask, state: str, names: Sequence[str]) -> tuple[int, bool]:
    """The place of the first item of a page, and whether the indexes changed since the previous page.

    After a change, the page begins after the last shown item, wherever it is now; if that is gone, at the old place.
    """
    if not ask.cursor:
        return 0, False
    try:
        place, call, then, last = LAYOUT.unpack(base64.urlsafe_b64decode(ask.cursor.strip().encode()))
    except (binascii.Error, struct.error, UnicodeEncodeError, ValueError) as error:
        raise InvalidRequest(
            "this is not a cursor; give the one at the end of the previous page, or leave out `cursor` to begin anew"
        ) from error
    if call != _digest(repr(ask.call), 6):
        raise InvalidRequest("this cursor belongs to another call; repeat that call's arguments, or leave out `cursor` to begin anew")
    if then == _digest(state, 4):
        return place, False
    found = next((number for number, name in enumerate(names) if _digest(name, 4) == last), None)
    return (min(max(place - 1, 0), len(names)) if found is None else found + 1), True


def _digest(text: str, size: int) -> bytes:
    return hashlib.blake2b(text.encode(errors="surrogatepass"), digest_size=size).digest()

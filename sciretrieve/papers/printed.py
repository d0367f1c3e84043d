"""Lists and objects that a program printed into one text: as JSON, or as Python and NumPy show them."""

from __future__ import annotations

import ast
import json
import re
from contextlib import suppress
from typing import Any

_AUTHORS = re.compile(r"(?:arxiv\.Result\.)?Author\((['\"])(.*?)\1\)")
_GAPS = re.compile(r"(?<=['\"])\s+(?=['\"])")
"""What is between two texts of a NumPy array: no comma."""


def printed(text: str) -> Any:
    """The list or object that a text is; None if it is none.

    >>> printed("['a', 'b']"), printed("['a' 'b']"), printed("a")
    (['a', 'b'], ['a', 'b'], None)
    """
    if not text.startswith(("[", "{")):
        return None
    with suppress(ValueError, RecursionError):
        return json.loads(text)
    if authors := _AUTHORS.findall(text):
        return [name for _, name in authors]
    with suppress(ValueError, SyntaxError, RecursionError, MemoryError):
        return ast.literal_eval(_GAPS.sub(", ", text))
    return None

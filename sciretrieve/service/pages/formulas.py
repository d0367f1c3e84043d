"""Formulas in TeX as MathML, which browsers set; what cannot be converted stays as typed.

The converter passes on whatever TeX asks for: addresses, styles, text with tags. So its elements are made anew here, of names and values
that can do no harm.
"""

from __future__ import annotations

import re
from functools import lru_cache
from html import unescape
from typing import TYPE_CHECKING

from markupsafe import Markup, escape

from ...base.wording import without_controls

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

ELEMENTS = frozenset(
    ("mfrac", "mi", "mmultiscripts", "mn", "mo", "mover", "mroot", "mrow", "mspace", "msqrt", "mstyle", "msub", "msubsup", "msup")
    + ("mtable", "mtd", "mtext", "mtr", "munder", "munderover")
)
ATTRIBUTES = {
    name: re.compile(values)
    for names, values in (
        ("accent accentunder displaystyle fence separator stretchy", "true|false"),
        ("form", "prefix|infix|postfix"),
        ("mathvariant", "normal"),
        ("scriptlevel", r"[+-]?[0-3]"),
        ("width", r"[0-2](?:\.\d{1,4})?em"),
    )
    for name in names.split()
}
"""Attributes that are kept, where their values are such."""
DEFINING = re.compile(r"\\(?:[a-z]*def|let|(?:re)?newcommand|providecommand|DeclareMathOperator|newenvironment|require)(?![a-zA-Z])")
"""What gives TeX new commands, which may grow without end."""
LONGEST, MOST_BRACES, MOST_ELEMENTS = 300, 20, 1000
"""Characters, braces within braces, and elements up to which a formula is converted."""


@lru_cache(8192)
def mathml(tex: str) -> Markup | None:
    """A formula as an element `math`; None if it cannot be converted."""
    if len(tex) > LONGEST or DEFINING.search(tex) or _depth(tex) > MOST_BRACES:
        return None
    try:
        from latex2mathml.converter import convert_to_element

        element = convert_to_element(tex)
    except Exception:  # for half a formula the converter raises whatever comes first, such as IndexError
        return None
    if sum(1 for _ in element.iter()) > MOST_ELEMENTS:
        return None
    inner = "".join(map(_element, element)) if all(map(_is_known, element.iter())) else ""
    return Markup(f'<math alttext="{escape(tex)}">{inner}</math>') if inner else None


def _is_known(element: Element) -> bool:
    """Whether an element is the whole, or one of `ELEMENTS` without a command that the converter did not know."""
    return element.tag == "math" or (element.tag in ELEMENTS and "\\" not in (element.text or "") and not element.tail)


def _element(element: Element) -> str:
    attributes = "".join(
        f' {name}="{value}"' for name, value in element.items() if name in ATTRIBUTES and ATTRIBUTES[name].fullmatch(value)
    )
    inner = "".join(map(_element, element))
    return f"<{element.tag}{attributes}>{escape(without_controls(unescape(element.text or '')))}{inner}</{element.tag}>"


def _depth(tex: str) -> int:
    depth = deepest = 0
    for char in tex:
        depth += (char == "{") - (char == "}")
        deepest = max(deepest, depth)
    return deepest

"""Markup in texts, as HTML, JATS, MathML and character references, as plain text; and what stands for a missing value."""

from __future__ import annotations

import html
import re
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from ...files.schema import is_list, is_text, texts

_INLINE = "a abbr b big bold cite code del dfn em font i ins italic kbd mark monospace nobr overline q roman s samp sans-serif sc scp small"
_INLINE += " span strike strong styled-content sub sup tt u underline var wbr xref ext-link named-content inline-formula inf ital"
_BLOCKS = "abstract abstracttext blockquote br caption center dd disp-formula div dl dt h1 h2 h3 h4 h5 h6 hr img label li list list-item"
_BLOCKS += " ol p pre sec section table tbody td th title tr ul"
_FORMULAS = "math mfenced mfrac mi mmultiscripts mn mo mover mpadded mphantom mprescripts mroot mrow ms mspace msqrt mstyle msub"
_FORMULAS += " msubsup msup mtable mtd mtext mtr munder munderover none semantics tex-math annotation annotation-xml alternatives"
_NAME = r"(?:[a-z][\w.-]*:)?"
_ATTRIBUTES = r"(?:\s+[\w:.-]+\s*=\s*(?:\"[^\"<>]*\"|'[^'<>]*'|[\w#.%-]+))*\s*/?"
TAG = re.compile(rf"</?{_NAME}(?:{'|'.join((_INLINE + ' ' + _BLOCKS + ' ' + _FORMULAS).split())}){_ATTRIBUTES}>", re.IGNORECASE)
"""A tag of JATS, MathML or HTML; not every angle bracket: `a < b` and `<1.5%` stay."""
_BLOCK = re.compile(rf"</?{_NAME}(?:{'|'.join(_BLOCKS.split())}){_ATTRIBUTES}>", re.IGNORECASE)
_HEADING = re.compile(rf"<({_NAME}title){_ATTRIBUTES}>\s*abstract\s*</\1>", re.IGNORECASE)
_FORMULA = re.compile(rf"<({_NAME}math)\b[^<>]*>.*?</\1>", re.IGNORECASE | re.DOTALL)
_TEX = re.compile(rf"<({_NAME}(?:annotation(?:-xml)?|tex-math))\b[^<>]*>.*?</\1>", re.IGNORECASE | re.DOTALL)
"""The same formula in another notation."""
_SCRIPTS = re.compile(rf"<({_NAME}(?:sub|sup|inf))>([^<>]{{1,40}})</\1>", re.IGNORECASE)
_INDEXED = re.compile(
    rf"<({_NAME}m(sub|sup))\b[^<>]*>\s*(<{_NAME}m[ino]\b[^<>]*>[^<>]*</{_NAME}m[ino]>)\s*<{_NAME}m[ino]\b[^<>]*>([^<>]*)</{_NAME}m[ino]>\s*</\1>",
    re.IGNORECASE,
)
_PLAIN, _LOW, _HIGH = (
    "0123456789+-−=()aehijklmnoprstuvxβγρφχ",
    "₀₁₂₃₄₅₆₇₈₉₊₋₋₌₍₎ₐₑₕᵢⱼₖₗₘₙₒₚᵣₛₜᵤᵥₓᵦᵧᵨᵩᵪ",
    "0123456789+-−=()abcdefghijklmnoprstuvwxyz",
)
SUBSCRIPTS = dict(zip(_PLAIN, _LOW, strict=True))
SUPERSCRIPTS = dict(zip(_HIGH, "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁼⁽⁾ᵃᵇᶜᵈᵉᶠᵍʰⁱʲᵏˡᵐⁿᵒᵖʳˢᵗᵘᵛʷˣʸᶻ", strict=True))
_REFERENCE = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")
_GLUED = re.compile(
    rf"(?:(?<=\b(?:as|at|by|in|of|on|or|to))|(?<=\b(?:and|for|the)))(?=<{_NAME}(?:i|b|em|italic|bold)>)"
    r"|(?<=</i>)(?=(?:and|at|by|for|in|of|on|or|to)\b)"
)
"""Where Crossref lost the blank between a small word and one in italics: `Solitons in<i>N</i>-Coupled`."""
_LONE = re.compile(r"<([abiqsu])>", re.IGNORECASE)
"""What may as well be a letter in angle brackets, where nothing closes it."""
MOST_ESCAPES = 4
"""How often a character reference may have been escaped anew: `&amp;amp;lt;`."""

_NOTHING = re.findall(r"\S+", "nan NaN None NULL null n/a N/A #N/A #REF! #VALUE! #NAME? #DIV/0! <NA> <nil> NaT (null)")
PLACEHOLDERS = frozenset([*_NOTHING, "-", "--", "—", "–", ".", "?", "[]", "{}", "[object Object]"])
"""What programs write in place of a missing value."""
PHRASES = frozenset({"[no abstract available]", "no abstract available", "no abstract available.", "[no abstract]", "[no title available]"})
PHRASES |= {"[no author name available]", "[no author id available]", "abstract not available", "not available"}
"""What databases write in place of one, in lower case."""


LONGEST_PHRASE = 30


def is_placeholder(text: str) -> bool:
    """Whether a text stands for a missing value: `N/A`, `nan`, `[No abstract available]`."""
    bare = text.strip()
    return bare in PLACEHOLDERS or (len(bare) <= LONGEST_PHRASE and bare.lower() in PHRASES)


MARKED = r"&#?\w{1,31};|</?[A-Za-z]"
"""What every text with markup has."""


def plain_text(text: str) -> str:
    """A text without tags and character references, in one line if it had any; digits that stood low or high still do.

    >>> plain_text("<jats:title>Abstract</jats:title><jats:p>A &amp;lt; B, H<sub>2</sub>O</jats:p>")
    'A < B, H₂O'
    >>> plain_text("Solitons in<i>N</i>-Coupled Equations")
    'Solitons in N-Coupled Equations'
    """
    if "<" not in text and "&" not in text:
        return text
    marked = text
    for _ in range(MOST_ESCAPES):
        if "<" in text:
            text = _without_tags(text)
        if "&" not in text or (unescaped := _REFERENCE.sub(lambda match: html.unescape(match[0]), text)) == text:
            break
        text = unescaped
    else:
        text = _without_tags(text)
    return text if text == marked else " ".join(text.split())


def _without_tags(text: str) -> str:
    text = _FORMULA.sub(lambda match: _INDEXED.sub(_indexed, re.sub(r"(?<=>)\s+|\s+(?=<)", "", _TEX.sub("", match[0]))), text)
    text = _BLOCK.sub(" ", _HEADING.sub("", _SCRIPTS.sub(_script, text)))
    text = _GLUED.sub(" ", text)
    lone = {match[1].lower() for match in _LONE.finditer(text) if f"</{match[1]}" not in text}
    return TAG.sub(lambda match: match[0] if lone and match[0][1:-1].lower() in lone else "", text)


def _script(match: re.Match[str]) -> str:
    return script(match[2], is_low=not match[1].lower().endswith("sup"))


def _indexed(match: re.Match[str]) -> str:
    return match[3] + script(match[4], is_low=match[2].lower() == "sub")


def script(text: str, *, is_low: bool) -> str:
    """A text as subscript or superscript in Unicode's own characters; as it is where there is none for some character."""
    characters = SUBSCRIPTS if is_low else SUPERSCRIPTS
    bare = text.strip()
    return "".join(characters[char] for char in bare) if bare and all(char in characters for char in bare) else text


def plain_column(values: Any) -> Any:
    """An array, or a chunked one, of texts or lists of texts, without markup, and null for what stands for a missing value."""
    if isinstance(values, pa.ChunkedArray):
        return pa.chunked_array([plain_column(chunk) for chunk in values.chunks], values.type)
    if is_list(values.type):
        inner = values.flatten()
        if inner is None or plain_column(inner).equals(inner):
            return values
        lists = ([_value(item) for item in items] if items is not None else None for items in values.to_pylist())
        return pa.array([items and [item for item in items if item is not None] for items in lists], values.type)
    if not is_text(values.type):
        return values
    is_marked = pc.match_substring_regex(values, MARKED)
    short = pc.utf8_trim_whitespace(pc.if_else(pc.less_equal(pc.binary_length(values), LONGEST_PHRASE), values, None))
    is_placeholder = pc.or_(pc.is_in(short, _HOLDERS), pc.is_in(pc.utf8_lower(short), _PHRASES))
    flags = pc.fill_null(pc.or_(is_marked, is_placeholder), False)
    if not pc.any(flags).as_py():
        return values
    plain = [_value(text) for text in values.filter(flags).to_pylist()]
    return pc.replace_with_mask(values, flags, pa.array(plain, values.type))


def without_placeholders(values: Any) -> Any:
    """An array, or a chunked one, of texts with null for the words that stand for a missing value; lists and other types as they are."""
    if not is_text(values.type):
        return values
    flags = pc.fill_null(pc.is_in(values, _WORDS), False)
    return pc.if_else(flags, pa.scalar(None, values.type), values) if pc.any(flags).as_py() else values


_WORDS, _HOLDERS, _PHRASES = texts(sorted(_NOTHING)), texts(sorted(PLACEHOLDERS)), texts(sorted(PHRASES))


def _value(text: str | None) -> str | None:
    return None if text is None or is_placeholder(text) else plain_text(text)

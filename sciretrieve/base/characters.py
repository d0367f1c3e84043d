"""Normalisation of characters in all incoming texts, typed, sent or published.

`clean` is for stored and shown text, `typed` for queries, `in_filter` for filters. ASCII is unchanged by all of them.
"""

from __future__ import annotations

import re
import unicodedata

JOINERS = "\u200c\u200d"
"""Joiners, which matter in Persian, Indic scripts and emoji, and not in Latin letters."""
INVISIBLE = r"\u00ad\u034f\u061c\u115f\u1160\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb"
"""Invisible characters: soft hyphens, direction marks, byte order marks, fillers and others."""
_UNSEEN = re.compile(rf"\u00ad[ \t]*\n[ \t]*|[{INVISIBLE}\U000e0000-\U000e001f]+")
_JOINING = r"\u0590-\u1fff\u2600-\u275a\u2761-\u27bf\u2c00-\u2dff\u3040-\ufaff\ufb1d-\ufe0f\ufe70-\ufefc\U00010000-\U0010ffff"
"""Letters and emoji that may follow a joiner; no punctuation."""
_STRAY_JOINERS = re.compile(rf"(?<![{_JOINING}])[{JOINERS}]+|[{JOINERS}]+(?![{_JOINING}{JOINERS}])")
_BLANKS = str.maketrans(dict.fromkeys("\u00a0\u1680\u202f\u205f\u3000", " ") | dict.fromkeys(map(chr, range(0x2000, 0x200B)), " "))
_BLANKS |= str.maketrans(dict.fromkeys("\u0085\u2028\u2029", "\n"))
_HEAPS = re.compile(r"([^\w\x00-\x7f]{100,})")
"""Long runs of combining marks. They are no text, and normalising them takes quadratic time."""

DASHES = "\u2010\u2011\u2012\u2013\u2212"
"""Hyphens, the en dash and the minus sign. The em dash separates words."""
QUOTES = "“”„‟«»‹›「」『』〝〞〟❝❞"
APOSTROPHES = "‘’‚‛ʼ´❛❜"
_WIDE = {
    code: plain
    for code in (*range(0xFF01, 0xFF5F), *range(0xFE50, 0xFE6C))
    if (plain := unicodedata.normalize("NFKC", chr(code))).isascii() and plain not in "!,;?$\\"
}
"""Full-width forms, except punctuation that is no operator and separates words in Chinese and Japanese."""
_SIGNS = _WIDE | str.maketrans(dict.fromkeys(QUOTES, '"') | dict.fromkeys(APOSTROPHES, "'") | dict.fromkeys(DASHES, "-"))
_SIGNS |= str.maketrans({"∗": "*", "∼": "~"})
_QUOTED = re.compile(rf"(?<!\w)[‘‚‛❛]((?:[^{APOSTROPHES}{QUOTES}＂\"\n]|(?<=\w)[’ʼ´](?=\w))+)[’‘❜](?!\w)")
"""Text in single quotation marks around words, which are no apostrophes."""

_COMPARISONS = str.maketrans({"≥": ">=", "≤": "<=", "≠": "!="})
_FILTER_TEXT = re.compile(
    r"(\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'|`[^`]*`)"
    r"|(?:[“”„‟]([^“”]*)[“”]|«([^»]*)»|»([^«]*)«|‹([^›]*)›|「([^」]*)」|『([^』]*)』|＂([^＂]*)＂|[‘‚‛]((?:[^‘’]|(?<=\w)’(?=\w))*)[’‘])"
)


def clean(text: str) -> str:
    """Compose a text (Unicode NFC), remove invisible characters, and make its blanks plain. Quotation marks and dashes are kept.

    >>> clean("mu\\u0308ller\\u00a0inter\\u00adaction")
    'müller interaction'
    """
    if text.isascii():
        return text
    form = composed(_STRAY_JOINERS.sub("", _UNSEEN.sub("", text)).translate(_BLANKS))
    if form == text or not any(joiner in form for joiner in JOINERS):
        return form
    return clean(form)  # composition may have moved marks before a joiner


def composed(text: str) -> str:
    """Compose a text (Unicode NFC), except long runs of marks."""
    if len(text) < 100:
        return unicodedata.normalize("NFC", text)
    return "".join(part if place % 2 else unicodedata.normalize("NFC", part) for place, part in enumerate(_HEAPS.split(text)))


def typed(text: str) -> str:
    """Clean a typed query, with quotation marks, hyphens and full-width signs as on a keyboard, so that operators are recognised.

    >>> typed("„stem cell“ −survey title：ａｔｌａｓ")
    '"stem cell" -survey title:atlas'
    """
    text = clean(text)
    return text if text.isascii() else _QUOTED.sub(r'"\1"', text).translate(_SIGNS)


def in_filter(text: str) -> str:
    """Clean a filter in the same way. Quoted text is only cleaned, and names in backquotes are unchanged.

    >>> in_filter("year ≥ 2018 and venue == “A–B”")
    'year >= 2018 and venue == "A–B"'
    """
    if text.isascii():
        return text
    parts, end = [], 0
    for match in _FILTER_TEXT.finditer(text):
        quoted = next((group for group in match.groups()[1:] if group is not None), None)
        value = match[0] if quoted is None else '"' + re.sub(r'(["\\])', r"\\\1", quoted) + '"'
        parts += [_of_signs(text[end : match.start()]), value if value.startswith("`") else clean(value)]
        end = match.end()
    return "".join([*parts, _of_signs(text[end:])])


def _of_signs(text: str) -> str:
    return clean(text).translate(_SIGNS).translate(_COMPARISONS)

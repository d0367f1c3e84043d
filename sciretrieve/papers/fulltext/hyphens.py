"""Lines joined into text: hyphens at their ends, ligatures, accents that stand for themselves, and numbers of footnotes."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable

from ...base.characters import DASHES, clean
from ..corpora.markup import script
from .columns import ColumnLine
from .glyphs import BROKEN_OFF, Atom

LIGATURES = re.compile("[\ufb00-\ufb06]")
ACCENTS = {"´": "\u0301", "`": "\u0300", "ˆ": "\u0302", "¨": "\u0308", "˜": "\u0303", "¯": "\u0304", "ˇ": "\u030c", "˘": "\u0306"}
ACCENTS |= {"˚": "\u030a", "˝": "\u030b", "˙": "\u0307"}
ACCENT_FIRST = re.compile(rf"([{''.join(ACCENTS)}]) ?([^\W\d_])")
"""An accent before its letter, as old LaTeX sets it."""
CEDILLA = re.compile("([A-Za-z])¸")
STRAY = re.compile(rf"[{''.join(set(ACCENTS) - {'`'})}](?= |$)")
"""An accent whose letter stands elsewhere."""
WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
LAST_WORD = re.compile(r"([^\W\d_]+(?:-[^\W\d_]+)*)-$")
FIRST_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
SMALLER = 0.92
"""The size of what stands high or low, as a share of the line's."""
MARK = re.compile(r"[\d,]{1,5}|[*†‡§¶∗]{1,3}")
"""The mark of a footnote."""
UNITS = re.compile(r"(?:[cdkmnµ]m|\b[a-zA-Z]|(?<!\d)\d{1,3}|[)\]])$")
"""After which a number that stands high is an exponent, and no mark of a footnote."""


def text_of(line: ColumnLine, *, keeps_marks: bool = False) -> str:
    """A line's text; the marks of footnotes in it are left out, unless `keeps_marks`. A hyphen that may be due to the line's end is
    `BROKEN_OFF`.
    """
    strings: list[str] = []
    atoms = list(line.atoms)
    for place, atom in enumerate(atoms):
        text = atom.text
        if atom.size < SMALLER * line.size and abs(atom.base - line.base) > 0.12 * line.size:
            text = _script(atoms, place, line, "".join(strings), keeps_marks)
            if not text:
                if atom.is_apart:
                    strings.append(" ")
                continue
        strings.append(" " * (atom.is_apart and bool(strings)) + text)
    text = "".join(strings)
    return _plain(text[:-1].replace(BROKEN_OFF, "-") + text[-1:])


def _script(atoms: list[Atom], place: int, line: ColumnLine, before: str, keeps_marks: bool) -> str:
    """What stands high or low, in Unicode's own characters; "" for the mark of a footnote."""
    atom = atoms[place]
    is_low = atom.base > line.base
    if MARK.fullmatch(atom.text) and not is_low:
        if not before.strip():
            return atom.text + " " if keeps_marks else ""
        if not UNITS.search(before) or atom.text[0] in "*†‡§¶∗":
            return f" {atom.text}" if keeps_marks else ""
    return script(atom.text, is_low=is_low)


def _plain(text: str) -> str:
    if text.isascii():
        return text
    text = LIGATURES.sub(lambda match: unicodedata.normalize("NFKC", match[0]), text)
    if text.endswith(BROKEN_OFF):
        return _plain(text[:-1]) + BROKEN_OFF
    text = STRAY.sub("", text)
    text = CEDILLA.sub(lambda match: unicodedata.normalize("NFC", f"{match[1]}\u0327"), text)
    text = ACCENT_FIRST.sub(_accented, text)
    return " ".join(clean(text).split())


def _accented(match: re.Match[str]) -> str:
    letter = {"ı": "i", "ȷ": "j"}.get(match[2], match[2])
    composed = unicodedata.normalize("NFC", letter + ACCENTS[match[1]])
    return composed if len(composed) == 1 else match[0]


class Hyphens:
    """Joins lines. Whether a hyphen at a line's end is the word's own is known by how the word is written elsewhere in the document."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._counts: Counter[str] = Counter()
        is_broken = False
        for text in texts:
            plain = text.replace(BROKEN_OFF, "-")
            words = FIRST_WORD.sub("", plain, count=1) if is_broken else plain  # no halves of words
            is_broken = plain.endswith("-")
            self._counts.update(word.lower() for word in WORD.findall(LAST_WORD.sub("", words)))

    def join(self, before: str, after: str) -> tuple[str, str]:
        """The first of two texts as it is followed by the second, and what is between them."""
        if not before or not after:
            return before, ""
        is_broken = before.endswith(BROKEN_OFF)
        before = before.replace(BROKEN_OFF, "-")
        if before[-1] in DASHES and after[:1].isdigit():
            return before, ""
        if not before.endswith("-") or before[-2:-1].isspace() or len(before) == 1:
            return before, " "
        left, right = LAST_WORD.search(before), FIRST_WORD.match(after)
        if left is None or right is None:
            return before, "" if is_broken or after[:1].isalnum() else " "
        return (before[:-1], "") if self._is_one_word(left[1], right[0]) else (before, "")

    def _is_one_word(self, left: str, right: str) -> bool:
        joined, apart = (left + right).lower(), f"{left}-{right}".lower()
        if self._counts[joined] or self._counts[apart]:
            return self._counts[joined] >= self._counts[apart]
        if right[0].isupper() or "-" in left:
            return False
        first, second = self._counts[left.lower()], self._counts[right.partition("-")[0].lower()]
        return not (first and second and len(left) > 3 and len(right) > 3)


def unbroken(lines: Iterable[str], hyphens: Hyphens) -> str:
    """Lines of a text as one, with single blanks."""
    whole = ""
    for line in lines:
        before, between = hyphens.join(whole, " ".join(line.split()))
        whole = before + between + " ".join(line.split())
    return whole

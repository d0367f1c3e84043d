"""Text folded into plain letters, so that what is the same is spelled the same.

Scholarly text spells one thing in many ways: LaTeX becomes what it prints (`$\\alpha$` is alpha), Greek letters their names,
accented letters their plain ones, typographic dashes hyphens.
"""

from __future__ import annotations

import re
import unicodedata

from ..base.characters import DASHES, INVISIBLE, JOINERS

_STYLES = r"text\w*|math\w+|emph|it|bf|rm|em|sl|sc|tt|cal|left|right|over|frac|sqrt|hat|tilde|bar|vec|dot|label|ref|cite"
LATEX_STYLE = re.compile(rf"\\(?:{_STYLES})(?![A-Za-z])")
# an accent that is a letter is followed by a brace or a space: otherwise it is another command (\beta, \chi)
LATEX_ACCENT = re.compile(r"\\(?:[\"'`^~=.]\s*\{?|[uvHcdbkr](?:\s*\{|\s+))\\?([A-Za-z])\}?")
LATEX_MARKS = str.maketrans({"$": None, "{": None, "}": None})
LATEX_JOINED, LATEX_COMMAND = re.compile(r"(?<=[-/_^])\\"), re.compile(r"\\")
"""The backslash of a command after a joint, which keeps the joint (TNF-\\alpha), and of any other command."""
EXPONENT = re.compile(r"(?<=[^\W_])\^\{?(?=-\d)")
"""The sign before a negative exponent: 10^-3 is 10-3, as 10⁻³ is."""
BEYOND_ASCII = re.compile(r"[^\x00-\x7f]+")
UNSEEN = re.compile(rf"[{INVISIBLE}{JOINERS}\ufe00-\ufe0f]")

# letters that Unicode does not decompose
LETTERS = str.maketrans(
    {"ø": "o", "Ø": "o", "ł": "l", "Ł": "l", "đ": "d", "Đ": "d", "ß": "ss", "æ": "ae", "Æ": "ae", "œ": "oe", "Œ": "oe", "ı": "i"}
)


def _greek() -> dict[int, str]:
    """Greek letter -> its English name, for both cases."""
    names = {}
    for code in (*range(0x391, 0x3AA), *range(0x3B1, 0x3CA)):
        name = unicodedata.name(chr(code), "").split()[-1:]
        if name:
            names[code] = {"LAMDA": "lambda", "SIGMA": "sigma"}.get(name[0], name[0].lower())
    return names


GREEK = _greek()
PLAIN_DASHES = str.maketrans(dict.fromkeys(DASHES, "-"))
"""What else stands for a hyphen, such as the sign that is left of 10⁻³."""
LOOK_ALIKES = str.maketrans("ɑɣ∆", "αγΔ")
"""Characters that are typed for Greek letters."""


MARKS = ((0x700, 0x1AAF), (0x1B00, 0x1CFF))
"""Where marks are parts of words as letters are, of Syriac and Thaana up to the scripts of India and South East Asia."""
STAND_INS = 0x17000 - 0x700
"""Such a mark stands as a letter of a script that nobody writes, Tangut, this much further on: what is a word is said by letters."""
KANA = range(0x3041, 0x3100)
"""In which a mark makes another letter."""


class _Folded(dict[int, str]):
    """Character -> what it is in plain letters, looked up once per character.

    Character by character, since to normalise a text is to sort the combining marks that follow each other, which takes time that
    grows with the square of their number. Here they are left out, or stand as letters.
    """

    def __init__(self, *, marks: bool) -> None:
        super().__init__()
        self._marks = marks

    def __missing__(self, code: int) -> str:
        char = chr(code)
        plain = unicodedata.normalize("NFKD", "-" if char in DASHES else "" if UNSEEN.match(char) else char)
        if self._marks:
            plain = char if code in KANA else plain.translate(LOOK_ALIKES).translate(PLAIN_DASHES)
        plain = "".join(map(self._unmarked, plain)).translate(GREEK).translate(LETTERS)
        self[code] = plain
        return plain

    def _unmarked(self, char: str) -> str:
        if not self._marks or not unicodedata.category(char).startswith("M"):
            return "" if unicodedata.combining(char) else char
        return chr(ord(char) + STAND_INS) if any(first <= ord(char) <= last for first, last in MARKS) else ""


FOLDED, FOLDED_BEFORE = _Folded(marks=True), _Folded(marks=False)


IN_NAMES = str.maketrans(
    "βιοΑΒΕΖΗΙΚΜΝΟΡΤΥΧ" + "асеіјорѕухАВСЕНІЈКМОРЅТУХ",
    "ßıoABEZHIKMNOPTYX" + "aceijopsyxABCEHIJKMOPSTYX",
)
"""Greek and Cyrillic letters that stand for the Latin ones that they look like, within a name."""
_MIXED = re.compile(r"[^\W\d_]*[A-Za-z\u00c0-\u024f][^\W\d_]*")
"""A word with a Latin letter."""
_DIGRAPH = re.compile(r"(?<=[aou])e")
LONGEST_NAME = 60
"""Letters of a word that may be of a person's name."""


def fold_name(text: str) -> str:
    """`fold` of a person's name, in which a Greek or Cyrillic letter of a Latin word is the Latin one that it looks like: Strauβ is
    strauss."""
    return fold(text if text.isascii() else _MIXED.sub(lambda match: match[0].translate(IN_NAMES), text))


def without_digraphs(word: str) -> str:
    """A folded word of a name, the same however its umlauts are written: Müller, Mueller and Muller are muller."""
    return _DIGRAPH.sub("", word)


def spellings(word: str) -> list[str]:
    """The ways in which a folded word of a name may be spelled with umlauts, as it is first: muller, mueller; of what is too long for a
    name, the one."""
    if len(word) > LONGEST_NAME:
        return [word]
    plain = without_digraphs(word)
    places = [place for place, letter in enumerate(plain, 1) if letter in "aou"]
    return list(dict.fromkeys([word, plain, *(f"{plain[:place]}e{plain[place:]}" for place in places)]))


def fold(text: str, *, marks: bool = True) -> str:
    """A text in lower case, spelled in plain letters; without `marks` as indexes built before 2026-11-25 have it, in which the vowel signs
    of Hindi part words, and Japanese has none of its marks."""
    if "\\" in text or "$" in text:
        text = LATEX_ACCENT.sub(r"\1", text)
        text = LATEX_STYLE.sub(" ", text).translate(LATEX_MARKS)
        text = LATEX_COMMAND.sub(" ", LATEX_JOINED.sub("", text))
    if not text.isascii():
        table = FOLDED if marks else FOLDED_BEFORE
        text = BEYOND_ASCII.sub(lambda match: match[0].translate(table), text)  # of most texts, a few characters
    if marks and "^" in text:
        text = EXPONENT.sub("", text)
    return text.lower()

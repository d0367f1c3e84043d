"""Text folded into plain letters, so that what is the same is spelled the same.

Scholarly text spells one thing in many ways: LaTeX becomes what it prints (`$\\alpha$` is alpha), Greek letters their names,
accented letters their plain ones, typographic dashes hyphens.
"""

from __future__ import annotations

import re
import unicodedata

from ..characters import DASHES, INVISIBLE, JOINERS

_STYLES = r"text\w*|math\w+|emph|it|bf|rm|em|sl|sc|tt|cal|left|right|over|frac|sqrt|hat|tilde|bar|vec|dot|label|ref|cite"
LATEX_STYLE = re.compile(rf"\\(?:{_STYLES})(?![A-Za-z])")
# an accent that is a letter is followed by a brace or a space: otherwise it is another command (\beta, \chi)
LATEX_ACCENT = re.compile(r"\\(?:[\"'`^~=.]\s*\{?|[uvHcdbkr](?:\s*\{|\s+))\\?([A-Za-z])\}?")
LATEX_MARKS = str.maketrans({"$": None, "{": None, "}": None})
LATEX_JOINED, LATEX_COMMAND = re.compile(r"(?<=[-/_^])\\"), re.compile(r"\\")
"""The backslash of a command after a joint, which keeps the joint (TNF-\\alpha), and of any other command."""
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


class _Folded(dict[int, str]):
    """Character -> what it is in plain letters, looked up once per character.

    Character by character, since to normalise a text is to sort the combining marks that follow each other, which takes time that
    grows with the square of their number. Here they are left out.
    """

    def __missing__(self, code: int) -> str:
        char = chr(code)
        plain = unicodedata.normalize("NFKD", "-" if char in DASHES else "" if UNSEEN.match(char) else char)
        plain = "".join(char for char in plain if not unicodedata.combining(char)).translate(GREEK).translate(LETTERS)
        self[code] = plain
        return plain


FOLDED = _Folded()


def fold(text: str) -> str:
    """A text in lower case, spelled in plain letters."""
    if "\\" in text or "$" in text:
        text = LATEX_ACCENT.sub(r"\1", text)
        text = LATEX_STYLE.sub(" ", text).translate(LATEX_MARKS)
        text = LATEX_COMMAND.sub(" ", LATEX_JOINED.sub("", text))
    if not text.isascii():
        text = BEYOND_ASCII.sub(lambda match: match[0].translate(FOLDED), text)  # of most texts, a few characters
    return text.lower()

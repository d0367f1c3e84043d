"""Which lines of a PDF are heads of sections: by their numbers, their words, their letters, and the room around them."""

from __future__ import annotations

import re
from dataclasses import dataclass

NUMBERED = re.compile(r"((?:\d{1,2}|[A-H])(?:\.\d{1,2}){0,3}|[IVX]{1,5}(?=\.))[.:)]?\s+(?=\S)")
"""The number of a section, or the letter of an appendix."""
KNOWN = re.compile(
    r"abstract|summary|introduction|background|motivation|preliminaries|limitations|acknowledge?ments?|appendi(?:x|ces)|keywords|data|"
    r"(?:related|previous|prior) (?:works?|research|approaches)|(?:materials? and )?methods?(?: and materials?)?|methodology|datasets?|"
    r"experiments?|experimental (?:setup|settings?|results|evaluation)|evaluation|analysis|results?(?: and (?:discussion|analysis))?|"
    r"discussions?(?: and (?:conclusions?|future work))?|conclusions?(?: and (?:future (?:works?|directions?)|discussion|outlook))?|"
    r"concluding remarks|future works?|ethics statement|funding|data availability|(?:competing|conflicts? of) interests?",
    re.IGNORECASE,
)
REFERENCES = re.compile(
    r"(?:references?|bibliography|literature cited|works cited|reference list|cited literature|literatur(?:verzeichnis)?)", re.IGNORECASE
)
AFTER_REFERENCES = re.compile(
    r"(?:appendix|appendices|supplement|acknowledg|[A-H](?:\.\d+)*\.? [A-Z]|notes?$|figures?$|tables?$)", re.IGNORECASE
)
RUN_IN = re.compile(r"(abstract|summary)\s*[.:—–-]+\s*(?=[A-Z“\"])", re.IGNORECASE)
"""The head of an abstract that begins in the same line."""
SPACED = re.compile(r"(?:[A-Za-z] ){3,}[A-Za-z]")
LAST_MARK = re.compile(r"[,;:]$|[a-z]\.$|\d\.$")
MOST_UNSEEN = 2
"""Heads between two that may not have been recognised."""
MOST_WORDS = 14
APART = 1.15
"""Usual distances of lines above which a line is set apart from the one above it."""


@dataclass(frozen=True, slots=True)
class LineLook:
    """How a line looks: whether it is bold, larger than the text, how far it is from the lines above and below, in usual distances, and the
    share of its column's width that it takes."""

    is_bold: bool
    is_large: bool
    above: float
    below: float
    width: float


def bare(text: str) -> str:
    """A head without its number, marks after it, and blanks between its letters."""
    text = SPACED.sub(lambda match: match[0].replace(" ", ""), text)
    match = NUMBERED.match(text)
    return text[match.end() if match else 0 :].strip(" .:—–-*")


def level_of(text: str) -> int:
    """How deep a head's section lies, from 1."""
    match = NUMBERED.match(text)
    return match[1].count(".") + 1 if match else 1


def number_of(text: str) -> list[int]:
    """The number of a head, part by part: [3, 2] for 3.2; none for letters and Roman numbers."""
    match = NUMBERED.match(text)
    return [int(part) for part in match[1].split(".")] if match and match[1][0].isdigit() and match[1].replace(".", "").isdigit() else []


def follows(number: list[int], last: list[int]) -> bool:
    """Whether a head's number comes next after that of the last one, if one or two in between were not seen: else it is that of an item."""
    if not last:
        return number[0] <= 1 + MOST_UNSEEN
    shared = min(len(number), len(last))
    same = next((place for place in range(shared) if number[place] != last[place]), shared)
    if same == len(number):
        return False
    step = number[same] - (last[same] if same < len(last) else 0)
    return 1 <= step <= 1 + MOST_UNSEEN


def is_known(text: str) -> bool:
    """Whether a head is one that many papers have."""
    name = bare(text)
    return KNOWN.fullmatch(name) is not None or REFERENCES.fullmatch(name) is not None


def is_head(text: str, look: LineLook) -> bool:
    """Whether a line is a head."""
    name = bare(text)
    words = name.split()
    if not words or len(words) > MOST_WORDS or not name[0].isalpha() or name[0].islower():
        return False
    letters = [char for char in name if char.isalpha()]
    if len(letters) < 3 or len(letters) < 0.6 * len(name.replace(" ", "")):
        return False
    is_numbered = NUMBERED.match(text) is not None
    is_capital = len(letters) > 3 and all(char.isupper() for char in letters)
    stands_out = look.is_bold or look.is_large or is_capital
    if is_known(text):
        return stands_out or is_numbered or look.above > APART
    if is_numbered:
        if stands_out and not name.endswith((",", ";")):
            return look.above > 0.95 and (look.above > APART or not name.endswith("."))
        return look.above > 1.25 and look.below > 1.02 and len(words) <= 9 and look.width < 0.9 and not LAST_MARK.search(name)
    if look.above <= APART or LAST_MARK.search(name) or len(words) > 11:
        return False
    if look.below < 1.05 and look.width > 0.8:
        return False  # the first line of a paragraph
    return (look.is_bold or look.is_large) or (is_capital and len(words) <= 8 and look.width < 0.9)

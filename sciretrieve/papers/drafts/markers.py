"""Citations that are written out in a text: (Tillmann and Ney, 2000), Och et al. (2001), [12]."""

from __future__ import annotations

import re
from collections.abc import Iterator

from .draft import Masked, Mention

_NAME = r"(?:\b(?:de|del|van|der|den|von|la|le|di|du|dos|al|el|ten|ter)\s{1,3}){0,3}\b[^\W\d_a-zà-öø-ÿ][\w’'´`-]{0,40}[^\W\d_]\b"
_COMMA, _AND = r"\s{0,3},\s{0,3}", r"\s{0,3},?\s{0,3}(?:and|&|und|et)\s{1,3}"
_FURTHER = r"\s{0,3},?\s{1,3}et\.?\s{1,3}al\.?|\s{1,3}and\s{1,3}(?:others|colleagues)"
NAMES = rf"{_NAME}(?:{_COMMA}{_NAME}){{0,8}}(?:{_AND}{_NAME})?(?:{_FURTHER})?"
"""Family names as texts cite them: one, several with "and" before the last one, or the first with "et al."."""
_YEAR = r"(?:1[89]|20)\d\d[a-z]?"
_YEARS = rf"{_YEAR}(?:\s{{0,3}},\s{{0,3}}(?:{_YEAR}|[b-z]\b)){{0,9}}"
TEXTUAL = re.compile(rf"(?P<names>{NAMES})(?:['’]s?)?\s*(?P<year>[(\[]\s*{_YEARS}(?:\s*[,:;]\s*(?:pp?\.\s*)?[\d–-]+)?\s*[)\]])")
GROUP = re.compile(r"[(\[](?P<works>[^()\[\]]{3,600})[)\]]")
WORK = re.compile(rf"(?P<names>{NAMES})(?:['’]s?)?\s*,?\s*(?P<year>{_YEAR})\b")
NUMBERS = re.compile(r"\[\d{1,3}(?:\s*[,;–-]\s*\d{1,3})*\]")


def find_markers(source: Masked) -> None:
    """Take all citations that are written out from the words of a source. Of `Och et al. (2001)` the names remain, since the sentence has
    them."""
    for mention in _mentions(source.shape):
        source.mention(mention)


def _mentions(text: str) -> Iterator[Mention]:
    for match in TEXTUAL.finditer(text):
        years = re.findall(r"(?:1[89]|20)\d\d", match["year"])
        yield Mention(match.start("year"), match.end("year"), names=tuple(f"{plain_names(match['names'])} {year}" for year in years))
    textual = {match.start("year") for match in TEXTUAL.finditer(text)}
    for match in GROUP.finditer(text):
        works = [f"{plain_names(work['names'])} {work['year'][:4]}" for work in WORK.finditer(match["works"])]
        if works and match.start() not in textual:
            yield Mention(*match.span(), names=tuple(works))
    for match in NUMBERS.finditer(text):
        yield Mention(*match.span())


def plain_names(names: str) -> str:
    """Names as a lookup reads them: without "et al." and a last 's, and with single blanks."""
    return re.sub("['’]s$", "", " ".join(re.sub(_FURTHER, "", names).split()))

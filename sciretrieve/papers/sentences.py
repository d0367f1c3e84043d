"""Splitting text into sentences, by punctuation alone."""

from __future__ import annotations

import re
from collections.abc import Iterator

SENTENCE_END = re.compile(
    r"(?:(?<=[.!?])|(?<=[.!?][\"'”’)\]])|(?<=[.!?][\"'”’)\]]{2}))\s+(?=[\"'“‘(\[]*[A-Z0-9À-ÖØ-Þ])"
    r"|(?:(?<=[。！？｡।॥؟۔།။።])|(?<=[。！？｡][」』”’）)]))(?![」』”’）)。！？])\s*(?=\S)"
)
"""The second line is for scripts with their own punctuation, which needs no blank after it."""
NO_END = re.compile(
    r"(?:\b(?:e\.g|i\.e|cf|al|vs|viz|Figs?|Tabs?|Eqs?|Eqns?|Secs?|Sects?|Refs?|Chs?|Nos?|Vols?|Dr|Prof|Mr|Mrs|Ms|St|pp|approx|resp|ca)\."
    r"|\b[A-Z]\.)[\"')\]]*$"
)
INITIAL = re.compile(r"\b[A-Z]\.[\"')\]]*$")
OPENING = re.compile(
    r"(?:A|All|Also|An|And|As|At|But|By|Each|Finally|First|For|From|Here|Hence|However|If|In|It|Its|Moreover|Note|On|Our|Since|So|Such|That|The|"
    r"Then|There|These|They|This|Those|Thus|To|We|When|Where|While|With)\s"
)
"""How a sentence begins, and no name: after a capital, it is no initial's (`of type B. The other`)."""
LONGEST_ABBREVIATION = 12


def sentence_ranges(text: str) -> Iterator[tuple[int, int]]:
    """The ranges of characters of a text's sentences, without blanks around them. Abbreviations and initials do not end a sentence."""
    start = len(text) - len(text.lstrip())
    for match in SENTENCE_END.finditer(text, start):
        last = text[max(start, match.start() - LONGEST_ABBREVIATION) : match.start()]
        if NO_END.search(last) and not (INITIAL.search(last) and OPENING.match(text, match.end())):
            continue
        yield start, match.start()
        start = match.end()
    if end := len(text.rstrip()):
        yield start, end


def sentences(text: str) -> list[str]:
    """Split a text into sentences, each with single blanks."""
    text = " ".join(text.split())
    return [text[start:end] for start, end in sentence_ranges(text)]

"""Splitting text into sentences, by punctuation alone."""

from __future__ import annotations

import re

SENTENCE_END = re.compile(
    r"(?:(?<=[.!?])|(?<=[.!?][\"')\]])|(?<=[.!?][\"')\]]{2}))\s+(?=[\"'(\[]*[A-Z0-9])"
    r"|(?:(?<=[。！？｡।॥؟۔།။។])|(?<=[。！？｡][」』”’）)]))(?![」』”’）)。！？])\s*(?=\S)"
)
"""The second line is for scripts with their own punctuation, which needs no blank after it."""
NO_END = re.compile(r"(?:\b(?:e\.g|i\.e|cf|al|vs|Fig|Figs|Eq|Eqs|Ref|Refs|Dr|No|approx|resp|ca)\.|\b[A-Z]\.)[\"')\]]*$")


def sentences(text: str) -> list[str]:
    """Split a text into sentences. Abbreviations and initials do not end a sentence."""
    sentence_parts: list[list[str]] = []
    for part in SENTENCE_END.split(" ".join(text.split())):
        if sentence_parts and NO_END.search(sentence_parts[-1][-1]):
            sentence_parts[-1].append(part)
        elif part:
            sentence_parts.append([part])
    return [" ".join(parts) for parts in sentence_parts]

"""Antonyms of the adjectives that abstracts have: a list of our own, since WordNet, which paper 003's authors asked, is a download."""

from __future__ import annotations

from importlib.resources import files

_PAIRS = [line.split() for line in (files(__package__) / "antonyms.txt").read_text(encoding="utf-8").splitlines()][::-1]
ANTONYMS = {second: first for first, second in _PAIRS} | {pair[0]: pair[1] for pair in _PAIRS}
"""Both directions of each pair; a word's own pair counts before one in which it is the second, and of several the first."""


def antonym(word: str) -> str:
    """The antonym, with a capital if the word has one; the word itself if none is known."""
    other = ANTONYMS.get(word.lower())
    if other is None:
        return word
    return other.capitalize() if word.istitle() else other

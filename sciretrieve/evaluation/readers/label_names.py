"""Names of labels, found in papers: the matching of MAPLE (Zhang et al. 2023), for sets whose matches are not at hand."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

WORDS = re.compile(r"\w+")


class LabelNames:
    """Which labels are named in a text: all words of one of a label's names, one after the other, whatever their case.

    The authors' code (yuzhimanhua/MAPLE, OAGBERT/match.py and match_mesh.py) looks for the words between spaces, in texts that are in
    lower case already; here punctuation separates words, too.
    """

    def __init__(self, labels: Iterable[tuple[str, Sequence[str]]]) -> None:
        self._labels: dict[tuple[str, ...], list[str]] = {}
        for label, names in labels:
            for name in names:
                self._labels.setdefault(_words(name), []).append(label)
        self._labels.pop((), None)
        # only the lengths of names that begin with a word are tried at that word
        self._lengths: dict[str, set[int]] = {}
        for words in self._labels:
            self._lengths.setdefault(words[0], set()).add(len(words))

    def within(self, text: str) -> set[str]:
        """The labels that a text names."""
        words = _words(text)
        return {
            label
            for start, word in enumerate(words)
            for length in self._lengths.get(word, ())
            for label in self._labels.get(words[start : start + length], ())
        }


def _words(text: str) -> tuple[str, ...]:
    return tuple(WORDS.findall(text.lower()))

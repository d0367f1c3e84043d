"""An in-memory index of short texts, such as titles and names, by whole and unfinished words. It takes some 20 bytes per word."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ..base.types import Mask
from ..files.schema import integers
from ..matching.lexical.vocabulary import Vocabulary

LAST = "\U0010ffff"
"""Sorts after every word in code-point order."""

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Groups:
    """Numbers in groups. Group i is `values[ends[i - 1]:ends[i]]`, ascending."""

    values: npt.NDArray[np.integer]
    ends: Ints

    @classmethod
    def of(cls, groups: Ints, values: Ints, count: int) -> Groups:
        """Distinct values of each of `count` groups. `groups` has each value's group."""
        width = int(values.max(initial=0)) + 1
        keys = np.unique(groups * width + values)
        return cls((keys % width).astype(np.int32), np.searchsorted(keys, np.arange(1, count + 1) * width))

    def between(self, first: int, end: int) -> npt.NDArray[np.integer]:
        """Values of the groups from `first` to before `end`."""
        return self.values[self.ends[first - 1] if first else 0 : self.ends[end - 1] if end else 0]

    @property
    def sizes(self) -> Ints:
        """Number of values per group, (groups,)."""
        return np.diff(self.ends, prepend=0)


def ranked(texts: pa.StringArray) -> tuple[pa.StringArray, Ints]:
    """Distinct texts, ascending, and each text's position among them, (texts,)."""
    encoded = texts.dictionary_encode()
    order = pc.sort_indices(encoded.dictionary).to_numpy()
    ranks = np.empty(len(order), np.int64)
    ranks[order] = np.arange(len(order))
    return encoded.dictionary.take(integers(order.astype(np.int64))), ranks[encoded.indices.to_numpy()]


class WordIndex:
    """Finds the texts that contain a word."""

    def __init__(self, texts: pa.StringArray, separator: str) -> None:
        """`texts` consist of words with the separator between them."""
        split = pc.split_pattern(texts, separator)
        words, numbers = ranked(pc.list_flatten(split))
        self._size = len(texts)
        self._words = Vocabulary(words)
        self._with_word = Groups.of(numbers, pc.list_parent_indices(split).to_numpy().astype(np.int64), len(words))

    def having(self, word: str, *, is_whole: bool) -> Mask:
        """Which texts contain a word, or a word that begins with it, (texts,). Scripts without capitals put no blanks between words, so
        there a word may stand within another."""
        flags = np.zeros(self._size, bool)
        if word.upper() == word and not word.isascii():
            mask = pc.match_substring(self._words.terms, word).to_numpy(zero_copy_only=False)
            for place in np.flatnonzero(mask).tolist():
                flags[self._with_word.between(place, place + 1)] = True
            return flags
        start = self._words.place(word)
        end = start + (self._words.number(word) is not None) if is_whole else self._words.place(word + LAST)
        flags[self._with_word.between(start, end)] = True
        return flags

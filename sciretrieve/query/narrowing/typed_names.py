"""Names as people type them: an author's in any order, with initials or in full, and without accents; a venue's by its words."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ...base.types import Mask
from ...matching.lexical.fields import APOSTROPHES, name_words
from ...matching.lexical.words import JOINT, WORD
from ...papers.folding import fold_name, without_digraphs

NAMED = ("authors", "venue")
"""The columns whose values are names."""
SEVERAL = re.compile(r"\band\b|[&;]", re.IGNORECASE)
"""Stands between the names of several persons."""
AND_OTHERS = re.compile(r",?\s*\bet\.?\s+al\b\.?\s*$|,?\s*\band others\s*$", re.IGNORECASE)


def typed_names(text: str) -> list[list[str]]:
    """The words of a typed name, in each of the ways to read its compounds: in parts (Jean-Pierre is jean and pierre), and joined."""
    words = [word.replace(",", "") for word in WORD.findall(fold_name(AND_OTHERS.sub("", text)).translate(APOSTROPHES))]
    parts = [part for word in words for part in JOINT.split(word)]
    joined = [JOINT.sub("", word) for word in words]
    return [parts] if parts == joined else [parts, joined]


def is_initial(word: str) -> bool:
    """Whether a word of a name is a letter that stands for a longer one; in Chinese, a single character is a name."""
    return len(word) == 1 and word.upper() != word


def is_author(words: Sequence[str], typed: Sequence[str], family: Collection[str] = ()) -> bool:
    """Whether the words of an author's name are what was typed.

    Each typed word takes another one of the name: the same, or one of which either is the initial of the other. One at least must be the
    same, unless only initials were typed: H. Tanaka is no Hiroshi. Where a name has but the initial of a typed word, its `family` name, as
    far as that is known, must have been typed: Susan Dumais is no Goodall, Susan D.
    """
    rest, others, is_same = list(words), [], all(map(is_initial, typed))
    for word in typed:
        if word in rest:
            rest.remove(word)
            is_same = is_same or not is_initial(word)
        else:
            others.append(word)
    if family and not all(map(is_initial, others)) and not set(family) & set(typed):
        return False
    for word in others if is_same else ():
        short = [name for name in rest if name[0] == word[0] and (is_initial(name) or is_initial(word))]
        if not short:
            return False
        rest.remove(short[0])
    return is_same


def family_of(name: str) -> list[str]:
    """The words of a person's family name: before the comma, or else the last that is no initial. None of what may be several persons."""
    before, comma, after = name.partition(",")
    if SEVERAL.search(name) or "," in after or (comma and any(map(is_initial, name_words(before)))):
        return []
    parts = [before] if comma else name.split()[::-1]
    return next((words for part in parts if (words := name_words(part)) and not all(map(is_initial, words))), [])


def named(column: str, values: pa.Array | pa.ChunkedArray, typed: Sequence[Sequence[str]]) -> Mask:
    """Which values of a column, names or lists of them, have a name that was typed, in any of the ways to read it; (values,)."""
    array = values.combine_chunks() if isinstance(values, pa.ChunkedArray) else values
    is_list = pa.types.is_list(array.type)
    names = (pc.list_flatten(array) if is_list else array).dictionary_encode()
    fits = [name is not None and _fits(column, name, typed) for name in names.dictionary.to_pylist()]
    hits = pc.fill_null(pa.array(fits, pa.bool_()).take(names.indices), False)
    if not is_list:
        return np.asarray(hits.to_numpy(zero_copy_only=False), bool)
    mask = np.zeros(len(array), bool)
    mask[pc.list_parent_indices(array).filter(hits).to_numpy()] = True
    return mask


def _fits(column: str, name: str, typed: Sequence[Sequence[str]]) -> bool:
    """Whether a name is what was typed, in any of the ways to read that; a venue has all its words."""
    words = name_words(name)
    if column == "venue":
        return any(set(way) <= set(words) for way in typed)
    own, family = ([*map(without_digraphs, each)] for each in (words, family_of(name)))
    return any(is_author(own, [*map(without_digraphs, way)], family) for way in typed)

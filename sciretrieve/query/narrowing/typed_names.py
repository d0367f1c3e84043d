"""Matching of typed names. An author's name may have any order, initials or full names, and no accents. A venue matches by its words."""

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
"""Columns whose values are names."""
SEVERAL = re.compile(r"\band\b|[&;]", re.IGNORECASE)
"""Separators between names of several persons."""
AND_OTHERS = re.compile(r",?\s*\bet\.?\s+al\b\.?\s*$|,?\s*\band others\s*$", re.IGNORECASE)


def typed_names(text: str) -> list[list[str]]:
    """Words of a typed name, in each reading of its compounds: split (Jean-Pierre is jean and pierre), and joined."""
    words = [word.replace(",", "") for word in WORD.findall(fold_name(AND_OTHERS.sub("", text)).translate(APOSTROPHES))]
    parts = [part for word in words for part in JOINT.split(word)]
    joined = [JOINT.sub("", word) for word in words]
    return [parts] if parts == joined else [parts, joined]


def is_initial(word: str) -> bool:
    """Whether a word of a name is an initial. In Chinese, a single character is a name."""
    return len(word) == 1 and word.upper() != word


def is_author(words: Sequence[str], typed: Sequence[str], family: Collection[str] = ()) -> bool:
    """Whether the words of an author's name match the typed words.

    Each typed word must match another word of the name: an equal word, or a word of which either is the initial. At least one word must be
    equal, unless only initials were typed: H. Tanaka does not match Hiroshi. If the name has only the initial of a typed word, its `family`
    name must have been typed, if known: Susan Dumais does not match Goodall, Susan D.
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
    """Words of a person's family name: the words before the comma, else the last word that is no initial. None if the name may hold several
    persons."""
    before, comma, after = name.partition(",")
    if SEVERAL.search(name) or "," in after or (comma and any(map(is_initial, name_words(before)))):
        return []
    parts = [before] if comma else name.split()[::-1]
    return next((words for part in parts if (words := name_words(part)) and not all(map(is_initial, words))), [])


def named(column: str, values: pa.Array | pa.ChunkedArray, typed: Sequence[Sequence[str]]) -> Mask:
    """Which values of a column, names or lists of names, match a typed name in any reading, (values,)."""
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
    """Whether a name matches a typed name in any reading. A venue must contain all typed words."""
    words = name_words(name)
    if column == "venue":
        return any(set(way) <= set(words) for way in typed)
    own, family = ([*map(without_digraphs, each)] for each in (words, family_of(name)))
    return any(is_author(own, [*map(without_digraphs, way)], family) for way in typed)

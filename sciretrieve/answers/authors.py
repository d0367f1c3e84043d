"""Authors of an index's papers, with name forms merged; lookup by id or typed name.

Papers only have names, so an author is a name: "Lovelace, Ada" and "Ada Lovelace" are one author, "A. Lovelace" is another.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..base.errors import NotFound
from ..base.types import Rows
from ..files.schema import booleans, integers, texts
from ..matching.lexical.fields import APOSTROPHES
from ..matching.lexical.vocabulary import Vocabulary
from ..papers.bibliographies.author_names import in_order, people
from ..papers.folding import fold
from ..query.index import Index
from ..query.narrowing.typed_names import is_initial, typed_names
from .remembering import once_for_each
from .word_index import Groups, Ints, WordIndex, ranked

WORD = re.compile(r"[^\W_]+")
READ_AT_ONCE = 10_000
"""Names processed at a time, to save memory."""


@dataclass(frozen=True, slots=True, eq=False)
class Author:
    """An author of papers in an index.

    Attributes:
        id: derived from the name, so it is the same in every index: "ada-lovelace".
        name: the name in natural order, in the form of most papers.
        names: all forms of the name in the papers, the most frequent first.
        rows: rows of the papers, ascending.
    """

    id: str
    name: str
    names: tuple[str, ...]
    rows: Rows

    def __len__(self) -> int:
        return len(self.rows)


def author_id(name: str) -> str:
    """Id of the author of this name: the name's words in plain letters. Empty for a name without a letter or digit.

    >>> author_id("Lovelace, Ada"), author_id("Müller, Jean-Pierre")
    ('ada-lovelace', 'jean-pierre-muller')
    """
    return "-".join(WORD.findall(fold(in_order(name)).translate(APOSTROPHES)))


def authors_in(names: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Id and name in natural order of each author in a paper's names."""
    for name in map(in_order, people(names)):
        if id := author_id(name):
            yield id, " ".join(name.split())


@once_for_each
def authors_of(index: Index) -> Authors:
    """All authors of an index's undeleted papers. The first call reads one column of all papers."""
    names, rows = _names_of(index)
    ids, forms, sizes = _persons(names.dictionary)
    ids, numbers = ranked(ids)
    forms = forms.dictionary_encode()

    # a name may stand for one person, several, or none: positions of each name's persons on each paper
    named = names.indices.to_numpy().astype(np.int64)
    repeats, starts = sizes[named], np.cumsum(sizes) - sizes
    places = np.repeat(starts[named] - (np.cumsum(repeats) - repeats), repeats) + np.arange(int(repeats.sum()))
    papers = Groups.of(numbers[places], np.repeat(rows, repeats), len(ids))
    return Authors(ids, papers, *_forms(numbers[places], forms.dictionary, forms.indices.to_numpy()[places], len(ids)))


def _persons(names: pa.StringArray) -> tuple[pa.StringArray, pa.StringArray, Ints]:
    """Ids of the persons in distinct names, concatenated; their names in natural order; and the number of persons per name, (names,)."""
    ids, forms, sizes = [texts([])], [texts([])], [np.empty(0, np.int64)]
    for first in range(0, len(names), READ_AT_ONCE):
        persons = [list(authors_in([name])) for name in names.slice(first, READ_AT_ONCE).to_pylist()]
        ids.append(texts([id for person in persons for id, _ in person]))
        forms.append(texts([form for person in persons for _, form in person]))
        sizes.append(np.array([len(person) for person in persons], np.int64))
    return pa.concat_arrays(ids), pa.concat_arrays(forms), np.concatenate(sizes)


def _names_of(index: Index) -> tuple[pa.DictionaryArray, Rows]:
    """Each name on each paper, (n,), and its paper's row, (n,)."""
    columns, rows = [], [np.empty(0, np.int64)]
    for shard in index.snapshot.shards:
        column = shard.columns(["authors"])["authors"].combine_chunks()
        parents = pc.list_parent_indices(column).to_numpy().astype(np.int64)
        is_live = shard.scope.has(parents)
        columns.append(pc.list_flatten(column).filter(booleans(is_live)))
        rows.append(parents[is_live] + shard.first)
    names = pa.chunked_array(columns, pa.string()).dictionary_encode().combine_chunks()
    is_name = np.asarray(names.is_valid().to_numpy(zero_copy_only=False), bool)
    return names.filter(booleans(is_name)), np.concatenate(rows)[is_name]


def _forms(numbers: Ints, forms: pa.StringArray, used: Ints, count: int) -> tuple[pa.StringArray, Ints]:
    """Forms of each author's name, the most frequent first, concatenated; and where each author's forms end."""
    width = max(len(forms), 1)
    keys, counts = np.unique(numbers * width + used, return_counts=True)
    order = np.lexsort((keys, -counts, keys // width))
    return forms.take(integers(keys[order] % width)), np.searchsorted(keys, np.arange(1, count + 1) * width)


class Authors:
    """All authors of an index, ordered by id."""

    def __init__(self, ids: pa.StringArray, papers: Groups, forms: pa.StringArray, form_ends: Ints) -> None:
        """`papers` are the rows of each author's papers, `forms` all name forms, and `form_ends` where each author's forms end."""
        self._ids = Vocabulary(ids)
        self._papers, self._forms, self._form_ends = papers, forms, form_ends
        self._words = WordIndex(ids, "-")

    def __len__(self) -> int:
        return len(self._ids.terms)

    def __getitem__(self, id: str) -> Author:
        """The author with an id or a name. Raises NotFound."""
        number = self._ids.number(id)
        if number is None:
            number = self._ids.number(author_id(id))
        if number is None:
            raise NotFound(f"there is no author {id!r}; search for a name to see ids")
        return self.at([number])[0]

    def at(self, numbers: Sequence[int] | Ints) -> list[Author]:
        """Authors at the given positions."""
        authors = []
        for number in map(int, numbers):
            first, end = (int(self._form_ends[number - 1]) if number else 0), int(self._form_ends[number])
            names = tuple(self._forms.slice(first, end - first).to_pylist())
            authors.append(
                Author(self._ids.terms[number].as_py(), names[0], names, self._papers.between(number, number + 1).astype(np.int64))
            )
        return authors

    def search(self, text: str) -> Ints:
        """Positions of the authors whose names contain all words of a text, best first. The last word may be unfinished.

        An initial matches every word that it begins. If a name has only the initial of a typed word, its last word must have been typed:
        Susan Dumais does not match Susan D. Goodall. Names with exactly these words come first, then names that contain all of them, then
        names for which the last word is unfinished. Ties go to the author with more papers.
        """
        ways = [WORD.findall(" ".join(way)) for way in typed_names(text)]
        return max((self._with_words(way) for way in ways if way), key=len, default=np.empty(0, np.int64))

    def _with_words(self, words: Sequence[str]) -> Ints:
        """Positions of the authors whose names contain these words, best first."""
        whole, begun, fits = (np.ones(len(self), bool) for _ in range(3))
        is_there = np.full(len(self), all(map(is_initial, words)))
        for place, word in enumerate(words, 1):
            same, longer = self._words.having(word, is_whole=True), self._words.having(word, is_whole=False)
            stands = longer if place == len(words) or is_initial(word) else same
            whole &= same
            begun &= stands
            fits &= stands if is_initial(word) else stands | self._words.having(word[0], is_whole=True)
            if not is_initial(word):
                is_there |= stands
        places = np.flatnonzero(fits & is_there)
        typed = sorted(words)
        parts = {place: self._ids.terms[place].as_py().split("-") for place in places[whole[places] | ~begun[places]].tolist()}
        is_kept = [begun[place] or parts[place][-1] in words or parts[place][-1].startswith(words[-1]) for place in places.tolist()]
        places = places[np.array(is_kept, bool)]
        is_all = np.array([whole[place] and sorted(parts[place]) == typed for place in places.tolist()], bool)
        order = np.lexsort((places, -self._papers.sizes[places], ~begun[places], ~whole[places], ~is_all))
        best_first: Ints = places[order]
        return best_first

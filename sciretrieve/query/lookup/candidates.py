"""Candidates for the papers that a text means: papers whose titles or texts have its terms. Postings name them, so few papers are
read."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np
import numpy.typing as npt

from ...files.schema import integers
from ...matching.lexical import Analyzer, Bm25, LexicalShard
from ...matching.lexical.analysis import parts_of
from ...matching.scope import Scope
from ...matching.sharding import by_shard
from ...types import Rows

LONGEST_STOP_WORD = 5
LONGEST_COMPOUND = 4
"""Words that a title may have joined where they are typed apart: state-of-the-art."""
NEAR = 2
"""Letters by which a misspelt term and the right one differ at most, for titles to be read: a slip, and what it shifts beyond the end."""

Counts = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class TypedTerms:
    """The terms of a typed text.

    Attributes:
        plain: those of its words, the parts of compounds apart.
        joined: compounds as one word, and pairs of words that a title may write as one.
    """

    plain: frozenset[str]
    joined: frozenset[str]


def typed_terms(analyzer: Analyzer, text: str) -> TypedTerms:
    """The terms of a typed text."""
    plain: list[str] = []
    joined: list[str] = []
    for compound in analyzer.compounds(text):
        parts = parts_of(compound)
        plain += parts
        joined += ["".join(parts)] if len(parts) > 1 else []
    joined += [
        "".join(plain[start:end]) for start in range(len(plain)) for end in range(start + 2, min(start + LONGEST_COMPOUND, len(plain)) + 1)
    ]
    plain_terms = frozenset(term for word in plain if (term := analyzer.term(word)) is not None)
    return TypedTerms(plain_terms, frozenset(term for word in joined if (term := analyzer.term(word)) is not None) - plain_terms)


@dataclass(frozen=True, eq=False)
class Titles:
    """Papers by what their titles share with a text, all (n,): their rows, how many of its plain and of its joined terms each title has,
    and how many terms in all."""

    rows: Rows
    plain: Counts
    joined: Counts
    sizes: Counts

    @property
    def others(self) -> Counts:
        """How many terms each title has besides, (n,)."""
        return self.sizes - self.plain - self.joined

    def where(self, flags: npt.NDArray[np.bool_]) -> Titles:
        """Those that are flagged."""
        return Titles(self.rows[flags], self.plain[flags], self.joined[flags], self.sizes[flags])


NO_TITLES = Titles(*(np.empty(0, np.int64) for _ in range(4)))


def titles_sharing(bm25: Bm25, terms: TypedTerms, least: int, scope: Scope) -> Titles:
    """The papers of a scope whose titles have at least so many of the plain terms, one or more, which are less than 256."""
    parts: list[tuple[Rows, Counts, Counts, Counts]] = []
    for shard in bm25.shards:
        numbers = sorted(_numbers(shard, terms.plain), key=lambda number: len(shard.rows_of(number)))
        if len(numbers) < least:
            continue
        # a title that lacks no more than it may has one of the rarest
        counts = np.zeros(shard.papers, np.uint8)
        enough = len(numbers) - least + 1
        for number in numbers[:enough]:
            counts[shard.rows_within(number, "title")] += 1
        places = np.flatnonzero(counts > 0)  # of truth values, in a tenth of the time
        shared = counts[places].astype(np.int64)
        for place, number in enumerate(numbers[enough:], 1):
            shared += shard.in_titles(number, places)
            can_have_enough = shared >= least - (len(numbers) - enough - place)
            places, shared = places[can_have_enough], shared[can_have_enough]
        is_wanted = (shared >= least) & scope.part(shard.first, shard.papers).has(places)
        places, shared = places[is_wanted], shared[is_wanted]
        joined = np.zeros(len(places), np.int64)
        for number in _numbers(shard, terms.joined) if len(places) else ():
            joined += shard.in_titles(number, places)
        offsets = shard.postings.title_offsets
        parts.append((places + shard.first, shared, joined, (offsets[places + 1] - offsets[places]).astype(np.int64)))
    return Titles(*map(np.concatenate, zip(*parts, strict=True))) if parts else NO_TITLES


def _numbers(shard: LexicalShard, terms: Iterable[str]) -> list[int]:
    """The numbers of those terms that any paper of a shard has."""
    return [number for term in terms if (number := shard.number(term)) is not None]


def title_terms(bm25: Bm25, rows: Rows) -> list[set[str]]:
    """The terms of the titles of the papers at the given rows."""
    terms_of: list[set[str]] = [set()] * len(rows)
    for shard, positions, shard_rows in by_shard(rows, bm25.shards):
        offsets = shard.postings.title_offsets
        starts, ends = offsets[shard_rows].tolist(), offsets[shard_rows + 1].tolist()
        numbers = np.concatenate([shard.postings.title_terms[start:end] for start, end in zip(starts, ends, strict=True)])
        terms = iter(shard.postings.terms.take(integers(numbers.astype(np.int64))).to_pylist())
        for position, start, end in zip(positions.tolist(), starts, ends, strict=True):
            terms_of[position] = set(islice(terms, end - start))
    return terms_of


def rows_with_most(bm25: Bm25, terms: Iterable[str], rarest: int, share: float, scope: Scope) -> tuple[Rows, Counts]:
    """The papers of a scope that have many of a text's rarest terms, at least this share of these, and how many each has, both (n,)."""
    known = sorted(bm25.known_terms(terms), key=lambda term: (bm25.frequency(term), term))[:rarest]
    rows, shared = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    for shard in bm25.shards if known else ():
        counts = np.zeros(shard.papers, np.uint8)
        for term in known:
            if (number := shard.number(term)) is not None:
                counts[shard.rows_of(number)] += 1
        places = np.flatnonzero(counts >= share * len(known))
        places = places[scope.part(shard.first, shard.papers).has(places)]
        rows.append(places + shard.first)
        shared.append(counts[places].astype(np.int64))
    return np.concatenate(rows), np.concatenate(shared)


def could_be(typed: Sequence[str], others: Sequence[str]) -> bool:
    """Whether each of some typed terms may be a slip of one of the others, the beginning of one, or a slip of a stop word."""
    from rapidfuzz.distance import OSA

    def is_near(term: str, other: str) -> bool:
        # stemming has cut a right ending and left a wrong one
        length = max(min(len(term), len(other)), 1)
        return OSA.distance(term[:length], other[:length], score_cutoff=NEAR) <= NEAR

    return all(len(term) <= LONGEST_STOP_WORD or any(is_near(term, other) for other in others) for term in typed)

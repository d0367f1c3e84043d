"""Whose an id is. Rows with one id are one paper, unless title and author say otherwise: then the later row gets an id of its own."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from hashlib import blake2b
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ...base.wording import counted, shortlist
from .. import duplicates

LOG = logging.getLogger(__name__)
NAMED = 3
OWN_ID = r"-[0-9a-f]{6}$"
"""The end of all ids that `own_id` makes."""
Works: TypeAlias = npt.NDArray[np.int64]
"""Of each paper, hashes of its title and of its first author, 0 for none, (n, 2)."""


class SeenIds:
    """Which ids a corpus has had so far, and of which work each: 16 bytes of digest, by which two of millions of ids are confused with a
    probability below 1e-20, and 16 bytes of the work's hashes."""

    def __init__(self) -> None:
        self._digests = np.empty(0, "S16")  # sorted
        self._works: Works = np.empty((0, 2), np.int64)

    def add(self, ids: Sequence[str], works: Works | None = None) -> tuple[npt.NDArray[np.bool_], Works]:
        """Add `ids`; return whether each was new, also among those before it in the same call, (n,), and the work that first had it,
        (n, 2)."""
        works = np.zeros((len(ids), 2), np.int64) if works is None else works
        digests = np.array([blake2b(id.encode(), digest_size=16).digest() for id in ids], "S16")
        _, first_places, inverse = np.unique(digests, return_index=True, return_inverse=True)
        is_new = np.zeros(len(ids), bool)
        is_new[first_places] = True
        holders = works[first_places][inverse] if len(ids) else works
        places = np.searchsorted(self._digests, digests)
        in_range = np.flatnonzero(places < len(self._digests))
        known = in_range[self._digests[places[in_range]] == digests[in_range]]
        is_new[known] = False
        holders[known] = self._works[places[known]]
        order = np.argsort(digests[is_new])
        new_digests, new_works = digests[is_new][order], works[is_new][order]
        at = np.searchsorted(self._digests, new_digests)
        self._digests, self._works = np.insert(self._digests, at, new_digests), np.insert(self._works, at, new_works, axis=0)
        return is_new, holders


def works_of(papers: pa.Table) -> Works:
    """The works of papers, by the letters of their titles and the last word of their first authors' names."""
    titles = pc.utf8_lower(pc.replace_substring_regex(papers["title"], r"[^\pL\pN]+", "")).to_pylist()
    names = (names[0].rsplit(" ", 1)[-1].lower() if names else "" for names in papers["authors"].to_pylist())
    pairs = [(hash(title) if title else 0, hash(name) if name else 0) for title, name in zip(titles, names, strict=True)]
    return np.array(pairs, np.int64).reshape(-1, 2)


def are_others(works: Works, holders: Works, titles: Sequence[str], is_weak: bool) -> npt.NDArray[np.bool_]:
    """Which papers are other works than the holders of their ids, (n,): title and author differ; or the author alone where the title is too
    short to tell papers apart; or the title alone where an author is not known and ids are weak, as record numbers and citation keys."""
    differ, are_known = works != holders, (works != 0) & (holders != 0)
    is_short = np.array([len(title) <= duplicates.DISTINCTIVE_LENGTH for title in titles], bool)
    titles_differ, authors_differ = differ[:, 0] & are_known[:, 0], differ[:, 1] & are_known[:, 1]
    differ_in_all: npt.NDArray[np.bool_] = (titles_differ & (authors_differ | (is_weak & ~are_known[:, 1]))) | (
        is_short & authors_differ & are_known[:, 0]
    )
    return differ_in_all


def own_id(id: str, title: str, authors: Sequence[str]) -> str:
    """The id of a paper whose own is another paper's: with a digest of title and first author behind it, the same in every run.

    >>> own_id("smith2020", "On sparrows", ["Bob Smith"])
    'smith2020-5c6d16'
    """
    facts = "\n".join(duplicates.key(title, authors) or (title, ""))
    return f"{id}-{blake2b(facts.encode(), digest_size=3).hexdigest()}"


def warn_of_own_ids(source: str, renamed: Sequence[tuple[str, str]], where: str = "") -> None:
    """Warn, through `logging`, of papers that got ids of their own: pairs of the id in the source and the new one."""
    if renamed:
        examples = shortlist([f"{new} for {id}" for id, new in renamed[:NAMED]], len(renamed))
        LOG.warning("%s: %s had the id of another paper%s, and got a new id: %s", source, counted(len(renamed), "paper"), where, examples)


def warn_of_repeats(source: str, ids: Sequence[str]) -> None:
    """Warn, through `logging`, of papers that are left out, since an earlier paper got the same new id."""
    LOG.warning("%s: %s repeated an earlier one: %s", source, counted(len(ids), "paper"), shortlist(ids[:NAMED], len(ids)))

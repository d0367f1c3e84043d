"""Which ids a corpus has had so far, in 16 bytes per id, to find duplicates among millions of rows."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b

import numpy as np


class SeenIds:
    """A set of ids stored as sorted 128-bit digests; the probability of confusing two ids is below 1e-20."""

    def __init__(self) -> None:
        self._digests = np.empty(0, "S16")  # sorted

    def add(self, ids: Sequence[str]) -> list[bool]:
        """Add `ids`; return whether each was new, also among those before it in the same call."""
        digests = np.array([blake2b(id.encode(), digest_size=16).digest() for id in ids], "S16")
        is_new = np.zeros(len(ids), bool)
        is_new[np.unique(digests, return_index=True)[1]] = True
        places = np.searchsorted(self._digests, digests)
        in_range = np.flatnonzero(places < len(self._digests))
        is_new[in_range[self._digests[places[in_range]] == digests[in_range]]] = False
        new_digests = np.sort(digests[is_new])
        self._digests = np.insert(self._digests, np.searchsorted(self._digests, new_digests), new_digests)
        return [bool(flag) for flag in is_new]

"""Which ids a corpus has had so far, in 16 bytes an id: what finding duplicates in millions of rows may cost."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b

import numpy as np


class SeenIds:
    """A set of ids kept as sorted 128-bit digests; two ids are taken for one with probability below 1e-20."""

    def __init__(self) -> None:
        self._digests = np.empty(0, "S16")  # sorted

    def add(self, ids: Sequence[str]) -> list[bool]:
        """Add `ids`; say of each whether it was new, also among those before it in the same call."""
        digests = np.array([blake2b(id.encode(), digest_size=16).digest() for id in ids], "S16")
        new = np.zeros(len(ids), bool)
        new[np.unique(digests, return_index=True)[1]] = True
        places = np.searchsorted(self._digests, digests)
        within = np.flatnonzero(places < len(self._digests))
        new[within[self._digests[places[within]] == digests[within]]] = False
        fresh = np.sort(digests[new])
        self._digests = np.insert(self._digests, np.searchsorted(self._digests, fresh), fresh)
        return [bool(flag) for flag in new]

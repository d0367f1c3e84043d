"""Which ids a corpus has had so far, in 16 bytes an id: what finding duplicates in millions of rows may cost."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b

import numpy as np


class SeenIds:
    """A set of ids kept as sorted 128-bit digests; two ids are taken for one with probability below 1e-20."""

    def __init__(self) -> None:
        self._high = np.empty(0, np.uint64)  # sorted
        self._low = np.empty(0, np.uint64)  # the other half of each digest, in the same order

    def add(self, ids: Sequence[str]) -> list[bool]:
        """Add `ids`; say of each whether it was new, also among those before it in the same call."""
        digests = b"".join(blake2b(id.encode(), digest_size=16).digest() for id in ids)
        pairs = np.frombuffer(digests, np.uint64).reshape(-1, 2)
        _, first = np.unique(pairs, axis=0, return_index=True)
        new = np.zeros(len(ids), bool)
        new[first] = True
        at = np.searchsorted(self._high, pairs[:, 0])
        inside = np.flatnonzero(at < len(self._high))
        hit = inside[self._high[at[inside]] == pairs[inside, 0]]
        new[hit[self._low[at[hit]] == pairs[hit, 1]]] = False
        fresh = pairs[new]
        fresh = fresh[np.argsort(fresh[:, 0])]
        where = np.searchsorted(self._high, fresh[:, 0])
        self._high = np.insert(self._high, where, fresh[:, 0])
        self._low = np.insert(self._low, where, fresh[:, 1])
        return [bool(flag) for flag in new]

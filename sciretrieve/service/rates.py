"""How often each client may ask: counts that all processes of a service share, in one table of a fixed size."""

from __future__ import annotations

import mmap
import os
import struct
import time
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import blake2b
from pathlib import Path

from ..base import system

PLACES = 1 << 14
"""Clients that are counted, of which each has a place in the table, 24 bytes."""
NEAR = 8
"""Places that a client may have. Where other clients have all of them, that one is forgotten that asked longest ago."""
PLACE = struct.Struct("=8sdd")
"""Who it is, as a hash; how many requests are left; and when that was so, in seconds of a clock that all processes share."""


class Rates:
    """How many requests each client may make in a minute: they may come at once, and are then replenished steadily."""

    def __init__(self, rate: int, path: Path | None = None) -> None:
        """Count in a file that `make_table` made, together with other processes; without one, alone."""
        self._rate = rate
        self._file = -1 if path is None else os.open(path, os.O_RDWR | system.BINARY)
        self._table = mmap.mmap(self._file, PLACES * PLACE.size)
        if path is not None:
            weakref.finalize(self, os.close, self._file)

    def allows(self, client: str) -> bool:
        """Whether a client may ask now, which counts as asking."""
        name = blake2b(client.encode("utf-8", "surrogatepass"), digest_size=8).digest()
        first = int.from_bytes(name) % PLACES
        with self._locked():
            now = time.monotonic()
            offsets = [(first + step) % PLACES * PLACE.size for step in range(NEAR)]
            places = {at: PLACE.unpack_from(self._table, at) for at in offsets}
            at = next((at for at, (known, _, _) in places.items() if known == name), min(places, key=lambda at: places[at][2]))
            known, left, then = places[at]
            left = min(float(self._rate), left + (now - then) * self._rate / 60) if known == name else float(self._rate)
            PLACE.pack_into(self._table, at, name, left - 1 if left >= 1 else left, now)
        return left >= 1

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """While no other process looks; within one, a single thread does."""
        if self._file < 0:
            yield
            return
        system.lock(self._file, wait=True)
        try:
            yield
        finally:
            system.unlock(self._file)


def make_table(path: Path) -> Path:
    """Make a file in which several processes count; all of its bytes are written, so that a full disk shows now."""
    path.write_bytes(bytes(PLACES * PLACE.size))
    return path

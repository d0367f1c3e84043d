"""Rate limits for clients, counted by all processes of a service in one table of a fixed size."""

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
"""The number of clients in the table, of 24 bytes each."""
NEAR = 8
"""The number of possible places of a client. If other clients have them all, the one with the oldest request is forgotten."""
PLACE = struct.Struct("=8sdd")
"""The client's hash, its remaining requests, and the time of that count, in seconds of a clock that all processes share."""


class Rates:
    """Limits the requests of each client per minute: they may come at once, and are then replenished steadily."""

    def __init__(self, rate: int, path: Path | None = None) -> None:
        """Count in a file of `make_table`, together with other processes; without one, alone."""
        self._rate = rate
        self._file = -1 if path is None else os.open(path, os.O_RDWR | system.BINARY)
        self._table = mmap.mmap(self._file, PLACES * PLACE.size)
        if path is not None:
            weakref.finalize(self, os.close, self._file)

    def allows(self, client: str) -> bool:
        """Whether a client may ask now; this counts as a request."""
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
        """A context that excludes other processes; within one process, a single thread counts."""
        if self._file < 0:
            yield
            return
        system.lock(self._file, wait=True)
        try:
            yield
        finally:
            system.unlock(self._file)


def make_table(path: Path) -> Path:
    """Make a file for several processes to count in; all of its bytes are written, so that a full disk shows now."""
    path.write_bytes(bytes(PLACES * PLACE.size))
    return path

"""An encoder with a cache of vectors by the texts' hashes, so that each text is encoded once per machine."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from ..base.choices import SideName
from ..base.once import once
from ..base.types import Paper, Query, Vectors
from ..matching.late import FewBits, Packing
from ..protocols import Encoder
from . import encoder_cache
from .late import encode_packed
from .own import OWN, PLUGIN
from .sentences import encode_sentences, pieces
from .text_encoder import TextEncoder

if TYPE_CHECKING:
    from sqlite3 import Connection

LOG = logging.getLogger(__name__)
Item = TypeVar("Item", Paper, Query, tuple[str, ...])
Result = TypeVar("Result")
LOOKUP_SIZE = 512
"""The number of texts per query of the cache."""


class RememberingEncoder:
    """Looks up an encoder's vectors of papers and queries before it computes them.

    For work that repeats texts: the queries of a benchmark, the candidates of a reranker. Without a writable cache, everything is computed
    each time.
    """

    def __init__(self, encoder: Encoder) -> None:
        self._encoder = encoder
        self.encoded, self.seconds = 0, 0.0
        """The number of texts that the encoder read, and the seconds that this took."""

    def encode_papers(self, papers: Sequence[Paper]) -> Vectors:
        """As by the encoder: shape (n, dim), float32."""
        return self._look_up_or_encode(papers, [_key("paper", paper) for paper in papers], self._encoder.encode_papers)

    def encode_queries(self, queries: Sequence[Query]) -> Vectors:
        """As by the encoder: shape (n, dim), float32."""
        keys = [_key(query.side, query.paper or Paper("", query.text)) for query in queries]
        return self._look_up_or_encode(queries, keys, self._encoder.encode_queries)

    def packed_papers(self, papers: Sequence[Paper], packing: Packing) -> list[FewBits]:
        """The packed token vectors of each paper, (tokens, kept / 4), for an encoder that has them, see `late`."""

        def encode(papers: Sequence[Paper]) -> list[bytes]:
            _, packed, counts = encode_packed(self._encoder, self._encoder.tokenise(papers), packing)
            ends = np.cumsum(counts).tolist()
            return [packed[end - count : end].tobytes() for end, count in zip(ends, counts.tolist(), strict=True)]

        # another packing gives other bytes
        way = hashlib.sha256(packing.array().tobytes()).digest()
        packed = self._remembered(papers, [_key("paper", paper) + way for paper in papers], encode)
        return [np.frombuffer(data, np.uint8).reshape(-1, packing.bytes) for data in packed]

    def sentence_vectors(self, papers: Sequence[Paper]) -> list[Vectors]:
        """The vectors of each paper's sentences, (sentences, dim) float32; for an encoder of sentences, see `encode_sentences`."""
        encoder = self._encoder
        assert isinstance(encoder, TextEncoder)

        def encode(parts: Sequence[tuple[str, ...]]) -> list[bytes]:
            return [vectors.tobytes() for vectors in encode_sentences(encoder, parts)]

        parts = [pieces(paper) for paper in papers]
        # another split gives other vectors
        keys = [hashlib.sha256("\0".join(part).encode("utf-8", "surrogatepass")).digest() for part in parts]
        return [np.frombuffer(data, np.float32).reshape(-1, encoder.dim) for data in self._remembered(parts, keys, encode)]

    def _look_up_or_encode(self, items: Sequence[Item], keys: Sequence[bytes], encode: Callable[[Sequence[Item]], Vectors]) -> Vectors:
        # vectors from elsewhere are already looked up; and a user's own encoder, or a plug-in, may share its name with another
        if self._encoder.identity()["layout"] in ("vectors", OWN, PLUGIN):
            return encode(items)
        parts = self._remembered(items, keys, lambda new_items: [row.tobytes() for row in encode(new_items)])
        return np.frombuffer(b"".join(parts), np.float32).reshape(len(items), self._encoder.dim).copy()

    def _remembered(self, items: Sequence[Item], keys: Sequence[bytes], encode: Callable[[Sequence[Item]], list[bytes]]) -> list[bytes]:
        """The encoder's result for each item, from the cache by its key, or computed and stored."""
        results: list[bytes] = []
        for start in range(0, len(items), LOOKUP_SIZE):
            part = keys[start : start + LOOKUP_SIZE]
            known = self._look_up(part)
            if places := {key: place for place, key in enumerate(part, start) if key not in known}:
                began = perf_counter()
                encoded = encode([items[place] for place in places.values()])
                self.encoded, self.seconds = self.encoded + len(places), self.seconds + perf_counter() - began
                new = dict(zip(places, encoded, strict=True))
                self._save(new)
                known |= new
            results += [known[key] for key in part]
        return results

    def _look_up(self, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        marks = ",".join("?" * len(keys))
        return self._with_store(lambda store: dict(store.execute(f"SELECT key, vector FROM vectors WHERE key IN ({marks})", keys)), {})

    def _save(self, vectors: Mapping[bytes, bytes]) -> None:
        def insert(store: Connection) -> None:
            with store:
                store.executemany("INSERT OR IGNORE INTO vectors VALUES (?, ?)", list(vectors.items()))

        self._with_store(insert, None)
        encoder_cache.bound(keep=self._path.parent)

    def _with_store(self, action: Callable[[Connection], Result], fallback: Result) -> Result:
        """Run `action` on the table of vectors; if it fails, log that and return `fallback`."""
        import sqlite3

        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with closing(sqlite3.connect(self._path, timeout=60)) as store:
                store.execute("CREATE TABLE IF NOT EXISTS vectors (key BLOB PRIMARY KEY, vector BLOB NOT NULL) WITHOUT ROWID")
                return action(store)
        except (OSError, sqlite3.Error) as error:
            LOG.info("vectors are not remembered: %s cannot be used (%s)", self._path, error)
            return fallback

    @once
    def _path(self) -> Path:
        """The file of an encoder, named by everything that determines its vectors."""
        identity = {key: value for key, value in self._encoder.identity().items() if key not in ("name", "asked")}
        facts = [identity, self._encoder.precision]
        return encoder_cache.folder_for(encoder_cache.vectors_directory(), self._encoder.name, facts) / "vectors.sqlite"


def _key(side: SideName, paper: Paper) -> bytes:
    return hashlib.sha256("\0".join((side, paper.title, paper.abstract)).encode("utf-8", "surrogatepass")).digest()

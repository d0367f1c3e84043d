"""Opening an index, or several as one: its parts are made and put together."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Protocol

from ..base.errors import InvalidRequest, NotFound
from ..encoders import opened_encoder
from ..encoders.query_encoder import JoinedQueryEncoder, QueryEncoder
from ..matching.search import Searcher
from ..protocols import AnyEncoder, Encoder
from .index import Index
from .reading.reader import Reader
from .snapshot import Snapshot


class Nodes(Protocol):
    """Machines that can search an index which all of them see."""

    def searcher(self, snapshot: Snapshot) -> Searcher:
        """What has them search it."""


def open_index(
    path: str | Path, *, encoder: AnyEncoder | None = None, generation: int | None = None, workers: Nodes | None = None
) -> Index:
    """Open the index in the directory `path`.

    Args:
        path: the index's directory.
        encoder: what encodes queries, if the index's own encoder cannot be found: the encoder of your own that filled it, see
            `sciretrieve.protocols.OwnEncoder`; a name, where its folder has moved; or the queries' vectors, {id: vector} or
            `vectors:FILE`. Without it such an index is searched by BM25, and says so.
        generation: the generation to open, of those that `sciretrieve info log` shows; by default the current one.
        workers: a Ray cluster whose nodes search, see `sciretrieve.RayWorkers`: all of them see the directory as this machine does. Answers
            are the same.

    Raises:
        NotFound: there is none, or it is not finished, or it has no such generation.
        CorruptData: it is damaged or of another format version.
        UnknownName, InvalidRequest: the encoder is none.
        Unavailable: a node lacks this version of sciretrieve, or does not see the index.
    """
    snapshot = Snapshot.of(path, generation)
    return _one(snapshot, None if encoder is None else opened_encoder(encoder, snapshot.encoder), None, workers)


def open_many(indexes: Sequence[str | Path | Index], *, encoder: AnyEncoder | None = None) -> Index:
    """Open several indexes, which are searched as one.

    Args:
        indexes: their directories, or indexes that are open: these are opened again at their generation, with the same encoder, so that
            each may be closed without the other.
        encoder: an encoder of queries, or its name, for all of those that are given by their directory, see `open_index`.

    Raises:
        NotFound, CorruptData, UnknownName: as `open_index`, of any of them.
        InvalidRequest: there are none, one is given twice, a cluster searches one, or they cannot be searched together: they count
            words in different ways, or one has only vectors and another only BM25.
    """
    if isinstance(indexes, str | Path | Index) or not (listed := list(indexes)):
        raise InvalidRequest("`open_many` takes several indexes: a list of their folders")
    with ExitStack() as opening:
        opened = _several([opening.enter_context(_member(index, encoder)) for index in listed])
        opening.pop_all()
    return opened


def same(opened: Index, index: Index) -> Index:
    """What was opened by the path and generation of an index that is open. Raises NotFound if another one was built in its place since."""
    if opened.snapshot.checksum == index.snapshot.checksum:
        return opened
    opened.close()
    raise NotFound(f"{index.path} was built anew since it was opened, and what was opened is gone; open it again")


def _one(snapshot: Snapshot, given: Encoder | None, known: QueryEncoder | None, workers: Nodes | None) -> Index:
    """An index of its own, whose queries the given encoder reads, or the known one of another generation if that fits."""

    def query_encoder() -> QueryEncoder:
        if known is not None and known.fits(snapshot.encoder):
            return known
        return QueryEncoder(snapshot.path, snapshot.encoder, snapshot.golden, given)

    def again(generation: int | None) -> Index:
        return _one(Snapshot.of(snapshot.path, generation), given, reader.query_encoder, workers)

    searcher = Searcher.of(snapshot) if workers is None else workers.searcher(snapshot)
    reader = Reader(snapshot, searcher, query_encoder)
    return Index(snapshot, reader, searcher, again)


def _several(members: Sequence[Index]) -> Index:
    """Indexes as one; they are its own."""
    snapshot = Snapshot([one for member in members for one in member.snapshot.generations])

    def query_encoder() -> QueryEncoder:
        encoders = [members[place].reader.query_encoder for place in snapshot.spaces()]
        return encoders[0] if len(encoders) == 1 else JoinedQueryEncoder(snapshot.path, encoders)

    def again(generation: int | None) -> Index:
        if generation is not None:
            raise InvalidRequest(f"{snapshot.path} have generations of their own; open one of them at its generation")
        with ExitStack() as opening:
            opened = _several([opening.enter_context(member.reopened()) for member in members])
            opening.pop_all()
        return opened

    searcher = Searcher.of(snapshot)
    return Index(snapshot, Reader(snapshot, searcher, query_encoder), searcher, again, members)


def _member(index: str | Path | Index, encoder: AnyEncoder | None) -> Index:
    if not isinstance(index, Index):
        return open_index(index, encoder=encoder)
    if len(index.members) > 1 or type(index.searcher) is not Searcher:
        raise InvalidRequest(f"{index.path} cannot be one of several indexes: they are opened here, each by itself; give its folder")
    return same(index.reopened(index.snapshot.manifest.generation), index)

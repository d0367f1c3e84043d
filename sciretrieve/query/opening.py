"""Opening an index, or several indexes as one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from os import PathLike
from pathlib import Path
from typing import Protocol, TypeAlias

from ..base.arguments import checked
from ..base.choices import is_iterable
from ..base.errors import InvalidRequest, NotFound
from ..encoders import opened_encoder
from ..encoders.query_encoder import JoinedQueryEncoder, QueryEncoder
from ..matching.search import Searcher
from ..protocols import AnyEncoder, Encoder
from ..storage.finding import encoder_for, folder_of, is_index
from .index import Index
from .reading.reader import Reader
from .snapshot import Snapshot


class Nodes(Protocol):
    """A cluster whose nodes can search an index that all of them see."""

    def searcher(self, snapshot: Snapshot) -> Searcher:
        """A searcher that runs on the nodes."""


AnyIndex: TypeAlias = str | PathLike[str] | Index
"""An index: open, or its folder, or its name as on the command line."""


@checked
def open_index(path: AnyIndex, *, encoder: AnyEncoder | None = None, generation: int | None = None, workers: Nodes | None = None) -> Index:
    """Open an index: `sr.open("indexes/papers")`.

    Args:
        path: the index's folder, or its name as on the command line; or an open index, which is opened again at its generation with its
            encoder.
        encoder: encodes queries if the index's own encoder cannot be found. Give the encoder that built the index (see
            `sciretrieve.protocols.OwnEncoder`), a name if its folder has moved, or the queries' vectors as {id: vector} or `vectors:FILE`.
            Without an encoder, such an index is searched by BM25 with a warning.
        generation: a generation that `sciretrieve info log` lists; by default the current one.
        workers: a Ray cluster whose nodes search, see `sciretrieve.RayWorkers`. All nodes must see the directory under the same path.
            Answers do not change.

    Raises:
        NoSuchIndex: there is no index, it is unfinished, or it lacks this generation.
        CorruptData: it is damaged or of another format version.
        UnknownName, InvalidRequest: the encoder is invalid.
        Unavailable: a node lacks this version of sciretrieve, or does not see the index.

    >>> index = sr.open("indexes/papers")
    >>> index.modes
    ('hybrid', 'dense', 'bm25')
    """
    if isinstance(path, Index):
        if encoder is None and generation is None and workers is None:
            return _member(path, None)
        encoder = encoder_for(path, encoder)
    snapshot = Snapshot.of(folder_of(path), generation)
    return _one(snapshot, None if encoder is None else opened_encoder(encoder, snapshot.encoder), None, workers)


@contextmanager
def opened(index: AnyIndex) -> Iterator[Index]:
    """An index, open. A given open one stays open; one given by folder or name is closed at the end. Raises as `open_index`."""
    if isinstance(index, Index):
        _ = index.names  # raises at once if it is closed
        yield index
    else:
        with open_index(index) as own:
            yield own


def is_folder_of_index(source: object) -> bool:
    """Whether a text or path is the folder of an index, and so no corpus."""
    return isinstance(source, str | PathLike) and is_index(Path(source))


def open_many(indexes: Sequence[AnyIndex], *, encoder: AnyEncoder | None = None) -> Index:
    """Open several indexes and search them as one.

    Args:
        indexes: folders, names or open indexes. An open index is opened again at its generation with its encoder, so that either can be
            closed without the other.
        encoder: an encoder of queries, or its name, for all indexes given by directory, see `open_index`.

    Raises:
        NotFound, CorruptData, UnknownName: as `open_index`, for any of them.
        InvalidRequest: the list is empty, one index is given twice or searched by a cluster, or they cannot be searched together: their
            BM25 analyses differ, or one has only vectors and another only BM25.

    >>> _ = sr.build([{"id": "a", "title": "Graph trees"}], into="indexes/lab")
    >>> with sr.open_many(["indexes/papers", "indexes/lab"]) as both:
    ...     both["lab:a"].title
    'Graph trees'
    """
    if isinstance(indexes, str | PathLike | Index) or not is_iterable(indexes) or not (members := list(indexes)):
        raise InvalidRequest("`open_many` takes several indexes: a list of their folders")
    with ExitStack() as opening:
        opened = _several([opening.enter_context(_member(index, encoder)) for index in members])
        opening.pop_all()
    return opened


def same(opened: Index, index: Index) -> Index:
    """Open the same path and generation as an open index. Raises NotFound if another index was built in its place since."""
    if opened.snapshot.checksum == index.snapshot.checksum:
        return opened
    opened.close()
    raise NotFound(f"{index.path} was rebuilt after it was opened, so its old generation is gone; open it again")


def _one(snapshot: Snapshot, given: Encoder | None, known: QueryEncoder | None, workers: Nodes | None) -> Index:
    """Make an index from one snapshot. Queries are encoded by the given encoder, or by a known one if that fits."""

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
    """Make one index of several, which it owns."""
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


def _member(index: AnyIndex, encoder: AnyEncoder | None) -> Index:
    if not isinstance(index, Index):
        return open_index(index, encoder=encoder)
    if len(index.members) > 1 or type(index.searcher) is not Searcher:
        raise InvalidRequest(f"{index.path} cannot be one of several indexes: they are opened here, each by itself; give its folder")
    return same(index.reopened(index.snapshot.manifest.generation), index)

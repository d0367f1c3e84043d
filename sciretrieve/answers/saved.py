"""Saved searches: requests that are asked again, and which papers of their answers are new since the last look.

Each is a JSON file in the user's data directory, not in the index: so it outlives the index's changes, and each user of an index has
their own.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass, fields, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ..errors import CorruptData, InvalidRequest, NotFound
from ..files.user_folders import data_directory
from ..files.writing import make_folder, read_json, write_json
from ..options import SearchOptions
from ..protocols import Reranker
from ..query.index import Index
from ..query.snapshot import as_ids
from ..runs import Run
from ..types import Hit
from . import overview
from .answering import Answer, Request, plainly, searched

LEAST_SEEN = 1000
"""How many of an answer's first papers are remembered at least. These are not new if they rise to the top later, when papers above them
are deleted or the statistics of words change."""
NAME = re.compile(r"\w[\w.-]{0,63}")


@dataclass(frozen=True, slots=True)
class SavedSearch:
    """A search that is asked again.

    Attributes:
        name: what the user calls it: letters, digits, and inside it dots and dashes.
        index: the folder of its index.
        request: what is asked; its reranker is known by name only.
        reranker: the name of the reranker, or None.
        encoder: the name of the encoder of queries, if it is not the index's own.
        seen: ids of papers that are not new.
        looked: when it was last asked, in ISO 8601.
    """

    name: str
    index: Path
    request: Request
    reranker: str | None
    encoder: str | None
    seen: Collection[str]
    looked: str

    def __str__(self) -> str:
        """What it asks, in a few words."""
        request = self.request
        what = request.query if request.query is not None else " ".join(["like", *as_ids(request.like), *filter(None, [request.text])])
        return "; ".join([what, *request.options.filters])


@dataclass(frozen=True, slots=True)
class News:
    """What is new in a saved search.

    Attributes:
        answer: the search's answer with its new papers alone, whose ranks are those in all of it.
        search: the search as it is once these have been told.
    """

    answer: Answer
    search: SavedSearch

    @property
    def hits(self) -> Sequence[Hit]:
        """The new papers."""
        return self.answer.hits

    def remember(self) -> None:
        """Keep that these papers are known, so that they are not new again."""
        _write(self.search)


def save_search(index: Index, request: Request, name: str, *, reranker: str | None = None, encoder: str | None = None) -> SavedSearch:
    """Save a request to an index under a name; what it answers now is not new later.

    Raises:
        InvalidRequest: the name cannot be a file's, or is that of another search.
        as `Index.search` and `Index.similar`.
    """
    path = _path(name)
    kept = replace(request, facets=(), cluster=False, explain=False, options=replace(request.options, reranker=None))
    search = SavedSearch(name, index.path.resolve(), kept, reranker, encoder, (), "")
    if path.exists() and _asked(known := saved_search(name)) != _asked(search):
        raise InvalidRequest(
            f"{name} is the name of another saved search, ‘{known}’; choose another, or remove that one with "
            f"`sciretrieve news --forget {name}`"
        )
    return _write(_after(search, index, request))


def news(index: Index, search: SavedSearch, reranker: Reranker | None = None) -> News:
    """Ask a saved search again, and find the papers among its first k that match and were not among the first 1,000 of any look before.

    Where the query demands only values of columns, such as an author, all papers that meet it count. Nothing is written: `News.remember`
    does that, once they have been told.

    Args:
        index: the search's index, opened.
        search: the saved search.
        reranker: the search's reranker, opened, if it has one.

    Raises: as `Index.search` and `Index.similar`.
    """
    request = search.request
    options = replace(request.options, reranker=reranker)
    seen = set(search.seen)
    run = _all_if_listed(index, request, request.k, options)
    ranking, matching_rows = run.rankings[0], set(overview.matching(index, run).tolist())
    rows = ranking.rows.tolist()
    places = [place for place, id in enumerate(ranking.ids) if id not in seen and rows[place] in matching_rows]
    new = replace(run, rankings=(ranking.take(places),))
    hits = [replace(hit, rank=place + 1) for hit, place in zip(new.hits, places, strict=True)]
    return News(Answer(request, new, hits), _after(search, index, request))


def saved_searches() -> list[SavedSearch]:
    """All saved searches, by name. Raises CorruptData."""
    return [saved_search(path.stem) for path in sorted(_folder().glob("*.json"))]


def saved_search(name: str) -> SavedSearch:
    """One saved search. Raises NotFound, CorruptData."""
    path = _path(name)
    if not path.exists():
        names = ", ".join(file.stem for file in sorted(_folder().glob("*.json")))
        raise NotFound(
            f"there is no saved search {name}; {f'there are {names}' if names else 'save one with `sciretrieve search … --save NAME`'}"
        )
    try:
        values = read_json(path)
        request = dict(values["request"])
        options = SearchOptions(**request.pop("options"))
        return SavedSearch(
            name,
            Path(values["index"]),
            Request(options=options, **request),
            values["reranker"],
            values["encoder"],
            values["seen"],
            values["looked"],
        )
    except (KeyError, TypeError, AttributeError, InvalidRequest, CorruptData) as error:
        raise CorruptData(f"{path} holds no saved search; remove it with `sciretrieve news --forget {name}`") from error


def forget(name: str) -> None:
    """Remove a saved search. Raises NotFound."""
    path = _path(name)
    if not path.exists():
        saved_search(name)
    path.unlink()


def _after(search: SavedSearch, index: Index, request: Request) -> SavedSearch:
    """The search, having seen what it answers now."""
    run = _all_if_listed(index, request, max(LEAST_SEEN, 10 * request.k), plainly(request.options))
    seen = dict.fromkeys([*search.seen, *run.rankings[0].ids])
    return replace(search, seen=tuple(seen), looked=datetime.now(UTC).isoformat(timespec="seconds"))


def _all_if_listed(index: Index, request: Request, k: int, options: SearchOptions) -> Run:
    """The first k of an answer, or all of one that is a listing, whose order says nothing."""
    run = searched(index, request, k, options)
    return searched(index, request, len(index), options) if run.rankings[0].listing and len(run.rankings[0]) == k else run


def _asked(search: SavedSearch) -> Any:
    """What makes two saved searches the same."""
    return search.index, json.dumps(_as_json(search.request)), search.reranker, search.encoder


def _write(search: SavedSearch) -> SavedSearch:
    make_folder(_folder())
    values = {
        "schema": 1,
        "index": str(search.index),
        "request": _as_json(search.request),
        "reranker": search.reranker,
        "encoder": search.encoder,
    }
    write_json(_path(search.name), values | {"looked": search.looked, "seen": list(search.seen)})
    return search


def _as_json(request: Request) -> dict[str, Any]:
    """A request's settings that differ from the defaults."""
    usual = asdict(Request())
    values = {name: value for name, value in asdict(request).items() if value != usual[name]}
    usual_options = SearchOptions()
    options = {field.name: getattr(request.options, field.name) for field in fields(SearchOptions)}
    values["options"] = {name: value for name, value in options.items() if value != getattr(usual_options, name)}
    return values


def _path(name: str) -> Path:
    if not NAME.fullmatch(name):
        raise InvalidRequest(f"{name!r} cannot be the name of a saved search; use up to 64 letters, digits, dots and dashes")
    return _folder() / f"{name}.json"


def _folder() -> Path:
    return data_directory() / "searches"

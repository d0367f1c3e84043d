"""Saved searches: requests that are repeated, with the papers already seen, so that new papers can be reported.

Each search is a JSON file in the user's data directory, outside the index. So it survives changes of the index, and each user has their
own.
"""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any

from ..base.arguments import checked
from ..base.choices import check_types
from ..base.errors import CorruptData, InvalidRequest, NotFound, SciretrieveError, Unavailable
from ..base.forms import AsJson
from ..base.types import Hit, names_of
from ..config import data_directory
from ..files.appending import now
from ..files.writing import claimed, make_folder, read_json, write_json
from ..options import SearchOptions
from ..protocols import OwnReranker
from ..query.index import Index
from ..query.opening import AnyIndex, opened
from ..runs import Run
from . import overview
from .answering import Answer, Request, lacks_meaning, plainly, searched

LOG = logging.getLogger(__name__)
LEAST_SEEN = 1000
"""Fewest of an answer's first papers that are marked as seen. Such papers are not new when they later rise because papers above them are
deleted or word statistics change."""
NAME = re.compile(r"(?!(?i:con|prn|aux|nul|com\d|lpt\d)(?:\.|$))\w[\w.-]{0,63}")
"""Windows reserves some names for devices."""
TURN = ".lock"
"""Lock file, held while saved searches are changed."""


@dataclass(frozen=True, slots=True)
class SavedSearch(AsJson):
    """A saved search.

    Attributes:
        name: the user's name for it: letters, digits, and inside it dots and dashes.
        index: the index's folder.
        request: the request. Its reranker is stored by name in `reranker`.
        reranker: the name of the reranker, or None.
        encoder: the name of the query encoder, if not the index's own.
        seen: ids of papers that are not new.
        looked: time of the last search, in ISO 8601.

    >>> search = sr.save_search(index, sr.Request("graph networks"), "graphs")  # an sr.SavedSearch
    >>> search.request.query
    'graph networks'
    """

    name: str
    index: Path
    request: Request
    reranker: str | None
    encoder: str | None
    seen: Sequence[str]
    looked: str

    def __post_init__(self) -> None:
        check_types(self)

    def __str__(self) -> str:
        """The search in a few words."""
        request = self.request
        what = request.query if request.query is not None else " ".join(["like", *names_of(request.like), *filter(None, [request.text])])
        return "; ".join([what, *request.options.filters])


@dataclass(frozen=True, slots=True)
class News(AsJson):
    """New papers in a saved search.

    Attributes:
        answer: the new papers, with their ranks in the whole answer.
        search: the search with these papers marked as seen.

    >>> new = sr.news(index, sr.save_search(index, sr.Request("graph networks"), "graphs"))  # an sr.News
    >>> new.remember()
    """

    answer: Answer
    search: SavedSearch

    @property
    def hits(self) -> Sequence[Hit]:
        """The new papers."""
        return self.answer.hits

    def remember(self) -> None:
        """Mark these papers as seen, in addition to papers that another process has marked meanwhile.

        Nothing is written if the search was removed or replaced.
        """
        with _turn():
            if _path(self.search.name).exists() and _identity(known := saved_search(self.search.name)) == _identity(self.search):
                _write(_both(known, self.search))


@checked
def save_search(index: AnyIndex, request: Request, name: str, *, reranker: str | None = None, encoder: str | None = None) -> SavedSearch:
    """Save a request under a name. Papers in its present answer are not new later.

    Raises:
        InvalidRequest: the name is not allowed or belongs to another search, or several indexes are searched; also as `Index.search` and
            `Index.similar`.

    >>> search = sr.save_search(index, sr.Request("star dust", k=5), "stars")
    """
    with opened(index) as library:
        if len(library.names) > 1:
            raise InvalidRequest("a saved search has one index; save it for each index")
        kept = replace(request, facets=(), cluster=False, explain=False, options=replace(request.options, reranker=None))
        search = SavedSearch(name, library.path.resolve(), kept, reranker, encoder, (), "")
        _before(search)
        asked = _after(search, library, request)
    with _turn():
        return _write(_both(_before(search), asked))


@checked
def news(index: AnyIndex, search: SavedSearch | str, reranker: OwnReranker | None = None) -> News:
    """Repeat a saved search, and find papers among its first k that match and were not among the first 1,000 of any earlier look.

    If the query only demands values of columns, such as an author, all matching papers count. Nothing is written; call `News.remember`
    after showing the papers.

    Args:
        index: the search's index.
        search: the saved search, or its name.
        reranker: the search's reranker, open, if it has one.

    Raises as `Index.search` and `Index.similar`.

    >>> sr.news(index, sr.save_search(index, sr.Request("star dust"), "dust")).hits  # none since it was saved
    []
    """
    known = search if isinstance(search, SavedSearch) else saved_search(search)
    with opened(index) as library:
        found = _news(library, known, reranker)
        return found if library is index else replace(found, answer=replace(found.answer, run=found.answer.run.with_papers()))


def _news(index: Index, search: SavedSearch, reranker: OwnReranker | None) -> News:
    request = search.request
    options = replace(request.options, reranker=reranker)
    seen = set(search.seen)
    run = _all_if_listed(index, request, request.k, options)
    ranking, matching_rows = run.rankings[0], set(overview.matching(index, run).tolist())
    rows = ranking.rows.tolist()
    places = [place for place, id in enumerate(ranking.ids) if id not in seen and rows[place] in matching_rows]
    new = replace(run, rankings=(ranking.take(places),))
    hits = [replace(hit, rank=place + 1) for hit, place in zip(new.hits, places, strict=True)]
    return News(Answer(request, new, hits, lacks_meaning=lacks_meaning(index, request, run)), _after(search, index, request))


def names() -> list[str]:
    """Names of all saved searches, including unreadable ones."""
    return [path.stem for path in sorted(_folder().glob("*.json")) if NAME.fullmatch(path.stem)]


def saved_searches() -> list[SavedSearch]:
    """All readable saved searches, by name. A warning says why another one is unreadable, and what to do.

    >>> names = [search.name for search in sr.saved_searches()]
    """
    searches = []
    for name in names():
        try:
            searches.append(saved_search(name))
        except SciretrieveError as error:
            LOG.warning("%s", error)
    return searches


@checked
def saved_search(name: str) -> SavedSearch:
    """A saved search. Raises NotFound, CorruptData, and Unavailable if the file may not be read.

    >>> _ = sr.save_search(index, sr.Request("graph networks"), "mine")
    >>> sr.saved_search("mine").request.k
    10
    """
    path = _path(name)
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
    except FileNotFoundError as error:
        others = ", ".join(names())
        raise NotFound(
            f"there is no saved search {name}; {f'there are {others}' if others else 'save one with `sciretrieve search … --save NAME`'}"
        ) from error
    except OSError as error:
        raise Unavailable(f"{path} cannot be read ({error.strerror}); give yourself the right to read it, or remove it") from error
    except (KeyError, TypeError, ValueError, AttributeError, InvalidRequest, CorruptData) as error:
        raise CorruptData(f"{path} holds no saved search; remove it with `sciretrieve news forget {name}`") from error


def forget(name: str) -> None:
    """Delete a saved search. Raises NotFound."""
    path = _path(name)
    with _turn():
        if not path.exists():
            saved_search(name)
        path.unlink()


def _before(search: SavedSearch) -> SavedSearch:
    """The search as saved earlier, else the given one. Raises InvalidRequest if its name belongs to another search."""
    if not _path(search.name).exists():
        return search
    if _identity(known := saved_search(search.name)) == _identity(search):
        return known
    raise InvalidRequest(
        f"{search.name} is the name of another saved search, ‘{known}’; choose another, or remove that one with "
        f"`sciretrieve news forget {search.name}`"
    )


def _both(one: SavedSearch, other: SavedSearch) -> SavedSearch:
    """The search with the papers seen by either."""
    return replace(other, seen=tuple(dict.fromkeys([*one.seen, *other.seen])), looked=max(one.looked, other.looked))


def _after(search: SavedSearch, index: Index, request: Request) -> SavedSearch:
    """The search with its present answer marked as seen."""
    run = _all_if_listed(index, request, max(LEAST_SEEN, 10 * request.k), plainly(request.options))
    seen = dict.fromkeys([*search.seen, *run.rankings[0].ids])
    return replace(search, seen=tuple(seen), looked=now())


def _all_if_listed(index: Index, request: Request, k: int, options: SearchOptions) -> Run:
    """The first k papers of an answer, or all papers of a listing, whose order means nothing."""
    run = searched(index, request, k, options)
    return searched(index, request, len(index), options) if run.rankings[0].listing and len(run.rankings[0]) == k else run


def _identity(search: SavedSearch) -> Any:
    """Key that is equal for equal saved searches."""
    return search.index, json.dumps(_as_json(search.request)), search.reranker, search.encoder


@contextmanager
def _turn() -> Iterator[None]:
    """Hold the lock on saved searches, so that processes do not undo each other's changes."""
    make_folder(_folder())
    file = _folder() / TURN
    file.touch()
    with claimed(file):
        yield


def _write(search: SavedSearch) -> SavedSearch:
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

"""`sciretrieve news`: what is new in saved searches."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..base.choices import Help
from ..base.errors import InvalidRequest, SciretrieveError
from ..base.wording import as_json, counted, printable
from . import completing
from .console import Console, say
from .parameters import PlainFormat, PlainFormatOption, open_index, opened_reranker

if TYPE_CHECKING:
    from ..answers.saved import News, SavedSearch
    from ..query.index import Index


def news(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="NAME", help="Saved searches; default: all of them.", autocompletion=completing.saved)
    ] = None,
    peek: Annotated[bool, Help("Show the same papers again next time.")] = False,
    only_list: Annotated[bool, Help("List the saved searches, without asking them.", name="list")] = False,
    forget: Annotated[bool, Help("Remove the named searches.")] = False,
    format: PlainFormatOption = "table",
) -> None:
    """Show what is new in your saved searches.

    `search … --save NAME` and `similar … --save NAME` save one. When papers have come to its index since, `news` shows those among its
    first papers, as many as -k said then, that were in none of its answers before. Each is shown once.
    """
    from ..answers import saved

    console = Console()
    if forget:
        if not names:
            raise InvalidRequest("name the saved searches that --forget is to remove; --list shows them")
        for name in names:
            saved.forget(name)
            console.note(f"removed the saved search {name}")
        return
    searches: list[SavedSearch] = []
    told: list[News] = []
    rows: list[dict[str, Any]] = []
    errors: list[SciretrieveError] = []

    @contextmanager
    def noted(name: str) -> Iterator[None]:
        """One search, whose error is noted; the others are asked all the same."""
        try:
            yield
        except SciretrieveError as error:
            console.note(f"{name}: {error}")
            errors.append(error)

    for name in names or saved.names():
        with noted(name):
            searches.append(saved.saved_search(name))
    if not searches and not errors:
        console.note("there is no saved search; save one with `sciretrieve search … --save NAME`")
    if only_list:
        _list(searches, format)
    for search in searches if not only_list else ():
        with noted(search.name), open_index(search.index, search.encoder) as index:
            new = saved.news(index, search, opened_reranker(search.reranker))
            if format == "json":
                rows.append(_as_json(search, new))
            else:
                _print(index, search, new)
            told.append(new)
    if format == "json" and not only_list:
        say([as_json({"schema": 1, "searches": rows}, indent=2)])
    for new in told if not peek else ():
        with noted(new.search.name):
            new.remember()
    if errors:
        raise typer.Exit(errors[0].exit_code)


def _list(searches: Sequence[SavedSearch], format: PlainFormat) -> None:
    if format == "json":
        rows = [{"name": search.name, "index": str(search.index), "search": str(search), "looked": search.looked} for search in searches]
        say([as_json({"schema": 1, "searches": rows}, indent=2)])
        return
    width = max((len(search.name) for search in searches), default=0)
    for search in searches:
        say([f"{search.name:<{width}}  {search}", f"{'':<{width}}  {search.index}, last asked {search.looked}"])


def _as_json(search: SavedSearch, new: News) -> dict[str, Any]:
    hits = [hit.to_dict() for hit in new.hits]
    return {"name": search.name, "index": str(search.index), "search": str(search), "since": search.looked, "hits": hits}


def _print(index: Index, search: SavedSearch, new: News) -> None:
    from ..answers.outputs import words_alone
    from .searching import table_lines

    count = f"{counted(len(new.hits), 'new paper')} since {search.looked}" if new.hits else f"nothing new since {search.looked}"
    notes = [f"  {note}" for note in words_alone(new.answer.lacks_meaning)]
    say(map(printable, [f"{search.name}: {search}", f"  {count}, in {search.index}", *notes]))
    say(table_lines(index, new.answer), styled=True)
    say([""])

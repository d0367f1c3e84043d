"""`sciretrieve news`, `news list` and `news forget`: saved searches and their new papers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import typer

from ..base.choices import Help
from ..base.errors import SciretrieveError
from ..base.wording import counted, printable
from .console import Console, say, say_json
from .parameters import PlainFormatOption, argument, open_index, opened_reranker

if TYPE_CHECKING:
    from ..answers.saved import News, SavedSearch
    from ..query.index import Index


Names: TypeAlias = Annotated[list[str] | None, argument("NAME", "Saved searches; default: all of them.", "saved")]


def news(
    names: Names = None, peek: Annotated[bool, Help("Show the same papers again next time.")] = False, format: PlainFormatOption = "table"
) -> None:
    """Show what is new in your saved searches.

    `search` and `similar` save one with --save NAME. A new paper is shown once, when it is among the first papers of the answer, as
    many as -k said.
    """
    from ..answers import saved

    told: list[News] = []
    rows: list[dict[str, Any]] = []
    with _searches(names) as (searches, noted):
        for search in searches:
            with noted(search.name), open_index(search.index, search.encoder) as index:
                new = saved.news(index, search, opened_reranker(search.reranker))
                if format == "json":
                    rows.append(_as_json(search, new))
                else:
                    _print(index, search, new)
                told.append(new)
        if format == "json":
            say_json({"schema": 1, "searches": rows})
        for new in told if not peek else ():
            with noted(new.search.name):
                new.remember()


def saved_searches(names: Names = None, format: PlainFormatOption = "table") -> None:
    """List your saved searches, without asking them."""
    with _searches(names) as (searches, _):
        if format == "json":
            rows = [{"name": each.name, "index": str(each.index), "search": str(each), "looked": each.looked} for each in searches]
            say_json({"schema": 1, "searches": rows})
            return
        width = max((len(search.name) for search in searches), default=0)
        for search in searches:
            say([f"{search.name:<{width}}  {search}", f"{'':<{width}}  {search.index}, last asked {search.looked}"])


def forget(names: Annotated[list[str], argument("NAME", "Saved searches.", "saved")]) -> None:
    """Remove saved searches."""
    from ..answers import saved

    for name in names:
        saved.forget(name)
        Console().note(f"removed the saved search {name}")


@contextmanager
def _searches(names: Sequence[str] | None) -> Iterator[tuple[list[SavedSearch], Callable[[str], AbstractContextManager[None]]]]:
    """The saved searches of some names, or all; and a context that notes the error of one search, so that the others go on. The exit code
    is then that of the first error.
    """
    from ..answers import saved

    console = Console()
    searches: list[SavedSearch] = []
    errors: list[SciretrieveError] = []

    @contextmanager
    def noted(name: str) -> Iterator[None]:
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
    yield searches, noted
    if errors:
        raise typer.Exit(errors[0].exit_code)


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

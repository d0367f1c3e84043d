"""`sciretrieve show`: shows all facts of a paper, or opens it on the web."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

from ..base.choices import Help
from ..base.errors import InvalidRequest, NotFound
from .console import Console, given_ids, say, say_json
from .parameters import IndexPaths, PaperIds, PlainFormatOption, named_papers, open_indexes

if TYPE_CHECKING:
    from ..base.types import Paper


def show(
    ids: PaperIds,
    index: IndexPaths = None,
    in_browser: Annotated[bool, Help("Open the papers in the browser, or print their addresses.", name="open")] = False,
    format: PlainFormatOption = "table",
) -> None:
    """Show all of a paper, and the papers nearest to it.

    Prints all columns, near-duplicates and the web address. Of several records with one DOI it shows the fullest. --open goes to the
    DOI, else to arXiv, PubMed, or the corpus's address. Papers that the index does not have are named, with exit code 1.
    """
    from ..answers.profiles import profile

    opened_index = open_indexes(index)
    with named_papers(opened_index, _names(ids)) as names:
        if in_browser:
            _open_in_browser(opened_index.papers(names), Console())
            return
        profiles = [profile(opened_index, name) for name in names]
        if format == "json":
            from ..answers.outputs import profiled

            say_json({"schema": 1, "papers": [*map(profiled, profiles)]})
            return
        from .terminal import portrait

        for number, each in enumerate(profiles):
            say([""] * bool(number))
            say(portrait(each), styled=True)


def _open_in_browser(papers: Sequence[Paper], console: Console) -> None:
    """Open papers on the web; without a browser, print their addresses."""
    import webbrowser

    from ..papers.bibliographies.addresses import address_of

    addresses = [address_of(paper) for paper in papers]
    for paper, address in zip(papers, addresses, strict=True):
        if address is None:
            raise NotFound(f"{paper.id!r} has no DOI, no arXiv number, no PubMed id and no web address to open")
    for address in filter(None, addresses):
        if webbrowser.open(address):
            console.note(f"opened {address}")
        else:
            say([address])


def _names(ids: list[str]) -> list[str]:
    names = given_ids(ids)
    if not names:
        raise InvalidRequest("no paper is named on stdin; give one id per line")
    return names

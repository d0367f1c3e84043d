"""`sciretrieve show`: shows all facts of a paper, or opens it on the web."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

from ..base.choices import Help
from ..base.errors import InvalidRequest, NotFound
from ..base.wording import printable
from .console import Console, given_ids, say, say_json
from .parameters import IndexPaths, PaperIds, PlainFormat, PlainFormatOption, named_papers, open_indexes

if TYPE_CHECKING:
    from ..base.types import Passage
    from ..query.index import Index


def show(
    ids: PaperIds,
    index: IndexPaths = None,
    in_browser: Annotated[bool, Help("Open the papers in the browser, or print their addresses.", name="open")] = False,
    format: PlainFormatOption = "table",
) -> None:
    """Show all of a paper, and the papers nearest to it.

    Prints all columns, near-duplicates, sections and the web address. Of several records with one DOI it shows the fullest. PAPER#3 is a
    passage of a full text. --open opens the full text, at a passage's page; without one the DOI, arXiv, PubMed, or the corpus's address.
    Papers that the index does not have are named, with exit code 1.
    """
    from ..answers.profiles import profile

    opened_index, given = open_indexes(index), _names(ids)
    passages = {name: passage for name in given if (passage := opened_index.snapshot.passage(name)) is not None}
    if passages:
        _show_passages(opened_index, list(passages.values()), in_browser, format)
        given = [name for name in given if name not in passages]
        if not given:
            return
    with named_papers(opened_index, given) as names:
        if in_browser:
            _open_in_browser(opened_index, names, Console())
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


def _show_passages(index: Index, passages: Sequence[Passage], in_browser: bool, format: PlainFormat) -> None:
    """Print passages, or open their pages."""
    if in_browser:
        _open([passage.address for passage in passages if passage.address], Console())
    elif format == "json":
        say_json({"schema": 1, "passages": [passage.to_dict() for passage in passages]})
    else:
        from ..answers.outputs import passage_lines

        say(map(printable, passage_lines(index, passages, shutil.get_terminal_size((80, 24)).columns)))


def _open_in_browser(index: Index, names: Sequence[str], console: Console) -> None:
    """Open papers' full texts, or their pages on the web; without a browser, print their addresses."""
    from ..papers.bibliographies.addresses import address_of

    papers = index.papers(names)
    texts = [next((passage.address for passage in index.full_text(name)), None) for name in names]
    addresses = [text or address_of(paper) for text, paper in zip(texts, papers, strict=True)]
    for paper, address in zip(papers, addresses, strict=True):
        if address is None:
            raise NotFound(f"{paper.id!r} has no DOI, no arXiv number, no PubMed id and no web address to open")
    _open(list(filter(None, addresses)), console)


def _open(addresses: Sequence[str], console: Console) -> None:
    import webbrowser

    for address in addresses:
        if webbrowser.open(address):
            console.note(f"opened {address}")
        else:
            say([address])


def _names(ids: list[str]) -> list[str]:
    names = given_ids(ids)
    if not names:
        raise InvalidRequest("no paper is named on stdin; give one id per line")
    return names

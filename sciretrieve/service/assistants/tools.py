"""The tools: each searches or looks something up in the current indexes. They add only paging to the library."""

from __future__ import annotations

import time
from collections.abc import Callable
from textwrap import shorten
from typing import Annotated, TypeVar

from mcp_types import CallToolResult, TextContent

from ...answers.answering import Request
from ...base.wording import as_json
from ...options import SearchOptions
from ...query.index import Index
from ..desk import Desk, Wait
from ..library import Library
from ..parameters import USUAL
from ..settings import ServiceSettings
from . import citing, finding, full_texts, looking, parameters, results
from .paging import Ask
from .shelf import Shelf

Value = TypeVar("Value")
TOOLS = ("search", "passages", "suggest", "similar", "get_papers", "full_text", "cite", "citations", "why_not", "facets", "indexes")
"""The methods of `Tools` that are tools, in the order of the list."""
ASKED = 120
"""The most characters of a query that its answer repeats."""
LARGE = 5 * parameters.BUDGET
"""The budget in tokens above which a call is heavy, see `Desk.do`."""
NAMED = 3
"""The most papers to be like that an answer names."""


class Tools:
    """The tools over some indexes. Their docstrings are the descriptions for language models."""

    def __init__(self, library: Library, settings: ServiceSettings) -> None:
        self._library, self._settings = library, settings
        self._desk = Desk(settings)
        self._looked = float("-inf")

    async def search(
        self,
        query: parameters.Query,
        limit: parameters.Limit = USUAL.k,
        filter: parameters.Filter = (),
        mode: parameters.SearchMode = None,
        sort: parameters.Sort = None,
        like: parameters.Like = (),
        unlike: parameters.Unlike = (),
        index: parameters.InIndex = "",
        budget: parameters.Budget = parameters.BUDGET,
        cursor: parameters.Cursor = "",
    ) -> Annotated[CallToolResult, results.FoundPapers]:
        """Find papers by meaning and by words, the best first.

        Each comes with the sentence that is nearest to the query, and why it was found: #2 is its place by meaning alone or by words alone.
        Where a paper has a full text, the best of it follows, with page and section.
        Plain words need not occur; operators demand. A note says if no paper matches well.
        Next: get_papers for abstracts, similar for more like a paper, cite for its reference, why_not if an expected paper is missing.
        """
        ask = Ask(("search", query, limit, *map(tuple, (filter, like, unlike)), mode, sort, index), budget, cursor)

        def work(shelf: Shelf) -> results.ToolResult:
            options = SearchOptions(mode=mode, filter=tuple(filter))
            request = Request(query, shelf.own(like), shelf.own(unlike), k=limit, options=options, sort=sort)
            return finding.found(shelf, request, f"for “{shorten(query, ASKED, placeholder='…')}”", ask)

        return await self._result(work, ask, index)

    async def passages(
        self,
        query: parameters.PassageQuery,
        papers: parameters.Within = (),
        limit: parameters.PassageLimit = USUAL.k,
        filter: parameters.Filter = (),
        index: parameters.InIndex = "",
        budget: parameters.Budget = parameters.BUDGET,
        cursor: parameters.Cursor = "",
    ) -> Annotated[CallToolResult, results.FoundPassages]:
        """Find passages of full texts to answer or to support a claim, the best first, each with its paper, page and section.

        Only for papers with full texts: `indexes` says how many have one. Quote passages unchanged.
        Next: full_text to read on, cite for the paper's reference.
        """
        ask = Ask(("passages", query, tuple(papers), limit, tuple(filter), index), budget, cursor)
        asked = f"for “{shorten(query, ASKED, placeholder='…')}”"
        return await self._result(lambda shelf: full_texts.passages(shelf, query, papers, limit, filter, asked, ask), ask, index)

    async def suggest(
        self,
        text: parameters.Paragraph,
        index: parameters.InIndex = "",
        budget: parameters.Budget = parameters.BUDGET,
        cursor: parameters.Cursor = "",
    ) -> Annotated[CallToolResult, results.CitationsToAdd]:
        """Find what a paragraph of a draft should cite: for each sentence that needs a citation, up to three papers, the best first.

        Each comes with its key and what supports the sentence: the best of its full text, with page and section, or of its abstract.
        Sentences that cite already, and those for which nothing fits, are left out, as are papers that are cited nearby.
        Judge by the support whether a paper fits. Next: cite for references, passages for more support.
        """
        ask = Ask(("suggest", text, index), budget, cursor)
        return await self._result(lambda shelf: citing.suggested(shelf, text, ask), ask, index)

    async def similar(
        self,
        papers: parameters.Sources = (),
        unlike: parameters.Unlike = (),
        text: parameters.Text = None,
        by: parameters.By = None,
        limit: parameters.Limit = USUAL.k,
        filter: parameters.Filter = (),
        index: parameters.InIndex = "",
        budget: parameters.Budget = parameters.BUDGET,
        cursor: parameters.Cursor = "",
    ) -> Annotated[CallToolResult, results.FoundPapers]:
        """Find papers like given ones, by their text and, if the index has references, by their citations.

        Give papers of the index, or the text of one that is not in it, or both. Several papers are taken together.
        Next: get_papers for abstracts, citations for what links them.
        """
        ask = Ask(("similar", *map(tuple, (papers, unlike, filter)), text, by, limit, index), budget, cursor)

        def work(shelf: Shelf) -> results.ToolResult:
            like = shelf.own(papers)
            request = Request(
                like=like, unlike=shelf.own(unlike), text=text or None, by=by, k=limit, options=SearchOptions(filter=tuple(filter))
            )
            named = [*(f"“{paper.headline()}”" for paper in shelf.index.papers(like)), *["the given text"] * bool(text)]
            more = f" and {len(named) - NAMED} more" * (len(named) > NAMED)
            return finding.found(shelf, request, f"like {', '.join(named[:NAMED])}{more}", ask)

        return await self._result(work, ask, index)

    async def get_papers(
        self, papers: parameters.Names, budget: parameters.Budget = parameters.BUDGET, cursor: parameters.Cursor = ""
    ) -> Annotated[CallToolResult, results.DetailedPapers]:
        """Get all facts of papers: abstract, authors, year, venue, web address and further columns.

        Unknown names are reported, with suggestions.
        """
        ask = Ask(("get_papers", tuple(papers)), budget, cursor)
        return await self._result(lambda shelf: looking.records(shelf, papers, ask), ask)

    async def full_text(
        self,
        paper: parameters.Name,
        section: parameters.Section = "",
        page: parameters.FirstPage = None,
        budget: parameters.Budget = parameters.BUDGET,
        cursor: parameters.Cursor = "",
    ) -> Annotated[CallToolResult, results.ReadFullText]:
        """Read a paper's full text in order, or a section of it, or from a page on; references are left out.

        At the beginning it lists the sections. Go on with the cursor. Next: passages to find something in it.
        """
        ask = Ask(("full_text", paper, section, page), budget, cursor)
        return await self._result(lambda shelf: full_texts.full_text(shelf, paper, section, page, ask), ask)

    async def cite(
        self,
        papers: parameters.Names,
        format: parameters.EntryFormat = "bibtex",
        budget: parameters.Budget = parameters.BUDGET,
        cursor: parameters.Cursor = "",
    ) -> Annotated[CallToolResult, results.Entries]:
        """Get entries for a bibliography, one for each paper. Copy them unchanged instead of writing references yourself.

        All entries of one call have different citation keys. Unknown names are reported.
        """
        ask = Ask(("cite", tuple(papers), format), budget, cursor)
        return await self._result(lambda shelf: looking.entries(shelf, papers, format, ask), ask)

    async def citations(
        self,
        paper: parameters.Name,
        direction: parameters.Directions = "both",
        budget: parameters.Budget = parameters.BUDGET,
        cursor: parameters.Cursor = "",
    ) -> Annotated[CallToolResult, results.Works]:
        """List what a paper cites, and which papers of the index cite it, the latest first.

        Only for indexes with references: see `indexes`. Works outside the index appear as the paper names them.
        """
        ask = Ask(("citations", paper, direction), budget, cursor)
        return await self._result(lambda shelf: looking.works(shelf, paper, direction, ask), ask)

    async def why_not(
        self,
        paper: parameters.Name,
        query: parameters.Query,
        limit: parameters.Limit = USUAL.k,
        filter: parameters.Filter = (),
        mode: parameters.SearchMode = None,
        index: parameters.InIndex = "",
    ) -> Annotated[CallToolResult, results.Absent]:
        """Find out why a paper is not among the first papers of a search: its ranks, what it fails, and what would bring it in.

        Give the search's own query, limit, filter and mode. If get_papers does not find the paper, it is in no index.
        """
        return await self._result(lambda shelf: finding.absent(shelf, paper, query, limit, filter, mode), name=index)

    async def facets(
        self,
        columns: parameters.Columns,
        query: parameters.OptionalQuery = "",
        filter: parameters.Filter = (),
        index: parameters.InIndex = "",
        budget: parameters.Budget = parameters.BUDGET,
        cursor: parameters.Cursor = "",
    ) -> Annotated[CallToolResult, results.Counts]:
        """Count papers by year, venue, author or any other column, among all papers or those that match a query and a filter.

        For overviews: how a subject grew, who writes about it, where. Next: search with a filter on a value.
        """
        ask = Ask(("facets", tuple(columns), query, tuple(filter), index), budget, cursor)
        return await self._result(lambda shelf: finding.counts(shelf, columns, query, filter, ask), ask, index)

    async def indexes(
        self, budget: parameters.Budget = parameters.BUDGET, cursor: parameters.Cursor = ""
    ) -> Annotated[CallToolResult, results.IndexList]:
        """List the indexes: how many papers they have, of which years, and the columns that filters and facets may name."""
        ask = Ask(("indexes",), budget, cursor)
        return await self._result(lambda shelf: looking.indexes(shelf, ask), ask)

    async def paper(self, id: str) -> str:
        """A paper with all that its index has of it, uncut, as JSON."""
        return await self._do(lambda: as_json(self._current().papers(id)[0].to_dict(), indent=2))

    async def _result(self, work: Callable[[Shelf], results.ToolResult], ask: Ask | None = None, name: str = "") -> CallToolResult:
        """The result of a tool for the index of that name, or for all; a large one is made beside quick requests."""
        prefix = f"{name}:" if name and len(self._library.names) > 1 else ""
        result = await self._do(
            lambda: work(Shelf(self._current(name), self._library.public, prefix)), heavy=ask is not None and ask.budget > LARGE
        )
        return CallToolResult(
            content=[TextContent(type="text", text=result.text())], structured_content=result.model_dump(mode="json", exclude_defaults=True)
        )

    async def _do(self, work: Callable[[], Value], *, heavy: bool = False) -> Value:
        """The result of some work in a thread. It stops soon after the client gives up or the time is over."""
        return await self._desk.do(lambda: self._library.sound(work), Wait(self._settings.seconds), heavy=heavy)

    def _current(self, name: str = "") -> Index:
        """The index of that name, or all as one, with recent commits if the last check was a while ago."""
        now = time.monotonic()
        if now - self._looked >= self._settings.following:
            self._looked = now
            self._library.follow()
        return self._library.index(name or None)

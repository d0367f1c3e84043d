"""Parameters of the tools, with their descriptions for language models. Several tools share them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import BeforeValidator, Field

from ...base.choices import Mode, Order, SimilarBy
from ..parameters import described
from ..settings import LONGEST, MOST
from . import results

BUDGET = 4000
"""The default budget of an answer, in tokens."""


def _listed(value: Any) -> Any:
    """A single text as a list of one, and an empty one as an empty list, since language models give both."""
    return [value] * bool(value) if isinstance(value, str) else value


ListOf: TypeAlias = Annotated[Sequence[Annotated[str, Field(max_length=LONGEST)]], BeforeValidator(_listed)]

OPERATORS = (
    'Operators demand: "exact phrase", -word, word*, title:word, author:name, year:2015-2019, venue:name, a NEAR/3 b, AND, OR, NOT, ( ).'
)
CONDITIONS = "Operators: = != < <= > >= in, between A and B, contains, is null, and, or, not, ( ). `indexes` lists the columns."
NAMES = "by id, DOI, arXiv number, PubMed id, citation key or title."
Query: TypeAlias = Annotated[
    str, Field(min_length=1, max_length=LONGEST, description=f"A question, a sentence, a title, a DOI or words. {OPERATORS}")
]
OptionalQuery: TypeAlias = Annotated[
    str, Field(max_length=LONGEST, description=f"Count among papers that match this; empty for all papers. {OPERATORS}")
]
Names: TypeAlias = Annotated[ListOf, Field(min_length=1, max_length=MOST, description=f"Papers, each {NAMES}")]
Sources: TypeAlias = Annotated[ListOf, Field(max_length=MOST, description=f"Papers to be like, each {NAMES} They are not listed.")]
Within: TypeAlias = Annotated[ListOf, Field(max_length=MOST, description=f"The only papers whose passages may answer, each {NAMES}")]
PassageQuery: TypeAlias = Annotated[
    str,
    Field(min_length=1, max_length=LONGEST, description=f"A question, a claim or words. {OPERATORS} They demand of the passage itself."),
]
PassageLimit: TypeAlias = Annotated[int, Field(ge=1, le=MOST, description="How many passages to answer with, over all pages.")]
Paragraph: TypeAlias = Annotated[
    str,
    Field(
        min_length=1,
        max_length=LONGEST,
        description="One paragraph or several, as plain text, LaTeX or Markdown, with the citations that they have.",
    ),
]
Section: TypeAlias = Annotated[str, Field(max_length=500, description="Read only sections with this in their head, such as methods.")]
FirstPage: TypeAlias = Annotated[int | None, Field(ge=1, description="Read from this page of the file on.")]
Name: TypeAlias = Annotated[str, Field(min_length=1, max_length=LONGEST, description=f"A paper, {NAMES}")]
Like: TypeAlias = Annotated[ListOf, described("like", "They are not listed themselves.")]
Unlike: TypeAlias = Annotated[ListOf, described("unlike")]
Text: TypeAlias = Annotated[str | None, described("text", max_length=LONGEST)]
By: TypeAlias = Annotated[SimilarBy | None, described("by")]
Filter: TypeAlias = Annotated[ListOf, described("filter", CONDITIONS)]
Limit: TypeAlias = Annotated[int, described("k", "Over all of its pages; the best ones.", le=MOST)]
SearchMode: TypeAlias = Annotated[Mode | None, described("mode", "dense: by meaning alone; bm25: by words alone.")]
Sort: TypeAlias = Annotated[Order | None, described("sort")]
InIndex: TypeAlias = Annotated[str, Field(description="The name of the only index to look in; empty for all. `indexes` lists them.")]
Columns: TypeAlias = Annotated[ListOf, described("facets", min_length=1, max_length=20)]
EntryFormat: TypeAlias = Annotated[
    results.Format, Field(description="markdown and text are references to read: authors (year). title. venue. address.")
]
Directions: TypeAlias = Annotated[
    Literal["both", "cites", "cited_by"], Field(description="cites: what the paper cites; cited_by: which papers cite it.")
]
Budget: TypeAlias = Annotated[
    int, Field(ge=100, le=1_000_000, description="Tokens that this answer may take, about. The rest comes with `cursor`.")
]
Cursor: TypeAlias = Annotated[
    str, Field(max_length=100, description="To go on where an answer was cut: its cursor, with the same other arguments.")
]

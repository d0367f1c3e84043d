"""What tools are asked with: each parameter as a language model is told of it. Several tools have the same ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import BeforeValidator, Field

from ...base.choices import Mode, SimilarBy
from ..settings import LONGEST
from . import results

MOST = 1000
"""Papers that an answer may have over all of its pages, and that may be named."""
BUDGET = 4000
"""Tokens of an answer where nothing else is asked for."""


def _listed(value: Any) -> Any:
    """One name as a list of one, as language models give it."""
    return [value] if isinstance(value, str) else value


OPERATORS = (
    'Operators demand: "exact phrase", -word, word*, title:word, author:name, year:2015-2019, venue:name, a NEAR/3 b, AND, OR, NOT, ( ).'
)
Query: TypeAlias = Annotated[
    str,
    Field(min_length=1, max_length=LONGEST, description=f"A question, a sentence, a title, a DOI or words. {OPERATORS}"),
]
OptionalQuery: TypeAlias = Annotated[
    str, Field(max_length=LONGEST, description=f"Count among papers that match this; empty for all papers. {OPERATORS}")
]
Names: TypeAlias = Annotated[
    Sequence[str],
    BeforeValidator(_listed),
    Field(min_length=1, max_length=MOST, description="Papers, each by its id, DOI, arXiv number, PubMed id, citation key or title."),
]
Sources: TypeAlias = Annotated[
    Sequence[str],
    BeforeValidator(_listed),
    Field(max_length=MOST, description="Papers to be like, each by its id, DOI, arXiv number or title. They are not listed themselves."),
]
Name: TypeAlias = Annotated[
    str, Field(min_length=1, max_length=LONGEST, description="A paper, by its id, DOI, arXiv number, PubMed id, citation key or title.")
]
Like: TypeAlias = Annotated[
    Sequence[str],
    BeforeValidator(_listed),
    Field(max_length=MOST, description="Papers, by id, that answer the query: find more like them. They are not listed themselves."),
]
Unlike: TypeAlias = Annotated[
    Sequence[str],
    BeforeValidator(_listed),
    Field(max_length=MOST, description="Papers, by id, that are not what is looked for: find fewer like them."),
]
Text: TypeAlias = Annotated[
    str, Field(max_length=LONGEST, description="Title and abstract of a paper that is in no index, to find papers like it.")
]
By: TypeAlias = Annotated[
    SimilarBy | Literal["best"],
    Field(description="text: compare what they say; citations: whom they cite and who cites them; both; best: all that the index has."),
]
Filter: TypeAlias = Annotated[
    str,
    Field(
        max_length=LONGEST,
        description="A condition on columns: year >= 2018 and (venue in ('ACL', 'EMNLP') or authors contains 'lovelace'). "
        "Operators: = != < <= > >= in, between A and B, contains, is null, and, or, not, ( ). `indexes` lists the columns.",
    ),
]
Limit: TypeAlias = Annotated[
    int, Field(ge=1, le=MOST, description="How many papers the whole answer may have, over all of its pages; the best ones.")
]
SearchMode: TypeAlias = Annotated[
    Mode | Literal["best"],
    Field(description="hybrid: by meaning and by words; dense: by meaning alone; bm25: by words alone; best: the first of these it has."),
]
Sort: TypeAlias = Annotated[Literal["relevance", "year"], Field(description="year: the same papers, newest first.")]
InIndex: TypeAlias = Annotated[str, Field(description="The name of the only index to look in; empty for all. `indexes` lists them.")]
Columns: TypeAlias = Annotated[
    Sequence[str],
    BeforeValidator(_listed),
    Field(min_length=1, max_length=20, description="Columns whose values are counted: year, venue, authors …; venue:50 shows 50 values."),
]
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

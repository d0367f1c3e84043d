"""What requests to our own API may say, in an address or as JSON, and what of it is refused."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import Response

from ...answers.answering import Request
from ...base.choices import FusionMethod, Mode, Order, SimilarBy, options_of, parted
from ...base.errors import InvalidRequest
from ...base.wording import as_json
from ...options import SearchOptions
from ..service import Service
from ..settings import LONGEST

MOST_NAMED = 500
"""Papers that a request may name, and values that any of its lists may have."""

Text = Annotated[str, Field(max_length=LONGEST)]
Names = Annotated[list[Text], Field(default_factory=list, max_length=MOST_NAMED)]
IndexName = Annotated[str | None, Field(description="One of the service's indexes, by name; without it all of them answer as one.")]


def of_search(name: str, most: int | None = None) -> Any:
    """An option of `SearchOptions` as a field of a form, with its default, help and bounds. The service may bound it further."""
    help = parted(options_of(SearchOptions)[name])[1]
    assert help is not None
    return Field(getattr(SearchOptions(), name), description=help.text, ge=help.least, le=help.most if most is None else most)


class Narrowed(BaseModel):
    """Which papers may answer."""

    model_config = ConfigDict(extra="forbid")

    index: IndexName = None
    filter: list[str] = Field(
        default_factory=list,
        max_length=MOST_NAMED,
        description='Conditions that papers must meet, such as: year >= 2018 and venue == "ACL"; all of them hold.',
    )
    since: int | None = of_search("since")
    until: int | None = of_search("until")


class Views(Narrowed):
    """How to search, and what to look at."""

    k: int = Field(10, ge=1, description="How many papers to answer with.")
    mode: Mode | None = of_search("mode")
    fusion: FusionMethod | None = of_search("fusion")
    alpha: float | None = of_search("alpha")
    group: bool = of_search("group")
    diversify: bool = of_search("diversify")
    sort: Order | None = Field(None, description="The papers of the answer newest first.")
    explain: bool = Field(False, description="Whether each paper's place is explained.")
    facets: Names = Field(description="Columns whose values are counted, each with how many are kept: year:50.")
    cluster: bool = Field(False, description="Whether the first papers are put into groups.")
    rerank: bool = Field(False, description="Whether the service's reranker orders the first papers anew.")
    rerank_depth: int = of_search("rerank_depth", most=1000)

    def options(self, service: Service) -> SearchOptions:
        """How to search. Raises InvalidRequest."""
        if self.rerank and service.reranker is None:
            raise InvalidRequest("this service has no reranker; leave out `rerank`")
        return SearchOptions(
            mode=self.mode,
            filter=tuple(self.filter) or None,
            since=self.since,
            until=self.until,
            fusion=self.fusion,
            alpha=self.alpha,
            group=self.group,
            diversify=self.diversify,
            reranker=service.reranker if self.rerank else None,
            rerank_depth=self.rerank_depth,
        )

    def viewed(self, service: Service) -> dict[str, Any]:
        """The fields of a `Request` that are the same for a query and for papers to be like. Raises InvalidRequest."""
        check_count(self.k, service)
        views = {"explain": self.explain, "facets": self.facets, "cluster": self.cluster, "sort": self.sort}
        return views | {"k": self.k, "options": self.options(service)}


class Search(Views):
    """A search for a query."""

    q: str = Field(description="Words, a sentence, a title, a DOI; with operators as people type them.")
    like: Names = Field(description="Papers that answer it: it is moved towards them, and they are left out.")
    unlike: Names = Field(description="Papers that do not answer it: it is moved away from them, and they are left out.")

    def request(self, service: Service) -> Request:
        """It as the library takes it. Raises InvalidRequest."""
        check_query(self.q, service)
        return Request(self.q, self.like, self.unlike, **self.viewed(service))


class Similar(Views):
    """A search for papers like given ones."""

    id: Names = Field(description="Papers to be like: an id, a DOI, a title.")
    not_: Annotated[list[Text], Field(default_factory=list, max_length=MOST_NAMED, alias="not", description="Papers to be unlike.")]
    text: str | None = Field(None, description="Title and abstract of one more paper to be like, which need not be in an index.")
    by: SimilarBy | None = Field(None, description="By what papers are similar: text, citations or both.")

    def request(self, service: Service) -> Request:
        """It as the library takes it. Raises InvalidRequest."""
        check_query(self.text or "", service)
        return Request(like=self.id, unlike=self.not_, text=self.text, by=self.by, **self.viewed(service))


class Counted(Narrowed):
    """A query whose papers are counted."""

    q: Text = Field("", description="A query, with its operators; without one, all papers that pass the filter.")


class Faceted(Counted):
    """A query among whose papers the values of columns are counted."""

    column: Annotated[
        list[Text], Field(min_length=1, max_length=MOST_NAMED, description="A column, with how many values are kept: year:50.")
    ]


class WhyNot(Narrowed):
    """A paper that was expected among the first of an answer."""

    id: Text = Field(description="The paper: an id, a DOI, a title.")
    q: Text = Field(description="The query.")
    k: int = Field(10, ge=1, description="Among how many papers it was expected.")
    mode: Mode | None = of_search("mode")


def check_query(text: str, service: Service) -> None:
    """Raise InvalidRequest for a text that is too long."""
    if len(text) > (most := service.settings.query):
        raise InvalidRequest(f"the query has {len(text):,} characters, and {most:,} are taken; shorten it")


def check_count(k: int, service: Service) -> None:
    """Raise InvalidRequest for more papers than the service answers with."""
    if k > (most := service.settings.most):
        raise InvalidRequest(f"k is {k:,}, and this service answers with {most:,} papers at most; ask for fewer, or narrow the query")


def filters(asked: Narrowed) -> tuple[str, ...]:
    """All conditions that papers must meet. Raises InvalidRequest."""
    return SearchOptions(filter=tuple(asked.filter) or None, since=asked.since, until=asked.until).filters


class Json(Response):
    """A value as JSON, with every text as it is."""

    media_type = "application/json"

    def render(self, content: Any) -> bytes:
        """The value's bytes."""
        return as_json(content).encode()

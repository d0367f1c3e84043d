"""Forms of requests to our own API, in an address or as JSON, and their checks."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from ...answers.answering import Request
from ...base.choices import FusionMethod, Mode, Order, SimilarBy
from ...base.errors import InvalidRequest
from ...options import SearchOptions
from ..parameters import USUAL, check_count, check_query, described, option, taken
from ..service import Service
from ..settings import LONGEST, MOST, MOST_LISTED

Text = Annotated[str, Field(max_length=LONGEST)]
Names = Annotated[list[Text], Field(default_factory=list, max_length=MOST_LISTED)]
IndexName = Annotated[str | None, Field(description="One of the service's indexes, by name; without it all of them answer as one.")]


class Narrowed(BaseModel):
    """Limits on the papers of an answer."""

    model_config = ConfigDict(extra="forbid")

    index: IndexName = None
    filter: list[str] = option("filter")
    since: int | None = option("since")
    until: int | None = option("until")

    def options(self, service: Service) -> SearchOptions:  # noqa: ARG002
        """The search options. Raises InvalidRequest."""
        return SearchOptions(**taken(self, SearchOptions))


class Views(Narrowed):
    """The search options and views of an answer."""

    k: int = option("k")
    mode: Mode | None = option("mode")
    fusion: FusionMethod | None = option("fusion")
    alpha: float | None = option("alpha")
    group: bool = option("group")
    diversify: bool = option("diversify")
    sort: Order | None = option("sort")
    explain: bool = option("explain")
    facets: list[Text] = option("facets")
    cluster: bool = option("cluster")
    rerank: bool = Field(False, description="Whether the service's reranker orders the first papers anew.")
    rerank_depth: int = option("rerank_depth", le=MOST)

    def options(self, service: Service) -> SearchOptions:
        """The search options. Raises InvalidRequest."""
        if self.rerank and service.reranker is None:
            raise InvalidRequest("this service has no reranker; leave out `rerank`")
        return SearchOptions(**taken(self, SearchOptions), reranker=service.reranker if self.rerank else None)

    def asked(self, text: str | None, service: Service, **names: Any) -> Request:
        """The library's request, with the length of the text checked. Raises InvalidRequest."""
        check_query(text or "", service)
        check_count(self.k, service)
        return Request(**taken(self, Request), options=self.options(service), **names)


class Search(Views):
    """A search for a query."""

    q: str = Field(description="Words, a sentence, a title, a DOI; with operators as people type them.")
    like: list[Text] = option("like")
    unlike: list[Text] = option("unlike")

    def request(self, service: Service) -> Request:
        """The library's request. Raises InvalidRequest."""
        return self.asked(self.q, service, query=self.q)


class PassageSearch(Narrowed):
    """A search for passages of full texts."""

    q: str = Field(description="Words, a sentence, a phrase in quotation marks; what it demands is in the passage.")
    k: int = Field(USUAL.k, ge=1, description="How many passages to answer with.")
    mode: Mode | None = option("mode")
    within: Names = Field(description="The papers whose passages may answer: an id, a DOI, a title; without any, all papers.")


class Similar(Views):
    """A search for papers like given ones."""

    id: Names = Field(description="Papers to be like: an id, a DOI, a title.")
    not_: Annotated[list[Text], Field(default_factory=list, max_length=MOST_LISTED, alias="not", description="Papers to be unlike.")]
    text: str | None = option("text")
    by: SimilarBy | None = option("by")

    def request(self, service: Service) -> Request:
        """The library's request. Raises InvalidRequest."""
        return self.asked(self.text, service, like=tuple(self.id), unlike=tuple(self.not_))


class Counted(Narrowed):
    """A query, to count its papers."""

    q: Text = Field("", description="A query, with its operators; without one, all papers that pass the filter.")


class CountedValues(Counted):
    """A query, to count the values of columns among its papers."""

    column: list[Text] = described("facets", min_length=1, max_length=MOST_LISTED)


class WhyNot(Narrowed):
    """A paper that was expected among the first of an answer."""

    id: Text = Field(description="The paper: an id, a DOI, a title.")
    q: Text = Field(description="The query.")
    k: int = option("k")
    mode: Mode | None = option("mode")

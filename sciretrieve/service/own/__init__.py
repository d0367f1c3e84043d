"""Our own API, below /v1: all options of answers, as JSON of the published schema."""

from . import indexes, papers, searching

ROUTERS = (searching.router, papers.router, indexes.router)

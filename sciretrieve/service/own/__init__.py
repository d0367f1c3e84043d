"""Our own API, below /v1: all that an answer can be asked for, as JSON of the published schema."""

from . import indexes, papers, searching

ROUTERS = (searching.router, papers.router, indexes.router)

"""Semantic Scholar's API over one's own papers, for its clients: the Academic Graph, and recommendations."""

from .authors import router as authors
from .papers import router as papers
from .recommending import router as recommending
from .searching import router as searching

ROUTERS = (searching, papers, authors, recommending)

"""Who cites whom: references out of papers' columns, the papers that they mean, and how papers are related by them."""

from ...papers.references import REFERENCES, Reference, read, reference_columns, references_in, references_of
from .citation_graph import CitationGraph, Link
from .cited_works import Names, identifying_columns
from .graph import Graph

__all__ = [
    "REFERENCES",
    "CitationGraph",
    "Graph",
    "Link",
    "Names",
    "Reference",
    "identifying_columns",
    "read",
    "reference_columns",
    "references_in",
    "references_of",
]

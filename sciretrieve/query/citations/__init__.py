"""Who cites whom: references out of papers' columns, the papers that they mean, and how papers are related by them."""

from ...papers.references import REFERENCES, Reference, read, reference_columns, references_in, references_of
from .citation_graph import CitationGraph, Link, names_of, references_from
from .cited_works import WorkNames, identified, identifying_columns
from .graph import Graph

__all__ = [
    "REFERENCES",
    "CitationGraph",
    "Graph",
    "Link",
    "Reference",
    "WorkNames",
    "identified",
    "identifying_columns",
    "names_of",
    "read",
    "reference_columns",
    "references_from",
    "references_in",
    "references_of",
]

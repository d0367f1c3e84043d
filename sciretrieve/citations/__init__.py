"""Who cites whom: references out of papers' columns, the papers that they mean, and how papers are related by them."""

from .graph import Graph
from .library import CitationGraph, Link
from .names import Names, identifying_columns
from .references import REFERENCES, Reference, read, reference_columns, references_in, references_of

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

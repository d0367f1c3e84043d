"""Keyword search: how text becomes terms, a shard's postings, and one BM25 index over all shards."""

from .analysis import Analyzer
from .bm25 import Bm25
from .building import build
from .postings import PostingsBuilder
from .variants import Bm25Parameters

__all__ = ["Analyzer", "Bm25", "Bm25Parameters", "PostingsBuilder", "build"]

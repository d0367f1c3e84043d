"""Keyword search: turning text into terms, a shard's postings, and one BM25 index over all shards."""

from ..options import Bm25Parameters
from .analysis import Analyzer
from .bm25 import Bm25
from .building import build
from .postings import PostingsBuilder

__all__ = ["Analyzer", "Bm25", "Bm25Parameters", "PostingsBuilder", "build"]

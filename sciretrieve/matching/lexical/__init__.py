"""Keyword search: text analysis, postings of a shard, corpus statistics, and BM25 over shards."""

from ...options import Bm25Parameters
from .analysis import Analyzer
from .bm25 import Bm25
from .corpus_statistics import Statistics
from .fields import FIELDS_FILE, FieldPostings, FieldsBuilder
from .lexical_shard import LexicalShard
from .postings import Postings, PostingsBuilder

__all__ = [
    "FIELDS_FILE",
    "Analyzer",
    "Bm25",
    "Bm25Parameters",
    "FieldPostings",
    "FieldsBuilder",
    "LexicalShard",
    "Postings",
    "PostingsBuilder",
    "Statistics",
]

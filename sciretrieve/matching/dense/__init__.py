"""Vector search: exactly with NumPy over memory-mapped shards, or with FAISS and exact re-scoring."""

from .ann import build_ann, factory_string
from .vectors import VectorShard, search

__all__ = ["VectorShard", "build_ann", "factory_string", "search"]

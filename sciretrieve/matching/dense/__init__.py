"""Searching vectors: exactly with NumPy over the memory-mapped shards, or through FAISS and then re-scored exactly."""

from .ann import build_ann, factory_string
from .vectors import VectorShard, search

__all__ = ["VectorShard", "build_ann", "factory_string", "search"]

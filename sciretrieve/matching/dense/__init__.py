"""Searching vectors: exactly with NumPy over the memory-mapped shards, or through FAISS and then re-scored exactly."""

from .ann import ADDED_ROWS, build_ann, factory_string
from .costs import AnnCosts, ann_costs
from .vectors import VectorShard, search

__all__ = ["ADDED_ROWS", "AnnCosts", "VectorShard", "ann_costs", "build_ann", "factory_string", "search"]

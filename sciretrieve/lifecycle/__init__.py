"""Changes of an index: building, adding, syncing, deleting, merging, reindexing, and exporting."""

from .building import build
from .estimating import Estimate, estimate
from .full_texts import FullTexts, add_full_texts
from .merging import merge
from .parts import build_part, index_parts
from .reindexing import refit, reindex
from .updating import Update, add, delete, restore, sync

__all__ = [
    "Estimate",
    "FullTexts",
    "Update",
    "add",
    "add_full_texts",
    "build",
    "build_part",
    "delete",
    "estimate",
    "index_parts",
    "merge",
    "refit",
    "reindex",
    "restore",
    "sync",
]

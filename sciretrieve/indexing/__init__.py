"""The life of an index: built from a corpus, added to, made equal to a corpus, thinned, merged, rebuilt with other settings."""

from .building import build
from .merging import merge
from .reindexing import refit, reindex
from .updating import Update, add, delete, sync

__all__ = ["Update", "add", "build", "delete", "merge", "refit", "reindex", "sync"]

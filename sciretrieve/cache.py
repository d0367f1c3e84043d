"""Where the user's cache is."""

from __future__ import annotations

import os
from pathlib import Path

from platformdirs import user_cache_path


def cache_directory() -> Path:
    """The cache's folder: $SCIRETRIEVE_CACHE, else one in the user's cache directory as the system has it."""
    if directory := os.environ.get("SCIRETRIEVE_CACHE"):
        return Path(directory)
    return user_cache_path("sciretrieve", appauthor=False)

"""Where the user's cache is, and what the user has saved."""

from __future__ import annotations

from pathlib import Path

from ..config import setting


def cache_directory() -> Path:
    """The cache's folder: the setting `cache`."""
    return Path(str(setting("cache").value))


def data_directory() -> Path:
    """The folder of what the user has saved: the setting `data`."""
    return Path(str(setting("data").value))

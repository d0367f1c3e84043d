"""An index as a retriever of other libraries, as `sr.integrations.langchain`. Each module needs an extra, and is imported on first use."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from . import haystack, langchain, llamaindex, paperqa

__all__ = ["haystack", "langchain", "llamaindex", "paperqa"]


def __getattr__(name: str) -> ModuleType:
    if name in __all__:
        return import_module(f".{name}", __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

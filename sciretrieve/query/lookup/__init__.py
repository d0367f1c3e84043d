"""Lookup of the papers that a typed text means: by id, identifier, title, reference, abstract or authors."""

from .looking import NAMES, Lookup

__all__ = ["NAMES", "Lookup"]

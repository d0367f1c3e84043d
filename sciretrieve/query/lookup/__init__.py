"""Here is what somebody typed: which papers of an index are meant by it, and by what?"""

from .looking import NAMES, Lookup

__all__ = ["NAMES", "Lookup"]

"""Making benchmarks: of one's own papers by who cites whom, and anew from the files that a published one was made from."""

from ...options import CiteSettings
from .cite import build_cite
from .published import build_published
from .scidocs_like import build_scidocs_like

__all__ = ["CiteSettings", "build_cite", "build_published", "build_scidocs_like"]

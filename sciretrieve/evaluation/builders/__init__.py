"""Builds benchmarks: from one's own papers and their citations, and published ones from their sources."""

from ...options import CiteSettings
from .cite import build_cite
from .published import build_published
from .scidocs_like import build_scidocs_like

__all__ = ["CiteSettings", "build_cite", "build_published", "build_scidocs_like"]

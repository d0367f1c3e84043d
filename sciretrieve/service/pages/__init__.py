"""The search page, for people with a browser: pages from templates, a stylesheet and small modules of JavaScript, all served from here.

Every state of the page has an address, and every address gives a whole page that works without JavaScript. With it, parts of the page are
replaced by those of the page at another address.
"""

from . import describing, drafts, papers, rendering, searching, shelves, zotero
from .rendering import failed, wants_page

__all__ = ["ROUTERS", "failed", "wants_page"]

ROUTERS = (searching.router, papers.router, drafts.router, shelves.router, zotero.router, describing.router, rendering.router)

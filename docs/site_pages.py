"""What the site needs beside docs/: pages that stand at the top of the repository, and links between the two."""

from __future__ import annotations

import posixpath
import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

TOP = Path(__file__).parents[1]
PAGES = {
    "README.md": "index.md",
    "CONTRIBUTING.md": "contributing.md",
    "RELEASING.md": "releasing.md",
    "CHANGELOG.md": "changelog.md",
    "bench/README.md": "bench.md",
}
"""Where they stand in the repository, and on the site."""
LINK = re.compile(r"\]\((?!https?:|mailto:|#)([^)#]+)")


def on_files(files: Files, config: Any) -> Files:
    """Add the pages from the top of the repository."""
    for source, target in PAGES.items():
        files.append(File.generated(config, target, content=(TOP / source).read_text(encoding="utf-8")))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Links as they are on the site."""
    on_site = page.file.src_uri
    in_repository = next((source for source, target in PAGES.items() if target == on_site), f"docs/{on_site}")

    def link(match: re.Match[str]) -> str:
        target = posixpath.normpath(posixpath.join(posixpath.dirname(in_repository), match[1]))
        return "](" + posixpath.relpath(PAGES.get(target, target.removeprefix("docs/")), posixpath.dirname(on_site) or ".")

    return LINK.sub(link, markdown)

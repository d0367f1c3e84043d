"""Builds the documents as a site, in build/site; `make site` runs it. Nothing is fetched, neither here nor by the pages.

Zensical reads one folder of pages, so those of docs/ and those at the top of the repository are gathered in build/pages, with lists of
encoders and benchmarks. It stops where a link leads to no page or heading; what it does not check, files and other hosts, is checked here.
"""

from __future__ import annotations

import json
import posixpath
import re
import shutil
import subprocess
import sys
from pathlib import Path
from urllib.parse import unquote

TOP = Path(__file__).parents[1]
PAGES, SITE = TOP / "build" / "pages", TOP / "build" / "site"
MOVED = {
    "CONTRIBUTING.md": "contributing.md",
    "RELEASING.md": "releasing.md",
    "CHANGELOG.md": "changelog.md",
    "bench/README.md": "bench.md",
    "sciretrieve/service/pages/static/favicon.svg": "favicon.svg",
}
"""Files beside docs/ -> where they stand on the site."""
LISTS = {"encoders": ("encoder-names.md", "encoders.md"), "benchmarks": ("benchmark-names.md", "protocols.md")}
"""Commands whose answers are pages of the site alone: these pages, and those that say more."""
SHOWN = (".css", ".md", ".png", ".svg", ".toml", ".tsv", ".yaml")
LINK = re.compile(r"\]\((?!https?:|mailto:|#)([^)#]+)")
USED = re.compile(r"""<(\w+)\b[^>]*?\b(?:src|href)=["']?([^\s"'>#?]+)|url\(["']?([^\s"')]+)""")
"""An element and an address in it, or an address in a style."""


def gather() -> None:
    """Copy the pages, with links as they are on the site."""
    shutil.rmtree(PAGES, ignore_errors=True)
    inside = [path.relative_to(TOP).as_posix() for path in (TOP / "docs").rglob("*") if path.suffix in SHOWN]
    for source, target in ({path: path.removeprefix("docs/") for path in inside} | MOVED).items():
        place = PAGES / target
        place.parent.mkdir(parents=True, exist_ok=True)
        if place.suffix == ".md":
            place.write_text(linked((TOP / source).read_text(encoding="utf-8"), source, target), encoding="utf-8")
        else:
            shutil.copyfile(TOP / source, place)
    for command, (target, more) in LISTS.items():
        (PAGES / target).write_text(by_name(command, more), encoding="utf-8")


def by_name(command: str, more: str) -> str:
    """A page with all that a command lists, each under a heading."""
    run = subprocess.run(
        [sys.executable, "-m", "sciretrieve", command, "-f", "json"], cwd=TOP, check=True, capture_output=True, encoding="utf-8"
    )
    lines = [f"# {command.capitalize()} by name\n", f"What `sciretrieve {command}` lists. [More on {command}]({more}).\n"]
    for row in json.loads(run.stdout):
        facts = {
            name: re.sub(r"([*_\[])", r"\\\1", text).replace("<", "&lt;") for name, text in row.items() if isinstance(text, str) and text
        }
        about = [name for name in ("about", "task") if name in facts]
        lines += [f"## {row['name']}\n", *(f"{facts.pop(name)}\n" for name in about)]
        lines += [*(f"- {name}: {text}" for name, text in facts.items() if name not in ("name", "here")), ""]
    return "\n".join(lines)


def linked(text: str, source: str, target: str) -> str:
    """A page's text, with links from where it stands on the site."""

    def link(match: re.Match[str]) -> str:
        to = posixpath.normpath(posixpath.join(posixpath.dirname(source), match[1]))
        to = MOVED.get(to, "index.md" if to == "README.md" else to.removeprefix("docs/"))
        return "](" + posixpath.relpath(to, posixpath.dirname(target) or ".")

    return LINK.sub(link, text)


def faults() -> list[str]:
    """Files that pages name and the site lacks, and what a browser would fetch from another host when it shows a page."""
    found = []
    for page in (path for path in SITE.rglob("*") if path.suffix in (".html", ".css")):
        for element, named, styled in USED.findall(page.read_text(encoding="utf-8")):
            address = unquote(named or styled)
            is_elsewhere = re.match(r"https?:|//", address)
            is_there = is_elsewhere or address.startswith(("data:", "mailto:", "/")) or (page.parent / address).exists()
            if (is_elsewhere and element != "a") or not is_there:
                found.append(f"{page.relative_to(SITE)}: {address}")
    return found


if __name__ == "__main__":
    gather()
    shutil.rmtree(SITE, ignore_errors=True)
    built = subprocess.run([sys.executable, "-m", "zensical", "build", "--clean", "--strict"], cwd=TOP, check=False)
    if built.returncode or (wrong := faults()):
        sys.exit(built.returncode or "\n".join(["not on the site, or from another host:", *wrong]))

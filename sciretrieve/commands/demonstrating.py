"""`sciretrieve demo`: index the papers that ship with the package, and search them in three ways."""

from __future__ import annotations

import shlex
import shutil
from pathlib import Path
from typing import Annotated

import typer

from .console import Console, say
from .options import Debug, Quiet


def demo(
    output: Annotated[Path, typer.Option("--output", "-o", metavar="DIR", help="Where the demo index goes.")] = Path("indexes/demo"),
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Index and search the papers that ship with it.

    Shows a question, two words, and papers similar to one.

    The encoder is all-MiniLM-L6-v2, a general-purpose model that works offline; the papers' abstracts are summaries
    written for this demo.
    """
    from .. import demo as corpus
    from ..errors import IndexExists
    from ..indexing import build
    from ..manifest import read_manifest
    from ..outputs import table

    console = Console(quiet)
    console.note(f"indexing the demo corpus into {output}")
    try:
        index = build(corpus.CORPUS, output, progress=console)
    except IndexExists:
        # an earlier version's index of the demo may be replaced; anything else may not
        if read_manifest(output).build["corpus"] != [str(corpus.CORPUS)]:
            raise
        index = build(corpus.CORPUS, output, overwrite=True, progress=console)
    console.close()
    width = shutil.get_terminal_size((80, 24)).columns
    for verb, words in (("search", corpus.QUESTION), ("search", corpus.KEYWORDS), ("similar", corpus.PAPER)):
        run = index.search(words, 3) if verb == "search" else index.similar([words], 3)
        say([f"\n$ sciretrieve {verb} {shlex.quote(words)} -k 3 -i {shlex.quote(str(output))}", *table(run.hits, width)])

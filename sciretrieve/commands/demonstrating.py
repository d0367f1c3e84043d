"""`sciretrieve demo`: indexes the demo corpus, and searches it in three ways."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

from ..base.choices import Help
from .console import Console, say
from .searching import table_lines


def demo(output: Annotated[Path, Help("Where the demo index goes.", "DIR", short="-o")] = Path("indexes/demo")) -> None:
    """Index and search the papers that ship with it.

    Shows a question, two words, and papers similar to one. The encoder works offline. Abstracts are summaries written for this demo.
    """
    from .. import demo as corpus
    from ..answers.answering import Request, answer
    from ..base.errors import IndexExists
    from ..lifecycle import build
    from ..storage.manifest import read_manifest

    console = Console()
    console.note(f"indexing the demo corpus into {output}")
    try:
        index = build(corpus.CORPUS, output, progress=console)
    except IndexExists:
        # replaces an earlier version's index of the demo, nothing else
        if any(source.corpus != (str(corpus.CORPUS),) for source in read_manifest(output).sources):
            raise
        index = build(corpus.CORPUS, output, overwrite=True, progress=console)
    console.close()
    for verb, words in (("search", corpus.QUESTION), ("search", corpus.KEYWORDS), ("similar", corpus.PAPER)):
        say([f"\n$ sciretrieve {verb} {shlex.quote(words)} -k 3 -i {shlex.quote(str(output))}"])
        request = Request(words, k=3) if verb == "search" else Request(like=[words], k=3)
        say(table_lines(index, answer(index, request)), styled=True)

"""`sciretrieve suggest`: what a draft should cite, sentence by sentence, and a copy of it that does."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from ..base.choices import Help
from ..base.errors import InvalidRequest
from ..base.wording import counted, printable
from .console import Console, page, say_json
from .parameters import IndexPaths, PlainFormatOption, argument, open_indexes

if TYPE_CHECKING:
    from ..answers.draft_citations import DraftCitations


def suggest(
    draft: Annotated[str, argument("DRAFT", "A .tex, .md, .docx or .txt file; - reads a paragraph from stdin.")],
    index: IndexPaths = None,
    insert: Annotated[bool, Help("Write a copy with the first paper's key in each sentence: DRAFT.cited.tex beside DRAFT.tex.")] = False,
    format: PlainFormatOption = "table",
) -> None:
    r"""Suggest what a draft should cite.

    A sentence without a citation that seems to need one gets up to three papers, each with its key and the passage that supports it.
    Papers that are cited nearby are left out. A sentence for which nothing fits gets nothing.

    Keys are written as \cite{key} or [@key]. The draft itself is never changed, and no file is overwritten.
    """
    from ..answers.draft_citations import suggest as suggestions

    if insert and draft == "-":
        raise InvalidRequest("a paragraph from stdin has no place for a copy; name a file, or leave out --insert")
    console = Console()
    found = suggestions(open_indexes(index), sys.stdin.read() if draft == "-" else Path(draft))
    copy = found.insert() if insert else None
    if format == "json":
        say_json(found.to_dict())
    else:
        page([*map(printable, _lines(found, shutil.get_terminal_size((80, 24)).columns))])
        looked = f"{counted(found.compared, 'sentence')} without a citation compared"
        console.note(f"{looked}; papers fit {counted(len(found.sentences), 'of them', 'of them')}")
    if copy is not None:
        console.note(f"{copy}: {counted(len(found.sentences), 'citation')} inserted")


def _lines(found: DraftCitations, width: int) -> Iterator[str]:
    """Of each sentence its line, section and words; of each paper its key, score and title, and the passage that supports it."""
    from ..answers.outputs import fitted, passage_label

    for number, one in enumerate(found.sentences):
        yield from [""] * bool(number)
        section = f" · {one.sentence.section}" if one.sentence.section else ""
        yield fitted(f"line {one.sentence.line}{section}: {one.sentence.text}", width)
        for paper in one.papers:
            named = " · named in it" * (paper.by == "names")
            yield fitted(f"  {paper.key}  {paper.score:.3f}  {paper.paper.headline(width)}{named}", width)
            support = f"{passage_label(paper.passage) if paper.passage else ''}{paper.sentence}"
            if support:
                yield fitted(f"      {support}", width)

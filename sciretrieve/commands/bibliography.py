"""`sciretrieve cite`: citation keys of papers, and additions to bibliographies."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ..base.wording import counted
from .console import Console, given_ids, say
from .parameters import Append, IndexPaths, PaperIds, named_papers, open_indexes

if TYPE_CHECKING:
    from ..answers.citing import Citations
    from ..base.types import Paper


def cite(ids: PaperIds, index: IndexPaths = None, append: Append = None) -> None:
    r"""Print the citation keys of papers, with commas between them.

    They go into LaTeX's \cite{…}. With --append, missing papers are added to a bibliography, and the keys are those that it uses.
    Papers that the index does not have are named, with exit code 1.
    """
    opened_index = open_indexes(index)
    with named_papers(opened_index, given_ids(ids)) as names:
        say([",".join(cited(opened_index.papers(names), append, Console()).keys)])


def cited(papers: Sequence[Paper], append: Path | None, console: Console) -> Citations:
    """Cite papers, and report additions to a bibliography, if there is one. Raises as `answers.citing.cite`."""
    from ..answers.citing import cite as cite_papers

    citations = cite_papers(papers, append)
    if append is not None:
        present = f", {citations.present:,} there already" if citations.present else ""
        console.note(f"{append}: {counted(citations.added, 'paper')} added{present}")
        if citations.unread:
            entries = counted(citations.unread, "entry", "entries")
            console.note(f"{entries} of {append} could not be read, so papers were not compared with what is there")
    return citations

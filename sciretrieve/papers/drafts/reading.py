"""Drafts read from files: LaTeX, Markdown, Word, plain text."""

from __future__ import annotations

from pathlib import Path

from ...base.errors import InvalidRequest, NotFound
from ..corpora.encodings import read_text
from .docx import docx_text
from .draft import Manuscript
from .markdown import markdown_draft
from .tex import latex_draft

DOCX = ".docx"
LATEX = (".tex", ".ltx")
PLAIN = (".txt", ".text")
SUFFIXES = (*LATEX, ".md", ".markdown", DOCX, *PLAIN)
"""What files of drafts are called."""
LONGEST = 2_000_000
"""Most characters of a draft: some 300,000 words, a long book."""


def read_draft(path: Path) -> Manuscript:
    """Read a draft from a file.

    Args:
        path: a file, of one of `SUFFIXES`.

    Returns:
        The draft, whose source is the file's text with its own line ends.

    Raises:
        NotFound: there is no such file.
        InvalidRequest: it is of another format, too long, or has no text.
    """
    suffix = path.suffix.lower()
    if not path.is_file():
        raise NotFound(f"there is no file {path}")
    if suffix not in SUFFIXES:
        raise InvalidRequest(f"{path} is no draft that is read here ({', '.join(SUFFIXES)}); - reads a paragraph from standard input")
    try:
        text = docx_text(path) if suffix == DOCX else read_text(path)
    except OSError as error:
        raise InvalidRequest(f"{path} cannot be read: {error.strerror or error}") from error
    if suffix != DOCX and "\0" in text:
        raise InvalidRequest(f"{path} is no text; a draft is one of {', '.join(SUFFIXES)}")
    return draft_of(text, suffix, str(path))


def draft_of(text: str, suffix: str = "", name: str = "the draft") -> Manuscript:
    """Read a draft from a text.

    Args:
        text: its source.
        suffix: the suffix of its file; without one LaTeX and Markdown are told apart by how the text cites.
        name: what messages call it.

    Returns:
        The draft.

    Raises:
        InvalidRequest: it is too long, or has no sentence.
    """
    if len(text) > LONGEST:
        raise InvalidRequest(f"{name} has {len(text):,} characters, and at most {LONGEST:,} are read; take a chapter at a time")
    is_latex = suffix in LATEX or (not suffix and ("\\cite" in text or "\\begin{" in text or "\\section" in text))
    draft = latex_draft(text) if is_latex else markdown_draft(text, heads_alone=suffix in PLAIN)
    if not draft.sentences:
        raise InvalidRequest(f"{name} has no sentence")
    return draft

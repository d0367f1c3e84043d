"""Which file is the full text of which paper: by its name, by what is printed on its first page, by its title."""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from pathlib import Path
from urllib.parse import unquote

from ...base.errors import InvalidRequest, NotFound
from ...files.streams import bare_name
from .. import identifiers
from ..folding import fold
from .document import Document
from .reading import SUFFIXES

SIGNS = re.compile(r"[^\w.]+|_+")
"""What programs write as an underscore, or leave out, in a file's name."""
SHORTEST_TITLE = 16
"""Letters of a title that is looked for within a first page; a shorter one must be the document's own title."""
OPENING = 600
"""Characters of the text among which a title is looked for that was not known as one; further on, titles are those of other papers."""
WHOLE_TITLE = 0.5
"""The share of a document's own title that a paper's title must be if it is a part of it: names and addresses may have come to it."""
BEGINNING = 4_000
"""Characters of the text that are of the first page, where a document has no pages."""
MORE_SUFFIXES = (".grobid", ".jats", ".s2orc")
"""What programs write before a suffix."""
BEST_SUFFIXES = (".pdf", ".nxml", ".xml", ".tei", ".json", ".tex", ".html", ".htm", ".md", ".txt")
"""Of two files of a paper the one that says most: PDFs have pages, the others after them sections."""


UNREAD = Document("", "", ())
"""Stands for a document that was not read."""


class How(IntEnum):
    """How a file is known to be a paper's, the surest first."""

    NAME = 1
    LIKE_NAME = 2
    IDENTIFIER = 3
    TITLE = 4


@dataclass(frozen=True, slots=True)
class KnownPaper:
    """What a paper's files are known by: its id and its other keys, such as BibTeX's, its title, DOI and arXiv number."""

    id: str
    title: str = ""
    doi: str | None = None
    arxiv: str | None = None
    keys: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Matches:
    """Which files are whose.

    Attributes:
        files: id of a paper -> its file.
        notes: a line for each file that is no paper's, or may be several papers', and for each paper that has several files.
    """

    files: Mapping[str, Path]
    notes: tuple[str, ...]


@dataclass(slots=True)
class _Claim:
    """A file that may be a paper's."""

    path: Path
    how: How
    is_readable: bool
    ids: list[str] = field(default_factory=list)


def files_of(folder: Path) -> list[Path]:
    """The files in a folder, and in those within it, that may be full texts, by their names, in a fixed order. Hidden ones are left out.
    Raises NotFound: there is no such folder. InvalidRequest: it cannot be listed.
    """
    if not folder.is_dir():
        raise NotFound(f"{folder} is no folder")
    try:
        paths = sorted(path for path in folder.rglob("*") if Path(bare_name(path)).suffix.lower() in SUFFIXES and path.is_file())
    except OSError as error:
        raise InvalidRequest(f"{folder} cannot be listed: {error.strerror or error}") from error
    return [path for path in paths if not any(part.startswith(".") for part in path.relative_to(folder).parts)]


class PaperFiles:
    """Finds the papers that files are of."""

    def __init__(self, papers: Iterable[KnownPaper]) -> None:
        self._ids: dict[tuple[str, str], list[str]] = {}
        self._beginnings: dict[str, set[str]] = defaultdict(set)
        for paper in papers:
            facts = [(kind, value.lower()) for kind, value in (("doi", paper.doi), ("arxiv", paper.arxiv)) if value]
            facts += [("like", _like(value)) for _, value in facts]
            for name in (paper.id, *paper.keys):
                facts += [("name", name), ("like", _like(name)), *identifiers.mentioned(name)]
            title = _letters(paper.title)
            if title:
                facts.append(("title", title))
            if len(title) >= SHORTEST_TITLE:
                self._beginnings[title[:SHORTEST_TITLE]].add(title)
            for fact in dict.fromkeys(facts):
                self._ids.setdefault(fact, []).append(paper.id)

    def named(self, path: Path) -> list[str]:
        """The ids of the papers that a file is named after: by an id or key, as it is or as it is written in names of files, by a DOI or an
        arXiv number."""
        return self._named(path)[1]

    def matches(self, files: Iterable[tuple[Path, Document | None]]) -> Matches:
        """Which of some files are whose.

        Args:
            files: each with its document; `UNREAD` if its name says enough; None if it cannot be read.
        """
        claims: list[_Claim] = []
        notes: list[str] = []
        for path, document in files:
            how, ids = self._named(path)
            if not ids and document is not None:
                how, ids = self._printed(document)
            if ids:
                claims.append(_Claim(path, how, document is not None, ids))
            else:
                notes.append(f"{path} is the full text of no paper here, by its name or its first page")
        taken: dict[str, list[_Claim]] = defaultdict(list)
        for claim in claims:
            first, *further = sorted(claim.ids)
            taken[first].append(claim)
            if further:
                notes.append(f"{claim.path} may be the full text of {' and '.join((first, *further))}, and is taken for that of {first}")
        chosen: dict[str, Path] = {}
        for id, own in sorted(taken.items()):
            best, *rest = sorted(own, key=_rank)
            chosen[id] = best.path
            if rest:
                others = ", ".join(str(claim.path) for claim in rest)
                notes.append(f"{id} has {len(own)} full texts, of which {best.path} is taken, and not {others}")
        return Matches(chosen, tuple(notes))

    def _named(self, path: Path) -> tuple[How, list[str]]:
        name = unicodedata.normalize("NFC", _stem(path))
        for how, kind, candidate in (
            (How.NAME, "name", name),
            (How.NAME, "name", unquote(name)),
            (How.LIKE_NAME, "like", _like(name)),
        ):
            if ids := self._ids.get((kind, candidate)):
                return how, ids
        return How.IDENTIFIER, self._identified(unquote(name).replace("_", "/", 1))

    def _printed(self, document: Document) -> tuple[How, list[str]]:
        """The papers that a document says to be: by identifiers around its text, by its title, by an identifier within its first page."""
        if ids := self._identified(document.front):
            return How.IDENTIFIER, ids
        if ids := self._titled(document):
            return How.TITLE, ids
        ids = self._identified(document.text[: _first_page_end(document)])
        return How.IDENTIFIER, ids if len(ids) == 1 else []  # several are cited

    def _identified(self, text: str) -> list[str]:
        return list(dict.fromkeys(id for fact in identifiers.mentioned(text) for id in self._ids.get(fact, ())))

    def _titled(self, document: Document) -> list[str]:
        own = _letters(document.title)
        if ids := self._ids.get(("title", own)):
            return ids
        letters = _letters(f"{document.title} {document.front} {document.text[:OPENING]}")
        found = {
            title
            for place in range(len(letters))
            for title in self._beginnings.get(letters[place : place + SHORTEST_TITLE], ())
            if letters.startswith(title, place) and not (title in own and not _is_most_of(title, own))
        }
        return self._ids.get(("title", max(found, key=lambda title: (len(title), title), default="")), [])


def _is_most_of(title: str, own: str) -> bool:
    """Whether a document's own title begins with a paper's and says little more, such as names. "Cross-Entropy and X" is not X."""
    return own.startswith(title) and len(title) >= WHOLE_TITLE * len(own)


def _stem(path: Path) -> str:
    name = Path(bare_name(path))
    while name.suffix.lower() in (*SUFFIXES, *MORE_SUFFIXES):  # ID.grobid.tei.xml
        name = name.with_suffix("")
    return name.name


def _like(name: str) -> str:
    return SIGNS.sub("", unquote(name)).casefold()


def _letters(text: str) -> str:
    return "".join(char for char in fold(text) if char.isalnum())


def _first_page_end(document: Document) -> int:
    later = [place for place, page in document.page_starts if page > 1]
    return min([BEGINNING, *later[:1]])


def _rank(claim: _Claim) -> tuple[bool, int, int, str]:
    suffix = Path(bare_name(claim.path)).suffix.lower()
    place = BEST_SUFFIXES.index(suffix) if suffix in BEST_SUFFIXES else len(BEST_SUFFIXES)
    return not claim.is_readable, int(claim.how), place, str(claim.path)

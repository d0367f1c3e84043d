"""Finds the full texts of an index's papers: in a folder, in Zotero's data, or in a column."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..base.errors import NotFound
from ..files.schema import letters
from ..papers.bibliographies.keys import KEY_COLUMNS
from ..papers.corpora import Rejected
from ..papers.fulltext.attachments import AttachedText
from ..papers.fulltext.bounded import read_all
from ..papers.fulltext.document import Document
from ..papers.fulltext.matching import UNREAD, KnownPaper, PaperFiles, files_of
from ..papers.fulltext.reading import SUFFIXES
from ..papers.fulltext.zotero import attachments_of
from ..protocols import Progress
from ..query.snapshot import Snapshot

ZOTERO = "zotero.sqlite"
LONGEST_PATH = 4096
"""Characters above which the value of a column is a text, not a path."""


@dataclass(frozen=True, slots=True)
class Known:
    """A document whose passages the index has: its digest, and its file, "" for a text in a column."""

    digest: str
    file: str


NOTHING = Known("", "")


class TextFinder:
    """Finds the full texts of an index's papers.

    Attributes:
        attached: what is attached to each paper, by id.
        rejections: the files that belong to no paper or to several, or cannot be read.
    """

    def __init__(self, snapshot: Snapshot, known: Mapping[str, Known], progress: Progress) -> None:
        """
        Args:
            snapshot: the papers.
            known: what is known of the full texts that the index has, by paper.
            progress: receives progress.
        """
        self.snapshot, self.progress = snapshot, progress
        self.attached: dict[str, AttachedText] = {}
        self.rejections: list[Rejected] = []
        self._paper_of = {(one.file, one.digest): paper for paper, one in known.items()}

    def find(self, source: str | Path) -> None:
        """Find full texts in a source, see `add_full_texts`. Raises NotFound for no such folder or column."""
        folder = Path.home() / "Zotero" if str(source) == "zotero" else Path(source).expanduser()
        if str(source) in self.snapshot.columns.names:
            self.attached = _in_column(str(source), self.snapshot)
        elif (folder / ZOTERO).is_file():
            self._in_zotero(folder / ZOTERO)
        elif str(source) and folder.is_dir():
            self._by_files({path: AttachedText(path) for path in files_of(folder)})
        else:
            what = "Zotero's data is not in your home; name its folder" if str(source) == "zotero" else "and no column of the papers either"
            raise NotFound(f"{folder} is no folder, {what}")

    def _in_zotero(self, database: Path) -> None:
        """Take Zotero's attachments: by their papers' keys, and of a library that was exported, by what the files say."""
        found = attachments_of(database)
        rows = self.snapshot.find([one.paper for one in found])
        others: dict[Path, AttachedText] = {}
        for one in found:
            text = AttachedText(one.path, key=one.key, cache=one.cache)
            if one.paper in rows:
                self.attached.setdefault(one.paper, text)
            else:
                others[one.path] = text
        self._by_files({path: text for path, text in others.items() if path.is_file()})

    def _by_files(self, texts: Mapping[Path, AttachedText]) -> None:
        """Attach files by their names, as the index knows them, or by what their first pages say, for which these are read."""
        papers = PaperFiles(self._papers())
        known = {path: paper for path, text in texts.items() if (paper := self._paper_of.get((text.name, text.digest() or "")))}
        named = [path for path in texts if path not in known and papers.named(path)]
        unnamed = [path for path in texts if path not in known and path not in set(named)]
        if unnamed:
            self.progress.start(len(unnamed), unit="files looked into")
        matches = papers.matches([*((path, UNREAD) for path in named), *self._opened(unnamed)])
        for paper, path in [*((paper, path) for path, paper in known.items()), *matches.files.items()]:
            self.attached.setdefault(paper, texts[path])
        self.rejections += [Rejected("full texts", 0, note) for note in matches.notes]

    def _opened(self, paths: Sequence[Path]) -> Iterator[tuple[Path, Document]]:
        """Files with their documents. Those that cannot be read are rejected."""
        for path, document in read_all(paths):
            self.progress.advance(1)
            if isinstance(document, str):
                self.rejections.append(Rejected("full texts", 0, document))
            else:
                yield path, document

    def _papers(self) -> Iterator[KnownPaper]:
        """The papers as files may name them."""
        keys = [name for name in self.snapshot.columns.names if letters(name) in KEY_COLUMNS]
        wanted = ["id", "title", "doi", *(["arxiv"] if "arxiv" in self.snapshot.columns.names else []), *keys]
        for table in self.snapshot.tables(wanted):
            columns = {name: table[name].to_pylist() if name in table.column_names else [None] * len(table) for name in wanted}
            for place, id in enumerate(columns["id"]):
                own_keys = tuple(value for name in keys if isinstance(value := columns[name][place], str) and value)
                arxiv = columns["arxiv"][place] if "arxiv" in columns else None
                yield KnownPaper(id, columns["title"][place] or "", columns["doi"][place], arxiv, own_keys)


def _in_column(column: str, snapshot: Snapshot) -> dict[str, AttachedText]:
    """The files, or the texts, of a column."""
    attachments: dict[str, AttachedText] = {}
    for table in snapshot.tables(("id", column)):
        if column in table.column_names:
            for id, value in zip(table["id"].to_pylist(), table[column].to_pylist(), strict=True):
                if isinstance(value, str) and value.strip():
                    path = Path(value) if len(value) <= LONGEST_PATH and "\n" not in value else None
                    is_file = path is not None and path.suffix.lower() in SUFFIXES
                    attachments[id] = AttachedText(path) if is_file else AttachedText(None, value)
    return attachments

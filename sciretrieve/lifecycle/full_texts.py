"""Reading the full texts of an index's papers: files are matched with papers, read, cut into passages, and indexed beside the papers.

    files ─ attached ─▶ papers ─ read ─▶ documents ─ passages ─▶ INDEX/fulltext ─ commit ─▶ the index names its generation

Passages are added to their own index first, see `storage.fulltext`. The commit of the index around them comes last, so a killed run changes
nothing that a search sees, and the next one takes up what it has encoded.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa

from ..base.arguments import checked
from ..base.choices import Device
from ..base.errors import InvalidRequest
from ..base.forms import AsJson
from ..encoders.query_encoder import index_encoder
from ..files.schema import PAPER_FIELDS
from ..files.writing import remove, write_lock, write_sealed, write_whole
from ..options import BuildSettings, ColumnMap
from ..papers.corpora import Batch, Corpus, Rejected, warn_of
from ..papers.fulltext.attachments import AttachedText, documents_of
from ..papers.fulltext.document import Document
from ..papers.fulltext.reading import passages
from ..progress import shown
from ..protocols import AnyEncoder, Encoder, IndexPlace, Progress
from ..query.snapshot import Snapshot
from ..storage.commits import Change, current_passages, next_generation, publish
from ..storage.finding import encoder_for, folder_of
from ..storage.fulltext import FULLTEXT, WORK, named_generation, passage_id
from ..storage.manifest import MANIFEST, Manifest, read_manifest
from ..storage.sweeping import sweep
from .attaching import NOTHING, Known, TextFinder
from .building import build
from .updating import add, delete

PASSAGE_WORDS = 150
"""Words of a passage. Measured, see docs/fulltext.md."""
UNREAD = "fulltext-rejected.jsonl"
"""File in an index's folder that lists the full texts left out, with reasons."""
BATCH_PASSAGES = 4096
SCHEMA = pa.schema(
    [
        *(pa.field(field.name, field.type) for field in PAPER_FIELDS),
        pa.field("paper", pa.string()),
        pa.field("section", pa.string()),
        pa.field("page", pa.int32()),
        pa.field("start", pa.int64()),
        pa.field("end", pa.int64()),
        pa.field("file", pa.string()),
        pa.field("attachment", pa.string()),
        pa.field("digest", pa.string()),
    ]
)
"""Columns of passages, as papers of their own index."""


@dataclass(frozen=True, slots=True)
class FullTexts(AsJson):
    """The result of reading full texts.

    Attributes:
        papers, passages: numbers of the index's papers with a full text now, and of their passages.
        read, unchanged: numbers of the full texts that were read now, and that were read before from the same file.
        rejections: the files that could not be read, or belong to no paper, with reasons.
        generation: the index's generation now.
        bytes: size on disk of all passages.
    """

    papers: int
    passages: int
    read: int = 0
    unchanged: int = 0
    rejections: Sequence[Rejected] = ()
    generation: int = 0
    bytes: int = 0


@checked
def add_full_texts(
    source: str | Path, index: IndexPlace, *, encoder: AnyEncoder | None = None, device: Device = "auto", progress: Progress | bool = True
) -> FullTexts:
    """Read the full texts of an index's papers. Files that were read before and have not changed since are left alone.

    Args:
        source: where the full texts are, a folder of PDF, XML, JSON, LaTeX, HTML or text files,
            "zotero" or the folder of Zotero's data, or the name of a column with paths or texts.
        index: the index's directory.
        encoder: encodes passages if the index's own encoder cannot be found.
        device: the encoder's device: "cpu", "cuda", or "auto".
        progress: receives progress; by default a progress bar on a terminal, False for none.

    Raises:
        NotFound: there is no such index, folder or column.
        InvalidRequest: no file belongs to a paper of the index.
        IndexBusy: another process is writing the index.

    >>> read = sr.add_full_texts("texts", "indexes/papers")
    >>> read.papers
    1
    """
    directory, encoder = folder_of(index), encoder_for(index, encoder)
    Snapshot.of(directory).close()
    with shown(progress) as listener, write_lock(directory):
        with Snapshot.of(directory) as snapshot:
            result = _Reading(snapshot, encoder, device, listener).run(source)
        _report(directory / UNREAD, result.rejections)
        sweep(directory, listener)
    warn_of(len(result.rejections), result.rejections, str(directory), directory / UNREAD)
    return result


def _report(path: Path, rejections: Sequence[Rejected]) -> None:
    """List the files that were left out, a line each; without any, remove the list."""
    remove(path)
    if rejections:
        write_whole(
            path, "".join(f"{json.dumps(asdict(row), ensure_ascii=False)}\n" for row in rejections).encode(errors="backslashreplace")
        )


@dataclass(frozen=True)
class PassageCorpus(Corpus):
    """The passages of some documents, which are read anew each time."""

    textless: ClassVar[bool] = True
    has_columns: ClassVar[bool] = False

    attachments: Mapping[str, AttachedText]
    """What is attached to papers, by id."""
    titles: Mapping[str, str]
    """Titles of the papers, by id."""
    digests: Mapping[str, str]
    """Digests of the attachments, by id of the paper."""
    unread: list[Rejected] = field(default_factory=list, compare=False)
    """Those that could not be read, once `batches` was asked."""

    @property
    def sources(self) -> tuple[str, ...]:
        """What passages come from, for people and for the manifest."""
        return ("full texts",)

    def count(self) -> int | None:
        """Unknown before the documents are read."""
        return None

    def fingerprint(self) -> str:
        """Changes with any of the documents."""
        return sha256(repr([self.name, *sorted(self.digests.items())]).encode()).hexdigest()

    def batches(self) -> Iterator[Batch]:
        """Yield the passages, and the documents that could not be read."""
        rows: list[dict[str, Any]] = []
        rejected: list[Rejected] = []
        papers = list(self.attachments)
        self.unread.clear()
        for number, (paper, document) in enumerate(zip(papers, documents_of(self.attachments.values()), strict=True), 1):
            reason = document if isinstance(document, str) else ""
            if isinstance(document, Document):
                found = list(self._rows(paper, document))
                reason = "" if found else "it has no text besides its references"
                rows += found
            if reason:
                rejected.append(Rejected(self.attachments[paper].name, number, reason, paper))
                self.unread.append(rejected[-1])
            if len(rows) >= BATCH_PASSAGES:
                yield self._batch(rows, rejected)
                rows, rejected = [], []
        if rows or rejected:
            yield self._batch(rows, rejected)

    def _batch(self, rows: Sequence[Mapping[str, Any]], rejected: list[Rejected]) -> Batch:
        return Batch("full texts", pa.Table.from_pylist(list(rows), SCHEMA), {}, rejected)

    def _rows(self, paper: str, document: Document) -> Iterator[dict[str, Any]]:
        attachment = self.attachments[paper]
        for number, passage in enumerate(passages(document, PASSAGE_WORDS)):
            yield {
                "id": passage_id(paper, number),
                "title": self.titles[paper],
                "abstract": passage.text,
                "authors": [],
                "paper": paper,
                "section": passage.section,
                "page": passage.page or None,
                "start": passage.start,
                "end": passage.end,
                "file": attachment.name or None,
                "attachment": attachment.key or None,
                "digest": self.digests[paper],
            }


class OfPassages:
    """A `Progress` that passes on what the index of passages says of its papers, which are passages."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self.advance, self.note = progress.advance, progress.note

    def start(self, total: int | None, done: int = 0, unit: str = "papers") -> None:
        """See `Progress`."""
        self._progress.start(total, done, unit.replace("papers", "passages"))


class _Reading:
    """A run of `add_full_texts`, with the state that its steps share."""

    def __init__(self, snapshot: Snapshot, given: AnyEncoder | None, device: Device, progress: Progress) -> None:
        self.snapshot, self.given, self.device, self.progress = snapshot, given, device, OfPassages(progress)
        self.directory, self.old = snapshot.path, snapshot.manifest
        self.folder = self.directory / FULLTEXT

    def run(self, source: str | Path) -> FullTexts:
        """Read what is new, and commit."""
        known = self._known()
        finding = TextFinder(self.snapshot, known, self.progress)
        finding.find(source)
        if not finding.attached:
            raise InvalidRequest(f"no full text in {source} belongs to a paper of {self.directory}{_first_of(finding.rejections)}")
        digests = {paper: text.digest() for paper, text in finding.attached.items()}
        missing = [Rejected("full texts", 0, f"{text.name} is not there", id) for id, text in finding.attached.items() if not digests[id]]
        new = {paper: text for paper, text in finding.attached.items() if digests[paper] not in (None, known.get(paper, NOTHING).digest)}
        rejections = [*finding.rejections, *missing]
        unchanged = len(digests) - len(new) - len(missing)
        if not new:
            remove(self.directory / WORK)  # of a run that was killed at its end
            self.progress.note(f"{self.directory} has these full texts already")
            return self._result(self.old, 0, unchanged, rejections)
        rows = self.snapshot.rows(list(new))
        titles = {paper.id: paper.title for paper in self.snapshot.papers_at(rows, ("id", "title"))}
        corpus = PassageCorpus((), ColumnMap(), "full texts", new, titles, {paper: str(digests[paper]) for paper in new})
        write_sealed(self.directory / WORK, {"source": str(source)})
        try:
            rejected = self._taken(corpus)
        except InvalidRequest:
            if len(corpus.unread) < len(new):
                raise
            remove(self.directory / WORK)  # none can be read, so there is no passage to index
            return self._result(self.old, 0, unchanged, [*rejections, *corpus.unread])
        read = self._without_others(known, corpus.digests)
        manifest = self.old
        if read:
            manifest = replace(self.old, fulltext=named_generation(read_manifest(self.folder)))
            manifest = publish(self.directory, self.old, manifest, Change("fulltext"), next_generation(self.directory))
        remove(self.directory / WORK)
        return self._result(manifest, read, unchanged, [*rejections, *rejected])

    def _known(self) -> dict[str, Known]:
        """The documents whose passages the index has, by paper."""
        known: dict[str, Known] = {}
        columns = ["paper", "digest", "file"]
        if self.snapshot.passages is not None:
            for table in self.snapshot.passages.tables(columns):
                distinct = table.group_by(columns).aggregate([])
                rows = zip(*(distinct[name].to_pylist() for name in columns), strict=True)
                known |= {paper: Known(digest, file or "") for paper, digest, file in rows}
        return known

    def _encoder(self) -> Encoder | None:
        built = self.old.encoder
        return None if built is None else index_encoder(self.directory, built, self.given, self.device)

    def _taken(self, corpus: PassageCorpus) -> Sequence[Rejected]:
        """Add passages to their index, or build it. Returns the documents that could not be read."""
        if self.old.fulltext is not None:
            with write_lock(self.folder):
                current_passages(self.directory, self.old.fulltext)
        if (self.folder / MANIFEST).exists():
            return add(corpus, self.folder, encoder=self._encoder(), device=self.device, progress=self.progress).rejections
        own = BuildSettings(
            encoder=self._encoder(),
            metric=self.old.metric,
            lexical=self.old.bm25,
            shard_size=self.old.build["settings"]["shard_size"],
            recall=self.old.recall,
            late=False,
        )
        # a killed run may have begun with other full texts, which give way
        with build(corpus, self.folder, own, overwrite=True, progress=self.progress) as index:
            return index.rejections

    def _without_others(self, known: Mapping[str, Known], digests: Mapping[str, str]) -> int:
        """Delete passages of earlier versions of documents, and of a killed run. Returns the number of documents that were read."""
        columns = ("id", "paper", "digest")
        with Snapshot.of(self.folder) as snapshot:
            rows = [row for table in snapshot.tables(columns) for row in zip(*(table[name].to_pylist() for name in columns), strict=True)]
        read = {paper for _, paper, digest in rows if digests.get(paper) == digest}
        right = {**{paper: one.digest for paper, one in known.items()}, **{paper: digests[paper] for paper in read}}
        gone = [id for id, paper, digest in rows if right.get(paper) != digest]
        if read and gone:
            delete(self.folder, gone, progress=self.progress)
        return len(read)

    def _result(self, manifest: Manifest, read: int, unchanged: int, rejections: Sequence[Rejected]) -> FullTexts:
        with Snapshot.of(self.directory, manifest.generation) as snapshot:
            full_text = snapshot.fulltext
            papers = 0 if full_text is None else int(np.count_nonzero(full_text.readable))
            count = 0 if snapshot.passages is None else len(snapshot.passages)
        size = int((manifest.fulltext or {"bytes": 0})["bytes"])
        return FullTexts(papers, count, read, unchanged, rejections, manifest.generation, size)


def _first_of(rejections: Sequence[Rejected]) -> str:
    return f"; {rejections[0].source}: {rejections[0].reason}" if rejections else ""

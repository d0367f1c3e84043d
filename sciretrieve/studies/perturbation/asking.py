"""Sets of texts that are searched: each is an index in a temporary folder, so that all ways to search answer as they do for users.

Every text is encoded once, all into one file, of which each set takes its vectors. So hybrid search is without late interaction here.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from ...base.choices import Mode
from ...base.types import Paper, Query, Rows, Vectors
from ...encoders.stored import IDS
from ...files.writing import write_lines, write_vectors
from ...lifecycle import build
from ...options import BuildSettings, SearchOptions
from ...papers.corpora import PaperCorpus
from ...protocols import Encoder, Progress
from ...query.index import Index

Texts = Sequence[Paper]
"""Texts that are asked or answered with; their ids tell all texts of a study apart."""


def labelled(label: str, papers: Mapping[int, Paper]) -> list[Paper]:
    """Papers under ids that name the text used, with their places among the studied papers; places order ties."""
    return [replace(paper, id=f"{label} {place:09d}") for place, paper in papers.items()]


class TextVectors:
    """The vectors of all texts, in a file."""

    def __init__(self, encoder: Encoder, texts: Texts, folder: Path, progress: Progress) -> None:
        """Encode the texts, as papers of a corpus."""
        self.path = folder / "vectors.npy"
        encoder.expect(len(texts))
        progress.start(len(texts), unit="texts")
        matrix = np.empty((len(texts), encoder.dim), np.float32)
        for start in range(0, len(texts), encoder.window):
            window = texts[start : start + encoder.window]
            matrix[start : start + len(window)] = encoder.encode(encoder.tokenise(window), progress.advance)
        write_vectors(self.path, [matrix], matrix.shape)
        write_lines(self.path.with_suffix(IDS), (text.id for text in texts))
        self._rows = {text.id: row for row, text in enumerate(texts)}
        self._matrix = matrix

    def of(self, texts: Texts) -> Vectors:
        """The vectors of these texts, (n, dim)."""
        return self._matrix[[self._rows[text.id] for text in texts]]


@dataclass(frozen=True)
class PerturbedTexts:
    """What makes candidate sets of texts.

    Attributes:
        folder: where their indexes go.
        vectors: all texts' vectors; None for words alone.
        settings: how vectors are compared, and how BM25 weighs words.
        options: how hybrid search joins both.
    """

    folder: Path
    vectors: TextVectors | None
    settings: BuildSettings
    options: SearchOptions

    def index(self, texts: Texts) -> Index:
        """An index of these texts, in their order."""
        digest = hashlib.sha256("\n".join(text.id for text in texts).encode()).hexdigest()
        encoder = f"vectors:{self.vectors.path}" if self.vectors is not None else None
        settings = replace(self.settings, encoder=encoder, dense="none" if encoder is None else "flat")
        return build(PaperCorpus.of("texts", digest, lambda: iter(texts)), self.folder / digest[:16], settings, progress=False)

    def answers(self, index: Index, queries: Texts, k: int, mode: Mode) -> Rows:
        """The rows of the first k texts for each query, (queries, k), best first; -1 where a search has no more answers."""
        rows = np.full((len(queries), k), -1, np.int64)
        asked = [Query(text.id, paper=text) for text in queries]
        for place, ranking in enumerate(index.search(asked, k, self.options, mode=mode, group=False)):
            rows[place, : len(ranking)] = ranking.rows
        return rows

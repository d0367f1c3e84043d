"""sciretrieve: a vector search engine for scholarly papers.

    import sciretrieve as sr

    index = sr.build("corpus.parquet", into="indexes/corpus")
    run = sr.open("indexes/corpus").search("graph neural networks", k=10, filter="year >= 2018")
    for hit in run.hits:
        print(hit.rank, hit.score, hit.paper.title)

Names load what they need when first used, so that importing the package costs nothing.

Where a function takes an index, it takes an open one, its folder, or its name as on the command line, and closes what it has opened.
Where it takes papers, it takes ids and other names, and objects such as hits. What one can catch:

    SciretrieveError
    ├── InvalidRequest: UnknownName, Ambiguous, IndexExists, IndexClosed, EncoderMismatch, BadPaper
    ├── NotFound: NoSuchIndex, NoSuchPaper
    ├── CorruptData
    └── Unavailable: MissingExtra, PluginFailed, IndexBusy, ResultAwaited, TimedOut

and the warnings RowsRejected and WordsAlone.
"""

from __future__ import annotations

import os
import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from . import demo, evaluation, integrations, strategies, training
    from .answers.answering import Answer, Request, answer
    from .answers.citing import Citations, cite
    from .answers.draft_citations import suggest
    from .answers.explaining import explain, why_not
    from .answers.health import health
    from .answers.profiles import citations_of, profile
    from .answers.saved import News, SavedSearch, news, save_search, saved_search, saved_searches
    from .answers.schemas import schema
    from .base.errors import (
        Ambiguous,
        BadPaper,
        CorruptData,
        EncoderMismatch,
        IndexBusy,
        IndexClosed,
        IndexExists,
        InvalidRequest,
        MissingExtra,
        NoSuchIndex,
        NoSuchPaper,
        NotFound,
        PluginFailed,
        ResultAwaited,
        RowsRejected,
        SciretrieveError,
        TimedOut,
        Unavailable,
        UnknownName,
        WordsAlone,
    )
    from .base.types import Hit, Paper, Passage, Query
    from .encoders import load_encoder
    from .evaluation import evaluate
    from .evaluation.comparing_any import compare
    from .lifecycle import add, add_full_texts, build, build_part, delete, estimate, index_parts, merge, reindex, restore, sync
    from .lifecycle.distributed import RayWorkers
    from .lifecycle.exporting import export
    from .lifecycle.vector_files import encode
    from .matching.fusion import Fusion
    from .options import Bm25Parameters, BuildSettings, SearchOptions
    from .papers.corpora import ColumnMap, Corpus, open_corpus
    from .protocols import OwnEncoder, OwnReranker, Progress
    from .query.index import Index
    from .query.narrowing.fields import field
    from .query.opening import open_index as open  # noqa: A004
    from .query.opening import open_many
    from .query.ranking.reranking import open_reranker
    from .runs import Ranking, Run
    from .screening import Screening
    from .storage.repairing import repair
    from .storage.verifying import verify
    from .studies.dense_types import bench
    from .studies.perturbation import robustness
    from .studies.recall import measure_recall
    from .studies.tuning import tune

    __version__: str

# NumPy's OpenBLAS reads it when it is first imported: its threads then sleep after a matrix product. Otherwise they wait for the next one
# actively, on cores that the encoder and other searches need, see docs/threads.md and `matching.parallel`.
if "numpy" not in sys.modules:
    os.environ.setdefault("OPENBLAS_THREAD_TIMEOUT", "4")

__all__ = [
    "Ambiguous",
    "Answer",
    "BadPaper",
    "Bm25Parameters",
    "BuildSettings",
    "Citations",
    "ColumnMap",
    "Corpus",
    "CorruptData",
    "EncoderMismatch",
    "Fusion",
    "Hit",
    "Index",
    "IndexBusy",
    "IndexClosed",
    "IndexExists",
    "InvalidRequest",
    "MissingExtra",
    "News",
    "NoSuchIndex",
    "NoSuchPaper",
    "NotFound",
    "OwnEncoder",
    "OwnReranker",
    "Paper",
    "Passage",
    "PluginFailed",
    "Progress",
    "Query",
    "Ranking",
    "RayWorkers",
    "Request",
    "ResultAwaited",
    "RowsRejected",
    "Run",
    "SavedSearch",
    "SciretrieveError",
    "Screening",
    "SearchOptions",
    "TimedOut",
    "Unavailable",
    "UnknownName",
    "WordsAlone",
    "__version__",
    "add",
    "add_full_texts",
    "answer",
    "bench",
    "build",
    "build_part",
    "citations_of",
    "cite",
    "compare",
    "delete",
    "demo",
    "encode",
    "estimate",
    "evaluate",
    "evaluation",
    "explain",
    "export",
    "field",
    "health",
    "index_parts",
    "integrations",
    "load_encoder",
    "measure_recall",
    "merge",
    "news",
    "open",
    "open_corpus",
    "open_many",
    "open_reranker",
    "profile",
    "reindex",
    "repair",
    "restore",
    "robustness",
    "save_search",
    "saved_search",
    "saved_searches",
    "schema",
    "strategies",
    "suggest",
    "sync",
    "training",
    "tune",
    "verify",
    "why_not",
]

_HOMES = {
    "Ambiguous": "base.errors",
    "Answer": "answers.answering",
    "BadPaper": "base.errors",
    "Bm25Parameters": "options",
    "BuildSettings": "options",
    "Citations": "answers.citing",
    "ColumnMap": "papers.corpora",
    "Corpus": "papers.corpora",
    "CorruptData": "base.errors",
    "EncoderMismatch": "base.errors",
    "Fusion": "matching.fusion",
    "Hit": "base.types",
    "Index": "query.index",
    "IndexBusy": "base.errors",
    "IndexClosed": "base.errors",
    "IndexExists": "base.errors",
    "InvalidRequest": "base.errors",
    "MissingExtra": "base.errors",
    "News": "answers.saved",
    "NoSuchIndex": "base.errors",
    "NoSuchPaper": "base.errors",
    "NotFound": "base.errors",
    "OwnEncoder": "protocols",
    "OwnReranker": "protocols",
    "Paper": "base.types",
    "Passage": "base.types",
    "PluginFailed": "base.errors",
    "Progress": "protocols",
    "Query": "base.types",
    "Ranking": "runs",
    "RayWorkers": "lifecycle.distributed",
    "Request": "answers.answering",
    "ResultAwaited": "base.errors",
    "RowsRejected": "base.errors",
    "Run": "runs",
    "SavedSearch": "answers.saved",
    "SciretrieveError": "base.errors",
    "Screening": "screening",
    "SearchOptions": "options",
    "TimedOut": "base.errors",
    "Unavailable": "base.errors",
    "UnknownName": "base.errors",
    "WordsAlone": "base.errors",
    "add": "lifecycle",
    "add_full_texts": "lifecycle",
    "answer": "answers.answering",
    "bench": "studies.dense_types",
    "build": "lifecycle",
    "build_part": "lifecycle",
    "citations_of": "answers.profiles",
    "cite": "answers.citing",
    "compare": "evaluation.comparing_any",
    "delete": "lifecycle",
    "encode": "lifecycle.vector_files",
    "estimate": "lifecycle",
    "evaluate": "evaluation",
    "explain": "answers.explaining",
    "export": "lifecycle.exporting",
    "field": "query.narrowing.fields",
    "health": "answers.health",
    "index_parts": "lifecycle",
    "load_encoder": "encoders",
    "measure_recall": "studies.recall",
    "merge": "lifecycle",
    "news": "answers.saved",
    "open": "query.opening",
    "open_corpus": "papers.corpora",
    "open_many": "query.opening",
    "open_reranker": "query.ranking.reranking",
    "profile": "answers.profiles",
    "reindex": "lifecycle",
    "repair": "storage.repairing",
    "restore": "lifecycle",
    "robustness": "studies.perturbation",
    "save_search": "answers.saved",
    "saved_search": "answers.saved",
    "saved_searches": "answers.saved",
    "schema": "answers.schemas",
    "suggest": "answers.draft_citations",
    "sync": "lifecycle",
    "tune": "studies.tuning",
    "verify": "storage.verifying",
    "why_not": "answers.explaining",
}
_FOLDERS = ("demo", "evaluation", "integrations", "strategies", "training")
"""Folders whose names are public, too: `sr.training.train`."""
_CALLED = {"open": "open_index"}
"""Public names that differ from the name in their module."""


def __getattr__(name: str) -> Any:
    if name == "__version__":
        return _version()
    if name in _FOLDERS:
        return import_module(f".{name}", __name__)
    if name not in _HOMES:
        raise AttributeError(f"module 'sciretrieve' has no attribute {name!r}")
    return getattr(import_module(f".{_HOMES[name]}", __name__), _CALLED.get(name, name))


def _version() -> str:
    """The installed version; in a source tree that is not installed, the version in its pyproject.toml."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("sciretrieve")
    except PackageNotFoundError:
        import tomllib
        from pathlib import Path

        project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text(encoding="utf-8"))
        return str(project["project"]["version"])


def __dir__() -> list[str]:
    return sorted(__all__)

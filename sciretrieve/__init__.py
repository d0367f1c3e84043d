"""sciretrieve: a vector search engine for scholarly papers.

    import sciretrieve as sr

    index = sr.build("corpus.parquet", into="indexes/corpus")
    run = sr.open("indexes/corpus").search("graph neural networks", k=10, filter="year >= 2018")
    for hit in run.hits:
        print(hit.rank, hit.score, hit.paper.title)

Names load what they need when first used, so that importing the package costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .answers.answering import Answer, Request, answer
    from .answers.cited import citations_of
    from .answers.explaining import explain, why_not
    from .answers.profiles import profile
    from .answers.saved import News, SavedSearch, news, save_search, saved_search, saved_searches
    from .benchmarking import bench
    from .citing import Citations, cite
    from .corpora import ColumnMap, Corpus, open_corpus
    from .distributed import DistributedIndex, RayWorkers
    from .encoders import load_encoder
    from .errors import SciretrieveError
    from .evaluation import evaluate
    from .fusion import Fusion
    from .index import Index
    from .index import Index as open  # noqa: A004, N813
    from .indexing import add, build, build_part, delete, estimate, merge, reindex, restore, sync
    from .options import Bm25Parameters, BuildSettings, SearchOptions
    from .perturbation import robustness
    from .ranking.reranking import open_reranker
    from .repairing import repair
    from .runs import Ranking, Run
    from .screening import Screening
    from .tuning import tune
    from .types import Hit, Paper, Query
    from .vector_files import encode
    from .verifying import verify

    __version__: str

__all__ = [
    "Answer",
    "Bm25Parameters",
    "BuildSettings",
    "Citations",
    "ColumnMap",
    "Corpus",
    "DistributedIndex",
    "Fusion",
    "Hit",
    "Index",
    "News",
    "Paper",
    "Query",
    "Ranking",
    "RayWorkers",
    "Request",
    "Run",
    "SavedSearch",
    "SciretrieveError",
    "Screening",
    "SearchOptions",
    "__version__",
    "add",
    "answer",
    "bench",
    "build",
    "build_part",
    "citations_of",
    "cite",
    "delete",
    "encode",
    "estimate",
    "evaluate",
    "explain",
    "load_encoder",
    "merge",
    "news",
    "open",
    "open_corpus",
    "open_reranker",
    "profile",
    "reindex",
    "repair",
    "restore",
    "robustness",
    "save_search",
    "saved_search",
    "saved_searches",
    "sync",
    "tune",
    "verify",
    "why_not",
]

_HOMES = {
    "Answer": "answers.answering",
    "Bm25Parameters": "options",
    "BuildSettings": "options",
    "Citations": "citing",
    "ColumnMap": "corpora",
    "Corpus": "corpora",
    "DistributedIndex": "distributed",
    "Fusion": "fusion",
    "Hit": "types",
    "Index": "index",
    "News": "answers.saved",
    "Paper": "types",
    "Query": "types",
    "Ranking": "runs",
    "RayWorkers": "distributed",
    "Request": "answers.answering",
    "Run": "runs",
    "SavedSearch": "answers.saved",
    "SciretrieveError": "errors",
    "Screening": "screening",
    "SearchOptions": "options",
    "add": "indexing",
    "answer": "answers.answering",
    "bench": "benchmarking",
    "build": "indexing",
    "build_part": "indexing",
    "citations_of": "answers.cited",
    "cite": "citing",
    "delete": "indexing",
    "encode": "vector_files",
    "estimate": "indexing",
    "evaluate": "evaluation",
    "explain": "answers.explaining",
    "load_encoder": "encoders",
    "merge": "indexing",
    "news": "answers.saved",
    "open": "index",
    "open_corpus": "corpora",
    "open_reranker": "ranking.reranking",
    "profile": "answers.profiles",
    "reindex": "indexing",
    "repair": "repairing",
    "restore": "indexing",
    "robustness": "perturbation",
    "save_search": "answers.saved",
    "saved_search": "answers.saved",
    "saved_searches": "answers.saved",
    "sync": "indexing",
    "tune": "tuning",
    "verify": "verifying",
    "why_not": "answers.explaining",
}


def __getattr__(name: str) -> Any:
    if name == "__version__":
        return _version()
    if name not in _HOMES:
        raise AttributeError(f"module 'sciretrieve' has no attribute {name!r}")
    return getattr(import_module(f".{_HOMES[name]}", __name__), "Index" if name == "open" else name)


def _version() -> str:
    """The installed version; in a source tree that is not installed, the one that it would have."""
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

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
    from .answers.explaining import explain, why_not
    from .benchmarking import bench
    from .corpora import ColumnMap, Corpus, open_corpus
    from .distributed import DistributedIndex, RayWorkers
    from .encoders import load_encoder
    from .errors import SciretrieveError
    from .evaluation import evaluate
    from .fusion import Fusion
    from .index import Index
    from .index import Index as open  # noqa: A004, N813
    from .indexing import add, build, build_part, delete, estimate, merge, reindex, sync
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
    "Bm25Parameters",
    "BuildSettings",
    "ColumnMap",
    "Corpus",
    "DistributedIndex",
    "Fusion",
    "Hit",
    "Index",
    "Paper",
    "Query",
    "Ranking",
    "RayWorkers",
    "Run",
    "SciretrieveError",
    "Screening",
    "SearchOptions",
    "__version__",
    "add",
    "bench",
    "build",
    "build_part",
    "delete",
    "encode",
    "estimate",
    "evaluate",
    "explain",
    "load_encoder",
    "merge",
    "open",
    "open_corpus",
    "open_reranker",
    "reindex",
    "repair",
    "robustness",
    "sync",
    "tune",
    "verify",
    "why_not",
]

_HOMES = {
    "Bm25Parameters": "options",
    "BuildSettings": "options",
    "ColumnMap": "corpora",
    "Corpus": "corpora",
    "DistributedIndex": "distributed",
    "Fusion": "fusion",
    "Hit": "types",
    "Index": "index",
    "Paper": "types",
    "Query": "types",
    "Ranking": "runs",
    "RayWorkers": "distributed",
    "Run": "runs",
    "SciretrieveError": "errors",
    "Screening": "screening",
    "SearchOptions": "options",
    "add": "indexing",
    "bench": "benchmarking",
    "build": "indexing",
    "build_part": "indexing",
    "delete": "indexing",
    "encode": "vector_files",
    "estimate": "indexing",
    "evaluate": "evaluation",
    "explain": "answers.explaining",
    "load_encoder": "encoders",
    "merge": "indexing",
    "open": "index",
    "open_corpus": "corpora",
    "open_reranker": "ranking.reranking",
    "reindex": "indexing",
    "repair": "repairing",
    "robustness": "perturbation",
    "sync": "indexing",
    "tune": "tuning",
    "verify": "verifying",
    "why_not": "answers.explaining",
}


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("sciretrieve")
    if name not in _HOMES:
        raise AttributeError(f"module 'sciretrieve' has no attribute {name!r}")
    return getattr(import_module(f".{_HOMES[name]}", __name__), "Index" if name == "open" else name)


def __dir__() -> list[str]:
    return sorted(__all__)

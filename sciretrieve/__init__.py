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
    from .corpora import ColumnMap, Corpus, open_corpus
    from .encoders import load_encoder
    from .errors import SciretrieveError
    from .evaluation import evaluate
    from .fusion import Fusion
    from .index import Index
    from .index import Index as open  # noqa: A004, N813
    from .indexing import build
    from .options import Bm25Parameters, BuildSettings, SearchOptions
    from .ranking.reranking import open_reranker
    from .runs import Ranking, Run
    from .tuning import tune
    from .types import Hit, Paper, Query
    from .vector_files import encode

    __version__: str

__all__ = [
    "Bm25Parameters",
    "BuildSettings",
    "ColumnMap",
    "Corpus",
    "Fusion",
    "Hit",
    "Index",
    "Paper",
    "Query",
    "Ranking",
    "Run",
    "SciretrieveError",
    "SearchOptions",
    "__version__",
    "build",
    "encode",
    "evaluate",
    "explain",
    "load_encoder",
    "open",
    "open_corpus",
    "open_reranker",
    "tune",
    "why_not",
]

_HOMES = {
    "Bm25Parameters": "options",
    "BuildSettings": "options",
    "ColumnMap": "corpora",
    "Corpus": "corpora",
    "Fusion": "fusion",
    "Hit": "types",
    "Index": "index",
    "Paper": "types",
    "Query": "types",
    "Ranking": "runs",
    "Run": "runs",
    "SciretrieveError": "errors",
    "SearchOptions": "options",
    "build": "indexing",
    "encode": "vector_files",
    "evaluate": "evaluation",
    "explain": "answers.explaining",
    "load_encoder": "encoders",
    "open": "index",
    "open_corpus": "corpora",
    "open_reranker": "ranking.reranking",
    "tune": "tuning",
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

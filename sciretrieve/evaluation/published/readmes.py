"""Figures that are in no paper: of the READMEs of models and of MDCR, and of Anserini's pull requests."""

from __future__ import annotations

from .tables import Column, Table, columns

RERANKED = tuple(column for task in ("co-view", "co-read", "cite", "co-cite") for column in columns("scidocs-rerank", task, "MAP", "nDCG"))

TABLES = (
    Table("", "SPECTER's README", RERANKED, "SPECTER (allenai/specter) | 83.4 91.4 85.1 92.7 92.0 96.6 88.0 94.7"),
    Table(
        "",
        "SciNCL's README",
        RERANKED,
        """
Doc2Vec | 67.8 82.9 64.9 81.6 65.3 82.2 67.1 83.4
fasttext-sum | 76.5 87.9 75.3 87.4 74.6 88.1 77.8 89.6
SciNCL (10 seeds) | 85.3 92.3 87.5 93.9 93.6 97.3 91.6 96.4
SciNCL (published weights) | 85.3 92.2 87.7 94.0 93.6 97.4 91.7 96.5
""",
    ),
    Table("", "MDCR's README", columns("mdcr", "", "MAP", "nDCG", "R@5"), "SciNCL | 32.5704 58.9317 27.2675"),
    Table(
        "",
        "SPECTER2's README",
        columns("mdcr", "", "MAP", "R@5"),
        """
SPECTER | 30.6 25.5
SciRepEval adapters on SciNCL | 35.3 29.6
""",
    ),
    Table(
        "",
        "Anserini PR #1860",
        [Column("trec-covid", "test", "nDCG@10")],
        """
BM25 (Anserini, flat) | 59.47
BM25 (Anserini, multifield) | 65.59
""",
    ),
)

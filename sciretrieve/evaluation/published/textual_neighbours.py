"""Textual neighbours: Singh and Singh 2022, The Inefficiency of Language Models in Scholarly Retrieval.

Its figures are of its own corpora. They stand beside those of `evaluate asr` and of `sciretrieve benchmarks robustness`, its study. Its
SciBERT is the cased one, by its code (https://github.com/shruti-singh/scilm_exp, scripts/corrupt_and_encode.py).
"""

from __future__ import annotations

from .tables import Column, Columns, Table

PAPER = "Singh and Singh 2022"
MODELS = ("SciBERT (cased)", "SPECTER", "OAG-BERT")


def _found(*tasks: str) -> Columns:
    """How often titles find their papers, a line for each corpus."""
    return [
        column
        for task in tasks
        for model in MODELS
        for column in (
            Column("asr", task, "MRR", f"{model}, {{}}", share=True),
            Column("asr", task, "Success@100", f"{model}, {{}}"),
        )
    ]


TABLES = (
    Table(
        PAPER,
        "3",
        _found("Task I", "Task II"),
        """
Arxiv-MATH | 0.007 5.7 0.596 90.5 0.143 25.1 0 0 0.276 64.2 0.133 31.2
Arxiv-HEP | 0.006 5.8 0.693 92.4 0.182 29.7 0 0 0.354 75.7 0.193 39.0
Arxiv-QBIO | 0.008 6.6 0.789 97.5 0.187 33.0 0 0.2 0.507 90.6 0.194 36.1
Arxiv-ECON | 0.009 10.4 0.783 96.2 0.177 32.5 0 0.1 0.519 87.5 0.176 37.2
Arxiv-CS_SY | 0.011 5.0 0.859 99.2 0.186 32.1 0 0.2 0.553 92.9 0.163 34.0
ICLR | 0.004 5.5 0.586 91.5 0.140 29.8 0 0 0.221 66.5 0.128 33.0
ACL-ANTH | 0.002 2.3 0.739 94.3 0.138 26.5 0 0 0.315 77.0 0.101 27.3
""",
        note="on its own corpora",
    ),
    Table(
        PAPER,
        "4",
        [
            Column("robustness", category, "AOP-10", f"{model}, {{}}")
            for category in ("LO-HS", "LO-PS", "LO-DS", "LL-HS", "LL-PS")
            for model in MODELS
        ],
        """
ACL-ANTH | 51.8 68.9 4.4 20.5 61.8 4.3 12.0 35.6 2.2 73.0 81.2 5.1 13.4 72.0 5.2
ICLR | 52.2 74.6 4.7 18.6 61.8 4.7 10.9 33.2 2.3 71.2 82.2 5.5 10.8 75.0 6.0
Arxiv-CS_SY | 52.8 74.8 5.2 23.2 66.0 5.1 11.6 40.9 2.6 71.7 83.4 6.0 14.5 77.6 6.6
Arxiv-MATH | 52.2 67.4 5.3 23.0 62.1 5.3 14.5 34.5 3.2 71.1 80.5 6.1 31.3 75.4 6.6
Arxiv-ECON | 59.0 75.3 5.8 27.0 66.4 5.6 14.1 40.9 2.8 71.2 83.2 6.4 21.4 76.8 6.8
Arxiv-QBIO | 55.2 74.1 5.4 23.5 65.1 4.9 12.1 38.7 2.6 71.0 82.9 5.9 17.1 76.4 6.3
Arxiv-HEP | 53.1 66.2 5.9 22.9 61.0 5.9 13.5 34.2 3.6 71.0 80.0 6.8 25.4 73.4 7.2
""",
    ),
    Table(
        PAPER,
        "5",
        [Column("robustness", category, "AOP-20") for category in ("LL-HS", "LO-HS", "LL-PS", "LO-PS", "LO-DS")],
        """
SciBERT as SciBERT (cased) | 75.04 59.62 22.6 26.28 14.35
SPECTER | 86.77 77.55 80.93 69.03 41.32
OAG-BERT | 6.84 6.24 7.31 5.95 3.17
""",
    ),
    Table(
        PAPER,
        "9",
        _found("Task I, L2-normalised", "Task I, standardised"),
        """
Arxiv-MATH | 0.013 6.8 0.62 90.4 0.148 26.2 0.06 25.1 1 100 0.11 20.8
Arxiv-HEP | 0.01 8.2 0.693 93.8 0.181 30.2 0.07 29.5 1 100 0.126 23.7
Arxiv-QBIO | 0.007 6.8 0.795 98.0 0.182 31.0 0.144 54.5 1 100 0.127 24.1
Arxiv-ECON | 0.01 11.4 0.772 95.9 0.196 34.8 0.142 49.8 1 100 0.144 26.6
Arxiv-CS_SY | 0.007 5.9 0.856 99.4 0.183 31.3 0.116 47.9 1 100 0.132 23.9
ICLR | 0.007 5.4 0.592 91.8 0.145 29.9 0.09 41.0 1 100 0.124 25.1
ACL-ANTH | 0.002 3.1 0.74 95.1 0.123 25.2 0.034 18.2 0.99 100 0.096 18.2
""",
        note="on its own corpora",
    ),
)

"""SciRepEval: Singh et al. 2023, A Multi-Format Benchmark for Scientific Document Representations, as of EMNLP."""

from __future__ import annotations

from .tables import Column, Columns, Table, columns

PAPER = "SciRepEval"
CODES = ("[CLF]", "[RGN]", "[PRX]", "[QRY]")
"""The control codes, in the order of the tables."""
GROUPS = ("in-train", "out-of-train", "average")
FORMATS = ("CLF", "RGN", "PRX", "SRCH")
MDCR_SYSTEMS = ("BM25", "SPECTER2 Base", "SPECTER2 MTL CTRL", "SPECTER2 Adapters", "SPECTER2 Adapters + MTL CTRL")


def by_code(base: str, benchmark: str, task: str, measure: str) -> Columns:
    """One task by the code that stands before its papers."""
    return [Column(benchmark, task, measure, f"{base} MTL CTRL, {code}") for code in CODES]


def averages(benchmark: str, *names: str, system: str = "{}") -> Columns:
    """Averages of a suite."""
    return columns(benchmark, "", *names, system=system)


def formats(benchmark: str, *groups: str, system: str) -> Columns:
    """The average of each format, and of the group, for each group; and that of all."""
    names = [name for group in groups for name in (*(f"{group} {format}" for format in FORMATS), group)]
    return averages(benchmark, *names, "average", system=system)


def _by_code(benchmark: str, task: str, measure: str, line: str) -> Table:
    return Table(PAPER, "3", by_code("SPECTER2", benchmark, task, measure), line)


TABLES = (
    Table(
        PAPER,
        "2",
        averages("scirepeval", *GROUPS),
        """
E5-base-v2 as E5-base-v2 (how it was read is not published) | 55.7 70.9 67.0
MPNet as MPNet (all-mpnet-base-v2; how it was read is not published) | 49.0 71.0 65.3
SciBERT | 51.5 60.2 58.0
SPECTER | 54.7 72.0 67.5
SciNCL | 55.6 73.4 68.8
""",
    ),
    Table(
        PAPER,
        "2",
        averages("scirepeval", *GROUPS, system="SPECTER2 {}"),
        """
Base | 56.3 73.6 69.1
MTL CLS | 60.2 72.1 69.0
MTL CTRL | 62.4 73.1 70.4
Adapters | 62.4 73.9 70.9
PALs | 61.8 72.6 69.9
Fusion | 62.4 73.9 70.9
Adapters + MTL CTRL | 62.9 74.1 71.2
""",
    ),
    _by_code("fields-of-study", "", "macro-F1", "Classification | 43.3 29.4 32.7 31.1"),
    _by_code("citation-count", "full", "tau", "Regression | 29.8 46.8 43.3 43.1"),
    _by_code("same-author", "test", "MAP", "Proximity | 87.4 78.9 88.8 87.5"),
    _by_code("scirepeval-search", "test", "nDCG", "Search | 73.4 72.6 76.1 78.5"),
    _by_code("drsm", "", "macro-F1", "Classification | 64.8 63.6 62.8 63.7"),
    _by_code("peer-review-score", "full", "tau", "Regression | 16.9 22.2 17.8 16.1"),
    _by_code("reviewer-matching", "", "mean", "Proximity | 43.8 40.5 45.1 45.2"),
    _by_code("trec-covid-scirepeval", "test", "nDCG", "Ad-hoc search | 87.4 83.1 90.3 90.9"),
    Table(
        PAPER,
        "4",
        columns("cost", "", "parameters", "training time", "inference time"),
        """
MTL CTRL as SPECTER2 MTL CTRL | 768 1x 1x
PALs as SPECTER2 PALs | 2M 1.42x 1.29x
Adapters as SPECTER2 Adapters | 1M 0.96x 1.05x
Fusion as SPECTER2 Fusion | 22M 1.32x 1.69x
Adapters + MTL CTRL as SPECTER2 Adapters + MTL CTRL | 1M 1.96x 2.05x
""",
    ),
    Table(
        PAPER,
        "5",
        columns("mdcr", "", "MAP", "R@5"),
        """
BM-25 as BM25 | 33.7 28.5
SPECTER2 Base | 38.0 32.4
SPECTER2 MTL CLS | 34.6 24.9
SPECTER2 MTL CTRL | 36.5 30.7
SPECTER2 Adapters | 38.4 33.0
SPECTER2 Adapters + MTL CTRL | 38.4 32.9
""",
    ),
    Table(
        PAPER,
        "7",
        averages("scirepeval", "in-train PRX", "out-of-train PRX without S2AND", "PRX without S2AND"),
        """
TS ASPIRE CS | 65.0 86.3 82.7
TS ASPIRE Bio | 65.5 86.0 82.6
OT ASPIRE CS | 64.5 86.4 82.8
OT ASPIRE Bio | 65.0 86.0 82.5
MTL CTRL as SPECTER2 MTL CTRL | 67.0 86.6 83.3
Adapters as SPECTER2 Adapters | 67.7 86.8 83.6
""",
    ),
    Table(
        PAPER,
        "8",
        averages("scirepeval", *GROUPS, system="SPECTER {}"),
        """
MTL CLS | 60.0 71.6 68.6
MTL CTRL | 61.9 72.7 69.9
Adapters | 61.5 73.2 70.2
Adapters + MTL CTRL | 62.2 73.6 70.6
""",
    ),
    Table(
        PAPER,
        "8",
        averages("scirepeval", *GROUPS, system="SciNCL {}"),
        """
MTL CLS | 60.1 71.9 68.8
MTL CTRL | 62.1 72.9 70.1
Adapters | 61.9 73.8 70.7
Adapters + MTL CTRL | 62.5 74.0 71.0
""",
    ),
    Table(
        PAPER,
        "10",
        [column for system in MDCR_SYSTEMS for column in columns("mdcr", "{}", "MAP", "R@5", system=system)],
        """
Art | 38.2 32.3 43.4 37.8 39.9 32.6 44.7 37.4 43.5 36.7
Biology | 38.3 33.6 39.9 33.3 40.6 33.9 41.6 36.0 42.2 37.1
Business | 28.1 22.5 35.0 30.5 32.7 28.6 35.3 29.6 34.7 29.3
Chemistry | 38.0 32.6 39.7 33.5 38.9 32.4 41.4 35.7 40.8 35.3
Computer Science | 34.8 30.5 38.5 33.4 38.9 32.8 39.3 33.5 39.9 34.7
Economics | 30.5 26.0 33.7 28.5 31.9 26.3 33.7 27.3 33.7 29.5
Engineering | 34.6 29.3 35.4 30.3 36.5 30.3 35.6 29.8 36.6 30.1
Environmental Science | 31.6 26.2 35.0 27.9 36.8 30.7 36.7 30.5 38.1 32.5
Geography | 31.8 27.8 37.1 31.8 34.0 29.2 37.2 33.3 36.7 32.6
Geology | 33.1 28.0 33.4 27.7 32.5 25.8 33.6 28.4 34.1 28.4
History | 38.1 32.9 41.9 34.7 37.3 31.3 41.4 36.1 40.3 34.7
Materials Science | 36.1 30.7 39.7 34.0 39.4 32.8 39.9 34.3 40.7 34.2
Mathematics | 35.3 28.3 40.8 34.2 39.0 33.6 41.7 35.7 40.8 34.2
Medicine | 38.6 32.5 43.8 39.0 43.5 38.2 45.5 40.0 45.3 39.6
Philosophy | 30.2 25.7 37.2 32.0 33.3 28.6 36.3 32.4 36.2 31.6
Physics | 35.1 30.2 37.6 32.5 37.2 30.8 37.6 32.7 39.0 33.9
Political Science | 28.6 23.1 35.7 31.6 32.0 26.9 35.0 29.5 34.0 29.0
Psychology | 32.5 28.9 38.8 33.2 37.1 31.6 39.5 34.4 39.4 34.1
Sociology | 26.8 20.5 34.6 29.8 31.2 26.2 34.3 29.9 33.5 28.0
""",
    ),
    Table(
        PAPER,
        "11",
        formats("scirepeval", "in-train", "out-of-train", system="SPECTER2, trained on {}"),
        """
CLF | 69.1 16.3 58.4 71.3 54.9 70.7 18.3 79.7 73.4 68.0 63.7
RGN | 48.8 45.8 53.1 69.6 52.7 63.9 20.4 61.5 67.4 56.4 55.3
PRX | 57.5 33.8 66.8 73.1 53.3 69.5 17.6 87.3 78.5 72.4 68.0
SRCH | 53.2 32.0 59.8 78.1 53.4 63.5 14.6 77.6 78.0 65.4 62.0
CLF+RGN | 68.4 41.9 60.9 71.8 54.6 71.5 18.0 79.0 73.9 67.8 65.6
CLF+PRX | 65.9 31.9 65.7 73.0 56.5 70.9 16.3 86.6 75.7 71.8 68.0
CLF+SRCH | 66.6 20.3 60.8 78.4 53.7 70.9 13.9 81.5 72.0 68.3 64.4
RGN+PRX | 58.4 44.0 67.4 72.4 57.4 69.5 18.7 87.3 78.2 72.6 69.0
RGN+SRCH | 54.6 44.4 60.2 78.8 55.6 67.2 18.4 77.2 78.3 66.5 63.9
PRX+SRCH | 57.5 33.2 66.8 78.1 56.5 68.2 18.4 86.8 79.3 72.1 67.9
All | 67.5 44.8 67.0 78.3 62.4 71.7 19.3 87.2 79.7 73.1 70.4
""",
    ),
)

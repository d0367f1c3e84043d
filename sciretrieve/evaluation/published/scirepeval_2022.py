"""The first version of SciRepEval, under review at ICLR 2023, with other tasks."""

from __future__ import annotations

from .scirepeval import averages, by_code, formats
from .tables import Table

PAPER = "SciRepEval's first version"
GROUPS = ("in-train", "out-of-train", "SciDocs", "average")


def _by_code(out_of_train: tuple[str, str, str], in_train: tuple[str, str, str], line: str) -> Table:
    return Table(PAPER, "4", [*by_code("SciNCL", *out_of_train), *by_code("SciNCL", *in_train)], line)


TABLES = (
    Table(
        PAPER,
        "2",
        averages("scirepeval-2022", *GROUPS),
        """
SciBERT | 51.5 52.5 69.0 58.2
SPECTER | 54.7 57.4 89.1 68.0
SciNCL | 55.6 57.8 90.8 69.0
SciNCL + MTL CLS | 60.0 57.0 89.5 69.4
SciNCL + MTL CTRL | 61.9 57.8 89.7 70.2
SciNCL + Adapters | 61.9 59.1 90.3 70.9
SciNCL + PALs | 61.9 58.4 90.1 70.6
SciNCL + Adapter Fusion | 62.0 58.8 90.1 70.8
SciNCL + Adapters + MTL CTRL | 62.5 59.1 90.6 71.2
""",
    ),
    Table(
        PAPER,
        "3",
        averages("scirepeval-2022", *GROUPS),
        """
SciBERT + MTL CLS | 59.4 57.1 88.9 69.0
SciBERT + MTL CTRL | 62.5 57.8 89.6 70.4
SciBERT + Adapters | 62.6 58.0 90.1 70.6
SciBERT + Adapters + MTL CTRL | 62.9 58.6 90.4 71.1
SPECTER + MTL CLS | 60.0 56.5 89.0 69.0
SPECTER + MTL CTRL | 61.9 58.0 89.4 70.2
SPECTER + Adapters | 61.5 58.9 89.6 70.5
SPECTER + Adapters + MTL CTRL | 62.2 59.1 89.9 70.9
""",
    ),
    _by_code(("drsm", "", "macro-F1"), ("fields-of-study", "", "macro-F1"), "Classification | 66.9 63.5 65.0 64.5 38.7 32.9 31.9 31.0"),
    _by_code(
        ("peer-review-score", "full", "tau"), ("citation-count", "full", "tau"), "Regression | 16.2 20.4 18.1 17.5 29.7 46.8 43.7 42.9"
    ),
    _by_code(("reviewer-matching", "", "mean"), ("same-author", "test", "MAP"), "Proximity | 43.8 43.1 44.7 44.7 87.1 82.2 89.0 88.3"),
    _by_code(
        ("trec-covid-scirepeval", "test", "nDCG"),
        ("scirepeval-search", "test", "nDCG"),
        "Ad-hoc search | 86.7 85.2 85.3 90.5 73.9 75.6 77.5 78.5",
    ),
    Table(
        PAPER,
        "7",
        # its last column does not follow from the others by any count of tasks
        [*averages("scirepeval-2022", "in-train PRX", "out-of-train PRX without S2AND", "SciDocs PRX"), None],
        """
TS ASPIRE CS | 65.0 65.2 91.3 79.9
TS ASPIRE Bio | 65.5 65.6 90.9 79.8
OT ASPIRE CS | 64.5 65.5 91.2 79.8
OT ASPIRE Bio | 65.0 65.7 90.5 79.6
SciNCL + MTL CTRL | 66.9 66.9 91.1 80.7
SciNCL + Adapters | 67.0 67.5 91.5 81.1
""",
    ),
    Table(
        PAPER,
        "9",
        formats("scirepeval-2022", "out-of-train", "in-train", system="SciNCL, trained on {}"),
        """
CLF | 56.8 15.4 70.0 77.5 54.1 68.2 21.3 59.3 71.1 52.7 64.6
RGN | 56.6 21.4 68.1 74.1 54.4 53.2 45.0 55.2 68.7 53.7 59.8
PRX | 55.4 19.6 73.7 84.5 57.6 57.8 32.1 67.2 73.2 55.3 68.6
SRCH | 46.6 15.7 71.7 83.8 54.1 53.2 28.1 60.4 78.0 51.6 63.3
CLF + RGN | 58.7 20.5 68.4 75.0 54.8 68.8 45.1 57.3 68.7 58.7 63.8
CLF + PRX | 57.2 16.5 73.4 82.2 56.5 68.3 32.6 66.4 43.8 58.1 68.8
CLF + SRCH | 58.8 17.2 71.6 83.5 56.6 67.7 31.0 59.9 78.4 56.5 66.3
RGN + PRX | 51.8 20.9 73.5 78.2 56.1 50.4 44.3 67.1 71.7 56.5 67.7
RGN + SRCH | 52.0 17.8 72.1 84.0 55.8 54.8 43.6 60.6 78.4 56.6 65.3
PRX + SRCH | 53.2 17.8 73.8 85.1 56.8 57.9 32.1 66.6 78.2 55.9 68.3
All | 58.9 18.2 73.4 84.7 57.7 66.7 44.3 66.9 78.5 62.1 70.3
""",
    ),
)

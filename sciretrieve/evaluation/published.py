"""Published figures as data, shown in reports beside ours. Each row names its paper and table.

P0 is SciRepEval (Singh et al. 2023, EMNLP), P1 its first version (under review at ICLR 2023), P2 SciMult (Zhang et al. 2023),
P4 Multi2SPE (Seoh et al. 2023); the other sources are the READMEs of the models.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

P0, P1, P2, P4 = "SciRepEval", "SciRepEval's first version", "SciMult", "Multi2SPE"
CODES = ("[CLF]", "[RGN]", "[PRX]", "[QRY]")
"""SciRepEval's control codes, in the order of its tables."""


@dataclass(frozen=True, slots=True)
class Row:
    """One system's published figures: (task, measure) -> value, in the unit of the report."""

    system: str
    source: str
    values: Mapping[tuple[str, str], float]


def rows(benchmark: str) -> Sequence[Row]:
    """The published rows of a benchmark, in the order of their source."""
    return PUBLISHED.get(benchmark, ())


def _table(source: str, columns: Sequence[tuple[str, str]], lines: str) -> tuple[Row, ...]:
    """Rows from lines of `system | value value …`, leaving out values of -."""
    rows_read = []
    for line in lines.strip().splitlines():
        system, _, values = line.partition("|")
        pairs = zip(columns, values.split(), strict=True)
        rows_read.append(Row(system.strip(), source, {column: float(value) for column, value in pairs if value != "-"}))
    return tuple(rows_read)


def _by_code(column: tuple[str, str], second: str, first: str) -> tuple[Row, ...]:
    """One task of SciRepEval by the control code before papers, in the second version of the paper and in the first."""
    tables = ((f"{P0}, Table 3", "SPECTER2", second), (f"{P1}, Table 4", "SciNCL", first))
    return tuple(
        row
        for source, base, values in tables
        for code, value in zip(CODES, values.split(), strict=True)
        for row in _table(source, [column], f"{base} MTL CTRL, {code} | {value}")
    )


_LINKS = """
BM25 | 17.81 24.76 30.49 24.19 31.98 38.03 42.20 48.68 53.75
SciBERT | 2.45 3.83 5.32 5.36 7.17 9.18 17.15 20.17 22.90
SentBERT | 5.45 8.29 11.13 9.19 12.65 15.93 8.20 10.46 12.52
SPECTER | 21.59 31.58 40.02 31.51 43.41 52.90 27.72 34.52 40.43
PubMedBERT | 4.42 6.46 8.43 8.42 11.21 13.77 21.42 24.48 27.18
LinkBERT | 2.38 3.47 4.60 5.02 6.33 7.69 11.77 13.66 15.45
BioLinkBERT | 3.41 5.01 6.63 6.93 9.14 11.24 21.28 24.66 27.48
OAG-BERT | 5.59 8.37 11.11 9.62 13.09 16.39 28.49 32.48 35.97
SciNCL | 24.91 36.57 46.25 34.84 48.50 58.77 31.65 39.30 45.84
SPECTER2 (proximity) | 23.53 34.47 43.54 33.75 46.46 56.23 30.36 36.10 40.96
SciMult-Vanilla | 32.61 46.33 56.40 38.23 52.08 62.02 41.61 50.20 56.94
SciMult-MHAExpert | 34.81 49.31 59.71 39.82 54.16 64.50 42.33 51.25 58.25
SciMult-FFNExpert | 36.34 51.31 61.97 38.12 52.49 62.91 43.36 52.31 59.05
SciMult-Prefix | 34.18 49.27 60.52 37.70 52.21 62.85 43.54 52.28 59.00
SciMult-Instruction | 33.58 47.94 58.37 36.22 49.98 60.26 43.37 52.10 58.72
"""


def _links(task: str, first_column: int) -> tuple[Row, ...]:
    """Three of the nine columns of SciMult's Table 5."""
    columns = [("", "")] * 9
    columns[first_column : first_column + 3] = [(task, "R@20"), (task, "R@50"), (task, "R@100")]
    return tuple(
        Row(row.system, row.source, {key: value for key, value in row.values.items() if key != ("", "")})
        for row in _table(f"{P2}, Table 5", columns, _LINKS)
    )


_RERANK_COLUMNS = [(task, measure) for task in ("co-view", "co-read", "cite", "co-cite") for measure in ("MAP", "nDCG")]
_MDCR_FIELDS = """
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
"""
_MDCR_SYSTEMS = ("BM25", "SPECTER2 base", "SPECTER2 MTL CTRL", "SPECTER2 adapters", "SPECTER2 adapters + MTL CTRL")
_MDCR_MEANS = {
    "BM25": (33.7, 28.5),
    "SPECTER2 base": (38.0, 32.4),
    "SPECTER2 MTL CTRL": (36.5, 30.7),
    "SPECTER2 adapters": (38.4, 33.0),
    "SPECTER2 adapters + MTL CTRL": (38.4, 32.9),
}


def _mdcr() -> tuple[Row, ...]:
    per_field: dict[str, dict[tuple[str, str], float]] = {system: {} for system in _MDCR_SYSTEMS}
    for line in _MDCR_FIELDS.strip().splitlines():
        field, _, text = line.partition("|")
        values = [float(value) for value in text.split()]
        for number, system in enumerate(_MDCR_SYSTEMS):
            per_field[system] |= {(field.strip(), "MAP"): values[2 * number], (field.strip(), "R@5"): values[2 * number + 1]}
    for system, (precision, recall) in _MDCR_MEANS.items():
        per_field[system] |= {("", "MAP"): precision, ("", "R@5"): recall}
    other_systems = {"SPECTER": (30.6, 25.5), "SciRepEval adapters on SciNCL": (35.3, 29.6), "SPECTER2 MTL CLS": (34.6, 24.9)}
    sources = {"SPECTER2 MTL CLS": f"{P0}, Table 5"}
    return (
        *(Row(system, f"{P0}, Tables 5 and 10", values) for system, values in per_field.items()),
        Row("SciNCL", "MDCR's README", {("", "MAP"): 32.5704, ("", "nDCG"): 58.9317, ("", "R@5"): 27.2675}),
        *(
            Row(system, sources.get(system, "SPECTER2's README"), {("", "MAP"): precision, ("", "R@5"): recall})
            for system, (precision, recall) in other_systems.items()
        ),
    )


_MAPLE_COLUMNS = [
    *((field, measure) for field in ("CSConference", "ChemistryMeSH", "Geography", "Psychology") for measure in ("R@20", "R@50", "R@100")),
    ("", "mean"),
]
_MAPLE = """
SciBERT | 42.01 42.84 43.87 30.53 31.46 32.15 52.04 54.53 58.11 43.07 44.02 45.22 43.32
SentBERT | 42.79 44.34 45.96 30.75 31.73 32.44 53.54 57.23 61.11 43.33 44.60 46.37 44.52
SPECTER | 47.38 53.18 58.43 34.26 39.35 43.41 59.12 65.33 70.75 47.07 51.30 56.17 52.15
PubMedBERT | 41.93 42.56 43.24 30.46 31.46 31.83 52.19 54.82 56.88 43.93 46.28 49.27 43.74
LinkBERT | 42.15 43.16 44.22 30.52 31.56 32.37 50.58 50.94 51.63 42.62 42.90 43.23 42.16
BioLinkBERT | 42.00 42.81 43.57 30.37 31.15 31.48 50.36 50.54 50.86 42.39 42.55 42.79 41.74
OAG-BERT | 42.59 43.79 44.93 30.58 31.97 32.62 51.44 52.25 53.16 42.63 42.95 43.30 42.68
SciNCL | 47.92 53.57 58.29 34.99 40.50 44.64 59.00 65.49 71.41 48.74 54.21 59.84 53.22
SPECTER2 (proximity) | 48.63 55.09 60.68 36.17 43.06 48.26 62.87 70.30 76.37 50.60 58.27 65.66 56.33
SciMult-Vanilla | 53.40 64.70 74.09 39.78 51.31 59.75 62.08 70.65 77.79 50.42 56.58 63.17 60.31
SciMult-MHAExpert | 54.02 65.49 75.07 39.41 50.92 59.59 65.94 75.01 81.93 51.77 59.55 67.86 62.21
SciMult-FFNExpert | 53.73 63.79 72.46 38.01 48.76 57.43 61.90 70.69 78.81 50.09 56.94 64.28 59.74
SciMult-Prefix | 53.68 63.62 72.07 37.97 48.95 57.56 62.86 71.65 79.71 50.10 57.25 64.53 60.00
SciMult-Instruction | 53.78 63.99 72.72 38.81 50.12 58.96 63.26 71.74 79.52 50.86 58.47 66.46 60.72
"""
_MAPLE_UNMATCHED = """
BM25 | 17.41 23.73 29.12 7.78 10.75 13.41 15.81 24.15 35.99 13.00 18.45 24.90 19.54
SciBERT | 0.84 1.98 3.63 0.77 1.58 2.71 3.73 8.05 14.08 1.72 3.48 5.84 4.03
SentBERT | 2.94 5.24 7.97 1.20 2.21 3.45 7.68 14.26 20.97 2.62 4.79 7.67 6.75
SPECTER | 16.28 24.50 32.60 11.80 17.94 23.88 18.12 28.02 37.36 15.18 23.46 32.24 23.45
PubMedBERT | 0.87 1.68 2.75 0.80 1.28 1.83 4.51 8.69 12.56 2.92 5.95 9.79 4.47
LinkBERT | 1.33 2.55 4.14 0.68 1.58 2.72 0.57 1.16 2.34 0.65 1.13 1.72 1.71
BioLinkBERT | 1.02 1.95 3.05 0.46 0.87 1.40 0.32 0.68 1.40 0.14 0.39 0.79 1.04
OAG-BERT | 2.61 4.24 6.09 1.72 2.68 3.74 1.96 3.22 4.75 0.79 1.31 1.97 2.92
SciNCL | 17.42 25.32 32.82 13.96 20.33 26.22 21.80 32.96 43.02 22.76 32.85 42.30 27.65
SPECTER2 (proximity) | 20.90 30.21 38.87 18.72 27.08 34.41 31.61 45.26 56.85 26.27 38.85 50.21 34.94
SciMult-Vanilla | 31.52 46.04 58.61 26.96 39.63 50.37 32.20 46.96 59.12 30.02 40.48 50.31 42.69
SciMult-MHAExpert | 35.63 51.00 64.02 26.11 38.85 49.89 37.70 52.44 63.99 32.69 44.80 56.28 46.12
SciMult-FFNExpert | 38.43 52.66 64.89 22.83 34.93 46.05 26.35 41.37 55.03 27.95 40.05 51.23 41.81
SciMult-Prefix | 38.42 52.58 64.51 22.67 34.88 45.95 28.25 43.00 56.55 26.09 38.48 49.71 41.76
SciMult-Instruction | 38.47 52.88 65.10 24.36 36.91 48.19 29.55 43.91 57.40 28.80 41.71 53.66 43.41
"""
_SEARCH = """
BM25 | 73.47 55.86 57.79 65.63 30.00 56.55
SciBERT | 71.39 40.98 4.17 0.88 1.90 23.86
SentBERT | 71.84 51.30 20.73 9.40 6.69 31.99
SPECTER | 73.42 66.45 29.91 49.74 15.83 47.07
PubMedBERT | 70.77 45.28 7.56 0.30 1.09 25.00
LinkBERT | 71.66 52.45 2.28 0.49 1.77 25.73
BioLinkBERT | 71.18 36.01 3.17 0.12 0.98 22.29
OAG-BERT | 72.17 55.09 7.11 18.33 8.48 32.24
SciNCL | 73.78 73.50 34.69 56.51 22.34 52.16
SPECTER2 (query + proximity) | 78.22 79.43 58.48 67.16 22.84 61.23
SciMult-Vanilla | 76.44 86.76 67.22 70.76 31.20 66.48
SciMult-MHAExpert | 76.33 86.29 71.18 70.67 30.79 67.05
SciMult-FFNExpert | 76.02 82.32 52.15 63.57 27.48 60.31
SciMult-Prefix | 76.55 82.83 68.15 70.70 30.02 65.65
SciMult-Instruction | 75.86 83.59 61.05 70.62 30.25 64.27
"""
_SEARCH_COLUMNS = [
    *((task, "nDCG@10") for task in ("Search", "TRECCOVID_SciRepEval", "TRECCOVID_BEIR", "SciFact", "NFCorpus")),
    ("", "nDCG@10"),
]
_ASR = """
SciBERT, Arxiv-MATH | 0.7 5.7 0 0
SciBERT, Arxiv-HEP | 0.6 5.8 0 0
SciBERT, Arxiv-QBIO | 0.8 6.6 0 0.2
SciBERT, Arxiv-ECON | 0.9 10.4 0 0.1
SciBERT, Arxiv-CS_SY | 1.1 5.0 0 0.2
SciBERT, ICLR | 0.4 5.5 0 0
SciBERT, ACL-ANTH | 0.2 2.3 0 0
SPECTER, Arxiv-MATH | 59.6 90.5 27.6 64.2
SPECTER, Arxiv-HEP | 69.3 92.4 35.4 75.7
SPECTER, Arxiv-QBIO | 78.9 97.5 50.7 90.6
SPECTER, Arxiv-ECON | 78.3 96.2 51.9 87.5
SPECTER, Arxiv-CS_SY | 85.9 99.2 55.3 92.9
SPECTER, ICLR | 58.6 91.5 22.1 66.5
SPECTER, ACL-ANTH | 73.9 94.3 31.5 77.0
OAG-BERT, Arxiv-MATH | 14.3 25.1 13.3 31.2
OAG-BERT, Arxiv-HEP | 18.2 29.7 19.3 39.0
OAG-BERT, Arxiv-QBIO | 18.7 33.0 19.4 36.1
OAG-BERT, Arxiv-ECON | 17.7 32.5 17.6 37.2
OAG-BERT, Arxiv-CS_SY | 18.6 32.1 16.3 34.0
OAG-BERT, ICLR | 14.0 29.8 12.8 33.0
OAG-BERT, ACL-ANTH | 13.8 26.5 10.1 27.3
"""

_GROUPS, _FIRST_GROUPS = ("in-train", "out-of-train", "average"), ("in-train", "out-of-train", "SciDocs", "average")
_FORMAT_COLUMNS = [
    ("", f"{group}{format}") for group in ("in-train", "out-of-train") for format in (" CLF", " RGN", " PRX", " SRCH", "")
] + [("", "average")]

PUBLISHED: Mapping[str, Sequence[Row]] = {
    "scidocs-cite": _links("cite", 0),
    "scidocs-cocite": _links("co-cite", 3),
    "pmc-patients-zeroshot": _links("PPR", 6),
    "scidocs-rerank": (
        *_table(
            f"{P2}, Table 7",
            _RERANK_COLUMNS,
            """
Citeomatic | 81.1 90.2 80.5 90.2 86.3 94.1 84.4 92.8
SciBERT | 50.7 73.1 47.7 71.1 48.3 71.7 49.7 72.6
SentBERT | 68.2 83.3 64.8 81.3 63.5 81.6 66.4 82.8
PubMedBERT | 59.43 78.23 55.59 75.63 51.81 73.43 58.19 77.80
LinkBERT | 44.21 67.76 41.04 65.31 39.33 63.91 42.84 67.18
BioLinkBERT | 56.46 76.38 50.76 72.18 47.73 70.55 52.94 74.44
OAG-BERT | 64.61 81.50 60.13 78.65 57.35 77.60 62.47 80.92
SPECTER | 83.6 91.5 84.5 92.4 88.3 94.9 88.1 94.8
SPECTER2 (proximity) | 85.18 92.27 86.95 93.53 92.23 96.84 91.13 96.28
SciMult-Vanilla | 83.99 91.68 86.66 93.67 91.37 96.26 91.50 96.45
SciMult-MHAExpert | 83.92 91.60 86.45 93.55 92.58 96.92 91.47 96.36
SciMult-FFNExpert | 83.23 91.26 85.61 93.20 93.77 97.42 90.39 95.94
SciMult-Prefix | 83.43 91.48 85.89 93.27 94.28 97.60 90.73 96.09
SciMult-Instruction | 82.13 90.88 84.14 92.36 92.63 96.91 89.27 95.43
""",
        ),
        *_table("SPECTER's README", _RERANK_COLUMNS, "SPECTER (allenai/specter) | 83.4 91.4 85.1 92.7 92.0 96.6 88.0 94.7"),
        *_table(
            "SciNCL's README",
            _RERANK_COLUMNS,
            """
Doc2Vec | 67.8 82.9 64.9 81.6 65.3 82.2 67.1 83.4
fasttext-sum | 76.5 87.9 75.3 87.4 74.6 88.1 77.8 89.6
SciNCL (10 seeds) | 85.3 92.3 87.5 93.9 93.6 97.3 91.6 96.4
SciNCL (published weights) | 85.3 92.2 87.7 94.0 93.6 97.4 91.7 96.5
""",
        ),
    ),
    "pmc-patients-par": _table(
        f"{P2}, Table 6 (old release, 1.4M articles)",
        [("PAR", measure) for measure in ("MRR", "P@10", "nDCG@10", "R@1000")],
        """
DPR (SciMult-MHAExpert) | 64.44 22.12 28.62 69.09
DPR (PubMedBERT) | 42.96 16.08 19.51 63.40
DPR (SPECTER) | 46.41 15.59 19.70 57.98
DPR (BioLinkBERT) | 40.89 15.33 18.47 62.44
BM25 | 48.22 9.97 15.28 30.64
Contriever | 15.03 3.41 4.62 16.74
SentBERT | 10.58 2.71 3.53 13.52
""",
    ),
    "pmc-patients-ppr": _table(
        f"{P2}, Table 6 (old release)",
        [("PPR", measure) for measure in ("MRR", "P@10", "nDCG@10", "R@1000")],
        """
DPR (SciMult-MHAExpert) | 25.35 6.65 22.39 83.78
BM25 | 22.86 4.67 18.29 69.66
DPR (BioLinkBERT) | 21.20 5.59 18.06 80.49
DPR (PubMedBERT) | 19.37 5.05 16.30 79.35
DPR (SPECTER) | 15.08 3.79 12.27 73.01
Contriever | 10.50 2.24 8.01 52.64
""",
    ),
    "mdcr": _mdcr(),
    "maple": _table(f"{P2}, Table 3", _MAPLE_COLUMNS, _MAPLE),
    "maple-unmatched": _table(f"{P2}, Table A3", _MAPLE_COLUMNS, _MAPLE_UNMATCHED),
    "scimult-search": _table(f"{P2}, Table 8", _SEARCH_COLUMNS, _SEARCH),
    "trec-covid": (
        *(
            Row(row.system, row.source, {("test", "nDCG@10"): row.values["TRECCOVID_BEIR", "nDCG@10"]})
            for row in _table(f"{P2}, Table 8", _SEARCH_COLUMNS, _SEARCH)
        ),
        Row("BM25 (Anserini, flat)", "Anserini PR #1860", {("test", "nDCG@10"): 59.47}),
        Row("BM25 (Anserini, multifield)", "Anserini PR #1860", {("test", "nDCG@10"): 65.59}),
    ),
    "fields-of-study": _by_code(("", "macro-F1"), "43.3 29.4 32.7 31.1", "38.7 32.9 31.9 31.0"),
    "citation-count": _by_code(("full", "tau"), "29.8 46.8 43.3 43.1", "29.7 46.8 43.7 42.9"),
    "same-author": _by_code(("test", "MAP"), "87.4 78.9 88.8 87.5", "87.1 82.2 89.0 88.3"),
    "scirepeval-search": _by_code(("test", "nDCG"), "73.4 72.6 76.1 78.5", "73.9 75.6 77.5 78.5"),
    "drsm": _by_code(("", "macro-F1"), "64.8 63.6 62.8 63.7", "66.9 63.5 65.0 64.5"),
    "peer-review-score": _by_code(("full", "tau"), "16.9 22.2 17.8 16.1", "16.2 20.4 18.1 17.5"),
    "reviewer-matching": _by_code(("", "mean"), "43.8 40.5 45.1 45.2", "43.8 43.1 44.7 44.7"),
    "trec-covid-scirepeval": _by_code(("test", "nDCG"), "87.4 83.1 90.3 90.9", "86.7 85.2 85.3 90.5"),
    "scirepeval": (
        *_table(
            f"{P0}, Table 2",
            [("", name) for name in _GROUPS],
            """
E5-base-v2 | 55.7 70.9 67.0
MPNet (all-mpnet-base-v2) | 49.0 71.0 65.3
SciBERT | 51.5 60.2 58.0
SPECTER | 54.7 72.0 67.5
SciNCL | 55.6 73.4 68.8
SPECTER2 Base | 56.3 73.6 69.1
SPECTER2 MTL CLS | 60.2 72.1 69.0
SPECTER2 MTL CTRL | 62.4 73.1 70.4
SPECTER2 Adapters | 62.4 73.9 70.9
SPECTER2 PALs | 61.8 72.6 69.9
SPECTER2 Fusion | 62.4 73.9 70.9
SPECTER2 Adapters + MTL CTRL | 62.9 74.1 71.2
""",
        ),
        *_table(
            f"{P0}, Table 8",
            [("", name) for name in _GROUPS],
            """
SPECTER MTL CLS | 60.0 71.6 68.6
SPECTER MTL CTRL | 61.9 72.7 69.9
SPECTER Adapters | 61.5 73.2 70.2
SPECTER Adapters + MTL CTRL | 62.2 73.6 70.6
SciNCL MTL CLS | 60.1 71.9 68.8
SciNCL MTL CTRL | 62.1 72.9 70.1
SciNCL Adapters | 61.9 73.8 70.7
SciNCL Adapters + MTL CTRL | 62.5 74.0 71.0
""",
        ),
        *_table(
            f"{P0}, Table 11",
            _FORMAT_COLUMNS,
            """
SPECTER2, trained on CLF | 69.1 16.3 58.4 71.3 54.9 70.7 18.3 79.7 73.4 68.0 63.7
SPECTER2, trained on RGN | 48.8 45.8 53.1 69.6 52.7 63.9 20.4 61.5 67.4 56.4 55.3
SPECTER2, trained on PRX | 57.5 33.8 66.8 73.1 53.3 69.5 17.6 87.3 78.5 72.4 68.0
SPECTER2, trained on SRCH | 53.2 32.0 59.8 78.1 53.4 63.5 14.6 77.6 78.0 65.4 62.0
SPECTER2, trained on CLF+RGN | 68.4 41.9 60.9 71.8 54.6 71.5 18.0 79.0 73.9 67.8 65.6
SPECTER2, trained on CLF+PRX | 65.9 31.9 65.7 73.0 56.5 70.9 16.3 86.6 75.7 71.8 68.0
SPECTER2, trained on CLF+SRCH | 66.6 20.3 60.8 78.4 53.7 70.9 13.9 81.5 72.0 68.3 64.4
SPECTER2, trained on RGN+PRX | 58.4 44.0 67.4 72.4 57.4 69.5 18.7 87.3 78.2 72.6 69.0
SPECTER2, trained on RGN+SRCH | 54.6 44.4 60.2 78.8 55.6 67.2 18.4 77.2 78.3 66.5 63.9
SPECTER2, trained on PRX+SRCH | 57.5 33.2 66.8 78.1 56.5 68.2 18.4 86.8 79.3 72.1 67.9
SPECTER2, trained on All | 67.5 44.8 67.0 78.3 62.4 71.7 19.3 87.2 79.7 73.1 70.4
""",
        ),
    ),
    "scirepeval-2022": (
        *_table(
            f"{P1}, Table 2",
            [("", name) for name in _FIRST_GROUPS],
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
        *_table(
            f"{P1}, Table 3",
            [("", name) for name in _FIRST_GROUPS],
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
        *_table(
            f"{P1}, Table 9",
            [*_FORMAT_COLUMNS[5:10], *_FORMAT_COLUMNS[:5], ("", "average")],
            """
SciNCL, trained on CLF | 56.8 15.4 70.0 77.5 54.1 68.2 21.3 59.3 71.1 52.7 64.6
SciNCL, trained on RGN | 56.6 21.4 68.1 74.1 54.4 53.2 45.0 55.2 68.7 53.7 59.8
SciNCL, trained on PRX | 55.4 19.6 73.7 84.5 57.6 57.8 32.1 67.2 73.2 55.3 68.6
SciNCL, trained on SRCH | 46.6 15.7 71.7 83.8 54.1 53.2 28.1 60.4 78.0 51.6 63.3
SciNCL, trained on CLF + RGN | 58.7 20.5 68.4 75.0 54.8 68.8 45.1 57.3 68.7 58.7 63.8
SciNCL, trained on CLF + PRX | 57.2 16.5 73.4 82.2 56.5 68.3 32.6 66.4 43.8 58.1 68.8
SciNCL, trained on CLF + SRCH | 58.8 17.2 71.6 83.5 56.6 67.7 31.0 59.9 78.4 56.5 66.3
SciNCL, trained on RGN + PRX | 51.8 20.9 73.5 78.2 56.1 50.4 44.3 67.1 71.7 56.5 67.7
SciNCL, trained on RGN + SRCH | 52.0 17.8 72.1 84.0 55.8 54.8 43.6 60.6 78.4 56.6 65.3
SciNCL, trained on PRX + SRCH | 53.2 17.8 73.8 85.1 56.8 57.9 32.1 66.6 78.2 55.9 68.3
SciNCL, trained on All | 58.9 18.2 73.4 84.7 57.7 66.7 44.3 66.9 78.5 62.1 70.3
""",
        ),
    ),
    "multi-scidocs": _table(
        f"{P4}, Table 1",
        [("cite", "MAP"), ("cite", "nDCG"), ("co-cite", "MAP"), ("co-cite", "nDCG")],
        """
SPECTER, trained on one domain | 78.14 88.06 65.97 73.46
Multi2SPE on SPECTER's triples, one domain | 81.57 90.12 69.12 75.97
SciNCL, trained on one domain | 82.45 90.56 69.94 76.62
Multi2SPE on SciNCL's triples, one domain | 83.25 91.05 71.10 77.51
SPECTER, trained on many domains | 79.30 88.73 68.59 75.60
Multi2SPE on SPECTER's triples, many domains | 84.08 91.54 71.79 78.15
SciNCL, trained on many domains | 85.18 92.15 73.02 79.08
Multi2SPE on SciNCL's triples, many domains | - 92.46 74.05 79.85
""",
    ),
    "asr": _table(
        "Singh and Singh 2022, Table 3 (on its own corpora; MRR in per cent)",
        [("Task I", "MRR"), ("Task I", "Success@100"), ("Task II", "MRR"), ("Task II", "Success@100")],
        _ASR,
    ),
}

"""SciMult: Zhang et al. 2023, Pre-training Multi-task Contrastive Learning Models for Scientific Literature Understanding.

The averages over several benchmarks are those of the suite `scimult`. Table 9 has how variants differ in them from SciMult-Vanilla. For
coarse classes Tables A4 and A5 print 75.51 and 76.28 where Table 4 has 75.54 and 76.31, which follow from its columns; both are stored.
"""

from __future__ import annotations

from .tables import Column, Columns, Table, columns

PAPER = "SciMult"
FINE, COARSE = "Classification (Fine)", "Classification (Coarse)"
RETRIEVAL, RERANKING = "Link Prediction (Retrieval)", "Link Prediction (Reranking)"
SEARCH = "Search"
"""What it averages, as its Tables A4 and A5 say it."""
RECALLS = ("R@20", "R@50", "R@100")
PATIENTS = ("MRR", "P@10", "nDCG@10", "R@1000")
FIELDS = ("CSConference", "ChemistryMeSH", "Geography", "Psychology")
LINKS = ("co-view", "co-read", "cite", "co-cite")
SEARCHES = ("Search", "TRECCOVID_SciRepEval", "TRECCOVID_BEIR", "SciFact", "NFCorpus")


def _labels(benchmark: str) -> Columns:
    return [*(column for field in FIELDS for column in columns(benchmark, field, *RECALLS)), Column(benchmark, "", "mean")]


def _average(name: str, system: str = "{}") -> Column:
    return Column("scimult", "", name, system)


def _ablation(number: str, system: str, without: str, lines: dict[str, str]) -> tuple[Table, ...]:
    """Averages of a model as it is, which other tables have but for that of coarse classes, and of one trained without something."""
    lacking = f"{system}, {without}"
    of_reports = {FINE: Column("maple", "", "mean", lacking), SEARCH: Column("scimult-search", "", "nDCG@10", lacking)}
    tables = []
    for name, cells in lines.items():
        printed = _average(name, f"{system}, as Table {number} prints it") if name == COARSE else None
        tables.append(Table(PAPER, number, [printed, _average(name, lacking)], f"{name} | {cells}"))
        if name in of_reports:
            tables.append(Table(PAPER, number, [None, of_reports[name]], f"{name} | {cells}"))
    return tuple(tables)


def _instructions(task: str) -> Columns:
    """One kind of link by each instruction; by that for citations, the model's own, it is in Table 7, too."""
    names = ("co-view", "co-read", None, "co-cite")
    return [Column("scidocs-rerank", task, "MAP", f"SciMult-Instruction, {name} instruction") if name else None for name in names]


def _instructed(name: str) -> Columns:
    """An average by each instruction; by that for citations it is in another table, too."""
    return [None, *(_average(name, f"SciMult-Instruction, {one} instruction") for one in ("co-cite", "related"))]


_LABELS = """
SciBERT | 42.01 42.84 43.87 30.53 31.46 32.15 52.04 54.53 58.11 43.07 44.02 45.22 43.32
SentBERT | 42.79 44.34 45.96 30.75 31.73 32.44 53.54 57.23 61.11 43.33 44.60 46.37 44.52
SPECTER | 47.38 53.18 58.43 34.26 39.35 43.41 59.12 65.33 70.75 47.07 51.30 56.17 52.15
PubMedBERT | 41.93 42.56 43.24 30.46 31.46 31.83 52.19 54.82 56.88 43.93 46.28 49.27 43.74
LinkBERT | 42.15 43.16 44.22 30.52 31.56 32.37 50.58 50.94 51.63 42.62 42.90 43.23 42.16
BioLinkBERT | 42.00 42.81 43.57 30.37 31.15 31.48 50.36 50.54 50.86 42.39 42.55 42.79 41.74
OAG-BERT | 42.59 43.79 44.93 30.58 31.97 32.62 51.44 52.25 53.16 42.63 42.95 43.30 42.68
SciNCL | 47.92 53.57 58.29 34.99 40.50 44.64 59.00 65.49 71.41 48.74 54.21 59.84 53.22
SPECTER 2.0 as SPECTER2 (proximity) | 48.63 55.09 60.68 36.17 43.06 48.26 62.87 70.30 76.37 50.60 58.27 65.66 56.33
SciMult-Vanilla | 53.40 64.70 74.09 39.78 51.31 59.75 62.08 70.65 77.79 50.42 56.58 63.17 60.31
SciMult-MHAExpert | 54.02 65.49 75.07 39.41 50.92 59.59 65.94 75.01 81.93 51.77 59.55 67.86 62.21
SciMult-FFNExpert | 53.73 63.79 72.46 38.01 48.76 57.43 61.90 70.69 78.81 50.09 56.94 64.28 59.74
SciMult-Prefix | 53.68 63.62 72.07 37.97 48.95 57.56 62.86 71.65 79.71 50.10 57.25 64.53 60.00
SciMult-Instruction | 53.78 63.99 72.72 38.81 50.12 58.96 63.26 71.74 79.52 50.86 58.47 66.46 60.72
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
SPECTER 2.0 as SPECTER2 (query + proximity) | 78.22 79.43 58.48 67.16 22.84 61.23
SciMult-Vanilla | 76.44 86.76 67.22 70.76 31.20 66.48
SciMult-MHAExpert | 76.33 86.29 71.18 70.67 30.79 67.05
SciMult-FFNExpert | 76.02 82.32 52.15 63.57 27.48 60.31
SciMult-Prefix | 76.55 82.83 68.15 70.70 30.02 65.65
SciMult-Instruction | 75.86 83.59 61.05 70.62 30.25 64.27
"""

TABLES = (
    Table(PAPER, "3", _labels("maple"), _LABELS),
    Table(PAPER, "3", [None] * 12 + [_average(FINE)], _LABELS),
    Table(
        PAPER,
        "4",
        [
            Column("scidocs-classes", "MAG", "macro-F1"),
            Column("scimult-coarse", "MAG", "macro-F1"),
            Column("scidocs-classes", "MeSH", "macro-F1"),
            Column("scimult-coarse", "MeSH", "macro-F1"),
            _average(COARSE),
        ],
        """
BM25 | - 23.54 - 14.84 -
SciBERT | 79.7 18.81 80.7 12.29 47.88
SentBERT | 80.5 38.76 69.1 9.07 49.36
SPECTER | 82.0 55.49 86.4 57.70 70.40
PubMedBERT | 77.44 10.67 81.46 1.14 42.68
LinkBERT | 77.51 14.00 64.75 1.75 39.50
BioLinkBERT | 76.28 7.37 85.50 1.20 42.59
OAG-BERT | 77.64 20.87 80.84 1.91 45.32
SciNCL | 81.4 60.02 88.7 58.67 72.20
SPECTER 2.0 as SPECTER2 (classification) | 82.66 60.00 89.40 66.03 74.52
SciMult-Vanilla | 81.31 65.63 88.92 66.29 75.54
SciMult-MHAExpert | 81.76 67.38 89.37 66.72 76.31
SciMult-FFNExpert | 82.25 69.26 88.07 63.57 75.79
SciMult-Prefix | 82.48 69.02 88.62 66.55 76.67
SciMult-Instruction | 82.63 69.79 88.71 63.82 76.24
""",
    ),
    Table(
        PAPER,
        "5",
        [
            *columns("scidocs-cite", "cite", *RECALLS),
            *columns("scidocs-cocite", "co-cite", *RECALLS),
            *columns("pmc-patients-zeroshot", "PPR", *RECALLS),
            _average(RETRIEVAL),
        ],
        """
BM25 | 17.81 24.76 30.49 24.19 31.98 38.03 42.20 48.68 53.75 34.65
SciBERT | 2.45 3.83 5.32 5.36 7.17 9.18 17.15 20.17 22.90 10.39
SentBERT | 5.45 8.29 11.13 9.19 12.65 15.93 8.20 10.46 12.52 10.42
SPECTER | 21.59 31.58 40.02 31.51 43.41 52.90 27.72 34.52 40.43 35.96
PubMedBERT | 4.42 6.46 8.43 8.42 11.21 13.77 21.42 24.48 27.18 13.98
LinkBERT | 2.38 3.47 4.60 5.02 6.33 7.69 11.77 13.66 15.45 7.82
BioLinkBERT | 3.41 5.01 6.63 6.93 9.14 11.24 21.28 24.66 27.48 12.86
OAG-BERT | 5.59 8.37 11.11 9.62 13.09 16.39 28.49 32.48 35.97 17.90
SciNCL | 24.91 36.57 46.25 34.84 48.50 58.77 31.65 39.30 45.84 40.74
SPECTER 2.0 as SPECTER2 (proximity) | 23.53 34.47 43.54 33.75 46.46 56.23 30.36 36.10 40.96 38.38
SciMult-Vanilla | 32.61 46.33 56.40 38.23 52.08 62.02 41.61 50.20 56.94 48.49
SciMult-MHAExpert | 34.81 49.31 59.71 39.82 54.16 64.50 42.33 51.25 58.25 50.46
SciMult-FFNExpert | 36.34 51.31 61.97 38.12 52.49 62.91 43.36 52.31 59.05 50.87
SciMult-Prefix | 34.18 49.27 60.52 37.70 52.21 62.85 43.54 52.28 59.00 50.17
SciMult-Instruction | 33.58 47.94 58.37 36.22 49.98 60.26 43.37 52.10 58.72 48.95
""",
    ),
    Table(
        PAPER,
        "6",
        columns("pmc-patients-par", "PAR", *PATIENTS),
        """
DPR (SciMult-MHAExpert) | 64.44 22.12 28.62 69.09
DPR (PubMedBERT) | 42.96 16.08 19.51 63.40
DPR (SPECTER) | 46.41 15.59 19.70 57.98
DPR (BioLinkBERT) | 40.89 15.33 18.47 62.44
BM25 | 48.22 9.97 15.28 30.64
Contriever | 15.03 3.41 4.62 16.74
SentBERT | 10.58 2.71 3.53 13.52
""",
        note="old release, 1.4M articles",
    ),
    Table(
        PAPER,
        "6",
        columns("pmc-patients-ppr", "PPR", *PATIENTS),
        """
DPR (SciMult-MHAExpert) | 25.35 6.65 22.39 83.78
BM25 | 22.86 4.67 18.29 69.66
DPR (BioLinkBERT) | 21.20 5.59 18.06 80.49
DPR (PubMedBERT) | 19.37 5.05 16.30 79.35
DPR (SPECTER) | 15.08 3.79 12.27 73.01
Contriever | 10.50 2.24 8.01 52.64
""",
        note="old release",
    ),
    Table(
        PAPER,
        "7",
        [
            *(column for link in LINKS for column in columns("scidocs-rerank", link, "MAP", "nDCG")),
            *columns("recommendation", "Recommendation", "nDCG@5", "nDCG@10", "nDCG"),
            _average(RERANKING),
        ],
        """
Citeomatic | 81.1 90.2 80.5 90.2 86.3 94.1 84.4 92.8 - - - -
Kanakia et al. as Kanakia et al. 2019 | - - - - - - - - 83.88 87.71 93.59 -
SciBERT | 50.7 73.1 47.7 71.1 48.3 71.7 49.7 72.6 77.17 82.49 90.86 66.86
SentBERT | 68.2 83.3 64.8 81.3 63.5 81.6 66.4 82.8 76.75 81.49 90.80 76.45
SPECTER | 83.6 91.5 84.5 92.4 88.3 94.9 88.1 94.8 83.38 87.39 93.64 89.32
PubMedBERT | 59.43 78.23 55.59 75.63 51.81 73.43 58.19 77.80 77.30 82.21 91.09 70.97
LinkBERT | 44.21 67.76 41.04 65.31 39.33 63.91 42.84 67.18 76.10 80.89 90.47 61.73
BioLinkBERT | 56.46 76.38 50.76 72.18 47.73 70.55 52.94 74.44 77.02 81.78 90.73 68.27
OAG-BERT | 64.61 81.50 60.13 78.65 57.35 77.60 62.47 80.92 76.73 82.12 90.96 73.91
SciNCL | 85.3 92.3 87.5 93.9 93.6 97.3 91.6 96.4 85.33 88.38 94.34 91.45
SPECTER 2.0 as SPECTER2 (proximity) | 85.18 92.27 86.95 93.53 92.23 96.84 91.13 96.28 86.03 89.12 94.59 91.29
SciMult-Vanilla | 83.99 91.68 86.66 93.67 91.37 96.26 91.50 96.45 87.32 89.32 94.88 91.19
SciMult-MHAExpert | 83.92 91.60 86.45 93.55 92.58 96.92 91.47 96.36 86.68 89.45 94.77 91.25
SciMult-FFNExpert | 83.23 91.26 85.61 93.20 93.77 97.42 90.39 95.94 85.75 88.45 94.29 90.85
SciMult-Prefix | 83.43 91.48 85.89 93.27 94.28 97.60 90.73 96.09 86.05 88.85 94.66 91.12
SciMult-Instruction | 82.13 90.88 84.14 92.36 92.63 96.91 89.27 95.43 86.49 88.81 94.51 90.32
""",
    ),
    Table(
        PAPER,
        "8",
        [*(Column("scimult-search", task, "nDCG@10") for task in SEARCHES), Column("scimult-search", "", "nDCG@10")],
        _SEARCH,
    ),
    Table(PAPER, "8", [None, None, Column("trec-covid", "test", "nDCG@10"), None, None, _average(SEARCH)], _SEARCH),
    Table(
        PAPER,
        "A3",
        _labels("maple-unmatched"),
        """
BM25 | 17.41 23.73 29.12 7.78 10.75 13.41 15.81 24.15 35.99 13.00 18.45 24.90 19.54
SciBERT | 0.84 1.98 3.63 0.77 1.58 2.71 3.73 8.05 14.08 1.72 3.48 5.84 4.03
SentBERT | 2.94 5.24 7.97 1.20 2.21 3.45 7.68 14.26 20.97 2.62 4.79 7.67 6.75
SPECTER | 16.28 24.50 32.60 11.80 17.94 23.88 18.12 28.02 37.36 15.18 23.46 32.24 23.45
PubMedBERT | 0.87 1.68 2.75 0.80 1.28 1.83 4.51 8.69 12.56 2.92 5.95 9.79 4.47
LinkBERT | 1.33 2.55 4.14 0.68 1.58 2.72 0.57 1.16 2.34 0.65 1.13 1.72 1.71
BioLinkBERT | 1.02 1.95 3.05 0.46 0.87 1.40 0.32 0.68 1.40 0.14 0.39 0.79 1.04
OAG-BERT | 2.61 4.24 6.09 1.72 2.68 3.74 1.96 3.22 4.75 0.79 1.31 1.97 2.92
SciNCL | 17.42 25.32 32.82 13.96 20.33 26.22 21.80 32.96 43.02 22.76 32.85 42.30 27.65
SPECTER 2.0 as SPECTER2 (proximity) | 20.90 30.21 38.87 18.72 27.08 34.41 31.61 45.26 56.85 26.27 38.85 50.21 34.94
SciMult-Vanilla | 31.52 46.04 58.61 26.96 39.63 50.37 32.20 46.96 59.12 30.02 40.48 50.31 42.69
SciMult-MHAExpert | 35.63 51.00 64.02 26.11 38.85 49.89 37.70 52.44 63.99 32.69 44.80 56.28 46.12
SciMult-FFNExpert | 38.43 52.66 64.89 22.83 34.93 46.05 26.35 41.37 55.03 27.95 40.05 51.23 41.81
SciMult-Prefix | 38.42 52.58 64.51 22.67 34.88 45.95 28.25 43.00 56.55 26.09 38.48 49.71 41.76
SciMult-Instruction | 38.47 52.88 65.10 24.36 36.91 48.19 29.55 43.91 57.40 28.80 41.71 53.66 43.41
""",
    ),
    *_ablation(
        "A4",
        "SciMult-Vanilla",
        "no hard negatives in training",
        {FINE: "60.31 59.89", COARSE: "75.51 77.44", RETRIEVAL: "48.49 45.90", RERANKING: "91.19 90.88", SEARCH: "66.48 65.87"},
    ),
    *_ablation(
        "A5",
        "SciMult-MHAExpert",
        "no warm-up in training",
        {FINE: "62.21 59.98", COARSE: "76.28 76.08", RETRIEVAL: "50.46 47.59", RERANKING: "91.25 90.89", SEARCH: "67.05 62.34"},
    ),
    Table(PAPER, "A6", _instructions("co-view"), "Co-view Prediction | 81.16 81.47 82.13 82.08"),
    Table(PAPER, "A6", _instructions("co-read"), "Co-read Prediction | 83.38 83.63 84.14 84.29"),
    Table(PAPER, "A6", _instructions("cite"), "Cite Prediction | 92.47 92.78 92.63 93.11"),
    Table(PAPER, "A6", _instructions("co-cite"), "Co-cite Prediction | 87.49 88.05 89.27 88.83"),
    Table(PAPER, "A7", _instructed(RETRIEVAL), f"{RETRIEVAL} | 48.95 49.35 49.28"),
    Table(PAPER, "A7", _instructed(RERANKING), f"{RERANKING} | 90.32 90.31 90.35"),
    Table(
        PAPER,
        "A8",
        columns("maple-names", "CSConference", *RECALLS),
        """
SPECTER 2.0 (Name Only) as SPECTER2 (proximity) | 48.14 53.93 58.98
SciMult-MHAExpert (Name Only) as SciMult-MHAExpert | 52.57 61.27 67.84
""",
    ),
    Table(
        PAPER,
        "A8",
        columns("maple-names", "ChemistryMeSH", *RECALLS),
        """
SPECTER 2.0 (Name Only) as SPECTER2 (proximity) | 35.73 42.19 46.96
SciMult-MHAExpert (Name Only) as SciMult-MHAExpert | 37.83 46.47 52.59
""",
    ),
)

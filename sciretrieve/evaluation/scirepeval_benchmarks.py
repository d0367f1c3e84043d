"""SciRepEval's tasks (Singh et al. 2023), one benchmark each, in the order of its Table 1; the last three are of its first version.

All together they are a suite, `scirepeval`, and the first version's are another.
"""

from __future__ import annotations

from ..encoders.specs import Kind
from .benchmark_specs import Benchmark, Figure, HubFiles, Suite
from .material import FewShot, Label, Protocol
from .readers import s2and, scirepeval, scirepeval_labels

TEXTS, LABELS = "allenai/scirepeval", "allenai/scirepeval_test"
SOURCE = f"Singh et al. 2023 (SciRepEval); hub data sets {TEXTS} and {LABELS}"
LICENCE = "ODC-By (SciRepEval); texts are Semantic Scholar's"
SOLVER_NOTE = (
    "Fitted by scikit-learn's LinearSVC and LinearSVR, as the authors' code is today; the published figures were made with those of "
    "sklearn-contrib-lightning, and differ a little."
)
S2AND_SIZES = "S2AND-mini: six data sets of at most 1,000 blocks"
S2AND_FILES = (
    f"DATASET/DATASET_{{signatures,clusters,papers}}.json, blocks/block_sigs_DATASET.json (DATASET is one of {', '.join(s2and.DATASETS)})"
)
S2AND_SOURCE = "Subramanian et al. 2021 (S2AND), as S2AND-mini in Singh et al. 2023 (SciRepEval), App. A.2"
S2AND_MANUAL = "aws s3 --no-sign-request sync s3://ai2-s2-research-public/scirepeval/test/s2and DIR"
S2AND_STATE = "d480c38d798fbfa3e73b786006b7eabecf243bd7"
"""S2AND's code as of 30 January 2023, when the authors of SciRepEval put the script there that they run (scirepeval, issue 38)."""
FEEDS_MANUAL = "The authors' data sets no longer have the feeds; if you have them, lay out their folder like those of the other sets."


def _predicted(
    name: str,
    configuration: str,
    task: str,
    sizes: str,
    label: Label,
    measure: str,
    few_shot: tuple[FewShot, ...] = (),
    texts: str = "",
) -> Benchmark:
    """A task of classification or regression; `texts` is the folder of its papers, if another task has them, too."""
    texts = texts or configuration
    return Benchmark(
        name=name,
        task=task,
        kind="regression" if label == "number" else "classification",
        sizes=sizes,
        protocol=Protocol((measure,), rounding="numpy", skips=True, average="tasks" if few_shot else "none", bare_titles=True),
        files=f"{texts}/evaluation*, {configuration}/train*, {configuration}/test* (Parquet; or evaluation.jsonl, train.csv, test.csv)",
        source=SOURCE,
        licence=LICENCE,
        load=lambda folder, split: [scirepeval_labels.load(folder, texts, configuration, name, label, measure, few_shot)],  # noqa: ARG005
        hub=(HubFiles(TEXTS, texts, "evaluation-"), HubFiles(LABELS, configuration, "train-"), HubFiles(LABELS, configuration, "test-")),
        note=SOLVER_NOTE,
    )


def _ranked(
    name: str, configuration: str, task: str, kind: Kind, sizes: str, measure: str, extra: tuple[str, ...] = (), manual: str = ""
) -> Benchmark:
    """A task of re-ranking; `extra` are fields read after the abstract, and `manual` says how to get files that the hub lacks."""
    return Benchmark(
        name=name,
        task=task,
        kind=kind,
        sizes=sizes,
        protocol=Protocol((measure,), metric="l2", rounding="numpy", skips=True, bare_titles=True),
        files=f"{configuration}/evaluation*, {configuration}/test* (Parquet; or evaluation.jsonl, test_qrel.jsonl)",
        source=SOURCE,
        licence=LICENCE,
        load=lambda folder, split: [scirepeval.load(folder, configuration, name, extra=extra)],  # noqa: ARG005
        hub=() if manual else (HubFiles(TEXTS, configuration, "evaluation-"), HubFiles(LABELS, configuration, "test-")),
        manual=manual,
    )


ROWS = (
    _predicted("mesh-descriptors", "mesh_descriptors", "which of 30 MeSH descriptors a paper has", "258,687 papers", "class", "macro-F1"),
    _predicted(
        "fields-of-study",
        "fos",
        "which of 23 fields a paper belongs to, one or more",
        "471 papers labelled by hand, silver labels to learn from",
        "classes",
        "macro-F1",
        (FewShot(10, 50), FewShot(5, 100)),
    ),
    _predicted("citation-count", "cite_count", "how often a paper is cited, as a logarithm", "30,058 papers", "number", "tau"),
    _predicted("publication-year", "pub_year", "the year of a paper", "30,000 papers", "number", "tau"),
    _ranked("same-author", "same_author", "papers by the same author, re-ranked", "proximity", "13,585 queries, 123,430 pairs", "MAP"),
    _ranked(
        "high-influence-citations",
        "high_influence_cite",
        "papers cited four times or more, re-ranked",
        "proximity",
        "1,199 queries, 58,255 pairs (54,255 in an earlier paper)",
        "MAP",
    ),
    _ranked(
        "scirepeval-search",
        "search",
        "clicked papers of real searches, re-ranked",
        "search",
        "2,585 queries, 25,850 pairs (SciMult's copy, in scimult-search, has 2,637 queries)",
        "nDCG",
        ("venue", "year"),
    ),
    _predicted(
        "biomimicry",
        "biomimicry",
        "whether a paper is about biomimicry",
        "10,991 papers",
        "class",
        "F1",
        (FewShot(64, 50), FewShot(16, 100)),
    ),
    _predicted(
        "drsm",
        "drsm",
        "which of six aspects of rare diseases a paper deals with",
        "7,520 papers with silver labels, 955 with gold ones",
        "class",
        "macro-F1",
        (FewShot(64, 50), FewShot(24, 100)),
    ),
    _predicted(
        "scidocs-mag",
        "scidocs_mag",
        "the field of a paper (Microsoft Academic Graph)",
        "25,001 papers",
        "class",
        "macro-F1",
        texts="scidocs_mag_mesh",
    ),
    _predicted(
        "scidocs-mesh",
        "scidocs_mesh",
        "the disease that a paper is about (MeSH)",
        "23,473 papers",
        "class",
        "macro-F1",
        texts="scidocs_mag_mesh",
    ),
    _predicted(
        "peer-review-score",
        "peer_review_score",
        "the mean rating of a submission to ICLR by its reviewers",
        "10,210 papers",
        "number",
        "tau",
        texts="peer_review_score_hIndex",
    ),
    _predicted(
        "max-h-index",
        "hIndex",
        "the greatest h-index among a paper's authors",
        "8,438 papers",
        "number",
        "tau",
        texts="peer_review_score_hIndex",
    ),
    _predicted("tweet-mentions", "tweet_mentions", "how often a paper is mentioned on Twitter", "25,655 papers", "number", "tau"),
    Benchmark(
        name="reviewer-matching",
        task="reviewers for a paper, by their own papers",
        kind="proximity",
        sizes="107 queries, 1,729 pairs",
        whole={"": {"queries": 107}},
        protocol=Protocol(("P@5", "P@10"), metric="cosine", rounding="numpy", average="figures", bare_titles=True),
        files="paper_reviewer_matching/{evaluation,test_hard,test_soft}*, reviewers/*metadata* (Parquet; or evaluation.jsonl, "
        "test_hard_qrel.jsonl, test_soft_qrel.jsonl, reviewer_metadata.jsonl)",
        source=f"{SOURCE}, App. A",
        licence=LICENCE,
        load=lambda folder, split: [scirepeval.load_reviewers(folder, "reviewer-matching")],  # noqa: ARG005
        hub=(
            HubFiles(TEXTS, "paper_reviewer_matching", "evaluation-"),
            HubFiles(LABELS, "paper_reviewer_matching", "test_"),
            HubFiles(LABELS, "reviewers", "metadata-"),
        ),
    ),
    Benchmark(
        name="s2and",
        task="authors of one name, told apart by S2AND's own code from names, metadata and the papers' vectors",
        kind="proximity",
        sizes=S2AND_SIZES,
        protocol=Protocol(("B3 F1",), metric="cosine", rounding="numpy", average="tasks", bare_titles=True),
        files=S2AND_FILES,
        source=S2AND_SOURCE,
        licence=LICENCE,
        load=lambda folder, split: [s2and.load_for_s2and(folder, dataset, "s2and") for dataset in s2and.DATASETS],  # noqa: ARG005
        manual=f"{S2AND_MANUAL}; and S2AND's own code, in an environment of its own, with Python 3.7: git clone "
        f"https://github.com/allenai/S2AND && cd S2AND && git checkout {S2AND_STATE} && pip install -r requirements.in && pip install -e .",
        note="The mean is over all values of S2AND's table: a column for each data set, a row for what was learnt from each of them, one "
        "for the five others together (union), and one of Semantic Scholar's own clusters (s2), which are the same for all systems.",
    ),
    Benchmark(
        name="s2and-vectors",
        task="authors of one name, told apart by their papers' vectors alone: our own variant of S2AND, not the authors'",
        kind="proximity",
        sizes=S2AND_SIZES,
        protocol=Protocol(("B3 F1",), metric="cosine", rounding="numpy", average="tasks", bare_titles=True),
        files=S2AND_FILES,
        source=f"{S2AND_SOURCE}; in our own variant",
        licence=LICENCE,
        load=lambda folder, split: [s2and.load(folder, dataset, "s2and-vectors") for dataset in s2and.DATASETS],  # noqa: ARG005
        manual=S2AND_MANUAL,
        note="No published figure compares: S2AND's own code also learns from authors' names and papers' metadata.",
    ),
    _ranked("relish", "relish", "papers judged similar to a paper, re-ranked", "proximity", "3,190 queries, 191,245 pairs", "nDCG"),
    Benchmark(
        name="scidocs-scirepeval",
        task="papers cited, co-cited, co-read or co-viewed, ranked among 30 candidates, by SciRepEval's protocol",
        kind="proximity",
        sizes="4 × 1,000 queries, about 30 candidates each",
        whole={"": {"queries": 1000, "pairs": 29_928}},
        protocol=Protocol(("MAP", "nDCG"), metric="l2", rounding="numpy", skips=True, bare_titles=True),
        files="scidocs_view_cite_read/evaluation*, scidocs_{view,read,cite,cocite}/test* (Parquet; or evaluation.jsonl, test_qrel.jsonl)",
        source=SOURCE,
        licence=LICENCE,
        load=lambda folder, split: [scirepeval.load_scidocs(folder, "scidocs-scirepeval")],  # noqa: ARG005
        hub=(
            HubFiles(TEXTS, scirepeval.SCIDOCS_TEXTS, "evaluation-"),
            *(HubFiles(LABELS, configuration, "test-") for configuration in scirepeval.SCIDOCS_TASKS.values()),
        ),
        note="As scidocs-rerank, but distances are not rounded, papers are joined as by SciRepEval, and files are the hub's.",
    ),
    _ranked(
        "nfcorpus-scirepeval",
        "nfcorpus",
        "NFCorpus's judged papers and random ones, re-ranked",
        "search",
        "323 queries, 44,634 pairs",
        "nDCG",
    ),
    _ranked("trec-covid-scirepeval", "trec_covid", "TREC-COVID's judged papers, re-ranked", "search", "50 queries, 69,318 pairs", "nDCG"),
    _ranked(
        "feeds-1",
        "feeds_1",
        "papers that a reader took into a feed, ranked by its first paper",
        "proximity",
        "423 queries, 4,223 pairs",
        "MAP",
        manual=FEEDS_MANUAL,
    ),
    _ranked(
        "feeds-m",
        "feeds_m",
        "papers that a reader took into a feed later, ranked by each earlier one",
        "proximity",
        "9,025 queries, 87,528 pairs",
        "MAP",
        manual=FEEDS_MANUAL,
    ),
    _ranked(
        "feeds-title",
        "feeds_title",
        "papers that a reader took into a feed, ranked by its title",
        "search",
        "424 queries, 4,233 pairs",
        "MAP",
        manual=FEEDS_MANUAL,
    ),
)

IN_TRAIN = (
    Figure("MeSH Descriptors", "CLF", "in-train", "mesh-descriptors", "macro-F1"),
    Figure("Fields of Study", "CLF", "in-train", "fields-of-study", "macro-F1"),
    Figure("Citation Count", "RGN", "in-train", "citation-count", "tau"),
    Figure("Year of Publication", "RGN", "in-train", "publication-year", "tau"),
    Figure("Same Author Detection", "PRX", "in-train", "same-author", "MAP"),
    Figure("Highly Influential Citations", "PRX", "in-train", "high-influence-citations", "MAP"),
    Figure("Search", "SRCH", "in-train", "scirepeval-search", "nDCG"),
)
"""The tasks that the authors' models were trained on. They count eight, with Citation Prediction, which is for training only."""
OUT_OF_TRAIN = (
    Figure("Biomimicry", "CLF", "out-of-train", "biomimicry", "F1"),
    Figure("DRSM", "CLF", "out-of-train", "drsm", "macro-F1"),
    Figure("Peer Review Score", "RGN", "out-of-train", "peer-review-score", "tau"),
    Figure("h-Index of Authors", "RGN", "out-of-train", "max-h-index", "tau"),
    Figure("Tweet Mentions", "RGN", "out-of-train", "tweet-mentions", "tau"),
    Figure("S2AND", "PRX", "out-of-train", "s2and", "B3 F1"),
    Figure("Paper-Reviewer Matching", "PRX", "out-of-train", "reviewer-matching", "mean"),
)
"""Those of both versions that it was not trained on, without SciDocs."""


def _scidocs(group: str) -> tuple[Figure, ...]:
    """SciDocs's six tasks. MAP and nDCG of its rankings count as one figure each."""
    ranked = (("CoView", "co-view"), ("CoRead", "co-read"), ("Cite", "cite"), ("CoCite", "co-cite"))
    return (
        Figure("SciDocs MAG", "CLF", group, "scidocs-mag", "macro-F1"),
        Figure("SciDocs MeSH Diseases", "CLF", group, "scidocs-mesh", "macro-F1"),
        *(
            Figure(f"SciDocs {name}", "PRX", group, "scidocs-scirepeval", measure, task)
            for name, task in ranked
            for measure in ("MAP", "nDCG")
        ),
    )


SUITES = (
    Suite(
        "scirepeval",
        "the 24 tasks of SciRepEval, and their averages",
        "Singh et al. 2023 (SciRepEval, EMNLP), Tables 2, 7, 8 and 11",
        (
            *IN_TRAIN,
            *OUT_OF_TRAIN,
            Figure("RELISH", "PRX", "out-of-train", "relish", "nDCG"),
            *_scidocs("out-of-train"),
            Figure("NFCorpus", "SRCH", "out-of-train", "nfcorpus-scirepeval", "nDCG"),
            Figure("TREC-CoVID", "SRCH", "out-of-train", "trec-covid-scirepeval", "nDCG"),
        ),
        apart="S2AND",  # as in Table 7
        decimals=1,
    ),
    Suite(
        "scirepeval-2022",
        "the 25 tasks of SciRepEval's first version, and their averages",
        "the first version of Singh et al. 2023 (SciRepEval, under review at ICLR 2023), Tables 2, 3, 7 and 9",
        (
            *IN_TRAIN,
            *OUT_OF_TRAIN,
            Figure("Feeds-1", "PRX", "out-of-train", "feeds-1", "MAP"),
            Figure("Feeds-M", "PRX", "out-of-train", "feeds-m", "MAP"),
            Figure("Feeds Title", "SRCH", "out-of-train", "feeds-title", "MAP"),
            Figure("TREC-CoVID", "SRCH", "out-of-train", "trec-covid-scirepeval", "nDCG"),
            *_scidocs("SciDocs"),
        ),
        apart="S2AND",
        decimals=1,
    ),
)

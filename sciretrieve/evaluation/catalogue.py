"""The benchmarks: what each is, how its authors score, which files it needs and where to get them. All data, except `load`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ..encoders.specs import Kind
from ..errors import InvalidRequest, UnknownName
from .material import Material, Protocol
from .readers import asr, beir, mdcr, pmc_patients, scidocs, scimult, scirepeval

RECALLS = ("R@20", "R@50", "R@100")
SCIMULT_HOME = "https://github.com/yuzhimanhua/SciMult"
SCIMULT_MANUAL = (
    "Download the archive that the README of https://github.com/yuzhimanhua/SciMult links (Google Drive, file "
    "1hoUAInDVO_UYnQiOOoVuBjwnVgY0BosO) and unpack it; give the folder as --data."
)
SCIREPEVAL_LICENCE = "ODC-By (SciRepEval); texts are Semantic Scholar's"
BEIR_SETS = (
    *("arguana", "climate-fever", "cqadupstack", "dbpedia-entity", "fever", "fiqa", "hotpotqa", "msmarco", "nfcorpus", "nq", "quora"),
    *("scidocs", "scifact", "webis-touche2020"),
)
"""Sets that BEIR publishes, each a directory for `beir:DIR` (Thakur et al. 2021, Table 1, and BEIR's README)."""
BEIR_ZIP = "https://public.ukp.informatik.tu-darmstadt.de/thakur/BEIR/datasets/{}.zip"
Load = Callable[[Path, str], Sequence[Material]]
"""From a folder and a split to the benchmark's sets."""


@dataclass(frozen=True, slots=True)
class Download:
    """One file to fetch: its address, its name in the folder, and its published checksum or size, if there is one."""

    url: str
    name: str
    md5: str = ""
    bytes: int = 0


@dataclass(frozen=True, slots=True)
class Benchmark:
    """One benchmark.

    Attributes:
        name: its name for `evaluate`.
        task: the task, in one line.
        kind: selects the encoder's task for reading papers and queries, unless another is requested.
        sizes: queries and candidates, as published.
        protocol: how it is scored.
        files: what the folder holds, for people.
        source: the paper, and where the data come from.
        licence: as the source states it.
        load: reads it.
        splits: the splits, the default first.
        downloads: the files for `benchmarks fetch`.
        manual: what must be done by hand, if anything.
        note: what to know before comparing.
    """

    name: str
    task: str
    kind: Kind
    sizes: str
    protocol: Protocol
    files: str
    source: str
    licence: str
    load: Load
    splits: tuple[str, ...] = ("test",)
    downloads: tuple[Download, ...] = ()
    manual: str = ""
    note: str = ""


def _scirepeval(name: str, configuration: str, task: str, kind: Kind, sizes: str, measure: str, extra: tuple[str, ...] = ()) -> Benchmark:
    """One of SciRepEval's re-ranking sets."""
    base = "https://huggingface.co/datasets/allenai/{}/resolve/main/" + configuration
    return Benchmark(
        name=name,
        task=task,
        kind=kind,
        sizes=sizes,
        protocol=Protocol((measure,), metric="l2", rounding="numpy", skips=True, bare_titles=True),
        files=f"{configuration}/evaluation*.parquet (or .jsonl) and {configuration}/test*.parquet or test_qrel.jsonl",
        source="Singh et al. 2023 (SciRepEval); hub data sets allenai/scirepeval and allenai/scirepeval_test",
        licence=SCIREPEVAL_LICENCE,
        load=lambda folder, split: [scirepeval.load(folder, configuration, name, extra=extra)],  # noqa: ARG005
        downloads=(
            Download(
                f"{base.format('scirepeval')}/evaluation-00000-of-00001.parquet", f"{configuration}/evaluation-00000-of-00001.parquet"
            ),
            Download(f"{base.format('scirepeval_test')}/test-00000-of-00001.parquet", f"{configuration}/test-00000-of-00001.parquet"),
        ),
    )


def _link(name: str, task: str, sizes: str) -> Benchmark:
    return Benchmark(
        name=name,
        task=f"{'citations' if task == 'cite' else 'co-citations'} of a paper among all papers of SciDocs",
        kind="proximity",
        sizes=sizes,
        protocol=Protocol(RECALLS, metric="ip", depth=100),
        files="link_prediction_retrieval/SciDocs_papers_test.json",
        source=f"Zhang et al. 2023 (SciMult), §4.3 and Table 5; {SCIMULT_HOME}",
        licence="as SciDocs (Semantic Scholar); see the source",
        load=lambda folder, split: [scimult.load_links(folder, task, name)],  # noqa: ARG005
        manual=SCIMULT_MANUAL,
        note="The query paper stays among the candidates. SciMult scores its own models by inner product, its baselines by cosine.",
    )


def _pmc(name: str, task: str, sizes: str) -> Benchmark:
    return Benchmark(
        name=name,
        task=f"{'articles' if task == 'PAR' else 'patients'} for a patient's summary",
        kind="proximity",  # both are links between documents (SciMult, Table 2)
        sizes=sizes,
        protocol=Protocol(("MRR", "P@10", "nDCG@10", "R@1000"), rounding="beir", skips=True, drop_self=True, depth=10_000, beir_mrr=True),
        files=f"queries/SPLIT_queries.jsonl, {task}/{task}_corpus.jsonl, {task}/{task}_SPLIT_qrels.tsv (or corpus.jsonl, qrels_SPLIT.tsv)",
        source="Zhao et al. 2023 (PMC-Patients), ReCDS; https://huggingface.co/datasets/zhengyun21/PMC-Patients-ReCDS",
        licence="CC BY-NC-SA 4.0",
        load=lambda folder, split: [pmc_patients.load(folder, task, split, name)],
        splits=("test", "dev", "train"),
        downloads=tuple(
            Download(f"https://huggingface.co/datasets/zhengyun21/PMC-Patients-ReCDS/resolve/main/{path}", path)
            for path in ("queries/test_queries.jsonl", f"{task}/qrels_test.tsv", *((f"{task}/corpus.jsonl",) if task == "PPR" else ()))
        ),
        manual="PAR/corpus.jsonl is no longer on the hub: take PAR_corpus.jsonl from Figshare, article 24504121." if task == "PAR" else "",
        note="The published rows are of the old release (1.4M articles); today's has 11.7M, and figures on it do not compare."
        if task == "PAR"
        else "",
    )


def _maple(name: str, how: str, table: str, *, by_name: bool) -> Benchmark:
    matched_suffix = ",matched" if by_name else ""
    return Benchmark(
        name=name,
        task=f"fine-grained labels of a paper, retrieved by their names and definitions; {how}",
        kind="classification",
        sizes="four fields, of which CSConference has 261,781 queries and 15,808 labels",
        protocol=Protocol(RECALLS, metric="ip", depth=100, average="figures"),
        files=f"classification_fine/{{CSConference,ChemistryMeSH,Geography,Psychology}}_{{label,papers_test{matched_suffix}}}.json",
        source=f"Zhang et al. 2023 (SciMult), {table}; {SCIMULT_HOME}",
        licence="see the source (MAPLE: ODC-By)",
        load=lambda folder, split: [scimult.load_labels(folder, field, name, by_name=by_name) for field in scimult.MAPLE_SETS],  # noqa: ARG005
        manual=SCIMULT_MANUAL,
    )


MDCR_DOWNLOADS = tuple(
    Download(f"https://takelab.fer.hr/data/mdcr/{name}", name)
    for name in ("mdcr_test.json", "mdcr_test_data.jsonl", "mdcr_val.json", "mdcr_val_data.jsonl")
)


ROWS = (
    _link("scidocs-cite", "cite", "92,214 queries, 142,009 candidates"),
    _link("scidocs-cocite", "co-cite", "54,543 queries, 142,009 candidates"),
    Benchmark(
        name="scidocs-rerank",
        task="papers cited, co-cited, co-read or co-viewed, ranked among 30 candidates",
        kind="proximity",
        sizes="4 × 1,000 queries, about 30 candidates each",
        protocol=Protocol(("MAP", "nDCG"), metric="l2", score_decimals=5, rounding="numpy", skips=True),
        files="{cite,cocite,coread,coview}/SPLIT.qrel, paper_metadata_view_cite_read.json",
        source="Cohan et al. 2020 (SPECTER); https://github.com/allenai/scidocs",
        licence="see the source",
        load=lambda folder, split: [scidocs.load(folder, split, "scidocs-rerank")],
        splits=("test", "val"),
        manual="aws s3 sync --no-sign-request s3://ai2-s2-research-public/specter/scidocs/ DIR --region us-west-2   (4.6 GiB)",
    ),
    _pmc("pmc-patients-par", "PAR", "5,959 queries; 1.4M articles (old release), 11.7M (current)"),
    _pmc("pmc-patients-ppr", "PPR", "2,812 queries, 155,151 patients"),
    Benchmark(
        name="pmc-patients-zeroshot",
        task="similar patients, without training on them",
        kind="proximity",
        sizes="100,327 queries, 155,151 patients",
        protocol=Protocol(RECALLS, metric="ip", depth=100),
        files="link_prediction_retrieval/PMCPatientsPPR_{patients,queries}_test.json",
        source=f"Zhang et al. 2023 (SciMult), Table 5; {SCIMULT_HOME}",
        licence="CC BY-NC-SA 4.0 (PMC-Patients)",
        load=lambda folder, split: [scimult.load_patients(folder, "pmc-patients-zeroshot")],  # noqa: ARG005
        manual=SCIMULT_MANUAL,
        note="The query patient, if among the candidates, stays there.",
    ),
    Benchmark(
        name="mdcr",
        task="papers that a paper cites, among 60 hard candidates, in 19 fields",
        kind="proximity",
        sizes="19 fields, about 200 queries each, about 60 candidates each",
        protocol=Protocol(("MAP", "nDCG", "R@5"), metric="l2", decimals=4, rounding="numpy", average="rounded tasks"),
        files="mdcr_SPLIT.json; mdcr_SPLIT_data.jsonl, not needed with --scores and --embeddings",
        source="Medić and Šnajder 2022; https://github.com/zoranmedic/mdcr",
        licence="see the source",
        load=lambda folder, split: [mdcr.load(folder, split, "mdcr")],
        splits=("test", "val"),
        downloads=MDCR_DOWNLOADS,
        note="BM25, SPECTER and SciNCL chose some of the candidates, so they are at a disadvantage by construction.",
    ),
    Benchmark(
        name="mdcr-full",
        task="papers that a paper cites, among all papers of MDCR's data file: our own variant, not the authors'",
        kind="proximity",
        sizes="as mdcr; candidates are all papers of the file",
        protocol=Protocol((*RECALLS, "nDCG@10"), depth=100, average="tasks"),
        files="mdcr_SPLIT.json, mdcr_SPLIT_data.jsonl",
        source="Medić and Šnajder 2022, in our own variant",
        licence="see the source",
        load=lambda folder, split: [mdcr.load(folder, split, "mdcr-full", whole_corpus=True)],
        splits=("test", "val"),
        downloads=MDCR_DOWNLOADS,
        note="No published figure compares: this form is ours. The query paper stays among the candidates.",
    ),
    Benchmark(
        name="trec-covid",
        task="papers on 50 questions about COVID-19, whole corpus",
        kind="search",
        sizes="50 queries, 171,332 papers",
        protocol=Protocol(("nDCG@10", "R_cap@100"), rounding="beir", drop_self=True, beir_mrr=True),
        files="corpus.jsonl, queries.jsonl, qrels/test.tsv",
        source="Voorhees et al. 2021, in BEIR (Thakur et al. 2021)",
        licence="see the source (CORD-19)",
        load=lambda folder, split: [beir.load(folder, split, "trec-covid")],
        downloads=(Download(BEIR_ZIP.format("trec-covid"), "trec-covid.zip", "ce62140cb23feb9becf6270d0d1fe6d1"),),
    ),
    _scirepeval(
        "trec-covid-scirepeval", "trec_covid", "TREC-COVID's judged papers, re-ranked", "search", "50 queries, 69,318 pairs", "nDCG"
    ),
    _scirepeval(
        "scirepeval-search",
        "search",
        "clicked papers of real searches, re-ranked",
        "search",
        "2,585 queries (SciRepEval, Table 1) or 2,637 (SciMult, Table A2), 10 candidates each",
        "nDCG",
        ("venue", "year"),
    ),
    _scirepeval(
        "nfcorpus-scirepeval",
        "nfcorpus",
        "NFCorpus's judged papers and random ones, re-ranked",
        "search",
        "323 queries, 44,634 pairs",
        "nDCG",
    ),
    _scirepeval("relish", "relish", "papers judged similar to a paper, re-ranked", "proximity", "3,190 queries, 191,245 pairs", "nDCG"),
    _scirepeval("same-author", "same_author", "papers by the same author, re-ranked", "proximity", "13,585 queries, 123,430 pairs", "MAP"),
    _scirepeval(
        "high-influence-citations",
        "high_influence_cite",
        "papers cited four times or more, re-ranked",
        "proximity",
        "1,199 queries, 58,255 pairs",
        "MAP",
    ),
    Benchmark(
        name="reviewer-matching",
        task="reviewers for a paper, by their own papers",
        kind="proximity",
        sizes="107 queries, 1,729 pairs",
        protocol=Protocol(("P@5", "P@10"), metric="cosine", rounding="numpy", average="figures", bare_titles=True),
        files="evaluation*.parquet (texts), reviewer_metadata.jsonl, test_hard_qrel.jsonl, test_soft_qrel.jsonl",
        source="Singh et al. 2023 (SciRepEval), App. A",
        licence=SCIREPEVAL_LICENCE,
        load=lambda folder, split: [scirepeval.load_reviewers(folder, "reviewer-matching")],  # noqa: ARG005
        manual="aws s3 --no-sign-request sync s3://ai2-s2-research-public/scirepeval/test/paper_reviewer_matching DIR",
    ),
    Benchmark(
        name="scimult-search",
        task="papers for a query: SciMult's five search sets, two re-ranked and three over their whole corpus",
        kind="search",
        sizes="Search 2,637, TREC-COVID 50 (twice), SciFact 1,109, NFCorpus 3,237 queries",
        protocol=Protocol(("nDCG@10",), metric="ip", depth=100, average="tasks"),
        files="search/{Search,TRECCOVID_SciRepEval,TRECCOVID_BEIR,SciFact,NFCorpus}_{papers,queries}_test.json",
        source=f"Zhang et al. 2023 (SciMult), Table 8; {SCIMULT_HOME}",
        licence="see the source",
        load=lambda folder, split: [scimult.load_search(folder, name, "scimult-search") for name in scimult.SEARCH_SETS],  # noqa: ARG005
        manual=SCIMULT_MANUAL,
        note="SciFact and NFCorpus hold the queries of all splits, so figures differ from BEIR's.",
    ),
    _maple("maple", "labels whose name occurs in the paper come first", "Table 3", by_name=True),
    _maple("maple-unmatched", "ranked by their vectors alone", "Table A3", by_name=False),
    Benchmark(
        name="asr",
        task="a paper's title and abstract, found by its title (Task I), also among all titles (Task II)",
        kind="proximity",
        sizes="1,000 titles of any corpus",
        protocol=Protocol(("MRR", "Success@100", "Success@1", "Success@10"), metric="cosine", drop_self=True, depth=10_000),
        files="any corpus that `sciretrieve index` reads",
        source="Singh and Singh 2022, The Inefficiency of Language Models in Scholarly Retrieval, §5 and App. D.1",
        licence="your corpus's",
        load=lambda folder, split: [asr.load(folder)],  # noqa: ARG005
        note="Success@100 is the paper's T100, Success@1 and @10 its NN1_Ret and NN10_Ret; ranks beyond 10,000 count 0.",
    ),
    Benchmark(
        name="multi-scidocs",
        task="cited and co-cited papers over many fields, among 500 negatives",
        kind="proximity",
        sizes="up to 5 positives and 500 negatives a query",
        protocol=Protocol(("MAP", "nDCG"), metric="l2", score_decimals=5, rounding="numpy", skips=True),
        files="{cite,cocite}/SPLIT.qrel, paper_metadata.json",
        source="Seoh et al. 2023 (Multi2SPE), §3; https://github.com/ronaldseoh/multi2spe",
        licence="see the source",
        load=lambda folder, split: [scidocs.load(folder, split, "multi-scidocs", ("cite", "cocite"))],
        splits=("test", "val"),
        manual="Build it with the code of https://github.com/ronaldseoh/multi2spe, or ask its authors.",
        note="The published rows of Multi2SPE use its inner product on training, and the SciDocs code's distance here.",
    ),
)
CATALOGUE: Mapping[str, Benchmark] = {row.name: row for row in ROWS}


def find_benchmark(name: str) -> Benchmark:
    """The benchmark called `name`; `beir:DIR` is any BEIR directory. Raises UnknownName."""
    if name.startswith("beir:"):
        folder = name.removeprefix("beir:")
        if not folder:
            raise InvalidRequest("beir: needs a directory, as in beir:data/scifact")
        return replace(
            CATALOGUE["trec-covid"],
            name=name,
            task="a BEIR directory, whole corpus",
            sizes="",
            protocol=Protocol(("nDCG@10", "R@100", "MAP", "MRR"), rounding="beir", drop_self=True, beir_mrr=True),
            source=folder,
            licence="",
            load=lambda _, split: [beir.load(Path(folder), split, name)],
            splits=("test", "dev", "train"),
            downloads=(),
        )
    if name in BEIR_SETS:
        other_forms = [other for other in CATALOGUE if other.startswith(f"{name}-")]
        hint = f"; {' and '.join(other_forms)} are other forms of it" if other_forms else ""
        raise InvalidRequest(f"{name} is a set of BEIR: name its directory, as in beir:data/{name}, from {BEIR_ZIP.format(name)}{hint}")
    if name not in CATALOGUE:
        raise UnknownName("benchmark", name, CATALOGUE)
    return CATALOGUE[name]

"""The benchmarks, one row of data each; SciRepEval's are in `scirepeval`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from ..errors import InvalidRequest, UnknownName
from ..metrics.measures import CLASS_MEASURES
from . import scirepeval_benchmarks
from .benchmark_specs import Benchmark, Download, Figure, Suite
from .material import Protocol
from .published.scimult import COARSE, FINE, RERANKING, RETRIEVAL, SEARCH
from .readers import asr, beir, cite, mdcr, pmc_patients, scidocs, scimult

RECALLS = ("R@20", "R@50", "R@100")
SCIDOCS_MANUAL = "aws s3 sync --no-sign-request s3://ai2-s2-research-public/specter/scidocs/ DIR --region us-west-2   (4.6 GiB)"
SCIMULT_HOME = "https://github.com/yuzhimanhua/SciMult"
SCIMULT_MANUAL = (
    "Download the archive that the README of https://github.com/yuzhimanhua/SciMult links (Google Drive, file "
    "1hoUAInDVO_UYnQiOOoVuBjwnVgY0BosO) and unpack it; give the folder as --data."
)
BEIR_SETS = (
    *("arguana", "climate-fever", "cqadupstack", "dbpedia-entity", "fever", "fiqa", "hotpotqa", "msmarco", "nfcorpus", "nq", "quora"),
    *("scidocs", "scifact", "webis-touche2020"),
)
"""Sets that BEIR publishes, each a directory for `beir:DIR` (Thakur et al. 2021, Table 1, and BEIR's README)."""
BEIR_ZIP = "https://public.ukp.informatik.tu-darmstadt.de/thakur/BEIR/datasets/{}.zip"


def _link(name: str, task: str, sizes: str) -> Benchmark:
    return Benchmark(
        name=name,
        task=f"{'citations' if task == 'cite' else 'co-citations'} of a paper among all papers of SciDocs",
        kind="proximity",
        sizes=sizes,
        protocol=Protocol(RECALLS, metric="ip", rounding="summed", depth=100),
        files="link_prediction_retrieval/SciDocs_papers_test.json",
        source=f"Zhang et al. 2023 (SciMult), §4.3 and Table 5; {SCIMULT_HOME}",
        licence="as SciDocs (Semantic Scholar); see the source",
        load=lambda folder, split: [scimult.load_links(folder, task, name)],  # noqa: ARG005
        manual=SCIMULT_MANUAL,
        note="The query paper stays among the candidates. SciMult scores its own models by inner product, its baselines by cosine.",
    )


def _pmc(name: str, task: str, sizes: str, articles: int = 0) -> Benchmark:
    return Benchmark(
        name=name,
        task=f"{'articles' if task == 'PAR' else 'patients'} for a patient's summary",
        kind="proximity",  # both are links between documents (SciMult, Table 2)
        sizes=sizes,
        whole={"": {"queries": 5959, "candidates": articles}} if articles else {},
        protocol=Protocol(("MRR", "P@10", "nDCG@10", "R@1000"), rounding="beir", skips=True, drop_self=True, depth=10_000, beir_mrr=True),
        files=f"queries/SPLIT_queries.jsonl, {task}/*corpus.jsonl, {task}/*qrels*.tsv ({task}_corpus.jsonl and {task}_SPLIT_qrels.tsv, "
        f"or corpus.jsonl and qrels_SPLIT.tsv; PMCPatients{task}_queries_test.json and PMCPatients{task}_"
        f"{pmc_patients.CANDIDATES[task]}s_test.json of SciMult's archive come first)",
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


def _maple(name: str, how: str, table: str, *, by_name: bool, defined: bool = True) -> Benchmark:
    sets = scimult.MAPLE_SETS if defined else scimult.DEFINED_SETS
    matched = " (and FIELD_matched.json, the labels named in each paper; without it they are looked for anew)" if by_name else ""
    return Benchmark(
        name=name,
        task=f"fine-grained labels of a paper, retrieved by their names{' and definitions' if defined else ' alone'}; {how}",
        kind="labels",
        sizes=f"{'four' if defined else 'two'} fields, of which CSConference has 261,781 queries and 15,808 labels",
        whole={"CSConference": {"queries": 261_781, "candidates": 15_808}},
        protocol=Protocol(RECALLS, metric="ip", rounding="summed", depth=100, average="figures" if defined else "none"),
        files=f"classification_fine/{{{','.join(sets)}}}_{{label,papers_test}}.json{matched}",
        source=f"Zhang et al. 2023 (SciMult), {table}; {SCIMULT_HOME}",
        licence="see the source (MAPLE: ODC-By)",
        load=lambda folder, split: scimult.load_maple(folder, name, by_name=by_name, defined=defined),  # noqa: ARG005
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
        whole={"": {"queries": 1000, "pairs": 29_928}},
        protocol=Protocol(("MAP", "nDCG"), metric="l2", score_decimals=5, rounding="numpy", skips=True),
        files="{cite,cocite,coread,coview}/SPLIT.qrel, paper_metadata_view_cite_read.json",
        source="Cohan et al. 2020 (SPECTER); https://github.com/allenai/scidocs",
        licence="see the source",
        load=lambda folder, split: [scidocs.load(folder, split, "scidocs-rerank")],
        splits=("test", "val"),
        manual=SCIDOCS_MANUAL,
    ),
    Benchmark(
        name="scidocs-classes",
        task="the field (MAG) and the disease (MeSH) of a paper, by SciDocs' own protocol",
        kind="classification",
        sizes="MAG: 25,001 papers, 19 classes; MeSH: 23,473 papers, 11 classes",
        whole={"MAG": {"papers": 25_001}, "MeSH": {"papers": 23_473}},
        protocol=Protocol(("macro-F1",), rounding="numpy", skips=True),
        files="{mag,mesh}/{train,SPLIT}.csv, paper_metadata_mag_mesh.json",
        source="Cohan et al. 2020 (SPECTER); https://github.com/allenai/scidocs",
        licence="see the source",
        load=lambda folder, split: [scidocs.load_classes(folder, split, "scidocs-classes")],
        splits=("test", "val"),
        manual=SCIDOCS_MANUAL,
        note="Fitted by scikit-learn's LinearSVC; SciDocs' code takes the one of sklearn-contrib-lightning, and figures differ a little.",
    ),
    Benchmark(
        name="scidocs-recomm",
        task="what users clicked among papers similar to one, by SciDocs' own protocol",
        kind="proximity",
        sizes="clicks of Semantic Scholar's users, to learn from, to check and to predict",
        protocol=Protocol(("adj-NDCG", "adj-P@1"), metric="cosine", rounding="numpy", skips=True),
        files="recomm/{train,val,test}.csv, recomm/propensity_scores.json, paper_metadata_recomm.json",
        source="Cohan et al. 2020 (SPECTER); https://github.com/allenai/scidocs",
        licence="see the source",
        load=lambda folder, split: [scidocs.load_clicks(folder, split, "scidocs-recomm")],
        splits=("test", "val"),
        manual=SCIDOCS_MANUAL,
        note="The authors train their model with AllenNLP 0.9; ours is the same with other random numbers, so published figures compare "
        "only roughly.",
    ),
    _pmc("pmc-patients-par", "PAR", "5,959 queries; 1.4M articles (old release), 11.7M (current)", articles=1_413_087),
    _pmc("pmc-patients-ppr", "PPR", "2,812 queries, 155,151 patients"),
    Benchmark(
        name="pmc-patients-zeroshot",
        task="similar patients, without training on them",
        kind="proximity",
        sizes="100,327 queries, 155,151 patients",
        protocol=Protocol(RECALLS, metric="ip", rounding="summed", depth=100),
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
        protocol=Protocol(("MAP", "nDCG", "R@5"), metric="l2", decimals=4, rounding="numpy", average="rounded tasks", bare_titles=True),
        files="mdcr_SPLIT.json (and mdcr_SPLIT_data.jsonl, not needed with --scores and --embeddings)",
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
        protocol=Protocol((*RECALLS, "nDCG@10"), depth=100, average="tasks", bare_titles=True),
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
        files="corpus.jsonl, queries.jsonl, qrels/SPLIT.tsv",
        source="Voorhees et al. 2021, in BEIR (Thakur et al. 2021)",
        licence="see the source (CORD-19)",
        load=lambda folder, split: [beir.load(folder, split, "trec-covid")],
        downloads=(Download(BEIR_ZIP.format("trec-covid"), "trec-covid.zip", "ce62140cb23feb9becf6270d0d1fe6d1"),),
    ),
    *scirepeval_benchmarks.ROWS,
    Benchmark(
        name="scimult-search",
        task="papers for a query: SciMult's five search sets, two re-ranked and three over their whole corpus",
        kind="search",
        sizes="Search 2,637, TREC-COVID 50 (twice), SciFact 1,109, NFCorpus 3,237 queries",
        whole={
            "Search": {"queries": 2637},
            "TRECCOVID_SciRepEval": {"queries": 50, "pairs": 69_318},
            "TRECCOVID_BEIR": {"queries": 50, "candidates": 171_331},
            "SciFact": {"queries": 1109},
            "NFCorpus": {"queries": 3237},
        },
        protocol=Protocol(("nDCG@10",), metric="ip", depth=100, average="tasks"),
        files="search/{Search,TRECCOVID_SciRepEval,TRECCOVID_BEIR,SciFact,NFCorpus}_{papers,queries}_test.json",
        source=f"Zhang et al. 2023 (SciMult), Table 8; {SCIMULT_HOME}",
        licence="see the source",
        load=lambda folder, split: scimult.load_searches(folder, "scimult-search"),  # noqa: ARG005
        manual=SCIMULT_MANUAL,
        note="SciFact and NFCorpus hold the queries of all splits, so figures differ from BEIR's.",
    ),
    _maple("maple", "labels whose name occurs in the paper come first", "Table 3", by_name=True),
    _maple("maple-unmatched", "ranked by their vectors alone", "Table A3", by_name=False),
    _maple("maple-names", "labels whose name occurs in the paper come first", "Table A8", by_name=True, defined=False),
    Benchmark(
        name="scimult-coarse",
        task="the field or the disease of a paper: the class whose name and definition is nearest (the setting BiEnc)",
        kind="classification",
        sizes="MAG: 25,001 papers, 19 classes; MeSH: 23,473 papers, 11 classes",
        whole={"MAG": {"papers": 25_001}, "MeSH": {"papers": 23_473}},
        protocol=Protocol(CLASS_MEASURES, metric="ip"),
        files="classification_coarse/{MAG,MeSH}_{label,papers_test}.json",
        source=f"Zhang et al. 2023 (SciMult), §4.4 and Table 4; {SCIMULT_HOME}",
        licence="as SciDocs (Semantic Scholar); see the source",
        load=lambda folder, split: scimult.load_coarse(folder, "scimult-coarse"),  # noqa: ARG005
        manual=SCIMULT_MANUAL,
        note="Table 4 gives macro-F1; its setting Linear is scidocs-classes. SciMult scores its own models by inner product, its baselines "
        "by cosine.",
    ),
    Benchmark(
        name="recommendation",
        task="papers that users of Microsoft Academic found related to a paper, re-ranked",
        kind="proximity",
        sizes="137 queries, 16 candidates each, graded 1 to 5",
        whole={"": {"queries": 137}},
        protocol=Protocol(("nDCG@5", "nDCG@10", "nDCG"), metric="ip"),
        files="link_prediction_reranking/Recommendation_papers_test.json",
        source=f"Kanakia et al. 2019, as in Zhang et al. 2023 (SciMult), Table 7; {SCIMULT_HOME}",
        licence="see the source",
        load=lambda folder, split: [scimult.load_recommendation(folder, "recommendation")],  # noqa: ARG005
        manual=SCIMULT_MANUAL,
        note="SciMult scores its own models by inner product, its baselines by cosine.",
    ),
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
        files="{cite,cocite}/SPLIT.qrel, paper_metadata.json (or data_final.json)",
        source="Seoh et al. 2023 (Multi2SPE), §3; https://github.com/ronaldseoh/multi2spe",
        licence="see the source",
        load=lambda folder, split: [scidocs.load(folder, split, "multi-scidocs", ("cite", "cocite"), scidocs.MULTI_METADATA)],
        splits=("test", "val"),
        manual="Build it with the code of https://github.com/ronaldseoh/multi2spe, or ask its authors.",
        note="The published rows of Multi2SPE use its inner product on training, and the SciDocs code's distance here.",
    ),
)
CATALOGUE: Mapping[str, Benchmark] = {row.name: row for row in ROWS}
MULTI_SCIDOCS = Suite(
    "multi-scidocs-all",
    "the three tasks of Multi-SciDocs, and their average",
    "Seoh et al. 2023 (Multi2SPE), §3 and Table 1",
    (
        Figure("MAG", "CLF", "", "scidocs-classes", "macro-F1", "MAG"),
        *(
            Figure(f"multi. {task}", "PRX", "", "multi-scidocs", measure, task)
            for task in ("cite", "co-cite")
            for measure in ("MAP", "nDCG")
        ),
    ),
)
"""MAP and nDCG count as one figure each: only so do the averages of Table 1 follow from its columns."""
SCIDOCS = Suite(
    "scidocs-all",
    "SciDocs' seven tasks, and their average",
    "Cohan et al. 2020 (SPECTER), and Seoh et al. 2023 (Multi2SPE), Table 4",
    (
        *(Figure(name, "CLF", "", "scidocs-classes", "macro-F1", name) for name in scidocs.CLASSES.values()),
        *(
            Figure(task.capitalize(), "PRX", "", "scidocs-rerank", measure, task)
            for task in scidocs.TASKS.values()
            for measure in ("MAP", "nDCG")
        ),
        *(Figure("Recomm.", "PRX", "", "scidocs-recomm", measure) for measure in ("adj-NDCG", "adj-P@1")),
    ),
)
"""Every measure of every task counts as one figure: only so do the averages of Table 4 follow from its columns."""
SCIMULT = Suite(
    "scimult",
    "SciMult's five tasks, and the average of each",
    "Zhang et al. 2023 (SciMult), Tables 3 to 5 and 7 to 9",
    (
        *(Figure(field, "CLF", FINE, "maple", recall, field) for field in scimult.MAPLE_SETS for recall in RECALLS),
        *(
            Figure(f"{name} ({how})", "CLF", COARSE, benchmark, "macro-F1", name)
            for name in scimult.COARSE_SETS
            for how, benchmark in (("linear", "scidocs-classes"), ("bi-encoder", "scimult-coarse"))
        ),
        *(
            Figure(name, "PRX", RETRIEVAL, benchmark, recall)
            for name, benchmark in (("Cite", "scidocs-cite"), ("Co-cite", "scidocs-cocite"), ("Similar Patients", "pmc-patients-zeroshot"))
            for recall in RECALLS
        ),
        *(
            Figure(task.capitalize(), "PRX", RERANKING, "scidocs-rerank", measure, task)
            for task in scidocs.TASKS.values()
            for measure in ("MAP", "nDCG")
        ),
        *(Figure("Recommendation", "PRX", RERANKING, "recommendation", measure) for measure in ("nDCG@5", "nDCG@10", "nDCG")),
        *(Figure(name, "SRCH", SEARCH, "scimult-search", "nDCG@10", name) for name in scimult.SEARCH_SETS),
    ),
    overall=False,
    compared=("maple", "scimult-coarse", "scidocs-cite", "scidocs-cocite", "pmc-patients-zeroshot", "recommendation", "scimult-search"),
    against="SciMult-Vanilla",
)
"""Each average is the mean of a table's columns, as printed. The paper scores its baselines by cosine but in SciDocs' own protocols."""
SUITES: Mapping[str, Suite] = {suite.name: suite for suite in (*scirepeval_benchmarks.SUITES, MULTI_SCIDOCS, SCIDOCS, SCIMULT)}


def find_benchmark(name: str) -> Benchmark:
    """The benchmark called `name`; `beir:DIR` is any BEIR directory, `cite:DIR` what `benchmarks build cite` made. Raises UnknownName."""
    if name.startswith("cite:"):
        folder = name.removeprefix("cite:")
        if not folder:
            raise InvalidRequest("cite: needs a directory, as in cite:data/mine, which `sciretrieve benchmarks build cite` makes")
        return Benchmark(
            name=name,
            task="papers that a paper cites, among hard candidates",
            kind="proximity",
            sizes="",
            protocol=Protocol(("MAP", "nDCG", "R@5"), average="tasks"),
            files="candidates.json, corpus.jsonl",
            source=folder,
            licence="your corpus's",
            load=lambda _, split: [cite.load(Path(folder), name)],  # noqa: ARG005
            note="BM25, and each encoder that chose candidates, is at a disadvantage by construction.",
        )
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
        other_forms = [row.name for row in ROWS if row.name.startswith(f"{name}-") and row.kind == "proximity"]
        hint = f"; {' and '.join(other_forms)} are other forms of it" if other_forms else ""
        raise InvalidRequest(f"{name} is a set of BEIR: name its directory, as in beir:data/{name}, from {BEIR_ZIP.format(name)}{hint}")
    if name in SUITES:
        raise InvalidRequest(f"{name} is several benchmarks at once; name one: {', '.join(SUITES[name].benchmarks)}")
    if name not in CATALOGUE:
        raise UnknownName("benchmark", name, [*CATALOGUE, *SUITES])
    return CATALOGUE[name]

"""Every benchmark on the files of every other one: said, and not evaluated."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import pytest

from sciretrieve.base.errors import InvalidRequest, NotFound
from sciretrieve.evaluation import CATALOGUE, evaluate
from sciretrieve.evaluation.benchmark_reading import patterns, read
from sciretrieve.evaluation.readers.s2and import DATASETS
from tests.evaluation.made_up_benchmarks import write_text

CLASSES = ("mesh_descriptors", "fos", "biomimicry", "drsm")
NUMBERS = ("cite_count", "pub_year", "tweet_mentions")
RANKED = ("same_author", "high_influence_cite", "search", "relish", "nfcorpus", "trec_covid", "feeds_1", "feeds_m", "feeds_title")
MAPLE = [f"classification_fine/{field}_{part}.json" for field in ("CSConference", "ChemistryMeSH") for part in ("label", "papers_test")]
NAMES = {
    "mesh_descriptors": "mesh-descriptors",
    "fos": "fields-of-study",
    "cite_count": "citation-count",
    "pub_year": "publication-year",
    "tweet_mentions": "tweet-mentions",
    "high_influence_cite": "high-influence-citations",
    "search": "scirepeval-search",
    "nfcorpus": "nfcorpus-scirepeval",
    "trec_covid": "trec-covid-scirepeval",
}
"""The benchmark of a configuration of SciRepEval, where it is not the same with hyphens."""
LAYOUTS: dict[tuple[str, ...], list[str]] = {
    ("scidocs-cite", "scidocs-cocite"): ["link_prediction_retrieval/SciDocs_papers_test.json"],
    ("scidocs-rerank",): [*(f"{task}/test.qrel" for task in ("cite", "cocite", "coread", "coview")), "paper_metadata_view_cite_read.json"],
    ("scidocs-classes",): [f"{task}/{part}.csv" for task in ("mag", "mesh") for part in ("train", "test")]
    + ["paper_metadata_mag_mesh.json"],
    ("scidocs-recomm",): [
        *(f"recomm/{part}.csv" for part in ("train", "val", "test")),
        "recomm/propensity_scores.json",
        "paper_metadata_recomm.json",
    ],
    ("multi-scidocs",): ["cite/test.qrel", "cocite/test.qrel", "paper_metadata.json"],
    ("pmc-patients-par",): ["queries/test_queries.jsonl", "PAR/PAR_corpus.jsonl", "PAR/PAR_test_qrels.tsv"],
    ("pmc-patients-ppr",): ["queries/test_queries.jsonl", "PPR/corpus.jsonl", "PPR/qrels_test.tsv"],
    ("pmc-patients-zeroshot",): [f"link_prediction_retrieval/PMCPatientsPPR_{part}_test.json" for part in ("patients", "queries")],
    ("mdcr", "mdcr-full"): ["mdcr_test.json", "mdcr_test_data.jsonl"],
    ("trec-covid", "beir:DIR"): ["corpus.jsonl", "queries.jsonl", "qrels/test.tsv"],
    ("cite:DIR",): ["candidates.json", "corpus.jsonl"],
    ("scimult-search",): [
        f"search/{name}_{part}_test.json"
        for name in ("Search", "TRECCOVID_SciRepEval", "TRECCOVID_BEIR", "SciFact", "NFCorpus")
        for part in ("papers", "queries")
    ],
    ("maple", "maple-unmatched", "maple-names"): [*MAPLE, *(path.replace("CSConference", "Geography") for path in MAPLE[:2])]
    + [path.replace("CSConference", "Psychology") for path in MAPLE[:2]],
    ("scimult-coarse",): [f"classification_coarse/{name}_{part}.json" for name in ("MAG", "MeSH") for part in ("label", "papers_test")],
    ("recommendation",): ["link_prediction_reranking/Recommendation_papers_test.json"],
    **{
        (NAMES.get(name, name),): [f"{name}/evaluation-00000-of-00001.parquet", f"{name}/train.csv", f"{name}/test.csv"]
        for name in (*CLASSES, *NUMBERS)
    },
    **{(NAMES.get(name, name.replace("_", "-")),): [f"{name}/evaluation.jsonl", f"{name}/test-00000-of-00001.parquet"] for name in RANKED},
    ("scidocs-mag",): ["scidocs_mag_mesh/evaluation.jsonl", "scidocs_mag/train.csv", "scidocs_mag/test.csv"],
    ("scidocs-mesh",): ["scidocs_mag_mesh/evaluation.jsonl", "scidocs_mesh/train.csv", "scidocs_mesh/test.csv"],
    ("peer-review-score",): ["peer_review_score_hIndex/evaluation.jsonl", *("peer_review_score/train.csv", "peer_review_score/test.csv")],
    ("max-h-index",): ["peer_review_score_hIndex/evaluation.jsonl", "hIndex/train.csv", "hIndex/test.csv"],
    ("reviewer-matching",): [
        *(f"paper_reviewer_matching/{name}" for name in ("evaluation.jsonl", "test_hard_qrel.jsonl", "test_soft_qrel.jsonl")),
        "reviewers/reviewer_metadata.jsonl",
    ],
    ("scidocs-scirepeval",): [
        "scidocs_view_cite_read/evaluation.jsonl",
        *(f"scidocs_{task}/test_qrel.jsonl" for task in ("view", "read", "cite", "cocite")),
    ],
    ("s2and",): [
        path
        for name in DATASETS
        for path in (*(f"{name}/{name}_{part}.json" for part in ("signatures", "clusters", "papers")), f"blocks/block_sigs_{name}.json")
    ],
}
"""Benchmarks -> the files that they are published as."""


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, ...], Path]:
    """A folder of each layout, with empty files: which files there are is all that counts here."""
    top = tmp_path_factory.mktemp("layouts")
    made = {}
    for number, (names, files) in enumerate(LAYOUTS.items()):
        made[names] = top / f"folder{number}"
        for file in files:
            write_text(made[names] / file, "")
    return made


def spec_names() -> list[str]:
    return [name for name in CATALOGUE if name != "asr"]


def test_every_layout_is_here() -> None:
    assert sorted(spec_names()) == sorted(name for names in LAYOUTS for name in names if not name.endswith(":DIR"))


@pytest.mark.parametrize("name", spec_names())
def test_files_of_another_benchmark_are_named(folders: dict[tuple[str, ...], Path], name: str) -> None:
    for owners, folder in folders.items():
        if name in owners:
            continue
        with pytest.raises(NotFound) as caught:
            read(CATALOGUE[name], folder, "test")
        named = str(caught.value).rpartition("; these look like the files of ")[2].split(", ")
        assert named == [owner.replace("DIR", str(folder)) for owner in owners if owner != "trec-covid"], (name, owners)
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", spec_names())
def test_a_benchmarks_own_files_are_found_by_their_description(folders: dict[tuple[str, ...], Path], name: str) -> None:
    """`benchmarks show` names what the reader takes: nothing is missing, and what is empty is bad input at most."""
    folder = next(folder for owners, folder in folders.items() if name in owners)
    assert patterns(CATALOGUE[name].files)
    with suppress(InvalidRequest):
        read(CATALOGUE[name], folder, "test")


def test_directories_of_ones_own_are_recognised_too(folders: dict[tuple[str, ...], Path]) -> None:
    beir, own = folders["trec-covid", "beir:DIR"], folders["cite:DIR",]
    with pytest.raises(NotFound, match=rf"cite:{beir} needs candidates\.json .*; these look like the files of beir:{beir}$"):
        evaluate(f"cite:{beir}")
    with pytest.raises(NotFound, match=rf"beir:{own} needs queries.* and there is no .*; these look like the files of cite:{own}$"):
        evaluate(f"beir:{own}")


def test_a_folder_that_bears_its_benchmarks_name_is_recognised(tmp_path: Path) -> None:
    """SciRepEval's tasks have files of the same names, so the folder's own name tells them apart."""
    for file in ("evaluation.jsonl", "train.csv", "test.csv"):
        write_text(tmp_path / "biomimicry" / file, "")
    with pytest.raises(NotFound, match=r"drsm needs drsm/evaluation\*, .* has none of these; these look like the files of biomimicry"):
        evaluate("drsm", tmp_path / "biomimicry")
    with pytest.raises(InvalidRequest, match="has no labelled papers"):
        evaluate("biomimicry", tmp_path / "biomimicry")
    with pytest.raises(InvalidRequest, match="has no labelled papers"):
        evaluate("biomimicry", tmp_path)
    for name in ("corpus.jsonl", "queries.jsonl", "qrels/test.tsv"):
        write_text(tmp_path / "scifact" / name, "")
    with pytest.raises(InvalidRequest, match=r"has the name of another set of BEIR; evaluate it as beir:\S+scifact"):
        evaluate("trec-covid", tmp_path / "scifact")


@pytest.mark.parametrize(
    ("name", "file", "content", "words"),
    [
        (
            "scidocs-cite",
            "SciDocs_papers_test.json",
            '{"paper": "a", "cites": []}',
            r"line 1: paper 'a' has no list 'cite'; found cites, paper",
        ),
        ("relish", "relish/evaluation.jsonl", '{"doc_id": "a"}', r"line 1: expected a query and a list of candidates; found doc_id"),
        ("recommendation", "Recommendation_papers_test.json", "[]", r"line 1: not a JSON object; expected an object a line"),
        ("scidocs-rerank", "paper_metadata_view_cite_read.json", '{"a": 1}', r"'a' holds no object; expected an object for each id"),
        ("mdcr", "mdcr_test.json", "[]", r"holds no JSON object; is it from another release\?"),
    ],
)
def test_a_file_of_another_release_is_named_with_what_was_expected(tmp_path: Path, name: str, file: str, content: str, words: str) -> None:
    write_text(tmp_path / file, content + "\n")
    with pytest.raises(InvalidRequest, match=rf"{file.rpartition('/')[2]}.*{words}"):
        evaluate(name, tmp_path)


def test_many_benchmarks_are_counted(tmp_path: Path) -> None:
    for files in LAYOUTS.values():
        for file in files:
            write_text(tmp_path / file, "")
    (tmp_path / "mdcr_test.json").unlink()
    with pytest.raises(NotFound, match=r"these look like the files of scidocs-cite, scidocs-cocite, [^,]+, [^,]+, [^,]+ and \d+ more$"):
        evaluate("mdcr", tmp_path)

"""Reading a training set: folders of every form, and SciRepEval's own files."""

from __future__ import annotations

import gzip
import json
from itertools import cycle
from pathlib import Path
from typing import Any

import pytest
import torch

from sciretrieve.base.errors import InvalidRequest, NotFound
from sciretrieve.base.types import Paper
from sciretrieve.training import TrainingSet, read_training_set
from sciretrieve.training.learning.demands import Labelled, of_those_apart
from tests.made_up import shared, write_jsonl

PAPERS = {id: Paper(id, f"title {id}", f"abstract {id}") for id in ("a", "b", "c")}


def folder_of(path: Path, name: str, table: str, queries: dict[str, str] | None = None) -> Path:
    write_jsonl(path / "corpus.jsonl", [{"_id": paper.id, "title": paper.title, "text": paper.abstract} for paper in PAPERS.values()])
    if queries is not None:
        write_jsonl(path / "queries.jsonl", [{"_id": id, "text": text} for id, text in queries.items()])
    (path / name).write_text(table)
    return path


@pytest.mark.parametrize(
    ("name", "table", "queries", "expected"),
    [
        (
            "triplets.tsv",
            "query-id\tpositive-id\tnegative-id\tkind\na\tb\tc\thard\n",
            None,
            TrainingSet("triplets", PAPERS, [("a", "b", "c")]),
        ),
        (
            "pairs.tsv",
            "query-id\tpositive-id\tnegative-id\tkind\nq\tb\t\t\nq\tb\tc\tshown\na\tc\t\t\n",
            {"q": "who?"},
            TrainingSet("pairs", PAPERS, [("q", "b", ""), ("q", "b", "c"), ("a", "c", "")], {"q": "who?"}),
        ),
        (
            "labels.tsv",
            "paper-id\tlabel\na\tx\nb\ty\na\ty z\na\tx\n",
            None,
            TrainingSet("labels", PAPERS, [], labels={"a": ("x", "y z"), "b": ("y",)}),
        ),
        ("targets.tsv", "paper-id\tvalue\na\t1999\nb\t-0.25\n", None, TrainingSet("targets", PAPERS, [], targets={"a": 1999, "b": -0.25})),
    ],
)
def test_a_folder_of_each_form_is_read(
    tmp_path: Path, name: str, table: str, queries: dict[str, str] | None, expected: TrainingSet
) -> None:
    assert read_training_set(folder_of(tmp_path, name, table, queries)) == expected


@pytest.mark.parametrize(
    ("name", "table", "message"),
    [
        ("triplets.tsv", "query-id\tpositive-id\tnegative-id\tkind\na\tb\t\thard\n", "line 2, names the paper ''"),
        ("triplets.tsv", "query-id\tpositive-id\tnegative-id\tkind\n", "holds nothing but its header"),
        ("pairs.tsv", "query-id\tpositive-id\tnegative-id\tkind\nq\tq\t\t\n", "line 2, names the paper 'q'"),
        ("pairs.tsv", "query-id\tpositive-id\tnegative-id\tkind\nx\ta\t\t\n", "line 2, names the paper 'x'"),
        ("labels.tsv", "paper-id\tlabel\na\tx\nd\tx\n", "line 3, names the paper 'd'"),
        ("labels.tsv", "paper-id\tlabel\na\n", "line 2: 1 columns where 2 are expected"),
        ("targets.tsv", "paper-id\tvalue\na\tmany\n", "line 2: the value 'many' is not a number"),
        ("targets.tsv", "paper-id\tvalue\na\tnan\n", "line 2: the value 'nan' is not a number"),
    ],
)
def test_a_broken_table_is_named(tmp_path: Path, name: str, table: str, message: str) -> None:
    with pytest.raises(InvalidRequest, match=message):
        read_training_set(folder_of(tmp_path, name, table, {"q": "who?"}))


def test_a_folder_without_a_table_is_none(tmp_path: Path) -> None:
    write_jsonl(tmp_path / "corpus.jsonl", [{"_id": "a"}])
    with pytest.raises(NotFound, match=r"has no triplets\.tsv or pairs\.tsv or labels\.tsv or targets\.tsv"):
        read_training_set(tmp_path)


TRIPLES = "query_paper_id,positive_id,negative_id\n"


def of_scincl(folder: Path, triples: str) -> Path:
    """A folder in the layout of SciNCL's release, whose papers may have no abstract."""
    folder.mkdir()
    papers = [
        {"paper_id": paper.id, "title": paper.title, "abstract": paper.abstract or None} for paper in (*PAPERS.values(), Paper("d", "t"))
    ]
    write_jsonl(folder / "train_metadata.jsonl", papers)
    (folder / "train_triples.csv").write_text(triples)
    return folder


def test_the_folder_of_scincl_is_read_and_papers_that_it_lacks_are_left_out(tmp_path: Path) -> None:
    plain = of_scincl(tmp_path / "plain", f"{TRIPLES}a,b,c\nb,x,a\nd,a,b\n")
    expected = TrainingSet("triplets", {**PAPERS, "d": Paper("d", "t")}, [("a", "b", "c"), ("d", "a", "b")])
    assert read_training_set(plain) == expected
    packed = tmp_path / "packed"
    packed.mkdir()
    for path in plain.iterdir():
        (packed / f"{path.name}.gz").write_bytes(gzip.compress(path.read_bytes()))
    assert read_training_set(packed) == expected


@pytest.mark.parametrize(
    ("triples", "message"),
    [
        ("a,b,c\n", "does not begin with the columns query_paper_id, positive_id, negative_id"),
        (f"{TRIPLES}a,b\n", "line 2: 2 columns where 3 are expected"),
        (f"{TRIPLES}a,b,x\n", "has no triplet whose papers are all in train_metadata.jsonl"),
    ],
)
def test_a_broken_file_of_scincl_is_named(tmp_path: Path, triples: str, message: str) -> None:
    with pytest.raises(InvalidRequest, match=message):
        read_training_set(of_scincl(tmp_path / "set", triples))


def row(id: int, **others: Any) -> dict[str, Any]:
    return {"corpus_id": id, "title": f"title {id}", "abstract": None, **others}


def test_a_query_with_candidates_gives_five_triplets_at_most(tmp_path: Path) -> None:
    path = write_jsonl(
        tmp_path / "search.jsonl",
        [
            {
                "query": "who?",
                "candidates": [row(1, score=2), row(2, score=0), row(3, score=1), *(row(id, score=0) for id in range(4, 10))],
            },
            {"query": "what?", "doc_id": "w", "candidates": [row(1, score=1), row(2, score=0.0)]},
            {"query": "nothing clicked", "candidates": [row(1, score=0)]},
        ],
    )
    found = read_training_set(path)
    assert found.task == "pairs"
    assert found.queries == {"query 1": "who?", "w": "what?", "query 3": "nothing clicked"}
    expected = [("query 1", positive, str(negative)) for positive, negative in zip("13131", (9, 8, 7, 6, 5), strict=True)]
    assert found.triplets == [*expected, ("w", "1", "2")]
    assert found.papers["3"] == Paper("3", "title 3", "")


def test_papers_with_labels_or_numbers(tmp_path: Path) -> None:
    several = read_training_set(
        write_jsonl(tmp_path / "fos.jsonl", [row(1, labels=[3, 4], labels_text=["x", "y"]), row(2, labels_text=["y"])])
    )
    assert several == TrainingSet("labels", several.papers, [], labels={"1": ("x", "y"), "2": ("y",)})
    one = read_training_set(write_jsonl(tmp_path / "mesh.jsonl", [row(1, descriptor="Liver"), row(1, descriptor="Brain")]))
    assert one.labels == {"1": ("Liver", "Brain")}
    numbers = read_training_set(write_jsonl(tmp_path / "year.jsonl", [row(1, year=2000, scaled_year=0.5), row(2, scaled_year="-1")]))
    assert numbers == TrainingSet("targets", numbers.papers, [], targets={"1": 0.5, "2": -1.0})


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([], "is empty"),
        ([row(1)], "paper 1: no labels_text or"),
        ([row(1, descriptor="x"), row(2)], "paper 2: no descriptor; found"),
        ([row(1, log_citations="many")], "paper 1: the value 'many' is not a number"),
        ([{"query": "q", "candidates": [{"title": "x"}]}], "query 1: 'candidates' is not a paper"),
        ([{"query": "q", "candidates": 3}], "query 1: 'candidates' is not a list"),
        ([{"query": 7, "candidates": []}], "query 1: 'query' is not a paper"),
        ([{"query": "q", "candidates": [row(1, score=1)]}], "no query that has a candidate with a score and one without"),
    ],
)
def test_a_broken_file_is_named(tmp_path: Path, rows: list[dict[str, Any]], message: str) -> None:
    with pytest.raises(InvalidRequest, match=message):
        read_training_set(write_jsonl(tmp_path / "file.jsonl", rows))


def test_the_samples_of_scirepeval_are_read() -> None:
    folder = shared("scirepeval-sample")
    tasks = {
        name: read_training_set(folder / name)
        for name in ("specter_small.json", "s2and_small.json", "search_small.jsonl", "fos_small.json", "mesh_small.json")
    }
    assert [found.task for found in tasks.values()] == ["triplets", "triplets", "pairs", "labels", "labels"]
    fields = set((folder / "fos_labels.txt").read_text().splitlines())
    assert set().union(*tasks["fos_small.json"].labels.values()) <= fields
    searches = [json.loads(line) for line in (folder / "search_small.jsonl").read_text().splitlines()]
    expected = []
    for number, search in enumerate(searches, 1):
        clicked, others = ([str(one["corpus_id"]) for one in search["candidates"] if bool(one["score"]) == flag] for flag in (True, False))
        pairs = zip(cycle(clicked), others[::-1][:5], strict=False)
        expected += [(f"query {number}", *pair) for pair in pairs]
    assert tasks["search_small.jsonl"].triplets == expected


@pytest.mark.parametrize("as_lists", [False, True])
def test_a_paper_that_is_listed_twice_makes_no_set_one_of_several_labels(tmp_path: Path, as_lists: bool) -> None:
    """The form says what labels are: one in each row, so that a paper with two is two examples, or a list."""
    rows: list[dict[str, Any]] = [{"doc_id": f"d{at:02}", "title": f"paper {at}", "label": "ab"[at % 2]} for at in range(30)]
    rows.append({**rows[1], "label": "a"})
    for row in rows:
        row["label"] = [row["label"]] if as_lists else row["label"]
    training_set = read_training_set(write_jsonl(tmp_path / "papers.jsonl", rows))
    assert training_set.several is as_lists
    demand = Labelled("papers", training_set, 3)
    demand.head = torch.nn.Identity()
    classes = torch.randn(len(demand), 2, generator=torch.Generator().manual_seed(1))
    ids = [id for id in sorted(training_set.labels) if id not in ("d00", "d20")]  # every twentieth is set apart
    expected = [id for id in ids for _ in range(1 if as_lists or id != "d01" else 2)]
    assert len(demand) == len(expected)
    loss = demand.loss(classes, range(len(demand)))
    if as_lists:
        wanted = torch.tensor([[float(name in training_set.labels[id]) for name in "ab"] for id in expected])
        assert float(loss) == pytest.approx(float(torch.nn.functional.binary_cross_entropy_with_logits(classes, wanted)))
    else:
        right = torch.tensor([1, 0, *(int(id[1:]) % 2 for id in ids[1:])])
        assert float(loss) == pytest.approx(float(torch.nn.functional.cross_entropy(classes, right)))
    assert len(of_those_apart(demand)) == 2


@pytest.mark.parametrize(("facts", "several"), [(None, True), ({}, True), ({"several": False}, False), ({"several": True}, True)])
def test_a_folder_says_whether_papers_may_have_several_labels(tmp_path: Path, facts: dict[str, Any] | None, several: bool) -> None:
    """A repeated line alone decides only where nothing is said."""
    (tmp_path / "corpus.jsonl").write_text("".join(json.dumps({"_id": id, "title": id, "text": id}) + "\n" for id in ("a", "b", "c")))
    (tmp_path / "labels.tsv").write_text("paper-id\tlabel\na\tx\nb\ty\nc\tx\nc\ty\n")
    if facts is not None:
        (tmp_path / "training.json").write_text(json.dumps(facts))
    training_set = read_training_set(tmp_path)
    assert training_set.several is several
    assert len(Labelled("labels", training_set, 3)) == (2 if several else 3)  # the first paper is set apart
    for text, message in (("{", "is not JSON"), ("[]", "is not a JSON object")):
        (tmp_path / "training.json").write_text(text)
        with pytest.raises(InvalidRequest, match=message):
            read_training_set(tmp_path)

"""Indexes whose papers are encoded in int8: what that costs is measured on the corpus, written down, and refused if it is too much."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sciretrieve as sr
from sciretrieve.encoders import Receipt, load_encoder, quantising
from sciretrieve.errors import InvalidRequest, MissingExtra
from sciretrieve.lifecycle import building
from sciretrieve.lifecycle.parts import build_part, join
from sciretrieve.progress import Silent
from sciretrieve.protocols import Advance, Result, Task
from tests.command_line import answer, sciretrieve
from tests.made_up import made_up_papers, write_jsonl
from tests.toy_weights import write_words

LARGEST_LOSS = quantising.LARGEST_LOSS


@pytest.fixture(scope="module", autouse=True)
def toy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """A small SPECTER, which is quickly quantised."""
    folder = tmp_path_factory.mktemp("toy")
    write_words(folder / "models" / "allenai" / "specter")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(quantising, "LARGEST_LOSS", 5)  # random weights rank closely: one title's place is half a point
        patch.setenv("SCIRETRIEVE_MODELS", str(folder / "models"))
        patch.setenv("SCIRETRIEVE_CACHE", str(folder / "cache"))
        yield


def build(corpus: Path, path: Path, **settings: Any) -> sr.Index:
    """A hundred papers in shards of 40, in int8 unless another precision is named."""
    return sr.build(corpus, path, **{"encoder": "specter", "precision": "int8", "limit": 100, "shard_size": 40, **settings})


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory, corpus: Path) -> sr.Index:
    return build(corpus, tmp_path_factory.mktemp("int8") / "index")


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory, corpus: Path) -> sr.Index:
    """The same in fp32."""
    return build(corpus, tmp_path_factory.mktemp("fp32") / "index", precision="fp32")


def vectors(index: sr.Index) -> Any:
    return np.concatenate([shard.vectors for shard in index.vectors])


def test_papers_are_near_what_they_are_without(built: sr.Index, plain: sr.Index) -> None:
    cosines = (vectors(built) * vectors(plain)).sum(1) / np.linalg.norm(vectors(built), axis=1) / np.linalg.norm(vectors(plain), axis=1)
    assert 0.95 < cosines.min() < 0.99999
    facts = built.manifest.encoder
    assert facts is not None
    assert (facts["precision"], facts["ran_in"]) == ("int8", ["OpenVINO int8"])
    assert built.search("graph networks", 5, mode="dense").hits  # queries go through the plain graph, whose golden vectors are checked
    assert not list(built.path.glob("pending*"))
    assert not sr.verify(built.path).faults


def test_the_receipt_is_kept_and_shown(built: sr.Index, corpus: Path) -> None:
    assert built.manifest.encoder is not None
    receipt = Receipt(**built.manifest.encoder["receipt"])
    assert (receipt.papers, receipt.queries) == (100, 66)
    assert max(receipt.ndcg_loss, receipt.recall_loss) <= quantising.LARGEST_LOSS
    assert receipt.cosine > 0.995  # sums that overflow, where the CPU has no VNNI, cost more
    assert f"int8 (OpenVINO int8); {receipt}" in answer("info", "-i", built.path)


def test_the_receipt_agrees_with_a_search(built: sr.Index, plain: sr.Index) -> None:
    """nDCG@10 of the titles, by pytrec_eval over what both indexes answer."""
    import pytrec_eval

    assert built.manifest.encoder is not None
    papers = [paper for row, paper in enumerate(built.papers_at(np.arange(100))) if row % 3]
    queries = [sr.Query(paper.id, paper.title) for paper in papers]
    evaluator = pytrec_eval.RelevanceEvaluator({paper.id: {paper.id: 1} for paper in papers}, {"ndcg_cut_10"})
    means = []
    for index in (plain, built):
        run = {query.id: {hit.id: hit.score for hit in index.search(query, 10, mode="dense").hits} for query in queries}
        means.append(np.mean([scores["ndcg_cut_10"] for scores in evaluator.evaluate(run).values()]))
    assert built.manifest.encoder["receipt"]["ndcg_loss"] == pytest.approx(100 * (means[0] - means[1]), abs=1.2)


class Interrupted(Exception):
    """What ends a build in these tests."""


class StopAfter(Silent):
    def __init__(self, papers: int) -> None:
        self._left = papers

    def start(self, total: int | None, done: int = 0, unit: str = "papers") -> None:
        self._counts = unit == "papers"

    def advance(self, papers: int) -> None:
        self._left -= papers * self._counts
        if self._left <= 0:
            raise Interrupted


def test_an_interrupted_build_goes_on_with_the_same_graph(
    built: sr.Index, tmp_path: Path, corpus: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(Interrupted):
        build(corpus, tmp_path / "index", progress=StopAfter(50))
    assert (tmp_path / "index" / "pending.int8" / "model.bin").exists()
    monkeypatch.setattr(quantising, "_write_graph", None)  # it is not made again
    index = build(corpus, tmp_path / "index")
    np.testing.assert_allclose(vectors(index), vectors(built), atol=1e-2)
    assert index.manifest.encoder == built.manifest.encoder


def test_what_another_build_left_is_not_taken(tmp_path: Path, corpus: Path) -> None:
    with pytest.raises(Interrupted):
        build(corpus, tmp_path / "index", progress=StopAfter(50))
    others = write_jsonl(tmp_path / "others.jsonl", made_up_papers(80, seed=5))
    index = build(others, tmp_path / "index", limit=None, overwrite=True)
    assert index.manifest.encoder is not None
    assert index.manifest.encoder["receipt"]["papers"] == 80
    np.testing.assert_array_equal(vectors(index), vectors(build(others, tmp_path / "fresh", limit=None)))


def test_papers_can_be_added(built: sr.Index, tmp_path: Path) -> None:
    path = shutil.copytree(built.path, tmp_path / "index")
    sr.add(write_jsonl(tmp_path / "more.jsonl", [row | {"id": f"new{row['id']}"} for row in made_up_papers(5)]), path)
    index = sr.open(path)
    assert len(index) == 105
    assert index.manifest.encoder is not None
    assert index.manifest.encoder["ran_in"][0].startswith("OpenVINO")
    assert index.search("graph networks", 5, mode="dense").hits


class InTurn:
    """Workers that do one task after the other, in this process."""

    def run(self, directory: Path, tasks: Sequence[Task[Result]], advance: Advance) -> Iterator[tuple[int, Result]]:
        for number, task in enumerate(tasks):
            yield number, task(advance)


def test_workers_take_the_same_graph(built: sr.Index, tmp_path: Path, corpus: Path) -> None:
    index = build(corpus, tmp_path / "index", workers=InTurn())
    np.testing.assert_array_equal(vectors(index), vectors(built))
    assert index.manifest.encoder == built.manifest.encoder


def test_parts_are_joined(tmp_path: Path, corpus: Path) -> None:
    for part in ("1/2", "2/2"):
        build_part(corpus, tmp_path / "index", part, encoder="specter", precision="int8", limit=150, shard_size=40)
    join(tmp_path / "index")
    index = sr.open(tmp_path / "index")
    assert len(index) == 150
    assert index.manifest.encoder is not None
    assert index.manifest.encoder["precision"] == "int8"


@pytest.mark.parametrize("loss", ["ndcg_loss", "recall_loss"])
def test_what_costs_too_much_is_refused(tmp_path: Path, corpus: Path, monkeypatch: pytest.MonkeyPatch, loss: str) -> None:
    monkeypatch.setattr(quantising, "LARGEST_LOSS", LARGEST_LOSS)
    receipt = Receipt(66, 100, ndcg_loss=0.51 * (loss == "ndcg_loss"), recall_loss=0.51 * (loss == "recall_loss"), cosine=0.99)
    monkeypatch.setattr(quantising, "_receipt", lambda *arguments: receipt)
    monkeypatch.setattr(quantising, "_write_graph", lambda *arguments: None)
    with pytest.raises(InvalidRequest, match=r"int8 is too coarse for specter on this corpus \(.*-0\.51.*\); use `precision='auto'`"):
        build(corpus, tmp_path / "index")
    assert not list(tmp_path.glob("index/pending*"))


def test_a_loss_is_counted() -> None:
    """Vectors in a random order lose what NumPy and the definition of nDCG say."""

    class Turned:
        def encode_papers(self, papers: Any) -> Any:
            return np.random.default_rng(0).permutation(encoder.encode_papers(papers))

    encoder: Any = load_encoder("specter", precision="fp32")
    papers = [sr.Paper(row["id"], row["title"], row["abstract"]) for row in made_up_papers(60)]
    receipt = quantising._receipt(encoder, Turned(), papers)  # type: ignore[arg-type]
    rows = [row for row in range(60) if row % 3]
    queries = encoder.encode_queries([sr.Query("q", papers[row].title) for row in rows])
    gains = []
    for matrix in (encoder.encode_papers(papers), Turned().encode_papers(papers)):
        order = np.argsort(((queries[:, None] - matrix) ** 2).sum(axis=2), axis=1)
        places = [order[place].tolist().index(row) for place, row in enumerate(rows)]
        gains.append(np.mean([1 / np.log2(place + 2) if place < 10 else 0 for place in places]))
    assert receipt.ndcg_loss == pytest.approx(100 * (gains[0] - gains[1]), abs=0.01)
    assert receipt.recall_loss == 0  # among 60 papers all are among the first 100
    assert asdict(receipt)["queries"] == len(rows)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--limit", "50"), "needs 60 papers to be quantised with, not 50; use --precision auto"),
        (("--encoder", "vectors:{vectors}"), "is for models that OpenVINO runs on the CPU, which vectors:"),
    ],
)
def test_what_cannot_be_is_one_line(tmp_path: Path, corpus: Path, options: tuple[str, ...], message: str) -> None:
    np.save(tmp_path / "v.npy", np.eye(3, dtype=np.float32))
    (tmp_path / "v.ids.txt").write_text("a\nb\nc\n")
    chosen = [option.format(vectors=tmp_path / "v.npy") for option in options]
    result = sciretrieve(
        "index",
        corpus,
        "-o",
        tmp_path / "index",
        "--precision",
        "int8",
        *(chosen if "--encoder" in chosen else ["--encoder", "specter", *chosen]),
    )
    assert result.returncode == 2
    assert message in result.stderr
    assert "Traceback" not in result.stderr


def test_without_nncf_it_says_what_to_install(tmp_path: Path, corpus: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(quantising, "find_spec", lambda name: None)
    with pytest.raises(MissingExtra, match=r"sciretrieve\[int8\]"):
        build(corpus, tmp_path / "index")
    assert building.plain_precision(sr.BuildSettings(precision="int8")) == "auto"


def test_an_estimate_tries_it(corpus: Path) -> None:
    estimate = sr.estimate(corpus, encoder="specter", precision="int8", limit=120)
    assert estimate.encoder is not None
    assert estimate.encoder["precision"] == "int8"

"""What an approximate index is worth, against counts by brute force; and the knobs of searching."""

from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import pytest

from sciretrieve.base.choices import METRICS, Metric
from sciretrieve.base.errors import InvalidRequest
from sciretrieve.base.types import Vectors
from sciretrieve.matching.dense import VectorShard, build_ann, search
from sciretrieve.matching.dense import ann as dense_ann
from sciretrieve.matching.dense import vectors as dense_vectors
from sciretrieve.matching.dense.choosing import auto_dense, resident_bytes
from sciretrieve.matching.dense.measuring import EFS, QUERIES, K, Questions, try_out
from sciretrieve.matching.effort import EXACT, USUAL, Effort, Knob, Step, Trial, knob
from sciretrieve.matching.scope import Scope

SIZES, DIM = (1500, 1000), 32
PAPERS = sum(SIZES)


def papers() -> Vectors:
    """Vectors without clusters, of the same length, half of the first hundred of them twice: neighbours are hard to find."""
    vectors = np.random.default_rng(5).standard_normal((PAPERS, DIM)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    vectors[1:100:2] = vectors[:100:2]
    return vectors


VECTORS = papers()


@pytest.fixture
def _index_however_few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dense_vectors, "SCANS_PER_CANDIDATE", 0)
    monkeypatch.setattr(dense_ann, "IVF_VECTORS", 2)  # else so few lists are all searched


def indexed(folder: Path, factory: str, metric: Metric = "ip") -> list[VectorShard]:
    shards, first = [], 0
    for number, size in enumerate(SIZES):
        vectors, ann = VECTORS[first : first + size], folder / f"{number}.faiss"
        np.save(folder / f"{number}.npy", vectors)
        assert build_ann(ann, vectors, factory, metric)
        shards.append(VectorShard(folder / f"{number}.npy", size, DIM, metric, first, ann))
        first += size
    return shards


def recall_by_hand(shards: list[VectorShard], scope: Scope, effort: Effort) -> float:
    """The mean share of each query's ten nearest others that an answer has, where papers with equal scores count alike."""
    queries = scope.places[np.linspace(0, len(scope) - 1, QUERIES).astype(int)]
    shares = []
    every = VECTORS[queries].astype(float) @ VECTORS.astype(float).T
    for row, scores, (rows, _) in zip(queries, every, search(shards, VECTORS[queries], K + 1, scope, effort), strict=True):
        others = scope.places[scope.places != row]
        tenth = np.partition(scores[others], -K)[-K]
        found = [scores[other] >= tenth - 1e-12 for other in rows if other != row]
        shares.append(min(sum(found), K) / K)
    return float(np.mean(shares))


@pytest.mark.usefixtures("_index_however_few")
@pytest.mark.parametrize(("factory", "name"), [("HNSW4,SQ8", "ef"), ("IVF32,SQ8", "nprobe"), ("SQ4", None)])
def test_recall_is_what_brute_force_counts(tmp_path: Path, factory: str, name: Knob | None) -> None:
    assert knob(factory) == name
    shards = indexed(tmp_path, factory)
    scope = Scope(PAPERS).without(np.arange(0, PAPERS, 7))
    trial = try_out(shards, scope, name, 0.95, 1234)
    assert trial is not None
    assert (trial.knob, trial.target, trial.k, trial.queries, trial.bytes) == (name, 0.95, K, QUERIES, 1234)
    for step in trial.steps:
        effort = USUAL if name is None or step.value is None else Effort.at(name, step.value)
        assert step.recall == pytest.approx(recall_by_hand(shards, scope, effort), abs=6e-5)
    if name is None:
        assert [step.value for step in trial.steps] == [None]
        return
    values = [step.value for step in trial.steps]
    assert values == ([*EFS] if name == "ef" else [2, 4, 8, 16, 32])[: len(values)]
    assert trial.steps[0].recall < 0.95 <= trial.steps[-1].recall
    assert trial.value == next(step.value for step in trial.steps if step.recall >= 0.95)
    assert trial.effort == Effort.at(name, trial.value)
    # a search goes by what was measured: the least effort that reached what is wanted, or every vector
    assert trial.reaching(1) == EXACT
    best = max(step.recall for step in trial.steps)
    for recall in (trial.steps[0].recall, 0.5, 0.95):
        enough = next((step.value for step in trial.steps if step.recall >= recall), None)
        assert trial.reaching(recall) == (EXACT if enough is None else Effort.at(name, enough))
    assert trial.reaching((1 + best) / 2) == EXACT or best == 1
    assert Trial.of(asdict(trial)) == trial


@pytest.mark.usefixtures("_index_however_few")
@pytest.mark.parametrize("metric", METRICS)
def test_an_exact_search_finds_all_that_an_index_misses(tmp_path: Path, metric: Metric) -> None:
    shards = indexed(tmp_path, "IVF32,PQ4x4np", metric)
    for effort, all_found in ((Effort(nprobe=1, deepens=False), False), (EXACT, True)):
        missed = 0
        for row, (rows, _) in zip(range(0, 200, 10), search(shards, VECTORS[:200:10], 10, Scope(PAPERS), effort), strict=True):
            scores = -np.linalg.norm(VECTORS.astype(float) - VECTORS[row], axis=1)  # of vectors of one length, the order of all metrics
            missed += len(set(np.argsort(-scores)[:10].tolist()) - set(rows.tolist()))
            assert len(rows) >= 10
        assert (missed == 0) == all_found


@pytest.mark.usefixtures("_index_however_few")
def test_a_knob_that_is_named_is_what_faiss_gets_and_a_measured_one_deepens(tmp_path: Path) -> None:
    (shard, _) = indexed(tmp_path, "IVF32,Flat")
    assert shard.ann is not None
    assert shard.ann.lists(44) == (1, 32)
    counts = []
    for effort in (Effort(nprobe=1, deepens=False), Effort(nprobe=1), Effort(nprobe=32, deepens=False), Effort(nprobe=1000)):
        ((rows, _),) = shard.ann.candidates(VECTORS[:1], 1000, "ip", None, effort)
        counts.append(len(rows))
    assert counts[0] < 300  # one list
    assert counts[1:] == [1000, 1000, 1000]


@pytest.mark.parametrize("k", [1, 25])
def test_queries_that_are_no_papers_are_asked_of_an_index_however_few_its_papers(tmp_path: Path, k: int) -> None:
    shards, queries = indexed(tmp_path, "IVF32,PQ4x4np"), np.random.default_rng(6).standard_normal((30, DIM)).astype(np.float32)
    questions = Questions(shards, Scope(PAPERS), queries, k=k)
    forced = Effort(nprobe=1, deepens=False, always=True)
    _, answers = questions.ask(shards, forced)
    _, exact_answers = questions.ask(shards, replace(forced, always=False))  # every vector is scored where papers are so few
    scores = queries.astype(float) @ VECTORS.T.astype(float)
    edges = np.sort(scores)[:, -k]
    found = [(row_scores[rows] >= edge - 1e-12).sum() for (rows, _), row_scores, edge in zip(answers, scores, edges, strict=True)]
    assert questions.recall(answers) == pytest.approx(np.mean(np.minimum(found, k)) / k, abs=6e-5)
    assert questions.recall(answers) < 0.9
    assert questions.recall(exact_answers) == 1


def test_where_every_vector_is_scored_there_is_nothing_to_measure(tmp_path: Path) -> None:
    assert try_out(indexed(tmp_path, "IVF32,Flat"), Scope(PAPERS), "nprobe", 0.98, 1) is None


@pytest.mark.parametrize(
    ("dense", "name"),
    [
        *(("hnsw", "ef"), ("ivf", "nprobe"), ("rabitq", "nprobe"), ("flat", None), ("none", None), ("SQ8", None), ("PQ8x4fs", None)),
        *(("HNSW32,SQ8", "ef"), ("PCA16,HNSW32", "ef"), ("IVF16_HNSW32,Flat", "nprobe"), ("OPQ8_16,IVF16,PQ8x4fsr,RFlat", "nprobe")),
    ],
)
def test_the_knob_of_a_type(dense: str, name: str | None) -> None:
    assert knob(dense) == name


TRIAL = asdict(Trial("ef", 0.98, 16, (Step(16, 0.99, 1.5),), 10, 200, 9.5, 1000))


@pytest.mark.parametrize(
    "damage",
    [
        *({"knob": "sel"}, {"knob": None}, {"value": 17}, {"value": None}, {"value": True}, {"steps": []}, {"queries": 0}, {"bytes": "1"}),
        *({"target": -1}, {"exact_milliseconds": float("nan")}, {"steps": [{"value": 16, "recall": "high", "milliseconds": 1}]}, {"x": 1}),
        *({"steps": [{"value": 1 << 40, "recall": 1, "milliseconds": 1}], "value": 1 << 40}, {"steps": [{"value": 16}]}),
    ],
)
def test_facts_of_no_trial_are_refused(damage: dict[str, object]) -> None:
    assert Trial.of(TRIAL)
    with pytest.raises((KeyError, TypeError, ValueError)):
        Trial.of({**TRIAL, **damage})


def test_a_trial_says_what_it_found() -> None:
    trial = Trial.of(TRIAL)
    assert str(trial) == "finds 99 % of the best 10 with ef 16, in 1.5 ms a query on the machine that tried it out (9.5 ms for all vectors)"
    assert ", less than the 99.5 % wanted, " in str(replace(trial, target=0.995))


@pytest.mark.parametrize(
    ("papers", "memory", "dense", "hybrid"),
    [
        *(
            (1_000_000, None, "flat", "flat"),
            (10_000_000, None, "hnsw", "ivf"),
            (1_000_000, 1_600_000_000, "flat", "flat"),
            (1_000_000, 10**9, "hnsw", "ivf"),
        ),
        *((1_000_000, 500_000_000, "ivf", "ivf"), (1_000_000, 200_000_000, "rabitq", "rabitq"), (10, 10**6, "flat", "flat")),
    ],
)
def test_auto_takes_the_quickest_that_fits(papers: int, memory: int | None, dense: str, hybrid: str) -> None:
    assert (auto_dense(papers, 384, memory, False, print), auto_dense(papers, 384, memory, True, print)) == (dense, hybrid)


def test_auto_says_what_the_smallest_needs() -> None:
    with pytest.raises(
        InvalidRequest, match=r"^no dense index of 1,000,000 papers fits into 1,000,000 bytes; .*give (\d+) MB or more"
    ) as caught:
        auto_dense(1_000_000, 384, 10**6, True, print)
    megabytes = int(str(caught.value).split("give ")[1].split(" MB")[0])
    assert auto_dense(1_000_000, 384, megabytes * 10**6, True, print) == "rabitq"


@pytest.mark.parametrize("dense", ["hnsw", "ivf", "rabitq"])
def test_memory_is_about_the_size_of_the_files(tmp_path: Path, dense: str) -> None:
    from sciretrieve.matching.dense import factory_string

    vectors = np.random.default_rng(0).standard_normal((3000, 256)).astype(np.float32)
    assert build_ann(tmp_path / "x.faiss", vectors, factory_string(dense, 3000), "ip")
    assert (tmp_path / "x.faiss").stat().st_size == pytest.approx(resident_bytes(dense, 3000, 256), rel=0.35)

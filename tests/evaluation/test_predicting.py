"""Classification and regression: every printed digit against scikit-learn, run here as SciRepEval's evaluator runs it."""

from __future__ import annotations

import math
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy.stats import kendalltau
from sklearn.metrics import f1_score
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.multiclass import OneVsRestClassifier
from sklearn.svm import LinearSVC, LinearSVR

import sciretrieve as sr
from sciretrieve.base.errors import InvalidRequest, MissingExtra, NotFound
from sciretrieve.evaluation import CATALOGUE, evaluate, predicting
from sciretrieve.evaluation.readers import scirepeval
from tests.evaluation.made_up_benchmarks import paper, write_lines, write_text, write_vectors
from tests.toy_weights import write_bert

Array = npt.NDArray[Any]
TRAIN, TEST = [f"a{number}" for number in range(240)], [f"b{number}" for number in range(90)]
DIM = 6


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    """The oracle's solvers warn that they stop early, as the authors' do."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        yield


def made(seed: int, classes: int, noise: float) -> tuple[dict[str, Array], dict[str, int]]:
    """Vectors around one centre a class, and each paper's class; the first is the most frequent."""
    chance = np.random.default_rng(seed)
    centres = chance.normal(size=(classes, DIM))
    labels = {id: min(int(chance.integers(0, classes + 1)), classes - 1) for id in (*TRAIN, *TEST)}
    return {id: (centres[label] + noise * chance.normal(size=DIM)).astype(np.float32) for id, label in labels.items()}, labels


def written(folder: Path, texts: str, configuration: str, labels: dict[str, Any], parquet: bool = True) -> Path:
    """A task in the layout of the hub, or of the authors' bucket."""
    write_lines(folder / texts / "evaluation.jsonl", (paper(id, "doc_id") for id in (*TRAIN, *TEST)))
    (folder / configuration).mkdir(exist_ok=True)
    for name, ids in (("train", TRAIN), ("test", TEST)):
        if parquet:
            rows = [{"paper_id": id, "label": labels[id]} for id in ids]
            for part in range(2):  # the hub cuts large files
                pq.write_table(pa.Table.from_pylist(rows[part::2]), folder / configuration / f"{name}-0000{part}-of-00002.parquet")
        else:
            write_text(folder / configuration / f"{name}.csv", "paper_id,label\n" + "".join(f"{id},{labels[id]}\n" for id in ids))
    return folder


def matrices(vectors: dict[str, Array], labels: dict[str, Any], parquet: bool = True) -> tuple[Array, Array, Array, Array]:
    """What the evaluator makes of the files: vectors and labels, of papers to learn from and to predict."""
    train, test = ([*ids[::2], *ids[1::2]] if parquet else ids for ids in (TRAIN, TEST))
    x_train, x_test = (np.array([vectors[id] for id in ids if id in vectors]) for ids in (train, test))
    y_train, y_test = (np.array([labels[id] for id in ids if id in vectors]) for ids in (train, test))
    return x_train, x_test, y_train, y_test


def classified(x: Array, x_test: Array, y: Array, cv: int = 3) -> Array:
    model: Any = LinearSVC(loss="squared_hinge", random_state=42)
    if cv:
        model = GridSearchCV(estimator=model, cv=cv, param_grid={"C": np.logspace(-2, 2, 5)})
    return model.fit(x, y).predict(x_test)  # type: ignore[no-any-return]


def few_shot(x: Array, x_test: Array, y: Array, size: int, runs: int) -> list[Array]:
    folds = StratifiedKFold(n_splits=math.ceil(len(x) / size))
    return [classified(x[part], x_test, y[part], cv=0) for _, (_, part) in zip(range(runs), folds.split(x, y), strict=False)]


def f1(truth: Array, predicted: Array, average: str) -> float:
    return float(np.round(100 * f1_score(truth, predicted, average=average), 2))


@pytest.mark.parametrize(
    ("name", "texts", "configuration", "parquet"),
    [
        ("mesh-descriptors", "mesh_descriptors", "mesh_descriptors", True),
        ("scidocs-mag", "scidocs_mag_mesh", "scidocs_mag", True),
        ("scidocs-mesh", "scidocs_mag_mesh", "scidocs_mesh", False),
    ],
)
def test_classes(tmp_path: Path, name: str, texts: str, configuration: str, parquet: bool) -> None:
    vectors, numbers = made(1, 4, 1.2)
    labels = {id: f"class {label}" for id, label in numbers.items()} if name == "scidocs-mag" else numbers
    data = written(tmp_path / "data", texts, configuration, labels, parquet)
    report = evaluate(name, data, embeddings=str(write_vectors(tmp_path / "v.jsonl", vectors))).to_dict()
    x_train, x_test, y_train, y_test = matrices(vectors, labels, parquet)
    expected = f1(y_test, classified(x_train, x_test, y_train), "macro")
    assert 40 < expected < 95
    assert report["rounded"] == {"macro-F1": expected}
    low, high = report["intervals"]["macro-F1"]
    assert low < expected / 100 < high


def test_few_papers_to_learn_from(tmp_path: Path) -> None:
    """Biomimicry: binary F1 on all papers, on 64, and on 16 of them, and the mean of the three."""
    vectors, labels = made(2, 2, 2.0)
    data = written(tmp_path / "data", "biomimicry", "biomimicry", labels)
    report = evaluate("biomimicry", data, embeddings=str(write_vectors(tmp_path / "v.jsonl", vectors)), output=tmp_path / "out")
    x_train, x_test, y_train, y_test = matrices(vectors, labels)
    expected = {"full": f1(y_test, classified(x_train, x_test, y_train), "binary")}
    runs = {size: few_shot(x_train, x_test, y_train, size, count) for size, count in ((64, 50), (16, 100))}
    assert [len(predicted) for predicted in runs.values()] == [4, 15]  # as many samples as there are folds
    for size, predicted in runs.items():
        expected[f"{size}-shot"] = float(np.mean([f1(y_test, one, "binary") for one in predicted]))
    tasks = report.to_dict()["per_task"]
    assert {task: row["measures"]["F1"] for task, row in tasks.items()} == pytest.approx({task: v / 100 for task, v in expected.items()})
    assert report.to_dict()["rounded"] == {"F1": pytest.approx(np.mean(list(expected.values())), abs=0.00501)}
    assert tasks["16-shot"]["intervals"]["F1"][0] < tasks["16-shot"]["measures"]["F1"] < tasks["16-shot"]["intervals"]["F1"][1]
    text = (tmp_path / "out/report.txt").read_text()
    assert "16-shot: learnt from 240 papers in 15 samples, as there are not enough for the protocol's 100; predicted 90" in text
    report_again, differences = sr.evaluation.replay(tmp_path / "out/receipt.json")
    assert differences == []
    assert report_again.to_dict()["per_task"] == tasks


def several_labels(vectors: dict[str, Array], labels: dict[str, int]) -> dict[str, list[int]]:
    """Fields: a paper's class, and another that half of its dimensions decide."""
    return {id: [int(label == 0), int(label == 1), int(label == 2), int(vectors[id][:3].sum() > 0)] for id, label in labels.items()}


def several(x: Array, x_test: Array, y: Array) -> Array:
    estimator = LinearSVC(max_iter=10000, loss="hinge")
    search = GridSearchCV(estimator=estimator, cv=3, param_grid={"C": np.logspace(-2, 2, 5)})
    return OneVsRestClassifier(search, n_jobs=1).fit(x, y).predict(x_test)  # type: ignore[no-any-return]


def test_several_classes_a_paper(tmp_path: Path) -> None:
    vectors, numbers = made(3, 3, 0.7)
    labels = several_labels(vectors, numbers)
    data = written(tmp_path / "data", "fos", "fos", labels)
    report = evaluate("fields-of-study", data, embeddings=str(write_vectors(tmp_path / "v.jsonl", vectors)), task="full")
    x_train, x_test, y_train, y_test = matrices(vectors, labels)
    np.random.seed(42)
    assert report.to_dict()["rounded"] == {"macro-F1": f1(y_test, several(x_train, x_test, y_train), "macro")}
    assert "10-shot" not in "\n".join(report.lines())


def test_few_papers_of_each_of_several_classes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Samples are drawn class by class with the seeds 42, 43, 44."""
    vectors, numbers = made(4, 3, 0.7)
    labels = several_labels(vectors, numbers)
    data = written(tmp_path / "data", "fos", "fos", labels)
    x_train, x_test, y_train, y_test = matrices(vectors, labels)
    figures = []
    for run in range(3):
        np.random.seed(42 + run)
        chosen: set[int] = set()
        for column in range(y_train.shape[1]):
            chosen.update(np.random.choice(np.where(y_train[:, column] == 1)[0], 10, replace=False).tolist())
        rows = list(chosen)
        figures.append(f1(y_test, several(x_train[rows], x_test, y_train[rows]), "macro"))
    material = scirepeval.load_labels(
        data, "test", "fields-of-study", texts="fos", configuration="fos", label="classes", measure="macro-F1", few_shot=[(10, 3)]
    )
    monkeypatch.setattr(sr.evaluation.requests, "read_for", lambda _: (CATALOGUE["fields-of-study"], [material]))
    report = evaluate("fields-of-study", data, embeddings=str(write_vectors(tmp_path / "v.jsonl", vectors))).to_dict()
    assert report["per_task"]["10-shot"]["measures"]["macro-F1"] == pytest.approx(np.mean(figures) / 100)
    assert len(set(figures)) > 1


@pytest.mark.parametrize(
    ("name", "texts", "configuration"),
    [("citation-count", "cite_count", "cite_count"), ("max-h-index", "peer_review_score_hIndex", "hIndex")],
)
def test_numbers(tmp_path: Path, name: str, texts: str, configuration: str) -> None:
    vectors, classes = made(5, 3, 1.0)
    labels = {id: round(float(vector[0] - vector[1] ** 2 + classes[id]), 1) for id, vector in vectors.items()}
    data = written(tmp_path / "data", texts, configuration, labels)
    x_train, x_test, y_train, y_test = matrices(vectors, labels)
    model = GridSearchCV(estimator=LinearSVR(random_state=42), cv=3, param_grid={"C": np.logspace(-4, 2, 7)})
    tau = kendalltau(y_test, model.fit(x_train, y_train).predict(x_test))[0]
    report = evaluate(name, data, embeddings=str(write_vectors(tmp_path / "v.jsonl", vectors)))
    assert report.to_dict()["rounded"] == {"tau": float(np.round(100 * tau, 2))}
    low, high = report.to_dict()["intervals"]["tau"]
    assert low < tau < high
    assert report.metric == "linear support vectors"
    text = "\n".join(report.lines())
    assert "full: learnt from 240 papers; predicted 90" in text
    assert "queries" not in text


def test_several_processes_fit_the_same_models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    vectors, numbers = made(3, 3, 0.7)
    data = written(tmp_path / "data", "fos", "fos", several_labels(vectors, numbers))
    written(data, "pub_year", "pub_year", numbers)
    options: Any = {"embeddings": str(write_vectors(tmp_path / "v.jsonl", vectors)), "task": "full"}
    alone = [evaluate(name, data, **options).to_dict()["rounded"] for name in ("fields-of-study", "publication-year")]
    monkeypatch.setattr(predicting, "PARALLEL", 0)
    assert [evaluate(name, data, **options).to_dict()["rounded"] for name in ("fields-of-study", "publication-year")] == alone


def test_papers_without_a_vector_are_left_out_and_counted(tmp_path: Path) -> None:
    vectors, labels = made(6, 3, 1.0)
    del vectors["a5"], vectors["b2"], vectors["b7"]
    data = written(tmp_path / "data", "drsm", "drsm", labels)
    report = evaluate("drsm", data, embeddings=str(write_vectors(tmp_path / "v.jsonl", vectors)), task="full")
    x_train, x_test, y_train, y_test = matrices(vectors, labels)
    assert report.to_dict()["rounded"] == {"macro-F1": f1(y_test, classified(x_train, x_test, y_train), "macro")}
    assert "full: learnt from 239 papers; predicted 88; left out 3 without a vector" in "\n".join(report.lines())
    other = write_vectors(tmp_path / "other.jsonl", {"x": vectors["a1"], "y": vectors["a2"]})
    with pytest.raises(InvalidRequest, match="none of the labelled papers of full has a vector, 'a0' first"):
        evaluate("drsm", data, embeddings=str(other))


@pytest.mark.parametrize(
    ("name", "folders", "code"), [("drsm", ("drsm", "drsm"), "[CLF]"), ("tweet-mentions", ("tweet_mentions",) * 2, "[RGN]")]
)
def test_the_control_code_of_the_format_is_before_papers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, folders: tuple[str, str], code: str
) -> None:
    monkeypatch.setenv("SCIRETRIEVE_MODELS", str(tmp_path / "models"))
    write_bert(tmp_path / "models/allenai/scirepeval_ctrl", 6, extra=["[CLF]", "[PRX]", "[QRY]", "[RGN]"])
    _, labels = made(7, 3, 1.0)
    data = written(tmp_path / "data", *folders, labels)
    report = evaluate(name, data, encoder="scirepeval-ctrl", task="full", precision="fp32", cache=str(tmp_path / "cache"))
    index = sr.open(report.facts["index"])
    expected = sr.load_encoder("scirepeval-ctrl", adapter=code, bare_titles=True, precision="fp32").encode_papers(
        index.papers(["a0", "a1"])
    )
    rows = [index.snapshot.live_ids().index(id) for id in ("a0", "a1")]
    np.testing.assert_allclose(np.concatenate([shard.vectors for shard in index.snapshot.vectors])[rows], expected, atol=1e-5)
    text = "\n".join(report.lines())
    assert f"papers are read as {code} {{title}}{{sep}}{{abstract}}" in text
    assert "do not compare" not in text
    proximity = evaluate(
        name, data, encoder="scirepeval-ctrl", adapter="[PRX]", task="full", precision="fp32", cache=str(tmp_path / "cache")
    )
    assert any(f"for {code}; here it read papers for [PRX], so figures do not compare" in note for note in proximity.notes)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"mode": "bm25"}, "predicts labels from vectors, so it goes with `mode='dense'` or `embeddings` only"),
        ({"mode": "hybrid"}, "goes with `mode='dense'`"),
        ({"scores": "x.trec"}, "goes with `mode='dense'`"),
        ({"rerank": "minilm"}, "goes with `mode='dense'`"),
        ({"metric": "l2"}, "predicts labels, by macro-F1; `metric`, `measures` and `self_matches` are for rankings"),
        ({"measures": ("nDCG",)}, "are for rankings"),
        ({"task": "8-shot"}, "drsm has no task '8-shot'; there are: full, 64-shot, 24-shot"),
    ],
)
def test_what_does_not_go_with_labels_is_refused(tmp_path: Path, options: Any, words: str) -> None:
    data = written(tmp_path / "data", "drsm", "drsm", made(8, 3, 1.0)[1])
    with pytest.raises(InvalidRequest, match=words.replace("(", r"\(")):
        evaluate("drsm", data, cache=str(tmp_path / "cache"), **options)
    assert not (tmp_path / "cache").exists()


def test_an_index_without_vectors_is_refused(tmp_path: Path) -> None:
    data = written(tmp_path / "data", "drsm", "drsm", made(8, 3, 1.0)[1])
    write_lines(tmp_path / "papers.jsonl", (paper(id, "id") for id in TRAIN))
    index = sr.build(tmp_path / "papers.jsonl", tmp_path / "index", dense="none")
    with pytest.raises(InvalidRequest, match="labels are predicted from vectors"):
        evaluate("drsm", data, index=str(index.path))


def test_without_scikit_learn_one_line_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = written(tmp_path / "data", "drsm", "drsm", made(8, 3, 1.0)[1])
    monkeypatch.setitem(sys.modules, "sklearn", None)
    with pytest.raises(MissingExtra, match=r'needs the package scikit-learn, .*: pip install "sciretrieve\[evaluate\]"') as caught:
        evaluate("drsm", data)
    assert caught.value.exit_code == 4


@pytest.mark.parametrize(
    ("name", "folder", "content", "words"),
    [
        ("biomimicry", "biomimicry", "doc_id,title\na1,Words\n", r"train\.csv, line 2: no paper_id; found doc_id, title"),
        ("biomimicry", "biomimicry", "paper_id,label\na1,\n", r"train\.csv: the classes must be 0 and 1, and '' is among them"),
        ("biomimicry", "biomimicry", "paper_id\na1\n", r"train\.csv, line 2: no label"),
        ("biomimicry", "biomimicry", "paper_id,label\na1,7\n", r"the classes must be 0 and 1, and '7' is among them"),
        ("biomimicry", "biomimicry", "paper_id,label\n", r"train\.csv has no labelled papers"),
        ("drsm", "drsm", "paper_id,label\na1,x\na2,x\na3,x\n", r"full: no model can be fitted to these labels: .*class"),
        ("citation-count", "cite_count", "paper_id,label\na1,many\n", r"line 2: the label 'many' is not a number"),
        ("citation-count", "cite_count", "paper_id,label\na1,nan\n", r"line 2: the label 'nan' is not a number"),
        ("fields-of-study", "fos", "paper_id,label\na1,1\n", r"line 2: the label must be a list of numbers, 0 or 1 for each class, not 1"),
    ],
)
def test_a_bad_file_of_labels_is_one_line(tmp_path: Path, name: str, folder: str, content: str, words: str) -> None:
    vectors, labels = made(9, 3, 1.0)
    data = written(tmp_path / "data", folder, folder, labels, parquet=False)
    write_text(data / folder / "train.csv", content)
    with pytest.raises(InvalidRequest, match=words):
        evaluate(name, data, embeddings=str(write_vectors(tmp_path / "v.jsonl", vectors)), task="full")


def test_tau_of_equal_labels_is_refused(tmp_path: Path) -> None:
    vectors, labels = made(9, 3, 1.0)
    data = written(tmp_path / "data", "cite_count", "cite_count", labels | dict.fromkeys(TEST, 1))
    with pytest.raises(InvalidRequest, match="full: tau is not defined, as all labels, or all predictions, are equal"):
        evaluate("citation-count", data, embeddings=str(write_vectors(tmp_path / "v.jsonl", vectors)))


def test_labels_of_different_lengths_are_refused(tmp_path: Path) -> None:
    _, labels = made(9, 3, 1.0)
    flags = {id: [int(label == 0), 1] for id, label in labels.items()}
    data = written(tmp_path / "data", "fos", "fos", {**flags, "a2": [1, 0, 0]})
    with pytest.raises(InvalidRequest, match="line 2: the label must be 2 numbers, 0 or 1 for each class"):
        evaluate("fields-of-study", data)
    data = written(tmp_path / "data", "fos", "fos", {id: [*flag, 1] if id in TEST else flag for id, flag in flags.items()})
    with pytest.raises(InvalidRequest, match="papers to learn from have 2 classes, those to predict 3"):
        evaluate("fields-of-study", data)


def test_missing_files_are_named(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match=r"drsm needs evaluation-\*\.parquet or .* see `sciretrieve benchmarks show drsm`"):
        evaluate("drsm", tmp_path)
    data = written(tmp_path / "data", "scidocs_mag_mesh", "scidocs_mag", made(1, 4, 1.0)[1])
    with pytest.raises(NotFound, match=r"scidocs-mesh needs train-\*\.parquet or train\.parquet or train\.csv"):
        evaluate("scidocs-mesh", data)

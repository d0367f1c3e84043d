"""SciDocs' classes, by the nearest label (SciMult) and by a linear model (SciDocs), against scikit-learn; the average of Multi-SciDocs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from sklearn.metrics import f1_score
from sklearn.model_selection import GridSearchCV
from sklearn.svm import LinearSVC
from typer.testing import CliRunner

from sciretrieve.base.errors import InvalidRequest, NotFound
from sciretrieve.commands.app import app
from sciretrieve.evaluation import evaluate, evaluate_suite
from tests.evaluation.made_up_benchmarks import SCIDOCS, paper, write_lines, write_scidocs, write_text, write_vectors

Array = npt.NDArray[Any]
IDS = [f"p{number:03d}" for number in range(150)]
SIZES = {"MAG": 7, "MeSH": 4}
DIM = 5


def per_cent(truth: Any, predicted: Any, average: str) -> float:
    return round(100 * float(f1_score(truth, predicted, average=average)), 2)


def coarse(folder: Path, ids: list[str] = IDS) -> tuple[dict[str, Array], dict[str, Array], dict[str, list[int]]]:
    """SciMult's folder: classes with name and definition, papers with the place of their class; and vectors of both."""
    chance = np.random.default_rng(0)
    classes = {f"{name}{place}": chance.normal(size=DIM).astype(np.float32) for name, size in SIZES.items() for place in range(size)}
    papers, places = {}, {}
    for name, size in SIZES.items():
        places[name] = chance.integers(0, size - 1, len(ids)).tolist()  # the last class is true of no paper, but predicted
        labels = [{"label": f"{name}{place}", "name": [f"name {place}", "other"], "definition": "words"} for place in range(size)]
        write_lines(folder / f"classification_coarse/{name}_label.json", labels)
        rows = ({**paper(f"{name}-{id}", "paper"), "label": place} for id, place in zip(ids, places[name], strict=True))
        write_lines(folder / f"classification_coarse/{name}_papers_test.json", rows)
        for id, place in zip(ids, places[name], strict=True):
            papers[f"{name}-{id}"] = (classes[f"{name}{place}"] + chance.normal(size=DIM)).astype(np.float32)
    return classes, papers, places


def test_the_nearest_class_is_predicted(tmp_path: Path) -> None:
    classes, papers, places = coarse(tmp_path / "data")
    options: Any = {
        "embeddings": str(write_vectors(tmp_path / "v.jsonl", classes)),
        "query_embeddings": str(write_vectors(tmp_path / "q.jsonl", papers)),
    }
    report = evaluate("scimult-coarse", tmp_path / "data", output=tmp_path / "out", **options)
    cosine = evaluate("scimult-coarse", tmp_path / "data", metric="cosine", **options).to_dict()["per_task"]
    for name, size in SIZES.items():
        labels = np.array([classes[f"{name}{place}"] for place in range(size)])
        vectors = np.array([papers[f"{name}-{id}"] for id in IDS])
        predicted = (vectors @ labels.T).argmax(axis=1).tolist()
        expected = {f"{kind}-F1": per_cent(places[name], predicted, kind) for kind in ("macro", "micro")}
        assert set(predicted) - set(places[name])  # a class that counts 0
        assert 20 < expected["macro-F1"] < 90
        assert report.to_dict()["per_task"][name]["rounded"] == expected
        lengths = np.linalg.norm(labels, axis=1)
        nearest = (vectors @ labels.T / lengths).argmax(axis=1).tolist()
        assert cosine[name]["rounded"]["macro-F1"] == per_cent(places[name], nearest, "macro")
        for measure, (low, high) in report.to_dict()["per_task"][name]["intervals"].items():
            assert low < report.to_dict()["per_task"][name]["measures"][measure] < high
        assert set(report.to_dict()["per_task"][name]["intervals"]) == {"macro-F1", "micro-F1"}
    assert report.to_dict()["measures"] == {}
    run = (tmp_path / "out/mag/run.trec").read_text().splitlines()
    assert len(run) == len(IDS) * SIZES["MAG"]
    alone = evaluate("scimult-coarse", tmp_path / "data", task="MeSH", **options).to_dict()
    assert alone["rounded"] == report.to_dict()["per_task"]["MeSH"]["rounded"]


@pytest.mark.parametrize("mode", ["bm25", "hybrid"])
def test_classes_are_ranked_in_any_mode(tmp_path: Path, mode: Any) -> None:
    """The paper has BM25's macro-F1, too."""
    names = ("stars", "cells", "laws")
    labels = [{"label": str(place), "name": [name], "definition": ""} for place, name in enumerate(names)]
    write_lines(tmp_path / "data/MAG_label.json", labels)
    rows = [{"paper": f"p{at}", "title": f"On {names[at % 3]}", "abstract": "", "label": 0 if at == 5 else at % 3} for at in range(9)]
    write_lines(tmp_path / "data/MAG_papers_test.json", rows)
    report = evaluate("scimult-coarse", tmp_path / "data", mode=mode, cache=tmp_path / "cache").to_dict()
    truth = [row["label"] for row in rows]
    assert report["rounded"] == {f"{kind}-F1": per_cent(truth, [at % 3 for at in range(9)], kind) for kind in ("macro", "micro")}
    assert "tasks whose files are missing are left out: MeSH" in report["notes"]


def test_papers_without_an_answer_are_wrong(tmp_path: Path) -> None:
    _, _, places = coarse(tmp_path / "data", IDS[:4])
    right, other = (f"MAG{place}" for place in (places["MAG"][0], places["MAG"][0] + 1))
    path = write_text(tmp_path / "scores.json", json.dumps({"MAG-p000": {right: 2.0, other: 1.0}}))
    report = evaluate("scimult-coarse", tmp_path / "data", scores=str(path), task="MAG").to_dict()
    assert report["rounded"]["micro-F1"] == 25
    assert report["counts"]["MAG"]["unanswered_queries"] == 3
    truth = [str(place) for place in places["MAG"]]
    assert report["rounded"]["macro-F1"] == per_cent(truth, [truth[0], "", "", ""], "macro")


def test_bad_classes_are_one_line(tmp_path: Path) -> None:
    coarse(tmp_path / "data")
    with pytest.raises(InvalidRequest, match="scimult-coarse predicts classes, by macro-F1; `measures` is for rankings"):
        evaluate("scimult-coarse", tmp_path / "data", measures=("nDCG",))
    for label, shown in ((7, "7"), ("MAG1", "MAG1"), (None, "None")):
        write_lines(tmp_path / "data/classification_coarse/MAG_papers_test.json", [{**paper("p", "paper"), "label": label}])
        with pytest.raises(InvalidRequest, match=rf"the place of its class in MAG_label\.json, 0 to 6, not {shown}"):
            evaluate("scimult-coarse", tmp_path / "data")


def scidocs(folder: Path) -> tuple[dict[str, Array], dict[str, dict[str, int]]]:
    """SciDocs' folder, the names of columns as they happen to be; and vectors, which two papers lack."""
    chance = np.random.default_rng(1)
    vectors: dict[str, Array] = {}
    labels: dict[str, dict[str, int]] = {}
    centres = chance.normal(size=(4, DIM))
    for task in ("mag", "mesh"):
        ids = [f"{task}{id}" for id in IDS]
        labels[task] = {id: int(chance.integers(0, 4)) for id in ids}
        vectors |= {id: (centres[label] + chance.normal(size=DIM)).astype(np.float32) for id, label in labels[task].items()}
        for split, part in (("train", ids[:90]), ("val", ids[90:110]), ("test", ids[110:])):
            write_text(folder / task / f"{split}.csv", "pid,class_label\n" + "".join(f"{id},{labels[task][id]}\n" for id in part))
    write_text(folder / "paper_metadata_mag_mesh.json", json.dumps({id: paper(id) for id in vectors}))
    for id in ("mag" + IDS[3], "mag" + IDS[120]):
        del vectors[id]
    return vectors, labels


def solved(vectors: dict[str, Array], labels: dict[str, int], test: slice) -> float:
    """As scidocs/classification.py does it, with scikit-learn's solver."""
    ids = list(labels)
    x = np.array([vectors.get(id, np.zeros(DIM)) for id in ids])
    y = np.array(list(labels.values()))
    search = GridSearchCV(LinearSVC(loss="squared_hinge", random_state=42), cv=3, param_grid={"C": np.logspace(-4, 2, 7)})
    predicted = search.fit(x[:90], y[:90]).predict(x[test])
    return float(np.round(100 * f1_score(y[test], predicted, average="macro"), 2))


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize(("split", "part"), [("test", slice(110, 150)), ("val", slice(90, 110))])
def test_scidocs_own_protocol_of_classes(tmp_path: Path, split: str, part: slice) -> None:
    vectors, labels = scidocs(tmp_path / "data")
    report = evaluate("scidocs-classes", tmp_path / "data", embeddings=str(write_vectors(tmp_path / "v.jsonl", vectors)), split=split)
    per_task = report.to_dict()["per_task"]
    for task, name in (("mag", "MAG"), ("mesh", "MeSH")):
        assert per_task[name]["rounded"]["macro-F1"] == solved(vectors, labels[task], part)
    zeros = {"test": 2, "val": 1}[split]
    expected = f"MAG: learnt from 90 papers; predicted {part.stop - part.start}; {zeros} without a vector took zeros"
    assert any(line.startswith(expected) for line in report.lines())


def test_lines_of_classes_have_two_columns(tmp_path: Path) -> None:
    scidocs(tmp_path)
    write_text(tmp_path / "mag/train.csv", "pid,class_label\nmag1,2,3\n")
    with pytest.raises(InvalidRequest, match=r"mag/train\.csv, line 2: expected an id and a class, found 3 columns"):
        evaluate("scidocs-classes", tmp_path)
    write_text(tmp_path / "mag/train.csv", "pid,class_label\n")
    with pytest.raises(InvalidRequest, match=r"mag/train\.csv has no labelled papers"):
        evaluate("scidocs-classes", tmp_path)


def multi_scidocs(folder: Path) -> dict[str, Array]:
    vectors, _ = scidocs(folder)
    chance = np.random.default_rng(2)
    ids = list(vectors)[:60]
    qrels = {
        task: {query: {str(other): int(chance.random() < 0.2) for other in chance.choice(ids, 20, replace=False)} for query in ids[:9]}
        for task in ("cite", "cocite")
    }
    write_scidocs(folder, qrels, ids, "paper_metadata.json")
    return vectors


def test_judgements_are_those_beside_the_metadata(tmp_path: Path) -> None:
    vectors = multi_scidocs(tmp_path / "multi")
    options: Any = {"embeddings": str(write_vectors(tmp_path / "v.jsonl", vectors))}
    alone = evaluate("multi-scidocs", tmp_path / "multi", **options).to_dict()["per_task"]
    write_scidocs(tmp_path / "scidocs", {key: {"magp000": {"magp001": 1}} for key in SCIDOCS}, ("magp000", "magp001"))
    assert evaluate("multi-scidocs", tmp_path, **options).to_dict()["per_task"] == alone
    assert evaluate("scidocs-rerank", tmp_path, **options).to_dict()["per_task"]["cite"]["judged_queries"] == 1


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_the_average_of_multi_scidocs_is_that_of_five_figures(tmp_path: Path) -> None:
    vectors = multi_scidocs(tmp_path / "data")
    options: Any = {"embeddings": str(write_vectors(tmp_path / "v.jsonl", vectors))}
    report = evaluate_suite("multi-scidocs-all", tmp_path / "data", output=tmp_path / "out", **options)
    mag = evaluate("scidocs-classes", tmp_path / "data", task="MAG", **options).to_dict()["rounded"]["macro-F1"]
    ranked = evaluate("multi-scidocs", tmp_path / "data", **options).to_dict()["per_task"]
    five = [mag, *(ranked[task]["rounded"][measure] for task in ("cite", "co-cite") for measure in ("MAP", "nDCG"))]
    assert [value for _, value in report.figures] == five
    average, *counts = report.averages["average"]
    assert list(report.averages) == ["average"]
    assert average == pytest.approx(np.mean(five))
    assert counts == [5, 5]
    assert report.to_dict()["rounded"] == {"average": round(float(np.mean(five)), 2)}
    # only the field is predicted, not the disease
    assert list(json.loads((tmp_path / "out/scidocs-classes/report.json").read_text())["counts"]) == ["MAG"]
    assert "the mean of 5 figures\n" in CliRunner().invoke(app, ["benchmarks", "show", "multi-scidocs-all"]).stdout


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_an_average_of_multi_scidocs_over_a_part_is_in_brackets(tmp_path: Path) -> None:
    vectors = multi_scidocs(tmp_path / "data")
    (tmp_path / "data/cocite/test.qrel").unlink()
    options: Any = {"embeddings": str(write_vectors(tmp_path / "v.jsonl", vectors)), "output": tmp_path / "out"}
    report = evaluate_suite("multi-scidocs-all", tmp_path / "data", **options)
    assert report.to_dict()["measures"] == {}
    assert report.to_dict()["incomplete"]["average"]["figures"] == 3
    text = "\n".join(report.lines())
    assert "average is the mean of 3 of its 5 figures" in text
    assert "left out: multi. co-cite: there are no files of multi-scidocs's task co-cite" in text
    # what was left out is there now: the same command takes it in, and does not do again what is done
    done = (tmp_path / "out/scidocs-classes/receipt.json").stat().st_mtime_ns
    write_text(tmp_path / "data/cocite/test.qrel", (tmp_path / "data/cite/test.qrel").read_text())
    assert evaluate_suite("multi-scidocs-all", tmp_path / "data", **options).averages["average"][1:] == (5, 5)
    assert (tmp_path / "out/scidocs-classes/receipt.json").stat().st_mtime_ns == done
    for task in ("cite", "cocite"):
        (tmp_path / f"data/{task}/test.qrel").unlink()
    with pytest.raises(NotFound, match=r"multi-scidocs needs cite/test\.qrel under .*; these look like the files of scidocs-classes$"):
        evaluate("multi-scidocs", tmp_path / "data")

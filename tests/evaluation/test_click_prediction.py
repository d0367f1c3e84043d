"""SciDocs' recommendations: the network against torch, its inputs by hand, and figures weighed by places' propensities."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sciretrieve.base.errors import InvalidRequest
from sciretrieve.evaluation import click_prediction, evaluate, evaluate_suite
from sciretrieve.evaluation.click_prediction import Network, fit
from sciretrieve.evaluation.published import PUBLISHED
from tests.evaluation.made_up_benchmarks import write_text, write_vectors

IDS = [f"p{number:02d}" for number in range(60)]
PROPENSITIES = [0.5, 0.3, 0.2, 0.1, 0.05]


def test_training_is_that_of_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    """Autograd, Adadelta and clipping by value, from the same weights in the same order; dropout is tested below."""
    torch = pytest.importorskip("torch")
    monkeypatch.setattr(click_prediction, "DROPOUT", 0.0)
    chance = np.random.default_rng(1)
    clicked, others, val_clicked, val_others = (chance.normal(size=(size, 11)) for size in (300, 300, 140, 140))
    found = fit(clicked, others, val_clicked, val_others, 0.004)  # so small that some gradients are clipped

    ours = np.random.default_rng(7)
    start = Network.drawn(ours)
    model = torch.nn.Sequential(torch.nn.Linear(11, 50), torch.nn.ReLU(), torch.nn.Linear(50, 1), torch.nn.Sigmoid()).double()
    with torch.no_grad():
        for parameter, part in zip(model.parameters(), start.parts, strict=True):
            parameter.copy_(torch.tensor(part.T if part.ndim == 2 else part))
            parameter.register_hook(lambda slope: slope.clamp(-5, 5))
    optimiser = torch.optim.Adadelta(model.parameters(), rho=0.95)
    ranking = torch.nn.MarginRankingLoss(0.1)
    x, y, val_x, val_y = map(torch.tensor, (clicked, others, val_clicked, val_others))
    losses, states = [], []
    clipped = 0
    for _ in range(5):
        order = ours.permutation(300)
        for first in range(0, 300, 128):
            rows = order[first : first + 128]
            ours.random((2, len(rows), 50))
            optimiser.zero_grad()
            (ranking(model(x[rows]), model(y[rows]), torch.ones(len(rows), 1)) / 0.004).backward()
            clipped += sum(int((parameter.grad.abs() == 5).sum()) for parameter in model.parameters())
            optimiser.step()
        batches = [slice(0, 128), slice(128, 140)]
        losses.append(np.mean([ranking(model(val_x[rows]), model(val_y[rows]), torch.ones(1, 1)).item() for rows in batches]))
        states.append([parameter.detach().numpy().copy() for parameter in model.parameters()])
    assert clipped
    for part, theirs in zip(found.parts, states[int(np.argmin(losses))], strict=True):
        np.testing.assert_allclose(part, theirs.T if part.ndim == 2 else theirs, rtol=1e-7, atol=1e-9)
    last = fit(clicked, others, val_clicked[:0], val_others[:0], 0.004)
    np.testing.assert_allclose(last.first, states[-1][0].T, rtol=1e-7, atol=1e-9)


def test_dropout_is_in_the_gradient() -> None:
    torch = pytest.importorskip("torch")
    chance = np.random.default_rng(2)
    network = Network.drawn(chance)
    clicked, others = chance.normal(size=(2, 20, 11))
    masks = (chance.random((2, 20, 50)) >= 0.4) / 0.6
    parts = [torch.tensor(part, requires_grad=True) for part in network.parts]

    def scores(rows: Any, mask: Any) -> Any:
        hidden = torch.relu(torch.tensor(rows) @ parts[0] + parts[1]) * torch.tensor(mask)
        return torch.sigmoid(hidden @ parts[2] + parts[3])

    loss = torch.clamp(0.1 - scores(clicked, masks[0]) + scores(others, masks[1]), min=0).mean() / 0.5
    loss.backward()
    for ours, theirs in zip(network.gradient(clicked, others, masks[0], masks[1], 0.5), parts, strict=True):
        np.testing.assert_allclose(ours, theirs.grad.numpy(), rtol=1e-9, atol=1e-12)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Users click the nearest of five papers, whatever its place; facts are the same for all papers."""
    chance = np.random.default_rng(3)
    directions = chance.normal(size=(len(IDS), 6))
    vectors = dict(zip(IDS, (directions / np.linalg.norm(directions, axis=1, keepdims=True)).astype(np.float32), strict=True))
    write_vectors(tmp_path / "v.jsonl", vectors)
    for part, count in (("train", 600), ("val", 60), ("test", 80)):
        lines = "query_id,clicked_id,other_ids\n"
        for number in range(count):
            query, *shown = (str(id) for id in chance.choice(IDS, 6, replace=False))
            nearest = max(shown, key=lambda id: float(vectors[query] @ vectors[id]))
            clicked = shown[int(chance.integers(5))] if part == "test" and number % 3 == 0 else nearest
            lines += f'{query},{clicked},"{",".join(shown)}"\n'
        write_text(tmp_path / f"data/recomm/{part}.csv", lines)
    write_text(tmp_path / "data/recomm/propensity_scores.json", json.dumps({"scores": PROPENSITIES}))
    facts: dict[str, Any] = {"title": "", "abstract": "a", "authors": [], "references": [], "cited_by": [], "year": None}
    write_text(tmp_path / "data/paper_metadata_recomm.json", json.dumps({id: {"paper_id": id, **facts} for id in IDS}))
    return tmp_path / "data"


def clicks_of(path: Path) -> list[tuple[str, str, list[str]]]:
    rows = [re.fullmatch(r'(\w+),(\w+),"(.+)"', line) for line in path.read_text().splitlines()[1:]]
    return [(row[1], row[2], row[3].split(",")) for row in rows if row]


def test_figures_weigh_clicks_by_one_over_their_places_propensity(data: Path, tmp_path: Path) -> None:
    report = evaluate("scidocs-recomm", data, embeddings=str(tmp_path / "v.jsonl"), output=tmp_path / "out").to_dict()
    vectors = {row["paper_id"]: np.array(row["embedding"]) for row in map(json.loads, (tmp_path / "v.jsonl").read_text().splitlines())}
    above, below, first = 0.0, 0.0, 0.0
    for query, clicked, shown in clicks_of(data / "recomm/test.csv"):
        rank = sum(float(vectors[query] @ vectors[id]) > float(vectors[query] @ vectors[clicked]) for id in shown)
        weight = 1 / PROPENSITIES[shown.index(clicked)]
        above += weight / np.log2(2 + rank)
        first += weight * (rank == 0)
        below += weight
    assert report["rounded"] == {"adj-NDCG": round(100 * above / below, 2), "adj-P@1": round(100 * first / below, 2)}
    assert 50 < report["rounded"]["adj-P@1"] < 100
    low, high = report["intervals"]["adj-P@1"]
    assert low < report["measures"]["adj-P@1"] < high
    text = (tmp_path / "out/report.txt").read_text()
    assert "recomm: learnt from 600 clicks; predicted 80" in text
    assert "Multi2SPE on SPECTER's triples, CS" in text
    assert report["protocol"]["score"] == "a network that learns clicks from the cosine and metadata"
    assert evaluate("scidocs-recomm", data, split="val", embeddings=str(tmp_path / "v.jsonl")).to_dict()["rounded"]["adj-P@1"] > 90


def test_ties_are_half_above(data: Path, tmp_path: Path) -> None:
    """Equal papers give equal scores: a click is above half of the four others."""
    write_vectors(tmp_path / "same.jsonl", dict.fromkeys(IDS, np.ones(6, np.float32)))
    report = evaluate("scidocs-recomm", data, embeddings=str(tmp_path / "same.jsonl")).to_dict()
    assert report["rounded"] == {"adj-NDCG": round(100 / np.log2(4), 2), "adj-P@1": 0.0}


def test_what_is_known_of_papers_is_learnt_too(data: Path, tmp_path: Path) -> None:
    """Vectors say nothing here; each of the facts alone finds the clicked paper."""
    papers = json.loads((data / "paper_metadata_recomm.json").read_text())
    chance = np.random.default_rng(5)
    facts: dict[str, Any] = {
        "authors": lambda query: {"authors": papers[query]["authors"]},
        "title": lambda query: {"title": papers[query]["title"]},
        "cited": lambda query: {"cited_by": [query]},
        "citing": lambda query: {"references": [query]},
        "year": lambda _: {"year": 1990},
    }
    for name, fact in facts.items():
        folder = tmp_path / name
        known: dict[str, Any] = {}
        for part, count in (("train", 300), ("val", 40), ("test", 30)):
            lines = "query_id,clicked_id,other_ids\n"
            for number in range(count):
                query, *shown = (f"{part}{number}-{at}" for at in range(5))
                for id in (query, *shown):
                    known[id] = {"title": f"T-{id} about", "authors": [id], "references": [], "cited_by": [], "year": 2015}
                papers[query] = known[query]
                clicked = shown[int(chance.integers(4))]
                known[clicked] |= fact(query)
                lines += f'{query},{clicked},"{",".join(shown)}"\n'
            write_text(folder / f"recomm/{part}.csv", lines)
        write_text(
            folder / "paper_metadata_recomm.json", json.dumps({id: {"paper_id": id, "abstract": "", **row} for id, row in known.items()})
        )
        write_text(folder / "recomm/propensity_scores.json", json.dumps({"scores": PROPENSITIES}))
        vectors = str(write_vectors(folder / "v.jsonl", dict.fromkeys(known, np.ones(3, np.float32))))
        report = evaluate("scidocs-recomm", folder, embeddings=vectors).to_dict()
        assert report["rounded"]["adj-P@1"] == 100, name


def test_an_average_of_table_4_follows_from_all_twelve_figures(data: Path, tmp_path: Path) -> None:
    figures: dict[str, list[float]] = {}
    for benchmark in ("scidocs-classes", "scidocs-rerank", "scidocs-recomm"):
        for row in PUBLISHED[benchmark]:
            if row.source == "Multi2SPE, Table 4":
                figures.setdefault(row.system, []).extend(row.values.values())
    averages = {row.system: row.values["", "average"] for row in PUBLISHED["scidocs-all"]}
    assert len(averages) == 18
    for system, printed in averages.items():
        assert len(figures[system]) == 12
        assert np.mean(figures[system]) == pytest.approx(printed, abs=0.051 if system.endswith("paper") else 0.0111), system
    report = evaluate_suite("scidocs-all", data, embeddings=str(tmp_path / "v.jsonl"))
    assert [figure.measure for figure, _ in report.figures] == ["adj-NDCG", "adj-P@1"]
    assert report.averages["average"][1:] == (2, 12)


@pytest.mark.parametrize(
    ("file", "text", "message"),
    [
        ("recomm/test.csv", "a,b,c\np01,p02,p03\n", r"test\.csv, line 2: expected a query, the clicked paper, and the shown papers"),
        ("recomm/val.csv", "a,b,c\n", r"val\.csv has no clicks"),
        ("recomm/train.csv", 'a,b,c\np01,p07,"p02,p03,p04,p05,p06,p07"\n', r"line 2: place 6 was clicked, and there are 5 propensities"),
        ("recomm/propensity_scores.json", '{"scores": [0]}', "has no list 'scores' of numbers above 0"),
    ],
)
def test_invalid_files_are_named(data: Path, tmp_path: Path, file: str, text: str, message: str) -> None:
    write_text(data / file, text)
    with pytest.raises(InvalidRequest, match=message):
        evaluate("scidocs-recomm", data, embeddings=str(tmp_path / "v.jsonl"))


def test_what_does_not_go_with_clicks(data: Path, tmp_path: Path) -> None:
    with pytest.raises(InvalidRequest, match=r"scidocs-recomm predicts clicks from vectors, so it goes with `mode='dense'`"):
        evaluate("scidocs-recomm", data, mode="bm25")
    vectors = {row: np.ones(3, np.float32) for row in ("x1", "x2")}
    with pytest.raises(InvalidRequest, match="none of the papers of recomm has a vector"):
        evaluate("scidocs-recomm", data, embeddings=str(write_vectors(tmp_path / "others.jsonl", vectors)))

"""Sweeps of a matrix: each combination against an evaluation by itself, what they share, the table, the plot and what is refused."""

from __future__ import annotations

import json
import random
import shutil
import sys
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

from sciretrieve.base.errors import InvalidRequest, NotFound
from sciretrieve.evaluation import evaluate, requests
from sciretrieve.evaluation.matrix import read_plan, run_matrix, sweeps_of
from sciretrieve.matching.search import Searcher
from sciretrieve.progress import Silent
from sciretrieve.query.opening import open_index
from tests.command_line import answer, sciretrieve
from tests.evaluation.made_up_benchmarks import write_beir, write_text
from tests.made_up import made_up_papers

QUERIES = 24
PLAN = """
[systems.joined]
mode = "hybrid"
alpha = [0.2, 0.5, 0.8]
[systems.words]
mode = "bm25"
k1 = [0.9, 1.2]
b = [0.4, 0.75]
rm3 = true
[systems.plain]
mode = "bm25"
[benchmarks.made-up]
name = "beir:{data}"
"""
ALONE: dict[str, dict[str, Any]] = {
    **{f"joined-alpha={alpha}": {"mode": "hybrid", "alpha": alpha} for alpha in (0.2, 0.5, 0.8)},
    **{f"words-k1={k1}-b={b}": {"mode": "bm25", "k1": k1, "b": b, "rm3": True} for k1 in (0.9, 1.2) for b in (0.4, 0.75)},
    "plain": {"mode": "bm25"},
}


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A BEIR directory of papers that are found by some of the words in their own text."""
    chance, folder = random.Random(3), tmp_path_factory.mktemp("beir") / "data"
    papers = made_up_papers(80)
    for row in papers:
        row["abstract"] += " " + " ".join(f"rare{chance.randrange(60)}" for _ in range(chance.randrange(2, 20)))
    chosen = chance.sample(papers, QUERIES)
    texts = [" ".join(chance.sample(f"{row['title']} {row['abstract']}".split(), 4)) for row in chosen]
    qrels = {f"q{at}": {row["id"]: 1, chance.choice(papers)["id"]: 1} for at, row in enumerate(chosen)}
    return write_beir(folder, papers, {f"q{at}": text for at, text in enumerate(texts)}, qrels)


Done = tuple[Path, Path, int, str]


@pytest.fixture(scope="module")
def done(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Done:
    """The plan run by the command: its folder, its cache, how often candidates were gathered, and what it printed."""
    folder = tmp_path_factory.mktemp("matrix")
    plan = write_text(folder / "plan.toml", PLAN.format(data=data))
    gathered = 0
    real: Callable[..., Any] = Searcher._candidates

    def counting(*arguments: Any) -> Any:
        nonlocal gathered
        gathered += 1
        return real(*arguments)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Searcher, "_candidates", counting)
        text = answer("evaluate", "matrix", plan, "-o", folder / "out", "--set", f"cache={folder}/cache")
    return folder / "out", folder / "cache", gathered, text


@pytest.mark.parametrize("name", ALONE)
def test_each_combination_gives_what_it_gives_by_itself(done: Done, data: Path, tmp_path: Path, name: str) -> None:
    out, cache, _, _ = done
    alone = evaluate(f"beir:{data}", output=tmp_path, cache=cache, progress=False, **ALONE[name])
    place = out / "made-up" / name
    assert (place / "run.trec").read_bytes() == (tmp_path / "run.trec").read_bytes()
    assert json.loads((place / "report.json").read_text())["measures"] == alone.to_dict()["measures"]
    is_swept = name != "plain"
    assert (json.loads((place / "report.json").read_text())["times"] == {}) == is_swept  # what is shared cannot be timed


def test_the_combinations_differ(done: Done) -> None:
    runs = [(done[0] / "made-up" / name / "run.trec").read_bytes() for name in ALONE]
    assert len(set(runs)) == len(ALONE)


def test_each_query_is_searched_once_whatever_alpha(done: Done) -> None:
    assert done[2] == QUERIES


def values_of(out: Path, name: str, measure: str = "nDCG@10") -> list[float]:
    column: list[float] = pq.read_table(out / "made-up" / name / "per-query.parquet")[measure].to_pylist()
    return column


def test_the_table_has_a_line_for_each_combination_and_says_what_the_choice_is_worth(done: Done) -> None:
    out, _, _, text = done
    names = [name for name in ALONE if name.startswith("words-")]
    means = {name: json.loads((out / "made-up" / name / "report.json").read_text())["rounded"]["nDCG@10"] for name in names}
    best = max(means, key=lambda name: means[name])
    block = text[text.index("words on made-up: 4 combinations") :].split("\n\n")
    assert block[1].splitlines()[0].split() == ["k1", "b", "nDCG@10"]
    for name, line in zip(names, block[1].splitlines()[1:], strict=True):
        k1, b, figure = line.split()[:3]
        assert f"words-k1={k1}-b={b}" == name
        assert figure.rstrip("*†") == f"{means[name]:.2f}"
        assert figure.endswith("*") == (means[name] == means[best])
    # each fifth by what is best on the others, in plain Python
    rows = [values_of(out, name) for name in names]
    folds = (np.random.default_rng(0).permutation(QUERIES) % 5).tolist()
    total = 0.0
    for fold in range(5):
        inside = [at for at in range(QUERIES) if folds[at] != fold]
        chosen = max(rows, key=lambda row: round(sum(row[at] for at in inside) / len(inside), 12))
        total += sum(chosen[at] for at in range(QUERIES) if folds[at] == fold)
    assert f"the setting gives nDCG@10 {100 * total / QUERIES:.2f} on the last fifth" in block[2]
    assert "chosen on the queries that it is measured on" in block[2]
    assert text.index("joined on made-up: 3 combinations") < text.index("words on made-up")
    assert "plain" in text[text.index("on the last fifth, over all fifths", text.index("words on")) :]


def test_plots_page_and_json(done: Done, tmp_path: Path) -> None:
    out, cache, _, _ = done
    for name in ("joined", "words"):
        drawn = (out / f"made-up/{name}.svg").read_text()
        assert "nDCG@10" in drawn
        assert f'<img src="made-up/{name}.svg"' in (out / "index.html").read_text()
    assert ">0.75<" in (out / "made-up/words.svg").read_text()
    sweeps = json.loads((out / "matrix.json").read_text())["sweeps"]
    assert [(sweep["system"], len(sweep["points"])) for sweep in sweeps] == [("joined", 3), ("words", 4)]
    assert sweeps[0]["points"][1]["settings"] == {"alpha": 0.5}
    before = {path: path.stat().st_mtime_ns for path in out.rglob("receipt.json")}
    shutil.copytree(out, tmp_path / "out")
    plan = read_plan(out.parent / "plan.toml", str(cache))
    _, standings, failures = run_matrix(plan, tmp_path / "out", Silent())
    assert failures == []
    assert (tmp_path / "out/made-up/joined.svg").read_bytes() == (out / "made-up/joined.svg").read_bytes()
    assert [sweep.name for sweep in sweeps_of(plan, standings)] == ["joined on made-up", "words on made-up"]
    assert {path: path.stat().st_mtime_ns for path in out.rglob("receipt.json")} == before


def test_without_matplotlib_there_is_all_but_the_plot(done: Done, tmp_path: Path) -> None:
    out, cache, _, _ = done
    shutil.copytree(out, tmp_path / "out")
    (tmp_path / "out/made-up/joined.svg").unlink()
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "matplotlib", None)
        result = sciretrieve("evaluate", "matrix", out.parent / "plan.toml", "-o", tmp_path / "out", "--set", f"cache={cache}")
    assert result.returncode == 0
    assert "joined on made-up is not drawn: a plot needs the package matplotlib, which is not installed" in result.stderr
    assert not (tmp_path / "out/made-up/joined.svg").exists()
    assert (tmp_path / "out/index.html").read_text().count("a plot needs the package matplotlib") == 1


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ("mode = 'bm25'\nalpha = [0.4]", "[systems.a] on [benchmarks.x]: `alpha` says how hybrid search joins its halves"),
        ("mode = 'hybrid'\nalpha = []", "[systems.a] on [benchmarks.x]: `alpha` has no values"),
        ("mode = 'all'\nalpha = [0.4]", "`alpha` has several values, and so has `mode='all'`"),
        ("mode = 'hybrid'\nalpha = [0.4, 2]", "`alpha` must lie between 0 and 1, not 2"),
        ("mode = 'hybrid'\nalpha = 'much'", "alpha is a number, not 'much'"),
        ("k1 = 0.9", "[systems.a] on [benchmarks.x]: `k1` is a setting of BM25, which `mode='dense'` does without"),
        ("scores = 'run.trec'\nrm3 = true", "`rm3` says how an index is searched, so it does not go with `scores`"),
        ("embeddings = 'v.jsonl'\nmode = 'hybrid'\nalpha = [0.1]", "`alpha` says how an index is searched"),
        ("mode = 'hybrid'\nfusion = ['rrf']\nalpha = [0.1]", "leave out `alpha`"),
    ],
)
def test_a_bad_row_is_named_in_one_line(tmp_path: Path, row: str, said: str) -> None:
    plan = write_text(tmp_path / "plan.toml", f"[systems.a]\n{row}\n[benchmarks.x]\nname = 'beir:data'\n")
    with pytest.raises(InvalidRequest) as error:
        read_plan(plan, "cache")
    assert said in str(error.value)
    assert "\n" not in str(error.value)


def test_an_index_is_named_in_a_row_and_in_python(done: Done, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _, cache, _, _ = done
    (made,) = (folder for folder in cache.iterdir() if folder.name.endswith("bm25"))
    shutil.copytree(made, tmp_path / "indexes/mine")
    monkeypatch.chdir(tmp_path)
    write_text(tmp_path / "plan.toml", f'[systems.a]\nindex = "mine"\nmode = "bm25"\n[benchmarks.x]\nname = "beir:{data}"\n')
    _, standings, failures = run_matrix(read_plan(tmp_path / "plan.toml", "cache"), tmp_path / "out", Silent())
    assert failures == []
    expected = json.loads((done[0] / "made-up/plain/report.json").read_text())["measures"]
    assert standings.cells["x", "a"].report["measures"] == expected
    assert evaluate(f"beir:{data}", index="mine", mode="bm25", progress=False).to_dict()["measures"] == expected
    write_text(tmp_path / "plan.toml", '[systems.a]\nindex = "yours"\nmode = "bm25"\n[benchmarks.x]\nname = "beir:data"\n')
    with pytest.raises(NotFound, match=r"\[systems.a\] on \[benchmarks.x\]: there is no index at yours"):
        read_plan(tmp_path / "plan.toml", "cache")
    assert "indexes/mine has no" in sciretrieve("train", "--from-index", "mine", "-o", "encoder").stderr


def test_modes_take_what_is_theirs(data: Path, done: Done) -> None:
    _, cache, _, _ = done
    value = json.loads(
        answer(
            "evaluate",
            f"beir:{data}",
            "--mode",
            "all",
            "--set",
            "alpha=0.2",
            "--set",
            "k1=0.9",
            "--set",
            "rm3=true",
            "--set",
            f"cache={cache}",
            "--format",
            "json",
        )
    )
    settings = {mode: report["system"].get("settings") for mode, report in value["modes"].items()}
    of_words = {"k1": 0.9, "rm3": True, "fb_docs": 10, "fb_terms": 10, "original_weight": 0.5}
    assert settings == {"dense": None, "hybrid": {"alpha": 0.2, **of_words}, "bm25": of_words}
    shallow = evaluate(f"beir:{data}", mode="hybrid", depth=5, cache=cache, progress=False)
    assert "each half proposes as many papers as are answered, 1,001, which is more than depth 5" in shallow.notes
    refused = sciretrieve("evaluate", f"beir:{data}", "--mode", "bm25", "--set", "alpha=0.2", "--set", f"cache={cache}")
    assert (refused.returncode, refused.stderr.count("\n")) == (2, 1)
    assert "--set alpha says how hybrid search joins its halves, and this is --mode bm25" in refused.stderr


def test_a_sweep_over_an_index_opens_it_once(done: Done, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _, cache, _, _ = done
    opened: list[Any] = []

    def counted(*named: Any, **options: Any) -> Any:
        opened.append(named)
        return open_index(*named, **options)

    monkeypatch.setattr(requests, "open_index", counted)
    (made,) = (folder for folder in cache.iterdir() if folder.name.endswith("bm25"))
    text = f'[systems.a]\nindex = "{made}"\nmode = "bm25"\nk1 = [0.9, 1.2, 1.5]\n[benchmarks.x]\nname = "beir:{data}"\n'
    write_text(tmp_path / "plan.toml", text)
    _, standings, failures = run_matrix(read_plan(tmp_path / "plan.toml", "cache"), tmp_path / "out", Silent())
    assert (failures, len(standings.cells), len(opened)) == ([], 3, 1)


def test_combinations_share_no_more_than_they_have_in_common(done: Done, data: Path, tmp_path: Path) -> None:
    _, cache, _, _ = done
    modes: tuple[Any, ...] = ("bm25", "hybrid")
    plan = f'[systems.a]\nmode = ["bm25", "hybrid"]\nk1 = [0.9, 1.6]\n[benchmarks.x]\nname = "beir:{data}"\n'
    _, _, failures = run_matrix(read_plan(write_text(tmp_path / "plan.toml", plan), str(cache)), tmp_path / "out", Silent())
    assert failures == []
    runs = set()
    for mode, k1 in product(modes, (0.9, 1.6)):
        evaluate(f"beir:{data}", output=tmp_path / "alone", cache=cache, progress=False, mode=mode, k1=k1)
        run = (tmp_path / f"out/x/a-mode={mode}-k1={k1}/run.trec").read_bytes()
        assert run == (tmp_path / "alone/run.trec").read_bytes()
        runs.add(run)
    assert len(runs) == 4

"""What types of dense index are worth, against plain FAISS and brute force (times are up to the machine); and their plot."""

from __future__ import annotations

import json
import sys
import tempfile
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import faiss
import matplotlib as mpl
import matplotlib.image
import numpy as np
import pytest

import sciretrieve as sr
from sciretrieve.base.errors import InvalidRequest
from sciretrieve.files.writing import describe
from sciretrieve.matching.dense import ann as dense_ann
from sciretrieve.matching.dense import build_ann
from sciretrieve.matching.dense.measuring import Questions
from sciretrieve.studies import dense_types as dense_types_module
from sciretrieve.studies.dense_types import Bench, TypeMeasured, benches
from tests.command_line import answer, sciretrieve
from tests.made_up import made_up_papers, write_jsonl

PAPERS, DIM, DELETED, K = 630, 24, 30, 10
VECTORS = np.random.default_rng(3).standard_normal((PAPERS, DIM)).astype(np.float32)


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An index of vectors without clusters in shards of 300, of which the first papers are deleted."""
    folder = tmp_path_factory.mktemp("bench")
    papers = made_up_papers(PAPERS)
    np.save(folder / "vectors.npy", VECTORS)
    (folder / "vectors.ids.txt").write_text("".join(f"{paper['id']}\n" for paper in papers))
    corpus = write_jsonl(folder / "papers.jsonl", papers)
    sr.build(corpus, folder / "index", encoder=f"vectors:{folder / 'vectors.npy'}", metric="ip", lexical=None, shard_size=300)
    sr.delete(folder / "index", [paper["id"] for paper in papers[:DELETED]])
    return folder / "index"


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder for temporary files."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


def held_out() -> tuple[Any, Any]:
    """The vectors that indexes are built of, and the queries: a tenth of the papers that are not deleted, evenly spread."""
    live = VECTORS[DELETED:]
    places = np.linspace(0, len(live) - 1, len(live) // 10).astype(int)
    return np.delete(live, places, axis=0), live[places]


def by_hand(factory: str, nprobe: int | None) -> tuple[float, float]:
    """Recall and bytes a paper of a FAISS index over each half of the papers, whose 40 best are scored exactly."""
    papers, queries = held_out()
    found: list[set[int]] = [set() for _ in queries]
    size = 0
    for first in (0, len(papers) // 2):
        half = papers[first : first + len(papers) // 2]
        index = faiss.index_factory(DIM, factory, faiss.METRIC_INNER_PRODUCT)
        index.train(half)
        index.add(half)
        size += faiss.serialize_index(index).nbytes
        if nprobe is not None:
            index.nprobe = nprobe
        for query, rows in zip(found, index.search(queries, 4 * K)[1], strict=True):
            query |= {first + row for row in rows.tolist() if row >= 0}
    scores = queries.astype(float) @ papers.astype(float).T
    shares = []
    for number, rows in enumerate(found):
        best = sorted(rows, key=lambda row: -scores[number, row])[:K]
        shares.append(len(set(best) & set(np.argsort(-scores[number])[:K].tolist())) / K)
    return float(np.mean(shares)), size / len(papers)


def test_recall_and_bytes_are_those_of_faiss_and_brute_force(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dense_ann, "IVF_VECTORS", 2)  # else so few lists are all searched
    result = sr.bench(sr.open(path), ["flat", "IVF16,SQ4", "PQ12x4np"])
    assert (result.papers, result.measured, result.queries, result.k) == (PAPERS - DELETED, 540, 60, K)
    assert (result.dim, result.metric) == (DIM, "ip")
    flat, *rows = result.rows
    assert (flat.dense, flat.knob, flat.value, flat.recall, flat.bytes, flat.seconds) == ("flat", None, None, 1.0, 4 * DIM, 0)
    assert [row.dense for row in rows] == ["IVF16,SQ4"] * (len(rows) - 1) + ["PQ12x4np"]
    assert [row.value for row in rows[:-1]] == sorted({row.value or 0 for row in rows[:-1]})
    for row in rows:
        recall, size = by_hand(row.dense, row.value)
        assert row.recall == pytest.approx(recall, abs=6e-5), row
        assert row.bytes == pytest.approx(size)
        assert row.milliseconds > 0
        assert row.seconds > 0
        assert row.knob == ("nprobe" if row.value else None)
    assert rows[0].recall < rows[-2].recall


def test_of_a_large_index_some_papers_are_taken_from_all_over_it(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    taken: list[Any] = []
    ask = Questions.ask

    def noted(questions: Questions, shards: Any, *arguments: Any) -> Any:
        taken.append((np.concatenate([shard.vectors for shard in shards]), questions.vectors))
        return ask(questions, shards, *arguments)

    monkeypatch.setattr(Questions, "ask", noted)
    notes = sciretrieve("bench", "-i", path, "--types", "flat", "--limit", "150").stderr
    assert "taking 150 of 600 papers" in notes
    ((papers, queries),) = taken
    assert (papers.shape, queries.shape) == ((135, DIM), (15, DIM))
    rows = [np.flatnonzero((vector == VECTORS).all(axis=1)).tolist() for vector in np.concatenate([papers, queries])]
    places = sorted(row for (row,) in rows)
    assert places[0] == DELETED
    assert places[-1] == PAPERS - 1
    assert set(np.diff(places)) == {4, 5}
    assert len(set(places)) == 150  # no query is among the papers


def test_the_front_has_what_nothing_beats() -> None:
    chance = np.random.default_rng(0)
    rows = tuple(TypeMeasured("flat", None, None, recall / 10, time, 0.0, 0.0) for recall, time in chance.integers(1, 10, (60, 2)).tolist())
    front = Bench(1, 1, 1, 10, 1, "ip", rows).front
    unbeaten = {
        (one.recall, one.milliseconds)
        for one in rows
        if not any(
            other.recall >= one.recall
            and other.milliseconds <= one.milliseconds
            and (other.recall, other.milliseconds) != (one.recall, one.milliseconds)
            for other in rows
        )
    }
    assert {(one.recall, one.milliseconds) for one in front} == unbeaten
    assert len(front) == len(unbeaten)
    assert front == sorted(front, key=lambda one: one.milliseconds)


def everything(folder: Path) -> dict[str, Any]:
    """All files below a folder, with their contents."""
    return {str(path): describe(path) for path in folder.rglob("*") if path.is_file()}


def test_nothing_in_the_index_changes(path: Path, temporary: Path) -> None:
    before = everything(path)
    rows = answer("bench", "-i", path, "--types", "hnsw flat").splitlines()
    assert everything(path) == before
    assert not list(temporary.iterdir())
    assert rows[0].split() == ["type", "effort", "recall", "ms", "a", "query", "bytes", "a", "paper", "built", "in", "s"]
    assert [line.split()[0] for line in rows[1:]] == ["hnsw"] * (len(rows) - 2) + ["flat"]
    assert rows[1].split()[1:3] == ["ef", "48"]
    assert "*" in "".join(rows)


def test_json_has_every_figure(path: Path) -> None:
    value = json.loads(answer("bench", "-i", path, "--types", "flat IVF4,Flat flat", "-f", "json", "-q"))
    assert list(value) == ["schema", "index", "papers", "measured", "queries", "k", "dim", "metric", "rows"]
    assert list(value["rows"][0]) == ["dense", "knob", "value", "recall", "milliseconds", "bytes", "seconds", "pareto"]
    assert [row["dense"] for row in value["rows"]].count("flat") == 1
    assert any(row["pareto"] for row in value["rows"])


def stopped_at(dense: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C while a type is built."""

    def interrupted(path: Path, vectors: Any, factory: str, metric: Any) -> bool:
        if factory == dense:
            raise KeyboardInterrupt
        return build_ann(path, vectors, factory, metric)

    monkeypatch.setattr(dense_types_module, "build_ann", interrupted)


def test_ctrl_c_keeps_what_was_measured(path: Path, temporary: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = everything(path)
    stopped_at("SQ8", monkeypatch)
    result = sciretrieve("bench", "-i", path, "--types", "flat PQ12x4np SQ8 SQ4", "-o", tmp_path / "types.svg")
    assert result.returncode == 130
    assert [line.split()[0] for line in result.stdout.splitlines()] == ["type", "flat", "PQ12x4np"]
    assert "stopped; the index is unchanged, and what was measured follows" in result.stderr
    assert "PQ12x4np, " in (tmp_path / "types.svg").read_text()
    assert everything(path) == before
    assert not list(temporary.iterdir())
    result = sciretrieve("bench", "-i", path, "--types", "SQ8", "-o", tmp_path / "none.svg")
    assert (result.returncode, result.stdout) == (130, "")
    assert not (tmp_path / "none.svg").exists()


def test_what_cannot_be_trained_costs_nothing_that_was_measured(path: Path) -> None:
    result = sciretrieve("bench", "-i", path, "--types", "flat IVF4,PQ4x9 hnsw", "-q")
    assert result.returncode == 2
    assert [line.split()[0] for line in result.stdout.splitlines()] == ["type", "flat"]
    assert result.stderr.splitlines() == [
        "sciretrieve: 270 papers are too few to train a dense index of the type IVF4,PQ4x9; leave it out of --types"
    ]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--types", ""], "no type of dense index is named"),
        (["--types", "flat auto"], "auto cannot be measured; name flat"),
        (["--types", "hnsw none"], "none cannot be measured"),
        (["--types", "flat,hnsw"], "separate several types by blanks, not commas"),
        (["--types", "flat HNSV32"], "FAISS has no index type 'HNSV32'"),
        (["--limit", "99"], "99 papers are too few to measure; at least 100"),
        (["-o", "types.pdf"], "cannot draw types.pdf: name a .svg or a .png file"),
        (["-o", "nowhere/types.svg"], "cannot write types.svg to nowhere: No such file"),
        (["-o", "/proc/types.svg"], "cannot write types.svg to /proc: "),
        (["-o", "folder.png"], "cannot write to folder.png: it is a directory"),
        (["-i", "nothing"], "no index at nothing"),
    ],
)
def test_bad_input_is_one_line_before_anything_is_measured(path: Path, tmp_path: Path, options: list[str], words: str) -> None:
    (tmp_path / "folder.png").mkdir()
    index = [] if "-i" in options else ["-i", str(path)]
    result = sciretrieve("bench", *index, *options)
    assert (result.returncode, result.stdout, result.stderr.count("\n")) == (2, "", 1)
    assert words in result.stderr


def test_an_index_without_vectors_has_nothing_to_measure(corpus: Path, tmp_path: Path) -> None:
    index = sr.build(corpus, tmp_path / "words", encoder=None)
    with pytest.raises(InvalidRequest, match="has no vectors to measure"):
        sr.bench(index)


def test_what_is_measured_grows_by_types(path: Path) -> None:
    results: Iterator[Bench] = benches(sr.open(path), ["flat", "SQ8"])
    assert [[row.dense for row in result.rows] for result in results] == [["flat"], ["flat", "SQ8"]]


ROWS = (
    TypeMeasured("flat", None, None, 1.0, 20.0, 1536.0, 0.0),
    TypeMeasured("hnsw", "ef", 48, 0.95, 0.5, 656.4, 7.0),
    TypeMeasured("hnsw", "ef", 96, 0.99, 0.9, 656.4, 7.0),
    TypeMeasured("IVF64,PQ48x4fsr", "nprobe", 8, 0.9, 0.7, 1043.0, 9.0),
)
BENCH = Bench(30_000, 29_800, 200, 10, 384, "cosine", ROWS)
SVG = "{http://www.w3.org/2000/svg}"


def test_an_svg_says_what_was_measured(tmp_path: Path) -> None:
    BENCH.plot(tmp_path / "types.svg")
    root = ElementTree.parse(tmp_path / "types.svg").getroot()
    texts = ["".join(element.itertext()).strip() for element in root.iter(f"{SVG}text")]
    assert {
        *("Pareto front", "flat, 1,536 bytes a paper", "hnsw, 656 bytes a paper", "IVF64,PQ48x4fsr, 1,043 bytes a paper"),
        *("milliseconds a query, one at a time", "recall@10 against exact search"),
        "29,800 papers, 200 others as queries, 384 dimensions, cosine",
    } <= set(texts)


def test_the_front_goes_through_the_markers_of_its_rows(tmp_path: Path) -> None:
    BENCH.plot(tmp_path / "types.svg")
    (axes,) = ElementTree.parse(tmp_path / "types.svg").getroot().findall(f".//{SVG}g[@id='axes_1']")
    lines = [[(float(use.get("x", 0)), float(use.get("y", 0))) for use in line.findall(f"{SVG}g/{SVG}use")] for line in axes]
    front, flat, hnsw, ivf = (line for line in lines if line)
    assert front == [*hnsw, *flat]
    assert len(front) == 3
    assert front == sorted(front)  # later is further right
    assert front == sorted(front, key=lambda place: -place[1])  # more is further up
    assert ivf[0][1] > max(height for _, height in front)


@pytest.mark.parametrize("suffix", ["svg", "png"])
def test_the_same_figures_are_the_same_bytes_however_matplotlib_is_set_up(tmp_path: Path, suffix: str) -> None:
    first, second = tmp_path / f"first.{suffix}", tmp_path / f"second.{suffix}"
    BENCH.plot(first)
    with mpl.rc_context({"font.size": 30, "axes.facecolor": "red", "svg.fonttype": "path"}):
        BENCH.plot(second)
        assert mpl.rcParams["font.size"] == 30
    assert first.read_bytes() == second.read_bytes()
    replace(BENCH, rows=ROWS[:2]).plot(second)
    assert first.read_bytes() != second.read_bytes()


def test_a_png_is_an_image_and_no_display_is_asked_for(tmp_path: Path) -> None:
    BENCH.plot(tmp_path / "types.png")
    assert matplotlib.image.imread(tmp_path / "types.png").shape == (750, 1500, 4)
    assert "matplotlib.pyplot" not in sys.modules


def test_without_matplotlib_one_line_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    result = sciretrieve("bench", "-i", tmp_path / "no-index-is-looked-for", "-o", tmp_path / "types.svg")
    assert (result.returncode, result.stdout) == (4, "")
    assert result.stderr == 'sciretrieve: a plot needs the package matplotlib, which is not installed: pip install "sciretrieve[plots]"\n'
    assert not list(tmp_path.iterdir())

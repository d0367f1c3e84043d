"""The study of a corpus and of an index: its figures against NumPy and plain searches, its report, plots and errors."""

from __future__ import annotations

import json
import random
import re
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sciretrieve as sr
from sciretrieve.base.types import Paper
from sciretrieve.encoders import load_encoder
from sciretrieve.studies.perturbation import study
from sciretrieve.studies.perturbation.neighbours import CATEGORIES, neighbours
from sciretrieve.studies.perturbation.similarities import unit
from sciretrieve.studies.perturbation.study import OPTIMAL, Study, VectorSpace
from tests.command_line import sciretrieve
from tests.made_up import TOPICS, write_jsonl
from tests.toy_encoder import OwnLetters

COUNT = 22


def made_up_texts(count: int) -> list[dict[str, Any]]:
    """Papers of a few short sentences, with words of every kind."""
    chance = random.Random(5)
    rows = []
    for number in range(count):
        words = TOPICS[chance.choice(sorted(TOPICS))]
        one, two, three, four = chance.sample(words, 4)
        abstract = f"We find {number + 2} small {one} of the {two}. It rarely uses high {three} {four}. These are good {one}."
        rows.append({"id": f"p{number:02d}", "title": f"The {three} {one} showing {four}", "abstract": abstract})
    return rows


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    bare = [{"id": "bare", "title": "A title alone", "abstract": " "}]
    return write_jsonl(tmp_path_factory.mktemp("texts") / "texts.jsonl", [*made_up_texts(COUNT), *bare])


@pytest.fixture(scope="module")
def reported(corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], Path]:
    """What the command prints as JSON, and the folder that it wrote."""
    folder = tmp_path_factory.mktemp("report") / "new"
    result = sciretrieve("benchmarks", "robustness", corpus, "-o", folder, "-f", "json", "--set", "seed=3")
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout), folder


@pytest.fixture(scope="module")
def texts() -> tuple[list[Paper], dict[str, dict[int, Paper]]]:
    papers = [Paper(row["id"], row["title"], row["abstract"]) for row in made_up_texts(COUNT)]
    return papers, neighbours(papers, 3)


def test_dense_figures_are_those_of_the_matrices(reported: tuple[dict[str, Any], Path], texts: Any) -> None:
    report, _ = reported
    papers, made = texts
    encoder = load_encoder("granite")
    originals = unit(encoder.encode_papers(papers))
    assert (report["papers"], report["available"], report["encoder"]) == (COUNT, COUNT, "granite")
    for row in report["classes"]:
        of_class = made[row["code"]]
        places, changed = list(of_class), unit(encoder.encode_papers(list(of_class.values())))
        assert row["papers"] == len(places)
        order = np.argsort(-(changed @ originals.T), axis=1, kind="stable")
        own = [order[number].tolist().index(place) for number, place in enumerate(places)]
        found = row["found"]["dense"]
        assert found["nn10"] == pytest.approx(np.mean([rank < 10 for rank in own]))
        assert found["nn1"] == pytest.approx(np.mean([rank == 0 for rank in own]))
        assert row["to_original"] == pytest.approx(np.mean(np.sum(changed * originals[places], axis=1)), abs=1e-5)
        candidates = np.concatenate([changed, originals])
        for k, name in ((10, "aop10"), (20, "aop20")):
            nearest = [
                [set(np.argsort(-(query @ candidates.T), kind="stable")[:k].tolist()) for query in side]
                for side in (changed, originals[places])
            ]
            expected = np.mean([len(one & other) / k for one, other in zip(*nearest, strict=True)])
            assert found[name] == pytest.approx(expected, abs=2 / k / len(places))  # vectors of lower- and upper-case texts tie
    assert {row["code"] for row in report["classes"]} == {code for code, of_class in made.items() if of_class}


def test_titles_are_ranked_as_the_tasks_say(reported: tuple[dict[str, Any], Path], texts: Any) -> None:
    report, _ = reported
    papers, _ = texts
    encoder = load_encoder("granite")
    whole, bare = (unit(encoder.encode_papers(side)) for side in (papers, [Paper(paper.id, paper.title) for paper in papers]))
    for task, candidates in (("Task I", whole), ("Task II", np.concatenate([whole, bare]))):
        cosines = bare @ candidates.T
        if task == "Task II":
            cosines[np.arange(COUNT), np.arange(COUNT) + COUNT] = -9
        reciprocals = [1 / (1 + int((row > row[number]).sum())) for number, row in enumerate(cosines)]
        assert report["tasks"]["dense"][task]["mrr"] == pytest.approx(np.mean(reciprocals))
        assert report["space"]["standardised"]["as they are"][task]["mrr"] == pytest.approx(np.mean(reciprocals))
    # MiniLM has two dimensions that are 0 in every text
    own_papers, own_titles = ((side - side.mean(axis=0)) / np.maximum(side.std(axis=0), 1e-12) for side in (whole, bare))
    cosines = unit(own_titles) @ unit(own_papers).T
    reciprocals = [1 / (1 + int((row > row[number]).sum())) for number, row in enumerate(cosines)]
    assert report["space"]["standardised"]["each set by itself"]["Task I"]["mrr"] == pytest.approx(np.mean(reciprocals))


@pytest.mark.parametrize("mode", ["bm25", "hybrid"])
def test_other_ways_to_search_find_what_an_index_finds(
    reported: tuple[dict[str, Any], Path], texts: Any, mode: Any, tmp_path: Path
) -> None:
    report, _ = reported
    papers, made = texts
    index = sr.build(made_up_texts(COUNT), tmp_path / "index", metric="cosine", late=False)
    for code in ("TDelNN", "T_A_DelNNChar"):
        (row,) = (row for row in report["classes"] if row["code"] == code)
        run = index.search([sr.Query(paper.id, paper=paper) for paper in made[code].values()], 10, mode=mode, group=False)
        ids = [[*ranking.ids] for ranking in run]
        own = [papers[place].id for place in made[code]]
        assert row["found"][mode]["nn1"] == np.mean([answer[:1] == [id] for answer, id in zip(ids, own, strict=True)])
        assert row["found"][mode]["nn10"] == np.mean([id in answer for answer, id in zip(ids, own, strict=True)])
    queries = [sr.Query(paper.id, paper=Paper(paper.id, paper.title)) for paper in papers]
    run = index.search(queries, COUNT, mode=mode, group=False)
    ranks = [[*ranking.ids].index(ranking.query.id) + 1 if ranking.query.id in ranking.ids else None for ranking in run]
    assert report["tasks"][mode]["Task I"]["mrr"] == pytest.approx(np.mean([1 / rank if rank else 0 for rank in ranks]))


def test_categories_are_means_of_their_classes_and_rated_by_thresholds(reported: tuple[dict[str, Any], Path]) -> None:
    report, _ = reported
    for category in CATEGORIES:
        for mode, found in report["categories"][category].items():
            rows = [row["found"][mode]["aop20"] for row in report["classes"] if row["category"] == category]
            assert found["aop20"] == pytest.approx(np.mean(rows))
            low, high = OPTIMAL[category]
            assert found["optimal"] == (low < found["aop20"] <= high if high == 1 else low <= found["aop20"] < high)


def test_letter_case_and_blanks_are_nothing_to_an_uncased_model_and_to_bm25(reported: tuple[dict[str, Any], Path]) -> None:
    report, _ = reported
    for row in report["classes"]:
        if row["category"] == "LL-HS":
            assert row["to_original"] == pytest.approx(1, abs=1e-5)
            assert row["found"]["bm25"]["nn1"] == 1


def test_the_report_has_all_figures_and_the_published_ones(reported: tuple[dict[str, Any], Path]) -> None:
    report, folder = reported
    assert json.loads((folder / "report.json").read_text()) == report
    page = (folder / "report.md").read_text()
    task = report["tasks"]["bm25"]["Task II"]
    assert re.search(rf"\| \*\*BM25\*\* \|.* \| {task['mrr']:.3f} \| {100 * task['t100']:.1f} \|", page)
    for line in (
        "| SPECTER, Arxiv-HEP | 0.693 | 92.4 | 0.354 | 75.7 |",  # Table 3
        "| SPECTER, ACL-ANTH | 0.740 | 95.1 | 0.990 | 100.0 |",  # Table 9
        "| SciBERT (cased), Arxiv-MATH | 71.1 | 52.2 | 31.3 | 23 | 14.5 |",  # Table 4
        "| SciBERT (cased) | 75.04 | 59.62 | 22.6 | 26.28 | 14.35 |",  # Table 5
        "| OAG-BERT | 6.84 | 6.24 | 7.31 | 5.95 | 3.17 |",  # Table 5
        "| threshold | > 75 | > 70 | 50 to 70 | 50 to 70 | < 20 |",
    ):
        assert line in page
    for row in report["classes"]:
        assert f"| {row['code']} ({row['category']}) | {row['papers']} | {100 * row['found']['dense']['nn1']:.1f} |" in page
    for name in re.findall(r"\]\((\w+\.svg)\)", page):
        ElementTree.parse(folder / name)
    assert len({path.name for path in folder.iterdir()}) == 6


def test_the_plots_show_the_classes(reported: tuple[dict[str, Any], Path]) -> None:
    report, folder = reported
    for name in ("classes.svg", "similarities.svg"):
        words = {
            "".join(element.itertext()).strip() for element in ElementTree.parse(folder / name).iter("{http://www.w3.org/2000/svg}text")
        }
        assert {f"{row['category']}  {row['code']}" for row in report["classes"]} <= words
    between = (folder / "between.svg").read_text()
    assert all(f">{name}<" in between for name in report["space"]["between"]["sets"])
    assert all(words in (folder / "map.svg").read_text() for words in ("T+A: title and abstract", "t-SNE"))


def test_of_many_papers_the_map_shows_as_many_papers_as_titles(monkeypatch: pytest.MonkeyPatch) -> None:
    from sciretrieve.studies.perturbation import plots

    given = np.random.default_rng(4).normal(size=(60, 8)).astype(np.float32)
    taken: list[tuple[Any, int]] = []

    def first_two(vectors: Any, seed: int) -> Any:
        taken.append((vectors, seed))
        return vectors[:, :2]

    monkeypatch.setattr(plots, "MAPPED", 12)
    monkeypatch.setattr(plots, "neighbour_map", first_two)
    study = Study("s", "e", 30, 30, 5, {}, [], VectorSpace(8, {}, {}, {}, np.empty(0), given))
    figure = plots._map(study)
    [(vectors, seed)] = taken
    places = [np.flatnonzero((given == row).all(axis=1))[0] for row in vectors]
    assert (seed, len(set(places)), places[12:]) == (5, 24, [place + 30 for place in places[:12]])
    assert [len(points.get_offsets()) for points in figure.axes[0].collections] == [12, 12]


def test_an_index_is_studied_as_it_is(tmp_path: Path) -> None:
    index = sr.build(made_up_texts(COUNT), tmp_path / "words", dense="none", lexical=sr.Bm25Parameters(k1=9.0, b=0.1, title=0.1))
    result = sciretrieve("benchmarks", "robustness", "-i", index.path, "-f", "json")
    assert result.returncode == 0, result.stderr
    report = json.loads(result.stdout)
    assert [*report["tasks"]] == ["bm25"]
    assert (report["encoder"], report["space"], report["papers"]) == (None, None, COUNT)
    run = index.search([sr.Query(row["id"], paper=Paper(row["id"], row["title"])) for row in made_up_texts(COUNT)], COUNT, group=False)
    ranks = [[*ranking.ids].index(ranking.query.id) + 1 for ranking in run]
    assert report["tasks"]["bm25"]["Task I"]["mrr"] == pytest.approx(np.mean(1 / np.array(ranks)))
    assert min(ranks) < max(ranks)


def test_an_encoder_is_an_object_or_none(corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(study, "neighbours", lambda papers, seed: dict([*neighbours(papers, seed).items()][:1]))  # quicker
    own = sr.robustness(corpus, encoder=OwnLetters(), limit=20)
    assert (own.encoder, own.modes) == (OwnLetters().identity, ["dense", "bm25", "hybrid"])
    (tmp_path / "texts.jsonl").write_text(corpus.read_text() + '{"id": "without"}\n')
    with pytest.warns(sr.RowsRejected, match="rejected 1 row"):
        words = sr.robustness(tmp_path / "texts.jsonl", encoder=None, limit=20)
    assert (words.encoder, words.modes) == (None, ["bm25"])
    with pytest.raises(sr.InvalidRequest, match="`pooling` says how an encoder with a name reads texts"):
        sr.robustness(corpus, encoder=OwnLetters(), pooling="cls")
    with pytest.raises(sr.InvalidRequest, match="has vectors from elsewhere"):
        sr.robustness(corpus, encoder={"p01": [1.0]})


def test_a_sample_is_drawn_from_all(corpus: Path) -> None:
    from sciretrieve.studies.perturbation.study import _drawn

    papers = [Paper(str(number), "t", "a") for number in range(2000)] + [Paper("x", "t", " ")]
    sample, available = _drawn(iter(papers), 500, 1)
    numbers = [int(paper.id) for paper in sample]
    assert available == 2000
    assert numbers == sorted(set(numbers))
    assert len(numbers) == 500
    assert 100 < sum(number >= 1500 for number in numbers) < 150
    assert sample == _drawn(iter(papers), 500, 1)[0] != _drawn(iter(papers), 500, 2)[0]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "name a corpus, or an index with -i"),
        (["papers.jsonl", "-i", "indexes/x"], "name a corpus, or an index with -i"),
        (["-i", "indexes/x", "--set", "adapter=proximity"], "an index's papers are read as when it was built; leave out --set adapter"),
        (["papers.jsonl", "--limit", "5"], "5 papers are too few to study; at least 20 are needed"),
        (["papers.jsonl"], "papers.jsonl has 19 papers with a title and an abstract; at least 20 are needed"),
        (["papers.jsonl", "-o", "papers.jsonl"], "papers.jsonl is a file; name a directory for the report"),
        (
            ["papers.jsonl", "--encoder", "vectors:v.jsonl"],
            "vectors:v.jsonl has vectors from elsewhere, and changed texts need new ones; name an encoder",
        ),
    ],
)
def test_what_cannot_be_studied_is_one_line(arguments: list[str], message: str) -> None:
    write_jsonl(Path("papers.jsonl"), made_up_texts(19))
    write_jsonl(Path("v.jsonl"), [{"paper_id": "p00", "embedding": [1.0, 2.0]}])
    result = sciretrieve("benchmarks", "robustness", *arguments)
    assert (result.returncode, result.stdout, result.stderr) == (2, "", f"sciretrieve: {message}\n")


def test_without_an_extra_one_line_says_what_to_install(corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    result = sciretrieve("benchmarks", "robustness", corpus, "-o", tmp_path / "report")
    assert (result.returncode, result.stdout) == (4, "")
    assert result.stderr == 'sciretrieve: a plot needs the package matplotlib, which is not installed: pip install "sciretrieve[plots]"\n'
    monkeypatch.undo()
    monkeypatch.setitem(sys.modules, "sklearn", None)
    result = sciretrieve("benchmarks", "robustness", corpus, "-o", tmp_path / "report")
    assert (result.returncode, result.stdout) == (4, "")
    assert "a plot by t-SNE needs the package scikit-learn" in result.stderr
    assert 'pip install "sciretrieve[evaluate]"' in result.stderr
    monkeypatch.setitem(sys.modules, "textblob", None)
    result = sciretrieve("benchmarks", "robustness", corpus)
    assert (result.returncode, result.stdout) == (4, "")
    assert 'pip install "sciretrieve[evaluate]"' in result.stderr

"""Learning from a teacher, and from papers read altered: a language that only the teacher knows."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from sciretrieve.base.errors import InvalidRequest
from sciretrieve.base.types import Paper, Query
from sciretrieve.encoders import load_encoder
from sciretrieve.training import PRESETS, TrainingSet, read_training_set, train
from tests.toy_weights import write_bert
from tests.training.planted import Stopper
from tests.training.synonyms import LEFT, OTHER, equal, knowing, tensors, write_lines, write_pairs, write_small


@pytest.fixture(scope="module")
def words(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_small(tmp_path_factory.mktemp("toys") / "words")


@pytest.fixture(scope="module")
def teacher(words: Path) -> Path:
    return knowing(words, words.with_name("knowing"))


@pytest.fixture(scope="module")
def pairs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_pairs(tmp_path_factory.mktemp("sets") / "pairs", 200)


SETTINGS: dict[str, Any] = {"method": "whole", "batch": 32, "rate": 0.03, "epochs": 20, "steps": 40, "precision": "fp32", "every": 20}
SETTINGS["progress"] = False


def likeness(encoder: Path) -> float:
    """How much nearer a word is to its other name than to others, by the cosine."""
    opened = load_encoder(str(encoder))
    left = opened.encode_queries([Query(word, word) for word in LEFT])
    right = opened.encode_papers([Paper(word, "", OTHER[word]) for word in LEFT])
    products = left @ right.T
    return float(np.diag(products).mean() - products[~np.eye(len(LEFT), dtype=bool)].mean())


@pytest.mark.parametrize("loss", ["distil", "rank"])
def test_what_only_the_teacher_knows_is_learnt(loss: Any, words: Path, teacher: Path, pairs: Path, tmp_path: Path) -> None:
    trained = train([pairs], tmp_path / "out", base=str(words), loss=loss, teacher=str(teacher), **SETTINGS)
    assert trained.comparison is not None
    assert trained.base is not None
    assert trained.best is not None
    assert trained.best > trained.base + 0.2
    assert likeness(tmp_path / "out") > likeness(words) + 0.1


def test_a_teacher_of_another_dimension_has_a_layer_that_is_thrown_away(teacher: Path, tmp_path: Path) -> None:
    """Also on papers with labels, of which only the texts are read: what is set apart comes nearer to the teacher."""
    write_bert(tmp_path / "narrow", 1, safe=True)
    folder = tmp_path / "labels"
    folder.mkdir()
    write_lines(folder / "corpus.jsonl", [{"_id": f"p{n}", "title": LEFT[n % 16], "text": OTHER[LEFT[n // 10]]} for n in range(160)])
    (folder / "labels.tsv").write_text("paper-id\tlabel\n" + "".join(f"p{n}\tone\n" for n in range(160)))
    settings = SETTINGS | {"rate": 1e-3, "epochs": 8}
    trained = train([folder], tmp_path / "out", base=str(tmp_path / "narrow"), loss="distil", teacher=str(teacher), **settings)
    assert trained.measure == "negative loss"
    assert trained.base is not None
    assert trained.best is not None
    assert trained.best > 0.9 * trained.base
    before, after = (load_encoder(str(path)) for path in (tmp_path / "narrow", tmp_path / "out"))
    assert after.dim == before.dim == 48
    assert not any("head" in name for name in tensors(tmp_path / "out"))


def test_a_ranking_is_learnt_from_scores(words: Path, tmp_path: Path) -> None:
    """Scores that anything may have given: here the last paper of each list is to be the first."""
    folder = tmp_path / "rankings"
    folder.mkdir()
    write_lines(folder / "queries.jsonl", [{"_id": word, "text": word} for word in LEFT])
    write_lines(folder / "corpus.jsonl", [{"_id": OTHER[word], "title": OTHER[word], "text": ""} for word in LEFT])
    lists = {word: [OTHER[LEFT[(place + step) % 16]] for step in (3, 2, 1, 0)] for place, word in enumerate(LEFT)}
    lines = [f"{word}\t{paper}\t{0.2 * score}" for word, papers in lists.items() for score, paper in enumerate(papers)]
    (folder / "rankings.tsv").write_text("query-id\tpaper-id\tscore\n" + "\n".join(lines) + "\n")
    assert read_training_set(folder).rankings["apple"] == pytest.approx({"storm": 0, "brick": 0.2, "ocean": 0.4, "lemon": 0.6})
    trained = train([folder], tmp_path / "out", base=str(words), **SETTINGS | {"batch": 16, "epochs": 40})
    assert trained.base is None
    before, after = likeness(words), likeness(tmp_path / "out")
    assert after > before + 0.1


def test_papers_are_read_altered() -> None:
    from sciretrieve.training.learning.demands import altering

    def read(share: float, *key: object) -> list[tuple[str, str]]:
        alter = altering(share, *key)
        return [(paper.title, paper.abstract) for paper in (alter(Paper("p", "a title", "one two three four five")) for _ in range(2000))]

    words = "one two three four five"
    forms = {(words, "a title"), ("a title", "one two three"), ("a title", ""), ("", words)}
    texts = read(0.4, 42, 0, 7)
    assert {*texts} == {*forms, ("a title", words)}
    assert all(140 < texts.count(form) < 260 for form in forms)
    assert read(0.4, 42, 0, 7) == texts != read(0.4, 42, 0, 8)
    for whole in (Paper("p", "", "an abstract"), Paper("p", "a title", "")):
        assert altering(1.0, 1)(whole) == whole


def test_every_task_reads_its_papers_altered_and_text_queries_as_they_are() -> None:
    from sciretrieve.training.learning.demands import Labelled, Ranked
    from sciretrieve.training.learning.taught import ScoredLists

    student: Any = SimpleNamespace(format_of=lambda *_, **__: "", of_paper=lambda _, paper: paper.title, of_query=lambda _, text: text)
    papers, plan = {id: Paper(id, f"title {id}") for id in "abcd"}, PRESETS["own"]
    pairs = TrainingSet("pairs", papers, [("q", "a", "b")], {"q": "who?"})
    labels = TrainingSet("labels", papers, [], labels={id: (id,) for id in papers})
    for demand in (
        Ranked("pairs", pairs, pairs.triplets, plan),
        ScoredLists("rankings", pairs, {"q": {"a": 1.0, "b": 0.5}}, plan),
        Labelled("labels", labels, 3),
    ):
        read = demand.readings(student, range(len(demand)), lambda paper: replace(paper, title="altered"))
        assert {text for _, text in read} - {"who?"} == {"altered"}


def test_what_was_interrupted_ends_the_same(words: Path, teacher: Path, tmp_path: Path) -> None:
    folder = write_pairs(tmp_path / "pairs", 120)
    write_lines(
        folder / "corpus.jsonl", [{**json.loads(line), "title": "apple pie"} for line in (folder / "corpus.jsonl").read_text().splitlines()]
    )
    settings = SETTINGS | {"epochs": 5, "every": 3, "patience": 9, "base": str(words), "loss": "distil", "teacher": str(teacher)}
    settings |= {"augment": 0.5, "batch": 24}
    train([folder], tmp_path / "whole", **settings)
    with pytest.raises(KeyboardInterrupt):
        train([folder], tmp_path / "broken", **settings | {"progress": Stopper(8)})
    assert (tmp_path / "broken.partial" / "checkpoint.safetensors").is_file()
    train([folder], tmp_path / "broken", **settings)
    assert equal(tensors(tmp_path / "whole"), tensors(tmp_path / "broken"))
    plain = train([folder], tmp_path / "plain", **settings | {"augment": 0.0})
    assert not equal(tensors(tmp_path / "whole"), tensors(plain.folder))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"loss": "distil"}, "name it with `teacher`"),
        ({"teacher": "granite"}, "no `teacher`"),
        ({"augment": 1.5}, "`augment` is a share"),
        ({"loss": "rank", "teacher": "vectors:vectors.npy"}, "reads no texts"),
    ],
)
def test_what_makes_no_sense_is_refused(options: dict[str, Any], message: str, words: Path, pairs: Path, tmp_path: Path) -> None:
    np.save("vectors.npy", np.eye(2, dtype=np.float32))
    Path("vectors.ids.txt").write_text("a\nb\n")
    with pytest.raises(InvalidRequest, match=message):
        train([pairs], tmp_path / "out", base=str(words), progress=False, **options)

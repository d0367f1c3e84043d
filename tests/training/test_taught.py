"""Learning from a teacher, and from papers read altered: losses against NumPy, and a language that only the teacher knows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sciretrieve.base.errors import InvalidRequest
from sciretrieve.base.types import Paper, Query
from sciretrieve.encoders import load_encoder
from sciretrieve.training import read_training_set, train
from sciretrieve.training.altered import Altering
from tests.toy_weights import write_bert
from tests.training.planted import Stopper
from tests.training.synonyms import LEFT, OTHER, equal, knowing, tensors, write_lines, write_pairs, write_small


def softmax(values: Any) -> Any:
    weights = np.exp(values - values.max(axis=1, keepdims=True))
    return weights / weights.sum(axis=1, keepdims=True)


def test_the_losses_are_what_their_sources_say() -> None:
    import torch

    from sciretrieve.training.learning import losses

    chance = np.random.default_rng(3)
    student, teacher = chance.standard_normal((2, 5, 7))
    barred = chance.random((5, 7)) < 0.2
    expected = []
    for row in range(5):
        open_places = np.flatnonzero(~barred[row])
        p, q = (softmax(part[row : row + 1, open_places] / 0.3)[0] for part in (teacher, student))
        expected.append(float((p * np.log(p / q)).sum()))
    own, others, is_barred = (torch.from_numpy(part) for part in (student, teacher, barred))
    assert float(losses.rank(own, others, is_barred, 0.3)) == pytest.approx(np.mean(expected), abs=1e-6)
    assert float(losses.rank(own, own, is_barred, 0.3)) == pytest.approx(0.0, abs=1e-9)
    distances = np.sqrt(((student - teacher) ** 2).sum(axis=1))
    assert float(losses.distil(own, others)) == pytest.approx(distances.mean(), abs=1e-6)


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
    class Plain:
        def format_of(self, task: str, *, is_text: bool) -> str:
            return task

        def of_paper(self, format: str, paper: Paper) -> str:
            return f"{format}: {paper.title} | {paper.abstract}"

        def of_query(self, format: str, text: str) -> str:
            return text

    paper = Paper("p", "a title", "one two three four five")
    forms = {
        "f: one two three four five | a title",
        "f: a title | one two three",
        "f: a title | ",
        "f:  | one two three four five",
    }
    altering = Altering(Plain(), 0.4, 42, 0, 7)
    texts = [altering.of_paper("f", paper) for _ in range(2000)]
    assert {*texts} == {*forms, "f: a title | one two three four five"}
    for form in forms:
        assert 140 < texts.count(form) < 260
    again = Altering(Plain(), 0.4, 42, 0, 7)
    assert [again.of_paper("f", paper) for _ in range(2000)] == texts
    other = Altering(Plain(), 0.4, 42, 0, 8)
    assert [other.of_paper("f", paper) for _ in range(2000)] != texts
    assert altering.of_query("f", "one two") == "one two"
    for whole in (Paper("p", "", "an abstract"), Paper("p", "a title", "")):
        assert {Altering(Plain(), 1.0, 1).of_paper("f", whole)} == {f"f: {whole.title} | {whole.abstract}"}


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

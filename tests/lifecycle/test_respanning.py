"""What spans shards, built again with other settings: no paper is encoded, and the index is as if it had been built so."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sciretrieve as sr
from sciretrieve.base.errors import IndexExists, InvalidRequest
from sciretrieve.lifecycle import building, refit
from sciretrieve.matching.fusion import Fusion
from sciretrieve.matching.lexical import Bm25Parameters
from sciretrieve.protocols import Advance, Result, Task
from tests.listeners import Notes
from tests.made_up import made_up_papers, write_jsonl
from tests.toy_encoder import NAMED, LetterEncoder

pytestmark = pytest.mark.usefixtures("letters")


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """130 papers, of which the last of shards of 60 has 10."""
    return write_jsonl(tmp_path / "papers.jsonl", made_up_papers(130))


def build(source: str | Path, folder: Path, **settings: Any) -> sr.Index:
    sr.build(source, folder, **{"encoder": "letters", "shard_size": 60, **settings})
    return sr.open(folder, encoder=LetterEncoder())


def answers(index: sr.Index) -> list[tuple[str, float]]:
    return [(hit.id, hit.score) for mode in index.modes for hit in index.search("star market graph", 20, mode=mode).hits]


def changed_at(index: sr.Index) -> list[int]:
    """When the vectors of each shard were last changed."""
    return [(index.path / "shards" / shard.name / "vectors.npy").stat().st_mtime_ns for shard in index.snapshot.manifest.shards]


@pytest.mark.parametrize(
    "changed",
    [
        {"dense": "IVF4,Flat", "metric": "cosine"},
        {"lexical": Bm25Parameters("bm25+", k1=0.5)},
        {"dense": "flat", "metric": "l2", "lexical": Bm25Parameters(b=0.1)},
    ],
    ids=str,
)
def test_other_settings_of_what_spans_shards_need_no_encoding(
    source: Path, tmp_path: Path, letters: LetterEncoder, changed: dict[str, Any]
) -> None:
    first_index = build(source, tmp_path / "index", dense="HNSW4,Flat")
    before, vectors = answers(first_index), changed_at(first_index)
    letters.asked.clear()
    changed = {"dense": "HNSW4,Flat", **changed}
    second_index = build(source, tmp_path / "index", **changed)
    assert letters.asked == []
    assert second_index.snapshot.manifest.generation == 2
    assert changed_at(second_index) == vectors
    anew = build(source, tmp_path / "anew", **changed)
    assert answers(second_index) == answers(anew)
    assert (second_index.snapshot.manifest.dense, second_index.snapshot.manifest.metric) == (
        anew.snapshot.manifest.dense,
        anew.snapshot.manifest.metric,
    )
    named = {name for name, _ in second_index.snapshot.manifest.files()}
    assert sum(name.endswith(".faiss") for name in named) == (0 if changed["dense"] == "flat" else 3)
    # the generation before can still be opened, and answers as it did
    with sr.open(tmp_path / "index", generation=1, encoder=LetterEncoder()) as earlier:
        assert answers(earlier) == before
    first_index.close()
    sr.merge(tmp_path / "index")
    assert {str(path.relative_to(tmp_path / "index")) for path in (tmp_path / "index").rglob("*.faiss")} == {
        name for name in named if name.endswith(".faiss")
    }
    assert len(list((second_index.path / "lexical").iterdir())) == 1  # frequencies do not depend on BM25's parameters
    assert answers(sr.open(tmp_path / "index", encoder=LetterEncoder())) == answers(anew)
    # and then the same settings are up to date
    notes = Notes()
    assert build(source, tmp_path / "index", **changed, progress=notes).snapshot.manifest == second_index.snapshot.manifest
    assert "up to date" in notes.texts[0]


def test_an_interrupted_build_goes_on_with_another_index_type(
    source: Path, tmp_path: Path, letters: LetterEncoder, monkeypatch: Any
) -> None:
    def crash(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(building, "commit", crash)
        with pytest.raises(KeyboardInterrupt):
            build(source, tmp_path / "index", dense="HNSW8,Flat")
    letters.asked.clear()
    index = build(source, tmp_path / "index", dense="flat", lexical=Bm25Parameters(k1=0.5))
    assert len(letters.asked) <= 3  # the probe, on each side at most
    assert answers(index) == answers(build(source, tmp_path / "anew", dense="flat", lexical=Bm25Parameters(k1=0.5)))


def test_a_shard_too_small_for_the_index_type_is_searched_exactly(source: Path, tmp_path: Path) -> None:
    notes = Notes()
    index = build(source, tmp_path / "index", dense="IVF16,Flat", progress=notes)
    assert [shard.ann_file is not None for shard in index.snapshot.manifest.shards] == [True, True, False]
    assert any("shard 000002 has too few papers for IVF16,Flat" in note for note in notes.texts)
    vector = LetterEncoder().encode_queries([sr.Query("q", "star market graph")])[0]
    stored = np.concatenate([shard.vectors for shard in index.snapshot.vectors])
    best = index.ids(np.argsort(-stored @ vector, kind="stable")[:3])
    assert set(index.search("star market graph", 130, mode="dense").rankings[0].ids[:3]) == set(best)
    assert index.snapshot.manifest.dense == "IVF16,Flat"
    small = build(source, tmp_path / "small", dense="IVF100,Flat")
    assert small.snapshot.manifest.dense == "flat"
    build(source, tmp_path / "small", dense="IVF100,Flat", progress=notes)
    assert "up to date" in notes.texts[-1]


def test_a_type_that_faiss_cannot_build_is_refused_before_anything_is_encoded(source: Path, tmp_path: Path, letters: LetterEncoder) -> None:
    with pytest.raises(InvalidRequest, match="IVF4,PQ5"):  # 28 dimensions do not divide by 5
        build(source, tmp_path / "index", dense="IVF4,PQ5")
    assert letters.asked == []
    assert not (tmp_path / "index").exists()


def test_a_corpus_is_the_same_however_its_path_is_spelt(source: Path, tmp_path: Path, letters: LetterEncoder, monkeypatch: Any) -> None:
    first = build(source, tmp_path / "index")
    letters.asked.clear()
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    for spelling in ("../papers.jsonl", f"{tmp_path}/elsewhere/../papers.jsonl"):
        assert build(spelling, tmp_path / "index").snapshot.manifest == first.snapshot.manifest
    assert letters.asked == []


def test_other_papers_or_another_encoder_are_not_the_same_shards(source: Path, tmp_path: Path, monkeypatch: Any) -> None:
    build(source, tmp_path / "index")
    for changed, named in (
        ({"limit": 100}, "another `limit`;"),
        ({"shard_size": 50, "limit": 3}, "another `shard_size`, `limit`;"),
        ({"lexical": None}, "another BM25 text analysis;"),
        ({"encoder": None}, "another encoder;"),
    ):
        with pytest.raises(IndexExists, match=named):
            build(source, tmp_path / "index", **changed)
    monkeypatch.setitem(NAMED, "letters", LetterEncoder(scale=2))
    with pytest.raises(IndexExists, match="another encoder;"):
        build(source, tmp_path / "index")
    with pytest.raises(IndexExists, match="another corpus, encoder;"):
        build(write_jsonl(tmp_path / "others.jsonl", made_up_papers(5)), tmp_path / "index", encoder="letters")


def test_the_same_command_keeps_what_was_tuned(source: Path, tmp_path: Path) -> None:
    build(source, tmp_path / "index")
    refit(tmp_path / "index", Bm25Parameters(k1=0.7), Fusion(alpha=0.3))
    notes = Notes()
    same = build(source, tmp_path / "index", progress=notes).snapshot.manifest
    assert (same.generation, same.fusion and same.fusion["alpha"], same.lexical and same.lexical["k1"]) == (2, 0.3, 0.7)
    graph = build(source, tmp_path / "index", dense="HNSW4,Flat").snapshot.manifest
    assert (graph.generation, graph.fusion and graph.fusion["alpha"], graph.lexical and graph.lexical["k1"]) == (3, 0.3, 0.7)
    # what was tuned for other scores does not hold
    euclidean = build(source, tmp_path / "index", metric="l2", progress=notes).snapshot.manifest
    assert euclidean.fusion is None
    assert any("sciretrieve tune" in note for note in notes.texts)


class ThisProcess:
    """`protocols.Workers` that are this process."""

    def __init__(self) -> None:
        self.done = 0

    def run(self, directory: Path, tasks: Sequence[Task[Result]], advance: Advance) -> Iterator[tuple[int, Result]]:
        for number, task in reversed(list(enumerate(tasks))):  # they may end in any order
            self.done += 1
            yield number, task(advance)


def test_workers_build_the_indexes_of_another_type(source: Path, tmp_path: Path) -> None:
    workers = ThisProcess()
    build(source, tmp_path / "here")
    build(source, tmp_path / "handed-out")
    here = build(source, tmp_path / "here", dense="IVF4,Flat")
    handed_out = build(source, tmp_path / "handed-out", dense="IVF4,Flat", workers=workers)
    assert workers.done == 3
    assert answers(handed_out) == answers(here)
    assert [shard.files for shard in handed_out.snapshot.manifest.shards] == [shard.files for shard in here.snapshot.manifest.shards]


def test_readers_of_the_generation_before_keep_their_graph(source: Path, tmp_path: Path) -> None:
    """A new FAISS index is another file: a crash before the commit leaves the old one as its manifest says."""
    old = build(source, tmp_path / "index", dense="HNSW4,Flat")
    names = {shard.ann_file for shard in old.snapshot.manifest.shards}
    new = build(source, tmp_path / "index", dense="HNSW8,Flat")
    assert names.isdisjoint({shard.ann_file for shard in new.snapshot.manifest.shards})
    sr.merge(tmp_path / "index")  # removes generations that nobody has open
    assert answers(old) == answers(build(source, tmp_path / "anew", dense="HNSW4,Flat"))

"""Remembered vectors equal the encoder's, are computed once, and are never another encoder's."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sciretrieve.base.types import Paper, Query
from sciretrieve.encoders import encoder_cache, remembered
from sciretrieve.encoders.remembered import RememberingEncoder
from sciretrieve.protocols import Encoder
from tests.toy_encoder import LetterEncoder

ROOT = Path(__file__).parents[2]
PAPERS = [Paper(str(number), f"title {chr(97 + number % 26) * (number % 7)}", f"abstract {number}") for number in range(40)]


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache that is empty."""
    monkeypatch.setenv("SCIRETRIEVE_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def files() -> list[Path]:
    return sorted(encoder_cache.vectors_directory().rglob("vectors.sqlite"))


def new(papers: Sequence[Paper], encoder: Encoder | None = None) -> int:
    """How many papers have to be encoded."""
    counting = encoder if isinstance(encoder, LetterEncoder) else LetterEncoder()
    count_before = len(counting.asked)
    ours = RememberingEncoder(counting).encode_papers(papers)
    encoded_count = len(counting.asked) - count_before
    np.testing.assert_array_equal(ours, counting.encode_papers(papers))
    return encoded_count


def test_the_encoder_is_asked_once(own_cache: Path) -> None:
    encoder = LetterEncoder()
    for _ in range(3):
        vectors = RememberingEncoder(encoder).encode_papers(PAPERS)
        assert vectors.dtype == np.float32
        np.testing.assert_array_equal(vectors, LetterEncoder().encode_papers(PAPERS))
    assert encoder.asked == [f"{paper.title} {paper.abstract}" for paper in PAPERS]
    assert len(files()) == 1
    assert [entry.folder for entry in encoder_cache.entries()] == [files()[0].parent]


def test_ids_make_no_difference_and_texts_do() -> None:
    assert new([Paper("a", "graph", "networks")]) == 1
    assert new([Paper("b", "graph", "networks", year=1999)]) == 0
    assert new([Paper("a", "graph networks", "")]) == 1
    assert new([Paper("a", "", "graph networks")]) == 1
    assert new([Paper("a", "graph", "network s")]) == 1


def test_a_paper_a_paper_as_query_and_a_text_are_kept_apart() -> None:
    encoder, paper = LetterEncoder(), Paper("p", "", "graph networks")
    for _ in range(2):
        ours = RememberingEncoder(encoder)
        np.testing.assert_array_equal(ours.encode_papers([paper]), LetterEncoder().encode_papers([paper]))
        for query in (Query("q", "graph networks"), Query("q", paper=paper)):
            np.testing.assert_array_equal(ours.encode_queries([query]), LetterEncoder().encode_queries([query]))
    assert encoder.asked == ["graph networks"] * 3
    assert len(np.unique(np.concatenate([ours.encode_papers([paper]), ours.encode_queries([query])]), axis=0)) == 2


def test_texts_and_papers_as_queries_mix() -> None:
    queries = [Query(str(number), f"words {number}") if number % 3 else Query("p", paper=paper) for number, paper in enumerate(PAPERS)]
    encoder = LetterEncoder()
    for batch in (queries[:25], queries, queries[::-1]):
        np.testing.assert_array_equal(RememberingEncoder(encoder).encode_queries(batch), LetterEncoder().encode_queries(batch))
    assert len(encoder.asked) == len(queries)


@pytest.mark.parametrize("changed", [{"precision": "bf16"}, {"scale": 2}, {"layout": "instructed"}], ids=str)
def test_another_precision_or_identity_has_its_own_file(changed: dict[str, Any]) -> None:
    assert new(PAPERS) == len(PAPERS)
    assert new(PAPERS, LetterEncoder(**changed)) == len(PAPERS)
    assert len(files()) == 2
    assert new(PAPERS) == new(PAPERS, LetterEncoder(**changed)) == 0


def test_how_an_encoder_is_called_makes_no_difference_to_its_vectors() -> None:
    assert new(PAPERS) == len(PAPERS)
    assert len(files()) == 1
    folder = files()[0].parent
    folder.rename(folder.with_name(folder.name.replace("letters", "other-name")))
    assert new(PAPERS, LetterEncoder("other/name")) == 0


def test_names_make_folders_that_any_system_takes() -> None:
    new(PAPERS[:1], LetterEncoder("/home/somebody/models/../my model: é?" + "x" * 300))
    (file,) = files()
    assert file.parent.parent == encoder_cache.vectors_directory()
    assert len(file.parent.name) < 100
    assert not set(file.parent.name) & set("/:? ")


def test_vectors_made_elsewhere_go_by_id_and_are_not_remembered(own_cache: Path) -> None:
    encoder = LetterEncoder(layout="vectors")
    for _ in range(2):
        RememberingEncoder(encoder).encode_papers(PAPERS)
        RememberingEncoder(encoder).encode_queries([Query("q", "graph")])
    assert len(encoder.asked) == 2 * (len(PAPERS) + 1)
    assert not own_cache.exists()


@settings(deadline=None, max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(calls=st.lists(st.lists(st.sampled_from(PAPERS), max_size=30), max_size=5), at_once=st.sampled_from([1, 3, 512]))
def test_any_calls_give_the_encoders_vectors(calls: list[list[Paper]], at_once: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(remembered, "LOOKUP_SIZE", at_once)
        encoder = LetterEncoder()
        for papers in calls:
            np.testing.assert_array_equal(RememberingEncoder(encoder).encode_papers(papers), LetterEncoder().encode_papers(papers))
        assert len(encoder.asked) == len(set(encoder.asked))


def test_a_cache_that_cannot_be_written_costs_only_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("no folder")
    monkeypatch.setenv("SCIRETRIEVE_CACHE", str(tmp_path / "file"))
    for _ in range(2):
        assert new(PAPERS) == len(PAPERS)
    assert new([PAPERS[0], PAPERS[0]]) == 1
    assert (tmp_path / "file").read_text() == "no folder"


def test_a_file_that_is_no_table_costs_only_time() -> None:
    new(PAPERS)
    files()[0].write_bytes(b"no database at all, but long enough to be looked at" * 40)
    assert new(PAPERS) == len(PAPERS)


def test_clearing_the_cache_forgets() -> None:
    assert new(PAPERS) == len(PAPERS)
    assert len(encoder_cache.clear("letters")) == 1
    assert new(PAPERS) == len(PAPERS)


def test_processes_that_write_at_once_lose_nothing() -> None:
    code = """
import sys
from sciretrieve.encoders.remembered import RememberingEncoder
from sciretrieve.base.types import Paper
from tests.toy_encoder import LetterEncoder
sys.stdin.read()  # until all are there
for number in range(int(sys.argv[1]), int(sys.argv[1]) + 150):
    RememberingEncoder(LetterEncoder()).encode_papers([Paper("", "graph", str(number))])
"""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    running = [subprocess.Popen([sys.executable, "-c", code, str(start)], env=environment, stdin=subprocess.PIPE) for start in (0, 75, 150)]
    for process in running:
        assert process.stdin is not None
        process.stdin.close()
    assert [process.wait(120) for process in running] == [0, 0, 0]
    assert new([Paper("", "graph", str(number)) for number in range(300)]) == 0

"""The compiled kernel answers as NumPy does, to the last bit: any queries of any shards, whatever papers may answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from threading import Thread

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sciretrieve.base.errors import TimedOut
from sciretrieve.base.types import Rows
from sciretrieve.base.waiting import unless
from sciretrieve.matching.lexical import Analyzer, Bm25, Bm25Parameters, FieldsBuilder, compiled
from sciretrieve.matching.lexical.fields import field_term
from sciretrieve.matching.scope import NO_ROWS, Scope
from tests.bm25_indexes import joined, postings_of

pytest.importorskip("numba", reason="numba is optional")

PAPERS = 900
BOUNDS = {1: [0, PAPERS], 3: [0, 500, 510, PAPERS]}
WORDS = [f"word{number}x" for number in range(60)]
PARAMETERS = (
    Bm25Parameters(),
    Bm25Parameters(variant="robertson", title=1.0),
    Bm25Parameters(variant="atire", k1=0.4, b=1.0),
    Bm25Parameters(variant="bm25+"),
)
Answer = tuple[list[tuple[int, bytes]], bytes]


@pytest.fixture(scope="module")
def loaded() -> compiled.Kernel:
    """The kernel, loaded."""
    kernel = compiled.Kernel()
    kernel.load()
    return kernel


@pytest.fixture(scope="module")
def indexes(tmp_path_factory: pytest.TempPathFactory) -> list[Bm25]:
    """Papers in one shard and in three, by several formulas. Words are as unequal as those of a language; some papers are deleted."""
    folder, chance = tmp_path_factory.mktemp("compiled"), np.random.default_rng(0)
    shares = 1 / np.arange(1, len(WORDS) + 1)
    drawn = [chance.choice(WORDS, int(chance.integers(0, 40)), p=shares / shares.sum()).tolist() for _ in range(PAPERS)]
    papers = [(" ".join(words[:2]), " ".join(words[2:])) for words in drawn]
    fields = pa.table(
        {"authors": [[str(words[0])] if words else [] for words in drawn], "year": [2000 + len(words) % 5 for words in drawn]}
    )
    live = Scope(PAPERS, chance.random(PAPERS) > 0.1)
    indexes = []
    for bounds in BOUNDS.values():
        postings = []
        for start, stop in pairwise(bounds):
            part = folder / f"{start}-{stop}"
            postings.append(postings_of(part, papers[start:stop]))
            builder = FieldsBuilder(Analyzer())
            builder.add(fields.slice(start, stop - start))
            builder.write(part)
        indexes += [joined(postings, parameters, live) for parameters in PARAMETERS]
    return indexes


def answers(
    bm25: Bm25, kernel: compiled.Kernel, queries: Sequence[Mapping[str, float]], k: int, scope: Scope, others: Rows
) -> list[Answer]:
    """The answers that a kernel gives, or NumPy if it is not loaded, with all bits of their scores."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sciretrieve.matching.lexical.bm25.KERNEL", kernel)
        patch.setattr(compiled, "WINDOW", 64)  # so small that later windows skip lists
        patch.setattr(compiled, "CHUNKS", (2, 3))
        patch.setattr(compiled, "LARGE", 3 * PAPERS)
        found = bm25.bests(queries, k, scope, [others] * len(queries))
    return [
        (sorted((int(row), score.tobytes()) for row, score in zip(rows, scores, strict=True)), other_scores.tobytes())
        for rows, scores, other_scores in found
    ]


terms = st.sampled_from([*WORDS, "absent", *(field_term("authors", word) for word in WORDS[:6]), field_term("year", "2003")])
growing = st.dictionaries(terms, st.floats(0.125, 4) | st.just(1.0), max_size=25)
others = st.dictionaries(terms, st.sampled_from([-1.0, 0.0, 1e-9]), min_size=1, max_size=2)
queries = st.lists(growing | st.builds(dict[str, float].__or__, growing, others), min_size=1, max_size=8)


@given(
    number=st.integers(0, 7),
    queries=queries,
    k=st.sampled_from([1, 2, 10, 300, 2000]),
    seed=st.integers(0, 9),
    kept=st.sampled_from([0.02, 0.5, 1]),
)
def test_answers_are_those_of_numpy(
    indexes: list[Bm25], loaded: compiled.Kernel, number: int, queries: list[dict[str, float]], k: int, seed: int, kept: float
) -> None:
    chance, bm25 = np.random.default_rng(seed), indexes[number]
    live = np.concatenate([shard.scope.flags for shard in bm25.shards])
    scope = Scope(PAPERS, live & (chance.random(PAPERS) < kept))
    others = chance.permutation(PAPERS)[: 40 * (seed % 3)]
    expected = answers(bm25, compiled.Kernel(), queries, k, scope, others)
    assert answers(bm25, loaded, queries, k, scope, others) == expected


def test_it_is_loaded_once_a_process_has_searched_often(indexes: list[Bm25], monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[str] = []
    monkeypatch.setattr(Thread, "start", lambda thread: started.append(thread.name))
    kernel = compiled.Kernel()
    assert kernel.after(compiled.AFTER - 1) is None
    assert not started
    assert kernel.after(1) is None
    assert kernel.after(1) is None
    assert len(started) == 1


def test_without_numba_numpy_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "sciretrieve.matching.lexical.kernel", None)
    kernel = compiled.Kernel()
    kernel.load()
    assert kernel.after(1) is None


def test_nobody_waits_for_the_rest_of_a_list(indexes: list[Bm25], loaded: compiled.Kernel) -> None:
    with unless(lambda: True), pytest.raises(TimedOut):
        answers(indexes[0], loaded, [{WORDS[0]: 1.0}] * 20, 10, indexes[0].shards[0].scope, NO_ROWS)

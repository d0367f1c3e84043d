"""What engineers compose with: an index as a mapping and as arrays, asyncio, and results that travel to other processes and tables."""

import asyncio
import copy
import multiprocessing
import pickle
import sys
import threading
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sciretrieve as sr
from sciretrieve.base.waiting import awaited, raise_if_abandoned


def forms(value: Any) -> Any:
    """All that a run or an answer says of itself, but how long it took."""
    return {name: item for name, item in value.to_dict().items() if name != "total_time_ms"}, value.to_arrow(), repr(value)


def test_an_index_is_a_mapping(index: sr.Index) -> None:
    keys = index.keys()
    assert list(keys) == [paper.id for paper in index]
    assert (len(keys), "p0007" in keys, "nobody" in keys) == (len(index), True, False)
    assert {"p0007", "nobody"} - keys == {"nobody"}
    assert keys & {"p0007", "nobody"} == {"p0007"}
    assert index.get("p0007") == index["p0007"]
    assert (index.get("nobody"), index.get("nobody", 3)) == (None, 3)
    with pytest.raises(sr.InvalidRequest):
        index.get(7)  # type: ignore[call-overload]


def test_keys_of_several_indexes_name_each_paper() -> None:
    for name in ("one", "two"):
        sr.build([{"id": "a", "title": f"Graphs {name}"}, {"id": name, "title": "Stars"}], Path(name), encoder=None, progress=False).close()
    with sr.open_many(["one", "two"]) as both:
        assert list(both.keys()) == ["one:a", "one:one", "two:a", "two:two"]
        assert {key: paper.title for key, paper in dict(both).items()}["two:a"] == "Graphs two"


def test_vectors_are_mapped_and_in_the_order_of_keys() -> None:
    vector_of = {name: [float(place), 1.0] for place, name in enumerate("abcd")}
    index = sr.build([{"id": name, "title": "Graphs"} for name in vector_of], into="four", encoder=vector_of, progress=False)
    mapped = index.to_numpy()
    assert isinstance(mapped.base, np.memmap)  # the file itself
    assert mapped.dtype == np.float32
    assert mapped.tolist() == list(vector_of.values())
    sr.delete("four", ["b"])
    sr.add([{"id": "e", "title": "Stars"}], "four", encoder={"e": [9.0, 1.0]}, progress=False)
    now = index.refreshed()
    assert dict(zip(now.keys(), now.to_numpy()[:, 0].tolist(), strict=True)) == {"a": 0.0, "c": 2.0, "d": 3.0, "e": 9.0}
    assert now.to_numpy(now.snapshot.rows(["d", "a"])).tolist() == [[3.0, 1.0], [0.0, 1.0]]
    for vectors in (mapped, now.to_numpy()):
        with pytest.raises(ValueError, match="read-only"):
            vectors[0] = 0


def test_without_vectors_there_are_none(built: Any) -> None:
    with pytest.raises(sr.InvalidRequest, match="has no vectors"):
        built(encoder=None).to_numpy()


def sent(value: Any) -> Any:
    """In another process: what came there."""
    return value, forms(value)


def test_runs_and_answers_travel_with_their_papers(index: sr.Index) -> None:
    """Also where the index is not there: their processes never open it."""
    run = index.search(["graph networks", "star dust", "p0007"], 4, offset=1, filter="year >= 2000")
    answer = sr.answer(index, sr.Request("graph networks", k=3, facets=["year"], explain=True, cluster=True))
    with multiprocessing.get_context("fork").Pool(1) as pool, warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # Python 3.12 on forks beside threads
        values = (run, run[1:], answer)
        for value, (back, there) in zip(values, pool.map(sent, values), strict=True):
            assert there == forms(back) == forms(value)
            assert len(pickle.dumps(back)) < 100_000
            for other in (copy.copy(value), copy.deepcopy(value), pickle.loads(pickle.dumps(back))):
                assert forms(other) == forms(value)
    assert back.hits == answer.hits
    assert copy.copy(run).source is copy.deepcopy(run).source is run.source


def test_a_run_of_a_closed_index_cannot_be_pickled(index: sr.Index) -> None:
    with index.reopened() as opened:
        run = opened.search("graph networks", 2)
        kept = pickle.dumps(run)
    with pytest.raises(sr.InvalidRequest, match="closed"):
        pickle.dumps(run)
    with pytest.raises(sr.InvalidRequest, match="open it there"):
        pickle.dumps(index)
    assert len(pickle.loads(kept).hits) == 2


def test_tables_say_the_same(index: sr.Index, monkeypatch: pytest.MonkeyPatch) -> None:
    for value in (index.search(["graph networks", "star dust"], 3), sr.answer(index, sr.Request("graph networks", k=3))):
        table = value.to_arrow()
        assert value.to_polars().to_arrow().to_pylist() == table.to_pylist()
        assert value.to_pandas().equals(table.to_pandas())
        for name in ("polars", "pandas"):
            with monkeypatch.context() as patch:
                patch.setitem(sys.modules, name, None)
                with pytest.raises(sr.MissingExtra, match=f"pip install {name}"):
                    getattr(value, f"to_{name}")()


def test_searches_awaited_together_are_right(index: sr.Index) -> None:
    async def ask() -> list[sr.Run]:
        return await asyncio.gather(
            *(index.asearch(text, 5, mode="bm25") for text in ("graph networks", "star dust", "market price")), index.asimilar("p0007", k=5)
        )

    runs = asyncio.run(ask())
    assert [run[0].ids for run in runs[:3]] == [
        index.search(text, 5, mode="bm25")[0].ids for text in ("graph networks", "star dust", "market price")
    ]
    assert runs[3][0].ids == index.similar("p0007", k=5)[0].ids
    with pytest.raises(sr.InvalidRequest):
        asyncio.run(index.asearch(""))


def test_the_loop_goes_on_and_who_cancels_stops_the_work() -> None:
    started, stopped = threading.Event(), threading.Event()

    def work() -> None:
        started.set()
        try:
            while True:
                raise_if_abandoned()
        finally:
            stopped.set()

    async def cancelled() -> bool:
        task = asyncio.create_task(awaited(work, "")())
        while not started.is_set():
            await asyncio.sleep(0)  # the loop goes on
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return stopped.wait(10)

    assert asyncio.run(cancelled())


def test_a_comparison_is_a_table_of_all_queries(tmp_path: Path) -> None:
    (tmp_path / "qrels.txt").write_text("1 0 a 1\n2 0 b 1\n")
    for name, first in (("one.trec", "a"), ("two.trec", "b")):
        (tmp_path / name).write_text("".join(f"{query} Q0 {first} 1 2.0 x\n{query} Q0 c 2 1.0 x\n" for query in "12"))
    paths = [tmp_path / "one.trec", tmp_path / "two.trec"]
    comparison = sr.compare(paths, tmp_path / "qrels.txt", measures=["P@1"])
    values = {(row["run"][:3], row["query"]): row["P@1"] for row in comparison.to_arrow().to_pylist()}
    assert values == {("one", "1"): 1, ("one", "2"): 0, ("two", "1"): 0, ("two", "2"): 1}
    assert pickle.loads(pickle.dumps(comparison)).to_json() == comparison.to_json()

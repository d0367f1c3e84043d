"""A closed index says that it is closed, whatever is asked of it, in whatever way it was opened and closed."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import sciretrieve as sr
from sciretrieve.base.errors import InvalidRequest
from sciretrieve.query.closing import KEPT
from sciretrieve.query.snapshot import Snapshot
from tests.made_up import made_up_papers

PAPERS = made_up_papers(30)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of two small indexes of words alone."""
    folder = tmp_path_factory.mktemp("closing")
    sr.build(PAPERS[:20], folder / "one", encoder=None).close()
    sr.build(PAPERS[20:], folder / "two", encoder=None).close()
    return folder


def followed(folder: Path) -> sr.Index:
    """An index that was followed from one generation to the next."""
    first = sr.build(PAPERS[:10], folder / "followed", encoder=None, overwrite=True)
    sr.add(PAPERS[10:20], folder / "followed")
    now = first.refreshed()
    assert now is not first
    first.close()
    return now


OPENED: dict[str, Callable[[Path], sr.Index]] = {
    "index": lambda folder: sr.open(folder / "one"),
    "several": lambda folder: sr.open_many([folder / "one", folder / "two"]),
    "earlier generation": lambda folder: sr.open(folder / "one", generation=1),
    "followed": followed,
    "built": lambda folder: sr.build(PAPERS[:20], folder / "one", encoder=None),
}


@pytest.fixture(params=OPENED)
def closed(request: pytest.FixtureRequest, folder: Path) -> Iterator[Any]:
    """An index that was opened, used and closed."""
    opened = OPENED[request.param](folder)
    assert len(list(opened)) == len(opened)
    opened.close()
    yield opened
    opened.close()  # again


def test_everything_that_is_asked_of_it_says_so(closed: Any) -> None:
    public = [name for name in {*dir(type(closed)), *vars(closed)} if not name.startswith("_") and name not in KEPT]
    assert len(public) > 20
    for name in public:
        with pytest.raises(InvalidRequest, match=r"is closed; open it again"):
            getattr(closed, name)
    with_signs: list[Callable[[], object]] = [
        lambda: len(closed),
        lambda: list(closed),
        lambda: "p0001" in closed,
        lambda: closed["p0001"],
        lambda: closed.__enter__(),
    ]
    for use in with_signs:
        with pytest.raises(InvalidRequest, match="is closed"):
            use()
    assert "closed" in repr(closed)
    assert str(closed.path) in repr(closed)
    assert isinstance(closed, sr.Index)
    assert not hasattr(closed, "nonsense")


def test_a_closed_snapshot_says_so_too(folder: Path) -> None:
    with Snapshot.of(folder / "one") as snapshot:
        assert len(snapshot) == 20
    for name in {*dir(Snapshot), *vars(snapshot)} - {*KEPT}:
        if not name.startswith("_"):
            with pytest.raises(InvalidRequest, match=r"is closed; open it again"):
                getattr(snapshot, name)


def test_after_with_and_in_what_is_left_of_it(folder: Path) -> None:
    with sr.open(folder / "one") as index:
        run = index.search("graph networks", k=3)
        reader = index.reader
        first = run.hits[0].id
    uses: list[Callable[[], object]] = [
        lambda: run.hits,
        lambda: reader.probes(["graph networks"], "bm25", ()),
        lambda: sr.answer(index, sr.Request("graph networks")),
        lambda: sr.explain(index, "graph networks", [first]),
        lambda: sr.why_not(index, first, "graph networks"),
        lambda: sr.profile(index, first),
        lambda: sr.health(index, progress=False),
        lambda: sr.open_many([index, folder / "two"]),
        lambda: sr.Screening(index, folder / "screening.jsonl", "graph networks"),
        lambda: sr.save_search(index, sr.Request("graph networks"), "closed"),
    ]
    for use in uses:
        with pytest.raises(InvalidRequest, match=f"{index.path} is closed"):
            use()
    assert run[0].ids[0] == first
    assert not (folder / "screening.jsonl").exists()
    assert not sr.saved_searches()
    with sr.open(index.path) as again:
        assert again.search("graph networks", k=3)[0].ids == run[0].ids


def test_what_it_read_is_released(folder: Path) -> None:
    """Also where somebody still has the index: nobody collects it."""
    with sr.open(folder / "one") as index:
        shards = [weakref.ref(shard) for shard in index.snapshot.shards]
        assert index.search("graph networks").hits
    assert [shard() for shard in shards] == [None]


def test_others_stay_open(folder: Path) -> None:
    one = sr.open(folder / "one")
    both = sr.open_many([one, folder / "two"])
    one.close()
    assert len(both.search("graph networks", k=3).hits) == 3
    both.members[1].close()
    with pytest.raises(InvalidRequest, match="two is closed"):
        both.refreshed()
    both.close()
    with pytest.raises(InvalidRequest, match=r"one \+ two is closed"):
        both.search("graph networks")

"""One shard: how a corpus is cut into shards, its papers by row and by id, and what it holds in memory."""

import gc
import threading
import weakref
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sciretrieve.base.errors import CorruptData
from sciretrieve.base.types import Paper
from sciretrieve.files.schema import papers_of
from sciretrieve.files.verified import Verified
from sciretrieve.files.writing import describe, write_array, write_sealed
from sciretrieve.matching.lexical import Analyzer
from sciretrieve.storage.manifest import ShardFacts
from sciretrieve.storage.shards import Cutter, Shard, cut_shard, fill, finished_facts, read_deleted, reading, write_deleted
from sciretrieve.storage.shards import kept as kept_groups
from sciretrieve.storage.shards.cutting import contents
from sciretrieve.storage.shards.names import read_names
from tests.made_up import made_up_papers, read_corpus, write_jsonl


@pytest.fixture
def written(tmp_path: Path) -> Shard:
    """A shard of 1,000 papers."""
    return of_papers(tmp_path, made_up_papers(1000))


def of_papers(folder: Path, papers: list[dict[str, Any]]) -> Shard:
    table, _ = read_corpus(write_jsonl(folder / "papers.jsonl", papers))
    cutter = Cutter(lambda number: folder / "shards" / f"{number:06d}.partial", 5000)
    cutter.add(table)
    assert cutter.finish() == [len(papers)]
    return opened(folder, fill(folder / "shards" / "000000.partial", 0, None, Analyzer(), lambda _: None))


def opened(directory: Path, facts: ShardFacts) -> Shard:
    return Shard(Verified(directory), facts, 0)


@pytest.mark.parametrize("rows", [[0], [999], [255, 256], [999, 0, 500, 500, 256, 255, 1], list(range(999, -1, -7)), []], ids=len)
@pytest.mark.parametrize(("most_bytes", "groups_at_once"), [(0, 1), (0, 32), (1 << 20, 1), (1 << 20, 32)])
def test_papers_come_in_the_order_of_their_rows(
    written: Shard, rows: list[int], most_bytes: int, groups_at_once: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "KEPT", most_bytes)
    monkeypatch.setattr(reading, "GROUPS_AT_ONCE", groups_at_once)
    everything = papers_of(pq.read_table(written.file("papers.parquet")))
    for _ in range(2):  # from the file, then from what is kept of it
        assert written.papers_at(np.array(rows, np.int64)) == [everything[row] for row in rows]


def test_the_row_groups_that_were_used_last_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    kept, read, table = kept_groups.KeptGroups(), list[int](), pa.table({"n": pa.array(range(10), pa.int64())})
    monkeypatch.setattr(kept_groups, "KEPT", 2 * table.nbytes)

    def of(key: int) -> pa.Table:
        read.append(key)
        return table

    assert all(kept.get(key, partial(of, key)) is table for key in (1, 2, 1, 3, 1, 2, 2))
    assert read == [1, 2, 3, 2]


def test_papers_come_with_the_columns_that_are_asked_for(written: Shard) -> None:
    whole, part = written.papers_at(np.array([7, 3])), written.papers_at(np.array([7, 3]), ["id", "title", "authors"])
    assert part == [Paper(paper.id, paper.title, authors=paper.authors) for paper in whole]


NAMED = ("id", "title", "year", "venue", "authors", "doi")


@pytest.mark.parametrize("names", [NAMED, ("id",), ("title",), ("authors", "id"), ("year", "venue"), ("id", "title", "topic")])
def test_what_papers_are_called_is_the_same_with_and_without_its_own_file(tmp_path: Path, written: Shard, names: tuple[str, ...]) -> None:
    files = {name: facts for name, facts in written.facts.files.items() if name != "names.arrow"}
    older = opened(tmp_path, replace(written.facts, files=files))
    rows = np.array([0, 255, 256, 700, 999])
    assert written.columns(names).select(names).equals(older.columns(names).select(names))
    for (own, table), (others, other) in zip(written.read_at(rows, names), older.read_at(rows, names), strict=True):
        assert own.tolist() == others.tolist()
        assert table.select(names).to_pylist() == other.select(names).to_pylist()
    assert [paper.title for paper in written.papers_at(rows[::-1], names)] == [paper.title for paper in older.papers_at(rows[::-1], names)]


@pytest.mark.parametrize("name", ["id", "title", "venue", "doi"])
def test_texts_are_those_of_the_papers_few_and_many_with_and_without_their_own_file(tmp_path: Path, name: str) -> None:
    papers = [paper | {"doi": f"10.1000/{number}"} if number % 3 else paper for number, paper in enumerate(made_up_papers(1000))]
    written = of_papers(tmp_path, papers)
    files = {file: facts for file, facts in written.facts.files.items() if file != "names.arrow"}
    for shard in (written, opened(tmp_path, replace(written.facts, files=files))):
        for rows in (np.array([999, 3, 3]), np.arange(0, 1000, 7)):
            assert shard.texts_at(name, rows) == [getattr(paper, name) or "" for paper in shard.papers_at(rows)]


def test_names_are_read_a_few_thousand_at_a_time(written: Shard, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "NAMES_AT_ONCE", 300)
    parts = list(written.read_at(np.arange(1000), ["id"]))
    assert [len(rows) for rows, _ in parts] == [300, 300, 300, 100]
    assert [id for _, table in parts for id in table["id"].to_pylist()] == written.ids.to_pylist()


@pytest.mark.parametrize(
    ("column", "place", "values"),
    [
        *((column, 100, [value]) for column in ("title", "venue", "doi", "authors") for value in (-1, 1 << 30)),
        *((column, 100, [2**31 - 8, -1000]) for column in ("title", "authors")),  # whose differences do not fit into 32 bits
        *((column, place, [value]) for column in ("title", "authors") for place in (0, 1000) for value in (-1, 2**31 - 1)),
    ],
    ids=str,
)
def test_names_that_lie_outside_of_their_file_are_refused_before_they_are_read(
    tmp_path: Path, written: Shard, column: str, place: int, values: list[int]
) -> None:
    path = written.file("names.arrow")
    table = read_names(path, 1000)
    offsets = table[column].chunk(0).buffers()[1].to_pybytes()
    content = path.read_bytes()
    assert content.count(offsets) >= 1
    wrong = np.frombuffer(offsets, np.int32).copy()
    wrong[place : place + len(values)] = values
    path.write_bytes(content.replace(offsets, wrong.tobytes()))
    shard = opened(tmp_path, replace(written.facts, files={**written.facts.files, "names.arrow": describe(path)}))
    with pytest.raises(CorruptData, match=r"names\.arrow cannot be read .*verify --repair"):
        shard.papers_at(np.array([1]), ["id", "title"])


@pytest.mark.parametrize(
    "layout", [{"row_group_size": 1024, "compression": "zstd"}, {"row_group_size": 300}, {"row_group_size": 7}], ids=str
)
def test_papers_are_read_whatever_the_layout_of_their_file(tmp_path: Path, written: Shard, layout: dict[str, object]) -> None:
    path = written.file("papers.parquet")
    table = pq.read_table(path)
    before = written.papers_at(np.arange(0, 1000, 3))
    other = tmp_path / "other.parquet"
    pq.write_table(table, other, **layout)
    other.replace(path)
    opened_shard = opened(tmp_path, replace(written.facts, files={**written.facts.files, "papers.parquet": describe(path)}))
    assert opened_shard.papers_at(np.arange(0, 1000, 3)) == before
    assert opened_shard.columns(["year", "id"]).equals(table.select(["year", "id"]))
    parts = list(opened_shard.tables())
    assert pa.concat_tables([part for _, part in parts]).equals(table)
    assert [first for first, _ in parts] == list(range(0, 1000, int(str(layout["row_group_size"]))))


def test_a_shard_that_was_read_can_be_forgotten(tmp_path: Path, written: Shard) -> None:
    opened_shard = opened(tmp_path, written.facts)
    opened_shard.papers_at(np.array([3]))
    opened_shard.texts_at("id", np.array([3]))
    reference = weakref.ref(opened_shard)
    gc.disable()
    try:
        del opened_shard
        assert reference() is None
    finally:
        gc.enable()


@settings(max_examples=40)
@given(batches=st.lists(st.integers(0, 9), max_size=6), shard_size=st.integers(1, 8))
def test_a_corpus_is_cut_alike_whatever_batches_it_comes_in(
    tmp_path_factory: pytest.TempPathFactory, batches: list[int], shard_size: int
) -> None:
    folder = tmp_path_factory.mktemp("cut")
    ids = [f"p{number}" for number in range(sum(batches))]
    cutter = Cutter(lambda number: folder / str(number), shard_size)
    first = 0
    for size in batches:
        part = ids[first : first + size]
        cutter.add(pa.table({"id": pa.array(part, pa.string()), "title": pa.array(part, pa.string())}))
        first += size
    starts = range(0, len(ids), shard_size)
    assert cutter.finish() == [len(ids[start : start + shard_size]) for start in starts]
    for number, start in enumerate(starts):
        expected = ids[start : start + shard_size]
        assert pq.read_table(folder / str(number) / "papers.parquet")["id"].to_pylist() == expected
        with pa.ipc.open_file(folder / str(number) / "ids.arrow") as file:
            assert file.read_all()["id"].to_pylist() == expected
    assert len(list(folder.iterdir())) == len(starts)


def hashes(**columns: Any) -> list[Any]:
    hashed: list[Any] = contents(pa.table(columns)).to_pylist()
    return hashed


def test_papers_that_say_the_same_have_the_same_hash() -> None:
    (plain,) = hashes(id=["1"], title=["Stars"], year=pa.array([2001], pa.int32()))
    alike: list[dict[str, Any]] = [
        {"year": pa.array([2001], pa.int64()), "title": ["Stars"], "id": ["1"]},  # columns in another order, of another type
        {
            "id": ["1"],
            "title": ["Stars"],
            "year": [2001.0],
            "note": [None],
            "venue": [""],
            "authors": pa.array([[]], pa.list_(pa.string())),
        },
        {"id": ["1"], "title": ["Stars"], "year": ["2001"], "impact": [float("nan")]},
    ]
    different: list[dict[str, Any]] = [
        {"id": ["1"], "title": ["Star"], "year": [2001]},
        {"id": ["2"], "title": ["Stars"], "year": [2001]},
        {"id": ["1"], "title": ["Stars"], "year": [2001], "note": ["x"]},
        {"id": ["1"], "title": ["Stars"], "cited": [2001]},
        {"id": ["1"], "title": [""], "abstract": ["Stars"], "year": [2001]},
        {"id": ["1"], "title": ["Stars"], "year": [2001.5]},
        {"id": ["1"], "title": ["Stars"], "year": [2001], "authors": [["Ada"]]},
    ]
    assert {hash for columns in alike for hash in hashes(**columns)} == {plain}
    assert len({hash for columns in different for hash in hashes(**columns)} | {plain}) == len(different) + 1


@given(st.lists(st.lists(st.text(max_size=3), min_size=2, max_size=2), min_size=2, max_size=8))
def test_papers_that_say_something_else_have_another_hash(rows: list[list[str]]) -> None:
    columns = {name: pa.array([row[place] for row in rows], pa.string()) for place, name in enumerate(("a", "b"))}
    by_hash = dict(zip(hashes(**columns), map(tuple, rows), strict=True))
    assert len(by_hash) == len(set(map(tuple, rows)))


def thinned(directory: Path, shard: Shard, rows: list[int], **changes: Any) -> Shard:
    """The shard, of which these rows are deleted; `changes` are other facts."""
    path = shard.file("ids.arrow").with_name("deleted-000002.npy")
    write_deleted(path, np.array(rows, np.int64))
    facts = replace(shard.facts, files={**shard.facts.files, path.name: describe(path)}, deleted=len(rows))
    return opened(directory, replace(facts, **changes))


def test_deleted_papers_are_not_found_and_keep_their_rows(tmp_path: Path, written: Shard) -> None:
    shard = thinned(tmp_path, written, [999, 3, 500])
    assert len(shard.scope) == 997
    assert np.flatnonzero(~shard.scope.flags).tolist() == [3, 500, 999]
    few, many = ["p0003", "p0004", "nobody", "p0999"], [f"p{number:04d}" for number in range(1010)]
    for _ in range(reading.OFTEN + 1):
        assert shard.find(few) == {"p0004": 4}
        assert shard.find([*few, *few, "p 004", "é0004", ""]) == {"p0004": 4}
    assert shard.find(many) == {f"p{number:04d}": number for number in range(1000) if number not in (3, 500, 999)}
    assert shard.papers_at(np.array([3]))[0].id == "p0003"
    assert (shard.papers, len(shard.ids), written.find(few)) == (1000, 1000, {"p0003": 3, "p0004": 4, "p0999": 999})


@pytest.mark.parametrize("ids", [["Smith2020", "p1", "SMITH2020", "smith20201", "q2"], ["Ärger2020", "p1", "smith2020", "ärger2020"]])
def test_an_id_is_found_whatever_its_case(tmp_path: Path, ids: list[str]) -> None:
    shard = of_papers(tmp_path, [{"id": id, "title": "Star dust"} for id in ids])
    for asked in ["smith2020", "SMITH2020", "P1", "ärger2020", "ÄRGER2020", "\N{KELVIN SIGN}1", "nobody", "smith202", ""]:
        assert shard.find_in_any_case(asked).tolist() == [row for row, id in enumerate(ids) if id.lower() == asked.lower()]
        assert shard.find([asked]) == ({asked: ids.index(asked)} if asked in ids else {})


@pytest.mark.parametrize(
    "array",
    [np.array([2, 1], np.int32), np.array([1, 1], np.int32), np.array([-1], np.int32), np.array([1]), np.zeros((1, 1), np.int32), None],
    ids=["descending", "twice", "negative", "another type", "two axes", "no array"],
)
def test_what_is_no_list_of_rows_is_refused(tmp_path: Path, array: Any) -> None:
    path = tmp_path / "deleted-000001.npy"
    if array is None:
        path.write_bytes(b"\x93NUMPY")
    else:
        write_array(path, array)
    with pytest.raises(CorruptData, match=r"deleted-000001\.npy"):
        read_deleted(path)


ONE = pa.table({"id": ["p"], "title": ["t"], "abstract": [""]})
DAMAGES: list[tuple[str, Callable[[Path], object], str]] = [
    ("papers.parquet", lambda path: path.write_bytes(b"PAR1"), "cannot be read"),
    ("papers.parquet", lambda path: pq.write_table(pq.read_table(path).slice(1), path), "has 999 papers"),
    ("ids.arrow", lambda path: path.write_bytes(b"ARROW1"), "cannot be read"),
    ("ids.arrow", lambda path: cut_shard(path.parent, ONE, contents(ONE)), "has 1 ids"),
]


@pytest.mark.parametrize(("name", "change", "words"), DAMAGES, ids=[f"{name} {words}" for name, _, words in DAMAGES])
def test_a_file_that_does_not_fit_its_shard_is_named_whatever_the_checksum_says(
    tmp_path: Path, written: Shard, name: str, change: Callable[[Path], object], words: str
) -> None:
    path = written.file(name)
    change(path)
    shard = opened(tmp_path, replace(written.facts, files={**written.facts.files, name: describe(path)}))
    with pytest.raises(CorruptData, match=rf"{name} {words}"):
        shard.find(["p0001"]) if name == "ids.arrow" else shard.papers_at(np.array([1]))


@pytest.mark.parametrize(
    "change", [{"name": "../000000"}, {"files": {"../x": {}}}, {"deleted": 3}, {"surprise": 1}, {"papers": None}], ids=str
)
def test_facts_that_no_shard_has_are_refused(tmp_path: Path, change: dict[str, Any]) -> None:
    facts = {"name": "000003", "papers": 2, "files": {}, "sources": [0]}
    folder = tmp_path / "000000"
    folder.mkdir()
    write_sealed(folder / "shard.json", facts)
    assert finished_facts(folder) == ShardFacts("000000", 2, {})  # a part's shards get other numbers when joined
    write_sealed(folder / "shard.json", facts | change)
    with pytest.raises(CorruptData, match=r"shard\.json is damaged"):
        finished_facts(folder)


def test_no_text_stands_for_several_columns() -> None:
    row = {"id": "a", "title": "graph", "abstract": "", "note": "x"}
    others = [
        {**row, "title": "graph4:note1:x", "note": ""},
        {**row, "title": "graph\x1fnote\x1ex", "note": ""},
        {**row, "title": "graph", "note": "x5:title"},
        {**row, "id": "a5:title5:graph", "title": ""},
    ]
    hashes = contents(pa.Table.from_pylist([row, *others])).to_pylist()
    assert len(set(hashes)) == len(hashes)


def test_threads_read_papers_at_the_same_time(written: Shard, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each with a reader of its own, which the next read takes over."""
    together, readers, read = threading.Barrier(2), set(), pq.ParquetFile.read_row_group
    written.papers_at(np.array([0]))

    def waiting(reader: pq.ParquetFile, *arguments: Any, **options: Any) -> pa.Table:
        readers.add(id(reader))
        together.wait(20)
        return read(reader, *arguments, **options)

    everything, rows = papers_of(pq.read_table(written.file("papers.parquet"))), range(128, 896, 128)  # each of another row group
    monkeypatch.setattr(pq.ParquetFile, "read_row_group", waiting)
    with ThreadPoolExecutor(2) as pool:
        assert list(pool.map(lambda row: written.papers_at(np.array([row])), rows)) == [[everything[row]] for row in rows]
    assert len(readers) == 2

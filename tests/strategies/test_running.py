"""Strategies run over two libraries: the papers of each line and of the result, compared with plain Python's sets, and what is written."""

import csv
import json
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sciretrieve as sr
from sciretrieve.base.errors import InvalidRequest, NotFound
from sciretrieve.storage.manifest import read_manifest
from sciretrieve.strategies import StrategyResult, parse, run, write
from tests.strategies.libraries import WORDS, built, having, made_up

MINE, LAB = made_up("mine", 60, 1), made_up("lab", 40, 2)
DELETED = "mine07"
LIBRARIES = {"mine": [paper for paper in MINE if paper["id"] != DELETED], "lab": LAB}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("libraries")
    built(MINE, folder / "mine", DELETED).close()
    built(LAB, folder / "lab").close()
    return folder


def found(folder: Path, text: str, *names: str) -> StrategyResult:
    return run(parse(text), [folder / name for name in names or ("mine", "lab")])


def as_toml(lines: dict[str, str], **keys: Any) -> str:
    head = "".join(f"{key} = {json.dumps(value)}\n" for key, value in keys.items())
    return head + "[lines]\n" + "".join(f"{name} = '{query}'\n" for name, query in lines.items())


Tree: TypeAlias = Any
"""A word, the name of a line, or (operator, part, part) or ("NOT", part)."""

NAMES = ("s1", "s2", "s3")
leaves = st.sampled_from([*NAMES, *(f'"{word}"' for word in WORDS), 'title:"heart"'])
trees: st.SearchStrategy[Tree] = st.recursive(
    leaves, lambda part: st.one_of(st.tuples(st.sampled_from(["AND", "OR"]), part, part), st.tuples(st.just("NOT"), part)), max_leaves=8
)
BINDS = {"OR": 0, "AND": 1, "NOT": 2}


def written(tree: Tree, around: int = 0) -> str:
    """A tree as a line, with no more parentheses than it needs."""
    if isinstance(tree, str):
        return tree
    operator, *parts = tree
    binds = BINDS[operator]
    sides = [written(part, binds + (operator == "NOT")) for part in parts]
    text = f"NOT {sides[0]}" if operator == "NOT" else f" {operator} ".join(sides)
    return f"({text})" if binds < around else text


def meant(tree: Tree, papers: list[dict[str, Any]], lines: dict[str, set[str]]) -> set[str]:
    """The papers that a tree means."""
    if isinstance(tree, str):
        column, _, word = tree.rpartition(":")
        return lines[tree] if tree in lines else having(papers, word.strip('"'), column or None)
    operator, *parts = tree
    sets = [meant(part, papers, lines) for part in parts]
    if operator == "NOT":
        return {paper["id"] for paper in papers} - sets[0]
    return sets[0] & sets[1] if operator == "AND" else sets[0] | sets[1]


def count_of(result: StrategyResult, line: str) -> dict[str, int]:
    (counts,) = (one["counts"] for one in result.log["lines"] if one["name"] == line)
    return dict(counts)


@given(st.lists(trees, min_size=8, max_size=8))
@settings(max_examples=10)
def test_lines_are_what_sets_of_papers_are(folder: Path, trees: list[Tree]) -> None:
    """Of lines that refer to those before them. The first are words alone."""
    lines = {f"s{number}": tree for number, tree in enumerate(['"mouse"', '"tumour"', ("AND", '"rat"', "s1"), *trees], 1)}
    result = run(parse(as_toml({name: written(tree) for name, tree in lines.items()})), [folder / name for name in LIBRARIES])
    for name, papers in LIBRARIES.items():
        sets: dict[str, set[str]] = {}
        for line, tree in lines.items():
            sets[line] = meant(tree, papers, sets)
            assert count_of(result, line)[name] == len(sets[line]), (line, written(tree))
        removed = {one.removed for one in result.duplicates if one.removed_index == name}
        assert {one.paper.id for one in result.papers if one.index == name} == sets["s11"] - removed


def test_limits_hold_for_all_lines(folder: Path) -> None:
    result = found(folder, as_toml({"s1": "mouse", "s2": "NOT s1"}, since=2009, until=2011, filter="year != 2010"))
    for name, papers in LIBRARIES.items():
        within = [paper for paper in papers if paper["year"] in (2009, 2011)]
        assert count_of(result, "s1")[name] == len(having(within, "mouse"))
        assert count_of(result, "s2")[name] == len(within) - len(having(within, "mouse"))
    assert result.log["limits"] == ["year != 2010", "year >= 2009", "year <= 2011"]


def test_operators_are_operators_in_a_line_all_in_capitals(folder: Path) -> None:
    """A query could be a title that was pasted; a line of a strategy is not."""
    result = found(folder, as_toml({"s1": "MOUSE OR RAT OR HEART OR LUNG"}), "mine")
    papers = LIBRARIES["mine"]
    assert count_of(result, "s1")["mine"] == len(set.union(*(having(papers, word) for word in ("mouse", "rat", "heart", "lung"))))


def test_the_lines_that_brought_a_paper(folder: Path) -> None:
    text = as_toml({"s1": '"mouse"', "s2": '"rat"', "s3": '"review"', "s4": "s1 OR s2", "s5": 's4 NOT s3 NOT "lung"'})
    result = found(folder, text, "mine")
    papers = {paper["id"]: paper for paper in LIBRARIES["mine"]}
    assert result.papers
    for one in result.papers:
        own = {one.paper.id} | {copy.removed for copy in result.duplicates if copy.kept == one.id}
        words = {word for id in own for word in f"{papers[id]['title']} {papers[id]['abstract']}".split()}
        assert one.lines == tuple(line for line, word in (("s1", "mouse"), ("s2", "rat")) if word in words)
    # a line that joins others and has words of its own brings papers, too
    result = found(folder, as_toml({"s1": '"mouse"', "s2": 's1 OR "rat"'}), "mine")
    assert {one.lines for one in result.papers} == {("s1", "s2")} | {("s2",)}


COPIES: list[dict[str, Any]] = [
    {"id": "1", "title": "Heart failure in the mouse: a study of rats", "authors": ["Ada Lovelace"], "year": 2010},
    {"id": "2", "title": "Tumours of the lung", "authors": ["Bob Bee"], "doi": "10.1000/ABC", "abstract": "mouse"},
    {"id": "3", "title": "Of mouse and men", "authors": ["Cy Cee"]},
]
MORE: list[dict[str, Any]] = [
    {"id": "1", "title": "Rats and a mouse", "authors": ["Dee Dee"]},
    {"id": "x", "title": "HEART FAILURE IN THE MOUSE - A STUDY OF RATS", "authors": ["Lovelace, A."], "year": 2011, "abstract": "rat"},
    {"id": "y", "title": "Lung tumours", "doi": "https://doi.org/10.1000/abc", "abstract": "rat and mouse"},
]


@pytest.fixture(scope="module")
def copies(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("copies")
    sr.build(COPIES, folder / "one", encoder=None).close()
    sr.build(MORE, folder / "other", encoder=None).close()
    return folder


def test_each_paper_once(copies: Path, tmp_path: Path) -> None:
    result = found(copies, as_toml({"s1": "mouse", "s2": "rat", "s3": "s1 OR s2"}), "one", "other")
    # the record with an abstract stays, else the first; and an id that papers of both have says whose it is
    assert [(one.id, one.index, one.lines) for one in result.papers] == [
        ("2", "one", ("s1", "s2")),
        ("3", "one", ("s1",)),
        ("1", "other", ("s1", "s2")),
        ("x", "other", ("s1", "s2")),
    ]
    assert [(one.kept, one.kept_index, one.removed, one.removed_index, one.by) for one in result.duplicates] == [
        ("2", "one", "y", "other", "DOI"),
        ("x", "other", "1", "one", "title and author"),
    ]
    assert result.log["result"] == {"line": "s3", "identified": {"one": 3, "other": 3}, "duplicates": 2, "papers": 4}
    with_ids = found(copies, as_toml({"s1": "mouse NOT failure"}), "one", "other")
    assert [one.id for one in with_ids.papers] == ["2", "3", "1"]


def test_an_id_of_two_papers_is_written_with_its_index(tmp_path: Path) -> None:
    for name, title in (("one", "Mouse"), ("other", "Mice and rats")):
        sr.build([{"id": "1", "title": title}], tmp_path / name, encoder=None).close()
    result = found(tmp_path, as_toml({"s1": "mouse OR mice"}), "one", "other")
    assert [one.id for one in result.papers] == ["one/1", "other/1"]


def test_what_is_written(copies: Path, tmp_path: Path) -> None:
    text = as_toml({"s1": "mouse", "s2": "rat", "s3": "s1 OR s2"})
    result = found(copies, text, "one", "other")
    files = write(result, tmp_path / "new" / "out")
    assert sorted(path.name for path in (tmp_path / "new" / "out").iterdir()) == sorted(path.name for path in files)
    log = json.loads((tmp_path / "new" / "out" / "log.json").read_text())
    assert log == result.log
    assert (log["schema"], log["strategy"], log["translated"]) == (1, text, None)
    place = {"name": "other", "path": str(copies / "other")}
    assert log["indexes"][1] == {**place, "generation": 1, "checksum": read_manifest(copies / "other").checksum, "papers": 3}
    assert log["date"][10] == "T"
    assert log["lines"][1] == {"name": "s2", "query": "rat", "counts": {"one": 1, "other": 3}, "total": 4, "without": []}
    with (tmp_path / "new" / "out" / "papers.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [row["id"] for row in rows] == ["2", "3", "1", "x"]
    assert rows[0]["title"] == "Tumours of the lung"
    assert (rows[3]["index"], rows[3]["authors"], rows[3]["year"], rows[3]["lines"]) == ("other", "A. Lovelace", "2011", "s1 s2")
    with (tmp_path / "new" / "out" / "duplicates.csv").open(encoding="utf-8") as file:
        assert next(csv.DictReader(file)) == {
            "kept": "2", "kept_index": "one", "removed": "y", "removed_index": "other", "by": "DOI", "title": "Lung tumours"
        }  # fmt: skip
    # and both lists are read as papers again
    for name in ("papers.csv", "papers.ris"):
        with sr.build(tmp_path / "new" / "out" / name, tmp_path / name.replace(".", ""), encoder=None) as index:
            assert sorted(paper.title for paper in index) == sorted(one.paper.title for one in result.papers)


def test_the_log_of_another_run_stays(copies: Path, tmp_path: Path) -> None:
    mouse, rat = (found(copies, as_toml({"s1": word}), "one") for word in ("mouse", "rat"))
    write(mouse, tmp_path)
    write(mouse, tmp_path)  # of the same run, it is written again
    with pytest.raises(InvalidRequest, match="has the log of another run; choose another folder, or replace it with `overwrite`"):
        write(rat, tmp_path)
    assert json.loads((tmp_path / "log.json").read_text())["strategy"] == mouse.log["strategy"]
    write(rat, tmp_path, overwrite=True)
    assert json.loads((tmp_path / "log.json").read_text())["strategy"] == rat.log["strategy"]
    (tmp_path / "log.json").write_text("{}")  # not ours
    with pytest.raises(InvalidRequest, match="has the log of another run"):
        write(rat, tmp_path)
    (tmp_path / "log.json").unlink()
    with pytest.raises(InvalidRequest, match=r"has a file papers.csv, and no log; choose another folder, or replace it with `overwrite`"):
        write(rat, tmp_path)
    with pytest.raises(InvalidRequest, match="is a file; name a folder"):
        write(rat, tmp_path / "papers.csv")


def test_where_writing_ends_early_there_is_no_log(copies: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    result = found(copies, as_toml({"s1": "mouse"}), "one")
    write(result, tmp_path)

    def full(*_: object) -> str:
        raise OSError("the disk is full")

    monkeypatch.setattr("sciretrieve.papers.bibliographies.ris_records.text", full)
    with pytest.raises(OSError, match="the disk is full"):
        write(result, tmp_path)
    assert not (tmp_path / "log.json").exists()


def test_what_a_library_cannot_answer_is_said_with_its_line(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(InvalidRequest, match="line s2, in mine: unknown field in the query 'mesh'"):
        found(folder, as_toml({"s1": "mouse", "s2": "mesh:stroke"}))
    with pytest.raises(InvalidRequest, match="the limits, in mine: unknown column in the filter 'place'"):
        found(folder, as_toml({"s1": "mouse"}, filter="place == 'here'"))
    with pytest.raises(NotFound, match="there is no index"):
        found(folder, as_toml({"s1": "mouse"}), "absent")


def test_indexes_of_the_file_and_of_the_caller(folder: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    text = as_toml({"s1": "mouse"}, indexes=[str(folder / "lab")])
    assert list(count_of(run(parse(text)), "s1")) == ["lab"]
    assert list(count_of(run(parse(text), [folder / "mine", folder / "lab", folder / "mine"]), "s1")) == ["mine", "lab"]
    # those of one name have their paths
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "lab").symlink_to(folder / "mine")
    sr.build([{"id": "1", "title": "Mouse"}], tmp_path / "lab", encoder=None).close()
    counts = count_of(run(parse(text), [folder / "lab", tmp_path / "lab"]), "s1")
    assert set(counts) == {str(folder / "lab"), str(tmp_path / "lab")}

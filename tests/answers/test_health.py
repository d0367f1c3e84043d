"""A library's health: planted faults are found in shards, after deletions and replacements, and the demo's papers raise no alarm."""

from __future__ import annotations

import json
import random
from itertools import pairwise
from pathlib import Path
from typing import Any

import jsonschema
import pytest

import sciretrieve as sr
from sciretrieve.demo import CORPUS
from sciretrieve.query.ranking.grouping import groups_of
from tests.command_line import answer, sciretrieve

RETRACTION = {"type": "retraction", "DOI": "https://doi.org/10.1000/S05"}
ABSTRACT = "We measure how heat flows along thin wires, and find that it flows slowly."


def sound(number: int) -> dict[str, Any]:
    return {
        "id": f"s{number:02d}",
        "title": f"Heat in wire number {number}",
        "abstract": ABSTRACT,
        "year": 2001,
        "venue": "Nature",
        "authors": ["Ada Lovelace"],
        "doi": f"10.1000/s{number:02d}",
        "references": ["s00", "10.1000/elsewhere"] if number % 2 else [],
    }


PLANTED: dict[str, dict[str, Any]] = {
    "no_abstract": {"abstract": ""},
    "no_year": {"year": 20155},
    "no_authors": {"authors": []},
    "no_doi": {"doi": None},
    "title_longer_than_abstract": {"title": ABSTRACT, "abstract": "Heat in wires"},
    "abstract_repeats_title": {"title": "Heat in wires", "abstract": "Heat in wires."},
    "title_of_names": {"title": "Lovelace, A.; Turing, A. M."},
    "venue_is_none": {"venue": "2001"},
    "doi_is_none": {"doi": "https://example.org/paper"},
    "year_ahead": {"year": 2099},
    "retracted": {"title": "RETRACTED: Heat in other wires"},
    "references_nowhere": {"references": ["10.1000/elsewhere", "lovelace1843notes"]},
}
"""Findings -> what a paper has that only they are true of."""


def build(folder: Path, rows: list[dict[str, Any]], **settings: Any) -> sr.Index:
    return sr.build(rows, folder / "index", encoder=None, progress=False, **settings)


def found(index: sr.Index) -> dict[str, list[str]]:
    """The ids of each finding that is one."""
    return {finding.name: list(finding.ids) for finding in sr.health(index, progress=False).findings if len(finding)}


def test_each_planted_fault_is_found_and_nothing_else(tmp_path: Path) -> None:
    rows = [sound(number) for number in range(20)]
    rows += [sound(20 + place) | {"id": name} | changes for place, (name, changes) in enumerate(PLANTED.items())]
    random.Random(0).shuffle(rows)
    index = build(tmp_path, rows, shard_size=7)
    assert len(index.snapshot.shards) > 3
    assert found(index) == {name: [name] for name in PLANTED}


def test_the_demo_raises_no_alarm(tmp_path: Path) -> None:
    with sr.build(CORPUS, tmp_path / "demo", encoder=None, progress=False) as index:
        assert found(index).keys() <= {"no_doi"}


def test_deleted_and_replaced_papers_are_not_looked_at(tmp_path: Path) -> None:
    rows = [sound(number) for number in range(8)]
    rows[3] |= {"abstract": ""}
    rows[5] |= {"venue": "2001"}
    rows[6] |= {"title": rows[2]["title"]}
    path = build(tmp_path, rows, shard_size=3).path
    assert found(sr.open(path)) == {"no_abstract": ["s03"], "venue_is_none": ["s05"], "near_duplicates": ["s02", "s06"]}
    sr.delete(path, ["s03", "s06"], progress=False)
    sr.add([sound(5)], path, progress=False)
    index = sr.open(path)
    assert found(index) == {}
    assert (
        sr.health(index, progress=False).references
        == sr.health(build(tmp_path / "anew", [sound(n) for n in (0, 1, 2, 4, 5, 7)])).references
    )


def test_missing_fields_are_counted_as_by_plain_python(built: Any, papers: list[dict[str, Any]]) -> None:
    health = sr.health(built(encoder=None), progress=False)
    ids = {name: health[name].ids for name in ("no_abstract", "no_year", "no_authors", "title_longer_than_abstract")}
    assert ids["no_abstract"] == [paper["id"] for paper in papers if not paper["abstract"]]
    assert ids["no_year"] == [paper["id"] for paper in papers if paper["year"] is None]
    assert ids["no_authors"] == [paper["id"] for paper in papers if not paper["authors"]]
    pairs = [(paper["id"], paper["title"], paper["abstract"]) for paper in papers]
    assert ids["title_longer_than_abstract"] == [
        id for id, title, abstract in pairs if title != abstract and 0 < len(abstract) < len(title)
    ]


def test_near_duplicates_are_those_that_are_listed(built: Any) -> None:
    index = built(encoder=None)
    listed = [id for _, ids in groups_of(index.snapshot.tables(["id", "title", "authors"])) for id in ids]
    finding = sr.health(index, progress=False)["near_duplicates"]
    assert len(listed) > 1
    assert sorted(finding.ids) == sorted(listed)
    assert all(before < after for before, after in pairwise(finding.rows.tolist()))


def test_references_are_counted_as_by_plain_sets(tmp_path: Path) -> None:
    chance = random.Random(1)
    ids = [f"s{number:02d}" for number in range(30)]
    works = [*ids, *(f"10.1000/outside{number}" for number in range(9)), *(f"key{number}" for number in range(9))]
    rows = [sound(number) | {"references": chance.sample(works, chance.randint(0, 6))} for number in range(30)]
    health = sr.health(build(tmp_path, rows, shard_size=8), progress=False)
    cited = [work for row in rows for work in row["references"]]
    assert health.references is not None
    assert health.references.total == len(cited)
    assert health.references.in_index == sum(work in ids for work in cited)
    assert health.references.elsewhere == sum(work.startswith("10.") for work in cited)
    assert health.references.nowhere == sum(work.startswith("key") for work in cited)
    dead = [row["id"] for row in rows if any(work.startswith("key") for work in row["references"])]
    assert health["references_nowhere"].ids == dead


def test_a_notice_retracts_another_paper(tmp_path: Path) -> None:
    rows = [sound(number) for number in range(6)]
    notice = sound(6) | {"title": "Retraction of a paper on heat", "update-to": [RETRACTION]}
    gone = sound(7) | {"update-to": [RETRACTION | {"DOI": "10.1000/not-here"}]}
    assert found(build(tmp_path, [*rows, notice, gone])) == {"retracted": ["s05"]}


def test_no_references_are_not_counted(built: Any) -> None:
    health = sr.health(built(encoder=None), progress=False)
    assert health.references is None
    with pytest.raises(KeyError, match="references_nowhere"):
        _ = health["references_nowhere"]


def test_the_command_prints_what_python_gives(tmp_path: Path) -> None:
    rows = [sound(number) for number in range(6)]
    for row in rows[1:]:
        row["abstract"] = ""
    rows[2]["references"] = ["lovelace1843notes"]
    index = build(tmp_path, rows)
    printed = json.loads(answer("info", "health", "-i", index.path, "--format", "json"))
    jsonschema.validate(printed, sr.schema("health"), cls=jsonschema.Draft202012Validator)
    assert printed == sr.health(index, progress=False).to_dict()
    by_name = {finding["name"]: finding for finding in printed["findings"]}
    assert by_name["no_abstract"]["ids"] == ["s01", "s02", "s03", "s04", "s05"]
    assert by_name["no_abstract"]["share"] == 5 / 6
    lines = answer("info", "health", "-i", index.path).splitlines()
    assert lines[0] == f"6 papers of {index.path}, generation 1"
    assert lines[1].split() == ["no", "abstract", "5", "83.33", "%", "s01,", "s02,", "s03,", "…"]
    assert "7 references: 42.9 % to papers of the index, 42.9 % to other works, 14.3 % lead nowhere" in lines
    assert lines[-1].startswith("not found: no title, no authors, ")


def test_another_generation_can_be_looked_at(tmp_path: Path) -> None:
    path = build(tmp_path, [sound(0), sound(1) | {"abstract": ""}]).path
    sr.delete(path, ["s01"], progress=False)
    assert "no abstract" in answer("info", "health", "-i", path, "--set", "generation=1").splitlines()[1]
    assert "no abstract" in answer("info", "health", "-i", path).splitlines()[-1]
    result = sciretrieve("info", "health", "-i", path, "--set", "generation=7")
    assert result.returncode == 2
    assert "has no generation 7" in result.stderr


def test_several_indexes_have_no_generation(tmp_path: Path) -> None:
    with sr.open_many([build(tmp_path / name, [sound(number)]).path for number, name in enumerate(("one", "two"))]) as indexes:
        value = sr.health(indexes, progress=False).to_dict()
    jsonschema.validate(value, sr.schema("health"), cls=jsonschema.Draft202012Validator)
    assert (value["papers"], value["generation"]) == (2, None)

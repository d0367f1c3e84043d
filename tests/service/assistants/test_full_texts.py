"""Passages as an assistant gets them: with their place, whole, and within the budget."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sciretrieve.service.assistants.paging import UNITS, units_of
from sciretrieve.service.assistants.server import Server
from tests.service.assistants.library import call, error, found, pages, server, text
from tests.service.full_texts import SEA, TEXTS, WARMUP, build

LONG = "\n\n".join(
    f"{number} Part {number}\n\n" + " ".join(f"Gauge {number} of pier {pier} was read by the keeper." for pier in range(40))
    for number in range(1, 9)
)
LOG: list[dict[str, Any]] = [{"id": "log", "title": "A log", "abstract": "Gauges."}, {"id": "deep", "title": "Deep wells"}]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("quoted")
    build(path / "sea", SEA, TEXTS)
    build(path / "log", LOG, {"log": LONG, "deep": "1 Wells\n\nWells need no warmup at all.\n"})
    return path


@pytest.fixture(scope="module")
def sea(folder: Path) -> Iterator[Server]:
    with server(folder / "sea") as one:
        yield one


@pytest.fixture(scope="module")
def both(folder: Path) -> Iterator[Server]:
    with server(folder / "sea", folder / "log") as two:
        yield two


def test_passages_can_be_quoted(sea: Server) -> None:
    answer = call(sea, "passages", query="ten thousand steps of warmup", limit=1)
    assert text(answer).splitlines() == [
        "1 passage for “ten thousand steps of warmup”.",
        "1. Training deep networks",
        "   id: deep · Lovelace · 2019",
        f"   2 Methods: “{WARMUP} The optimizer is Adam.”",
    ]
    assert answer.structured_content is not None
    (passage,) = answer.structured_content["passages"]
    assert (passage["id"], passage["section"]) == ("deep", "2 Methods")
    assert "private" not in str(answer.structured_content)


def test_passages_are_narrowed(sea: Server) -> None:
    def papers(**asked: Any) -> set[str]:
        return {passage["id"] for passage in found(sea, "passages", query="warmup", **asked)["passages"]}

    assert papers() == {"deep", "harbours"}
    assert papers(papers="Harbours of the north") == {"harbours"}
    assert papers(filter="year > 2010") == {"deep"}
    assert found(sea, "passages", query='"no such phrase"')["passages"] == []
    assert "there is no paper 'nobody'" in error(sea, "passages", query="warmup", papers="nobody")


def test_search_has_the_best_of_each_full_text(sea: Server) -> None:
    papers = {paper["id"]: paper for paper in found(sea, "search", query="warmup of ten thousand steps")["papers"]}
    assert papers["deep"]["passage"].startswith(WARMUP)
    assert papers["deep"]["place"] == "2 Methods"
    assert "passage" not in papers["bare"]
    assert f"   2 Methods: “{WARMUP}" in text(call(sea, "search", query="warmup of ten thousand steps"))


def test_a_full_text_is_read_in_order_by_section_and_within_the_budget(both: Server) -> None:
    first = found(both, "full_text", paper="log:log", budget=600)
    assert first["sections"] == [f"{number} Part {number}" for number in range(1, 9)]
    answers = pages(both, "full_text", paper="log", budget=600)
    assert len(answers) > 3
    read: list[dict[str, Any]] = []
    for answer in answers:
        assert answer.structured_content is not None
        assert units_of(text(answer)) <= 600 * UNITS
        read += answer.structured_content["passages"]
    assert " ".join(passage["passage"] for passage in read) == " ".join(line for line in LONG.split("\n\n") if "Gauge" in line)
    part = found(both, "full_text", paper="log", section="part 3")
    assert {passage["section"] for passage in part["passages"]} == {"3 Part 3"}
    assert "sections" not in part
    assert "no section has 'methods' in its head; there are: 1 Part 1;" in error(both, "full_text", paper="log", section="methods")
    assert "the text has no pages" in error(both, "full_text", paper="log", page=2)


def test_of_several_indexes_names_are_whole(both: Server) -> None:
    answer = found(both, "passages", query="warmup", limit=9)
    assert {passage["id"] for passage in answer["passages"]} == {"sea:deep", "sea:harbours", "log:deep"}
    (well,) = found(both, "passages", query="warmup", index="log")["passages"]
    assert (well["id"], well["passage"]) == ("log:deep", "Wells need no warmup at all.")
    assert found(both, "full_text", paper=well["id"])["title"] == "Deep wells"


def test_long_excerpts_of_hits_are_whole_sentences(both: Server) -> None:
    (paper,) = [each for each in found(both, "search", query="pier 17 gauge 4")["papers"] if each["id"] == "log:log"]
    assert "pier 17 was read by the keeper." in paper["passage"]
    assert len(paper["passage"]) <= 404
    assert {sentence[:5] for sentence in paper["passage"].strip("… ").split(". ")} == {"Gauge"}


def test_what_has_no_full_text_says_so(sea: Server, tmp_path: Path) -> None:
    assert error(sea, "full_text", paper="bare").endswith("bare has no full text here; `get_papers` has its abstract")
    assert "full texts: 2" in text(call(sea, "indexes"))
    with server(build(tmp_path / "log", [{"id": "a", "title": "A", "body": ""}, *SEA], {"deep": TEXTS["deep"]})) as one:
        assert found(one, "indexes")["indexes"][0]["full_texts"] == 1

"""Passages on pages: below a paper with its place, on the paper's page for a query, and always as text that does no harm."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from sciretrieve.query.full_texts import passage_of
from tests.service.full_texts import SEA, TEXTS, WARMUP, build
from tests.service.pages.pages_read import Element, read
from tests.service.served import client_of

BROWSER = {"Accept": "text/html,application/xhtml+xml"}
HARMFUL = """1 Methods <script>alert(1)</script> $\\beta$

The rate $\\alpha^2$ of warmup is <img src=x onerror=alert(1)> \x07 high & \u202eleft\u202c \u05d0\u05d1 of {{ 7 * 7 }} steps.
"""
ODD: list[dict[str, Any]] = [{"id": "a/b?c#d", "title": "Rates", "abstract": "Rates are rates."}, {"id": "deep", "title": "Wells"}]
LONG = "1 Log\n\n" + " ".join(f"Gauge {number} was read by the keeper of the harbour." for number in range(12)) + " Storms came.\n"


@pytest.fixture(scope="module")
def sea(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("sea") / "sea", SEA, {**TEXTS, "bare": LONG})


@pytest.fixture(scope="module")
def client(sea: Path) -> Iterator[TestClient]:
    with client_of(sea, headers=BROWSER, query=500) as client:
        yield client


@pytest.fixture(scope="module")
def both(sea: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    path = tmp_path_factory.mktemp("odd") / "odd"
    odd = [row | {"id": row["id"].replace("/", "_")} for row in ODD]
    build(path, odd, {"a_b?c#d": HARMFUL, "deep": "1 Wells\n\nWells need no warmup.\n"})
    with client_of(path, sea, headers=BROWSER) as client:
        yield client


def page(client: TestClient, address: str, status: int = 200) -> Element:
    response = client.get(address)
    assert response.status_code == status, response.text
    assert "private-" not in response.text
    return read(response.text)


def hits(page: Element) -> dict[str, Element]:
    return {hit.attributes["data-name"]: hit for hit in page.all("li", kind="hit")}


def test_a_hit_shows_its_best_passage_with_place_and_marks(client: TestClient) -> None:
    found = hits(page(client, "/?q=warmup+of+ten+thousand+steps"))
    passage = found["deep"].one("p", kind="passage")
    assert passage.text == f"2 Methods {WARMUP} The optimizer is Adam."
    assert passage.one(kind="place").text == "2 Methods"
    assert [mark.text for mark in passage.all("mark")] == ["ten", "thousand", "steps", "warmup"]
    assert [part.classes for part in found["deep"].one("div", kind="why").children] == [["sentence"], ["passage"], ["badges"]]


def test_of_a_long_passage_the_sentences_around_the_best_are_shown(client: TestClient) -> None:
    text = hits(page(client, "/?q=storms+came"))["bare"].one("p", kind="passage").text
    assert text.startswith("1 Log … Gauge")
    assert text.endswith("of the harbour. Storms came.")
    assert len(text) < 400


def test_the_link_leads_to_the_best_passages_of_the_paper(client: TestClient) -> None:
    link = hits(page(client, "/?q=warmup"))["deep"].one("a", kind="passages")
    assert link.attributes["aria-label"] == "Passages of Training deep networks"
    address, _, fragment = link.attributes["href"].partition("#")
    paper = page(client, address)
    heading = paper.one("h2", id=fragment)
    assert heading.text == "Passages for “warmup”"
    places = [passage.one(kind="place").text for passage in paper.all("li", kind="passage")]
    assert sorted(places) == ["2 Methods", "3 Results"]
    assert all(passage.all("mark") for passage in paper.all("li", kind="passage"))
    assert paper.one("input", id="within").attributes["value"] == "warmup"
    assert "Ships are not meant here." not in paper.text


def test_a_paper_s_page_lists_sections_and_searches_in_its_full_text(client: TestClient) -> None:
    paper = page(client, "/paper/deep")
    section = paper.one("section", kind="fulltext")
    assert [item.text for item in section.one("ol", kind="plainly").all("li")] == ["1 Introduction", "2 Methods", "3 Results"]
    assert section.all("li", kind="passage") == []
    assert section.one("form").attributes["action"] == "/paper/deep"
    assert page(client, "/paper/deep?q=zebra").one("section", kind="fulltext").one(kind="note").text == "No passage has anything of this."
    assert len(page(client, "/paper/deep?q=author:lovelace+warmup").all("li", kind="passage")) == 2
    page(client, "/paper/deep?q=(((")
    page(client, f"/paper/deep?q={'w' * 501}", 400)


def test_pages_are_numbered_where_the_text_has_them(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sciretrieve.query.snapshot.passage_of", lambda *row: replace(passage_of(*row), page=7))
    assert hits(page(client, "/?q=warmup+steps"))["deep"].one("p", kind="passage").one(kind="place").text == "p. 7, 2 Methods"
    heads = page(client, "/paper/deep").one("section", kind="fulltext").one("ol", kind="plainly").all("li")
    assert [head.text for head in heads] == ["1 Introduction p. 7", "2 Methods p. 7", "3 Results p. 7"]


def test_papers_without_full_texts_have_neither(tmp_path: Path) -> None:
    with client_of(build(tmp_path / "part", SEA, {"deep": TEXTS["deep"]}), headers=BROWSER) as client:
        bare = hits(page(client, "/?q=warmup"))["bare"]
        assert bare.all(kind="passage") + bare.all("a", kind="passages") == []
        assert page(client, "/paper/bare?q=warmup").all("section", kind="fulltext") == []


def test_what_full_texts_say_is_text_and_nothing_else(both: TestClient) -> None:
    found = hits(page(both, "/?q=warmup+alpha+rate"))["odd:a_b?c#d"]
    paper = page(both, found.one("a", kind="passages").attributes["href"].partition("#")[0])
    for passage in (found.one("p", kind="passage"), paper.one("li", kind="passage")):
        assert {element.tag for element in passage.within()} <= {"span", "bdi", "mark", "math", "mi", "mn", "mo", "mrow", "msup"}
        assert passage.all("math")
        assert "<img src=x onerror=alert(1)>" in passage.text
        assert "{{ 7 * 7 }}" in passage.text
        assert "\x07" not in passage.texts
        assert all(text.parent is not None and text.is_in("bdi") for text in passage.within() if text.own.strip())
    assert paper.one("section", kind="fulltext").all("script") == []


def test_of_several_indexes_each_paper_has_its_own_passages(both: TestClient) -> None:
    found = hits(page(both, "/?q=warmup"))
    assert found["odd:deep"].one("p", kind="passage").text == "1 Wells Wells need no warmup."
    assert found["sea:deep"].one("p", kind="passage").one(kind="place").text in ("2 Methods", "3 Results")
    chosen = hits(page(both, "/?q=warmup&index=sea"))["sea:deep"]
    paper = page(both, chosen.one("a", kind="passages").attributes["href"].partition("#")[0])
    assert {passage.one(kind="place").text for passage in paper.all("li", kind="passage")} == {"2 Methods", "3 Results"}

"""Passages of full texts, as Semantic Scholar's own client gets them."""

from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from semanticscholar import SemanticScholar

from tests.service.conftest import Serve
from tests.service.full_texts import SEA, TEXTS, TRAINING, WARMUP, build

SKY: list[dict[str, Any]] = [{"id": "deep", "title": "Clouds", "abstract": "Clouds are deep."}]


@pytest.fixture(scope="module")
def sea(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("bodies") / "sea", SEA, TEXTS)


@pytest.fixture(scope="module")
def client(serve: Serve, sea: Path) -> SemanticScholar:
    return SemanticScholar(api_url=serve(sea), timeout=30, retry=False)


def test_bodies_have_their_section_their_place_and_their_sentences(client: SemanticScholar) -> None:
    best = client.search_snippet("warmup of ten thousand steps", paper_ids=["deep"])[0]
    snippet = best.snippet
    assert (best.paper.title, snippet.snippet_kind, snippet.section) == ("Training deep networks", "body", "2 Methods")
    assert best.text == f"{WARMUP} The optimizer is Adam."
    assert TRAINING[snippet.snippet_offset["start"] : snippet.snippet_offset["end"]] == best.text
    spans = [best.text[span["start"] : span["end"]] for span in snippet.annotations["sentences"]]
    assert spans == [WARMUP, "The optimizer is Adam."]
    assert snippet.annotations["refMentions"] is None


def test_the_best_of_each_paper_comes_first_then_more_of_full_texts(client: SemanticScholar) -> None:
    found = client.search_snippet("warmup steps")
    titles = [each.paper.title for each in found]
    assert sorted(titles[:3]) == sorted(paper["title"] for paper in SEA)
    assert set(titles[3:]) == {"Training deep networks"}
    assert len({each.text for each in found}) == len(found) == 4
    assert all(before.score > after.score for before, after in pairwise(found))
    assert [each.text for each in client.search_snippet("warmup steps", limit=2)] == [each.text for each in found[:2]]


def test_an_abstract_with_more_of_the_query_is_the_snippet(client: SemanticScholar) -> None:
    kinds = {each.paper.title: each.snippet.snippet_kind for each in reversed(client.search_snippet("warmup harbours counted"))}
    assert kinds == {"Harbours of the north": "abstract", "Warmup of the sea": "abstract", "Training deep networks": "body"}


def test_filters_of_papers_narrow_passages(client: SemanticScholar) -> None:
    def found(**asked: Any) -> set[tuple[str, str]]:
        return {(each.paper.title, each.snippet.snippet_kind) for each in client.search_snippet("warmup", **asked)}

    assert found(year="2019") == {("Training deep networks", "body")}
    assert found(authors=["lovelace"]) == {("Training deep networks", "body")}
    assert found(venue=["Ocean Letters"]) == {("Harbours of the north", "body")}
    assert found(paper_ids=["bare"]) == {("Warmup of the sea", "abstract")}
    assert found(year="1900") == set()


def test_what_the_paper_has_and_its_passages_lack_costs_no_passage(client: SemanticScholar) -> None:
    found = client.search_snippet("author:lovelace warmup")
    assert [each.snippet.snippet_kind for each in found] == ["body", "body"]


def test_fields_are_chosen(client: SemanticScholar) -> None:
    found = client.search_snippet("warmup", fields=["snippet.snippetKind", "snippet.section"], year="2019")[0]
    assert found.snippet.raw_data == {"snippetKind": "body", "section": found.snippet.section}


def test_of_several_indexes_each_body_is_its_own_paper_s(serve: Serve, sea: Path, tmp_path: Path) -> None:
    sky = build(tmp_path / "sky", SKY, {"deep": "1 Clouds\n\nClouds take an hour of warmup by the sun.\n"})
    client = SemanticScholar(api_url=serve(sky, sea), timeout=30, retry=False)
    bodies = {(each.paper.title, each.snippet.section) for each in client.search_snippet("warmup", paper_ids=["sky:deep", "sea:deep"])}
    assert bodies == {("Clouds", "1 Clouds"), ("Training deep networks", "2 Methods"), ("Training deep networks", "3 Results")}

"""What a paragraph should cite, as an assistant gets it: sentences with papers, their keys and what supports them."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import sciretrieve as sr
from sciretrieve.service.assistants.paging import UNITS, units_of
from sciretrieve.service.assistants.server import Server
from tests.service.assistants.library import call, error, found, pages, server, text
from tests.service.full_texts import CITABLE, CLAIM, COUNTED, TEXTS, WARMUP, build

WELLS: list[dict[str, Any]] = [
    {
        "id": "deep",
        "title": "Training",
        "abstract": "Water of wells is cold, clear and salty below old lighthouses.",
        "year": 2019,
        "authors": ["Ada Lovelace"],
    },
    {"id": "other", "title": "Birds", "abstract": "Songs of warblers."},
    {"id": "more", "title": "Ice", "abstract": "Glaciers melt."},
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("cited")
    build(path / "sea", CITABLE, {"deep": TEXTS["deep"]})
    sr.build(WELLS, path / "wells", encoder=None, progress=False).close()
    return path


@pytest.fixture(scope="module")
def sea(folder: Path) -> Iterator[Server]:
    with server(folder / "sea") as one:
        yield one


def test_a_sentence_gets_papers_with_keys_and_the_passage_that_supports_it(sea: Server) -> None:
    answer = call(sea, "suggest", text=f"{CLAIM}. The weather was pleasant on most of the days of that spring.")
    assert text(answer).splitlines() == [
        "2 sentences without a citation compared; papers fit 1 of them.",
        f"“{CLAIM}.”",
        "   deep: Training deep networks",
        "      id: deep · Lovelace · 2019",
        f"      2 Methods: “{WARMUP} The optimizer is Adam.”",
    ]
    assert "private" not in str(answer.structured_content)
    (one,) = found(sea, "suggest", text=f"{COUNTED}.")["sentences"]
    assert (one["papers"][0]["id"], one["papers"][0]["sentence"]) == ("harbours", "Harbours are counted.")
    assert "      abstract: “Harbours are counted.”" in text(call(sea, "suggest", text=f"{COUNTED}."))


def test_authors_in_a_sentence_name_their_paper(sea: Server) -> None:
    (one,) = found(sea, "suggest", text="Lovelace et al. showed that networks can be trained.")["sentences"]
    assert one["papers"][0]["is_named"]
    assert "named in the sentence" in text(call(sea, "suggest", text="Lovelace et al. showed that networks can be trained."))


@pytest.mark.parametrize("silent", [f"{CLAIM} [1].", f"{CLAIM}~\\cite{{deep}}.", "The weather was pleasant on most of our days."])
def test_what_needs_nothing_gets_nothing(sea: Server, silent: str) -> None:
    answer = call(sea, "suggest", text=silent)
    assert answer.structured_content is not None
    assert (answer.structured_content["count"], answer.structured_content["sentences"]) == (0, [])
    assert text(answer).endswith("papers fit none of them.")


def test_long_answers_keep_to_the_budget(sea: Server) -> None:
    answers = pages(sea, "suggest", text=f"{CLAIM}. {COUNTED}.\n\n" * 6, budget=400)
    assert len(answers) > 1
    sentences: list[str] = []
    for answer in answers:
        assert answer.structured_content is not None
        assert units_of(text(answer)) <= 400 * UNITS
        sentences += [each["sentence"] for each in answer.structured_content["sentences"]]
    assert sentences == [f"{CLAIM}.", f"{COUNTED}."] * 6


def test_of_several_indexes_names_are_whole_and_keys_differ(folder: Path) -> None:
    wells = "It has been reported that water of wells is cold, clear and salty below old lighthouses."
    with server(folder / "sea", folder / "wells") as both:
        papers = [each["papers"][0] for each in found(both, "suggest", text=f"{CLAIM}. {wells}")["sentences"]]
        assert [paper["id"] for paper in papers] == ["sea:deep", "wells:deep"]
        assert len({paper["key"] for paper in papers}) == 2
        (one,) = found(both, "suggest", text=f"{CLAIM}. {wells}", index="wells")["sentences"]
        assert one["papers"][0]["id"] == "wells:deep"


def test_a_text_is_never_a_file_and_has_sentences(sea: Server, tmp_path: Path) -> None:
    draft = tmp_path / "draft.md"
    draft.write_text(f"{CLAIM}.\n", encoding="utf-8")
    assert found(sea, "suggest", text=str(draft))["sentences"] == []
    assert error(sea, "suggest", text="# 1 Head\n").endswith("the text has no sentence")
    assert "20000 characters" in error(sea, "suggest", text="a " * 10_001)

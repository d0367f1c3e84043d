"""Two real libraries searched as one: papers of the library that a question is about come first."""

from __future__ import annotations

from pathlib import Path

import pytest

import sciretrieve as sr
from tests.made_up import shared


@pytest.fixture(scope="module")
def libraries(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """The first papers of ACM-CR and of hep-th, without vectors."""
    folder = tmp_path_factory.mktemp("libraries")
    for name in ("acm", "hepth"):
        sr.build(shared(name, "corpus.parquet"), folder / name, encoder=None, limit=3_000, progress=False).close()
    return [folder / "acm", folder / "hepth"]


@pytest.mark.parametrize(("query", "library"), [("black hole entropy", "hepth"), ("social network analysis", "acm")])
def test_the_library_that_a_question_is_about_comes_first(libraries: list[Path], query: str, library: str) -> None:
    with sr.open_many(libraries) as indexes:
        run = indexes.search(query)
        assert {hit.index for hit in run.hits} == {library}
        assert run[0].total == sum(member.count(query) for member in indexes.members)

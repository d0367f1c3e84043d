"""How text becomes terms."""

from __future__ import annotations

import pytest

from sciretrieve.lexical import Analyzer


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("Graph neural networks", ["graph", "neural", "network"]),
        ("The cells of THE mouse", ["cell", "mous"]),
        ("BERT-based re-ranking, 2019!", ["bert", "base", "re", "rank", "2019"]),
        ("a b c", []),
        ("", []),
        ("Müller's naïve Ørsted", ["müller", "naïv", "ørsted"]),
        ("graph graphs Graph", ["graph", "graph", "graph"]),
    ],
)
def test_terms(text: str, terms: list[str]) -> None:
    assert Analyzer().terms(text) == terms


def test_the_spec_tells_analyzers_apart() -> None:
    assert Analyzer().spec == Analyzer("english").spec
    assert Analyzer().spec != Analyzer("porter").spec

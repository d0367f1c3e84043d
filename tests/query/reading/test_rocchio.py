"""Rocchio's formula over terms: what is added of liked papers."""

from sciretrieve.query.reading.rocchio import ADDED_TERMS, moved_terms


def test_of_liked_papers_the_rare_words_are_added() -> None:
    """Not those that are only frequent in them: what half of all papers say tells nothing of a topic."""
    common = {f"common{number:03d}": 3.0 for number in range(ADDED_TERMS)}
    rare = {f"rare{number:03d}": 1.0 for number in range(ADDED_TERMS)}
    terms = moved_terms({"graph": 1.0}, [common | rare], [], lambda term: 8.0 if term in rare else 0.5)
    assert set(terms) == {"graph", *rare}

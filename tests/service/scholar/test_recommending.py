"""Recommendations, as the client of Semantic Scholar asks for them."""

from typing import Any

import httpx
import pytest
from semanticscholar import SemanticScholar
from semanticscholar.SemanticScholarException import BadQueryParametersException, ObjectNotFoundException

import sciretrieve as sr


def test_papers_like_one(client: SemanticScholar, library: Any) -> None:
    found = client.get_recommended_papers("DOI:10.1000/salt", limit=3)
    with sr.open(library) as index:
        assert [paper.paperId for paper in found] == list(index.similar("salt", 3)[0].ids)
    assert found[0].authors is not None
    assert client.get_recommended_papers("salt", pool_from="recent", fields=["title"], limit=1)[0].title == found[0].title
    with pytest.raises(BadQueryParametersException, match="a pool of Semantic Scholar's"):
        client.get_recommended_papers("salt", pool_from="all-cs")
    assert len(client.get_recommended_papers("r0001", fields=["title"], limit=500)) == 500
    with pytest.raises(ObjectNotFoundException):
        client.get_recommended_papers("nothing")


def test_papers_like_some_and_unlike_others(client: SemanticScholar, library: Any) -> None:
    found = client.get_recommended_papers_from_lists(["salt", "DOI:10.1000/tides"], ["r0001"], limit=5)
    with sr.open(library) as index:
        assert [paper.paperId for paper in found] == list(index.similar(["salt", "tides"], 5, negatives=["r0001"])[0].ids)
    assert client.get_recommended_papers_from_lists(["salt"], limit=2)  # without negatives these are null
    with pytest.raises(ObjectNotFoundException, match="no paper 'nothing'"):
        client.get_recommended_papers_from_lists(["salt", "nothing"])
    with pytest.raises(BadQueryParametersException):
        client.get_recommended_papers_from_lists([])


def test_the_slash_at_the_end_may_be_left_out(address: str) -> None:
    body = {"positivePaperIds": ["salt"], "negativePaperIds": None}
    answers = [httpx.post(f"{address}/recommendations/v1/papers{end}?limit=2", json=body) for end in ("", "/")]
    assert [answer.status_code for answer in answers] == [200, 200]
    assert answers[0].json() == answers[1].json()
    wrongs: list[Any] = [{}, {"positivePaperIds": []}, {"positivePaperIds": "salt"}, {"positivePaperIds": ["salt"] * 501}]
    for wrong in wrongs:
        assert httpx.post(f"{address}/recommendations/v1/papers/", json=wrong).status_code == 400
    assert httpx.post(f"{address}/recommendations/v1/papers/?limit=501", json=body).status_code == 400

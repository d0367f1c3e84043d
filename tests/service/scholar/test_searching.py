"""Searches, as the client of Semantic Scholar makes them: by relevance, in bulk, by title, for passages."""

from typing import Any

import httpx
import pytest
from semanticscholar import SemanticScholar
from semanticscholar.SemanticScholarException import BadQueryParametersException, ObjectNotFoundException

from sciretrieve.service.scholar.models import BulkPage, PaperPage
from tests.service.scholar.library import BY_ID, MANY, PAPERS


def ids(found: Any) -> list[str]:
    """The ids of all papers of all pages."""
    return [paper.paperId for paper in found]


def test_a_search_with_all_usual_fields(client: SemanticScholar) -> None:
    found = client.search_paper("tides and sand")
    assert found[0].paperId == "tides"
    assert found[0].authors[0].authorId == "ada-lovelace"
    assert found[0].citationCount == 2
    assert found.total == len(list(found))
    assert client.search_paper("salt in the sea")[0].paperId == "salt"


@pytest.mark.parametrize("limit", [100, 70])
def test_paging_to_the_end_gives_as_many_as_the_total_says(client: SemanticScholar, limit: int) -> None:
    found = client.search_paper("gauges", limit=limit, fields=["title"])
    every = ids(found)
    assert len(every) == len(set(every)) == found.total == 1000
    few = client.search_paper("sea", limit=1, fields=["title"])
    assert len(set(ids(few))) == few.total == 3


def test_no_page_is_offered_that_is_not_there(address: str) -> None:
    def page(**parameters: Any) -> dict[str, Any]:
        value: dict[str, Any] = httpx.get(f"{address}/graph/v1/paper/search", params={"query": "gauges"} | parameters).json()
        PaperPage.model_validate(value, strict=True)
        return value

    last = page(offset=930, limit=70)
    assert (len(last["data"]), "next" in last, last["offset"]) == (70, False, 930)
    assert "next" not in page(offset=999, limit=100)
    assert page(offset=10, limit=5)["next"] == 15
    assert page(query="sea", limit=3)["data"] == page(query="sea", offset=0)["data"]
    assert page(query="sea", offset=500)["data"] == []


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ({"year": "2019"}, {"tides"}),
        ({"year": "2001-2010"}, {"salt", "winds"}),
        ({"year": "2010-"}, {"winds", "tides"}),
        ({"year": "-2005"}, {"salt"}),
        ({"publication_types": ["Review"]}, {"tides"}),
        ({"publication_types": ["conference", "Review"]}, {"salt", "tides"}),
        ({"publication_types": ["Book"]}, set()),
        ({"open_access_pdf": True}, {"tides"}),
        ({"venue": ["ocean letters"]}, {"tides"}),
        ({"venue": ["Beaufort", "Ocean Letters"]}, {"winds", "tides"}),
        ({"venue": ["Rivers, Lakes and Seas"]}, {"salt"}),
        ({"fields_of_study": ["Chemistry"]}, {"salt"}),
        ({"fields_of_study": ["Environmental Science", "Chemistry"]}, {"salt", "tides"}),
        ({"publication_date_or_year": "2019-05-20"}, {"tides"}),
        ({"publication_date_or_year": "2019-05"}, {"tides"}),
        ({"publication_date_or_year": "2019-06:"}, set()),
        ({"publication_date_or_year": "2001:2010-01-01"}, {"salt", "winds"}),  # where the day is not known it is the first of the year
        ({"publication_date_or_year": ":2010-01"}, {"salt", "winds"}),
        ({"min_citation_count": 2}, {"salt", "tides"}),
        ({"min_citation_count": 4}, set()),
        ({"min_citation_count": 1, "year": "2001-2010"}, {"salt", "winds"}),
    ],
)
def test_filters(client: SemanticScholar, asked: dict[str, Any], expected: set[str]) -> None:
    assert set(ids(client.search_paper("sea", **asked))) == expected
    bulk = client.search_paper("sea", bulk=True, **asked)
    assert (set(ids(bulk)), bulk.total) == (expected, len(expected))


@pytest.mark.parametrize(
    "parameters", ["year=20", "year=-", "year=last", "publicationDateOrYear=May", "minCitationCount=-1", "limit=0", "limit=101"]
)
def test_filters_that_cannot_be_read_are_refused(address: str, parameters: str) -> None:
    response = httpx.get(f"{address}/graph/v1/paper/search?query=sea&{parameters}")
    assert response.status_code == 400
    assert parameters.partition("=")[0] in response.json()["error"]


def test_queries_come_as_they_are(client: SemanticScholar, address: str) -> None:
    """The client escapes nothing, so that what stands after & is another parameter, and + is a blank."""
    assert client.search_paper("C++ & R#").total == 0
    assert ids(client.search_paper("C++ programs"))[0] == "winds"
    assert ids(client.search_paper("winds & waves"))[0] == "winds"
    assert httpx.get(f"{address}/graph/v1/paper/search?query=C+++&+R%23&fields=title").status_code == 200
    for odd in ('"', "(", "title:", "sea*r", "~2", "AND", "NOT sea OR", "[tiab]", "salt?s", "a" * 3000):
        assert client.search_paper(odd, fields=["title"]).total <= len(PAPERS) + 1000
    with pytest.raises(BadQueryParametersException, match="empty"):
        client.search_paper(" ")
    with pytest.raises(BadQueryParametersException, match="query cannot be taken"):
        client.search_paper("")


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("sea", {"tides", "salt", "winds"}),
        ("sea -salt", {"tides", "winds"}),
        ("salt | waves", {"salt", "waves"}),
        ("(salt | winds) sea", {"salt", "winds"}),
        ('"deep sea"', {"tides"}),
        ('"sea deep"', set()),
        ("riv*", {"salt"}),
        ("sea + moon", {"tides"}),
        ("title:waves", {"waves"}),
    ],
)
def test_boolean_queries(client: SemanticScholar, query: str, expected: set[str]) -> None:
    found = client.search_paper(query, bulk=True)
    assert set(ids(found)) == expected
    assert found.total == len(expected)


def test_bulk_search_sorts(client: SemanticScholar) -> None:
    query = "sea | waves"
    assert ids(client.search_paper(query, bulk=True, sort="paperId:desc")) == ["winds", "waves", "tides", "salt"]
    assert ids(client.search_paper(query, bulk=True, sort="publicationDate")) == ["salt", "winds", "tides", "waves"]
    assert ids(client.search_paper(query, bulk=True, sort="publicationDate:desc")) == ["waves", "tides", "winds", "salt"]
    assert ids(client.search_paper(query, bulk=True, sort="citationCount:desc")) == ["salt", "tides", "winds", "waves"]
    with pytest.raises(BadQueryParametersException, match="`sort` is"):
        client.search_paper(query, bulk=True, sort="title")


def test_tokens(address: str) -> None:
    def page(**parameters: Any) -> httpx.Response:
        return httpx.get(f"{address}/graph/v1/paper/search/bulk", params={"query": "gauges", "sort": "paperId:desc"} | parameters)

    first = page().json()
    BulkPage.model_validate(first, strict=True)
    second = page(token=first["token"]).json()
    third = page(token=second["token"]).json()
    assert [len(each["data"]) for each in (first, second, third)] == [1000, 1000, MANY - 2000]
    assert third["token"] is None
    assert first["data"][-1]["paperId"] > second["data"][0]["paperId"]
    for token in ("x", "%", "ü", "cg", "####"):
        assert page(token=token).status_code == 400
    assert page(query="sea", token=first["token"]).status_code == 400


@pytest.mark.parametrize(("size", "pages"), [(1, [1, 1, 1]), (2, [2, 1]), (3, [3]), (4, [3])])
def test_the_last_page_has_no_token(address: str, monkeypatch: pytest.MonkeyPatch, size: int, pages: list[int]) -> None:
    monkeypatch.setattr("sciretrieve.service.scholar.bulk.AT_ONCE", size)
    sizes, asked = list[int](), {"query": "sea"}
    while not sizes or "token" in asked:
        page = httpx.get(f"{address}/graph/v1/paper/search/bulk", params=asked).json()
        sizes.append(len(page["data"]))
        asked = {"query": "sea"} | ({} if page["token"] is None else {"token": page["token"]})
    assert sizes == pages


def test_a_title_is_matched(client: SemanticScholar) -> None:
    match = client.search_paper("Tides of the deap sea", match_title=True)
    assert match.paperId == "tides"
    assert match.raw_data["matchScore"] > 90
    assert client.search_paper("waves", match_title=True).raw_data["matchScore"] == 100
    assert client.search_paper("salt in the", match_title=True).paperId == "salt"
    for wrong in ("The economy of a village", "sea"):
        with pytest.raises(ObjectNotFoundException, match="no paper has such a title"):
            client.search_paper(wrong, match_title=True)
    with pytest.raises(ObjectNotFoundException):
        client.search_paper("waves", match_title=True, year="1999")


def test_passages(client: SemanticScholar) -> None:
    found = client.search_snippet("harbours wait")
    best = found[0]
    assert (best.paper.title, best.paper.corpus_id) == (BY_ID["tides"]["title"], "4001")
    assert (best.text, best.snippet.snippet_kind) == (BY_ID["tides"]["abstract"], "abstract")
    spans = [best.text[span["start"] : span["end"]] for span in best.snippet.annotations["sentences"]]
    assert spans == ["The moon makes tides.", "Harbours wait for them.", "Tides move sand along the coast."]
    assert best.snippet.snippet_offset == {"start": 0, "end": len(best.text)}
    assert best.paper.authors == ["Ada Lovelace", "Alan Turing"]
    winds = client.search_snippet("winds")[0]
    assert (winds.text, winds.snippet.snippet_kind) == (BY_ID["winds"]["title"], "title")
    assert {*client.search_snippet("tides", fields=["snippet.text"])[0].snippet.raw_data} == {"text"}


def test_passages_are_narrowed(client: SemanticScholar) -> None:
    def titles(**asked: Any) -> set[str]:
        return {snippet.paper.title for snippet in client.search_snippet("sea", **asked)}

    assert titles(paper_ids=["DOI:10.1000/salt", "waves", "nothing"]) == {"Salt in the sea"}
    assert titles(paper_ids=["nothing"]) == set()
    assert titles(authors=["lovelace"]) == {"Salt in the sea", "Tides of the deep sea"}
    assert titles(authors=["Ada Lovelace", "turing"]) == {"Tides of the deep sea"}
    assert titles(year="2001", venue=["Rivers, Lakes and Seas"], fields_of_study=["Chemistry"]) == {"Salt in the sea"}
    assert titles(min_citation_count=3, publication_date_or_year="2001") == {"Salt in the sea"}
    assert len(client.search_snippet("gauges", limit=1000)) == 1000
    with pytest.raises(BadQueryParametersException, match="there is no field"):
        client.search_snippet("sea", fields=["colour"])

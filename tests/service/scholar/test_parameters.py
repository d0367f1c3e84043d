"""Every parameter that Semantic Scholar documents is obeyed or refused, and so is every one that an address does not have."""

from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from sciretrieve.service.scholar.asking import NAMES

PAGED = "fields offset limit"
NARROWED = "year venue fieldsOfStudy publicationDateOrYear minCitationCount"
DOCUMENTED = {
    ("get", "/graph/v1/paper/search"): ("get_graph_paper_relevance_search", f"query publicationTypes openAccessPdf {NARROWED} {PAGED}"),
    ("get", "/graph/v1/paper/search/bulk"): (
        "get_graph_paper_bulk_search",
        f"query token sort publicationTypes openAccessPdf {NARROWED} fields",
    ),
    ("get", "/graph/v1/paper/search/match"): ("get_graph_paper_title_search", f"query publicationTypes openAccessPdf {NARROWED} fields"),
    ("get", "/graph/v1/paper/autocomplete"): ("get_graph_get_paper_autocomplete", "query"),
    ("post", "/graph/v1/paper/batch"): ("post_graph_get_papers", "fields"),
    ("get", "/graph/v1/paper/{paper_id}"): ("get_graph_get_paper", "fields"),
    ("get", "/graph/v1/paper/{paper_id}/authors"): ("get_graph_get_paper_authors", PAGED),
    ("get", "/graph/v1/paper/{paper_id}/citations"): ("get_graph_get_paper_citations", f"publicationDateOrYear {PAGED}"),
    ("get", "/graph/v1/paper/{paper_id}/references"): ("get_graph_get_paper_references", PAGED),
    ("get", "/graph/v1/snippet/search"): ("get_snippet_search", f"query paperIds authors insertedBefore {NARROWED} fields limit"),
    ("post", "/graph/v1/author/batch"): ("post_graph_get_authors", "fields"),
    ("get", "/graph/v1/author/search"): ("get_graph_get_author_search", f"query {PAGED}"),
    ("get", "/graph/v1/author/{author_id}"): ("get_graph_get_author", "fields"),
    ("get", "/graph/v1/author/{author_id}/papers"): ("get_graph_get_author_papers", f"publicationDateOrYear {PAGED}"),
    ("get", "/recommendations/v1/papers/forpaper/{paper_id}"): ("get_papers_for_paper", "from fields limit"),
    ("post", "/recommendations/v1/papers/"): ("post_papers", "fields limit"),
}
"""By method and address the name and the parameters of each operation, as Semantic Scholar's OpenAPI descriptions (Academic Graph 1.0,
Recommendations 1.0) have them; read from public copies of 2026 on 2026-11-25."""
REFUSED = {"insertedBefore": "an index does not keep when each paper was added"}
MORE = {("get", "/graph/v1/paper/{paper_id}/references"): {"publicationDateOrYear"}}
"""What is obeyed here and not documented there."""
LEFT_OUT = {f"/graph/v1/paper/search/{kind}": {"offset", "limit"} for kind in ("bulk", "match")}
"""What Semantic Scholar's client sends in vain, there, too."""


@pytest.fixture(scope="module")
def connection(address: str) -> Iterator[httpx.Client]:
    """A connection to the service that is kept."""
    with httpx.Client(base_url=address, timeout=30) as connection:
        yield connection


def asked(connection: httpx.Client, method: str, path: str, **parameters: str | list[str]) -> httpx.Response:
    """The answer to a request that is right but for these parameters."""
    url = path.replace("{paper_id}", "tides").replace("{author_id}", "ada-lovelace")
    body = {"ids": ["tides"]} if "batch" in path else {"positivePaperIds": ["tides"]}
    query = {"query": "tides of the deep sea"} if path.endswith(("search", "bulk", "match", "autocomplete")) else {}
    return connection.request(method, url, params={**query, **parameters}, json=body if method == "post" else None)


def test_all_operations_have_its_names_and_parameters_or_refuse_them(connection: httpx.Client) -> None:
    description = connection.get("/openapi.json").json()
    ours = {
        (method, path): operation
        for path, operations in description["paths"].items()
        for method, operation in operations.items()
        if path.startswith(("/graph/", "/recommendations/"))
    }
    assert ours.keys() == DOCUMENTED.keys()
    for place, (name, parameters) in DOCUMENTED.items():
        assert ours[place]["operationId"] == name
        taken = {each["name"] for each in ours[place].get("parameters", ()) if each["in"] == "query"}
        assert taken == {*parameters.split()} - REFUSED.keys() | MORE.get(place, set())
        for refused in REFUSED.keys() & {*parameters.split()}:
            response = asked(connection, *place, **{refused: "2020"})
            assert (response.status_code, response.json()["error"]) == (400, f"`{refused}` is not supported here, since {REFUSED[refused]}")
    assert {name for _, parameters in DOCUMENTED.values() for name in parameters.split()} == NAMES


@pytest.mark.parametrize("place", DOCUMENTED, ids=lambda place: DOCUMENTED[place][0])
def test_what_an_address_does_not_have_is_refused_by_its_name(connection: httpx.Client, place: tuple[str, str]) -> None:
    taken = {*DOCUMENTED[place][1].split(), *MORE.get(place, ()), *LEFT_OUT.get(place[1], ())}
    strange = [(name, "") for name in sorted(NAMES - taken)] + [(name, "1") for name in ("colour", "Fields", "publication_types", "Year")]
    for name, value in strange:
        response = asked(connection, *place, **{name: value})
        assert (response.status_code, name in response.json()["error"]) == (400, True)
    if "fields" in taken:
        response = asked(connection, *place, fields=["title", "year"])
        assert (response.status_code, response.json()["error"]) == (400, "`fields` is given 2 times")
    assert asked(connection, *place).status_code == 200


@pytest.mark.parametrize("extra", [{"fields": "title"}, {"limit": 3}, {"id": ["salt"]}])
@pytest.mark.parametrize("path", ["/graph/v1/paper/batch", "/graph/v1/author/batch", "/recommendations/v1/papers/"])
def test_a_body_has_what_it_takes_alone(connection: httpx.Client, path: str, extra: dict[str, Any]) -> None:
    body = {"ids": ["tides"]} if "batch" in path else {"positivePaperIds": ["tides"]}
    response = connection.post(path, json=body | extra)
    assert (response.status_code, *extra) == (400, response.json()["error"].partition(" ")[0])


def test_dates_narrow_citations_references_and_an_author_s_papers(connection: httpx.Client) -> None:
    def ids(path: str, dates: str) -> list[str | None]:
        response = connection.get(f"/graph/v1/{path}", params={"publicationDateOrYear": dates, "limit": 2})
        assert response.status_code == 200, response.text
        page = response.json()
        assert page["total"] == len(page["data"])
        return [next((each[end] for end in ("citingPaper", "citedPaper") if end in each), each)["paperId"] for each in page["data"]]

    assert ids("paper/salt/citations", "2020:") == ["waves"]
    assert ids("paper/salt/citations", "2019-05-20:2021-01-01") == ["waves", "tides"]
    assert ids("paper/salt/citations", "1990") == []
    assert ids("paper/tides/references", "2001") == ["salt"]
    assert ids("paper/tides/references", "1900:") == ["salt", "winds"]  # of a work that is not here no date is known
    assert ids("author/ada-lovelace/papers", ":2001-02") == ["salt"]
    assert ids("author/ada-lovelace/papers", "2001:2019-05-20") == ["tides", "salt"]
    for path in ("paper/salt/citations", "paper/tides/references", "author/ada-lovelace/papers"):
        response = connection.get(f"/graph/v1/{path}?publicationDateOrYear=May")
        assert (response.status_code, response.json()["error"].partition(" ")[0]) == (400, "`publicationDateOrYear`")

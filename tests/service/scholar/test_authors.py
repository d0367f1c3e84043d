"""Authors, as the client of Semantic Scholar asks for them."""

import httpx
import pytest
from semanticscholar import SemanticScholar
from semanticscholar.SemanticScholarException import BadQueryParametersException, ObjectNotFoundException

from tests.service.scholar.library import MANY


def test_an_author_with_all_fields(client: SemanticScholar, address: str) -> None:
    ada = client.get_author("ada-lovelace")
    assert (ada.name, ada.paperCount, ada.citationCount, ada.hIndex) == ("Ada Lovelace", 2, 5, 2)
    assert [paper.paperId for paper in ada.papers] == ["tides", "salt"]
    assert ada.papers[0].citationCount == 2
    assert ada.url.startswith(address)
    page = httpx.get(ada.url)
    assert (page.status_code, "Tides of the deep sea" in page.text) == (200, True)
    assert client.get_author("Lovelace, Ada", fields=["name"]).authorId == "ada-lovelace"
    with pytest.raises(ObjectNotFoundException, match="no author 'nobody'"):
        client.get_author("nobody")
    with pytest.raises(BadQueryParametersException, match="there is no field 'title'"):
        client.get_author("ada-lovelace", fields=["title"])


def test_many_authors_at_once(client: SemanticScholar) -> None:
    authors, missing = client.get_authors(["alan-turing", "nobody", "ada-lovelace"], return_not_found=True)
    assert [author.name for author in authors] == ["Alan Turing", "Ada Lovelace"]
    assert missing == ["nobody"]
    assert len(client.get_authors(["ada-lovelace"] * 1000, fields=["name"])) == 1000


def test_the_papers_of_an_author(client: SemanticScholar) -> None:
    found = client.get_author_papers("gauge-reader", fields=["title", "year"], limit=1000)
    years = [paper.year for paper in found]
    assert len(years) == MANY
    assert years == sorted(years, reverse=True)
    assert len(found.items) == MANY
    assert [paper.title for paper in client.get_author_papers("alan-turing", limit=1)] == ["Waves", "Tides of the deep sea"]
    with pytest.raises(ObjectNotFoundException):
        client.get_author_papers("nobody")


def test_authors_by_name(client: SemanticScholar) -> None:
    found = client.search_author("turing")
    assert [author.authorId for author in found] == ["alan-turing", "a-turing"]
    assert found.total == 2
    assert [author.name for author in client.search_author("Alan Tur", limit=1)] == ["Alan Turing", "A. Turing"]
    assert list(client.search_author("nobody")) == []
    assert [author.papers[0].title for author in client.search_author("love")] == ["Tides of the deep sea"]

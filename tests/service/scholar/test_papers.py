"""Papers by id, as the client of Semantic Scholar asks for them."""

from typing import Any
from urllib.parse import quote

import httpx
import pytest
from semanticscholar import SemanticScholar
from semanticscholar.SemanticScholarException import BadQueryParametersException, ObjectNotFoundException

from tests.service.scholar.library import BY_ID


@pytest.mark.parametrize(
    "id",
    [
        *("tides", "DOI:10.1000/Tides", "10.1000/tides", "doi:10.1000/TIDES", "ARXIV:1901.00001", "arXiv:1901.00001v2", "PMID:31000001"),
        *("PMCID:6000001", "PMCID:PMC6000001", "MAG:2900000001", "ACL:P19-1001", "CorpusId:4001", "CorpusID:4001"),
        *("URL:https://arxiv.org/abs/1901.00001", "URL:https://doi.org/10.1000/tides", "Tides of the deep sea"),
    ],
)
def test_every_form_of_an_id(client: SemanticScholar, id: str) -> None:
    assert client.get_paper(id, fields=["title"]).paperId == "tides"


def test_an_id_may_have_slashes_and_stand_in_an_address(client: SemanticScholar, address: str) -> None:
    assert client.get_paper("10.1000/slash/within").title == "Currents"
    assert [citation.paper.paperId for citation in client.get_paper_references("10.1000/slash/within")] == ["tides"]
    url = client.get_paper("10.1000/slash/within").url
    assert url == f"{address}/paper/10.1000/slash/within"
    assert "Currents" in httpx.get(url).text
    assert client.get_paper(f"URL:{url}").paperId == "10.1000/slash/within"


@pytest.mark.parametrize(
    "id", ["nothing", "DOI:10.1000/nothing", "CorpusId:4", "CorpusId:x", "MAG:", "URL:https://example.org", "%00", "batch", "search"]
)
def test_what_names_no_paper_is_not_found(client: SemanticScholar, id: str) -> None:
    with pytest.raises((ObjectNotFoundException, BadQueryParametersException)):
        client.get_paper(id)


def test_a_paper_with_all_fields(client: SemanticScholar) -> None:
    paper = client.get_paper("tides")
    given = BY_ID["tides"]
    assert (paper.title, paper.abstract, paper.year, paper.venue) == (given["title"], given["abstract"], 2019, "Ocean Letters")
    ids = {"DOI": "10.1000/tides", "ArXiv": "1901.00001", "PubMed": "31000001", "PubMedCentral": "6000001"}
    assert paper.externalIds == {**ids, "MAG": "2900000001", "ACL": "P19-1001", "CorpusId": 4001}
    assert paper.corpusId == 4001
    assert str(paper.publicationDate) == "2019-05-20 00:00:00"
    assert (paper.publicationTypes, paper.fieldsOfStudy) == (given["publicationTypes"], given["fieldsOfStudy"])
    assert paper.s2FieldsOfStudy[0] == {"category": "Geology", "source": "external"}
    assert (paper.isOpenAccess, paper.openAccessPdf) == (True, given["openAccessPdf"])
    assert (paper.journal.name, paper.journal.volume, paper.journal.pages) == ("Ocean Letters", "7", "1-9")
    assert paper.tldr.text == "The moon did it."
    assert (paper.citationCount, paper.influentialCitationCount, paper.referenceCount) == (2, 2, 3)
    assert paper.citationStyles["bibtex"].startswith("@article{")
    assert paper.embedding is None
    assert paper.publicationVenue is None
    ada, alan = paper.authors
    assert (ada.authorId, ada.name, ada.paperCount, ada.hIndex, ada.citationCount) == ("ada-lovelace", "Ada Lovelace", 2, 2, 5)
    assert (alan.authorId, alan.paperCount) == ("alan-turing", 2)
    assert [other.paperId for other in paper.citations] == ["waves", "10.1000/slash/within"]
    assert [other.paperId for other in paper.references] == ["salt", None, "winds"]
    assert paper.references[1].externalIds == {"DOI": "10.1000/elsewhere"}
    assert paper.references[0].citationCount == 3


def test_what_is_not_known_is_null(client: SemanticScholar) -> None:
    paper = client.get_paper("winds")
    assert paper.publicationDate is None  # of June 2010, but no client reads that
    assert paper.openAccessPdf is paper.isOpenAccess is paper.publicationTypes is paper.tldr is paper.corpusId is None
    assert paper.abstract is None
    assert client.get_paper("10.1000/slash/within").authors == []


def test_fields_are_those_that_were_asked_for(client: SemanticScholar) -> None:
    assert set(client.get_paper("tides", fields=["title", "authors.hIndex"]).raw_data) == {"paperId", "title", "authors"}
    raw = client.get_paper("tides", fields=["citations.title", "authors.name", "references.authors", "embedding.specter_v2"]).raw_data
    assert raw["citations"][0] == {"paperId": "waves", "title": "Waves"}
    assert raw["authors"][1] == {"authorId": "alan-turing", "name": "Alan Turing"}
    assert raw["references"][0]["authors"] == [{"authorId": "ada-lovelace", "name": "Ada Lovelace"}]
    assert raw["embedding"] is None
    for field in ("colour", "authors.colour", "title.x", "citations.citations", "embedding.specter_v3"):
        with pytest.raises(BadQueryParametersException, match="there is no field"):
            client.get_paper("tides", fields=[field])


def test_many_papers_at_once(client: SemanticScholar) -> None:
    ids = ["DOI:10.1000/TIDES", "nothing", "CorpusId:4001", "salt", "PMID:1", "ARXIV:1901.00001", "winds", "10.1000/slash/within"]
    papers, missing = client.get_papers(ids, return_not_found=True)
    assert [paper.paperId for paper in papers] == ["tides", "tides", "salt", "tides", "winds", "10.1000/slash/within"]
    assert missing == ["nothing", "PMID:1"]
    assert len(client.get_papers([f"r{number:04d}" for number in range(500)], fields=["title"])) == 500


def test_citations_and_references(client: SemanticScholar) -> None:
    found = client.get_paper_citations("salt")
    assert [citation.paper.paperId for citation in found] == ["waves", "tides", "winds"]
    assert (found[0].contexts, found[0].intents, found[0].isInfluential) == ([], [], False)
    assert found[0].paper.authors[0].name == "Alan Turing"
    assert [citation.paper.title for citation in client.get_paper_citations("salt", fields=["title"], limit=2)] == [
        *("Waves", BY_ID["tides"]["title"], BY_ID["winds"]["title"])
    ]
    references = client.get_paper_references("DOI:10.1000/tides", limit=1)
    assert [reference.paper.paperId for reference in references] == ["salt", None, "winds"]
    assert list(client.get_paper_references("salt")) == []
    assert "isInfluential" not in client.get_paper_references("tides", fields=["title"]).raw_data[0]


def test_the_authors_of_a_paper(client: SemanticScholar) -> None:
    authors = client.get_paper_authors("tides", limit=1)
    assert [author.name for author in authors] == ["Ada Lovelace", "Alan Turing"]
    assert (authors[1].paperCount, authors[1].hIndex) == (2, 1)
    assert list(client.get_paper_authors("10.1000/slash/within")) == []


def test_titles_while_they_are_typed(client: SemanticScholar) -> None:
    (match,) = client.get_autocomplete("tides of the d")
    assert (match.id, match.title, match.authors_year) == ("tides", "Tides of the deep sea", "Lovelace and Turing, 2019")
    assert client.get_autocomplete("qqqq") == client.get_autocomplete("") == []


@pytest.mark.parametrize("odd", ["a&b=c", "C#", "%", "\u0000", "ü" * 500, "a" * 5000, "x/../y", " ", "'\"", "DOI:", "URL:"])
def test_odd_texts_are_answered(address: str, odd: str) -> None:
    assert httpx.get(f"{address}/graph/v1/paper/autocomplete", params={"query": odd}).json() == {"matches": []}
    for path in ("", "/citations", "/references", "/authors"):
        response = httpx.get(f"{address}/graph/v1/paper/{quote(odd)}{path}")
        assert response.status_code in (400, 404)
        assert {*response.json()} == {"error", "message", "hint"}
    assert httpx.post(f"{address}/graph/v1/paper/batch", json={"ids": [odd]}).json() == [None]


def test_batches_are_bounded(address: str) -> None:
    bodies: list[Any] = [{"ids": []}, {"ids": ["a"] * 501}, {"ids": [1]}, {}, [], {"ids": None}]
    for body in bodies:
        response = httpx.post(f"{address}/graph/v1/paper/batch", json=body)
        assert response.status_code == 400
        assert response.json()["error"]

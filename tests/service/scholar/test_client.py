"""The client of Semantic Scholar in other ways: with tokens, over several indexes, over other corpora."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from semanticscholar import SemanticScholar
from semanticscholar.SemanticScholarException import BadQueryParametersException

import sciretrieve as sr
from sciretrieve.service.access import new_token
from sciretrieve.service.scholar.records import EMBEDDINGS
from tests.service.conftest import Serve


def test_tokens(serve: Serve, library: Path, tmp_path: Path) -> None:
    token = new_token(tmp_path / "tokens", "me")
    address = serve(library, token_file=tmp_path / "tokens")
    with pytest.raises(PermissionError):
        SemanticScholar(api_url=address, retry=False).get_paper("tides")
    with_key = SemanticScholar(api_url=address, api_key=token, retry=False)
    assert with_key.get_paper("tides").paperId == "tides"
    with pytest.raises(PermissionError):  # for four calls the client leaves its key out
        with_key.get_paper_citations("salt")
    in_address = SemanticScholar(api_url=address.replace("://", f"://me:{token}@"), retry=False)
    assert in_address.get_paper("tides").paperId == "tides"
    assert [citation.paper.paperId for citation in in_address.get_paper_citations("salt", limit=1)] == ["waves", "tides", "winds"]
    assert len(list(in_address.get_paper_references("tides"))) == 3
    assert len(list(in_address.get_paper_authors("tides"))) == 2
    assert len(list(in_address.get_author_papers("ada-lovelace"))) == 2
    assert in_address.get_papers(["tides"], fields=["title"])[0].title == "Tides of the deep sea"


def test_the_address_is_the_one_that_was_asked(address: str) -> None:
    record = httpx.get(f"{address}/graph/v1/paper/tides?fields=url", headers={"Host": "papers.example.org"}).json()
    assert record == {"paperId": "tides", "url": "http://papers.example.org/paper/tides"}


def test_several_indexes_are_one(serve: Serve, library: Path, tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = [
        {"id": "tides", "title": "Another paper on tides", "abstract": "Of another library.", "authors": ["Lovelace, Ada"]},
        {"id": "more", "title": "Salt in the sea", "doi": "10.1000/salt", "authors": ["Ada Lovelace"]},
    ]
    sr.build(rows, tmp_path / "land", encoder=None).close()
    client = SemanticScholar(api_url=serve(library, tmp_path / "land"), retry=False)
    found = [paper.paperId for paper in client.search_paper("tides")]
    assert {*found[:2]} == {"sea:tides", "land:tides"}
    assert found.count("sea:salt") + found.count("land:more") == 1
    assert client.get_paper("land:tides").title == "Another paper on tides"
    assert client.get_paper("DOI:10.1000/salt").paperId == "sea:salt"
    assert [paper.paperId for paper in client.get_papers(["land:tides", "more"])] == ["land:tides", "land:more"]
    with pytest.raises(BadQueryParametersException, match="tides"):
        client.get_paper("tides")
    assert len(client.get_author("ada-lovelace", fields=["papers"]).papers) == 3
    assert client.get_autocomplete("salt in")[0].id == "sea:salt"


def test_a_library_of_titles_alone(serve: Serve, tmp_path: Path) -> None:
    sr.build([{"id": "a", "title": "Alone"}], tmp_path / "alone", encoder=None).close()
    address = serve(tmp_path / "alone")
    client = SemanticScholar(api_url=address, retry=False)
    paper = client.get_paper("a")
    assert (paper.citationCount, paper.referenceCount, paper.citations, paper.authors) == (None, None, [], [])
    assert list(client.get_paper_citations("a")) == list(client.get_paper_references("a")) == list(client.search_author("ada")) == []
    for filter in ("publicationTypes=Review", "openAccessPdf=", "fieldsOfStudy=Art", "minCitationCount=1", "venue=Nature"):
        response = httpx.get(f"{address}/graph/v1/paper/search?query=alone&{filter}")
        assert response.status_code == 400
        assert response.json()["error"].startswith("no paper of this index says")
    assert client.search_paper("alone", year="2000").total == 0


def test_a_library_of_openalex(serve: Serve, tmp_path: Path) -> None:
    """Its columns say the same in other words, and how often a work is cited by all others."""
    work: dict[str, Any] = {
        "id": "https://openalex.org/W1",
        "doi": "https://doi.org/10.1000/open",
        "title": "Open works",
        "publication_date": "2020-02-03",
        "publication_year": 2020,
        "type": "book-chapter",
        "cited_by_count": 17,
        "referenced_works_count": 9,
        "referenced_works": ["https://openalex.org/W2000"],
        "ids": {"openalex": "https://openalex.org/W1", "mag": 123, "pmcid": "https://www.ncbi.nlm.nih.gov/pmc/articles/77"},
        "open_access": {"is_oa": True, "oa_status": "green", "oa_url": "https://example.org/open.pdf"},
        "primary_location": {"is_oa": False, "pdf_url": None, "source": {"display_name": "Shelf"}},
        "topics": [{"display_name": "Openness", "field": {"display_name": "Social Sciences"}}],
        "biblio": {"volume": "3", "first_page": "5", "last_page": "9"},
        "authorships": [{"author": {"display_name": "Ada Lovelace"}}],
        "abstract_inverted_index": {"Open": [0]},
    }
    other: dict[str, Any] = {
        "id": "https://openalex.org/W2000",
        "title": "Closed",
        "type": "article",
        "cited_by_count": None,
        "open_access": {"is_oa": False},
    }
    sr.build([work, other], tmp_path / "works", encoder=None).close()
    client = SemanticScholar(api_url=serve(tmp_path / "works"), retry=False)
    paper = client.get_paper("MAG:123")
    assert paper.externalIds == {"DOI": "10.1000/open", "PubMedCentral": "77", "MAG": "123"}
    assert (paper.citationCount, paper.referenceCount, paper.publicationTypes, paper.fieldsOfStudy) == (
        17,
        9,
        ["BookSection"],
        ["Social Sciences"],
    )
    assert paper.openAccessPdf == {"url": "https://example.org/open.pdf", "status": "GREEN"}
    assert (paper.journal.volume, paper.journal.pages) == ("3", "5-9")
    assert str(paper.publicationDate.date()) == "2020-02-03"
    closed = client.get_paper("W2000")
    assert (closed.citationCount, closed.isOpenAccess, closed.openAccessPdf) == (1, False, None)
    assert client.get_paper("PMCID:PMC77").title == "Open works"
    assert [found.title for found in client.search_paper("open closed", open_access_pdf=True)] == ["Open works"]
    assert [found.title for found in client.search_paper("open closed", min_citation_count=1, publication_types=["JournalArticle"])] == [
        "Closed"
    ]


def test_vectors_are_given_under_their_encoders_name_alone(
    serve: Serve, built: Callable[..., sr.Index], monkeypatch: pytest.MonkeyPatch
) -> None:
    """An index of another encoder has none that Semantic Scholar has; if it were that encoder, they would be the index's own."""
    index = built()
    client = SemanticScholar(api_url=serve(index.path), retry=False)
    fields = ["embedding", "embedding.specter_v2"]
    assert client.get_paper("p0001", fields=fields).embedding is None
    monkeypatch.setitem(EMBEDDINGS, index.snapshot.manifest.encoder["name"], ("specter_v2", "specter_v2"))  # type: ignore[index]
    embedding = client.get_paper("p0001", fields=fields).embedding
    assert embedding == {"model": "specter_v2", "vector": index.snapshot.vectors_at(index.snapshot.rows("p0001"))[0].tolist()}
    assert client.get_paper("p0001", fields=["embedding.specter_v1"]).embedding is None


def test_of_a_long_text_a_passage_stands_around_its_best_sentence(serve: Serve, tmp_path: Path) -> None:
    sentences = [f"Gauge {number} was read by the keeper of the harbour on that day." for number in range(200)]
    sentences[120] = "Storms broke the northern pier."
    sr.build([{"id": "log", "title": "A log", "abstract": " ".join(sentences)}], tmp_path / "log", encoder=None).close()
    (found,) = SemanticScholar(api_url=serve(tmp_path / "log"), retry=False).search_snippet("storms and piers")
    span = found.snippet.snippet_offset
    assert found.text == " ".join(sentences)[span["start"] : span["end"]]
    spans = [found.text[part["start"] : part["end"]] for part in found.snippet.annotations["sentences"]]
    place = sentences.index(spans[0])
    assert spans == sentences[place : place + len(spans)]
    assert sentences[120] in spans
    assert 480 < len(found.text.split()) <= 500

"""What Zotero reads of a page, by the rules of its translators: unAPI, COinS and Embedded Metadata, in this order."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.testclient import TestClient

import sciretrieve as sr
from sciretrieve.base.types import Paper
from sciretrieve.papers.bibliographies.author_names import names_of
from sciretrieve.service.pages.zotero import coins, named_by, tags, unapi_id
from tests.made_up import read_corpus
from tests.service.pages.pages_read import read
from tests.service.pages.test_pages import BROWSER, page
from tests.service.served import client_of

PAPERS: list[dict[str, Any]] = [
    {
        "id": "10.1000/a(b)&c d#e",
        "title": 'Graph networks & "trees"',
        "abstract": "We study graph networks.\nTwo lines.",
        "year": 2019,
        "venue": "Journal of Graphs",
        "authors": ["Ada Lovelace", "van den Berg, Jan", "The Graph Consortium"],
        "doi": "10.1000/A(B)",
        "volume": "7",
        "number": "2",
        "pages": "11--29",
    },
    {
        "id": "talk",
        "title": "A talk on graph networks",
        "year": 2020,
        "venue": "Proceedings of the Conference on Graphs",
        "authors": ["Alan Turing"],
    },
    {
        "id": "thesis",
        "title": "Graph networks, a thesis",
        "year": 1999,
        "venue": "Some University",
        "authors": ["Grace Hopper"],
        "type": "phdthesis",
    },
    {"id": "chapter", "title": "Graph networks in a book", "venue": "A Handbook", "authors": ["Mary Jackson"], "type": "incollection"},
    {
        "id": "book",
        "title": "The book of graph networks",
        "year": 1950,
        "authors": ["Emmy Noether"],
        "type": "book",
        "isbn": "9780000000000",
    },
    {"id": "bare", "title": "Graph networks by nobody"},
]


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> sr.Index:
    return sr.build(PAPERS, tmp_path_factory.mktemp("zotero") / "zotero", encoder=None, progress=False)


@pytest.fixture(scope="module")
def client(library: sr.Index) -> Iterator[TestClient]:
    with client_of(library.path, headers=BROWSER) as client:
        yield client


def item(context: str) -> dict[str, Any]:
    """The item that Zotero makes of a context object: its kind by format and genre, its title and its creators."""
    pairs = parse_qsl(context, keep_blank_values=True, strict_parsing=True)
    values = dict(reversed(pairs))
    assert values["ctx_ver"] == "Z39.88-2004"
    form = values["rft_val_fmt"].removeprefix("info:ofi/fmt:kev:mtx:")
    genre = values.get("rft.genre", "")
    kind = {
        "journal": {"proceeding": "conferencePaper"}.get(genre, "journalArticle"),
        "book": "bookSection" if genre == "bookitem" else "book",
        "dissertation": "thesis",
    }[form]
    title = values.get("rft.atitle") or values.get("rft.btitle") or values.get("rft.title")
    return {"kind": kind, "title": title, "creators": [value for name, value in pairs if name == "rft.au"], **values}


def test_a_list_has_an_item_with_creators_for_each_paper(client: TestClient, library: sr.Index) -> None:
    hits = page(client, "/?q=graph+networks").all("li", kind="hit")
    assert len(hits) == len(PAPERS)
    kinds = {}
    for hit in hits:
        paper = library[hit.attributes["data-name"]]
        found = item(hit.one("span", kind="Z3988").attributes["title"])
        assert found["title"] == paper.title
        assert len(found["creators"]) == len(names_of(paper))
        kinds[paper.id] = found["kind"]
    assert list(map(kinds.get, ["10.1000/a(b)&c d#e", "talk", "thesis", "chapter", "book", "bare"])) == [
        "journalArticle",
        "conferencePaper",
        "thesis",
        "bookSection",
        "book",
        "journalArticle",
    ]


def test_an_item_says_where_it_stands(library: sr.Index) -> None:
    found = item(coins(library[str(PAPERS[0]["id"])]))
    assert found["creators"] == ["Lovelace, Ada", "van den Berg, Jan", "The Graph Consortium"]
    assert (found["rft.jtitle"], found["rft.date"], found["rft.volume"], found["rft.issue"]) == ("Journal of Graphs", "2019", "7", "2")
    assert (found["rft.spage"], found["rft.epage"]) == ("11", "29")
    assert found["rft_id"] == "info:doi/10.1000/a(b)"


TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)


@given(TEXT, st.lists(TEXT, max_size=3))
def test_any_paper_is_a_context_object(title: str, authors: list[str]) -> None:
    found = item(coins(Paper("1", title, "abstract", authors=tuple(authors))))
    assert found["title"] == " ".join((title or "abstract").split() or []) or not title.strip()


def test_a_list_s_records_have_abstracts(client: TestClient, tmp_path: Path) -> None:
    """By unAPI as Zotero's translator uses it, which puts ids into addresses as they are."""
    whole = page(client, "/?q=graph+networks")
    server = whole.one("link", rel="unapi-server").attributes["href"].removeprefix("http://testserver")
    formats = ElementTree.fromstring(re.sub(r"<\?xml[^>]*\?>", "", client.get(server).text))
    names = [element.attrib["name"] for element in formats.findall("format")]
    form = next(name for wanted in ("mods", "ris", "bibtex") for name in names if name == wanted)
    records: list[dict[str, Any]] = []
    for number, abbr in enumerate(whole.all("abbr", kind="unapi-id")):
        path = tmp_path / f"{number}.{form}"
        path.write_text(client.get(f"{server}?id={abbr.attributes['title']}&format={form}").text, encoding="utf-8")
        records += read_corpus(path)[0].to_pylist()
    assert [record["title"] for record in records] == [hit.one("a", kind="title").text for hit in whole.all("li", kind="hit")]
    (first,) = (record for record in records if record["year"] == 2019)
    assert first["abstract"] == "We study graph networks. Two lines."
    assert first["authors"] == ["Ada Lovelace", "Jan van den Berg", "The Graph Consortium"]


def test_unapi_as_it_is_written_down(client: TestClient) -> None:
    id = unapi_id(str(PAPERS[0]["id"]))
    choices = client.get("/unapi", params={"id": id})
    assert choices.status_code == 300
    assert ElementTree.fromstring(choices.text).attrib["id"] == id
    assert client.get("/unapi", params={"id": id, "format": "bibtex"}).text.startswith("@article{")
    assert client.get("/unapi", params={"id": id, "format": "marc"}).status_code == 406
    assert client.get("/unapi", params={"id": "nosuch"}).status_code == 404


@given(TEXT.filter(bool))
def test_an_id_needs_no_encoding_in_an_address(name: str) -> None:
    id = unapi_id(name)
    assert re.fullmatch(r"[A-Za-z0-9_.~/:-]*", id)
    assert named_by(id) == name


def test_a_paper_s_page_has_tags_and_nothing_of_other_papers(client: TestClient, library: sr.Index) -> None:
    whole = page(client, "/paper/10.1000%2Fa%28b%29%26c%20d%23e")
    assert whole.all(kind="Z3988") == whole.all(kind="unapi-id") == []
    said = [
        (meta.attributes["name"], meta.attributes["content"])
        for meta in whole.one("head").all("meta")
        if "citation" in str(meta.attributes)
    ]
    assert [value for name, value in said if name == "citation_author"] == ["Lovelace, Ada", "van den Berg, Jan", "The Graph Consortium"]
    values = dict(said)
    assert values["citation_title"] == PAPERS[0]["title"]
    assert values["citation_doi"] == "10.1000/a(b)"
    assert values["citation_abstract"] == "We study graph networks. Two lines."
    assert (values["citation_firstpage"], values["citation_lastpage"]) == ("11", "29")
    assert values["citation_abstract_html_url"] == "http://testserver/paper/10.1000/a%28b%29%26c%20d%23e"


KINDS = {
    "citation_journal_title": "journalArticle",
    "citation_technical_report_institution": "report",
    "citation_conference_title": "conferencePaper",
    "citation_book_title": "bookSection",
    "citation_dissertation_institution": "thesis",
}
"""The tags by which Zotero tells kinds apart; an ISBN is that of a book, and any other title that of an article."""


@pytest.mark.parametrize(
    ("id", "kind"),
    [("talk", "conferencePaper"), ("thesis", "thesis"), ("chapter", "bookSection"), ("book", "book"), ("bare", "journalArticle")],
)
def test_the_tags_tell_the_kind(library: sr.Index, id: str, kind: str) -> None:
    said = dict(tags(library[id], "http://here/"))
    guess = "book" if "citation_isbn" in said else "journalArticle"
    assert next((KINDS[name] for name in said if name in KINDS), guess) == kind


def test_lists_elsewhere_have_items_too(client: TestClient) -> None:
    for address in ("/author?name=Ada+Lovelace", "/shelf?id=talk&id=bare"):
        whole = page(client, address)
        assert len(whole.all(kind="Z3988")) == len(whole.all("li", kind="hit")) > 0
    assert read(client.get("/").text).all(kind="Z3988") == []

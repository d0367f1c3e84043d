"""What a pasted paragraph should cite: sentences with papers, their keys and passages, or a word that there are none."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient

import sciretrieve as sr
from tests.service.full_texts import CITABLE, CLAIM, COUNTED, TEXTS, WARMUP, build
from tests.service.pages.pages_read import Element, read
from tests.service.served import client_of

BROWSER = {"Accept": "text/html,application/xhtml+xml"}


@pytest.fixture(scope="module")
def sea(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("drafts") / "sea", CITABLE, {"deep": TEXTS["deep"]})


@pytest.fixture(scope="module")
def client(sea: Path) -> Iterator[TestClient]:
    with client_of(sea, headers=BROWSER, query=500) as client:
        yield client


def cited(client: TestClient, text: str, status: int = 200) -> Element:
    """The page for a pasted text."""
    response = client.post("/draft", data={"text": text})
    assert response.status_code == status, response.text
    assert "private-" not in response.text
    return read(response.text)


def test_the_start_leads_to_a_box(client: TestClient) -> None:
    start = read(client.get("/").text)
    (link,) = (link for link in start.all("a") if link.text == "What to cite in a draft")
    form = read(client.get(link.attributes["href"]).text).one("form", kind="draft")
    assert (form.attributes["method"], form.attributes["action"]) == ("post", "/draft")
    box = form.one("textarea")
    assert (box.attributes["maxlength"], box.text) == ("500", "")
    assert form.one("label").attributes["for"] == box.attributes["id"]


def test_each_sentence_gets_papers_with_keys_and_what_supports_it(client: TestClient) -> None:
    text = f"{CLAIM}. The weather was pleasant on most of the days.\r\n\r\n{COUNTED}."
    page = cited(client, text)
    assert page.one("textarea").texts.strip() == text.replace("\r\n", "\n")
    assert page.one(kind="note").text == "3 sentences without a citation compared; papers fit 2 of them."
    first, second = page.all("section", kind="uncited")
    assert [section.one("h2").text for section in (first, second)] == [f"{CLAIM}.", f"{COUNTED}."]
    deep, harbours = (section.all("li", kind="hit")[0] for section in (first, second))
    assert deep.one("a", kind="title").attributes["href"] == "/paper/deep"
    assert deep.one("code").text == "deep"
    passage = deep.one("p", kind="passage")
    assert (passage.one(kind="place").text, passage.text) == ("2 Methods", f"2 Methods {WARMUP} The optimizer is Adam.")
    assert "warmup" in [mark.text for mark in passage.all("mark")]
    address = deep.one("a", kind="passages").attributes["href"].partition("#")[0]
    assert WARMUP in read(client.get(address).text).text
    assert harbours.one("p", kind="sentence").text == "Harbours are counted."
    assert harbours.all(kind="passage") + harbours.all("a", kind="passages") == []
    assert page.one("form", kind="exports").all("button")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("The weather was pleasant on most of the days.", "1 sentence without a citation compared; no paper here fits."),
        (f"{CLAIM} [1].", "No sentence needs a citation."),
    ],
)
def test_a_text_for_which_nothing_fits_says_so(client: TestClient, text: str, words: str) -> None:
    page = cited(client, text)
    assert page.one(kind="note").text == words
    assert page.all("section", kind="uncited") + page.all("form", kind="exports") == []


def test_what_is_pasted_is_text_of_bounded_length_and_no_file(client: TestClient, tmp_path: Path) -> None:
    page = cited(client, f"{CLAIM} </textarea><script>alert(1)</script> and {{{{ 7 * 7 }}}}.")
    assert all(script.attributes["src"].startswith("/static/") for script in page.all("script"))
    assert "</textarea><script>alert(1)</script>" in page.one("textarea").texts
    draft = tmp_path / "draft.md"
    draft.write_text(f"{CLAIM}.\n", encoding="utf-8")
    assert cited(client, str(draft)).one(kind="note").text == "No sentence needs a citation."
    assert "the text has 501 characters" in cited(client, "w" * 501, 400).text.lower()
    assert "the text has no sentence" in cited(client, "# Head", 400).text.lower()
    assert cited(client, " ").all(kind="note") == []


def test_of_several_indexes_each_paper_names_its_own(sea: Path, tmp_path: Path) -> None:
    wells = {"id": "deep", "title": "Wells", "abstract": "Water of wells is cold, clear and salty below old lighthouses."}
    sr.build([wells, {"id": "ice", "title": "Ice"}], tmp_path / "wells", encoder=None, progress=False).close()
    with client_of(sea, tmp_path / "wells", headers=BROWSER) as both:
        page = cited(both, f"{CLAIM}. It has been reported that water of wells is cold, clear and salty below old lighthouses.")
        hits = [section.all("li", kind="hit")[0] for section in page.all("section", kind="uncited")]
        assert [hit.attributes["data-name"] for hit in hits] == ["sea:deep", "wells:deep"]
        assert [hit.one(kind="where").text for hit in hits] == ["sea", "wells"]
        assert len({hit.one("code").text for hit in hits}) == 2
        assert all(both.get(hit.one("a", kind="title").attributes["href"]).status_code == 200 for hit in hits)

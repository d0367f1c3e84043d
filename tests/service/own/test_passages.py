"""Passages of full texts over our own API: of hits, and by themselves, with the limits of all searches and without paths."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from starlette.testclient import TestClient

import sciretrieve as sr
from tests.service.full_texts import SEA, TEXTS, WARMUP, build
from tests.service.served import client_of

SKY: list[dict[str, Any]] = [
    {"id": "deep", "title": "Clouds", "abstract": "Clouds are deep."},
    {"id": "winds", "title": "Winds", "abstract": "Winds blow."},
]
CLOUDS = "1 Clouds\n\nClouds take an hour of warmup by the sun.\n"


@pytest.fixture(scope="module")
def sea(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("one") / "sea", SEA, TEXTS)


@pytest.fixture(scope="module")
def client(sea: Path) -> Iterator[TestClient]:
    with client_of(sea, most=50, query=500) as client:
        yield client


@pytest.fixture(scope="module")
def both(sea: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    """Two indexes, in which different papers have one id."""
    with client_of(build(tmp_path_factory.mktemp("two") / "sky", SKY, {"deep": CLOUDS}), sea) as client:
        yield client


def found(client: TestClient, **asked: Any) -> list[dict[str, Any]]:
    """Passages, which are the same by GET and POST, of the published schema."""
    response = client.get("/v1/passages", params=asked)
    assert response.status_code == 200, response.text
    value: dict[str, Any] = response.json()
    assert client.post("/v1/passages", json=asked).json() == value
    assert (value["schema"], value["query"]) == (1, asked["q"])
    for passage in value["passages"]:
        jsonschema.validate(passage, sr.schema("passage"), cls=jsonschema.Draft202012Validator)
    passages: list[dict[str, Any]] = value["passages"]
    return passages


def test_passages_are_the_library_s(client: TestClient, sea: Path) -> None:
    with sr.open(sea) as index:
        expected = [passage.to_dict() for passage in index.passages("warmup of engines", 2)]
    assert found(client, q="warmup of engines", k=2) == expected
    assert len(expected) == 2


def test_passages_are_narrowed(client: TestClient) -> None:
    assert {each["paper"] for each in found(client, q="warmup")} == {"deep", "harbours"}
    assert {each["paper"] for each in found(client, q="warmup", within=["Training deep networks"])} == {"deep"}
    assert {each["paper"] for each in found(client, q="warmup", until=2010)} == {"harbours"}
    assert {each["paper"] for each in found(client, q="warmup", filter=["year > 2010"])} == {"deep"}
    assert [each["section"] for each in found(client, q='"ten thousand steps"')] == ["2 Methods"]


def test_hits_have_their_passage(client: TestClient) -> None:
    response = client.get("/v1/search", params={"q": "warmup steps"})
    hits = {hit["id"]: hit for hit in response.json()["hits"]}
    assert hits["deep"]["passage"]["text"].startswith(WARMUP)
    assert (hits["deep"]["passage"]["section"], hits["deep"]["passage"]["page"]) == ("2 Methods", None)
    assert "passage" not in hits["bare"]
    jsonschema.validate(response.json(), sr.schema("answer"), cls=jsonschema.Draft202012Validator)


def test_of_several_indexes_each_passage_names_its_own(both: TestClient) -> None:
    texts = {(each["index"], each["paper"]): each["text"] for each in found(both, q="warmup", k=9)}
    assert texts["sky", "deep"] == "Clouds take an hour of warmup by the sun."
    assert texts["sea", "deep"].startswith("Warmup helps") or texts["sea", "deep"].startswith(WARMUP)
    assert {each["index"] for each in found(both, q="warmup", within=["sky:deep"])} == {"sky"}
    assert all("index" not in each for each in found(both, q="warmup", index="sky"))
    hits = {(hit["index"], hit["id"]): hit for hit in both.get("/v1/search", params={"q": "warmup sun", "k": 9}).json()["hits"]}
    assert hits["sky", "deep"]["passage"]["text"].startswith("Clouds take")
    assert hits["sea", "harbours"]["passage"] | {"text": ""} == {
        **{"index": "sea", "paper": "harbours", "number": 0, "text": "", "section": "1 Harbours", "page": None},
        **{name: hits["sea", "harbours"]["passage"][name] for name in ("start", "end")},
    }


def test_a_paper_has_its_sections_and_an_index_its_number_of_full_texts(client: TestClient) -> None:
    sections = client.get("/v1/papers/deep").json()["sections"]
    assert sections == [{"head": head, "page": None} for head in ("1 Introduction", "2 Methods", "3 Results")]
    assert "sections" not in client.get("/v1/papers/bare").json()
    (facts,) = client.get("/v1/indexes").json()
    assert facts["full_texts"] == 2


@pytest.mark.parametrize(
    ("asked", "status", "error"),
    [
        ({}, 400, "q cannot be taken"),
        ({"q": "warmup", "k": 51}, 400, "k is 51, and this service answers with 50 passages at most"),
        ({"q": "warmup", "k": 0}, 400, "k cannot be taken"),
        ({"q": "w" * 501}, 400, "the query has 501 characters"),
        ({"q": " "}, 400, "the query is empty"),
        ({"q": "warmup", "colour": 1}, 400, "unknown parameter"),
        ({"q": "warmup", "within": "nobody"}, 404, "there is no paper 'nobody'"),
        ({"q": "warmup", "index": "lake"}, 400, "unknown index"),
    ],
)
def test_what_is_wrong_is_said(client: TestClient, asked: dict[str, Any], status: int, error: str) -> None:
    response = client.get("/v1/passages", params=asked)
    assert (response.status_code, response.json()["error"].startswith(error)) == (status, True), response.text


def test_an_index_without_full_texts_says_so(tmp_path: Path) -> None:
    sr.build(SEA, tmp_path / "plain", encoder=None, progress=False).close()
    with client_of(tmp_path / "plain") as client:
        response = client.get("/v1/passages", params={"q": "warmup"})
        assert (response.status_code, response.json()["error"]) == (400, "plain has no full texts")
        assert (client.get("/v1/indexes").json()[0]["full_texts"], response.json()["hint"]) == (0, "")


def test_added_full_texts_are_followed_and_counted(tmp_path: Path) -> None:
    path = build(tmp_path / "growing", SEA, {"harbours": TEXTS["harbours"]})
    with client_of(path, following=60) as client:
        assert found(client, q="optimizer Adam") == []
        more = [row | {"body": TEXTS[row["id"]]} for row in SEA if row["id"] == "deep"]
        sr.add(more, path, progress=False)
        sr.lifecycle.add_full_texts("body", path, progress=False)
        assert client.app.state.service.library.follow()  # type: ignore[attr-defined]
        assert [each["paper"] for each in found(client, q="optimizer Adam")] == ["deep"]
        assert '/v1/passages"' in client.get("/metrics").text


def test_passages_do_not_say_where_files_are(client: TestClient, sea: Path) -> None:
    hits = client.get("/v1/search", params={"q": "warmup"}).json()["hits"]
    said = [hit["passage"] for hit in hits if "passage" in hit] + found(client, q="warmup")
    assert len(said) == 5
    assert "private" not in json.dumps(said)
    guesses = [found(client, q=f"{column}:{guess} warmup") for column in ("file", "digest") for guess in ("private-sea", "elsewhere")]
    assert all(guess == guesses[0] for guess in guesses)

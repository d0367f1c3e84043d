"""A form is read from an address as FastAPI reads it, parameter by parameter."""

from typing import Annotated, Any

import hypothesis.strategies as st
import pytest
from fastapi import APIRouter, FastAPI, Query
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from hypothesis import given
from starlette.requests import Request as HttpRequest
from starlette.responses import JSONResponse, Response
from starlette.testclient import TestClient

from sciretrieve.service.own.forms import Search, Similar
from sciretrieve.service.routes import FormRoute

NAMES = {"search": [*Search.model_fields], "similar": ["not" if name == "not_" else name for name in Similar.model_fields]}
VALUES = ("", "graph", "3", "-1", "0", "2.5", "nan", "true", "no", "year", "hybrid", "convex", "99999999999999999999", "naïve & more")


async def searched(http: HttpRequest, asked: Annotated[Search, Query()]) -> Response:
    return JSONResponse(asked.model_dump(mode="json"))


async def compared(http: HttpRequest, asked: Annotated[Similar, Query()]) -> Response:
    return JSONResponse(asked.model_dump(mode="json"))


async def refused(http: HttpRequest, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    return JSONResponse([[one["loc"], one["type"], one["msg"]] for one in error.errors()], 400)


@pytest.fixture(scope="module")
def client() -> TestClient:
    app = FastAPI()
    for prefix, route_class in (("/theirs", APIRoute), ("/ours", FormRoute)):
        router = APIRouter(prefix=prefix, route_class=route_class)
        router.get("/search")(searched)
        router.get("/similar")(compared)
        app.include_router(router)
    app.add_exception_handler(RequestValidationError, refused)
    return TestClient(app)


def both(client: TestClient, path: str, parameters: Any) -> list[tuple[int, Any]]:
    answers = [client.get(f"/{whose}/{path}", params=parameters) for whose in ("theirs", "ours")]
    return [(answer.status_code, answer.json()) for answer in answers]


@pytest.mark.parametrize("path", NAMES)
@given(data=st.data())
def test_a_form_is_read_as_by_fastapi(client: TestClient, path: str, data: st.DataObject) -> None:
    pairs = st.tuples(st.sampled_from(NAMES[path]), st.sampled_from(VALUES))
    theirs, ours = both(client, path, data.draw(st.lists(pairs, max_size=6)))
    assert ours == theirs


def test_a_missing_parameter_and_a_wrong_one_are_told_alike(client: TestClient) -> None:
    theirs, ours = both(client, "search", [("k", "many")])
    assert ours == theirs
    assert ours[0] == 400
    assert [error[0] for error in ours[1]] == [["query", "k"], ["query", "q"]]


def test_the_description_is_the_same(client: TestClient) -> None:
    paths = client.get("/openapi.json").json()["paths"]
    for path in ("search", "similar"):
        assert paths[f"/ours/{path}"]["get"]["parameters"] == paths[f"/theirs/{path}"]["get"]["parameters"]

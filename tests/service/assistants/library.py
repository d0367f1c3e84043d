"""A small library for the tests of tools, and a program that calls them as an assistant would."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import jsonschema
from mcp import Client
from mcp_types import CallToolResult, TextContent

import sciretrieve as sr
from sciretrieve.service.assistants.server import Server, make_server
from sciretrieve.service.library import Library
from sciretrieve.service.settings import ServiceSettings

Value = TypeVar("Value")
AT_ONCE = ServiceSettings(following=0.0)
"""The indexes are looked at before each call."""
SEA: list[dict[str, Any]] = [
    {
        "id": "tides",
        "title": "Tides of the sea",
        "abstract": "The moon makes tides. Ships wait for them in harbours.",
        "authors": ["Ada Lovelace", "Alan Turing", "Grace Hopper"],
        "year": 1999,
        "venue": "Oceans",
        "doi": "10.1000/tides",
        "depth": 40,
        "references": ["salt", "10.1000/elsewhere"],
    },
    {"id": "salt", "title": "Salt in the sea", "abstract": "Rivers carry salt.", "year": 2001, "venue": "Oceans", "depth": 7},
    {"id": "one", "title": "Whales of the deep sea", "year": 2010, "venue": "Beasts", "references": ["salt", "tides"]},
]
SKY: list[dict[str, Any]] = [
    {"id": "one", "title": "Winds of the sky", "abstract": "Winds blow over the sea.", "year": 2015},
    {"id": "clouds", "title": "Clouds over the sea", "abstract": "Clouds bring rain.", "authors": ["Mary Jackson"], "year": 2020},
]


def build(path: Path, rows: Sequence[dict[str, Any]]) -> Path:
    """An index of words alone."""
    sr.build(list(rows), path, encoder=None, progress=False).close()
    return path


@contextmanager
def server(*paths: Path, settings: ServiceSettings = AT_ONCE) -> Iterator[Server]:
    """A server over some indexes."""
    library = Library(paths)
    try:
        yield make_server(library, settings)
    finally:
        library.close()


def asked(server: Server, work: Callable[[Client], Awaitable[Value]]) -> Value:
    """What comes of some work with a client of a server."""

    async def run() -> Value:
        async with Client(server) as client:
            return await work(client)

    return asyncio.run(run())


def call(server: Server, tool: str, **arguments: Any) -> CallToolResult:
    """What a call is answered, as its schema says."""

    async def called(client: Client) -> CallToolResult:
        (schema,) = [each.output_schema for each in (await client.list_tools()).tools if each.name == tool]
        answer = await client.call_tool(tool, arguments)
        if not answer.is_error:
            assert schema is not None
            jsonschema.validate(answer.structured_content, schema, cls=jsonschema.Draft202012Validator)
        return answer

    return asked(server, called)


def text(answer: CallToolResult) -> str:
    """An answer as a language model reads it."""
    (content,) = answer.content
    assert isinstance(content, TextContent)
    return content.text


def found(server: Server, tool: str, **arguments: Any) -> dict[str, Any]:
    """The structured answer to a call that must succeed."""
    answer = call(server, tool, **arguments)
    assert not answer.is_error, text(answer)
    content: dict[str, Any] | None = answer.structured_content
    assert content is not None
    return content


def error(server: Server, tool: str, **arguments: Any) -> str:
    """What a call that must fail is told, on one line."""
    answer = call(server, tool, **arguments)
    assert answer.is_error
    assert "\n" not in text(answer)
    return text(answer)


def pages(server: Server, tool: str, **arguments: Any) -> list[CallToolResult]:
    """All pages of an answer, by its cursors."""

    async def called(client: Client) -> list[CallToolResult]:
        answers, cursor = list[CallToolResult](), ""
        while cursor or not answers:
            answers.append(await client.call_tool(tool, arguments | {"cursor": cursor}))
            assert not answers[-1].is_error, text(answers[-1])
            cursor = (answers[-1].structured_content or {}).get("cursor", "")
        return answers

    return asked(server, called)

"""The server: the tools in the protocol's form, and errors that language models can act on."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from importlib.metadata import version
from typing import Any, TextIO

import anyio
from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ResourceNotFoundError, ToolError, UnexpectedToolError
from mcp.server.mcpserver.resources import ResourceSecurity
from mcp.server.mcpserver.tools import Tool
from mcp.server.stdio import stdio_server
from mcp_types import CallToolResult, InputRequiredResult, ToolAnnotations
from pydantic import ValidationError

from ...base.errors import InvalidRequest, NotFound, SciretrieveError
from ...base.wording import counted
from ..library import Library
from ..settings import ServiceSettings
from .messages import reworded
from .tools import TOOLS, Tools

READING = ToolAnnotations(read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False)
"""Hints on every tool: it only reads local data."""


class Server(MCPServer[None]):
    """A server whose errors are the library's messages, in terms of the tools, without paths of this machine."""

    def __init__(self, library: Library, tools: Sequence[Tool], **settings: Any) -> None:
        super().__init__("sciretrieve", tools=list(tools), **settings)
        self._library = library
        self._parameters = {tool.name: tuple(tool.parameters["properties"]) for tool in tools}

    async def call_tool(
        self, name: str, arguments: dict[str, Any], context: Context[None, Any] | None = None
    ) -> CallToolResult | InputRequiredResult:
        """Call a tool. Raises ToolError with the fault and the remedy; UnexpectedToolError, without its text, for a bug."""
        known = self._parameters.get(name, arguments)
        if strange := next((given for given in arguments if given not in known), None):
            raise ToolError(f"{name} has no parameter {strange!r}; it has {', '.join(known)}")
        try:
            return await super().call_tool(name, arguments, context)
        except ToolError as error:
            cause = error.__cause__
            if isinstance(cause, ValidationError) and not isinstance(error, UnexpectedToolError):
                wrong = dict.fromkeys(f"`{detail['loc'][0]}`: {detail['msg'][:1].lower()}{detail['msg'][1:]}" for detail in cause.errors())
                raise ToolError(f"{name} cannot be called like this: {'; '.join(wrong)}") from cause
            if isinstance(cause, SciretrieveError):
                raise ToolError(self._library.public(reworded(str(cause)))) from cause
            raise

    async def serve(self, stdin: TextIO, stdout: TextIO) -> None:
        """Serve over these streams, as `run_stdio_async` does over the process's own, until `stdin` ends."""
        async with stdio_server(anyio.wrap_file(stdin), anyio.wrap_file(stdout)) as (incoming, outgoing):
            await self._lowlevel_server.run(incoming, outgoing, self._lowlevel_server.create_initialization_options())


def make_server(library: Library, settings: ServiceSettings) -> Server:
    """A server of the tools over some indexes, which stay open when it ends."""
    tools = Tools(library, settings)
    server = Server(
        library,
        [_tool(getattr(tools, name)) for name in TOOLS],
        title="sciretrieve",
        version=version("sciretrieve"),
        instructions=_instructions(library),
        log_level="WARNING",
    )

    @server.resource(
        "paper://{+id}", title="A paper", mime_type="application/json", security=ResourceSecurity(exempt_params=frozenset({"id"}))
    )
    async def paper(id: str) -> str:
        """A paper by its id, with all facts of its index."""
        try:
            return await tools.paper(id)
        except (NotFound, InvalidRequest) as error:
            raise ResourceNotFoundError(library.public(reworded(str(error)))) from error

    return server


def _tool(run: Callable[..., object]) -> Tool:
    """A function as a tool; its schemas lose titles that repeat their names, to save tokens."""
    tool = Tool.from_function(run, description=inspect.getdoc(run), annotations=READING)
    tool.parameters = _untitled(tool.parameters)
    tool.fn_metadata.output_schema = _untitled(tool.fn_metadata.output_schema)
    return tool


def _untitled(schema: Any) -> Any:
    if isinstance(schema, list):
        return [_untitled(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    return {name: _untitled(part) for name, part in schema.items() if name != "title" or not isinstance(part, str)}


def _instructions(library: Library) -> str:
    """The instructions for a language model before its first call."""
    names = library.names
    several = " They are searched as one; a paper's id is INDEX:ID, and `index` looks in one of them alone." if len(names) > 1 else ""
    to_quote = "`passages` finds what full texts say, to be quoted with its page.\n" * (library.index().snapshot.passages is not None)
    return (
        f"Scholarly papers in {counted(len(names), 'index', 'indexes')} on this machine: {', '.join(names)}.{several}\n"
        "Begin with `search`; `indexes` says what there is. Every tool that names papers takes the ids that answers give, and also DOIs, "
        "arXiv numbers and titles.\n"
        f"{to_quote}Answers keep to `budget`, in tokens; where one ends with a cursor, the same call with that cursor goes on.\n"
        "Name papers only as answers have them, and take references from `cite`."
    )

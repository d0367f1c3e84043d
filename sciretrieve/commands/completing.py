"""Completes words in a shell: indexes, ids, columns, encoders and others. It reads as little as possible, and completes nothing after an
error.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import typer

if TYPE_CHECKING:
    from ..storage.manifest import ShardFacts

MOST_IDS = 50
"""The most ids to offer; more are too many to choose from."""

Completer: TypeAlias = Callable[[typer.Context, str], list[str]]


def _completer(names: Callable[[typer.Context, str], Iterable[str]]) -> Completer:
    """Completes a word to the names that begin with it. Errors are left to the command when it runs."""

    @wraps(names)
    def complete(ctx: typer.Context, incomplete: str) -> list[str]:
        try:
            return [name for name in dict.fromkeys(names(ctx, incomplete)) if name.startswith(incomplete)]
        except Exception:
            return []

    return complete


@_completer
def indexes(ctx: typer.Context, incomplete: str) -> Iterable[str]:
    """Names of indexes, and folders."""
    from ..storage.finding import found

    yield from (path.resolve().name for path in found())
    yield from folders(ctx, incomplete)


@_completer
def folders(ctx: typer.Context, incomplete: str) -> Iterable[str]:
    """Folders on disk."""
    above = incomplete[: incomplete.rfind("/") + 1]
    inside = sorted(path.name for path in Path(above or ".").iterdir() if path.is_dir())
    return [f"{above}{name}/" for name in inside if not name.startswith(".") or incomplete.startswith(f"{above}.")]


@_completer
def ids(ctx: typer.Context, incomplete: str) -> Iterable[str]:
    """Ids of the chosen index that begin with the word, only the first few."""
    import pyarrow as pa
    import pyarrow.compute as pc

    from ..files.schema import mapped_columns
    from ..files.writing import read_array

    offered: list[str] = []
    for folder, shard in _shards(ctx):
        column = mapped_columns(folder / "ids.arrow", {"id": pa.string()})["id"]
        deleted = set(read_array(folder / shard.deleted_file).tolist()) if shard.deleted_file else set()
        # Python's numbers: Arrow would import pandas to make an array of NumPy's
        rows = pc.indices_nonzero(pc.starts_with(column, incomplete))[: MOST_IDS + len(deleted)].to_pylist()
        offered += [column[row].as_py() for row in rows if row not in deleted]
        if len(offered) >= MOST_IDS:
            break
    return offered[:MOST_IDS]


@_completer
def columns(ctx: typer.Context, incomplete: str) -> Iterable[str]:
    """Columns of the chosen index, for the last word of a filter or of a list, except inside quotes."""
    import pyarrow.parquet as pq

    before = re.sub(r"\w*$", "", incomplete)
    if before.count('"') % 2 or before.count("'") % 2:
        return []
    return [before + name for folder, _ in _shards(ctx) for name in pq.read_schema(folder / "papers.parquet").names]


def _shards(ctx: typer.Context) -> Iterator[tuple[Path, ShardFacts]]:
    """The folders of the shards of the index, or of several, with their facts."""
    from ..storage.finding import chosen, several
    from ..storage.manifest import SHARDS, read_manifest

    named = ctx.params.get("index")
    for path in several(named) if named and not isinstance(named, str | Path) else [chosen(named or None).path]:
        for shard in read_manifest(path).shards:
            yield path / SHARDS / shard.name, shard


@_completer
def encoders(ctx: typer.Context, incomplete: str) -> Iterable[str]:
    """Encoders of the catalogue and of plug-ins, also within ensembles."""
    from ..base.plugins import names
    from ..encoders.catalogue import CATALOGUE

    before = (re.match(r"(?:mean|concat):(?:.*\+)?", incomplete) or [""])[0]
    return [before + name for name in names("encoder", CATALOGUE)]


@_completer
def rerankers(ctx: typer.Context, incomplete: str) -> Iterable[str]:
    """Encoders, late interaction and plug-ins."""
    from ..base.plugins import names

    return names("reranker", ["tokens", *encoders(ctx, incomplete)])


@_completer
def dense_types(ctx: typer.Context, incomplete: str) -> Iterable[str]:
    """Types of dense index."""
    from ..matching.dense.ann import NAMED

    return ["auto", *NAMED, "none"]


@_completer
def benchmarks(ctx: typer.Context, incomplete: str) -> Iterable[str]:
    """Benchmarks and suites."""
    from ..evaluation import CATALOGUE, SUITES

    return [*CATALOGUE, *SUITES]


@_completer
def settings(ctx: typer.Context, incomplete: str) -> Iterable[str]:
    """The user's settings."""
    from ..config import SETTINGS

    return SETTINGS


@_completer
def values(ctx: typer.Context, incomplete: str) -> Iterable[str]:
    """Values of the setting before the word."""
    from ..config import SETTINGS

    setting = SETTINGS[ctx.params["key"]]
    named = {"index": indexes, "encoder": encoders, "indexes": folders, "cache": folders, "models": folders, "data": folders}
    return named[setting.key](ctx, incomplete) if setting.key in named else setting.choices


@_completer
def saved(ctx: typer.Context, incomplete: str) -> Iterable[str]:
    """Saved searches."""
    from ..answers.saved import names

    return names()

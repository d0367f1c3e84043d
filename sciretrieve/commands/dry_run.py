"""`sciretrieve index --dry-run`: what an index would cost."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from ..wording import counted, in_bytes, in_words
from .console import Console, interruptible, say
from .parameters import PlainFormat

if TYPE_CHECKING:
    from ..lifecycle import Estimate
    from ..options import BuildSettings
    from ..papers.corpora import Corpus

STEPS = {"reading": "reading", "cutting": "writing papers", "encoding": "encoding", "terms": "counting terms", "dense": "the dense index"}
FILES = {
    "papers": "papers",
    "ids": "ids",
    "vectors": "vectors",
    "tokens": "token vectors",
    "postings": "BM25",
    "dense": "dense index",
    "manifests": "manifests",
}


def show_estimate(corpus: Corpus, settings: BuildSettings, format: PlainFormat) -> None:
    """Print what an index of a corpus would cost."""
    from ..lifecycle import estimate

    console = Console()
    with interruptible(console):
        result = estimate(corpus, settings, progress=console)
    if format == "json":
        say([json.dumps(_as_json(result), ensure_ascii=False, indent=1)])
    else:
        say(f"{name:<9} {value}" for name, value in _rows(result).items())


def _as_json(estimate: Estimate) -> dict[str, object]:
    from dataclasses import asdict

    return {"schema": 1, "seconds": estimate.seconds, "bytes": estimate.bytes, **asdict(estimate)}


def _rows(estimate: Estimate) -> dict[str, str]:
    encoder, tokens = estimate.encoder, estimate.tokens
    steps = [f"{STEPS[name]} {in_words(seconds)}" for name, seconds in estimate.seconds_of.items()]
    files = [f"{FILES[name]} {in_bytes(size)}" for name, size in estimate.bytes_of.items()]
    rows = {"papers": f"{estimate.papers:,} of {counted(estimate.rows, 'row')}, in {counted(estimate.shards, 'shard')}"}
    if encoder:
        ran_in = f" ({', then '.join(encoder['ran_in'])})" if encoder["ran_in"] else ""
        rows["encoder"] = f"{encoder['name']}, {encoder['dim']} dimensions, {encoder['precision']}{ran_in}"
        rows["dense"] = f"{estimate.dense}, {estimate.metric}"
    if tokens is not None:
        cut = f"; {counted(estimate.truncated, 'paper')} longer than the encoder reads" if estimate.truncated is not None else ""
        rows["tokens"] = f"{tokens:,}, {tokens / estimate.papers:,.0f} a paper{cut}"
    return rows | {
        "time": f"{in_words(estimate.seconds)}: {', '.join(steps)}",
        "on disk": f"{in_bytes(estimate.bytes)}: {', '.join(files)}",
        "memory": f"{in_bytes(estimate.memory)} at the most",
        "going by": f"a sample of {counted(estimate.sampled, 'paper')}; nothing was built",
    }

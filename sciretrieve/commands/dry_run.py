"""`sciretrieve index --dry-run`: what an index would cost."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING

from ..base.wording import counted, in_bytes, in_words
from .console import Console, interruptible, say
from .parameters import PlainFormat

if TYPE_CHECKING:
    from ..options import BuildSettings
    from ..papers.corpora import Corpus


def show_estimate(corpus: Corpus, settings: BuildSettings, format: PlainFormat) -> None:
    """Print what an index of a corpus would cost."""
    from ..lifecycle import estimate

    console = Console()
    with interruptible(console):
        result = estimate(corpus, settings, progress=console)
    if format == "json":
        say([json.dumps({"schema": 1, **asdict(result)}, ensure_ascii=False, indent=1)])
        return
    encoder = result.encoder
    rows = {
        "papers": f"{result.papers:,} of {counted(result.rows, 'row')}, in {counted(result.shards, 'shard')}",
        "encoder": f"{encoder['name']}, {encoder['dim']} dimensions, {encoder['precision']}" if encoder else "none",
        "dense": f"{result.dense}, {result.metric}" if encoder else "none",
        "time": in_words(result.seconds) + ("" if result.dense in ("flat", "none") else ", and what making the dense index takes"),
        "on disk": in_bytes(result.bytes),
        "memory": f"{in_bytes(result.memory)} at the most",
        "going by": f"a sample of {counted(result.sampled, 'paper')}; nothing was built",
    }
    say(f"{name:<9} {value}" for name, value in rows.items())

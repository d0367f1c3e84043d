"""Search strategies: named lines of queries over several indexes, with a reproducible log and deduplicated results.

    strategy = read("strategy.toml")
    result = run(strategy)
    write(result, "search-2026-05")
    replay("search-2026-05/log.json").differences

`translate` converts strategies from PubMed or Ovid syntax.
"""

from .lists import write
from .logs import as_table
from .running import Duplicate, FoundPaper, Replay, StrategyResult, replay, run
from .strategy import Strategy, parse, read, read_text
from .translation import Syntax, Translation, translate

__all__ = [
    "Duplicate",
    "FoundPaper",
    "Replay",
    "Strategy",
    "StrategyResult",
    "Syntax",
    "Translation",
    "as_table",
    "parse",
    "read",
    "read_text",
    "replay",
    "run",
    "translate",
    "write",
]

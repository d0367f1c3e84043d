"""Small corpora made up for tests, and the way to the real ones."""

import json
import random
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from sciretrieve.files.schema import concat
from sciretrieve.papers.corpora import ColumnMap, Rejected, open_corpus

SHARED = Path(__file__).parents[2] / "shared" / "data"

TOPICS = {
    "graphs": ["graph", "networks", "nodes", "edges", "neighbours", "molecules", "message", "passing"],
    "vaccines": ["vaccine", "immune", "antibody", "virus", "infection", "trial", "dose", "response"],
    "stars": ["star", "galaxy", "telescope", "orbit", "planet", "radiation", "spectrum", "dust"],
    "markets": ["market", "price", "trader", "risk", "auction", "utility", "demand", "welfare"],
}
VENUES = ("ACL", "Nature", "PNAS", None)


def made_up_papers(count: int, seed: int = 0) -> list[dict[str, Any]]:
    """Short papers on four topics with every kind of column, some values missing."""
    chance = random.Random(seed)
    papers = []
    for number in range(count):
        topic = chance.choice(sorted(TOPICS))
        words = TOPICS[topic]
        papers.append(
            {
                "id": f"p{number:04d}",
                "title": " ".join(chance.sample(words, 4)),
                "abstract": " ".join(chance.choices(words, k=chance.randint(0, 12))),
                "year": chance.choice([None, *range(2000, 2025)]),
                "venue": chance.choice(VENUES),
                "authors": chance.sample(["Ada Lovelace", "Alan Turing", "Grace Hopper", "Mary Jackson"], chance.randint(0, 3)),
                "topic": topic,
                "citations": chance.choice([None, chance.randint(0, 99)]),
                "impact": chance.random() * 10,
            }
        )
    return papers


def write_jsonl(path: Path, rows: list[dict[str, Any]]) -> Path:
    """Write rows as JSON Lines."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def read_corpus(*sources: str | Path, **columns: str) -> tuple[pa.Table, list[Rejected]]:
    """All papers of a corpus as one table, and the rejected rows."""
    batches = list(open_corpus(sources, ColumnMap(**columns)).batches())
    return concat([batch.papers for batch in batches]), [item for batch in batches for item in batch.rejected]


def shared(*parts: str) -> Path:
    """A path in the shared data sets; skips the test where they are absent."""
    path = SHARED.joinpath(*parts)
    if not path.exists():
        pytest.skip(reason=f"needs the data set {'/'.join(parts)} in ../shared/data")
    return path

"""Two small libraries made up for strategies, and what is in them, by plain Python."""

import random
from pathlib import Path
from typing import Any

import sciretrieve as sr

WORDS = ("mouse", "rat", "tumour", "heart", "lung", "failure", "review", "attack")


def made_up(name: str, count: int, seed: int) -> list[dict[str, Any]]:
    """Papers of a few words each, with ids of their library."""
    chance = random.Random(seed)
    return [
        {
            "id": f"{name}{number:02d}",
            "title": " ".join(chance.choices(WORDS, k=chance.randint(1, 4))),
            "abstract": " ".join(chance.choices(WORDS, k=chance.randint(0, 6))),
            "year": chance.choice([None, 2008, 2009, 2010, 2011, 2012]),
            "authors": [chance.choice(["Ada Lovelace", "Alan Turing"]) + " " * number] if number % 3 else [],
        }
        for number in range(count)
    ]


def built(papers: list[dict[str, Any]], path: Path, deleted: str | None = None) -> sr.Index:
    """An index of words alone, of several shards, one of whose papers is deleted."""
    index = sr.build(papers, path, encoder=None, shard_size=25)
    if deleted:
        index.close()
        sr.delete(path, deleted)
        index = sr.open(path)
    return index


def having(papers: list[dict[str, Any]], word: str, column: str | None = None) -> set[str]:
    """The ids of the papers that have a word, in a column, or in title or abstract."""
    columns = ("title", "abstract") if column is None else (column,)
    return {paper["id"] for paper in papers if any(word in paper[name].split() for name in columns)}

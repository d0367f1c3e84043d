"""The demo corpus: 272 well-known papers of 17 fields, with summaries in our own words as abstracts."""

from pathlib import Path

CORPUS = Path(__file__).parent / "papers.jsonl"

QUESTION = "how do vaccines teach the immune system to fight a virus?"
KEYWORDS = "graph networks"
PAPER = "jinek2012programmable"

"""Which paper does a citing sentence cite? Full texts searched by us, SQLite's full text search, txtai and paper-qa.

    python bench/fulltext_peers.py [--data FOLDER] [--index INDEX] [--cache indexes/fulltext_peers] [--peers 1]

Texts and queries are those of fulltext.py. INDEX has the papers with their full texts; without it one is built in --cache. All take the
same texts, and passages are ours, each with its paper's title; only paper-qa cuts its own chunks. What finds passages is asked for
`MOST`, and a paper's place is that of its best one. Peers with vectors are given those of our encoder, as weights of theirs cannot be had
everywhere. So the table compares passages, words and fusion, and not encoders. The encoder reads the first 512 tokens of a chunk: of
paper-qa's 5,000 characters the first half, so shorter chunks are tried, too.

SQLite stands for programs whose full text search is SQLite's, and for Zotero's, which wants all words of a query and ranks by none of them:
`all words` ranks what has them, so it flatters. paper-qa's agent would have its language model rewrite queries, which is not done here.

nDCG@10 and R@10 x 100 of the cited paper, over all queries and over both halves of `fulltext.py`: a peer's best setting is chosen by the
first half and judged by the second one. Our settings were chosen with both in sight. `answered`: queries, in percent, for which
anything but the citing paper is found.
Txtai and paper-qa are installed into environments beside the scripts when first needed, and left out with a line if they cannot be.
"""

from __future__ import annotations

import gzip
import json
import re
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from fulltext import DATA, abstract_of, without_citations
from peers import Peer
from reporting import arguments, report

import sciretrieve as sr
from sciretrieve.base.choices import Mode
from sciretrieve.base.errors import IndexExists
from sciretrieve.base.types import Mask, Query, Vectors
from sciretrieve.storage.fulltext import FULLTEXT

MOST = 300
"""Passages to ask for."""
TXTAI, PAPERQA = ("txtai==9.14.0",), ("paper-qa==2026.8.12",)
TXTAI_WAYS = (
    "BM25",
    "BM25, without stop words",
    *(f"{way}, {weight}" for way in ("hybrid", "hybrid by bb25") for weight in (0.5, 0.7, 0.8, 0.9)),
)
CHUNKS = ((5000, 250), (2000, 100))
"""paper-qa's default, and chunks that our encoder reads whole."""
TITLES = (1, 2, 5)
"""How much a word in a title counts in SQLite."""
Found = Sequence[Sequence[str]]
"""Ids of papers for each query, best first, perhaps several times."""


@dataclass(frozen=True)
class Material:
    """What all sides are given.

    Attributes:
        papers, passages: with `id` or `paper`, `title` and `text`.
        queries: the texts to ask.
        wanted, left_out: ids of the cited and the citing papers.
        chooses: the queries that choose settings.
    """

    papers: Sequence[Mapping[str, str]]
    passages: Sequence[Mapping[str, str]]
    queries: Sequence[str]
    wanted: Sequence[str]
    left_out: Sequence[str]
    chooses: Mask

    def row(self, engine: str, setting: str, found: Found) -> dict[str, Any]:
        """A line of the table."""
        gains = np.zeros((len(found), 3))
        for place, (ids, wanted, left_out) in enumerate(zip(found, self.wanted, self.left_out, strict=True)):
            best = [id for id in dict.fromkeys(ids) if id != left_out or id == wanted][:10]
            rank = best.index(wanted) if wanted in best else np.inf
            gains[place] = 1 / np.log2(2 + rank), wanted in best, bool(best)
        ndcg, recall, answered = gains.T
        parts = {"nDCG@10": ndcg, "chose": ndcg[self.chooses], "judges": ndcg[~self.chooses], "R@10": recall, "answered": answered}
        row = {"engine": engine, "setting": setting, **{name: f"{100 * part.mean():.1f}" for name, part in parts.items()}}
        print(" ".join(row.values()), file=sys.stderr, flush=True)
        return row


def ours(index: sr.Index, material: Material) -> Iterator[dict[str, Any]]:
    """Our lines."""
    probes = index.reader.probes([Query(str(place), text) for place, text in enumerate(material.queries)], "hybrid", None)
    ways: Mapping[str, tuple[Mode, bool]] = {
        "abstracts, hybrid": ("hybrid", False),
        "full text, hybrid": ("hybrid", True),
        "full text, BM25": ("bm25", True),
        "full text, dense": ("dense", True),
    }
    for name, (mode, in_full_texts) in ways.items():
        asked = [replace(probe, mode=mode, in_full_texts=in_full_texts) for probe in probes]
        yield material.row("sciretrieve", name, [ranking.ids for ranking in index.searcher.search(asked, 11)])


def sqlite_rows(material: Material) -> Iterator[dict[str, Any]]:
    """Lines of SQLite's full text search, FTS5 with Porter's stemmer."""
    base = sqlite3.connect(":memory:")
    tables: Mapping[str, Sequence[tuple[str, str, str]]] = {
        "papers": [(paper["id"], paper["title"], paper["text"]) for paper in material.papers],
        "passages": [(passage["paper"], passage["title"], passage["text"]) for passage in material.passages],
    }
    for table, rows in tables.items():
        base.execute(f"CREATE VIRTUAL TABLE {table} USING fts5(paper UNINDEXED, title, body, tokenize='porter')")
        base.executemany(f"INSERT INTO {table} VALUES (?, ?, ?)", rows)
    words = [list(dict.fromkeys(re.findall(r"\w+", text.lower()))) for text in material.queries]

    def found(table: str, join: str, title: int) -> Found:
        query = f"SELECT paper FROM {table} WHERE {table} MATCH ? ORDER BY bm25({table}, 0, {title}, 1) LIMIT {MOST}"
        return [[id for (id,) in base.execute(query, [join.join(f'"{word}"' for word in asked)])] for asked in words]

    engine = f"SQLite {sqlite3.sqlite_version}"
    yield material.row(engine, "papers, all words", found("papers", " AND ", 1))
    for table in tables:
        for title in TITLES:
            yield material.row(engine, f"{table}, any word, title x {title}", found(table, " OR ", title))


def txtai_rows(folder: Path, material: Material) -> Iterator[dict[str, Any]]:
    """Lines of txtai."""
    peer = Peer("txtai", TXTAI, "turns_of_txtai.py", folder, MOST)
    for way in TXTAI_WAYS:
        peer.ask(way)
        yield material.row(peer.greeting, f"passages, {way}", json.loads((folder / "found.json").read_text(encoding="utf-8")))


def paperqa_rows(folder: Path, material: Material, index: sr.Index) -> Iterator[dict[str, Any]]:
    """Lines of paper-qa."""
    peer = Peer("paperqa", PAPERQA, "turns_of_paperqa.py", folder, MOST)

    def row(way: str, name: str) -> dict[str, Any]:
        peer.ask(way)
        return material.row(peer.greeting, name, json.loads((folder / "found.json").read_text(encoding="utf-8")))

    yield row("papers", "papers, tantivy")
    for characters, overlap in CHUNKS:
        peer.ask(f"chunks {characters} {overlap}")
        texts = json.loads((folder / "chunks.json").read_text(encoding="utf-8"))
        encoder = index.reader.query_encoder.encoder
        encoded = encoder.encode_papers([sr.Paper(str(place), "", text) for place, text in enumerate(texts)])
        np.save(folder / "chunks.npy", encoded)
        for way in ("dense", "sparse", "hybrid"):
            yield row(way, f"{len(texts):,} chunks of {characters:,}, {way}")


def text_of(paper: Mapping[str, Any]) -> str:
    """The full text of a paper, with the heads of its sections."""
    sections = [(section["head"], " ".join(" ".join(text.split()) for _, text in section["sentences"])) for section in paper["sections"]]
    return "\n\n".join(part for section in sections for part in section if part)


def with_full_texts(rows: Sequence[Mapping[str, str]], place: Path) -> sr.Index:
    """The index of papers and their full texts, built anew only if the papers, or how one is built, have changed."""
    try:
        sr.build(rows, place, dense="flat").close()
    except IndexExists:
        sr.build(rows, place, dense="flat", overwrite=True).close()
    sr.add_full_texts("text", place)
    return sr.open(place)


def write(folder: Path, material: Material, vectors: Mapping[str, Vectors]) -> None:
    """Leave for peers what they read."""
    parts = {"papers": material.papers, "passages": material.passages, "queries": material.queries}
    for name, part in parts.items():
        (folder / f"{name}.json").write_text(json.dumps(part), encoding="utf-8")
    for name, array in vectors.items():
        np.save(folder / f"{name}.npy", array)


def main() -> None:
    """Measure, and print."""
    chosen = arguments(__doc__, data=DATA, index="", cache="indexes/fulltext_peers", peers=1)
    citances = [json.loads(line) for line in (chosen.data / "citances.jsonl").open(encoding="utf-8")]
    asked = [(citance, text) for citance in citances if (text := without_citations(citance["text"]))]
    cited = sorted({citance["paper"] for citance, _ in asked})
    with gzip.open(chosen.data / "papers.jsonl.gz", "rt", encoding="utf-8") as lines:
        papers = [json.loads(line) for line in lines]
    rows = [{"id": paper["id"], "title": paper["title"], "abstract": abstract_of(paper), "text": text_of(paper)} for paper in papers]
    with sr.open(chosen.index) if chosen.index else with_full_texts(rows, Path(chosen.cache)) as index:
        with sr.open(index.path / FULLTEXT) as inner:
            every = np.arange(len(inner))
            passages = inner.papers_at(every)
            vectors = inner.snapshot.vectors_at(every)
        material = Material(
            [{"id": row["id"], "title": row["title"], "text": row["text"]} for row in rows],
            [{"paper": passage.id.rpartition("#")[0], "title": passage.title, "text": passage.abstract} for passage in passages],
            [text for _, text in asked],
            [citance["paper"] for citance, _ in asked],
            [citance["citing"] for citance, _ in asked],
            np.array([cited.index(citance["paper"]) % 2 == 0 for citance, _ in asked]),
        )
        print(f"{len(rows):,} papers, {len(passages):,} passages, {len(asked)} queries")
        table = [*ours(index, material), *sqlite_rows(material)]
        with tempfile.TemporaryDirectory() as scratch:
            folder = Path(scratch)
            of_queries = index.reader.query_encoder.encode([Query(str(place), text) for place, text in enumerate(material.queries)])
            write(folder, material, {"passages": vectors, "queries": of_queries})
            sides = {"txtai": txtai_rows(folder, material), "paper-qa": paperqa_rows(folder, material, index)}
            for name, side in sides.items() if chosen.peers else ():
                try:
                    table.extend(side)
                except (subprocess.CalledProcessError, SystemExit) as error:
                    print(f"{name} is left out: {error}")
        report(table, chosen.json)


if __name__ == "__main__":
    main()

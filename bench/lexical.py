"""How fast is BM25 over memory-mapped postings beside bm25s, tantivy and rank_bm25, on the same terms?

    python bench/lexical.py --corpus acm/corpus.parquet
    python bench/lexical.py --index indexes/large                 an index that is there

Queries are titles, two or three words of a title that stand beside each other, and whole papers. Ours weighs the postings of a query's
terms when it is asked; bm25s did so when it was built, for this corpus as it was; tantivy, in Rust, skips what cannot be among the best
10. rank_bm25 is left out of more than 100,000 papers. `our best 10` says how much of our answer the others have: they weigh a term that
comes twice in a query as they do, tantivy rounds the lengths of papers, and rank_bm25 has another formula.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import bm25s
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from peers import Peer
from rank_bm25 import BM25Okapi
from reporting import arguments, report, taking_turns

import sciretrieve as sr
from sciretrieve.demo import CORPUS
from sciretrieve.matching.lexical import Analyzer, Bm25
from sciretrieve.matching.lexical.bm25 import weigh_terms

K = 10
OKAPI_PAPERS = 100_000
OKAPI_TERMS = 100
"""About how many terms rank_bm25 is asked for in a turn: it looks at every paper for each."""


def main() -> None:
    """Measure, and print."""
    chosen = arguments(__doc__, corpus=str(CORPUS), index="", papers=1_000_000, queries=100, rounds=3)
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        index = sr.open(chosen.index) if chosen.index else sr.build(chosen.corpus, folder / "index", encoder=None, limit=chosen.papers)
        papers = index.papers_at(np.arange(0, len(index), max(len(index) // chosen.queries, 1)))
        queries = queries_of(papers, Analyzer(), chosen.queries)
        sides = Sides(folder, index, queries)
        rows = [row for kind in queries for row in sides.compared(kind, chosen.rounds)]
        report(rows, chosen.json)
        print(f"{len(index):,} papers; bm25s {bm25s.__version__}, {sides.tantivy.greeting}")
        for kind, asked in queries.items():
            print(f"{kind}: {len(asked)} queries of {np.mean([len(query) for query in asked]):.1f} terms")


def queries_of(papers: Sequence[sr.Paper], analyzer: Analyzer, most: int) -> dict[str, list[list[str]]]:
    """Sets of queries, each a list of terms."""
    chance = np.random.default_rng(0)
    titles = [found for paper in papers if len(found := analyzer.terms(paper.title)) >= 3][:most]
    short = []
    for title in titles:
        length = int(chance.integers(2, 4))
        first = int(chance.integers(0, len(title) - length + 1))
        short.append(title[first : first + length])
    whole = [analyzer.terms(f"{paper.title} {paper.abstract}") for paper in papers if paper.abstract][:most]
    return {"titles": titles, "2 or 3 words": short, "whole papers": whole}


def terms_of(bm25: Bm25) -> Iterator[pa.Array]:
    """The terms of each paper as one text, a shard at a time, out of its postings: as often as they count, which a title's do more."""
    for shard in bm25.shards:
        postings = shard.postings
        numbers = np.repeat(np.arange(len(postings.terms), dtype=np.int32), np.diff(postings.offsets))
        times = postings.counts + np.rint((bm25.parameters.title - 1) * postings.titles).astype(np.int64)
        order = np.argsort(postings.rows, kind="stable")
        offsets = np.concatenate([[0], np.cumsum(np.bincount(postings.rows, times, postings.papers))]).astype(np.int32)
        terms = pa.array(postings.terms).take(pa.array(np.repeat(numbers[order], times[order])))
        yield pc.binary_join(pa.ListArray.from_arrays(pa.array(offsets), terms), " ")


class Sides:
    """Ours and the others, over the same terms of the same papers."""

    def __init__(self, folder: Path, index: sr.Index, queries: dict[str, list[list[str]]]) -> None:
        self.folder, self.index, self.queries = folder, index, queries
        assert index.snapshot.bm25 is not None
        self.ours = index.snapshot.bm25
        with (folder / "papers.txt").open("w", encoding="utf-8") as file:
            for texts in terms_of(self.ours):
                file.writelines(f"{text}\n" for text in texts.to_pylist())
        # one copy of each word, or a million papers take ten gigabytes
        terms = [list(map(sys.intern, line.split())) for line in (folder / "papers.txt").open(encoding="utf-8")]
        built = bm25s.BM25(k1=self.ours.parameters.k1, b=self.ours.parameters.b, method="lucene")
        built.index(terms, show_progress=False)
        built.save(folder / "bm25s")
        self.bm25s = bm25s.BM25.load(folder / "bm25s", mmap=True)
        self.okapi = BM25Okapi(terms) if len(terms) <= OKAPI_PAPERS else None
        del built, terms
        weighted = {kind: [weigh_terms(query) for query in asked] for kind, asked in queries.items()}
        (folder / "queries.json").write_text(json.dumps(weighted), encoding="utf-8")
        self.tantivy = Peer("tantivy", ["tantivy>=0.25"], "turns_of_tantivy.py", folder)

    def compared(self, kind: str, rounds: int) -> list[dict[str, Any]]:
        """A row for each engine."""
        asked = self.queries[kind]
        few = asked[: max(1, OKAPI_TERMS // round(np.mean([len(query) for query in asked])))]
        turns: dict[str, Callable[[], Any]] = {
            "sciretrieve": partial(self._ask_ours, asked),
            "bm25s": lambda: self.bm25s.retrieve(asked, k=K, show_progress=False),
            "tantivy": partial(self.tantivy.ask, kind),
        }
        if (okapi := self.okapi) is not None:
            turns["rank_bm25"] = lambda: [okapi.get_scores(query) for query in few]
        seconds = {name: value / len(few if name == "rank_bm25" else asked) for name, value in taking_turns(turns, rounds).items()}
        ours = turns["sciretrieve"]()
        turns["tantivy"]()
        self.tantivy.ask("rows")
        found = {
            "sciretrieve": ours,
            "bm25s": turns["bm25s"]()[0].tolist(),
            "tantivy": json.loads((self.folder / "rows.json").read_text(encoding="utf-8")),
        }
        if "rank_bm25" in turns:
            found["rank_bm25"] = [np.argsort(-scores)[:K].tolist() for scores in turns["rank_bm25"]()]
        return [
            {
                "queries": kind,
                "engine": name,
                "queries/s": 1 / value,
                "ours / it": seconds["sciretrieve"] / value,
                "our best 10": float(np.mean([len({*one} & {*other}) / len(one) for one, other in zip(ours, found[name], strict=False)])),
            }
            for name, value in seconds.items()
        ]

    def _ask_ours(self, asked: list[list[str]]) -> list[list[int]]:
        answers = []
        for query in asked:
            rows, scores, _ = self.ours.best(weigh_terms(query), K, self.index.snapshot.scope)
            answers.append(rows[np.argsort(-scores)[:K]].tolist())
        return answers


if __name__ == "__main__":
    main()

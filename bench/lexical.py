"""How fast is BM25 over memory-mapped postings beside bm25s with numba, tantivy and rank_bm25, on the same terms?

    python bench/lexical.py --corpus acm/corpus.parquet
    python bench/lexical.py --index indexes/large --threads 2     an index that is there, on two cores

Queries are titles, two or three words of a title that stand beside each other, and whole papers. Ours weighs the postings of a query's
terms when it is first asked for them; bm25s did so when it was built, for this corpus as it was; tantivy, in Rust, skips what cannot be
among the best 10. What is compiled is loaded before, in the seconds that are shown. rank_bm25 is left out of more than 100,000 papers.
`our best 10` says how much of our answer the others have: they weigh a term that comes twice in a query as they do, tantivy rounds the
lengths of papers, and rank_bm25 has another formula. `search of the list` is `index.search`, which also reads operators, corrects words,
finds named papers and groups; of it, `our best 10` says how much these change.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
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
from sciretrieve.matching.lexical.compiled import KERNEL
from sciretrieve.matching.scope import NO_ROWS

K = 10
OKAPI_PAPERS = 100_000
OKAPI_TERMS = 100
"""About how many terms rank_bm25 is asked for in a turn: it looks at every paper for each."""


def main() -> None:
    """Measure, and print."""
    chosen = arguments(__doc__, corpus=str(CORPUS), index="", papers=1_000_000, queries=100, rounds=3, threads=1)
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[-chosen.threads :])
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        index = sr.open(chosen.index) if chosen.index else sr.build(chosen.corpus, folder / "index", encoder=None, limit=chosen.papers)
        papers = index.papers_at(np.arange(0, len(index), max(len(index) // chosen.queries, 1)))
        analyzer = Analyzer()
        texts = queries_of(papers, analyzer, chosen.queries)
        queries = {kind: list(map(analyzer.terms, asked)) for kind, asked in texts.items()}
        sides = Sides(folder, index, texts, queries, chosen.threads)
        first = sides.first_calls()
        rows = [row for kind in queries for row in sides.compared(kind, chosen.rounds)]
        report(rows, chosen.json)
        print(f"{len(index):,} papers; bm25s {bm25s.__version__}, {sides.tantivy.greeting}")
        print(", ".join(f"{name} is ready after {seconds:.2f} s" for name, seconds in first.items()))
        for kind, asked in queries.items():
            print(f"{kind}: {len(asked)} queries of {np.mean([len(query) for query in asked]):.1f} terms")


def queries_of(papers: Sequence[sr.Paper], analyzer: Analyzer, most: int) -> dict[str, list[str]]:
    """Sets of queries."""
    chance = np.random.default_rng(0)
    titles = [paper.title for paper in papers if len(analyzer.terms(paper.title)) >= 3][:most]
    short = []
    for title in titles:
        words = [word for word in analyzer.words(title) if analyzer.term(word) is not None]
        length = int(chance.integers(2, 4))
        first = int(chance.integers(0, len(words) - length + 1))
        short.append(" ".join(words[first : first + length]))
    whole = [f"{paper.title} {paper.abstract}" for paper in papers if paper.abstract][:most]
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

    def __init__(
        self, folder: Path, index: sr.Index, texts: dict[str, list[str]], queries: dict[str, list[list[str]]], threads: int
    ) -> None:
        self.folder, self.index, self.texts, self.queries, self.threads = folder, index, texts, queries, threads
        assert index.snapshot.bm25 is not None
        self.ours = index.snapshot.bm25
        with (folder / "papers.txt").open("w", encoding="utf-8") as file:
            for batch in terms_of(self.ours):
                file.writelines(f"{text}\n" for text in batch.to_pylist())
        # one copy of each word, or a million papers take ten gigabytes
        terms = [list(map(sys.intern, line.split())) for line in (folder / "papers.txt").open(encoding="utf-8")]
        self.bm25s = bm25s.BM25(k1=self.ours.parameters.k1, b=self.ours.parameters.b, method="lucene", backend="numba")
        self.bm25s.index(terms, show_progress=False)
        self.okapi = BM25Okapi(terms) if len(terms) <= OKAPI_PAPERS else None
        del terms
        weighted = {kind: [weigh_terms(query) for query in asked] for kind, asked in queries.items()}
        (folder / "queries.json").write_text(json.dumps(weighted), encoding="utf-8")
        self.tantivy = Peer("tantivy", ["tantivy>=0.25"], "turns_of_tantivy.py", folder)

    def first_calls(self) -> dict[str, float]:
        """Seconds of the first call of what is compiled: numba's import, and its compiled code, from the disk if it is there."""
        asked, seconds = next(iter(self.queries.values()))[:1], {}
        for name, first in (("sciretrieve", KERNEL.load), ("bm25s", partial(self._ask_bm25s, asked))):
            start = time.perf_counter()
            first()
            seconds[name] = time.perf_counter() - start
        return seconds

    def compared(self, kind: str, rounds: int) -> list[dict[str, Any]]:
        """A row for each engine."""
        asked = self.queries[kind]
        few = asked[: max(1, OKAPI_TERMS // round(np.mean([len(query) for query in asked])))]
        turns: dict[str, Callable[[], Any]] = {
            "sciretrieve": partial(self._ask_ours, asked),
            "search of the list": partial(self.index.search, self.texts[kind], k=K, mode="bm25"),
            "bm25s, numba": partial(self._ask_bm25s, asked),
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
            "search of the list": [ranking.rows.tolist() for ranking in turns["search of the list"]()],
            "bm25s, numba": turns["bm25s, numba"]()[0].tolist(),
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

    def _ask_bm25s(self, asked: list[list[str]]) -> Any:
        return self.bm25s.retrieve(asked, k=K, show_progress=False, n_threads=self.threads)

    def _ask_ours(self, asked: list[list[str]]) -> list[list[int]]:
        weighted = [weigh_terms(query) for query in asked]
        bests = self.ours.bests(weighted, K, self.index.snapshot.scope, [NO_ROWS] * len(asked))
        return [rows[np.argsort(-scores)[:K]].tolist() for rows, scores, _ in bests]


if __name__ == "__main__":
    main()

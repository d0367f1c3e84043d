"""How fast is BM25 over memory-mapped postings beside bm25s and rank_bm25, on the same terms?

Ours weighs the postings of a query's terms when it is asked; bm25s did so when it was built, for this corpus as it was.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import bm25s
import numpy as np
from rank_bm25 import BM25Okapi
from reporting import arguments, report, taking_turns

import sciretrieve as sr
from sciretrieve.demo import CORPUS
from sciretrieve.lexical import Analyzer
from sciretrieve.lexical.bm25 import weigh_terms


def main() -> None:
    """Measure, and print."""
    chosen = arguments(__doc__, corpus=str(CORPUS), queries=100, rounds=3)
    with tempfile.TemporaryDirectory() as folder:
        index = sr.build(chosen.corpus, Path(folder) / "index", encoder=None)
        papers = [
            paper for first in range(0, len(index), 4096) for paper in index.papers_at(np.arange(first, min(first + 4096, len(index))))
        ]
        analyzer = Analyzer()
        # a term in a title counts twice
        terms = [analyzer.terms(f"{paper.title}\n{paper.title}\n{paper.abstract}") for paper in papers]
        asked = [analyzer.terms(paper.title) for paper in papers[:: max(len(papers) // chosen.queries, 1)] if paper.title][: chosen.queries]
        ours = index.bm25
        assert ours is not None
        built = bm25s.BM25(k1=ours.parameters.k1, b=ours.parameters.b, method="lucene")
        built.index(terms, show_progress=False)
        built.save(Path(folder) / "bm25s")
        theirs = bm25s.BM25.load(Path(folder) / "bm25s", mmap=True)
        okapi = BM25Okapi(terms)

        def search() -> None:
            for query in asked:
                ours.best(weigh_terms(query), 10, index.scope)

        seconds = taking_turns(
            {
                "sciretrieve": search,
                "bm25s": lambda: theirs.retrieve(asked, k=10, show_progress=False),
                "rank_bm25": lambda: [okapi.get_scores(query) for query in asked[:5]],
            },
            chosen.rounds,
        )
        per_query = {name: value / (5 if name == "rank_bm25" else len(asked)) for name, value in seconds.items()}
        report(
            [{"engine": name, "queries/s": 1 / value, "ours / it": per_query["sciretrieve"] / value} for name, value in per_query.items()],
            chosen.json,
        )
        print(f"{len(index):,} papers, {len(asked)} titles as queries")


if __name__ == "__main__":
    main()

"""What does late interaction cost: when papers are encoded, on disk, and when a query is answered?

    python bench/late.py --index indexes/NAME [--papers 512] [--encoder minilm]

Papers are the index's own, encoded with and without their token vectors in turns in the same run. Queries are titles, each asked once a
round; the ratio is that to hybrid search without late interaction.
"""

from __future__ import annotations

import random
from typing import Any

import numpy as np
from reporting import arguments, report, taking_turns

import sciretrieve as sr
from sciretrieve.encoders import encode_packed, late, load_encoder, packing_of


def main() -> None:
    """Measure, and print."""
    chosen = arguments(__doc__, index="indexes/demo", encoder="minilm", papers=512, queries=20, rounds=5)
    index = sr.open(chosen.index)
    rows = np.array(sorted(random.Random(0).sample(range(len(index)), min(chosen.papers, len(index)))))
    papers = index.papers_at(rows)
    plain = load_encoder(chosen.encoder)
    with_tokens, packing = late(plain), packing_of(plain)
    tokens = plain.tokenise(papers)
    seconds = taking_turns(
        {
            "papers encoded": lambda: plain.encode(tokens),
            "and token vectors packed": lambda: encode_packed(with_tokens, tokens, packing),
        },
        chosen.rounds,
    )
    base = seconds["papers encoded"]
    _, _, counts = encode_packed(with_tokens, tokens, packing)
    report([{"work": name, "papers/s": len(papers) / time, "ratio": time / base} for name, time in seconds.items()], chosen.json)
    sizes = counts * packing.bytes
    print(f"{sizes.mean():,.0f} bytes a paper, {np.percentile(sizes, 95):,.0f} for 95 %; {counts.mean():.0f} tokens a paper\n")

    titles = [paper.title.replace('"', " ").replace(":", " ") for paper in papers[:: max(len(papers) // chosen.queries, 1)]]

    def asking(**settings: Any) -> Any:
        return lambda: [index.search(title, 10, **settings).hits for title in titles]

    ways = {"hybrid without": asking(late=False), "hybrid with": asking(late=True), "dense": asking(mode="dense")}
    seconds = taking_turns(ways, chosen.rounds)
    base = seconds["hybrid without"]
    report([{"search": name, "ms a query": 1000 * time / len(titles), "ratio": time / base} for name, time in seconds.items()], None)
    print(f"{len(index):,} papers, token vectors {'stored' if index.snapshot.manifest.late else 'made when asked, and remembered'}")


if __name__ == "__main__":
    main()

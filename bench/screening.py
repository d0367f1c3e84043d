"""How much reading does a screening session save, beside ASReview's default, and does its stopping rule keep its word?

    python bench/screening.py DIR [--cache indexes/screening] [--topics 10] [--batch 10] [--peers 1]

DIR has the folders cranfield, acm and hepth. Their topics (see screening_topics.py) are screened by a reviewer who knows the answer,
both sides beginning with the words of the topic and learning anew after every --batch papers. ASReview runs in an environment of its own,
which is made when it is first needed.

WSS@95 is the work saved over sampling at 95 % recall: the share of the papers that need not be read, less the 5 % that a random order
saves (Cohen et al., "Reducing workload in systematic review preparation using automated citation classification", 2006). All figures are
means over the topics, x 100.
"""

from __future__ import annotations

import json
import math
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from peers import Peer
from reporting import arguments, report
from screening_topics import Pool, Topic, pools

import sciretrieve as sr
from sciretrieve.base.errors import IndexExists
from sciretrieve.screening import Status

ASREVIEW = ("asreview==3.0.8",)
TARGETS = (0.8, 0.9, 0.95)
"""Recalls at whose claim a session might be stopped: the bounds of a sample hold for all of them at once."""


def indexed(pool: Pool, place: Path) -> sr.Index:
    """The index of a pool, built anew only if the papers, or how an index is built, have changed."""
    try:
        return sr.build(pool.papers, place, dense="flat")
    except IndexExists:
        return sr.build(pool.papers, place, dense="flat", overwrite=True)


def screened(index: sr.Index, topic: Topic, rule: str, batch: int, enough: int) -> tuple[list[int], dict[float, Status]]:
    """A session until its stopping rule is met and `enough` relevant papers are found: at which ranks the relevant ones were read, and
    the status when each recall of `TARGETS` was first claimed."""
    with tempfile.TemporaryDirectory() as folder, sr.Screening(index, Path(folder) / "review.jsonl", topic.query, rule=rule) as session:
        stops: dict[float, Status] = {}
        while (status := session.status).unread:
            for target in TARGETS:
                if (status.stop if rule == "ranking" else (status.low or 0) >= target) and target not in stops:
                    stops[target] = status
            if len(stops) == len(TARGETS) and status.relevant >= enough and status.read >= len(session) / 10:
                break
            # where all of the figures but the end are known, it is enough to learn after every fiftieth more
            step = batch if rule == "sample" or status.relevant < enough else max(batch, status.read // 50)
            papers = [paper.id for paper in session.next(step)]
            session.decide([id for id in papers if id in topic.relevant], [id for id in papers if id not in topic.relevant])
        ranks = [rank for rank, decision in enumerate(session.decisions.values(), start=1) if decision.verdict == "include"]
        return ranks, {target: stops.get(target, session.status) for target in TARGETS}


def saved(ranks: Sequence[int], relevant: int, papers: int) -> dict[str, float]:
    """WSS@95, and the recall when a tenth of the papers is read."""
    at = ranks[math.ceil(0.95 * relevant) - 1]
    return {"WSS@95": 0.95 - at / papers, "R@10%": sum(rank <= papers / 10 for rank in ranks) / relevant}


def main() -> None:
    """Simulate, and print."""
    if len(sys.argv) < 2 or sys.argv[1].startswith("-"):
        sys.exit("name the folder with the sets: python bench/screening.py DIR")
    folder = Path(sys.argv.pop(1))
    chosen = arguments(__doc__, cache="indexes/screening", topics=10, batch=10, peers=1)
    rows: list[dict[str, Any]] = []
    for pool in pools(folder, chosen.topics):
        index = indexed(pool, Path(chosen.cache) / pool.name)
        with tempfile.TemporaryDirectory() as shared:
            topics = [{"query": topic.query, "relevant": sorted(topic.relevant)} for topic in pool.topics]
            (Path(shared) / "pool.json").write_text(json.dumps({"papers": pool.papers, "topics": topics}), encoding="utf-8")
            peer = Peer("asreview", ASREVIEW, "turns_of_asreview.py", shared, chosen.batch) if chosen.peers else None
            figures: list[dict[str, float]] = []
            for number, topic in enumerate(pool.topics):
                relevant, papers = len(topic.relevant), len(index)
                ranks, by_ranking = screened(index, topic, "ranking", chosen.batch, math.ceil(0.95 * relevant))
                found = saved(ranks, relevant, papers)
                _, by_sample = screened(index, topic, "sample", chosen.batch, 0)
                stops = {f"sample {100 * target:g}": status for target, status in by_sample.items()} | {"ranking 95": by_ranking[0.95]}
                for name, status in stops.items():
                    found |= {f"{name} read": status.read / papers, f"{name} recall": status.relevant / relevant}
                if peer is not None:
                    theirs = saved(json.loads(peer.ask(str(number))), relevant, papers)
                    found |= {f"ASReview {name}": value for name, value in theirs.items()}
                figures.append(found)
                line = {"set": pool.name, "query": topic.query[:40], "relevant": relevant} | found
                print(json.dumps(line), file=sys.stderr, flush=True)
        means = {name: f"{100 * np.mean([found[name] for found in figures]):.1f}" for name in figures[0]}
        sizes = sorted(len(topic.relevant) for topic in pool.topics)
        rows.append({"set": pool.name, "papers": len(index), "topics": len(figures), "relevant": f"{sizes[0]}-{sizes[-1]}"} | means)
    report(rows, chosen.json)


if __name__ == "__main__":
    main()

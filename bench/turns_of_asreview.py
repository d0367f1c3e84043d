"""The other side of bench/screening.py: ASReview's default over the pool in pool.json in a folder.

A line is the number of a topic; the answer is the ranks at which its relevant papers were read, until 95 % of them, and a tenth of
the papers, were. It begins as our session does: with the words of the topic, here as a first included record, which is not counted.
"""

from __future__ import annotations

import json
import math
import sys
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from asreview import ActiveLearningCycle, Simulate
from asreview.models.models import get_ai_config
from asreview.models.queriers import TopDown
from asreview.models.stoppers import IsFittable

batch = int(sys.argv[2])
pool = json.loads((Path(sys.argv[1]) / "pool.json").read_text(encoding="utf-8"))
papers = pool["papers"]
default = get_ai_config()


class Enough:
    """Ends a simulation at 95 % of the relevant papers and a tenth of all, the first record not counted."""

    def stop(self, results: pd.DataFrame, labels: pd.Series) -> bool:
        """Whether enough is read."""
        found = int(results["label"].sum()) - 1
        return found >= math.ceil(0.95 * (int(labels.sum()) - 1)) and len(results) - 1 >= len(papers) / 10


def ranks(topic: dict[str, Any]) -> list[int]:
    """At which ranks, from 1, the relevant papers of a topic are read."""
    relevant = set(topic["relevant"])
    texts = [{"title": topic["query"], "abstract": ""}, *papers]
    labels = pd.Series([1, *(int(paper["id"] in relevant) for paper in papers)])
    # what its command line does without further arguments: from the top until there is one of each kind, then its model
    model = ActiveLearningCycle.from_meta(replace(default["value"], n_query=batch))
    cycles = [ActiveLearningCycle(querier=TopDown(), stopper=IsFittable()), model]
    simulation = Simulate(pd.DataFrame(texts)[["title", "abstract"]], labels, cycles, stopper=Enough(), print_progress=False)
    simulation.label([0])
    simulation.review()
    return [int(rank) for rank in np.flatnonzero(simulation._results["label"].to_numpy()[1:]) + 1]


print(f"asreview {version('asreview')}, {default['name']}", flush=True)
for line in sys.stdin:
    print(json.dumps(ranks(pool["topics"][int(line)])), flush=True)

"""Where does the time of one `sciretrieve search` go, from the shell's prompt to the last line?

Runs the search in fresh interpreters that note the time at each step, and beside it the whole command, timed from outside.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from reporting import arguments, report

import sciretrieve as sr
from sciretrieve.demo import CORPUS

STEPS = """
import time; began = time.time(); steps = {}; last = began
def step(name):
    global last
    steps[name] = time.time() - last; last = time.time()
import sys, json
path, query, mode = sys.argv[1:4]
import sciretrieve.commands; step("import the command line")
import sciretrieve.query.opening, sciretrieve.base.types; step("import NumPy, Arrow and the index")
index = sciretrieve.query.opening.open_index(path); step("open the index")
if mode != "bm25":
    import openvino; step("import OpenVINO")
    encoder = index.reader.query_encoder.encoder; step("open the encoder")
    encoder.encode_queries([sciretrieve.base.types.Query("q", query)]); step("load its graph and encode the query")
index.snapshot.bm25; step("open BM25")
run = index.search(query, 10, mode=mode); step("search")
hits = run.hits; step("read the papers")
from sciretrieve.answers import outputs; lines = [line for hit in hits for line in outputs.table([hit], 80)]; step("print")
print(json.dumps([began, steps]))
"""


def main() -> None:
    """Measure, and print."""
    chosen = arguments(__doc__, index="", query="graph neural networks", mode="hybrid", rounds=7)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(chosen.index or folder + "/demo")
        if not chosen.index:
            sr.build(CORPUS, path)
        index = sr.open(path)
        index.search(chosen.query, 1, mode=chosen.mode)  # the encoder is compiled and cached from here on
        taken: dict[str, list[float]] = {}
        for turn in range(chosen.rounds + 1):
            start = time.time()
            command = [sys.executable, "-c", STEPS, str(path), chosen.query, chosen.mode]
            began, steps = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
            start_outside = time.time()
            whole = [sys.executable, "-m", "sciretrieve", "search", chosen.query, "-i", str(path), "--mode", chosen.mode]
            subprocess.run(whole, capture_output=True, check=True)
            if turn:
                for name, seconds in {"start Python": began - start, **steps, "whole command": time.time() - start_outside}.items():
                    taken.setdefault(name, []).append(seconds)
        medians = {name: statistics.median(times) for name, times in taken.items()}
        total = medians["whole command"]
        report([{"step": name, "ms": 1000 * value, "share": value / total} for name, value in medians.items()], chosen.json)
        print(f"{len(index):,} papers, mode {chosen.mode}, median of {chosen.rounds}")


if __name__ == "__main__":
    main()

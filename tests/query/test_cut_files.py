"""Files that are cut, or written over, under a reader that has them open are an error, and never the end of its process."""

import subprocess
import sys
from pathlib import Path

from tests.conftest import Effort

SCRIPT = """
import os, sys
from pathlib import Path
import numpy as np
import sciretrieve as sr
from sciretrieve.base.errors import CorruptData

path = Path(sys.argv[1])
texts = {"title": "Star dust", "abstract": "Dust of stars. " * 50, "authors": ["Ada Lovelace"]}
papers = [{"id": f"p{number}", **texts} for number in range(100)]
vectors = {paper["id"]: np.eye(8, dtype=np.float32)[number % 8] + number / 100 for number, paper in enumerate(papers)}
sr.build(papers, path, encoder=vectors, dense="HNSW8", progress=False).close()

def use(index):
    for mode in ("dense", "bm25"):
        index.search(["star dust"], 5, mode=mode, vectors=np.ones((1, 8), np.float32))
    index.search(['"star dust" authors:lovelace'], 5, mode="bm25")
    index.similar("p5", 5), index.papers("p9"), index.count("star"), "p7" in index

for file in sorted(path.rglob("*")):
    if not file.is_file() or file.suffix == ".json" or file.name == ".lock":
        continue
    data = file.read_bytes()
    changes = (lambda: os.truncate(file, 0), lambda: file.write_bytes(data[::-1]), lambda: os.truncate(file, len(data) // 2))
    for change in changes[: int(sys.argv[2])]:
        with sr.open(path, encoder=vectors) as index:
            use(index)
            run = index.search("star dust", 20, mode="bm25")
            change()
            for step in (lambda: use(index), lambda: run.hits, lambda: list(index)):
                try:
                    step()
                    print(file.name, "answered")
                except CorruptData as error:
                    assert str(file) in str(error)
                    print(file.name, "said")
        whole = file.with_name("whole")
        whole.write_bytes(data)
        whole.rename(file)
"""


def test_every_file_that_is_open_may_be_cut(tmp_path: Path, effort: Effort) -> None:
    result = subprocess.run(
        [sys.executable, "-c", SCRIPT, tmp_path / "index", str(effort(1, 3))], capture_output=True, text=True, check=False
    )
    assert (result.returncode, result.stderr) == (0, "")
    outcomes = [line.split() for line in result.stdout.splitlines()]
    names = {name for name, _ in outcomes}
    assert names >= {"papers.parquet", "vectors.npy", "postings.arrow", "lengths.arrow", "fields.arrow", "ids.arrow", "names.arrow"}
    assert names == {name for name, outcome in outcomes if outcome == "said"}

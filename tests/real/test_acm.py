"""20,000 real papers of the ACM Digital Library: keyword search over many shards, in bounded memory."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest

import sciretrieve as sr
from tests.made_up import shared

CODE = """
import sys
import sciretrieve as sr
sr.build(sys.argv[1], sys.argv[2], encoder=None, shard_size=5_000, limit=20_000)
# not getrusage: its maximum also remembers the process that this one was forked from
print(next(int(line.split()[1]) // 1024 for line in open("/proc/self/status") if line.startswith("VmHWM")))
"""

ESTIMATE = """
import sys
import sciretrieve as sr
estimate = sr.estimate(sys.argv[1], encoder=None, shard_size=5_000, limit=20_000)
print(estimate.papers, estimate.bytes, estimate.memory >> 20)
"""


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[sr.Index, int]:
    """The index of all papers in four shards, and the MiB of memory that building it took at its most."""
    corpus, target = shared("acm", "corpus.parquet"), tmp_path_factory.mktemp("acm") / "index"
    result = subprocess.run([sys.executable, "-c", CODE, corpus, target], env=os.environ, capture_output=True, text=True, check=True)
    return sr.open(target), int(result.stdout)


def test_memory_is_bounded(built: tuple[sr.Index, int]) -> None:
    index, peak = built
    assert len(index) == 20_000
    assert len(index.snapshot.shards) == 4
    assert peak < 500


def test_an_estimate_is_near_what_was_built(built: tuple[sr.Index, int]) -> None:
    index, peak = built
    command = [sys.executable, "-c", ESTIMATE, str(shared("acm", "corpus.parquet"))]
    papers, size, memory = map(int, subprocess.run(command, env=os.environ, capture_output=True, text=True, check=True).stdout.split())
    assert papers == len(index)
    assert size == pytest.approx(sum(path.stat().st_size for path in index.path.rglob("*") if path.is_file()), rel=0.25)
    assert memory == pytest.approx(peak, rel=0.25)


def test_the_sharding_changes_no_answer(tmp_path: Path) -> None:
    corpus = shared("acm", "corpus.parquet")
    whole, index = (sr.build(corpus, tmp_path / f"by-{size}", encoder=None, limit=4_000, shard_size=size) for size in (4_000, 1_250))
    for query in ("graph neural networks", "information retrieval evaluation relevance judgements", "mobile web"):
        one, many = whole.search(query, 100).rankings[0], index.search(query, 100).rankings[0]
        assert one.ids == many.ids
        assert one.scores.tolist() == many.scores.tolist()


def test_filters_over_shards(built: tuple[sr.Index, int]) -> None:
    index, _ = built
    table = pq.read_table(shared("acm", "corpus.parquet"), columns=["id", "year", "authors"]).slice(0, len(index)).to_pylist()
    author = next(name for row in table for name in (row["authors"] or []) if len(name) > 8)  # as the source has it: "Crane, Matt"
    expected = {str(row["id"]) for row in table if author in (row["authors"] or [])}
    scope = index.snapshot.narrower.passing(f'authors in ("{" ".join(reversed(author.split(", ")))}")')
    assert set(index.ids(scope.places)) == expected
    ids = index.search("a study of information systems and users", 500, filter="year >= 2019 and year < 2020").rankings[0].ids
    years = {str(row["id"]): row["year"] for row in table}
    assert len(ids) == 500
    assert {years[id] for id in ids} == {2019}


def test_few_alarms_are_raised(built: tuple[sr.Index, int]) -> None:
    """Each of them was looked at: notes in place of abstracts, an author index, a title repeated."""
    index, _ = built
    counts = {finding.name: len(finding) for finding in sr.health(index, progress=False).findings}
    assert counts["no_title"] == counts["venue_is_none"] == counts["doi_is_none"] == counts["year_ahead"] == counts["retracted"] == 0
    assert counts["title_longer_than_abstract"] + counts["abstract_repeats_title"] + counts["title_of_names"] < len(index) / 1000
    assert counts["no_abstract"] == sum(not paper.abstract for paper in index)

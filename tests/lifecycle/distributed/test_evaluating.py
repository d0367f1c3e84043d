"""Evaluations by a Ray cluster: runs and figures are those of one machine."""

import json
from pathlib import Path
from typing import Any

import pytest

import sciretrieve as sr
from sciretrieve.base.errors import InvalidRequest
from sciretrieve.evaluation import evaluate
from sciretrieve.lifecycle.distributed import RayWorkers
from tests.command_line import sciretrieve
from tests.evaluation.made_up_benchmarks import write_lines, write_text
from tests.made_up import made_up_papers

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("default")]


@pytest.fixture(scope="module")
def rows() -> list[dict[str, Any]]:
    """200 papers, and some of them again under other ids, so that scores tie."""
    papers = made_up_papers(200)
    return papers + [{**row, "id": f"again-{row['id']}"} for row in papers[::9]]


@pytest.fixture(scope="module")
def beir(rows: list[dict[str, Any]], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The papers as a BEIR directory; queries are titles."""
    folder = tmp_path_factory.mktemp("beir")
    write_lines(folder / "corpus.jsonl", ({"_id": row["id"], "title": row["title"], "text": row["abstract"]} for row in rows))
    write_lines(folder / "queries.jsonl", ({"_id": f"q{at}", "text": row["title"]} for at, row in enumerate(rows[:25])))
    lines = "".join(f"q{at}\t{row['id']}\t1\n" for at, row in enumerate(rows[:25]))
    write_text(folder / "qrels/test.tsv", f"query-id\tcorpus-id\tscore\n{lines}")
    return folder


@pytest.fixture(scope="module")
def index(rows: list[dict[str, Any]], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An index of the papers in five approximate shards, of one of which all papers are deleted."""
    folder = tmp_path_factory.mktemp("index") / "papers"
    others = [{**row, "id": f"other-{row['id']}"} for row in made_up_papers(60, seed=1)]
    sr.build([*rows[:60], *others, *rows[60:]], folder, shard_size=60, dense="HNSW8,Flat")
    sr.delete(folder, [row["id"] for row in others])
    return folder


@pytest.mark.parametrize("options", [{"metric": "l2"}, {"mode": "hybrid", "ef": 3}], ids=["every vector", "search"])
def test_runs_and_figures_are_those_of_one_machine(
    beir: Path, index: Path, workers: RayWorkers, tmp_path: Path, options: dict[str, Any]
) -> None:
    here = evaluate(f"beir:{beir}", index=index, output=tmp_path / "here", **options)
    there = evaluate(f"beir:{beir}", index=index, output=tmp_path / "there", workers=workers, **options)
    assert {**there.to_dict(), "times": {}} == {**here.to_dict(), "times": {}}
    assert (tmp_path / "there/run.json").read_bytes() == (tmp_path / "here/run.json").read_bytes()


def test_only_an_index_is_searched_by_a_cluster(beir: Path, workers: RayWorkers) -> None:
    with pytest.raises(InvalidRequest, match="name it with `index`"):
        evaluate(f"beir:{beir}", encoder="minilm", workers=workers)


def test_the_command(beir: Path, index: Path, cluster: Any, tmp_path: Path) -> None:
    on_cluster = ["--ray", cluster.address]
    here = sciretrieve("evaluate", f"beir:{beir}", "-i", index, "-o", tmp_path / "here", "-f", "json")
    there = sciretrieve("evaluate", "replay", tmp_path / "here/receipt.json", "-f", "json", *on_cluster)
    assert there.returncode == 0, there.stderr
    reports = [{**json.loads(run.stdout), "times": {}} for run in (here, there)]
    assert reports[0] == reports[1]
    refused = sciretrieve("evaluate", f"beir:{beir}", "--encoder", "minilm", *on_cluster)
    assert (refused.returncode, refused.stderr.count("\n")) == (2, 1), refused.stderr
    assert "--index" in refused.stderr

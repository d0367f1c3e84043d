"""Sets like Multi-SciDocs of a made-up corpus, against plain loops."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from sciretrieve.base.errors import InvalidRequest
from sciretrieve.evaluation import evaluate, read_qrels
from sciretrieve.evaluation.builders import CiteSettings, build_scidocs_like
from tests.command_line import sciretrieve
from tests.evaluation.made_up_benchmarks import write_lines
from tests.evaluation.test_building_cite import contents, links, papers

FIELDS = {"graphs": "Mathematics", "vaccines": "Medicine", "stars": "Mathematics", "markets": "Mathematics"}


def rows_with_fields() -> list[dict[str, Any]]:
    return [{**row, "field": FIELDS[row["topic"]]} for row in papers(620)]


def test_each_query_has_related_papers_and_500_others(tmp_path: Path) -> None:
    rows = rows_with_fields()
    settings = CiteSettings(queries=6, cited=1, cocited=2)
    build_scidocs_like(rows, tmp_path / "made", settings)
    cites = links(rows)
    near = {id: set(cited) for id, cited in cites.items()}
    for id, cited in cites.items():
        for other in cited:
            near[other].add(id)
    fields: Counter[str] = Counter()
    of = {row["id"]: row["field"] for row in rows}
    for task in ("cite", "cocite"):
        queries: list[str] = []
        for split in ("test", "val"):
            qrels = read_qrels(tmp_path / "made" / task / f"{split}.qrel")
            queries += qrels
            for query, grades in qrels.items():
                together = Counter(other for cited in cites.values() if query in cited for other in cited - {query})
                related = cites[query] if task == "cite" else {id for id, count in together.items() if count >= 2}
                positives = {id for id, grade in grades.items() if grade}
                assert positives <= related
                assert len(positives) == min(5, len(related))
                assert len(grades) - len(positives) == 500
                assert not (set(grades) - positives) & (related | near[query] | {query})
        assert len(set(queries)) == len(queries) == 12
        fields.update(of[query] for query in queries)
    assert fields == {"Mathematics": 12, "Medicine": 12}
    report = evaluate("multi-scidocs", tmp_path / "made", mode="bm25", cache=tmp_path / "cache").as_json()
    assert {name: task["queries"] for name, task in report["per_task"].items()} == {"cite": 6, "co-cite": 6}
    build_scidocs_like(rows, tmp_path / "again", settings)
    assert contents(tmp_path / "again") == contents(tmp_path / "made")


def test_what_cannot_be_built_is_one_line(tmp_path: Path) -> None:
    corpus = write_lines(tmp_path / "c.jsonl", papers(60))
    call = ("benchmarks", "build", "multi-scidocs", "--from", corpus, "--to", tmp_path / "made")
    result = sciretrieve(*call, "--set", "cocited=60")
    assert result.returncode == 2
    assert "0 papers with a title and an abstract have others for cocite; lower --set cited or --set cocited" in result.stderr
    assert "leave out --index" in sciretrieve(*call, "--index", tmp_path).stderr
    assert not (tmp_path / "made").exists()
    made = sciretrieve(*call[:-1], tmp_path / "few")
    assert made.stderr.count("with fewer than 500 negatives") == 4
    with pytest.raises(InvalidRequest, match="cannot hold an id with a blank, such as 'a b'"):
        build_scidocs_like([{**row, "id": "a b"} if row["id"] == "p0001" else row for row in papers(60)], tmp_path / "made")

"""The lines of docs/reproduce.md that prepare the papers' training data, run on small made-up data in the layouts of their sources."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sciretrieve.training import read_configs, read_training_set
from tests.command_line import sciretrieve
from tests.made_up import write_jsonl
from tests.training.thousand import library, patients_folder, search_file, table, usable

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "reproduce.md").read_text(encoding="utf-8")
LINES = PAGE[PAGE.index("### Training data") : PAGE.index("### What differs in trainings")]
LABELLED: dict[str, dict[str, Any]] = {
    "mesh_descriptors": {"descriptor": "Liver"},
    "fos": {"labels_text": ["Art", "Law"], "labels": [0, 1]},
    "cite_count": {"log_citations": 1.5},
    "pub_year": {"scaled_year": 0.5},
}
"""Forms of SciRepEval's sets of single papers."""


def sources(folder: Path) -> None:
    """What the page says to get by hand."""
    rows = list(usable(library()).values())
    papers = [{"corpus_id": row["id"], "title": row["title"], "abstract": row["abstract"]} for row in rows]
    sets: dict[str, list[dict[str, Any]]] = {name: [{**paper, **more} for paper in papers[:9]] for name, more in LABELLED.items()}
    sets["cite_prediction"] = [{"query": papers[at], "pos": papers[at + 1], "neg": papers[at + 2]} for at in range(9)]
    candidates = [{**paper, "score": at % 2} for at, paper in enumerate(papers[1:9])]
    for name in ("same_author", "high_influence_cite"):
        sets[name] = [{"query": papers[0], "candidates": candidates}]
    for name in (*sets, "search"):
        (folder / "downloads/scirepeval" / name).mkdir(parents=True)
    for place in ("maple", "data/training/scincl"):
        (folder / place).mkdir(parents=True)
    for name, lines in sets.items():
        write_jsonl(folder / "downloads/scirepeval" / name / "train.jsonl", lines)
    search_file(folder / "downloads/scirepeval/search/train.jsonl")
    bare = [{name: value for name, value in row.items() if name not in ("keywords", "fieldsOfStudy")} for row in rows]
    for name in ("cs-journal", "mesh", "coarse"):
        write_jsonl(folder / "maple" / f"{name}.jsonl", [{**row, "labels": ["one", f"of {at % 9}"]} for at, row in enumerate(bare)])
    pq.write_table(pa.Table.from_pylist(rows), folder / "s2orc.parquet")
    patients_folder(folder / "data/scimult/pmc_patients/PMCPatients")
    scincl = folder / "data/training/scincl"
    write_jsonl(scincl / "train_metadata.jsonl", [{"paper_id": row["id"], "title": row["title"], "abstract": None} for row in rows[:3]])
    ids = [row["id"] for row in rows[:3]]
    (scincl / "train_triples.csv").write_text(f"query_paper_id,positive_id,negative_id\n{','.join(ids)}\n{','.join(ids[::-1])}\n")


@pytest.mark.skipif(not (shutil.which("bash") and shutil.which("shuf")), reason="the lines are a shell's, with shuf")
def test_the_lines_make_all_that_the_studies_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sources(tmp_path)
    monkeypatch.chdir(tmp_path)
    (_, script), (_, commands) = re.findall(r"^```(\w*)\n(.*?)^```$", LINES, re.MULTILINE | re.DOTALL)
    subprocess.run(["bash", "-e", "-c", script], check=True)
    for line in commands.splitlines():
        result = sciretrieve(*shlex.split(line)[1:])
        assert result.returncode == 0, (line, result.stderr)
    studies = ROOT / "docs" / "studies"
    read = {path.relative_to(studies) for study in studies.iterdir() for config in read_configs(study) for path in config.data}
    tasks = {path.as_posix().removeprefix("data/training/"): read_training_set(path).task for path in read}
    files = {f"scirepeval/{name}.jsonl" for name in (*LABELLED, "cite_prediction", "same_author", "high_influence_cite", "search")}
    assert files == {name for name in tasks if name.startswith("scirepeval/")}
    assert {tasks[f"scirepeval/{name}.jsonl"] for name in ("mesh_descriptors", "fos")} == {"labels"}
    assert {tasks[name] for name in ("scimult/coarse", "scincl", "s2orc", "pmc-patients/par")} == {"labels", "triplets", "pairs"}
    hard, plain = (table(Path("data/training/scimult") / name, "pairs.tsv") for name in ("mesh", "mesh-plain"))
    assert [row[:2] for row in hard] == [row[:2] for row in plain]
    assert any(row[2] for row in hard)
    assert not any(row[2] for row in plain)

"""Without FAISS, exact search works, and what needs it says what to install; two builds of it are one too many."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sciretrieve.matching.dense import build_ann
from sciretrieve.matching.dense.faiss_library import FAISS_BUILDS, load_faiss
from tests.made_up import made_up_papers, write_jsonl

MISSING = "sciretrieve: a FAISS index needs the package faiss-cpu, which is not installed: pip install faiss-cpu; "
PROGRAM = """
import json, sys
{start}
from sciretrieve.matching.dense import choosing, vectors
from tests.command_line import sciretrieve
vectors.SCANS_PER_CANDIDATE = vectors.SELECTIVE = 0
choosing.FLAT_BYTES = 0
results = [sciretrieve(*words) for words in json.loads(sys.argv[1])]
print(json.dumps([[result.returncode, result.stdout, result.stderr] for result in results]))
"""
WITHOUT_FAISS = "sys.modules['faiss'] = None  # as Python notes that a module cannot be imported"


def results(start: str, *commands: list[str], path: str = "") -> list[tuple[int, str, str]]:
    """Each command's code and output, in a process of their own, in which every index is large."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([path, *sys.path])}
    program = PROGRAM.format(start=start)
    run = subprocess.run([sys.executable, "-c", program, json.dumps(commands)], env=environment, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    return [tuple(result) for result in json.loads(run.stdout)]


@pytest.fixture
def papers(tmp_path: Path) -> list[dict[str, Any]]:
    """Papers and their vectors, p.jsonl and v.npy, in the working directory."""
    papers = made_up_papers(60)
    write_jsonl(tmp_path / "p.jsonl", papers)
    np.save(tmp_path / "v.npy", np.random.default_rng(0).normal(size=(60, 8)).astype(np.float32))
    (tmp_path / "v.ids.txt").write_text("".join(f"{paper['id']}\n" for paper in papers))
    return papers


def test_without_faiss_search_is_exact_and_all_else_says_what_to_install(papers: list[dict[str, Any]], tmp_path: Path) -> None:
    index = ["index", "p.jsonl", "--encoder", "vectors:v.npy", "-o"]
    similar = ["similar", "p0003", "--mode", "dense", "-k", "5", "-f", "json", "-i"]
    with_it = results("", [*index, "hnsw", "--dense", "hnsw"], [*similar, "hnsw"], [*index, "auto"])
    assert [code for code, _, _ in with_it] == [0, 0, 0]
    assert "building the ivf index" in with_it[2][2]
    (tmp_path / "x.faiss").write_bytes(b"")
    auto, flat, answer, again, *refused = results(
        WITHOUT_FAISS,
        [*index, "exact"],
        [*index, "flat", "--dense", "flat"],
        [*similar, "flat"],
        ["reindex", "-i", "hnsw", "--dense", "flat"],
        [*index, "new", "--dense", "ivf"],
        [*index, "new", "--dense", "IVF4,Flat"],
        ["index", "p.jsonl", "--encoder", "faiss:x.faiss", "-o", "new"],
        [*similar, "auto"],
        ["export", "-i", "flat", "-o", "y.faiss"],
        ["reindex", "-i", "flat", "--dense", "hnsw"],
    )
    assert (auto[0], flat[0], answer[0], again[0]) == (0, 0, 0, 0)
    assert "FAISS is not installed, so all vectors are searched exactly; pip install faiss-cpu, then" in auto[2]
    assert json.loads(answer[1])["hits"] == json.loads(with_it[1][1])["hits"]
    for code, out, err in refused:
        assert (code, out, err.splitlines()[-1].startswith(MISSING)) == (4, "", True), err
        assert "Traceback" not in err
    assert not (tmp_path / "new").exists()
    assert not (tmp_path / "y.faiss").exists()


def test_two_builds_of_faiss_are_told_apart_from_none(papers: list[dict[str, Any]], tmp_path: Path) -> None:
    second = FAISS_BUILDS[-1]
    installed = tmp_path / "site" / f"{second.replace('-', '_')}-1.14.3.dist-info"
    installed.mkdir(parents=True)
    (installed / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {second}\nVersion: 1.14.3\n")
    index = ["index", "p.jsonl", "--encoder", "vectors:v.npy", "-o"]
    exact, approximate = results("", [*index, "x", "--dense", "flat"], [*index, "y", "--dense", "hnsw"], path=str(tmp_path / "site"))
    assert exact[0] == 0
    assert approximate[0] == 4
    assert f"pip uninstall -y faiss-cpu {second} && pip install faiss-cpu" in approximate[2].splitlines()[-1]


def test_a_gpu_that_faiss_cannot_use_leaves_the_index_to_the_cpu(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    vectors = np.random.default_rng(0).standard_normal((400, 8), np.float32)
    before, after = tmp_path / "before.faiss", tmp_path / "after.faiss"
    assert build_ann(before, vectors, "IVF4,SQ8", "cosine")
    monkeypatch.setattr(load_faiss(), "get_num_gpus", lambda: 1)  # as a build for GPUs says; the one here has no code for any
    assert build_ann(after, vectors, "IVF4,SQ8", "cosine")
    assert after.read_bytes() == before.read_bytes()
    assert "FAISS cannot use this GPU, so it makes indexes on the CPU" in caplog.text

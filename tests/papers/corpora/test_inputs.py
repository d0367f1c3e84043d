"""Every input of `tests/papers/inputs`, whole and cut off: papers, rejected rows or one line of refusal come out, and nothing else."""

from pathlib import Path

import pytest

from sciretrieve.base.errors import SciretrieveError
from sciretrieve.papers.corpora import open_corpus
from tests.conftest import Effort

INPUTS = sorted((Path(__file__).parents[1] / "inputs").iterdir(), key=lambda path: path.name)
REFUSED = {"106-header-comma.csv", "107-dois-only.csv", "88-pubmed-abstract.txt"}
"""Those that say in one line why they are not read: no title is named, or they are printed for people."""


def is_read(path: Path) -> bool:
    """Whether a file is read; each of its papers has an id of its own and a text, and each of its rejected rows a reason."""
    ids: list[str] = []
    try:
        for batch in open_corpus(path).batches():
            rows = batch.papers.select(["id", "title", "abstract"]).to_pylist()
            assert all(row["id"] and (row["title"] or row["abstract"]) for row in rows)
            assert all(row.reason for row in batch.rejected)
            ids += [row["id"] for row in rows]
    except SciretrieveError as refusal:
        message = str(refusal)
    else:
        message = ""
    assert "\n" not in message
    assert len(set(ids)) == len(ids)
    return not message


@pytest.mark.parametrize("path", INPUTS, ids=lambda path: path.name)
def test_an_input_is_read_and_cut_off_it_is_no_fault_of_ours(path: Path, tmp_path: Path, effort: Effort) -> None:
    assert is_read(path) == (path.name not in REFUSED)
    data = path.read_bytes()
    for size in range(0, len(data), effort(len(data) // 3 + 7, 10)):
        (tmp_path / path.name).write_bytes(data[:size])
        is_read(tmp_path / path.name)

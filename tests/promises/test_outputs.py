"""What is written for a user appears whole, and takes its name at the end; nothing else is touched, by no command, in no module."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import sciretrieve as sr
from tests.command_line import sciretrieve
from tests.made_up import made_up_papers
from tests.promises.test_layers import tree

PACKAGE = Path(sr.__file__).parent
APART = {
    "files/writing.py": "where all others write",
    "answers/citing.py": "a bibliography that is made if it is missing",
    "service/rates.py": "counts that processes share, in a folder of their own",
    "files/streams.py": "into a folder of its own in the system's for such things",
    "papers/corpora/sampling.py": "the same",
    "papers/corpora/rejections.py": "a new file, which rows are added to",
    "evaluation/fetching.py": "a download that goes on where it broke off",
    "lifecycle/vector_files.py": "into a folder of work that goes on where it was interrupted",
    "storage/shards/filling.py": "the same",
    "training/learning/students/whole.py": "into a folder that gets its name at the end",
    "encoders/conversion.py": "the same",
    "matching/dense/unpacking.py": "to its standard output",
    "service/assistants/running.py": "the same",
    "papers/fulltext/bounded.py": "the same",
    "commands/full_texts.py": "the output of a process in the background",
}
"""Modules that write files by themselves, and what they write to."""


def written(tree: ast.AST) -> Iterator[str]:
    """The calls by which a module writes to files by their paths."""
    for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
        name = ast.unparse(call.func).rpartition(".")[2]
        texts = [str(part.value) for argument in call.args for part in ast.walk(argument) if isinstance(part, ast.Constant)]
        opens = name in ("open", "fdopen") and any(len(text) < 4 and set(text) & set("wax+") for text in texts)
        by_library = ast.unparse(call.func) in ("pq.write_table", "np.save", "torch.save") or name == "savefig"
        is_open = any(ast.unparse(argument) in ("file", "buffer") for argument in call.args)
        if opens or name in ("write_text", "write_bytes") or (by_library and not is_open):
            yield ast.unparse(call)


OUTPUTS = {
    "cite": ("cite", "p0001", "--append", "refs.bib"),
    "export of references": ("export", "-o", "papers.ris"),
    "export of papers": ("export", "-o", "papers.parquet"),
    "appended search": ("search", "graph", "--append", "refs.json"),
    "export of a table": ("export", "-o", "papers.csv"),
    "saved search": ("search", "graph", "--save", "mine"),
    "settings": ("config", "set", "k", "7"),
}
"""Commands that write files."""


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return sr.build(made_up_papers(12, seed=6), tmp_path_factory.mktemp("index") / "papers", encoder=None).path


@pytest.mark.parametrize("name", OUTPUTS)
def test_a_command_touches_nothing_but_its_output(name: str, index: Path, tmp_path: Path) -> None:
    """What the user has beside an output, and what a link under its name leads to, stays."""

    def run() -> set[Path]:
        before = set(tmp_path.rglob("*"))
        settings = {"SCIRETRIEVE_INDEX": str(index), "SCIRETRIEVE_DATA": "data", "SCIRETRIEVE_CONFIG": "config.toml"}
        result = sciretrieve(*OUTPUTS[name], **settings)
        assert result.returncode == 0, result.stderr
        return {path for path in set(tmp_path.rglob("*")) - before if path.is_file()}

    outputs = {path for path in run() if path.name != ".lock"}
    assert outputs
    own = {}
    for path in outputs:
        for other in (path.with_name(f"{path.name}.tmp"), path.with_name(f"{path.name}.partial"), path.with_name(f".{path.name}.tmp")):
            own[other] = other.name.encode()
        victim = path.with_name(f"victim of {path.name}")
        own[victim] = b"precious"
        path.unlink()
        if name not in ("export of references", "export of papers", "export of a table"):  # these go on with what is there
            continue
        path.symlink_to(victim)
    for other, data in own.items():
        other.write_bytes(data)
    assert run() <= outputs
    assert {other: other.read_bytes() for other in own} == own
    assert not any(path.is_symlink() for path in outputs)
    assert not [path for path in tmp_path.rglob("*") if path.name.startswith(".sciretrieve")]


def test_only_these_modules_write_files_by_themselves() -> None:
    found = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        if re.search(r"open\(|write_|savefig|save\(", text) and (calls := list(written(tree(path)))):
            found[path.relative_to(PACKAGE).as_posix()] = calls
    assert {name: calls for name, calls in found.items() if name not in APART} == {}

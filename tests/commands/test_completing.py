"""What shells complete, asked as they ask: by environment variables. Nothing is ever printed but what fits."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

import sciretrieve as sr
from sciretrieve.encoders.catalogue import CATALOGUE
from sciretrieve.evaluation import CATALOGUE as BENCHMARKS
from tests.command_line import Result, answer, sciretrieve
from tests.made_up import made_up_papers, write_jsonl
from tests.promises.test_light_imports import HEAVY, command, loaded_by


def asked(*words: str) -> Result:
    """What bash gets for the last of the words."""
    return sciretrieve(_SCIRETRIEVE_COMPLETE="complete_bash", COMP_WORDS=" ".join(["sciretrieve", *words]), COMP_CWORD=str(len(words)))


def offered(*words: str) -> list[str]:
    result = asked(*words)
    assert (result.returncode, result.stderr) == (0, "")
    return result.stdout.split()


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with an index of words, of 60 papers in three shards."""
    folder = tmp_path_factory.mktemp("completing")
    write_jsonl(folder / "papers.jsonl", made_up_papers(60))
    sr.build(folder / "papers.jsonl", folder / "made-up", encoder=None, shard_size=20)
    return folder


@pytest.fixture
def here(made: Path, tmp_path: Path) -> Path:
    """The same in `indexes` of the working directory."""
    shutil.copytree(made, tmp_path / "indexes")
    return tmp_path


def test_indexes_by_name_and_folders(here: Path) -> None:
    assert offered("search", "x", "-i", "m") == ["made-up"]
    assert offered("delete", "--index", "") == ["made-up", "indexes/"]
    assert offered("info", "-i", "indexes/") == ["indexes/made-up/"]
    (here / ".hidden").mkdir()
    assert offered("info", "-i", ".h") == [".hidden/"]


def test_ids_that_begin_so_but_not_those_of_deleted_papers(here: Path) -> None:
    assert offered("similar", "p001") == [f"p001{digit}" for digit in range(10)]
    assert offered("similar", "p0001", "p005") == [f"p005{digit}" for digit in range(10)]
    assert len(offered("search", "x", "--like", "")) == 50
    answer("delete", "p0013", "p0059")
    assert offered("why-not", "p001") == [f"p001{digit}" for digit in range(10) if digit != 3]
    assert offered("screen", "decide", "--include", "p002") == offered("cite", "p002") == [f"p002{digit}" for digit in range(10)]
    for words in (("similar", "-i", "made-up", "p004"), ("delete", "-i", "indexes/made-up", "p004")):
        assert offered(*words) == [f"p004{digit}" for digit in range(10)]


def test_columns_at_the_end_of_a_filter_or_a_list(here: Path) -> None:
    assert offered("search", "x", "--filter", "ye") == ["year"]
    assert offered("search", "x", "--filter", "year>2000&v") == ["year>2000&venue"]
    assert offered("search", "x", "--facets", "year,to") == ["year,topic"]
    assert offered("search", "x", "--fields", "id,ti") == ["id,title"]
    assert offered("search", "x", "--filter", "'venue == \"ye") == []


def test_names_of_catalogues_and_choices(here: Path) -> None:
    assert offered("index", "x", "--encoder", "specter2") == [name for name in CATALOGUE if name.startswith("specter2")]
    assert offered("index", "x", "--encoder", "mean:minilm+spec") == [f"mean:minilm+{n}" for n in CATALOGUE if n.startswith("spec")]
    assert offered("search", "x", "--rerank", "tok") == ["tokens"]
    assert offered("evaluate", "md") == [name for name in BENCHMARKS if name.startswith("md")]
    assert offered("index", "x", "--dense", "") == ["auto", "flat", "hnsw", "ivf", "rabitq", "none"]
    assert offered("search", "x", "-f", "j") == ["json", "jsonl"]
    assert offered("config", "set", "i") == ["index", "indexes"]
    assert offered("config", "set", "format", "t") == ["table", "tsv", "trec"]
    assert offered("config", "set", "index", "m") == ["made-up"]
    assert offered("sy") == ["sync"]


@pytest.mark.parametrize(
    "words",
    [
        ("similar", "-i", "nowhere", "p0"),
        ("search", "x", "-k", "3", "-k", "4", "--like", "q"),
        ("search", "x", "-k", "none", "--filter", "zz"),
        ("search", "x", "--filter", "'"),
        ("no-such-command", "x"),
        ("info", "-i", "no/such/folder/"),
    ],
)
def test_what_fails_completes_nothing_and_says_nothing(words: tuple[str, ...]) -> None:
    assert offered(*words) == []


def test_a_config_file_that_is_wrong_is_no_matter(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (here / "config.toml").write_text("k = ")
    monkeypatch.setenv("SCIRETRIEVE_CONFIG", str(here / "config.toml"))
    assert offered("similar", "p0") == []
    assert offered("search", "x", "-f", "ta") == ["table"]


def test_a_damaged_index_completes_nothing(here: Path) -> None:
    for file in (here / "indexes" / "made-up" / "shards").rglob("ids.arrow"):
        file.write_bytes(b"x")
    assert offered("similar", "p0") == []


def test_completion_loads_nothing_heavy(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("_SCIRETRIEVE_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", "sciretrieve similar p001")
    monkeypatch.setenv("COMP_CWORD", "2")
    assert not loaded_by(command()) & {*HEAVY, "faiss", "openvino", "tokenizers", "tqdm"}


@pytest.mark.parametrize(
    ("shell", "mark"), [("bash", "complete -o default -F"), ("zsh", "#compdef sciretrieve"), ("fish", "complete --command")]
)
def test_there_is_a_script_for_each_shell(shell: str, mark: str) -> None:
    script = answer(_SCIRETRIEVE_COMPLETE=f"source_{shell}")
    assert mark in script
    assert answer("--show-completion", shell, _TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION="1").strip() == script.strip()
    if program := shutil.which(shell):
        assert subprocess.run([program, "-n"], input=script, text=True, capture_output=True, check=False).returncode == 0

"""At home anywhere: the index that commands take, the list of them, settings as defaults, and the sections of --help."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.main import get_command

import sciretrieve as sr
from sciretrieve.commands.app import COMMANDS, RARE, app
from sciretrieve.commands.command import as_typed
from sciretrieve.commands.help import SETTINGS
from tests.command_line import answer, sciretrieve
from tests.made_up import made_up_papers, write_jsonl


@pytest.fixture(scope="session")
def acm_of_words(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An index of words, to be copied; it is of a file papers.jsonl in a folder acm."""
    folder = tmp_path_factory.mktemp("home") / "acm"
    folder.mkdir()
    write_jsonl(folder / "papers.jsonl", made_up_papers(30))
    return Path(sr.build(folder / "papers.jsonl", folder / "index", encoder=None).path)


@pytest.fixture
def acm(acm_of_words: Path, tmp_path: Path) -> Path:
    """An index of this test alone, in `indexes` of the working directory."""
    return Path(shutil.copytree(acm_of_words, Path("indexes") / "acm"))


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The config file of one test, which is not there yet."""
    path = tmp_path / "settings" / "config.toml"
    monkeypatch.setenv("SCIRETRIEVE_CONFIG", str(path))
    return path


def test_an_index_has_its_name_everywhere_below(acm: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = answer("search", "graph", "-i", acm)
    assert expected
    (tmp_path / "deep" / "er").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "deep" / "er")
    for given in ([], ["-i", "acm"], ["-i", tmp_path / acm]):
        assert answer("search", "graph", *given) == expected
    assert "did you mean acm?" in sciretrieve("evaluate", "beir:any", "-i", "acn").stderr
    result = sciretrieve("search", "graph", "-i", "acn")
    assert (result.returncode, result.stderr) == (2, "sciretrieve: there is no index at acn, and none has that name; did you mean acm?\n")


@pytest.mark.parametrize(
    "command", [("delete", "p0001"), ("merge",), ("reindex", "--set", "k1=1"), ("verify", "--repair"), ("add", "more.jsonl"), ("info",)]
)
def test_what_changes_an_index_says_which_it_takes(acm: Path, command: tuple[str, ...]) -> None:
    write_jsonl(Path("more.jsonl"), made_up_papers(31)[30:])
    result = sciretrieve(*command)
    assert result.returncode == 0, result.stderr
    said = "the index is indexes/acm (the one built last in indexes)\n"
    assert result.stderr.startswith(said) == (command != ("info",))
    assert "the index is" not in sciretrieve(*command, "-i", acm).stderr


def test_indexes_lists_what_there_is(acm: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    broken = Path(shutil.copytree(acm, tmp_path / "elsewhere" / "hepth"))
    (broken / "manifest.json").write_text("{}")
    Path("indexes/begun").mkdir()
    Path("indexes/begun/pending.json").write_text("{}")
    monkeypatch.setenv("SCIRETRIEVE_INDEXES", str(tmp_path / "elsewhere"))
    value = json.loads(answer("info", "indexes", "-f", "json"))
    assert value["default"] == "indexes/acm"
    rows = {row["name"]: row for row in value["indexes"]}
    assert {name: (row["state"], row["default"]) for name, row in rows.items()} == {
        "acm": ("ready", True),
        "begun": ("unfinished", False),
        "hepth": ("damaged", False),
    }
    assert (rows["acm"]["papers"], rows["acm"]["modes"], rows["acm"]["encoder"]) == (30, ["bm25"], None)
    lines = answer("info", "indexes").splitlines()
    assert re.fullmatch(r"\* acm +30 papers +bm25 +\d{4}-\d\d-\d\d +[\d.]+ kB", lines[0])
    assert lines[1] == "    indexes/acm"
    assert lines[-1] == "* is taken without -i: the one built last in indexes"
    assert any(line.startswith(f"    {broken}: ") and "damaged" in line for line in lines)


def test_indexes_without_any_says_what_to_do() -> None:
    assert answer("info", "indexes").startswith("there is no index in ./indexes")
    assert json.loads(answer("info", "indexes", "-f", "json")) == {"schema": 1, "default": None, "indexes": []}


@pytest.mark.parametrize(
    ("source", "name"),
    [
        ("acm/corpus.jsonl", "acm"),
        ("acm/data/papers.jsonl", "acm"),
        ("acm/2024.jsonl", "2024"),
        ("papers.jsonl", "papers"),
        ("data/papers.jsonl", "papers"),
        ("acm/corpus", "acm"),
    ],
)
def test_an_index_is_called_after_what_tells_a_corpus_from_others(tmp_path: Path, source: str, name: str) -> None:
    path = Path(source)
    file = path if path.suffix else path / "a.jsonl"
    file.parent.mkdir(parents=True, exist_ok=True)
    write_jsonl(file, made_up_papers(3))
    result = sciretrieve("index", path, "--dense", "none")
    assert result.returncode == 0, result.stderr
    assert Path("indexes", name, "manifest.json").exists()


def test_another_corpus_of_the_same_name_replaces_nothing(tmp_path: Path) -> None:
    papers = made_up_papers(8)
    write_jsonl(Path("papers.jsonl"), papers[:5])
    answer("index", "papers.jsonl", "--dense", "none", "-q")
    write_jsonl(Path("papers.ndjson"), papers[5:])
    for command in (("index", "papers.ndjson", "--dense", "none"), ("sync", "papers.ndjson")):
        result = sciretrieve(*command)
        assert result.returncode == 2
        assert "indexes/papers" in result.stderr
    assert len(sr.open("indexes/papers")) == 5
    assert answer("sync", "papers.jsonl", "-f", "json")
    answer("sync", "papers.ndjson", "-i", "papers", "--allow-deletions")
    assert len(sr.open("indexes/papers")) == 3


def test_settings_are_defaults_of_options(acm: Path, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for key, value in (("k", "2"), ("format", "json"), ("encoder", "specter2")):
        answer("config", "set", key, value)
    assert len(json.loads(answer("search", "graph"))["hits"]) == 2
    assert len(json.loads(answer("search", "graph", "-k", "3"))["hits"]) == 3
    assert len(json.loads(answer("similar", "p0001", SCIRETRIEVE_K="1"))["hits"]) == 1
    result = sciretrieve("index", write_jsonl(Path("a.jsonl"), made_up_papers(3)), SCIRETRIEVE_ENCODER="minlm")
    assert "unknown encoder 'minlm'" in result.stderr
    assert answer("search", "graph", "-f", "csv").startswith("rank,")
    file.write_text("k = 3\nformat = 'xml'\n")
    assert sciretrieve("search", "graph").stderr.startswith(f"sciretrieve: {file}, line 2: unknown format 'xml'; ")


def test_config_shows_where_each_setting_comes_from(file: Path) -> None:
    assert answer("config", "path") == f"{file}\n"
    assert "which does not exist yet" in answer("config")
    answer("config", "set", "k", "20")
    settings = json.loads(answer("config", "-f", "json", SCIRETRIEVE_FORMAT="csv"))["settings"]
    assert settings["k"] == {"value": 20, "origin": "file", "place": f"{file}, line 1", "variable": "SCIRETRIEVE_K"}
    assert (settings["format"]["origin"], settings["encoder"]["origin"]) == ("environment", "default")
    assert f"k         20  ({file}, line 1)" in answer("config")
    assert "comes before it" in sciretrieve("config", "set", "k", "3", SCIRETRIEVE_K="4").stderr
    answer("config", "unset", "k")
    assert file.read_text() == ""


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (("set", "kk", "3"), "unknown setting 'kk'; did you mean 'k'?"),
        (("set", "k", "0"), "k is a whole number from 1, not 0"),
        (("set", "k", "1", "2"), "k takes one value, not 2"),
        (("set", "encoder", "minlm"), "unknown encoder 'minlm'; did you mean 'minilm'"),
        (("set", "index", "nowhere"), "there is no index at nowhere"),
        (("set", "index", "./nowhere/at/all"), "there is no index at nowhere/at/all"),
        (("set", "indexes", "nowhere"), "there is no folder nowhere"),
        (("unset", "k"), "k is not set in"),
        (("unset", "kk"), "unknown setting 'kk'"),
    ],
)
def test_what_cannot_be_set_is_an_error_and_changes_nothing(file: Path, words: tuple[str, ...], reason: str) -> None:
    result = sciretrieve("config", *words)
    assert result.returncode == 2
    assert result.stderr.startswith(f"sciretrieve: {reason}")
    assert result.stderr.count("\n") == 1
    assert not file.exists()


def test_a_default_index_is_set_by_name_and_found_from_anywhere(
    acm: Path, file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer("config", "set", "index", "acm")
    answer("config", "set", "indexes", "indexes")
    (tmp_path / "away").mkdir()
    monkeypatch.chdir(tmp_path / "away")
    monkeypatch.setattr(Path, "home", lambda: tmp_path / "away")
    assert answer("search", "graph") == answer("search", "graph", "-i", tmp_path / acm) == answer("search", "graph", "-i", "acm")


def test_a_file_that_is_wrong_is_mended_in_an_editor(file: Path, tmp_path: Path) -> None:
    editor = tmp_path / "editor"
    editor.write_text("#!/bin/sh\nprintf 'k = 3\\nx = 1\\n' > \"$1\"\n")
    editor.chmod(0o755)
    result = sciretrieve("config", "edit", EDITOR=str(editor), VISUAL="")
    assert (result.returncode, result.stderr) == (
        2,
        f"sciretrieve: {file}, line 2: unknown setting 'x'; there are: cache, data, encoder, format, index, indexes, k, models\n",
    )
    for words in (("config",), ("config", "set", "k", "4"), ("search", "x")):
        assert sciretrieve(*words).stderr.startswith(f"sciretrieve: {file}, line 2: "), words
    assert answer("config", "path")
    editor.write_text("#!/bin/sh\nprintf 'k = 3\\n' > \"$1\"\n")
    answer("config", "edit", EDITOR=str(editor), VISUAL="")
    assert answer("config", "edit", EDITOR="true", VISUAL="") == ""
    assert sciretrieve("config", "edit", EDITOR="no-such-editor", VISUAL="").returncode == 4


def test_a_linked_file_stays_a_link(file: Path, tmp_path: Path) -> None:
    file.parent.mkdir()
    (tmp_path / "dotfiles.toml").write_text("# mine\n")
    file.symlink_to(tmp_path / "dotfiles.toml")
    answer("config", "set", "k", "4")
    assert file.is_symlink()
    assert (tmp_path / "dotfiles.toml").read_text() == "# mine\nk = 4\n"


def sections(text: str) -> Iterator[tuple[str, list[str]]]:
    """The sections of a help page, with the names in each."""
    for title, rows in re.findall(r"^(\S.*):\n((?:  .*\n)+)", text, re.MULTILINE):
        yield title, re.findall(r"^  ([\w-]+)  ", rows, re.MULTILINE)


def test_help_has_a_section_for_each_thing_that_people_do() -> None:
    page, whole = answer("--help", COLUMNS="80"), answer("--help-all", COLUMNS="80")
    expected = {title: [name for name in rows if " " not in name] for title, rows in COMMANDS.items()}
    assert {title: names for title, names in sections(whole) if "ptions" not in title} == expected
    everyday = [name for title, names in sections(page) if title != "Options" for name in names]
    assert everyday == [name for names in expected.values() for name in names if name not in RARE]
    assert len(everyday) <= 20
    for text in (page, whole):
        assert all(len(line) <= 80 for line in text.splitlines())
        assert "..." not in text.split("Options:")[1], "nothing is cut off"
        assert "\x1b" not in text


@pytest.mark.parametrize(
    ("typed", "hint"),
    [
        (("graph neural nets",), "No such command 'graph neural nets'; to search, write: sciretrieve search 'graph neural nets'"),
        (("find", "graph nets"), "No such command 'find'; to search, write: sciretrieve search 'graph nets'"),
        (("serach", "x"), "No such command 'serach'; did you mean search?"),
        (("search", "x", "--year", "2018"), "No such option: --year (Possible options: --filter, --since, --until)"),
        (("search", "x", "--top", "5"), "No such option: --top (Possible options: -n)"),
        (("search", "x", "--format", "bib"), "Invalid value for '--format' / '-f': 'bib' is not one of 'table', "),
        (("strategy", "x"), "No such command 'x'."),
        (("search", "x", "--from", "2018"), "No such option: --from (Possible options: --since)"),
        (("forget",), "No such command 'forget'; did you mean news forget?"),
        (("info", "--health"), "there is no option --health; write sciretrieve info health"),
        (("evaluate", "mdcr", "--run", "r"), "there is no option --run; write sciretrieve evaluate run"),
        (("index", "x", "--late"), "there is no option --late; write --set late=true"),
        (("index", "x", "--no-late"), "there is no option --no-late; write --set late=false"),
        (("index", "x", "--k1", "2"), "there is no option --k1; write --set k1=…"),
    ],
)
def test_a_slip_is_told_what_to_type(typed: tuple[str, ...], hint: str) -> None:
    result = sciretrieve(*typed)
    assert (result.returncode, result.stdout) == (2, "")
    assert hint in result.stderr


def test_the_first_help_has_everyday_options_and_the_whole_one_the_others() -> None:
    first, whole = answer("search", "--help", COLUMNS="80"), answer("search", "--help-all", COLUMNS="80")
    assert [title for title, _ in sections(first)] == ["Arguments", "Options"]
    assert [title for title, _ in sections(whole)] == ["Arguments", "Options", "More options", SETTINGS]
    assert "--filter" in first
    assert "--ray" not in first
    assert whole.index("--filter") < whole.index("More options:") < whole.index("--ray") < whole.index("  alpha")


def test_the_programs_own_options_stand_anywhere(index: sr.Index) -> None:
    for words in (("-q", "search", "of"), ("search", "-q", "of"), ("search", "of", "--quiet")):
        assert sciretrieve(*words, "-i", index.path).stderr == ""


def test_options_before_a_command_of_a_family_are_not_lost(index: sr.Index) -> None:
    result = sciretrieve("info", "-i", index.path, "log")
    assert result.returncode == 2
    assert "write: sciretrieve info log --index …" in result.stderr
    assert "generation  when" in answer("info", "log", "-i", index.path)
    assert str(index.path) in answer("info", "-i", index.path)


@pytest.mark.parametrize(
    ("message", "typed"),
    [
        ("leave out `alpha`", "leave out --set alpha"),
        ("leave out `k1`, or say `metric='cosine'`", "leave out --set k1, or say --set metric=cosine"),
        ("name the `title`", "name the --columns title"),
        ("with `dense='hnsw'`", "with --dense hnsw"),
        ("leave out `lexical=None`", "leave out --set lexical=false"),
        ("try `late=True`", "try --set late=true"),
        ("`diversify` needs vectors", "--diversify needs vectors"),
        ("`sciretrieve verify`, `nothing` and a title", "`sciretrieve verify`, `nothing` and a title"),
    ],
)
def test_errors_name_options_as_they_are_typed(message: str, typed: str) -> None:
    commands = get_command(app).commands  # type: ignore[attr-defined]
    assert as_typed(message, commands["search" if "diversify" in typed or "alpha" in typed else "index"]) == typed

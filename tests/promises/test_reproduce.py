"""docs/reproduce.md has every table of results of the five papers, its commands can be typed, and its figures are the papers'."""

import re
import shlex
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import typer.main

from sciretrieve.commands.app import app
from sciretrieve.encoders.catalogue import CATALOGUE as ENCODERS
from sciretrieve.evaluation import find_benchmark
from sciretrieve.evaluation.benchmark_catalogue import SUITES
from sciretrieve.evaluation.matrix import read_plan
from sciretrieve.options import Bm25Parameters
from sciretrieve.training import PRESETS, read_configs
from sciretrieve.training.forms import HEADERS
from tests.evaluation.test_published import PAPERS, name_of, stored, stored_lines
from tests.made_up import shared

DOCS = Path(__file__).parents[2] / "docs"
PAGE, STUDIES = (DOCS / "reproduce.md").read_text(encoding="utf-8"), DOCS / "studies"
RESULTS = {
    "SciRepEval": ["2", "3", "4", "5", "7", "8", "10", "11"],
    "SciRepEval's first version": ["2", "3", "4", "5", "7", "9"],
    "SciMult": ["3", "4", "5", "6", "7", "8", "9", "A3", "A4", "A5", "A6", "A7", "A8"],
    "Singh and Singh 2022": ["3", "4", "5", "6", "9"],
    "Multi2SPE": ["1", "2", "3", "4"],
}
"""The tables of results of each paper."""
OTHERS = {
    "SciRepEval": ["1", "6", "9"],
    "SciRepEval's first version": ["1", "6", "8"],
    "SciMult": ["1", "2", "A1", "A2"],
    "Singh and Singh 2022": ["1", "2", "7", "8"],
    "Multi2SPE": ["5"],
}
"""Their other tables: tasks, instructions, sizes, fields, examples, models."""
CAPTION_LOST = {("SciMult", "5")}
"""A table whose caption the text at hand lost."""


def sections() -> dict[tuple[str, str], str]:
    """Paper and number of each table -> what the page says of it."""
    found = {}
    for paper, text in re.findall(r"^## (.+?)\n(.*?)(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL):
        for number, section in re.findall(r"^### Table (A?\d+): (.*?)(?=^### |\Z)", text, re.MULTILINE | re.DOTALL):
            assert (paper, number) not in found
            found[paper, number] = section
    return found


def blocks(language: str) -> list[str]:
    """The blocks of a language, "" for commands."""
    return [text for name, text in re.findall(r"^```(\w*)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL) if name == language]


def commands() -> list[list[str]]:
    """The words of every command on the page, in blocks and in lines."""
    lines = [line for block in blocks("") for line in block.splitlines()]
    lines += re.findall(r"`(sciretrieve [^`]+)`", PAGE)
    assert all(line.startswith("sciretrieve ") for line in lines)
    return [shlex.split(line, comments=True)[1:] for line in lines]


@cache
def trained_by_studies() -> set[str]:
    """The folders that the studies write, from where they are run."""
    configs = [config for path in STUDIES.iterdir() for config in read_configs(path)]
    return {config.output.relative_to(STUDIES).as_posix() for config in configs if config.output}


@cache
def root() -> Any:
    """The command `sciretrieve`."""
    return typer.main.get_command(app)


def expected() -> list[tuple[tuple[str, str], str, list[str]]]:
    """Table, what its line begins with, and numbers of that line, as the page expects them."""
    found = []
    for key, section in sections().items():
        for items in re.findall(r"^Expect: (.*?)(?:\. |\.?$)", section.replace("\n", " ").replace(" Expect:", "\nExpect:"), re.MULTILINE):
            for item in items.split("; "):
                name, _, figures = item.partition(": ")
                found.append((key, name, re.findall(r"(?<![\w.])[-+]?\d+(?:\.\d+)?(?=[x%]?(?:,|$| ))", re.sub(r"\(.*?\)", "", figures))))
    return found


def test_every_table_of_results_has_its_section() -> None:
    assert list(sections()) == [(paper, number) for paper, numbers in RESULTS.items() for number in numbers]
    assert f"have {len(sections())} tables of results" in PAGE


@pytest.mark.parametrize("paper", RESULTS)
def test_no_table_of_the_papers_is_forgotten(paper: str) -> None:
    text = shared("..", "papers", PAPERS[paper]).read_text(encoding="utf-8")
    captions = set(re.findall(r"^Table (A?\d+):", text, re.MULTILINE))
    lost = {number for other, number in CAPTION_LOST if other == paper}
    assert captions | lost == {*RESULTS[paper], *OTHERS[paper]}
    assert not set(RESULTS[paper]) & set(OTHERS[paper])


@pytest.mark.parametrize("key", sections(), ids=" ".join)
def test_a_table_has_a_command_and_a_figure_to_expect_or_a_reason(key: tuple[str, str]) -> None:
    section = sections()[key]
    if "Not reproducible" not in section:
        assert "```\nsciretrieve " in section
        assert any(table == key for table, _, _ in expected())


@pytest.mark.parametrize("words", commands(), ids=" ".join)
def test_a_command_can_be_typed(words: list[str]) -> None:
    command, rest = root(), list(words)
    while rest and rest[0] in getattr(command, "commands", {}):
        command = command.commands[rest.pop(0)]
    given = command.make_context(command.name, rest).params
    for name in (given.get("benchmark"), given.get("name") if words[0] == "benchmarks" else None):
        assert name is None or name in SUITES or name in HEADERS or find_benchmark(name)
    encoder = given.get("encoder") or (given.get("name") if words[0] == "encoders" else None)
    for name in re.sub(r"^(mean|concat):", "", encoder or "").split("+"):
        assert name in {"", "NAME", *ENCODERS} or name in trained_by_studies()
    if words[0] == "train" and words[1:2] != ["build"]:
        assert all((STUDIES / name).is_file() for name in words[1:])


@pytest.mark.parametrize("text", blocks("toml"))
def test_a_matrix_can_be_read(text: str, tmp_path: Path) -> None:
    (tmp_path / "plan.toml").write_text(text, encoding="utf-8")
    for planned in read_plan(tmp_path / "plan.toml", "cache").values():
        assert planned.request.encoder in ENCODERS
        assert find_benchmark(planned.request.benchmark)


def test_expected_figures_are_those_of_the_papers() -> None:
    """Each is in the line that it names, in the order of the line."""
    tables = stored()
    for key, name, figures in sorted(expected(), key=lambda item: item[0] not in tables):  # what needs no text of a paper first
        assert figures, (key, name)
        if key in tables:
            lines = [tuple(cell.rstrip("Mx") for cell in cells) for printed, cells in stored_lines(tables[key]) if printed == name_of(name)]
        else:
            text = shared("..", "papers", PAPERS[key[0]]).read_text(encoding="utf-8")
            rows = [line.split("\t") for line in text.splitlines()]
            starts = [(row, at) for row in rows for at, cell in enumerate(row) if name_of(cell) == name_of(name)]
            lines = [tuple(re.findall(r"[-+]?\d+(?:\.\d+)?", " ".join(row[at + 1 :]))) for row, at in starts]
        assert any(is_within(figures, cells) for cells in lines), (key, name, figures)


def test_singh_and_singhs_scibert_is_the_cased_one() -> None:
    """Their scripts/corrupt_and_encode.py loads allenai/scibert_scivocab_cased."""
    encoders = [words[words.index("--encoder") + 1] for words in commands() if "data/singh/" in " ".join(words)]
    assert set(encoders) == {"specter", "scibert-cased"}
    assert ENCODERS["scibert-cased"].parts["base"].source == "allenai/scibert_scivocab_cased"


def test_what_differs_from_the_authors_scripts_is_not_to_be_expected() -> None:
    """Their T_A_WS repeats text, see robustness.md, so the category that it is in does not compare."""
    study = (Path(__file__).parents[2] / "docs" / "robustness.md").read_text(encoding="utf-8")
    assert "repeats stretches of the text" in study
    for number, figure in (("4", "71.0"), ("5", "86.77")):
        assert "Not LL-HS" in sections()["Singh and Singh 2022", number]
        assert not any(figure in figures for key, _, figures in expected() if key == ("Singh and Singh 2022", number))


def test_the_bm25_of_pmc_patients_is_said_with_its_parameters() -> None:
    """Elasticsearch's defaults, with which its authors' code indexes; a title's words count three times."""
    assert f"k1 {Bm25Parameters().k1} and b {Bm25Parameters().b}, which are ours, too" in sections()["SciMult", "6"].replace("\n", " ")
    assert "title^3" in sections()["SciMult", "6"]


def test_what_trainings_cost_follows_from_what_the_table_says() -> None:
    """Hours are operations over what the text says of each GPU."""
    costs = re.findall(r"^- (`--like \S+`|\[\S+\))(?:, (\d+) trainings)?(?:, .*?)?: ([\d.]+), ([\d.]+)$", PAGE, re.MULTILINE)
    assert "at 40 % of 989" in PAGE
    for row in costs:
        assert float(row[3]) == pytest.approx(float(row[2]) * 1e6 / (989 * 0.4 * 3600), rel=0.05), row
    for text, factor in (("A100 (40 % of 312) takes 3.2", 3.2 * 312 * 0.4), ("RTX 8000 (30 % of 130,\n  fp16) 10 times", 10 * 130 * 0.3)):
        assert text in PAGE
        assert factor == pytest.approx(989 * 0.4, rel=0.05)
    names = [row[0].strip("`").removeprefix("--like ") for row in costs if row[0].startswith("`")]
    assert set(names) == {name for name in PRESETS if name != "own" and not name.endswith("-code")}
    studies = {re.findall(r"\(studies/(.*?)\)", row[0])[0]: row for row in costs if row[0].startswith("[")}
    assert studies.keys() == {path.name for path in STUDIES.iterdir()}
    for name, row in studies.items():
        assert int(row[1]) == len(read_configs(STUDIES / name))


def is_within(figures: list[str], cells: tuple[str, ...]) -> bool:
    """Whether the figures are among the cells, in this order."""
    rest = iter(cells)
    return all(figure in rest for figure in figures)

"""Published figures against the tables in the papers' texts, where ../shared/papers has them: every line, digit by digit."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from itertools import groupby
from typing import TypeAlias

import pytest

from sciretrieve.evaluation.benchmark_catalogue import CATALOGUE, SUITES
from sciretrieve.evaluation.costs import COLUMNS
from sciretrieve.evaluation.published import PUBLISHED, TABLES, Table
from sciretrieve.evaluation.suites import SuiteReport
from tests.made_up import shared

Key: TypeAlias = tuple[str, str]
"""A paper and the number of its table."""
Line: TypeAlias = tuple[str, tuple[str, ...]]
"""What a line of a table begins with, letters and digits alone, and its cells: numbers as printed, and - for none."""

PAPERS = {
    "SciRepEval": "000_2c2dc1e49e047b29.txt",
    "SciRepEval's first version": "001_faafc7ea0c04002b.txt",
    "SciMult": "002_96a927d109f7de53.txt",
    "Singh and Singh 2022": "003_4686008c48f9ce89.txt",
    "Multi2SPE": "004_581fc9b1d0b2fb64.txt",
}
UNCHECKED = {"SPECTER's README", "SciNCL's README", "MDCR's README", "SPECTER2's README", "Anserini PR #1860"}
"""Sources that are none of these papers."""
CAPTIONS_ABOVE = "SciRepEval's first version"
"""The paper whose captions stand above their tables."""
BESIDE = {("SciMult", "5"): "4"}
"""A table whose caption the text lost: in print it stands beside another, whose caption took it in."""
RUN_TOGETHER = ("SciMult", "6")
"""The text has the second half of this table as columns."""

REPEATED = "another table has it, or another part of this one"
LEFT_OUT = {
    ("SciRepEval", "10", "Avg"): REPEATED,
    **{("SciMult", "A8", f"{name}NameDefinition"): REPEATED for name in ("SPECTER20", "SciMultMHAExpert")},
    **{("Multi2SPE", number, "Multi2SPE3CLSλ01"): REPEATED for number in ("2", "3")},
    ("Multi2SPE", "4", "SPECTER*"): "of its own paper; SciMult's Tables 4 and 7 have it",
    ("Multi2SPE", "4", "SciNCL*"): "of its own paper; SciMult's Tables 4 and 7 have it",
    ("Multi2SPE", "4", "3CLSλ01"): REPEATED,
}
"""Lines of a table that are not stored, and why."""


def stored() -> dict[Key, list[Table]]:
    """The parts of each table that is in a paper."""
    return {
        key: list(parts) for key, parts in groupby((table for table in TABLES if table.paper), lambda table: (table.paper, table.number))
    }


def stored_lines(parts: list[Table]) -> list[Line]:
    """The lines of a table as stored, once if they stand for several benchmarks."""
    texts = dict.fromkeys(part.text for part in parts)
    first = [next(part for part in parts if part.text == text) for text in texts]
    return [(name_of(printed), tuple(cells)) for part in first for printed, _, cells in part.lines]


@cache
def printed_lines(paper: str, number: str) -> list[Line]:
    """The lines between a table's caption and the next one; of tables side by side first all lines of the left one."""
    text = shared("..", "papers", PAPERS[paper]).read_text(encoding="utf-8").splitlines()
    captions = {match[1]: at for at, line in enumerate(text) if (match := re.match(r"Table (A?\d+):", line))}
    caption = captions[BESIDE.get((paper, number), number)]
    if paper == CAPTIONS_ABOVE:
        region = text[caption + 1 : min((at for at in captions.values() if at > caption), default=len(text))]
    else:
        region = text[max((at + 1 for at in captions.values() if at < caption), default=0) : caption]
    lines = [list(parts_of(line.split("\t"))) for line in region if "\t" in line]
    return [line[at] for at in range(max(map(len, lines))) for line in lines if at < len(line)]


def parts_of(cells: list[str]) -> Iterator[Line]:
    """The parts of a line of tables side by side: words that follow numbers begin the next table's."""
    while cells:
        name, *rest = cells
        count = next((at for at, cell in enumerate(rest) if number_in(cell) is None), len(rest))
        yield name_of(name), tuple(number_in(cell) or "" for cell in rest[:count])
        cells = rest[count:]


def plain(cell: str) -> str:
    """A cell without citations, and without what sets it: LaTeX, HTML, stars, daggers."""
    latex = r"\\(begin|end)\{(array|bmatrix)\}(\{\w+\})?|\\(bar|dagger|rightarrow)|[\\${}^]"
    text = re.sub(rf"{latex}|</?\w+>|[*†‡→]", " ", cell.replace(r"\lambda", "λ").replace("²", "2"))
    return re.sub(r"\((?=[^()]*\b(19|20)\d\d\b)[^()]*\)", "", text).strip()


def name_of(cell: str) -> str:
    """Letters and digits alone, and a star at the end, which is a note and not part of what sets a name in italics."""
    return re.sub(r"[\W_]", "", plain(cell)) + ("*" if re.fullmatch(r"[^*]+\*", cell.strip()) else "")


def number_in(cell: str) -> str | None:
    """The number of a cell, with its unit if that is M or x, - if it is empty, None if it has none.

    A deviation or change may follow; a change alone is no number.
    """
    text = plain(cell)
    match = re.match(r"\d{1,3}(\.\d+)?[Mx]?(?= |$)", text)
    return "-" if text in ("", "-") else match[0] if match else None


def of_width(line: Line, width: int) -> Line | None:
    """A line of so many cells; None if it is another table's. Cells of a table beside it may follow, after an empty one."""
    name, cells = line
    fits = name and any(cell != "-" for cell in cells[:width]) and len(cells) >= width and cells[width : width + 1] in ((), ("-",))
    return (name, cells[:width]) if fits else None


def differences(key: Key, parts: list[Table]) -> list[str]:
    """The stored lines that the paper does not have in this order, and the paper's that are neither stored nor left out for a reason."""
    widths = {len(part.columns) for part in parts}
    printed = [fitted for line in printed_lines(*key) for width in sorted(widths) if (fitted := of_width(line, width))]
    at, wrong = 0, []
    for line in stored_lines(parts):
        if line in printed[at:]:
            at = printed.index(line, at) + 1
        else:
            wrong.append(f"not in the paper: {line}")
    unstored = Counter(printed) - Counter(stored_lines(parts))
    return wrong + [f"not stored: {line}" for line in unstored if (*key, line[0]) not in LEFT_OUT]


@pytest.mark.parametrize("key", stored(), ids=" ".join)
def test_a_table_is_that_of_the_paper(key: Key) -> None:
    parts = stored()[key]
    if key == RUN_TOGETHER:
        parts = parts[:1]
    assert not differences(key, parts)


def test_the_half_of_a_table_that_the_text_has_as_columns_is_that_of_the_paper() -> None:
    """Its last line has all names, and then each column as a measure and all of its numbers."""
    _, part = stored()[RUN_TOGETHER]
    text = shared("..", "papers", PAPERS[RUN_TOGETHER[0]]).read_text(encoding="utf-8")
    names, *columns = re.findall(r"^Patient-to-Patient Retrieval DPR.*$", text, re.MULTILINE)[-1].split("\t")
    lines = list(part.lines)
    assert name_of(names) == "".join(["PatienttoPatientRetrieval", *(name_of(printed) for printed, _, _ in lines)])
    printed = [plain(column).split() for column in columns]
    assert [numbers for _, *numbers in printed] == [[cells[at] for _, _, cells in lines] for at in range(4)]
    assert [measure for measure, *_ in printed] == ["MRR", "P@10", "nDCG@10", "R@1K"]


def test_every_figure_is_one_that_a_report_has() -> None:
    for name, rows in PUBLISHED.items():
        measures = {measure for row in rows for _, measure in row.values}
        if name in SUITES:
            suite = SUITES[name]
            assert measures <= set(SuiteReport(suite, "", [(figure, 50.0) for figure in suite.figures], [], [], {}).averages), name
        elif name == "cost":
            assert measures == set(COLUMNS)
        elif name != "robustness":
            protocol = CATALOGUE[name].protocol
            assert measures <= {*protocol.measures, *(["mean"] if protocol.average == "figures" else [])}, name


def test_every_source_is_checked_or_named_as_unchecked() -> None:
    assert {table.paper for table in TABLES if table.paper} == set(PAPERS)
    assert {table.number for table in TABLES if not table.paper} == UNCHECKED
    keys = [key for key, _ in groupby(TABLES, lambda table: (table.paper, table.number))]
    assert len(keys) == len(set(keys)), "the parts of a table stand apart"

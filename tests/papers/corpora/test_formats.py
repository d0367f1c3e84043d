"""The table of forms that are read is true to the formats and to the inputs."""

import re
from pathlib import Path

from sciretrieve.papers.corpora.dialects import DIALECTS
from sciretrieve.papers.corpora.formats import FORMATS

PAGE = (Path(__file__).parents[3] / "docs" / "formats.md").read_text(encoding="utf-8")
INPUTS = {int(match[0]) for path in (Path(__file__).parents[1] / "inputs").iterdir() if (match := re.match(r"\d+", path.name))}


def test_each_format_and_dialect_is_in_the_table() -> None:
    names = [*(format.name for format in FORMATS), *(dialect.name for dialect in DIALECTS)]
    words = {word for name in names for word in re.split(r" XML| or | \.|'s (?:items)?|, ", name) if word}
    assert {word for word in words if word not in PAGE} == set()


def test_each_input_is_in_the_table_and_there() -> None:
    named = set[int]()
    for cell in re.findall(r"\| ([\d ,–]+) \|$|\((\d+)\)", PAGE, re.MULTILINE):
        for first, last in re.findall(r"(\d+)(?:–(\d+))?", "".join(cell)):
            named |= {int(first)} | (set(range(int(first), int(last or first) + 1)) & INPUTS)
    assert named == INPUTS

"""The documents' table of presets is the code's, and every method can be trained, is described and has a paper's or our own figures."""

from __future__ import annotations

import re
from pathlib import Path
from typing import get_args

from sciretrieve.base.choices import Method
from sciretrieve.training import PRESETS
from sciretrieve.training.learning.students import STUDENTS
from sciretrieve.training.train import METHODS

PAGE = Path(__file__).parents[2] / "docs" / "training.md"


def test_the_table_of_presets_is_the_codes() -> None:
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in PAGE.read_text(encoding="utf-8").splitlines() if "|" in line]
    documented = {row[0].strip("`"): row[1:] for row in rows if len(row) == 9 and row[0].startswith("`") and row[0] != "`--like`"}
    assert documented == {
        name: [
            plan.base,
            plan.method,
            plan.loss,
            re.sub(r"e-0", "e-", f"{plan.rate:.0e}"),
            plan.schedule,
            f"{plan.warmup:,.0f}" if plan.warmup >= 1 else f"{plan.warmup:.0%}".replace("%", " %"),
            f"{plan.batch:,}",
            str(plan.epochs),
        ]
        for name, plan in PRESETS.items()
    }


def test_every_method_is_there_for_all() -> None:
    assert set(get_args(Method)) == set(STUDENTS) == set(METHODS) == {plan.method for plan in PRESETS.values()}
    page = PAGE.read_text(encoding="utf-8")
    assert all(f"`{method}`" in page for method in STUDENTS)

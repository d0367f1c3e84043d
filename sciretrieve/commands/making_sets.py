"""The training sets of `sciretrieve benchmarks build`: triplets, pairs, labels, targets."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ..errors import InvalidRequest
from ..options import ColumnMap
from .console import Console
from .parameters import chosen_index

if TYPE_CHECKING:
    from ..evaluation.builders import CiteSettings
    from ..training import Mining

FORMS = ("triplets", "pairs", "labels", "targets")
RANKS = "1-100"


class Asked(NamedTuple):
    """What is asked of a training set alone, as it was typed."""

    recipe: str | None
    column: str | None
    shares: str | None
    mine: str | None
    ranks: str


def build_set(
    form: str,
    source: list[str],
    to: Path,
    asked: Asked,
    settings: CiteSettings,
    without: Sequence[str],
    columns: ColumnMap,
    console: Console,
) -> None:
    """Make a training set. Raises as the library does, and InvalidRequest for options of another form."""
    from .. import training

    recipes = {
        "triplets": training.RECIPES,
        "pairs": training.PAIR_RECIPES,
        "labels": training.LABEL_RECIPES,
        "targets": training.TARGET_RECIPES,
    }
    if asked.recipe is None:
        raise InvalidRequest(f"name how {form} are drawn with --recipe: {', '.join(recipes[form])}")
    if asked.shares and form != "triplets":
        raise InvalidRequest("--shares is for triplets, whose queries have fields")
    if asked.column and form == "triplets":
        raise InvalidRequest("--column is for pairs, labels and targets; the fields of triplets are named with --field")
    if (asked.mine or asked.ranks != RANKS) and form in ("labels", "targets"):
        raise InvalidRequest(f"{form} have no negatives: leave out --mine and --ranks")
    mining = _mining(asked)
    if form == "triplets":
        training.build_triplets(
            source, to, asked.recipe, settings, without=without, shares=asked.shares, mining=mining, columns=columns, progress=console
        )
    elif form == "pairs":
        training.build_pairs(
            source, to, asked.recipe, settings, column=asked.column, without=without, mining=mining, columns=columns, progress=console
        )
    else:
        build = training.build_labels if form == "labels" else training.build_targets
        build(source, to, asked.recipe, settings, column=asked.column, without=without, columns=columns, progress=console)


def _mining(asked: Asked) -> Mining | None:
    """How negatives are mined; None if they are not. Raises InvalidRequest for ranks that are none."""
    from ..training import Mining

    if asked.mine is None:
        if asked.ranks != RANKS:
            raise InvalidRequest("--ranks is for --mine")
        return None
    match = re.fullmatch(r"(\d{1,6})-(\d{1,6})", asked.ranks)
    if match is None:
        raise InvalidRequest(f"--ranks takes the first and the last rank, such as 10-100, not {asked.ranks!r}")
    by = asked.mine if asked.mine == "bm25" else chosen_index(Path(asked.mine))
    return Mining(by, int(match[1]), int(match[2]))

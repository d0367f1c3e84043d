"""Control codes: each format's texts begin with its code, benchmarks are read by the code of their kind, and sets can be put elsewhere."""

from __future__ import annotations

from pathlib import Path

import pytest

from sciretrieve.base.types import Paper
from sciretrieve.encoders import load_encoder
from sciretrieve.evaluation import sides
from tests.training.learning.students.toy_training import learned, opened, written

CODES = {"proximity": "[PRX]", "adhoc_query": "[QRY]", "classification": "[CLF]", "regression": "[RGN]"}


@pytest.mark.parametrize("like", ["scirepeval-codes", "scirepeval-adapters"])
def test_a_benchmark_is_read_by_the_format_of_its_kind(like: str, base: Path, sets: dict[str, Path], tmp_path: Path) -> None:
    folder = str(learned(like, base, list(sets.values()), tmp_path / "trained").folder)
    names = CODES if like == "scirepeval-codes" else dict(zip(CODES, CODES, strict=True))
    for kind in ("classification", "regression"):
        assert sides.tasks_for(folder, kind, None, None) == (names[kind], names[kind])
    assert sides.tasks_for(folder, "proximity", None, None) == (None, None)
    assert sides.tasks_for(folder, "classification", names["regression"], None)[0] == names["regression"]
    of_both = "[RGN]" if like == "scirepeval-codes" else "regression+[RGN]"
    assert sides.tasks_for(f"mean:{folder}+scirepeval-ctrl", "regression", None, None)[0] == of_both
    paper = [Paper("1", "graph", "paper")]
    by_default, by_class = (load_encoder(folder, adapter=name, precision="fp32") for name in (None, names["classification"]))
    assert abs(by_default.encode_papers(paper) - by_class.encode_papers(paper)).max() > 1e-4


def test_what_is_trained_on_some_formats_has_their_codes_alone(base: Path) -> None:
    spec = opened("scirepeval-codes", base, ["classification"]).spec
    assert (spec.codes, spec.kinds) == (("[CLF]",), {"classification": "[CLF]"})
    assert spec.sides.paper.text.startswith("[CLF] ")


@pytest.mark.parametrize(("form", "format"), [("proximity", "adhoc_query"), ("adhoc_query", "regression"), ("regression", "adhoc_query")])
def test_a_set_is_read_by_the_format_that_it_is_put_into_and_no_other(
    form: str, format: str, base: Path, sets: dict[str, Path], tmp_path: Path
) -> None:
    learnt = learned("scirepeval-codes", base, [sets[form]], tmp_path / "trained", formats={form: format})
    assert written(learnt.folder).codes == (CODES[format],)

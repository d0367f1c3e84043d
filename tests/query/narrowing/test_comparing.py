"""Every type of column compared with every kind of value by every operator, against Python's own values."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import pyarrow as pa
import pytest

from sciretrieve.base.errors import InvalidRequest
from sciretrieve.query.narrowing import filters
from sciretrieve.query.narrowing.combining import leaves
from tests.column_types import KINDS, LITERALS, OPERATORS, verdict, written
from tests.conftest import Effort

TEXTS = [literal for literal in LITERALS if literal.startswith('"')]
NUMBERS = [literal for literal in LITERALS if literal[0].isdigit()]


def asked() -> Iterator[tuple[str, tuple[str, ...]]]:
    yield from ((sign, (literal,)) for sign, literal in itertools.product(OPERATORS, LITERALS))
    yield from (("contains", (literal,)) for literal in TEXTS)
    for alike in (TEXTS, NUMBERS):
        yield from (("between", ends) for ends in itertools.pairwise([*alike, *alike[::-3]]))
        yield from (("in", tuple(alike[first : first + count])) for count in (1, 2, 12) for first in range(0, len(alike), 2))


def refusal(condition: filters.Expression, kind: pa.DataType) -> str | None:
    try:
        for leaf in leaves(condition):
            leaf.check({"x": [kind]})
    except InvalidRequest as error:
        return str(error)
    return None


@pytest.mark.parametrize("name", KINDS)
def test_columns_compare_as_python_does(name: str, effort: Effort, request: pytest.FixtureRequest) -> None:
    kind, values = KINDS[name]
    array = pa.chunked_array([pa.array(values[:1], kind), pa.array([*values[1:], None], kind)])
    rows = [*values, None]
    answered = 0
    for sign, literals in [
        ("is null", ()),
        ("is not null", ()),
        *itertools.islice(asked(), effort(request.config.option.quarter, 0), None, effort(7, 1)),
    ]:
        condition = filters.parse(written("x", sign, literals))
        expected = [verdict(value, sign, literals) for value in rows]
        if (error := refusal(condition, kind)) is not None:
            # one value that does not compare is enough, though others would; and `!=` and `==` of what is never equal are refused
            assert "\n" not in error
            assert sign in ("!=", "in") or "is a list" in error or not any(expected), (name, str(condition))
            continue
        answered += 1
        passes, undecided = filters.decide(filters.evaluate(condition, {"x": array}))
        got = [None if unsure else bool(passing) for passing, unsure in zip(passes, undecided, strict=True)]
        told = [one for one, wanted in zip(got, expected, strict=True) if wanted is not None]
        assert told == [wanted for wanted in expected if wanted is not None], (name, str(condition), rows, got, expected)
    assert answered

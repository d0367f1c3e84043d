"""A column that has one type in some papers and another in others, for all pairs of Arrow's types.

They are added, merged, exported, counted, and asked by every operator of filters, in one index and in several, against Python's own values.
Whatever is refused is refused by an error of ours, in one line.
"""

from __future__ import annotations

import contextlib
import datetime
import itertools
import json
import random
import unicodedata
from collections.abc import Callable, Iterator
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sciretrieve as sr
from sciretrieve.answers.overview import facets_at
from sciretrieve.lifecycle.exporting import export
from tests.column_types import KINDS, LITERALS, OPERATORS, elements, is_missing, verdict, written
from tests.conftest import Effort

# whether a value is still there


def same(got: Any, given: Any) -> bool:
    """Whether a value is itself, or the same in another type: a number as a number, any value as its text, objects as JSON."""
    if is_missing(given):
        return is_missing(got) or got == "[]"
    if isinstance(got, list) and not isinstance(given, list | tuple):
        return len(got) == 1 and same(got[0], given)
    if isinstance(given, list):
        if isinstance(got, str):
            got = json.loads(got)
        return len(got) == len(given) and all(map(same, got, given))
    if isinstance(given, tuple):
        got = json.loads(got) if isinstance(got, str) else got
        return len(got) == len(given) and all(map(same, got, given))
    if isinstance(given, dict):
        got = json.loads(got) if isinstance(got, str) else got
        return all(same(got.get(key), given.get(key)) for key in got.keys() | given.keys())
    if isinstance(got, str) and not isinstance(given, str):
        with contextlib.suppress(ValueError, ArithmeticError):
            if isinstance(given, bool):
                return got == json.dumps(given)
            if isinstance(given, float):
                return float(got) == given
            if isinstance(given, int | Decimal):
                return Decimal(got) == given
            if isinstance(given, datetime.datetime | datetime.time):
                return type(given).fromisoformat(got) == given
            if isinstance(given, bytes):
                return got in (given.decode("utf-8", "replace"), str(given))
        return got == str(given)
    if isinstance(got, str):
        return got == unicodedata.normalize("NFC", given)
    return bool(got == given) and isinstance(got, bool) == isinstance(given, bool)


# pairs


def corpus(pairs: list[tuple[str, str]], side: int, path: Path) -> list[dict[str, Any]]:
    """A Parquet file with a column for each pair, of the type of one of its sides; returns the rows as Python has them."""
    depth = max(len(KINDS[pair[side]][1]) for pair in pairs) + 1
    ids = [f"{side}-{row}" for row in range(depth)]
    columns: dict[str, Any] = {"id": pa.array(ids), "title": pa.array([f"Paper {id}" for id in ids])}
    rows: list[dict[str, Any]] = [{"id": id} for id in ids]
    for place, pair in enumerate(pairs):
        kind, values = KINDS[pair[side]]
        padded = [*values, *[None] * (depth - len(values))]
        columns[f"c{place}"] = pa.array(padded, kind)
        for row, value in zip(rows, padded, strict=True):
            row[f"c{place}"] = value
    pq.write_table(pa.table(columns), path)
    return rows


def asked(rng: random.Random, effort: Effort) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Operators with values: all, or a few of each."""
    texts = [literal for literal in LITERALS if literal.startswith('"')]
    yield "is null", ()
    for literal in rng.sample(LITERALS, effort(3, 8)):
        for sign in rng.sample(sorted(OPERATORS), effort(2, 3)):
            yield sign, (literal,)
    for _ in range(effort(1, 3)):
        yield "in", tuple(rng.sample(LITERALS, rng.choice([1, 2, 3, 12])))
        yield "contains", (rng.choice(texts),)
        yield "between", tuple(rng.sample(texts if rng.random() < 0.5 else [one for one in LITERALS if one[0].isdigit()], 2))


def is_other_as_text(value: Any, literals: tuple[str, ...]) -> bool:
    """Whether a value's text compares otherwise, which has no sign of its type: bytes that are no text, and floats with a number that is
    none but is read as one."""
    if isinstance(value, float):
        return any(literal[0].isdigit() and "." in literal and Decimal(literal) != Decimal(repr(float(literal))) for literal in literals)
    return isinstance(value, bytes) and not value.isascii()


def refusal(call: Callable[[], Any]) -> str | None:
    """What an error of ours says, in one line; None where there is none."""
    try:
        call()
    except sr.SciretrieveError as error:
        return str(error)
    return None


def check_filters(
    index: sr.Index, rows: list[dict[str, Any]], pairs: list[tuple[str, str]], is_joined: bool, effort: Effort, seed: int
) -> None:
    rng = random.Random(seed)
    for place, pair in enumerate(pairs):
        column = f"c{place}"
        for sign, literals in asked(rng, effort):
            filter = written(column, sign, literals)
            told = {
                row["id"]: verdict(row[column], sign, literals)
                for row in rows
                if not (is_joined and is_other_as_text(row[column], literals))
            }
            if (error := refusal(partial(index.snapshot.narrower.passing, filter))) is not None:
                assert "\n" not in error
                if sign == "in" and len(literals) > 1:  # a value that no paper's compares with
                    alone = [written(column, sign, (literal,)) for literal in literals]
                    assert any(refusal(partial(index.snapshot.narrower.passing, one)) for one in alone), (pair, filter)
                else:
                    is_advice = sign == "!=" or "is a list" in error or "without quotation marks" in error
                    assert is_advice or not any(told.values()), (pair, filter, error)
                continue
            scope = index.snapshot.narrower.passing(filter)
            passing = {*index.ids(scope.places)}
            undecided = {*index.ids(scope.undecided)}
            for id, expected in told.items():
                if expected is not None and not (is_joined and (id in undecided or sign == "contains")):
                    assert (id in passing) == expected, (pair, filter, id, [row[column] for row in rows if row["id"] == id])


def check_values(rows: list[dict[str, Any]], got: dict[str, dict[str, Any]], pairs: list[tuple[str, str]]) -> None:
    for row in rows:
        for place, pair in enumerate(pairs):
            assert same(got[row["id"]].get(f"c{place}"), row[f"c{place}"]), (pair, row[f"c{place}"], got[row["id"]].get(f"c{place}"))


def check_facets(index: sr.Index, rows: list[dict[str, Any]], pairs: list[tuple[str, str]]) -> None:
    for place, pair in enumerate(pairs):
        count = partial(facets_at, index, index.snapshot.scope.places, [f"c{place}:100"])
        if (error := refusal(count)) is not None:
            assert "counts texts, numbers, dates" in error
            continue
        (facet,) = count()
        values = [{*map(str, elements(row[f"c{place}"]))} for row in rows if row[f"c{place}"] == "" or not is_missing(row[f"c{place}"])]
        assert facet.papers == len(rows), pair
        if not {"list", "lists", "pair", "objects", "list of int", "list of float"} & {*pair}:
            assert sum(count for _, count in facet.values) + facet.missing == len(rows), pair
            assert len(values) == facet.papers - facet.missing, (pair, facet)


@pytest.mark.parametrize("part", range(8))
def test_all_pairs_of_types(tmp_path: Path, effort: Effort, part: int, request: pytest.FixtureRequest) -> None:
    pairs = list(itertools.product(KINDS, repeat=2))
    seed = part + 8 * request.config.option.quarter
    random.Random(0).shuffle(pairs)
    pairs = effort(pairs[seed::32][:8] if part < 4 else [], pairs[part::8])
    if not pairs:
        pytest.skip("by --torture alone")
    first, second = (corpus(pairs, side, tmp_path / f"{side}.parquet") for side in (0, 1))
    rows = first + second
    for side in (0, 1):
        sr.build(tmp_path / f"{side}.parquet", tmp_path / f"alone-{side}", encoder=None, progress=False).close()
    with sr.open_many([tmp_path / "alone-0", tmp_path / "alone-1"]) as indexes:
        check_filters(indexes, rows, pairs, False, effort, seed)
        check_facets(indexes, rows, pairs)
    path = tmp_path / "alone-0"
    sr.add(tmp_path / "1.parquet", path, progress=False)
    with sr.open(path) as index:
        check_filters(index, rows, pairs, False, effort, seed)
        check_facets(index, rows, pairs)
        check_values(rows, {paper.id: dict(paper.extra) for paper in index}, pairs)
        for target in ("out.parquet", "out.csv"):
            export(index, tmp_path / target)
        exported = pq.read_table(tmp_path / "out.parquet").to_pylist()
        check_values(rows, {row["id"]: row for row in exported}, pairs)
    sr.merge(path, progress=False)
    with sr.open(path) as index:
        assert len(index.snapshot.shards) == 1
        check_values(rows, {paper.id: dict(paper.extra) for paper in index}, pairs)
        check_filters(index, rows, pairs, True, effort, seed)
        check_facets(index, rows, pairs)
        export(index, tmp_path / "out.parquet")
    sr.build([tmp_path / "0.parquet", tmp_path / "1.parquet"], tmp_path / "at-once", encoder=None, progress=False).close()
    with sr.open(tmp_path / "at-once") as index:
        check_values(rows, {paper.id: dict(paper.extra) for paper in index}, pairs)

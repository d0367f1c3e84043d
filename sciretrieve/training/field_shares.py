"""Spreads queries over fields: equally, as in a published training set, or by given shares."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from random import Random

from ..base.errors import InvalidRequest, UnknownName
from ..files.schema import letters

EVEN = "even"
FIELDS = (
    *("Art", "Biology", "Business", "Chemistry", "Computer Science", "Economics", "Engineering", "Environmental Science", "Geography"),
    *("Geology", "History", "Materials Science", "Mathematics", "Medicine", "Philosophy", "Physics", "Political Science", "Psychology"),
    "Sociology",
)
PUBLISHED: Mapping[str, tuple[str, tuple[int, ...]]] = {
    "scirepeval": (
        "Singh et al. 2023, Table 9",
        (89527, 882357, 217585, 508056, 1187689, 123357, 254826, 91682, 83688)
        + (51103, 46430, 271865, 231482, 3201323, 61996, 217670, 154388, 492071, 156128),
    ),
    "specter": (
        "Seoh et al. 2023, Table 5, SPECTER",
        (53, 1748, 1156, 282, 103869, 1078, 12212, 85, 405, 183, 20, 749, 12828, 14629, 41, 2399, 219, 7125, 576),
    ),
    "s2orc": (
        "Seoh et al. 2023, Table 5, SPECTER multi",
        (12, 14561, 433, 2433, 8962, 1355, 1586, 243, 350, 982, 15, 976, 5923, 30325, 19, 2930, 165, 2819, 389),
    ),
}
"""The source of each published training set, and its number of papers in each of `FIELDS`."""


def parsed_shares(text: str) -> Mapping[str, float] | None:
    """The weight of each field in a text; None for "even", where all fields weigh the same.

    A text is "even", the name of a published training set, a field, or fields with weights: "Medicine=0.4,Biology=0.6".

    Raises:
        InvalidRequest: a weight is not a number above 0, or a field appears twice.
    """
    if text == EVEN:
        return None
    if text in PUBLISHED:
        return dict(zip(FIELDS, map(float, PUBLISHED[text][1]), strict=True))
    shares: dict[str, float] = {}
    for part in text.split(","):
        name, equals, weight = (piece.strip() for piece in part.partition("="))
        try:
            value = float(weight) if equals else 1.0
        except ValueError:
            value = math.nan
        if not name or not (math.isfinite(value) and value > 0):
            raise InvalidRequest(
                f"{part.strip()!r} is not a field with a share; write Medicine=0.4,Biology=0.6, or {', '.join((EVEN, *PUBLISHED))}"
            )
        if name in shares:
            raise InvalidRequest(f"the field {name!r} has two shares")
        shares[name] = value
    return shares


def drawn_by_shares(
    rows: Sequence[int], fields: Sequence[str], shares: Mapping[str, float] | None, most: int | None, chance: Random
) -> tuple[list[int], list[str]]:
    """Random rows, rising, with given shares of the fields; and the fields that have shares, but no rows.

    Args:
        rows: the rows to draw from.
        fields: the main field of every row of the corpus, "" for none.
        shares: the weight of each field; None for equal weights. The case of field names does not matter.
        most: the largest number of rows; None for as many as the scarcest field allows.
        chance: the source of random numbers.

    Each field gets its share to within less than one row.

    Raises:
        UnknownName: no row has any of the fields.
    """
    rows_of: dict[str, list[int]] = {}
    for row in rows:
        if fields[row]:
            rows_of.setdefault(letters(fields[row]), []).append(row)
    weights = {letters(name): weight for name, weight in (shares or dict.fromkeys(rows_of, 1.0)).items()}
    lacking = [name for name in shares or () if letters(name) not in rows_of]
    weights = {name: weight for name, weight in weights.items() if name in rows_of}
    if not weights:
        raise UnknownName("field", lacking[0] if lacking else EVEN, sorted({fields[row] for row in rows if fields[row]}))
    total = sum(weights.values())
    # a whole number of each field, so that the scarcest one may round down
    count = min(most or len(rows), *(math.floor(len(rows_of[name]) * total / weight + 1e-9) for name, weight in weights.items()))
    exact = {name: count * weight / total for name, weight in weights.items()}
    counts = {name: math.floor(number + 1e-9) for name, number in exact.items()}
    by_rest = sorted(exact, key=lambda name: (counts[name] - exact[name], name))
    for name in [name for name in by_rest if counts[name] < len(rows_of[name])][: count - sum(counts.values())]:
        counts[name] += 1
    return sorted(row for name in sorted(counts) for row in chance.sample(rows_of[name], counts[name])), lacking

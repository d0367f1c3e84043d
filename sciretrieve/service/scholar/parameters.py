"""Semantic Scholar's parameters that are not obeyed here: refused with a reason, or, where its own client sends them, left out as there.

`tests/service/scholar/test_parameters.py` compares all that it documents with what is taken here.
"""

from __future__ import annotations

from fastapi import Depends

from ..parameters import KnownParameters

NAMES = frozenset(
    {
        *("query", "fields", "offset", "limit", "token", "sort", "year", "venue", "fieldsOfStudy", "publicationTypes", "openAccessPdf"),
        *("minCitationCount", "publicationDateOrYear", "insertedBefore", "paperIds", "authors", "from"),
    }
)
"""All of its parameters."""
KNOWN_ALONE = Depends(
    KnownParameters(
        refused={"insertedBefore": "an index does not keep when each paper was added"},
        left_out={f"/graph/v1/paper/search/{kind}": ("offset", "limit") for kind in ("bulk", "match")},  # its client always sends them
        strict=NAMES,  # its client escapes no &
    )
)
"""Have all routes of a router take no parameters but their own."""

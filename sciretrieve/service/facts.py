"""Facts of the service's indexes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow.compute as pc
from pydantic import BaseModel, ConfigDict, Field

from ..query.index import Index


class IndexFacts(BaseModel):
    """An index in its current state."""

    model_config = ConfigDict(extra="forbid")

    name: str
    papers: int
    generation: int = Field(description="The number of its last commit.")
    modes: list[str] = Field(description="The search modes, the best first.")
    encoder: str | None = Field(None, description="The encoder of its vectors; null without any.")
    columns: dict[str, str] = Field(description="Its columns, which filters and facets may name, and the types of their values.")
    first_year: int | None = None
    last_year: int | None = None
    has_references: bool = Field(False, description="Whether a column has its papers' references.")
    full_texts: int = Field(0, description="How many of its papers have a full text, whose passages answer, too.")


def facts_of(name: str, index: Index) -> dict[str, Any]:
    """The facts of an index."""
    snapshot = index.snapshot
    spans = [pc.min_max(table["year"]).as_py() for table in snapshot.tables(["year"]) if "year" in table.column_names]
    years = [year for span in spans for year in span.values() if year is not None]
    return {
        "name": name,
        "papers": len(index),
        "generation": snapshot.manifest.generation,
        "modes": list(index.modes),
        "encoder": None if snapshot.encoder is None else str(snapshot.encoder["name"]),
        "columns": {field.name: str(field.type) for field in snapshot.columns},
        "first_year": min(years, default=None),
        "last_year": max(years, default=None),
        "has_references": snapshot.has_references,
        "full_texts": 0 if snapshot.fulltext is None else int(np.count_nonzero(snapshot.fulltext.readable)),
    }

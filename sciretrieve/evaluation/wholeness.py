"""Whether a benchmark is whole: what of its published queries, candidates and files is not there, so that its figures do not compare."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from .benchmark_specs import Benchmark
from .material import Material, Prediction
from .readers.scirepeval import first_matches, places

SLACK = 0.99
"""The share of what is published from which on a benchmark is whole: papers and their authors' files differ by a few queries."""
PREDICTED_SLACK = 0.8
"""The same of labelled papers, of which some are only for choosing a model."""
PART = re.compile(r"-(\d{5})-of-(\d{5})\.")


def lacking(spec: Benchmark, split: str, folder: str | Path | None, materials: Sequence[Material]) -> list[str]:
    """What is not whole, such as "30 of 142,009 candidates"; empty if nothing is known of it. Other splits than the first have other
    sizes, and of tasks that are left out, or chosen, nothing is said."""
    whole = spec.published_sizes
    lacks = list(_parts(spec, Path(folder or ".")))
    if split != spec.splits[0]:
        return lacks
    for material in materials:
        papers: int | None = None
        for task in material.tasks:
            published = whole.get(task.name) or whole.get("", {})
            if task.candidates is None:
                papers = sum(1 for _ in material.pool()) if papers is None else papers
                there = papers if task.among is None else task.among
            else:
                there = sum(map(len, task.candidates.values()))
            name = f"{task.name}: " if len(whole) > 1 else ""
            counts = {"queries": len(task.qrels), "pairs": there, "candidates": there}
            lacks += [f"{name}{have}" for unit, of in published.items() if (have := _have(counts.get(unit, of), of, unit, SLACK))]
        for prediction in material.predictions:
            published = whole.get(prediction.name) or whole.get("", {})
            if isinstance(prediction, Prediction) and "papers" in published:
                papers_there = len({*prediction.train.ids, *prediction.test.ids})
                lacks += filter(None, [_have(papers_there, published["papers"], "papers", PREDICTED_SLACK)])
    return list(dict.fromkeys(lacks))


def _have(there: int, published: int, unit: str, slack: float) -> str:
    return f"{there:,} of {published:,} {unit}" if there < slack * published else ""


def _parts(spec: Benchmark, folder: Path) -> Iterator[str]:
    """Files of several parts of which some are not there."""
    for files in spec.hub:
        paths = first_matches(places(folder, files.folder), (f"{files.prefix}*-of-*",))
        for start in dict.fromkeys(path.name[: match.start()] for path in paths if (match := PART.search(path.name))):
            parts = [match for path in paths if path.name.startswith(f"{start}-") and (match := PART.search(path.name))]
            if len(parts) < (of := int(parts[0][2])):
                yield f"{len(parts)} of {of} files of {files.folder}/{start}"

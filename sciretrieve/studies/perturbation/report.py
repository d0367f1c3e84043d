"""A study as a page in Markdown, with the published rows beside ours."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from ...base.choices import Mode
from ...evaluation.published import rows
from .neighbours import CATEGORIES
from .similarities import Retrieval
from .study import OPTIMAL, NeighbourShares, Study

NAMES: Mapping[Mode, str] = {"dense": "dense", "bm25": "BM25", "hybrid": "hybrid"}
PAPER = "Singh and Singh 2022"


def markdown(study: Study, plots: Mapping[str, str]) -> str:
    """The page. `plots` has the paths of the plots, relative to the page: "classes", "similarities", "between", "map"."""
    parts = [
        _head(study),
        _tasks(study),
        *([_standardised(study)] if study.space else []),
        _categories(study),
        _classes(study, plots),
        *([_space(study, plots)] if study.space else []),
    ]
    return "\n".join(line for part in parts for line in part)


def _head(study: Study) -> Iterator[str]:
    encoder = f", encoded by {study.encoder}" if study.encoder else ", without vectors"
    yield f"# Textual neighbours in {study.source}\n"
    yield (
        f"{study.papers:,} of {study.available:,} papers with title and abstract{encoder}; seed {study.seed}. "
        f"The study is that of {PAPER} (The Inefficiency of Language Models in Scholarly Retrieval); its rows are of other corpora, "
        "with 4,542 to 35,482 candidates (its Table 2), and fewer candidates are easier to tell apart. Its systems are encoders alone.\n"
    )


def _tasks(study: Study) -> Iterator[str]:
    yield "## A paper found by its title\n"
    yield (
        "Task I: the candidates are papers with title and abstract. Task II: these, and all titles but the query's own. "
        "MRR is the mean reciprocal rank, T100 the per cent of titles that find their paper among the first 100.\n"
    )
    measured = [(f"**{NAMES[mode]}**", _pair(tasks["Task I"]) + _pair(tasks["Task II"])) for mode, tasks in study.tasks.items()]
    yield from _table(["system", "Task I MRR", "T100", "Task II MRR", "T100"], [*measured, *_published_pairs("Task I", "Task II")])
    yield f"Published rows: {PAPER}, Table 3.\n"


def _standardised(study: Study) -> Iterator[str]:
    assert study.space is not None
    yield "## What standardisation changes\n"
    yield (
        "Standardisation subtracts each dimension's mean and divides by its standard deviation. Neither the paper nor its code says over "
        "which vectors, so there are three forms here. Normalising vectors to length 1 alone changes no cosine.\n"
    )
    rows = [(f"**{form}**", _pair(tasks["Task I"]) + _pair(tasks["Task II"])) for form, tasks in study.space.standardised.items()]
    yield from _table(["vectors", "Task I MRR", "T100", "Task II MRR", "T100"], rows)
    yield from _table(
        ["published, Task I", "L2-normalised MRR", "T100", "standardised MRR", "T100"],
        _published_pairs("Task I, L2-normalised", "Task I, standardised"),
    )
    yield f"Published rows: {PAPER}, Table 9.\n"


def _categories(study: Study) -> Iterator[str]:
    yield "## The five categories of neighbours\n"
    yield (
        "Per cent of changed papers that find their original as the first (NN1) or among the first ten (NN10) of all papers; and of the "
        "10 (AOP-10) or 20 (AOP-20) nearest texts of original and changed paper that both have, among originals and neighbours.\n"
    )
    yield "; ".join(f"{category}: {meaning}" for category, meaning in CATEGORIES.items()) + ".\n"
    for name, field in (("NN1_Ret", "nn1"), ("NN10_Ret", "nn10"), ("AOP-10", "aop10"), ("AOP-20", "aop20")):
        measured = [
            (f"**{NAMES[mode]}**", [_percent(study.category(category, mode), field) for category in CATEGORIES]) for mode in study.modes
        ]
        yield from _table([name, *CATEGORIES], [*measured, *_published_categories(name)])
    yield f"Published rows: {PAPER}, Table 4 (AOP-10) and Table 5 (AOP-20, over all its corpora); of NN1 and NN10 it has only plots.\n"
    yield "## Capability\n"
    yield (
        "Whether AOP-20 of a category is within the paper's thresholds (its Table 5): texts with the same meaning should have the same "
        "neighbours, and other texts should not.\n"
    )
    thresholds = [
        f"> {100 * low:.0f}" if high == 1 else f"< {100 * high:.0f}" if low == 0 else f"{100 * low:.0f} to {100 * high:.0f}"
        for low, high in OPTIMAL.values()
    ]
    marks = {True: "optimal", False: "no", None: "–"}
    verdicts = [(f"**{NAMES[mode]}**", [marks[study.is_optimal(category, mode)] for category in CATEGORIES]) for mode in study.modes]
    yield from _table(["AOP-20", *CATEGORIES], [("threshold", thresholds), *verdicts])


def _classes(study: Study, plots: Mapping[str, str]) -> Iterator[str]:
    yield "## Each class\n"
    if "classes" in plots:
        yield f"![NN1_Ret and AOP-10 of each class]({plots['classes']})\n"
    columns = [f"{NAMES[mode]} {name}" for mode in study.modes for name in ("NN1", "NN10", "AOP-10")]
    rows = []
    for result in study.classes:
        values = [_percent(result.found[mode], field) for mode in study.modes for field in ("nn1", "nn10", "aop10")]
        to_original = f"{result.to_original:.3f}" if result.to_original is not None else "–"
        rows.append((f"{result.code} ({result.category})", [f"{result.papers:,}", *values, to_original]))
    yield from _table(["class", "papers", *columns, "cosine with the original"], rows)


def _space(study: Study, plots: Mapping[str, str]) -> Iterator[str]:
    assert study.space is not None
    space = study.space
    yield "## The vectors\n"
    to_original = [result.to_original for result in study.classes if result.to_original is not None]
    yield (
        "Cosines of the texts of different papers. Those of a changed paper with its own original are, in the mean of a class, between "
        f"{min(to_original):.3f} and {max(to_original):.3f} (above).\n"
    )
    alike = {**space.similarities, **{result.code: result.similarities for result in study.classes if result.similarities is not None}}
    rows = [
        (name, [f"{item.mean:.3f}", f"{item.deviation:.3f}", f"{item.least:.3f}", f"{item.greatest:.3f}", f"{100 * item.above_mean:.1f}"])
        for name, item in alike.items()
    ]
    yield from _table(["texts", "mean", "deviation", "least", "greatest", "% above the mean"], rows)
    for name, title in (
        ("similarities", "Cosines of different papers, by class"),
        ("between", "Mean cosine of the same paper's texts"),
        ("map", "Papers and titles by t-SNE, as in the paper's Figures 2 and 8"),
    ):
        if name in plots:
            yield f"![{title}]({plots[name]})\n"
    yield "### Anisotropy and rogue dimensions\n"
    yield (
        f"The mean cosine of different texts is 0 where vectors point evenly in all directions; of {space.dim} dimensions each would "
        f"contribute {100 / space.dim:.2f} % of it. Without the three that contribute most, r is the correlation of the cosines with what "
        "they were.\n"
    )
    yield from _table(
        ["vectors", "mean cosine", "greatest contributions", "r without them", "mean cosine without them"],
        [
            (
                name,
                [
                    f"{item.mean_cosine:.3f}",
                    ", ".join(f"{100 * share:.1f} % (dimension {dimension})" for dimension, share in item.dimensions),
                    f"{item.without:.3f}",
                    f"{item.without_mean_cosine:.3f}",
                ],
            )
            for name, item in space.anisotropy.items()
        ],
    )


def _published_pairs(first: str, second: str) -> Iterator[tuple[str, Sequence[str]]]:
    """MRR and T100 of two tasks."""
    for row in rows("asr"):
        if (first, "MRR") in row.values:
            pairs = [(row.values[task, "MRR"] / 100, row.values[task, "Success@100"]) for task in (first, second)]
            yield row.system, [cell for mrr, t100 in pairs for cell in (f"{mrr:.3f}", f"{t100:.1f}")]


def _published_categories(measure: str) -> Iterator[tuple[str, Sequence[str]]]:
    for row in rows("robustness"):
        if all((category, measure) in row.values for category in CATEGORIES):
            yield row.system, [f"{row.values[category, measure]:g}" for category in CATEGORIES]


def _pair(retrieval: Retrieval) -> list[str]:
    return [f"{retrieval.mrr:.3f}", f"{100 * retrieval.t100:.1f}"]


def _percent(found: NeighbourShares | None, field: str) -> str:
    return "–" if found is None else f"{100 * getattr(found, field):.1f}"


def _table(columns: Sequence[str], rows: Iterable[tuple[str, Sequence[str]]]) -> Iterator[str]:
    yield f"| {' | '.join(columns)} |"
    yield f"| --- |{' ---: |' * (len(columns) - 1)}"
    for name, values in rows:
        yield f"| {name} | {' | '.join(values)} |"
    yield ""

"""The table of systems x benchmarks: which figures are in it, the best, and what is significantly below it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats

from sciretrieve.evaluation.page import correlation_map, curves
from sciretrieve.evaluation.standings import Cell, Standings, correlations, marks
from sciretrieve.files.figures import drawn

QUERIES = [f"q{number}" for number in range(60)]


def cell(system: str, benchmark: str = "b", **values: Any) -> Cell:
    """A system's cell: measure=values for one task; task__measure=values for several, whose means are averaged."""
    per_query: dict[tuple[str, str], dict[str, float]] = {}
    figures: dict[str, dict[str, float]] = {}
    for name, numbers in values.items():
        task, _, measure = name.rpartition("__")
        task = task or "test"
        for query, number in zip(QUERIES, numbers, strict=False):
            per_query.setdefault((task, query), {})[measure] = float(number)
        figures.setdefault(task, {})[measure] = round(100 * float(np.mean(numbers)), 2)
    measures = list(next(iter(figures.values())))
    report = {
        "kind": "proximity",
        "rounded": {measure: round(float(np.mean([row[measure] for row in figures.values()])), 2) for measure in measures},
        "counts": {task: {"queries": 1} for task in figures},
    }
    if len(figures) > 1:
        report["per_task"] = {task: {"rounded": row} for task, row in figures.items()}
    return Cell(benchmark, system, report, {}, per_query)


def values(seed: int, shift: float = 0.0) -> Any:
    base = np.random.default_rng(0).uniform(0.2, 0.6, len(QUERIES))
    return base + shift + np.random.default_rng(seed).normal(0, 0.05, len(QUERIES))


def test_the_best_and_what_is_significantly_below_it() -> None:
    numbers = {"a": values(1, 0.1), "b": values(2, 0.09), "c": values(3)}
    found = marks([cell(name, MAP=row) for name, row in numbers.items()], ("", "MAP"))
    best = max(numbers, key=lambda name: float(numbers[name].mean()))
    # SciPy's permutation test of each pair, and Holm's method by hand
    p_values = {
        name: stats.permutation_test(
            (numbers[best] - row,), np.mean, permutation_type="samples", n_resamples=5_000, rng=np.random.default_rng(1)
        ).pvalue
        for name, row in numbers.items()
        if name != best
    }
    (first, p_first), (second, p_second) = sorted(p_values.items(), key=lambda pair: pair[1])
    expected = {name for name, p in ((first, 2 * p_first), (second, max(2 * p_first, p_second))) if p < 0.05}
    assert expected == {"c"}
    assert [set(found.best), set(found.below), dict(found.untested)] == [{best}, {"c"}, {}]


def test_holms_method_counts_the_systems_that_are_compared() -> None:
    """A difference that is significant alone is none among many."""
    base = values(1)
    noise = stats.zscore(np.random.default_rng(8).normal(size=len(QUERIES)))
    difference = 0.02 * (noise + 2.3 / np.sqrt(len(QUERIES)))
    p = stats.ttest_1samp(difference, 0).pvalue
    assert 0.01 < p < 0.05
    others = [cell("near", MAP=base - difference), *(cell(f"far{number}", MAP=base - difference) for number in range(8))]
    assert marks([cell("best", MAP=base), others[0]], ("", "MAP")).below == {"near"}
    assert marks([cell("best", MAP=base), *others], ("", "MAP")).below == set()


def test_there_is_no_mark_where_queries_differ() -> None:
    short = cell("short", MAP=values(2)[:50])
    best, low = cell("best", MAP=values(1, 0.2)), cell("low", MAP=values(3))
    found = marks([best, short, low], ("", "MAP"))
    assert [set(found.best), set(found.below)] == [{"best"}, {"low"}]
    assert list(found.untested) == ["short"]
    text = "\n".join(Standings.of([best, short, low]).as_text())
    assert "not tested: b, short: other queries are answered than by the best" in text
    assert text.count("†") == 2  # the mark, and the caption


def test_a_mean_over_tasks_weighs_queries_by_their_task() -> None:
    """One query of a small task decides as much as many of a large one: the test is of the mean of means."""
    large, small = np.full(60, 0.5), np.full(2, 0.5)
    first = cell("first", large__MAP=large + 0.01, small__MAP=small)
    second = cell("second", large__MAP=large, small__MAP=small + np.array([0.3, 0.3]))
    found = marks([first, second], ("", "MAP"))
    assert found.best == {"second"}
    # of 2^62 sign patterns, those where both queries of the small task agree are half, whatever the others are
    assert found.below == set()
    assert marks([first, second], ("large", "MAP")).below == {"second"}


def test_equal_figures_are_both_the_best_and_holes_are_not_ranked() -> None:
    row = values(1)
    assert marks([cell("a", MAP=row), cell("b", MAP=row)], ("", "MAP")).best == {"a", "b"}
    assert marks([cell("a", **{"hole@10": row}), cell("b", **{"hole@10": row - 0.1})], ("", "hole@10")).best == set()


def test_predicted_labels_are_not_tested() -> None:
    cells = [cell("a", F1=[0.7]), cell("b", F1=[0.5])]
    for one in cells:
        one.report["counts"]["test"]["papers_predicted"] = 90
    found = marks(cells, ("", "F1"))
    assert [set(found.best), set(found.below), set(found.untested)] == [{"a"}, set(), {"b"}]


def test_the_table_in_its_forms() -> None:
    four = {"nDCG@10": values(1, 0.1), "R@100": values(2), "MAP": values(3), "MRR": values(4)}
    cells = [
        cell("good_one", "deep", **four),
        cell("bad & <poor>", "deep", **{name: row - 0.05 for name, row in four.items()}),
        cell("good_one", "link|s", MAP=values(5), nDCG=values(6)),
    ]
    table = Standings.of(cells)
    # of more than three measures the first stands for the benchmark
    assert table.columns == [("deep", ("", "nDCG@10")), ("link|s", ("", "MAP")), ("link|s", ("", "nDCG"))]
    figures = [cells[0].report["rounded"]["nDCG@10"], *cells[2].report["rounded"].values()]
    markdown = table.as_markdown()
    assert markdown[:2] == [r"| system | deep nDCG@10 | link\|s MAP | link\|s nDCG |", "| --- | ---: | ---: | ---: |"]
    assert markdown[2] == f"| good_one | **{figures[0]:.2f}** | {figures[1]:.2f} | {figures[2]:.2f} |"
    assert markdown[3] == f"| bad & <poor> | {cells[1].report['rounded']['nDCG@10']:.2f}† |  |  |"
    latex = "\n".join(table.as_latex())
    assert rf"good\_one & \textbf{{{figures[0]:.2f}}} & {figures[1]:.2f} & {figures[2]:.2f} \\" in latex
    assert r"bad \& $<$poor$>$ & " in latex
    assert r"\multicolumn{2}{c}{link|s}" in latex
    assert f"<td><b>{figures[0]:.2f}</b></td><td>{figures[1]:.2f}</td>" in table.as_html()
    assert "bad &amp; &lt;poor&gt;" in table.as_html()
    text = table.as_text()
    assert text[1].split() == ["deep", "nDCG@10", f"{figures[0]:.2f}*", f"{cells[1].report['rounded']['nDCG@10']:.2f}†"]


def test_an_average_over_part_of_its_figures_is_in_brackets_and_never_the_best() -> None:
    def suite(system: str, mean: float, complete: bool) -> Cell:
        whole = {"average": mean} if complete else {}
        part = {} if complete else {"average": {"mean": mean / 100, "figures": 26, "of": 27}}
        report = {
            "kind": "suite",
            "rounded": whole,
            "incomplete": part,
            "counts": {},
            "per_task": {"x": {"group": "in-train", "rounded": {}}},
        }
        return Cell("suite", system, report, {}, {})

    table = Standings.of([suite("part", 80.0, complete=False), suite("whole", 70.0, complete=True)])
    assert [table.figure(system, 0) for system in table.systems] == ["(80.00)", "70.00"]
    assert table.marks[0].best == frozenset()


def test_correlations_of_tasks_are_pearsons_over_the_systems_that_have_both() -> None:
    chance = np.random.default_rng(2)
    table = chance.uniform(size=(6, 3))
    table[:, 1] = 1 - table[:, 0] + chance.normal(0, 0.01, 6)
    cells = [cell(f"s{row}", f"b{column}", MAP=[table[row, column]]) for row in range(6) for column in range(3) if (row, column) != (0, 2)]
    found = correlations(cells)
    assert found is not None
    assert found.names == ["b0 MAP", "b1 MAP", "b2 MAP"]
    rounded = np.round(100 * table, 2)
    expected = [stats.pearsonr(rounded[:, 0], rounded[:, 1]).statistic, stats.pearsonr(rounded[1:, 0], rounded[1:, 2]).statistic]
    assert [found.pearson[0, 1], found.pearson[2, 0]] == pytest.approx(expected)
    assert expected[0] < -0.9
    picture = drawn(lambda: correlation_map(found)).decode()
    assert all(text in picture for text in ("1 b0 MAP", f"{expected[0]:.2f}", f"{expected[1]:.2f}"))
    # four systems are too few, and equal figures correlate with nothing
    assert correlations([one for one in cells if one.system in ("s2", "s3", "s4", "s5")]) is None
    assert correlations([cell(f"s{row}", benchmark, MAP=[0.5]) for row in range(6) for benchmark in "ab"]) is None


@pytest.mark.parametrize("measures", [("MAP",), ("MAP", "nDCG", "R@5"), ("a", "b", "c", "d")])
def test_without_an_average_each_task_has_its_figures(measures: tuple[str, ...]) -> None:
    one = cell("a", **{f"{task}__{measure}": values(1) for task in ("cite", "cocite") for measure in measures})
    one.report["rounded"].clear()
    chosen = measures if len(measures) <= 3 else measures[:1]
    assert one.main_columns() == [(task, measure) for task in ("cite", "cocite") for measure in chosen]


def test_the_plot_of_recall_names_every_system() -> None:
    picture = drawn(lambda: curves("Recall", {"_a": [(1, 10.0), (10, 20.0)], "b": [(1, 5.0), (10, 9.0)]})).decode()
    assert ">_a<" in picture  # which matplotlib by itself leaves out
    assert ">b<" in picture

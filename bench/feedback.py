"""What does feedback bring? Rocchio's formula in a second search, by simulated people who mark the first ten answers.

    python bench/feedback.py DIR [--cache indexes/quality] [--queries 100]

DIR has sets in BEIR's layout, as for quality.py; a set is used where its queries have several relevant papers. Somebody searches,
and likes the first relevant paper of the ten, or all of them; or also dislikes the two of the others that are least like the relevant
ones, or dislikes only these two. The ten are then taken out of every ranking and of the judgements (residual collection), so
nothing is gained by showing again what was marked, and the first search is compared with the second on the same papers.

Prints nDCG@10 and R@100 x 100; for the gain of all liked a 95 % bootstrap interval and the p-value of a paired randomisation
test, corrected by Holm's method; and what each weight gives, with the one that the other collections would choose.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from quality import MEASURES, drawn, indexed, sets
from reporting import arguments, report

import sciretrieve as sr
from sciretrieve.base.types import Query, Vectors
from sciretrieve.evaluation.material import Task
from sciretrieve.evaluation.readers import beir
from sciretrieve.matching.dense.vectors import vectors_at
from sciretrieve.metrics.measures import Evaluator
from sciretrieve.metrics.naming import parse_measure
from sciretrieve.metrics.significance import compare, holm, interval
from sciretrieve.papers.corpora import PaperCorpus
from sciretrieve.query.reading import rocchio

SHOWN, DEPTH = 10, 100
FEWEST, DISLIKES = 3.0, 2
"""Relevant papers that a query must have on average; and papers that somebody dislikes."""
WEIGHTS: dict[str, tuple[float, ...]] = {
    "LIKED": (0.5, 1.0, 1.5, 2.0, 3.0),
    "DISLIKED": (0.0, 0.2, 0.4, 0.8),
    "ADDED_TERMS": (25, 50, 100),
}
"""What is tried in place of each of the constants of `sciretrieve.query.reading.rocchio`, and on which marks."""
TRIED_ON = {"LIKED": ("one liked", "all liked"), "DISLIKED": ("and disliked", "only disliked"), "ADDED_TERMS": ("one liked", "all liked")}
MARKS = ("one liked", "all liked", "and disliked", "only disliked")


@dataclass(frozen=True)
class Person:
    """Somebody with a query who has seen ten answers: which of them are relevant, from the first, and which are the furthest from it."""

    query: Query
    vector: Vectors
    shown: Sequence[str]
    relevant: Sequence[str]
    others: Sequence[str]
    left: Mapping[str, int]

    def marks(self, name: str) -> dict[str, Sequence[str]]:
        """The arguments `like` and `unlike` for one of `MARKS`."""
        return {
            "first search": {},
            "one liked": {"like": self.relevant[:1]},
            "all liked": {"like": self.relevant},
            "and disliked": {"like": self.relevant, "unlike": self.others[:DISLIKES]},
            "only disliked": {"unlike": self.others[:DISLIKES]},
        }[name]


def people(index: sr.Index, task: Task, queries: Sequence[Query]) -> Iterator[Person]:
    """Those whose first ten answers have a relevant paper, and who have others to find."""
    vectors = index.reader.query_encoder.encode(queries)
    run = index.search(list(queries), SHOWN + 1, vectors=vectors, group=False)
    for query, vector, ranking in zip(queries, vectors, run, strict=True):
        shown = [id for id in ranking.ids if id != query.id][:SHOWN]
        grades = {id: grade for id, grade in task.qrels[query.id].items() if grade > 0 and id != query.id}
        rows = index.snapshot.find(list(grades))
        left = {id: grades[id] for id in rows if id not in shown}
        relevant = [id for id in shown if id in grades]
        if not (relevant and left):
            continue
        centre = vectors_at(index.snapshot.vectors, np.array(list(rows.values()))).mean(axis=0)
        others = [id for id in shown if id not in grades]
        nearness = vectors_at(index.snapshot.vectors, index.snapshot.rows(others)) @ centre
        yield Person(query, vector, shown, relevant, [others[place] for place in np.argsort(nearness, kind="stable")], left)


def values(index: sr.Index, asked: Sequence[Person], evaluator: Evaluator, marks: str) -> Any:
    """Each measure for each person, (people, measures), where the shown papers are taken out."""
    rankings = {}
    for person in asked:
        run = index.search(person.query, DEPTH + SHOWN + 1, vectors=person.vector[None], group=False, **person.marks(marks))  # type: ignore[arg-type]
        ids = [id for id in run.rankings[0].ids if id not in person.shown and id != person.query.id][:DEPTH]
        rankings[person.query.id] = {id: float(-rank) for rank, id in enumerate(ids)}
    scored = evaluator.per_query(rankings)
    return np.array([[scored.get(person.query.id, {}).get(measure, 0.0) for measure in MEASURES] for person in asked])


def tried(index: sr.Index, asked: Sequence[Person], evaluator: Evaluator) -> dict[tuple[str, float], float]:
    """nDCG@10 with each of `WEIGHTS` in place of the usual one, the mean over the marks that it matters for."""
    figures = {}
    for name, choices in WEIGHTS.items():
        usual = getattr(rocchio, name)
        for choice in choices:
            setattr(rocchio, name, choice)
            figures[name, choice] = 100 * float(np.mean([values(index, asked, evaluator, marks)[:, 0].mean() for marks in TRIED_ON[name]]))
        setattr(rocchio, name, usual)
    return figures


def chosen_by_others(figures: Mapping[tuple[str, str], Mapping[tuple[str, float], float]], collection: str, name: str) -> float:
    """The weight with the best mean over the other collections, where a collection's sets count together as one."""
    others = {folder for folder, _ in figures if folder != collection}

    def mean(choice: float) -> float:
        return float(np.mean([np.mean([of[name, choice] for (folder, _), of in figures.items() if folder == other]) for other in others]))

    return max(WEIGHTS[name], key=mean)


def main() -> None:
    """Measure, and print."""
    if len(sys.argv) < 2 or sys.argv[1].startswith("-"):
        sys.exit("name a folder with sets in BEIR's layout: python bench/feedback.py DIR")
    folder = Path(sys.argv.pop(1))
    options = arguments(__doc__, cache="indexes/quality", queries=100)
    wanted = [parse_measure(name) for name in MEASURES]
    rows: list[dict[str, Any]] = []
    figures: dict[tuple[str, str], dict[tuple[str, float], float]] = {}
    tests = []
    for name, directory, split in sets(folder):
        material = beir.load(directory, split, directory.name)
        task = material.tasks[0]
        if np.mean([sum(grade > 0 for grade in grades.values()) for grades in task.qrels.values()]) < FEWEST:
            continue
        corpus = PaperCorpus.of(material.name, material.fingerprint, material.pool)
        index = indexed(corpus, Path(options.cache) / directory.name, str(sr.BuildSettings().encoder))
        asked = list(people(index, task, drawn(task, options.queries)))
        evaluator = Evaluator({person.query.id: dict(person.left) for person in asked}, wanted)
        measured = {marks: values(index, asked, evaluator, marks) for marks in ("first search", *MARKS)}
        before, after = (measured[marks][:, 0] for marks in ("first search", "all liked"))
        low, high = interval(after - before)
        tests.append(compare(before, after).p_randomisation)
        rows.append(
            {"set": name, "people": len(asked), "papers": len(index), "liked": float(np.mean([len(person.relevant) for person in asked]))}
            | {marks: " / ".join(f"{100 * mean:.1f}" for mean in given.mean(axis=0)) for marks, given in measured.items()}
            | {"gain": f"{100 * (after - before).mean():+.1f} [{100 * low:.1f}, {100 * high:.1f}]"}
        )
        figures[directory.name, split] = tried(index, asked, evaluator)
        print(rows[-1], figures[directory.name, split], file=sys.stderr, flush=True)
    for row, p in zip(rows, holm(tests), strict=True):
        row["p"] = f"{p:.4f}"
    report(rows, options.json)
    choices = []
    for (collection, split), of in figures.items():
        choice_row: dict[str, Any] = {"set": f"{collection} {split}"}
        for name in WEIGHTS:
            choice_row |= {f"{name} {choice:g}": f"{of[name, choice]:.1f}" for choice in WEIGHTS[name]}
            choice_row[f"{name} of others"] = chosen_by_others(figures, collection, name) if len({of for of, _ in figures}) > 1 else "-"
        choices.append(choice_row)
    print()
    report(choices, None)


if __name__ == "__main__":
    main()

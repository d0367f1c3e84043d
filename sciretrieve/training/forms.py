"""What a training set is: its five forms, what an encoder reads of it, and the files of its folder, written in the same order each time."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeAlias

from ..base.errors import InvalidRequest
from ..base.types import Paper
from ..files.csv_files import tsv_rows
from ..files.writing import write_json, write_lines, write_whole
from ..matching.lexical.sentences import sentences

SetTask: TypeAlias = Literal["triplets", "pairs", "labels", "targets", "rankings"]
CORPUS, QUERIES, FACTS = "corpus.jsonl", "queries.jsonl", "training.json"
FORMATS = ("proximity", "adhoc_query", "classification", "regression")
"""The formats of tasks, by the names of SPECTER2's adapters (Singh et al. 2023, §4); "adhoc_query" reads queries that are texts."""
ORIGINAL = "original"
"""The field, in a paper's metadata in corpus.jsonl, with the id and title of the paper whose text was changed to make it."""
PAIRED = ("query-id", "positive-id", "negative-id", "kind")
HEADERS: Mapping[SetTask, tuple[str, ...]] = {
    "triplets": PAIRED,
    "pairs": PAIRED,
    "labels": ("paper-id", "label"),
    "targets": ("paper-id", "value"),
    "rankings": ("query-id", "paper-id", "score"),
}
"""What a set is for, and the columns of its table, which is named after it: triplets.tsv."""
LABEL = "label:"
"""What the id of a label begins with where a label is in a pair as papers are."""
WITHOUT = "without-"
"""What the form of a paper that lacks one of its sentences begins with, see `Doc`."""
MAKE = "make one with `sciretrieve train build triplets`, pairs, labels or targets"


@dataclass(frozen=True, slots=True)
class TrainingSet:
    """What an encoder learns from, with the texts of its papers. What a task has no use for is empty.

    Attributes:
        task: "triplets" and "pairs" are learned by nearness, "labels" by classification, "targets" by regression, "rankings" by the scores
            of a teacher. Pairs and rankings may have queries that are texts; pairs may lack a negative, and their papers may be labels,
            with the name as title, see `LABEL`.
        papers: by id.
        triplets: ids of a query, a positive and a negative paper; the last is "" where a pair has none.
        queries: the texts of queries that are no papers, by id; an id is looked up here before it is in `papers`.
        labels: the labels of each paper, one or more, by its id.
        one_each: whether the set's form gives a paper one label: one that is listed again with another is an example of each.
        targets: the number to predict of each paper, by its id.
        rankings: a teacher's scores of some papers for each query, by id; greater is better.
        read_as: the format by which all of its texts are read, one of `FORMATS`, if that is not as its form has it.
    """

    task: SetTask
    papers: Mapping[str, Paper]
    triplets: list[tuple[str, str, str]]
    queries: Mapping[str, str] = field(default_factory=dict)
    labels: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    targets: Mapping[str, float] = field(default_factory=dict)
    rankings: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    read_as: str = ""
    one_each: bool = field(default=False, compare=False)

    @property
    def asked(self) -> str:
        """The format of the task: "adhoc_query" where queries are texts."""
        own = {"labels": "classification", "targets": "regression"}.get(self.task, "proximity")
        return self.read_as or ("adhoc_query" if self.queries else own)

    @property
    def formats(self) -> tuple[str, ...]:
        """All formats that its texts are read through: where queries are texts, papers have one of their own."""
        return ("proximity", "adhoc_query") if self.queries and not self.read_as else (self.asked,)


@dataclass(frozen=True)
class Lessons:
    """What is learned from, and what is kept out of it.

    Attributes:
        sets: by name, with where they are.
        choosing: sets of other papers, on which the training is measured and stopped; empty: some queries of `sets` are set apart.
        judging: sets of papers that are in neither, for what is said of its gain.
        words: what of a command names them.
    """

    sets: Mapping[str, tuple[Path, TrainingSet]]
    choosing: Sequence[TrainingSet] = ()
    judging: Sequence[TrainingSet] = ()
    words: Sequence[str] = ()


def ranking_labels(training_set: TrainingSet) -> TrainingSet:
    """A set of labels as pairs: a paper, and a label of it by its name, without a negative (Zhang et al. 2023, SciMult, section 3.1).

    Pairs with labels, and those made so, are read as classification. Other sets stay.
    """
    if training_set.task != "labels":
        has_labels = any(id.startswith(LABEL) for row in training_set.triplets[:1] for id in row)
        return replace(training_set, read_as=training_set.read_as or "classification") if has_labels else training_set
    names = sorted({name for names in training_set.labels.values() for name in names})
    labels = {f"{LABEL}{name}": Paper(id=f"{LABEL}{name}", title=name) for name in names}
    pairs = [(id, f"{LABEL}{name}", "") for id, names in training_set.labels.items() for name in names]
    papers = {**training_set.papers, **labels}
    read_as = training_set.read_as or "classification"
    return replace(training_set, task="pairs", papers=papers, triplets=pairs, labels={}, read_as=read_as)


def number_of(value: object, where: str) -> float:
    """A target as a finite number. Raises InvalidRequest, which says where it is."""
    try:
        number = float(str(value))
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise InvalidRequest(f"{where}: the value {value!r} is no number")
    return number


class Doc(NamedTuple):
    """A paper of a training set: as it is, or with its text changed.

    `form` is "" for title and abstract, "abstract" for that alone, and "without-3" for both without the abstract's third sentence.
    """

    paper: str
    form: str = ""

    @property
    def id(self) -> str:
        """Its id in the set: the paper's own, or that with its form."""
        return f"{self.paper}#{self.form}" if self.form else self.paper


def write_table(folder: Path, task: SetTask, rows: Iterable[Sequence[object]]) -> None:
    """Write the table of a set."""
    write_whole(folder / f"{task}.tsv", tsv_rows([HEADERS[task], *rows]).encode())


def write_papers(folder: Path, docs: Iterable[Doc], texts: Iterable[tuple[str, str, str]], labels: Mapping[str, str] | None = None) -> None:
    """Write papers in the order of `texts`, their ids, titles and abstracts; then `labels`, titles alone, by id."""
    forms: dict[str, set[str]] = {}
    for doc in docs:
        forms.setdefault(doc.paper, set()).add(doc.form)
    write_lines(folder / CORPUS, _lines(forms, texts, labels or {}))


def _lines(forms: Mapping[str, set[str]], texts: Iterable[tuple[str, str, str]], labels: Mapping[str, str]) -> Iterator[str]:
    for id, title, abstract in texts:
        for form in sorted(forms.get(id, ())):
            doc = Doc(id, form)
            row: dict[str, Any] = {"_id": doc.id, "title": "" if form == "abstract" else title, "text": changed_text(form, abstract)}
            if form:
                row["metadata"] = {ORIGINAL: {"id": id, "title": title}}
            yield json.dumps(row, ensure_ascii=False)
    for id, label in labels.items():
        yield json.dumps({"_id": id, "title": label, "text": ""}, ensure_ascii=False)


def changed_text(form: str, abstract: str) -> str:
    """The abstract as a form of its paper has it."""
    if not form.startswith(WITHOUT):
        return abstract
    parts = sentences(abstract)
    number = int(form.removeprefix(WITHOUT))
    return " ".join([*parts[: number - 1], *parts[number:]])


def write_queries(folder: Path, queries: Mapping[str, str]) -> None:
    """Write queries that are texts."""
    write_lines(folder / QUERIES, (json.dumps({"_id": id, "text": text}, ensure_ascii=False) for id, text in queries.items()))


def write_facts(folder: Path, task: SetTask, facts: Mapping[str, Any]) -> None:
    """Write what the set is for and how it was made."""
    write_json(folder / FACTS, {"schema": 1, "task": task, **facts})

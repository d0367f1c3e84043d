"""The five forms of training sets, the formats of their texts, and the files of their folders, always written in the same order."""

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
from ..papers.sentences import sentences

SetTask: TypeAlias = Literal["triplets", "pairs", "labels", "targets", "rankings"]
CORPUS, QUERIES, FACTS = "corpus.jsonl", "queries.jsonl", "training.json"
FORMATS = ("proximity", "adhoc_query", "classification", "regression")
"""The formats of tasks, by the names of SPECTER2's adapters (Singh et al. 2023, §4); "adhoc_query" is for text queries."""
ORIGINAL = "original"
"""The metadata field in corpus.jsonl with the id and title of the paper whose text was changed."""
PAIRED = ("query-id", "positive-id", "negative-id", "kind")
HEADERS: Mapping[SetTask, tuple[str, ...]] = {
    "triplets": PAIRED,
    "pairs": PAIRED,
    "labels": ("paper-id", "label"),
    "targets": ("paper-id", "value"),
    "rankings": ("query-id", "paper-id", "score"),
}
"""The forms and the columns of their tables, which are named after them: triplets.tsv."""
LABEL = "label:"
"""The prefix of a label's id in pairs, where labels stand in the place of papers."""
WITHOUT = "without-"
"""The prefix of the form of a paper without one of its sentences, see `Doc`."""
MAKE = "make one with `sciretrieve train build triplets`, pairs, labels or targets"


@dataclass(frozen=True, slots=True)
class TrainingSet:
    """Examples for an encoder, with the texts of their papers. Fields of other tasks are empty.

    Attributes:
        task: "triplets" and "pairs" teach nearness, "labels" classes, "targets" numbers, "rankings" the scores of a teacher. Queries of
            pairs and rankings may be texts. Pairs may lack a negative, and may have labels in place of papers, with the name as title, see
            `LABEL`.
        papers: by id.
        triplets: ids of a query, a positive and a negative paper; the last is "" for a pair without one.
        queries: the texts of text queries, by id; ids are looked up here before `papers`.
        labels: the labels of each paper, one or more, by its id.
        several: whether a paper may have several labels, by the set's form; if not, each further label of a paper is an example of its own.
        targets: the number to predict of each paper, by its id.
        rankings: a teacher's scores of some papers for each query, by id; greater is better.
        read_as: the format of all texts, one of `FORMATS`, if it differs from the form's.
    """

    task: SetTask
    papers: Mapping[str, Paper]
    triplets: list[tuple[str, str, str]]
    queries: Mapping[str, str] = field(default_factory=dict)
    labels: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    targets: Mapping[str, float] = field(default_factory=dict)
    rankings: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    read_as: str = ""
    several: bool = field(default=False, compare=False)

    @property
    def asked(self) -> str:
        """The format of the task: "adhoc_query" for text queries."""
        own = {"labels": "classification", "targets": "regression"}.get(self.task, "proximity")
        return self.read_as or ("adhoc_query" if self.queries else own)

    @property
    def formats(self) -> tuple[str, ...]:
        """All formats of its texts: with text queries, papers have another format."""
        return ("proximity", "adhoc_query") if self.queries and not self.read_as else (self.asked,)


@dataclass(frozen=True)
class Splits:
    """The sets of a training, and the held-out sets.

    Attributes:
        sets: by name, with their paths.
        choosing: sets of other papers, to measure the training and to stop it; if empty, some queries of `sets` are held out.
        judging: sets of further papers, to report the gain.
        words: the arguments of the command that names the sets.
    """

    sets: Mapping[str, tuple[Path, TrainingSet]]
    choosing: Sequence[TrainingSet] = ()
    judging: Sequence[TrainingSet] = ()
    words: Sequence[str] = ()


def ranking_labels(training_set: TrainingSet) -> TrainingSet:
    """A set of labels as pairs: a paper, and the name of one of its labels, without a negative (Zhang et al. 2023, SciMult, section 3.1).

    The result, and pairs that already have labels, are read as classification. Other sets are returned unchanged.
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
    """A target as a finite number. Raises InvalidRequest with its place."""
    try:
        number = float(str(value))
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise InvalidRequest(f"{where}: the value {value!r} is not a number")
    return number


class Doc(NamedTuple):
    """A paper of a training set, as it is or with its text changed.

    `form` is "" for title and abstract, "abstract" for the abstract alone, and "without-3" for both without the abstract's third sentence.
    """

    paper: str
    form: str = ""

    @property
    def id(self) -> str:
        """Its id in the set: the paper's own, followed by the form if there is one."""
        return f"{self.paper}#{self.form}" if self.form else self.paper


def write_table(folder: Path, task: SetTask, rows: Iterable[Sequence[object]]) -> None:
    """Write the table of a set."""
    write_whole(folder / f"{task}.tsv", tsv_rows([HEADERS[task], *rows]).encode())


def write_papers(folder: Path, docs: Iterable[Doc], texts: Iterable[tuple[str, str, str]], labels: Mapping[str, str] | None = None) -> None:
    """Write papers in the order of `texts` (ids, titles and abstracts); then `labels`, by id, as titles alone."""
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
    """The abstract in a form of its paper."""
    if not form.startswith(WITHOUT):
        return abstract
    parts = sentences(abstract)
    number = int(form.removeprefix(WITHOUT))
    return " ".join([*parts[: number - 1], *parts[number:]])


def write_queries(folder: Path, queries: Mapping[str, str]) -> None:
    """Write the text queries."""
    write_lines(folder / QUERIES, (json.dumps({"_id": id, "text": text}, ensure_ascii=False) for id, text in queries.items()))


def write_facts(folder: Path, task: SetTask, facts: Mapping[str, Any]) -> None:
    """Write the form of the set and how it was made."""
    write_json(folder / FACTS, {"schema": 1, "task": task, **facts})

"""Writing a training set: its table, its papers and texts, and the facts of its making, all in the same order each time."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from ..files.csv_files import tsv_rows
from ..files.writing import write_json, write_lines, write_whole
from ..matching.lexical.sentences import sentences
from .forms import CORPUS, FACTS, HEADERS, ORIGINAL, QUERIES, SetTask

WITHOUT = "without-"


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

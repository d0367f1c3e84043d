"""Each public name has an example in its docstring, and all of them run, on an index of made-up papers. What they give travels."""

from __future__ import annotations

import copy
import doctest
import inspect
import json
import pickle
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import sciretrieve as sr
from sciretrieve.base.forms import AsJson, AsTable
from tests.made_up import made_up_papers, write_jsonl

CLASSES = ("Answer", "Index", "Ranking", "Run", "Screening")
"""Those whose methods have examples, too; the others are values."""
WORDS = ("graph networks", "star dust", "market price", "vaccine trial")
LONG = {"RayWorkers": "starts a cluster", "robustness": "makes 32 indexes"}
"""What takes seconds, so its example is read and not run."""


def documented() -> Iterator[tuple[str, Any]]:
    """Public functions and classes, and the public methods of some, with their names. Of the errors the root: all are caught alike."""
    for name in sorted(set(sr.__all__) - {"__version__"}):
        value = getattr(sr, name)
        if inspect.ismodule(value):
            continue
        if value is sr.SciretrieveError or not (isinstance(value, type) and issubclass(value, Exception)):
            yield name, value
    for name in CLASSES:
        kind = getattr(sr, name)
        for method, value in inspect.getmembers(kind, inspect.isroutine):
            if not method.startswith("_") and value.__module__.startswith("sciretrieve."):
                yield f"{name}.{method}", value


@pytest.fixture
def names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What examples find: papers.jsonl, an open `index` of it, also as indexes/papers, a `run`, an `answer`, and judged `queries`."""
    monkeypatch.setenv("SCIRETRIEVE_DATA", str(tmp_path / "data"))  # saved searches are for no other test
    write_jsonl(tmp_path / "papers.jsonl", papers := made_up_papers(100))
    index = sr.build("papers.jsonl", into="indexes/papers", progress=False)
    queries = [sr.Query(str(number), WORDS[number % len(WORDS)]) for number in range(20)]
    qrels = {query.id: {paper["id"]: 1 for paper in papers if query.text.split()[0] in paper["title"]} for query in queries}
    library = tmp_path / "library"
    (library / "qrels").mkdir(parents=True)
    write_jsonl(library / "corpus.jsonl", [{"_id": paper["id"], "title": paper["title"], "text": paper["abstract"]} for paper in papers])
    write_jsonl(library / "queries.jsonl", [{"_id": query.id, "text": query.text} for query in queries])
    rows = [f"{query}\t{paper}\t1" for query, judged in qrels.items() for paper in judged]
    (library / "qrels" / "test.tsv").write_text("\n".join(["query-id\tcorpus-id\tscore", *rows]))
    (tmp_path / "texts").mkdir()
    (tmp_path / "texts" / f"{papers[7]['title']}.txt").write_text(f"{papers[7]['title']}\n\n{papers[7]['abstract']}\n" * 3)
    (tmp_path / "draft.txt").write_text("Graph networks learn from neighbours.")
    return {
        "sr": sr,
        "index": index,
        "run": index.search(["graph networks", "star dust"], 3),
        "answer": sr.answer(index, sr.Request("graph networks", k=3)),
        "queries": queries,
        "qrels": {query: judged for query, judged in qrels.items() if judged},
    }


def test_every_public_name_has_an_example_that_runs(names: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sciretrieve.studies.tuning._grid", lambda current: [current])  # else it takes seconds
    results: list[AsJson] = []
    faults, runner, parser = [], doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE), doctest.DocTestParser()
    for name, value in documented():
        examples = parser.get_doctest(inspect.getdoc(value) or "", dict(names), name, None, None)
        if not any(name.rpartition(".")[2] in example.source for example in examples.examples):
            faults.append(f"{name} has no example that shows it")
        elif name not in LONG:
            said: list[str] = []
            runner.run(examples, out=said.append, clear_globs=False)
            faults += said
            for given in examples.globs.values():
                if isinstance(given, AsJson) and given not in results:
                    results.append(given)
    assert not faults, "\n".join(faults)
    kinds = {type(result).__name__ for result in results}
    assert kinds >= {"Answer", "Run", "Report", "Health", "Profile", "Update", "Verification", "TuningResult", "Recall", "Bench", "News"}
    for result in results:
        for other in (pickle.loads(pickle.dumps(result)), copy.copy(result), copy.deepcopy(result)):
            assert type(other) is type(result)
            assert other.to_json() == result.to_json()
        assert json.loads(result.to_json()) == result.to_dict()
        if isinstance(result, AsTable):
            assert result.to_pandas().shape == result.to_polars().shape == result.to_arrow().shape

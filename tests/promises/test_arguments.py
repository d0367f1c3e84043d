"""Every public function refuses whatever is no argument of it with an error of ours, one line long, before it does anything; and takes an
index, papers and encoders in every form."""

from __future__ import annotations

import inspect
import re
import warnings
from collections.abc import Callable, Iterator
from itertools import product
from operator import attrgetter
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import sciretrieve as sr
from sciretrieve.answers.saved import forget
from tests.made_up import made_up_papers

PAPERS = made_up_papers(12)
ID = PAPERS[0]["id"]
HOSTILE: list[Any] = [
    None,
    True,
    7,
    -1,
    1.5,
    float("nan"),
    "",
    "\0",
    Path("\0"),
    "nonsense\ud800",
    b"bytes",
    [],
    [1, None],
    [[]],
    [[1], [1, 2]],
    {},
    {1: 2},
    object(),
    int,
    len,
    np.zeros((2, 2)),
    np.array("p0001"),
]

CALLS: dict[str, dict[str, Any]] = {
    "add": {"corpus": PAPERS[:1], "index": "library"},
    "add_full_texts": {"source": "texts", "index": "library"},
    "answer": {"index": "library", "request": "graph"},
    "bench": {"index": "library", "types": ["flat"], "limit": 100},
    "build": {"corpus": PAPERS, "into": "indexes/library", "settings": sr.BuildSettings(encoder=None), "strict": False},
    "build_part": {"corpus": PAPERS, "into": "parts", "part": "1/2", "settings": sr.BuildSettings(encoder=None)},
    "citations_of": {"index": "library", "id": ID},
    "cite": {"papers": [ID], "append": "a.bib", "index": "library"},
    "compare": {"runs": ["one.trec", "two.trec"], "qrels": "qrels.tsv", "measures": ["nDCG@10"]},
    "delete": {"index": "library", "ids": [ID], "filter": None, "dry_run": True},
    "encode": {"source": PAPERS, "target": "vectors.npy", "encoder": {}, "side": "paper", "limit": 1},
    "estimate": {"corpus": PAPERS, "settings": sr.BuildSettings(encoder=None)},
    "evaluate": {"benchmark": "beir:nowhere", "data": None, "index": "library"},
    "explain": {"index": "library", "query": "graph", "ids": [ID], "filter": None},
    "export": {"index": "library", "target": "papers.csv", "dense": "flat", "rows": None},
    "field": {"name": "year"},
    "health": {"index": "library", "progress": False},
    "index_parts": {"index": "library"},
    "load_encoder": {"name": "nonsense", "adapter": None},
    "measure_recall": {"index": "library", "queries": 5, "seed": 0},
    "merge": {"index": "library", "progress": False},
    "news": {"index": "library", "search": "saved"},
    "open": {"path": "library", "generation": None},
    "open_corpus": {"sources": PAPERS, "columns": None},
    "open_many": {"indexes": ["library"]},
    "open_reranker": {"name": "nonsense"},
    "profile": {"index": "library", "name": ID},
    "reindex": {"index": "library", "dense": None, "recall": None, "memory": None, "late": None},
    "repair": {"index": "library", "progress": False},
    "restore": {"index": "library", "generation": 9},
    "robustness": {"source": PAPERS, "limit": 1},
    "save_search": {"index": "library", "request": sr.Request("graph"), "name": "saved"},
    "saved_search": {"name": "nothing"},
    "saved_searches": {},
    "schema": {"name": "answer"},
    "suggest": {"index": "library", "draft": "A sentence of a draft.", "k": 1},
    "sync": {"corpus": PAPERS, "index": "library", "allow_deletions": False, "dry_run": True},
    "tune": {"index": "library", "queries": [sr.Query("1", "graph")], "qrels": {"1": {ID: 1}}, "measure": "nDCG@10"},
    "verify": {"index": "library", "progress": False},
    "why_not": {"index": "library", "id": ID, "query": "graph", "k": 1, "mode": None},
}
"""Functions -> arguments, each of which is replaced by what is no argument. `library` is the name of an index."""
METHODS: dict[str, dict[str, Any]] = {
    "__contains__": {"id": ID},
    "__getitem__": {"id": ID},
    "corrections": {"query": "graph"},
    "count": {"query": "graph", "filter": None},
    "count_lines": {"query": "graph", "filter": None},
    "full_text": {"name": ID},
    "ids": {"rows": [0]},
    "matching": {"query": "graph", "filter": None},
    "named_rows": {"names": [ID]},
    "papers": {"names": [ID]},
    "papers_at": {"rows": [0]},
    "passages": {"query": "graph", "k": 1, "within": ()},
    "reopened": {"generation": None},
    "score": {"query": "graph", "ids": [ID], "vector": None},
    "search": {
        "query": "graph",
        "k": 1,
        "like": (),
        "unlike": (),
        "vectors": None,
        "among": None,
        "filter": None,
        "mode": None,
        "reranker": None,
    },
    "similar": {"ids": [ID], "k": 1, "text": None, "negatives": (), "by": None},
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with a small index of words alone, and a saved search of it."""
    folder = tmp_path_factory.mktemp("arguments")
    with sr.build(PAPERS, folder / "indexes" / "library", encoder=None, progress=False) as index:
        sr.save_search(index, sr.Request("graph"), "saved")
    yield folder
    forget("saved")


@pytest.fixture
def here(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The same as the working directory."""
    monkeypatch.chdir(folder)
    return folder


def refusals(call: Callable[..., Any], arguments: dict[str, Any]) -> Iterator[str]:
    """What a function raises in place of an error of ours, for each argument that is none."""
    for name, value in product(arguments, HOSTILE):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                result = call(**{**arguments, name: value})
                if hasattr(result, "close"):
                    result.close()
        except sr.SciretrieveError as error:
            if "\n" in str(error):
                yield f"{name}={value!r}: several lines"
        except Exception as error:
            yield f"{name}={value!r}: {type(error).__name__}: {error}"


@pytest.mark.parametrize("name", CALLS)
def test_a_function_refuses_what_is_no_argument(name: str, here: Path) -> None:
    assert list(refusals(getattr(sr, name), CALLS[name])) == []
    with sr.open("library") as index:
        assert len(index) == len(PAPERS)


@pytest.mark.parametrize("name", METHODS)
def test_an_index_refuses_what_is_no_argument(name: str, here: Path) -> None:
    with sr.open("library") as index:

        def call(**arguments: Any) -> Any:
            return getattr(index, name)(*arguments.values()) if name.startswith("__") else getattr(index, name)(**arguments)

        assert list(refusals(call, METHODS[name])) == []


def test_every_function_is_among_them() -> None:
    assert {name for name in sr.__all__ if inspect.isfunction(getattr(sr, name))} == set(CALLS)


TAKING = [name for name, arguments in CALLS.items() if "library" in arguments.values() and name not in ("add_full_texts", "evaluate")]
"""Functions of an index that have something to do with this one."""


@pytest.mark.parametrize("name", TAKING)
def test_an_index_is_given_open_by_folder_or_by_name(name: str, here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = list[sr.Index]()
    init = sr.Index.__init__

    def recording(self: Any, *parts: Any) -> None:
        init(self, *parts)
        made.append(self)

    with sr.open("library") as index:
        monkeypatch.setattr(sr.Index, "__init__", recording)
        outcomes = list[object]()
        for form in ("library", "indexes/library", Path("indexes/library"), index):
            arguments = {key: form if value == "library" else value for key, value in CALLS[name].items()}
            try:
                given = getattr(sr, name)(**arguments)
                outcomes.append(type(given))
                getattr(given, "to_dict", dict)()  # needs no index
            except sr.SciretrieveError as error:
                outcomes.append(str(error))
        for one in made if name == "open" else ():
            one.close()
        assert len(set(outcomes)) == 1
        assert "closed" not in str(outcomes[0])
        assert all("closed" in repr(one) for one in made)
        assert len(index) == len(PAPERS)
    with pytest.raises(sr.IndexClosed):
        getattr(sr, name)(**{key: index if value == "library" else value for key, value in CALLS[name].items()})


def test_papers_are_ids_or_objects(here: Path) -> None:
    with sr.open("library") as index:
        hit = index.search("graph", k=1).hits[0]
        columns = (np.array([hit.id]), np.array(hit.id), pa.array([hit.id]), pa.table({"id": [hit.id]})["id"].to_pandas())
        forms: list[Any] = [hit.id, hit, hit.paper, [hit.paper], (hit,), {hit.id}, {hit.id: 1}.keys(), *columns]
        queries = ["graph", "star"]
        for many in (iter(queries), np.array(queries), pa.array(queries), pa.table({"q": queries})["q"].to_pandas()):
            assert [ranking.query.text for ranking in index.search(many)] == queries
        for one in forms:
            assert sr.Request(like=one).like in (hit.id, [hit.id])
            assert index.papers(one) == [hit.paper]
            assert index.similar(one, k=3)[0].ids == index.similar(hit.id, k=3)[0].ids
            assert index.search("graph", like=one)[0].ids == index.search("graph", like=hit.id)[0].ids
            assert index.score("graph", one).tolist() == index.score(sr.Query("1", "graph"), [hit.id]).tolist()
            assert sr.explain(index, "graph", one) == sr.explain(index, "graph", hit.id)
            assert sr.delete(index, one, dry_run=True).first == {hit.id: hit.paper.title}
            assert sr.cite(one, index=index) == sr.cite([hit.paper])
            assert sr.answer(index, sr.Request(like=one, k=3)).hits == sr.answer(index, sr.Request(like=hit.id, k=3)).hits
        for each in (hit, hit.paper):
            assert each in index
            assert index[each] == index.get(each) == hit.paper
            assert sr.profile(index, each).paper == hit.paper
            assert sr.why_not(index, each, "graph") == sr.why_not(index, hit.id, "graph")


def test_a_paper_that_is_not_there_is_one_error(here: Path) -> None:
    with sr.open("library") as index, sr.Screening(index, "review.jsonl", "graph") as screening:
        uses: list[Callable[[str], Any]] = [
            lambda id: index[id],
            lambda id: index.papers(id),
            lambda id: index.named_rows([id]),
            lambda id: index.full_text(id),
            lambda id: index.similar(id),
            lambda id: index.similar(ID, negatives=id),
            lambda id: index.search("graph", like=id),
            lambda id: index.score("graph", id),
            lambda id: sr.answer(index, sr.Request("graph", unlike=[id])),
            lambda id: sr.explain(index, "graph", id),
            lambda id: sr.why_not(index, id, "graph"),
            lambda id: sr.profile(index, id),
            lambda id: sr.citations_of(index, id),
            lambda id: sr.cite(id, index=index),
            lambda id: sr.delete(index, id),
            lambda id: screening.decide(id),
            lambda id: screening.note(id, "a note"),
        ]
        for use in uses:
            with pytest.raises(sr.NoSuchPaper, match="there is no paper 'nobody'"):
                use("nobody")


def test_deep_imports_are_not_needed() -> None:
    page = (Path(sr.__file__).parents[1] / "docs" / "python.md").read_text(encoding="utf-8")
    named = {name for name in re.findall(r"\bsr((?:\.\w+)+)", page) if not name.endswith(("_", "."))}
    assert len(named) > 60
    for name in named:
        if name.startswith(".integrations."):  # whose libraries may not be installed
            assert name.split(".")[2] in sr.integrations.__all__
            continue
        attrgetter(name[1:])(sr)
    assert re.findall(r"sciretrieve\.\w+\.\w+|from sciretrieve\S* import", page) == []

"""Every error survives pickling with its message, is one line, and has the exit code of its family."""

import inspect
import pickle
import re
from pathlib import Path

import pytest

import sciretrieve as sr
from sciretrieve.base import errors

SAMPLES = {
    "UnknownName": ("metric", "l3", ("l2", "ip")),
    "Ambiguous": ("Index", "title", 7, (("a", "Index", 1999), ("b", "", None))),
    "IndexExists": ("indexes/a", "holds an index"),
    "NoSuchIndex": ("there is no index at indexes/a",),
    "NoSuchPaper": ("there is no paper 'a' in indexes/a",),
    "BadPaper": ("papers.csv", 3, "no id"),
    "MissingExtra": ("pandas", "to_pandas", "pip install pandas"),
    "IndexClosed": ("indexes/a",),
    "PluginFailed": ("encoder", "letters", "example 1.0", "ValueError: no vectors"),
    "IndexBusy": ("indexes/a", "process 7 on a machine"),
    "ResultAwaited": ("run S2AND's own code first",),
    "TimedOut": ("it took longer than 30 seconds",),
    "EncoderMismatch": ("minilm", "specter2", "weights"),
}
FAMILIES = {"InvalidRequest": 2, "NotFound": 2, "CorruptData": 3, "Unavailable": 4}
CLASSES = [kind for _, kind in inspect.getmembers(errors, inspect.isclass) if issubclass(kind, errors.SciretrieveError)]


@pytest.mark.parametrize("kind", CLASSES, ids=lambda kind: str(kind.__name__))
def test_each_error(kind: type[errors.SciretrieveError]) -> None:
    error = kind(*SAMPLES.get(kind.__name__, ("what happened",)))
    copy = pickle.loads(pickle.dumps(error))
    assert type(copy) is kind
    assert str(copy) == str(error)
    assert "\n" not in str(error)
    family = next((name for base in kind.__mro__ if (name := base.__name__) in FAMILIES), None)
    assert kind.exit_code == (FAMILIES[family] if family else 1)
    if kind.__name__ not in {"SciretrieveError", *FAMILIES}:
        assert kind.__name__ in SAMPLES


def test_what_is_caught_is_a_name_of_the_package_and_in_its_trees() -> None:
    page = (Path(__file__).parents[2] / "docs" / "python.md").read_text(encoding="utf-8")
    kinds = [*CLASSES, errors.RowsRejected, errors.WordsAlone]
    for kind in kinds:
        name = kind.__name__
        assert getattr(sr, name) is kind
        assert name in sr.__all__
        for text in (page, sr.__doc__ or "", errors.__doc__ or ""):
            assert re.search(rf"\b{name}\b", text)


def test_unknown_names_say_what_is_near_or_what_there_is() -> None:
    assert str(errors.UnknownName("metric", "cosin", ("l2", "cosine"))) == "unknown metric 'cosin'; did you mean 'cosine'?"
    assert str(errors.UnknownName("metric", "xyz", ("l2", "ip"))) == "unknown metric 'xyz'; there are: ip, l2"
    assert str(errors.UnknownName("column", "x", ())).endswith("there are: none")
    assert str(errors.UnknownName("column", "x", [f"column {n}" for n in range(20)])).endswith(", column 19 and 8 more")


def test_a_program_without_a_name_is_warned_at_its_line() -> None:
    with pytest.warns(sr.RowsRejected, match="a row") as warned:
        exec("\nwarn('a row', kind)", {"warn": errors.warn, "kind": sr.RowsRejected})
    assert (warned[0].filename, warned[0].lineno) == ("<string>", 2)

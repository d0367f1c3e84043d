"""Options: one place for types and defaults, as fields and as keyword arguments."""

import inspect
from typing import Any

import numpy as np
import pytest

import sciretrieve as sr
from sciretrieve.base.errors import InvalidRequest, UnknownName
from sciretrieve.evaluation import evaluate_modes, evaluate_suite
from sciretrieve.options import Bm25Parameters, BuildSettings, SearchOptions, changed


def test_a_misspelt_option_is_named_with_what_was_meant(index: sr.Index) -> None:
    with pytest.raises(UnknownName, match="unknown option 'filtr'; did you mean 'filter'"):
        index.search("graph", filtr="year > 2000")  # type: ignore[call-arg]
    with pytest.raises(UnknownName, match="did you mean 'shard_size'"):
        changed(BuildSettings(), {"shardsize": 3})


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"mode": "fuzzy"}, "unknown mode 'fuzzy'"),
        ({"fusion": "rff"}, "did you mean 'rrf'"),
        ({"alpha": 1.5}, "`alpha` must lie between 0 and 1, not 1.5"),
        ({"alpha": float("nan")}, "`alpha` must lie between 0 and 1, not nan"),
        ({"rerank_depth": 0}, "`rerank_depth` must be at least 1, not 0"),
        ({"nprobe": 1 << 31}, r"`nprobe` must be below 2\^31, not 2147483648"),
        ({"ef": 3, "recall": 0.9}, "`recall` chooses `ef`"),
        ({"mode": 3}, "mode is hybrid or dense or bm25, not 3"),
        ({"alpha": "half"}, "alpha is a number, not 'half'"),
        ({"since": "2020"}, "since is a whole number, not '2020'"),
        ({"ef": True}, "ef is a whole number, not True"),
        ({"group": "no"}, "group is True or False, not 'no'"),
        ({"filter": 3}, "filter is a string or a list of strings, not 3"),
        ({"filter": ["year > 2000", 3]}, "filter is a string or a list of strings"),
        ({"reranker": "minilm"}, r"reranker is what `sciretrieve.open_reranker\(name\)` gives, or .*, not 'minilm'"),
        ({"since": 2020, "until": 2010}, "no year is 2020 or later and 2010 or earlier; swap `since` and `until`"),
    ],
)
def test_search_options_are_checked_when_made(wrong: dict[str, Any], said: str) -> None:
    with pytest.raises(InvalidRequest, match=said):
        SearchOptions(**wrong)


def test_other_options_are_checked_when_made() -> None:
    for make, said in (
        (lambda: BuildSettings(encoder=3), "`encoder` is a name, an encoder with .*, not of type int"),  # type: ignore[arg-type]
        (lambda: BuildSettings(shard_size="many"), "shard_size is a whole number, not 'many'"),  # type: ignore[arg-type]
        (lambda: BuildSettings(lexical="okapi"), "lexical is a Bm25Parameters, not 'okapi'"),  # type: ignore[arg-type]
        (lambda: BuildSettings(device="gpu"), "unknown device 'gpu'; did you mean 'cpu'"),  # type: ignore[arg-type]
        (lambda: Bm25Parameters(variant="okapy"), "unknown variant 'okapy'; did you mean 'okapi'"),  # type: ignore[arg-type]
        (lambda: Bm25Parameters(k1=None), "k1 is a number, not None"),  # type: ignore[arg-type]
        (lambda: Bm25Parameters(k1=-1), "`k1` must be at least 0, not -1"),
        (lambda: Bm25Parameters(b=1.5), "`b` must lie between 0 and 1, not 1.5"),
        (lambda: BuildSettings(shard_size=0), "`shard_size` must lie between 1 and 1,000,000, not 0"),
        (lambda: sr.evaluate(3), "benchmark is a string, not 3"),  # type: ignore[arg-type]
        (lambda: sr.evaluate("mdcr", measures="MAP"), "measures is a list of strings, not 'MAP'"),
        (lambda: evaluate_modes("mdcr", encodr="x"), "unknown option 'encodr'; did you mean 'encoder'"),  # type: ignore[call-arg]
        (lambda: evaluate_suite("scirepeval", encodr="x"), "unknown option 'encodr'; did you mean 'encoder'"),  # type: ignore[call-arg]
        (lambda: sr.load_encoder(None), "name is a string, not None"),  # type: ignore[arg-type]
    ):
        with pytest.raises(InvalidRequest, match=said):
            make()


def test_numbers_of_numpy_are_numbers() -> None:
    assert SearchOptions(since=np.int64(2010), alpha=np.float32(0.5), filter=("year < 2020",)).filters == ("year < 2020", "year >= 2010")  # type: ignore[arg-type]


def test_no_vectors_by_either_name() -> None:
    assert BuildSettings(dense="none", adapter="x").encoder is None
    assert BuildSettings(dense="none", adapter="x").adapter is None
    with pytest.raises(InvalidRequest, match="needs vectors or BM25"):
        BuildSettings(dense="none", lexical=None)


def test_several_filters_must_all_hold(index: sr.Index) -> None:
    both = index.search("graph networks", 300, filter=["year >= 2010 or year < 2003", 'venue == "ACL"'], since=2002)
    joined = index.search("graph networks", 300, filter='(year >= 2010 or year < 2003) and venue == "ACL" and year >= 2002')
    assert both[0].ids == joined[0].ids
    assert 0 < len(both[0]) < 300
    years = index.search("graph networks", 300, since=2005, until=2005, group=False)
    assert years[0].ids == index.search("graph networks", 300, filter="year = 2005", group=False)[0].ids
    assert 0 < len(index.search("graph networks", 300, until=2004)[0]) < 300


def test_options_and_keywords_say_the_same(index: sr.Index) -> None:
    given = SearchOptions(mode="bm25", filter="year >= 2010")
    assert index.search("star dust", 5, given)[0].ids == index.search("star dust", 5, mode="bm25", filter="year >= 2010")[0].ids
    assert index.search("star dust", 5, given, mode="dense").mode == "dense"


def test_defaults_are_those_of_the_classes() -> None:
    assert inspect.signature(sr.Index.search).parameters["options"].default == SearchOptions()
    assert inspect.signature(sr.build).parameters["settings"].default == BuildSettings()

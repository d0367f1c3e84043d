"""BM25 against rank_bm25 and against bm25s itself, whatever the sharding."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import bm25s
import numpy as np
import pytest
from rank_bm25 import BM25Okapi, BM25Plus

from sciretrieve.errors import CorruptData, UnknownName
from sciretrieve.lexical import Analyzer, Bm25, Bm25Parameters, PostingsBuilder, build
from sciretrieve.lexical import bm25 as module
from sciretrieve.lexical.bm25 import VARIANTS, weigh_terms
from sciretrieve.lexical.postings import read_postings
from tests.made_up import made_up_papers

TEXTS = [f"{paper['title']} {paper['abstract']} of {paper['id']} the" for paper in made_up_papers(200, seed=7)] + ["", "the of and"]
QUERY = "graph networks of molecules, molecules and star dust; unheardof"


def index_of(folder: Path, sizes: list[int], parameters: Bm25Parameters) -> Bm25:
    shards, first = [], 0
    for number, size in enumerate(sizes):
        builder = PostingsBuilder(Analyzer())
        for start in range(first, first + size, 50):
            builder.add(TEXTS[start : min(start + 50, first + size)])
        builder.write(folder / f"{number}.arrow")
        shards.append((folder / f"{number}.arrow", size))
        first += size
    build(folder / "bm25", shards, parameters)
    return Bm25(folder / "bm25", first)


def scores(index: Bm25, query: str = QUERY) -> Any:
    return index.scores(weigh_terms(Analyzer().terms(query)))[0]


@pytest.mark.parametrize(("k1", "b"), [(1.2, 0.75), (0.9, 0.4), (2.0, 0.0), (1.5, 0.99)])
def test_okapi_is_rank_bm25s_okapi(tmp_path: Path, k1: float, b: float) -> None:
    analyzer = Analyzer()
    oracle = BM25Okapi([analyzer.terms(text) for text in TEXTS], k1=k1, b=b, epsilon=0)
    ours = scores(index_of(tmp_path, [len(TEXTS)], Bm25Parameters("okapi", k1, b)))
    np.testing.assert_allclose(ours, oracle.get_scores(analyzer.terms(QUERY)), atol=1e-4)
    assert ours.max() > 1


def test_plus_is_rank_bm25s_plus(tmp_path: Path) -> None:
    analyzer = Analyzer()
    oracle = BM25Plus([analyzer.terms(text) for text in TEXTS], k1=1.2, b=0.75, delta=0.5)
    ours = scores(index_of(tmp_path, [len(TEXTS)], Bm25Parameters("bm25+", 1.2, 0.75, 0.5)))
    np.testing.assert_allclose(ours, oracle.get_scores(analyzer.terms(QUERY)), atol=1e-4)


@pytest.mark.parametrize("variant", VARIANTS)
def test_bm25s_reads_the_index_and_agrees(tmp_path: Path, variant: str) -> None:
    ours = scores(index_of(tmp_path, [150, 52], Bm25Parameters(variant)))
    loaded = bm25s.BM25.load(tmp_path / "bm25", mmap=True)
    np.testing.assert_allclose(ours, loaded.get_scores(Analyzer().terms(QUERY)), atol=1e-5)


@pytest.mark.parametrize("variant", ["lucene", "robertson", "atire", "bm25l", "bm25+"])
def test_bm25s_builds_the_same_from_the_same_terms(tmp_path: Path, variant: str) -> None:
    analyzer = Analyzer()
    oracle = bm25s.BM25(k1=1.2, b=0.75, method=variant)
    oracle.index([analyzer.terms(text) for text in TEXTS], show_progress=False)
    ours = scores(index_of(tmp_path, [len(TEXTS)], Bm25Parameters(variant)))
    np.testing.assert_allclose(ours, oracle.get_scores(analyzer.terms(QUERY)), atol=1e-4)


@pytest.mark.parametrize("sizes", [[100, 102], [1, 200, 1], [67, 67, 68]])
def test_the_sharding_changes_nothing(tmp_path: Path, sizes: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("one", "many"):
        (tmp_path / name).mkdir()
    whole = scores(index_of(tmp_path / "one", [len(TEXTS)], Bm25Parameters()))
    monkeypatch.setattr(module, "BLOCK", 64)
    assert (scores(index_of(tmp_path / "many", sizes, Bm25Parameters())) == whole).all()


def test_matched_says_which_papers_share_a_term(tmp_path: Path) -> None:
    analyzer = Analyzer()
    _, matched = index_of(tmp_path, [len(TEXTS)], Bm25Parameters("okapi")).scores(weigh_terms(analyzer.terms(QUERY)))
    wanted = set(analyzer.terms(QUERY))
    assert matched.tolist() == [bool(wanted & set(analyzer.terms(text))) for text in TEXTS]


def test_unknown_and_empty_queries_match_nothing(tmp_path: Path) -> None:
    index = index_of(tmp_path, [len(TEXTS)], Bm25Parameters())
    for query in ("", "the of", "unheardof"):
        found, matched = index.scores(weigh_terms(Analyzer().terms(query)))
        assert not matched.any()
        assert not found.any()


def test_an_index_without_any_term(tmp_path: Path) -> None:
    builder = PostingsBuilder(Analyzer())
    builder.add(["", "the"])
    builder.write(tmp_path / "empty.arrow")
    build(tmp_path / "bm25", [(tmp_path / "empty.arrow", 2)], Bm25Parameters())
    assert not Bm25(tmp_path / "bm25", 2).scores({"graph": 1.0})[1].any()


def test_postings_come_back_as_they_went_in(tmp_path: Path) -> None:
    builder = PostingsBuilder(Analyzer())
    builder.add(["graph star graph", "star"])
    builder.add(["", "graph"])
    builder.write(tmp_path / "p.arrow")
    postings = read_postings(tmp_path / "p.arrow")
    assert postings.terms == ["graph", "star"]
    assert postings.offsets.tolist() == [0, 2, 4]
    assert postings.rows.tolist() == [0, 3, 0, 1]
    assert postings.counts.tolist() == [2, 1, 1, 1]


def _truncate(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-8])


@pytest.mark.parametrize("damage", [_truncate, Path.unlink, lambda path: path.write_bytes(b"x")], ids=["cut", "gone", "other"])
@pytest.mark.parametrize(
    "name", ["data.csc.index.npy", "indices.csc.index.npy", "indptr.csc.index.npy", "vocab.index.json", "params.index.json"]
)
def test_a_damaged_index_is_refused(tmp_path: Path, name: str, damage: Callable[[Path], None]) -> None:
    index_of(tmp_path, [len(TEXTS)], Bm25Parameters())
    damage(tmp_path / "bm25" / name)
    with pytest.raises(CorruptData):
        Bm25(tmp_path / "bm25", len(TEXTS))


def test_an_index_of_other_papers_is_refused(tmp_path: Path) -> None:
    index_of(tmp_path, [len(TEXTS)], Bm25Parameters())
    with pytest.raises(CorruptData, match="does not fit"):
        Bm25(tmp_path / "bm25", len(TEXTS) + 1)


def test_an_unknown_variant_names_the_near_one() -> None:
    with pytest.raises(UnknownName, match="did you mean 'lucene'"):
        Bm25Parameters("lucen")

"""Authors, venues, keywords and years as fields of BM25: which papers have a word in which, against loops over the papers."""

from __future__ import annotations

import re
import unicodedata
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sciretrieve as sr
from sciretrieve.base.errors import CorruptData
from sciretrieve.matching.lexical import Analyzer
from sciretrieve.matching.lexical.fields import name_words
from sciretrieve.storage.verifying import verify
from tests.edited import edited_manifest
from tests.made_up import made_up_papers, write_jsonl

NAMES = (
    *("Müller, Jörg", "Bal{\\'a}zs, Bal\\'azs K.", "Ishii, Hiroshi", "H. Ishii", "O'Brien, Fergus", "An, The", "Jean-Pierre Serre"),
    *("Łukasz Kaiser", "Li, Xi", "李 明", "Paul Erd\\H{o}s", "Graph, Star"),
)
VENUES = ("SIGIR '14: Proceedings of SIGIR", "The Lancet", "Journal of Stars", None)
KEYWORDS = ("graph networks", "Query expansion", "vaccination", "IL-6")


def papers_with_fields(count: int, seed: int) -> list[dict[str, Any]]:
    """Made-up papers with authors, venues and keywords as people and publishers write them; some have none."""
    chance = np.random.default_rng(seed)
    papers = made_up_papers(count, seed)
    for paper in papers:
        paper["authors"] = [str(name) for name in chance.choice(NAMES, chance.integers(0, 4), replace=False)]
        paper["venue"] = VENUES[chance.integers(len(VENUES))]
        paper["keywords"] = [str(word) for word in chance.choice(KEYWORDS, chance.integers(0, 3), replace=False)] or None
    return papers


PAPERS = papers_with_fields(60, 5)


def folded(text: str) -> set[str]:
    """The words of a name as anyone would read them: plain letters, in small."""
    text = re.sub(r"\\[a-zA-Z]?['\"]?\{?", "", text.replace("{\\'a}", "a").replace("\\H{o}", "o").replace("\\'a", "a")).replace("Ł", "L")
    plain = "".join(char for char in unicodedata.normalize("NFKD", text) if not unicodedata.combining(char)).lower()
    return {word for word in re.split(r"[^\w]+", plain) if word}


def fields_of(paper: dict[str, Any]) -> dict[str, set[str]]:
    """A paper's words, as the oracle reads them."""
    return {
        "authors": {word for name in paper["authors"] for word in folded(name)},
        "venue": folded(paper["venue"] or ""),
        "keywords": {term for word in paper["keywords"] or () for term in Analyzer().terms(word)},
        "year": {str(paper["year"])} if paper["year"] else set(),
    }


def ids_with(index: sr.Index, words: set[str], field: str) -> set[str]:
    assert index.snapshot.bm25 is not None
    return set(index.ids(index.snapshot.bm25.rows_with(words, field)))


def assert_as_the_papers_say(index: sr.Index, papers: list[dict[str, Any]]) -> None:
    """All words of the fields, and pairs of them, have the papers that have them."""
    of_papers = {paper["id"]: fields_of(paper) for paper in papers}
    for field in ("authors", "venue", "keywords", "year"):
        words = sorted(set().union(*(fields[field] for fields in of_papers.values())))
        for word in words:
            for other in (word, words[0], words[-1]):
                expected = {id for id, fields in of_papers.items() if {word, other} <= fields[field]}
                assert ids_with(index, {word, other}, field) == expected, (field, word, other)
        assert not ids_with(index, set(), field)
        assert not ids_with(index, {words[0], "unheard"}, field)


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> sr.Index:
    place = tmp_path_factory.mktemp("fields")
    return sr.build(write_jsonl(place / "papers.jsonl", PAPERS), place / "index", encoder=None, shard_size=17)


def test_words_are_folded_and_neither_stemmed_nor_left_out() -> None:
    assert name_words("Müller, Jörg") == ["muller", "jorg"]
    assert name_words("The An of Networks") == ["the", "an", "of", "networks"]
    assert name_words("Jean-Pierre Serre") == ["jean", "pierre", "jeanpierre", "serre"]
    assert name_words("D’Arcy O'Brien, F.") == ["d", "arcy", "o", "brien", "f", "darcy", "obrien"]
    assert name_words("Bal{\\'a}zs Erd\\H{o}s") == ["balazs", "erdos"]


def test_a_word_in_a_field_has_the_papers_that_have_it(index: sr.Index) -> None:
    assert len(index.snapshot.manifest.shards) == 4
    assert_as_the_papers_say(index, PAPERS)


def test_after_adding_deleting_and_merging(tmp_path: Path) -> None:
    place = tmp_path / "index"
    sr.build(write_jsonl(tmp_path / "first.jsonl", PAPERS[:25]), place, encoder=None, shard_size=20)
    sr.add(write_jsonl(tmp_path / "second.jsonl", PAPERS[25:]), place)
    sr.delete(place, ["p0003", "p0030", "p0031"])
    left = [paper for paper in PAPERS if paper["id"] not in ("p0003", "p0030", "p0031")]
    assert_as_the_papers_say(sr.open(place), left)
    before = {shard.name for shard in sr.open(place).snapshot.manifest.shards}
    sr.merge(place)
    merged = sr.open(place)
    assert len(before - {shard.name for shard in merged.snapshot.manifest.shards}) == 2
    assert_as_the_papers_say(merged, left)
    assert not verify(place).faults


def test_keywords_may_be_one_text_and_may_be_missing_in_a_shard(tmp_path: Path) -> None:
    rows = [{"id": "1", "title": "one", "keywords": "graphs; Query Expansion"}, {"id": "2", "title": "two"}, {"id": "3", "title": "graphs"}]
    index = sr.build(write_jsonl(tmp_path / "papers.jsonl", rows), tmp_path / "index", encoder=None, shard_size=1)
    assert ids_with(index, set(Analyzer().terms("expansion of graphs")), "keywords") == {"1"}


def test_an_index_without_them_is_refused(tmp_path: Path) -> None:
    """As the first ones were built."""
    path = sr.build(write_jsonl(tmp_path / "papers.jsonl", PAPERS), tmp_path / "index", encoder=None).path
    with edited_manifest(path) as manifest:
        for shard in manifest["shards"]:
            del shard["files"]["fields.arrow"]
    with pytest.raises(CorruptData, match=r"a shard that lacks files\); rebuild the index with `sciretrieve index --overwrite`"):
        sr.open(path)

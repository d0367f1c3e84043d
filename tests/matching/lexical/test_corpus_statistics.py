"""Statistics of a whole corpus from its shards: whatever the sharding and whichever papers are deleted, as counted by hand."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args
from unittest import mock

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from sciretrieve.base.choices import Bm25Variant
from sciretrieve.matching.lexical import Analyzer, Bm25Parameters, Postings
from sciretrieve.matching.lexical import corpus_statistics as module
from sciretrieve.matching.lexical.corpus_statistics import Statistics, frequencies, statistics, summed, updated
from sciretrieve.matching.scope import Scope
from tests.bm25_indexes import TitleAndAbstract, joined, postings_of

WORDS = ["graph", "networks", "star", "dust", "gene", "genes", "zinc", "the", "Wärme", "图", "𝔘"]
QUERIES: list[dict[str, float]] = [{"graph": 1.0}, {"gene": 1.0, "star": 2.0, "zinc": 0.35}, {"图": 1.0, "dust": 1.6, "unheard": 1.0}, {}]
texts = st.lists(st.sampled_from(WORDS), max_size=6).map(" ".join)


@dataclass(frozen=True)
class Corpus:
    """Papers, where they are cut into shards, and which of them are deleted."""

    papers: Sequence[TitleAndAbstract]
    cuts: Sequence[int]
    deleted: frozenset[int]

    @property
    def live(self) -> list[int]:
        """The rows of the papers that are not deleted."""
        return [row for row in range(len(self.papers)) if row not in self.deleted]

    @property
    def scope(self) -> Scope:
        """The same; a scope without a mask if none is deleted, as an opened index has it."""
        return Scope(len(self.papers)).without(np.array(sorted(self.deleted))) if self.deleted else Scope(len(self.papers))

    def shards(self, folder: Path) -> list[Postings]:
        """The postings of the shards."""
        ends = [*self.cuts, len(self.papers)]
        return [
            postings_of(folder / str(number), self.papers[start:end])
            for number, (start, end) in enumerate(zip([0, *self.cuts], ends, strict=True))
        ]

    def alone(self, folder: Path) -> Postings:
        """The postings of one shard with only the papers that are not deleted."""
        return postings_of(folder / "alone", [self.papers[row] for row in self.live])


@st.composite
def corpora(draw: st.DrawFn) -> Corpus:
    papers = draw(st.lists(st.tuples(texts, texts), min_size=1, max_size=14))
    cuts = draw(st.sets(st.integers(1, len(papers) - 1), max_size=5)) if len(papers) > 1 else set()
    deleted = draw(st.sets(st.integers(0, len(papers) - 1), max_size=len(papers) - 1))
    return Corpus(papers, sorted(cuts), frozenset(deleted))


@contextmanager
def counted_at_once(terms: int) -> Any:
    with tempfile.TemporaryDirectory() as folder, mock.patch.object(module, "TERMS_AT_ONCE", terms):
        yield Path(folder)


def parts_of(shards: Sequence[Postings], scope: Scope) -> list[tuple[Postings, Any]]:
    parts, first = [], 0
    for postings in shards:
        parts.append((postings, None if scope.mask is None else scope.part(first, postings.papers).places))
        first += postings.papers
    return parts


A_SHARD_WITHOUT_PAPERS_LEFT = Corpus([("graph", "star"), ("dust", ""), ("graph", "dust dust")], [1, 2], frozenset({1}))


@settings(max_examples=20)
@given(corpora(), st.integers(1, 12))
@example(A_SHARD_WITHOUT_PAPERS_LEFT, 1)
@example(Corpus([("", "")], [], frozenset()), 1)
def test_sums_over_shards_are_those_of_the_papers_that_are_left(corpus: Corpus, at_once: int) -> None:
    analyzer = Analyzer()
    titles = [analyzer.indexed(corpus.papers[row][0]) for row in corpus.live]
    everything = [title + analyzer.indexed(corpus.papers[row][1]) for title, row in zip(titles, corpus.live, strict=True)]
    papers_with = Counter(term for terms in everything for term in set(terms))
    with counted_at_once(at_once) as folder:
        shards = corpus.shards(folder)
        parts = parts_of(shards, corpus.scope)
        assert statistics(parts) == Statistics(len(corpus.live), sum(map(len, everything)), sum(map(len, titles)))
        alone = corpus.alone(folder)
        assert statistics([(alone, None)]) == statistics(parts)
        counts_alone = dict(zip(alone.terms.to_pylist(), frequencies([(alone, None)])[0].tolist(), strict=True))
        assert counts_alone == papers_with
        for postings, counts in zip(shards, frequencies(parts), strict=True):
            assert counts.dtype == np.int32
            assert counts.tolist() == [papers_with[term] for term in postings.terms.to_pylist()]
        for first in range(len(parts)):
            for last in range(first, len(parts)):  # from the shards before the last to those from the first on
                known = [(*part, counts) for part, counts in zip(parts[: last + 1], frequencies(parts[: last + 1]), strict=True)]
                kept = [(postings.terms, counts) for postings, _, counts in known[first:]]
                totals = [part for both in updated(kept, known[:first], parts[last + 1 :]) for part in both]
                assert [(part.dtype, part.tolist()) for part in totals] == [
                    (part.dtype, part.tolist()) for part in frequencies(parts[first:])
                ]


@settings(max_examples=20)
@given(corpora(), st.integers(1, 12), st.sampled_from(get_args(Bm25Variant)))
@example(A_SHARD_WITHOUT_PAPERS_LEFT, 1, "bm25+")
def test_scores_are_those_of_one_shard_with_only_the_papers_that_are_left(corpus: Corpus, at_once: int, variant: Bm25Variant) -> None:
    parameters = Bm25Parameters(variant)
    live = np.array(corpus.live)
    with counted_at_once(at_once) as folder:
        many = joined(corpus.shards(folder), parameters, corpus.scope)
        alone = joined([corpus.alone(folder)], parameters)
        for query in QUERIES:
            scores, matched = many.scores(query)
            expected_scores, expected_matched = alone.scores(query)
            assert scores[live].tobytes() == expected_scores.tobytes()
            assert matched[live].tolist() == expected_matched.tolist()
            assert many.known_terms(query) == alone.known_terms(query)
            assert many.rows_with(query).tolist() == live[alone.rows_with(query)].tolist()
            assert many.covered_rarity(query, live).tobytes() == alone.covered_rarity(query, np.arange(len(live))).tobytes()
            assert [many.rarity(term) for term in query] == [alone.rarity(term) for term in query]
            for place, row in enumerate(corpus.live):
                assert many.weights(query, row) == alone.weights(query, place)


@pytest.mark.parametrize("at_once", [1, 5, 2_000_000])
def test_a_term_is_counted_in_one_range_wherever_the_ranges_end(tmp_path: Path, at_once: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ranges end at terms of the largest shard, which others may lack; terms beyond its first and last are counted too."""
    monkeypatch.setattr(module, "TERMS_AT_ONCE", at_once)
    vocabularies = ["bfhjdl", "adgjm", "cd", "", "z"]
    texts = [" ".join(f"{letter}00" for letter in letters) for letters in vocabularies]
    shards = [postings_of(tmp_path / str(number), [(text, ""), (text, "")]) for number, text in enumerate(texts)]
    totals = Counter(term for postings in shards for term in postings.terms.to_pylist())
    assert len(totals) == 11
    for postings, counts in zip(shards, frequencies([(postings, None) for postings in shards]), strict=True):
        assert counts.tolist() == [2 * totals[term] for term in postings.terms.to_pylist()]


@given(st.lists(st.lists(st.sets(st.sampled_from("abcdef")), max_size=3), min_size=1, max_size=3))
def test_terms_are_counted_over_several_indexes(indexes: list[list[set[str]]]) -> None:
    """Each index is a list of shards, and each shard here one paper with these terms."""
    counts = [Counter(term for shard in shards for term in shard) for shards in indexes]
    parts = [
        [(pa.array(sorted(shard), pa.string()), np.array([count[term] for term in sorted(shard)], np.int32)) for shard in shards]
        for shards, count in zip(indexes, counts, strict=True)
    ]
    total = sum(counts, Counter[str]())
    for shards, found in zip(indexes, summed(parts), strict=True):
        assert [part.tolist() for part in found] == [[total[term] for term in sorted(shard)] for shard in shards]
        assert all(part.dtype == np.int32 for part in found)

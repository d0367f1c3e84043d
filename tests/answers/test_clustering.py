"""Groups of an answer's papers: a partition, the same every time; blobs are found and labelled by their own words."""

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sciretrieve.answers.clustering import Cluster, clusters
from sciretrieve.base.errors import MissingExtra
from sciretrieve.base.types import Vectors

STEMS = ("alpha", "beta", "gamma", "delta", "common")
SHOWN = {stem: stem.upper() for stem in STEMS}


def blobs(sizes: Sequence[int], spread: float = 0.05) -> tuple[Vectors, list[int]]:
    """Points about one axis a blob, in mixed order, with each one's blob."""
    chance = np.random.default_rng(3)
    of = chance.permutation(np.repeat(np.arange(len(sizes)), sizes))
    points = np.eye(len(sizes), 16)[of] + chance.normal(0, spread, (len(of), 16))
    return points.astype(np.float32), of.tolist()


@pytest.mark.parametrize("sizes", [(30, 20, 10), (12, 11), (20, 18, 9, 8), (60, 50, 40, 30, 20)], ids=str)
def test_blobs_are_found_and_labelled_by_their_own_words(sizes: tuple[int, ...]) -> None:
    vectors, of = blobs(sizes)
    terms = [{f"own{blob}", "common", f"rare{paper}"} for paper, blob in enumerate(of)]
    groups = clusters(vectors, terms, {term: term for blob_terms in terms for term in blob_terms})
    assert [set(cluster.members) for cluster in groups] == [
        {position for position, blob in enumerate(of) if blob == number} for number in range(len(sizes))
    ]
    assert [cluster.label for cluster in groups] == [(f"own{blob}",) for blob in range(len(sizes))]


def test_the_length_of_vectors_makes_no_difference() -> None:
    vectors, of = blobs((20, 15))
    lengths = np.linspace(0.1, 50, len(of), dtype=np.float32)[:, None]
    terms = [{f"own{blob}"} for blob in of]
    shown = {"own0": "zero", "own1": "one"}
    assert clusters(vectors * lengths, terms, shown) == clusters(vectors, terms, shown)


def test_a_label_prefers_words_that_more_of_its_papers_have() -> None:
    vectors, of = blobs((20, 20))
    terms = []
    for paper, blob in enumerate(of):
        blob_terms = {f"all{blob}", "common"} | ({f"half{blob}"} if paper % 2 else set()) | ({f"few{blob}"} if paper % 8 == 0 else set())
        # a word that a group has all, and the other has half of, says less than one that the other has none of
        terms.append(blob_terms | ({"leaning"} if blob == 0 or paper % 2 else set()))
    groups = clusters(vectors, terms, {term: term for blob_terms in terms for term in blob_terms})
    assert [cluster.label[0] for cluster in groups] == [f"all{of[cluster.members[0]]}" for cluster in groups]
    for cluster in groups:
        blob = of[cluster.members[0]]
        assert f"half{blob}" in cluster.label
        assert "common" not in cluster.label


def test_terms_without_a_word_to_show_label_nothing_and_no_word_stands_twice() -> None:
    vectors, of = blobs((10, 10))
    terms = [{f"own{blob}", f"same{blob}", f"hidden{blob}"} for blob in of]
    shown = {"own0": "left", "own1": "right", "same0": "left", "same1": "rightly"}
    groups = clusters(vectors, terms, shown)
    assert {cluster.label for cluster in groups} == {("left",), ("right", "rightly")}


def test_a_group_without_words_of_its_own_borrows() -> None:
    vectors, _ = blobs((10, 10))
    groups = clusters(vectors, [{"common"}] * 20, SHOWN)
    assert [cluster.label for cluster in groups] == [("COMMON",), ("COMMON",)]
    assert [cluster.label for cluster in clusters(vectors, [set()] * 20, SHOWN)] == [(), ()]


def test_few_papers_are_one_group_labelled_by_what_most_have() -> None:
    vectors = np.eye(5, 8, dtype=np.float32)
    terms = [{"alpha", "beta"}, {"alpha", "gamma"}, {"alpha", "beta"}, {"delta"}, set()]
    assert clusters(vectors, terms, SHOWN) == [Cluster((0, 1, 2, 3, 4), ("ALPHA", "BETA"))]
    assert clusters(vectors[:1], terms[:1], SHOWN) == [Cluster((0,), ("ALPHA", "BETA"))]
    assert clusters(vectors[:0], [], SHOWN) == []


def test_papers_that_do_not_differ_are_one_group() -> None:
    for vectors in (np.ones((40, 4), np.float32), np.zeros((40, 4), np.float32)):
        assert [cluster.members for cluster in clusters(vectors, [{"alpha"}] * 40, SHOWN)] == [tuple(range(40))]


@settings(deadline=None)
@given(st.integers(0, 60), st.integers(1, 10), st.integers(0, 1000), st.data())
def test_groups_are_a_partition_in_order(size: int, most: int, seed: int, data: st.DataObject) -> None:
    vectors = np.random.default_rng(seed).normal(size=(size, 4)).astype(np.float32)
    terms = data.draw(st.lists(st.sets(st.sampled_from(STEMS)), min_size=size, max_size=size))
    groups = clusters(vectors, terms, SHOWN, most)
    assert sorted(position for cluster in groups for position in cluster.members) == list(range(size))
    assert len(groups) <= most
    assert all(list(cluster.members) == sorted(cluster.members) for cluster in groups)
    assert groups == sorted(groups, key=lambda cluster: (-len(cluster.members), cluster.members[0]))
    for cluster in groups:
        present = {SHOWN[term] for position in cluster.members for term in terms[position]}
        assert set(cluster.label) <= present
        assert len(set(cluster.label)) == len(cluster.label) <= 3
        assert bool(cluster.label) == bool(present)
    # the order in which a set hands out its terms is chance, and must not show
    assert groups == clusters(vectors, [sorted(blob_terms, reverse=True) for blob_terms in terms], SHOWN, most)


@pytest.mark.parametrize("papers", [3, 30])
def test_without_scipy_it_is_said_what_brings_it(papers: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sciretrieve.base.extras.has", lambda module: module != "scipy")
    with pytest.raises(MissingExtra, match="scipy"):
        clusters(np.eye(papers, dtype=np.float32), [{"alpha"}] * papers, SHOWN)

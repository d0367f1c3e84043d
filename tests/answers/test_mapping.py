"""Maps of answers: neighbours stay neighbours, better than on the principal components, and groups are those of the answer."""

import numpy as np
import pytest
from sklearn.decomposition import PCA
from sklearn.manifold import trustworthiness

import sciretrieve as sr
from sciretrieve.answers.mapping import answer_map, places
from sciretrieve.answers.overview import groups_at
from sciretrieve.base.errors import InvalidRequest
from sciretrieve.base.types import Vectors


def blobs(count: int, each: int, dim: int = 24) -> tuple[Vectors, list[int]]:
    """Vectors around some centres, and whose they are."""
    chance = np.random.default_rng(7)
    centres = chance.normal(size=(count, dim))
    owners = [number for number in range(count) for _ in range(each)]
    return (centres[owners] + 0.25 * chance.normal(size=(count * each, dim))).astype(np.float32), owners


def test_neighbours_stay_neighbours() -> None:
    vectors, owners = blobs(6, 17)
    points = places(vectors)
    flat = PCA(2).fit_transform(vectors)
    kept, kept_by_components = (trustworthiness(vectors, found, n_neighbors=8, metric="cosine") for found in (points, flat))
    assert kept > 0.9
    assert kept > kept_by_components
    distances = np.linalg.norm(points[:, None] - points[None], axis=2) + np.diag(np.full(len(points), np.inf))
    assert np.mean([owners[nearest] == owner for owner, nearest in zip(owners, distances.argmin(axis=1), strict=True)]) > 0.95


def test_the_same_answer_has_the_same_map() -> None:
    vectors, _ = blobs(3, 9)
    np.testing.assert_array_equal(places(vectors), places(vectors * 4))


@pytest.mark.parametrize("size", [0, 1, 2, 3, 4, 5, 40])
def test_any_number_of_papers_has_a_map(size: int) -> None:
    vectors = np.random.default_rng(size).normal(size=(size, 5)).astype(np.float32)
    for given in (vectors, np.ones_like(vectors), np.zeros_like(vectors)):
        points = places(given)
        assert points.shape == (size, 2)
        assert np.isfinite(points).all()
        assert size == 0 or (points.min() >= 0 and points.max() <= 1)


def test_a_map_is_of_an_answer_s_hits_and_groups(index: sr.Index) -> None:
    request = sr.Request("graph networks", k=50)
    drawn = answer_map(index, request)
    assert [hit.id for hit in drawn.answer.hits] == [hit.id for hit in sr.answer(index, request).hits]
    assert drawn.points.shape == (50, 2)
    groups = groups_at(index, index.search("graph networks", 50)[0].rows, "graph networks")
    assert list(drawn.labels) == [group.label for group in groups]
    for hit, number in zip(drawn.answer.hits, drawn.groups, strict=True):
        assert [hit.id in {paper.id for paper in group.papers} for group in groups] == [place == number for place in range(len(groups))]


def test_words_alone_have_no_map(built: object) -> None:
    with pytest.raises(InvalidRequest, match="vectors"):
        answer_map(built(encoder=None), sr.Request("graph"))  # type: ignore[operator]

"""Encoders of users' own and vectors by id, given from Python: what they fill, and what they find.

The oracles are NumPy's cosines of letter counts, and indexes that were built without interruption.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sciretrieve as sr
from sciretrieve.base.errors import InvalidRequest, UnknownName, WordsAlone
from sciretrieve.base.types import Paper, Query, Vectors
from sciretrieve.encoders.own import AdoptedEncoder, HeldVectors, adopted
from tests.command_line import sciretrieve
from tests.made_up import made_up_papers, write_jsonl
from tests.toy_encoder import OwnLetters, letter_counts

PAPERS = made_up_papers(60)
IDS = [paper["id"] for paper in PAPERS]
MATRIX = np.array([letter_counts(paper["title"]) for paper in PAPERS], np.float64)
"""Their vectors by `OwnLetters`."""
GIVEN_FROM_PYTHON = "the encoder 'letters of titles, 1' is one of your own, which is given from Python"


def cosines(vector: Any) -> dict[str, float]:
    query = np.asarray(vector, np.float64)
    return dict(zip(IDS, MATRIX @ query / np.linalg.norm(MATRIX, axis=1) / np.linalg.norm(query), strict=True))


def build(into: Path, encoder: Any = None, papers: Any = PAPERS, **settings: Any) -> sr.Index:
    return sr.build(papers, into, encoder=OwnLetters() if encoder is None else encoder, progress=False, **settings)


def bytes_of(path: Path) -> dict[str, bytes]:
    return {str(file.relative_to(path)): file.read_bytes() for file in sorted(path.glob("shards/**/*")) if file.is_file()}


# an encoder of one's own


def test_what_an_encoder_of_ones_own_finds(own: sr.Index) -> None:
    expected = cosines(letter_counts("star dustz"))
    run = own.search("star dust", 60, mode="dense", group=False)
    assert run[0].ids == sorted(IDS, key=lambda id: (-np.float32(expected[id]), id))
    np.testing.assert_allclose(run[0].scores, [expected[id] for id in run[0].ids], rtol=1e-6)
    assert own.search("star dust").mode == "hybrid"
    assert own.snapshot.manifest.metric == "cosine"
    assert own.reader.query_encoder.encoder.identity() == {
        "name": "letters of titles, 1",
        "layout": "own",
        "identity": "letters of titles, 1",
        "dim": 26,
    }
    facts = own.snapshot.manifest.encoder
    assert facts is not None
    assert facts.items() >= own.reader.query_encoder.encoder.identity().items()
    assert own.snapshot.manifest.build["settings"]["encoder"] == "letters of titles, 1"


def test_a_paper_in_place_of_a_query_has_its_vector_of_the_corpus(own: sr.Index) -> None:
    """So nothing needs to be encoded; a paper that is not in the index is encoded as papers are."""
    expected = cosines(MATRIX[3])
    for index in (own, sr.open(own.path)):
        ranking = index.similar(IDS[3], 59, mode="dense", group=False)[0]
        assert ranking.ids == sorted(expected.keys() - {IDS[3]}, key=lambda id: (-np.float32(expected[id]), id))
        assert ranking.lacks is None
    query = Query("q", paper=Paper("new", PAPERS[3]["title"]))
    assert own.search(query, 1, mode="dense", group=False)[0].scores[0] == pytest.approx(1.0)
    assert own.similar(text=PAPERS[3]["title"], k=1, mode="dense").hits[0].score == pytest.approx(1.0)


# building, adding, resuming


def test_an_interrupted_build_goes_on_and_gives_the_same(tmp_path: Path) -> None:
    whole = build(tmp_path / "whole", shard_size=16)
    first = OwnLetters(fails_at=3)  # the probe, and two shards
    with pytest.raises(ConnectionError, match="the service is down"):
        build(tmp_path / "index", first, shard_size=16)
    second = OwnLetters()
    index = build(tmp_path / "index", second, shard_size=16)
    assert set(second.papers) - {"probe"} == set(IDS) - set(first.papers) < set(IDS)
    assert bytes_of(index.path).keys() == bytes_of(whole.path).keys()
    assert bytes_of(index.path) == bytes_of(whole.path)
    assert index.search("star dust")[0].ids == whole.search("star dust")[0].ids


def test_a_vector_of_another_dimension_amid_a_build_is_an_error_and_what_was_encoded_stays(tmp_path: Path) -> None:
    class Wider(OwnLetters):
        def encode_papers(self, papers: Any) -> Any:
            vectors = super().encode_papers(papers)
            return [[*vector, 1] for vector in vectors] if IDS[20] in self.papers else vectors

    with pytest.raises(InvalidRequest, match=r"`encode_papers` of the encoder .* gave an array of shape \(16, 27\), not \(16, 26\)"):
        build(tmp_path / "index", Wider(), shard_size=16)
    second = OwnLetters()
    build(tmp_path / "index", second, shard_size=16)
    assert set(IDS[:16]).isdisjoint(second.papers)


def test_papers_are_added_by_it_and_found(tmp_path: Path) -> None:
    index = build(tmp_path / "index", papers=PAPERS[:50])
    with pytest.raises(InvalidRequest, match=GIVEN_FROM_PYTHON):
        sr.add(PAPERS, index.path, progress=False)
    encoder = OwnLetters()
    assert sr.add(PAPERS, index.path, encoder=encoder, progress=False).added == 10
    assert [id for id in encoder.papers if id != "probe"] == IDS[50:]
    fresh = index.refreshed()
    assert (
        fresh.search("star dust", 60, mode="dense", group=False)[0].ids
        == build(tmp_path / "w").search("star dust", 60, mode="dense", group=False)[0].ids
    )
    assert sr.sync(PAPERS[:57], index.path, encoder=encoder, progress=False).deleted == 3
    sr.merge(index.path, progress=False)
    assert sr.verify(index.path, encoder=encoder, progress=False).faults == ()
    assert index.refreshed().search("star", mode="dense").mode == "dense"


def test_an_interrupted_add_goes_on(tmp_path: Path) -> None:
    index = build(tmp_path / "index", papers=PAPERS[:20], shard_size=16)
    with pytest.raises(ConnectionError):
        sr.add(PAPERS, index.path, encoder=OwnLetters(fails_at=2), progress=False)
    assert len(sr.open(index.path)) == 20
    encoder = OwnLetters()
    assert sr.add(PAPERS, index.path, encoder=encoder, progress=False).added == 40
    assert IDS[20] not in encoder.papers
    assert (
        index.refreshed().search("star dust", 60, mode="dense", group=False)[0].ids
        == build(tmp_path / "w").search("star dust", 60, mode="dense", group=False)[0].ids
    )


def test_vectors_are_repaired_by_it(tmp_path: Path) -> None:
    index = build(tmp_path / "index")
    index.close()
    path = index.path / "shards" / "000000" / "vectors.npy"
    whole = path.read_bytes()
    path.write_bytes(whole[:-4] + b"\0\0\0\7")
    with pytest.raises(InvalidRequest, match=GIVEN_FROM_PYTHON):
        sr.repair(index.path, progress=False)
    assert sr.repair(index.path, encoder=OwnLetters(), progress=False).faults == ()
    repaired = sr.open(index.path)
    np.testing.assert_array_equal(np.asarray(repaired.snapshot.vectors[0].vectors), MATRIX)


def test_its_metric_is_the_one_that_it_says_or_the_setting(tmp_path: Path) -> None:
    encoder = OwnLetters()
    vars(encoder)["metric"] = "ip"
    index = build(tmp_path / "ip", encoder)
    assert (index.snapshot.manifest.metric, index.search("star", 1, mode="dense").hits[0].score % 1) == ("ip", 0)
    assert build(tmp_path / "l2", metric="l2").snapshot.manifest.metric == "l2"
    vars(encoder)["metric"] = "manhattan"
    with pytest.raises(UnknownName, match="unknown metric 'manhattan'"):
        build(tmp_path / "none", encoder)


def test_parts_of_an_index_are_filled_and_joined(tmp_path: Path) -> None:
    corpus = write_jsonl(tmp_path / "p.jsonl", PAPERS)
    for part in ("1/2", "2/2"):
        sr.build_part(corpus, tmp_path / "index", part, encoder=OwnLetters(), shard_size=16, progress=False)
    sr.index_parts(tmp_path / "index", progress=False)
    index = sr.open(tmp_path / "index", encoder=OwnLetters())
    assert index.search("star dust", mode="dense")[0].ids == build(tmp_path / "w").search("star dust", mode="dense")[0].ids


def test_estimates_and_files_of_vectors_take_it(tmp_path: Path) -> None:
    estimate = sr.estimate(PAPERS, encoder=OwnLetters(), progress=False)
    assert estimate.encoder is not None
    assert estimate.encoder["name"] == "letters of titles, 1"
    sr.encode(write_jsonl(tmp_path / "p.jsonl", PAPERS), tmp_path / "v.npy", encoder=OwnLetters(), progress=False)
    np.testing.assert_array_equal(np.load(tmp_path / "v.npy"), MATRIX)


class Broken(OwnLetters):
    """An encoder that gives whatever a test wants."""

    def __init__(self, papers: Any = None, **attributes: Any) -> None:
        super().__init__()
        vars(self).update(attributes)
        self.given = papers

    def encode_papers(self, papers: Any) -> Any:
        return self.given(papers) if self.given is not None else super().encode_papers(papers)


@pytest.mark.parametrize(
    ("encoder", "words"),
    [
        (Broken(lambda papers: np.ones((len(papers), 25))), r"gave an array of shape \(1, 25\), not \(1, 26\)"),
        (Broken(lambda papers: np.ones(26)), r"shape \(26,\), not \(1, 26\)"),
        (Broken(lambda papers: [[np.nan] * 26] * len(papers)), "vector 1 that `encode_papers` .* gave has values that are no numbers"),
        (Broken(lambda papers: np.full((len(papers), 26), 1e300)), "vector 1 .* is too long to be compared"),
        (Broken(lambda papers: [[1, 2], [3]]), r"did not return an array of \(1, 26\) numbers"),
        (Broken(lambda papers: [["1"] * 26] * len(papers)), r"did not return an array of \(1, 26\) numbers: texts are no real numbers"),
        (Broken(lambda papers: np.ones((len(papers), 26), complex)), "complex128 are no real numbers"),
        (Broken(lambda papers: np.ma.masked_equal(np.ones((len(papers), 26)), 1)), "values that are no numbers"),
        (Broken(lambda papers: "vectors"), r"did not return an array of \(1, 26\) numbers"),
        (Broken(lambda papers: None), "did not return an array|has values that are no numbers|gave an array of shape"),
        (Broken(dim=0), "`dim` of Broken, the length of a vector, must be at least 1, not 0"),
        (Broken(dim="26"), "must be at least 1, not '26'"),
        (Broken(dim=True), "must be at least 1, not True"),
        (Broken(identity=""), "`identity` of Broken must be one line"),
        (Broken(identity=None), "`identity` of Broken must be one line"),
        (Broken(identity="two\nlines"), "`identity` of Broken must be one line"),
        (Broken(identity="\ud800"), "identity"),
        (Broken(encode_queries=None), "Broken has no encode_queries"),
        (3, "`encoder` is a name, an encoder with .*, or vectors by the ids of papers .*, not of type int"),
        (MATRIX, r"such as dict\(zip\(ids, vectors\)\), not of type ndarray"),
        ({}, "no vectors are given"),
    ],
)
def test_what_is_no_encoder_is_an_error_of_one_line(tmp_path: Path, encoder: Any, words: str) -> None:
    with pytest.raises(InvalidRequest, match=words) as caught:
        build(tmp_path / "index", encoder)
    assert "\n" not in str(caught.value)
    assert not (tmp_path / "index").exists()


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"template": "{title}"}, "`template` says how an encoder with a name reads texts"),
        ({"bare_titles": True}, "`bare_titles` says how an encoder with a name reads texts"),
        ({"late": True}, "late interaction needs a model that reads texts"),
        ({"workers": object()}, "other processes cannot fill shards: the encoder .* leave out `workers`"),
    ],
)
def test_settings_of_encoders_with_a_name_are_refused(tmp_path: Path, settings: dict[str, Any], words: str) -> None:
    with pytest.raises(InvalidRequest, match=words):
        build(tmp_path / "index", **settings)


def test_what_is_loaded_is_taken_as_it_is(tmp_path: Path) -> None:
    encoder = sr.load_encoder("minilm")
    assert adopted(encoder) is encoder
    index = build(tmp_path / "index", encoder, late=False)
    assert index.reader.query_encoder.encoder.identity() == encoder.identity()
    assert (
        build(tmp_path / "index", "minilm", late=False).snapshot.manifest.generation == index.snapshot.manifest.generation
    )  # it is the same index
    assert sr.open(index.path).search("star dust")[0].ids == index.search("star dust")[0].ids


@given(st.lists(st.sampled_from(["text", "paper"]), max_size=6))
def test_queries_and_papers_in_their_place_keep_their_order(kinds: list[str]) -> None:
    titles = [f"{'abc'[place % 3]} {place}" for place in range(len(kinds))]
    queries = [
        Query(str(place), title) if kind == "text" else Query(str(place), paper=Paper("p", title))
        for place, (kind, title) in enumerate(zip(kinds, titles, strict=True))
    ]
    vectors = AdoptedEncoder(OwnLetters()).encode_queries(queries)
    assert vectors.dtype == np.float32
    expected = [letter_counts(title + "z" * (kind == "text")) for kind, title in zip(kinds, titles, strict=True)]
    np.testing.assert_array_equal(vectors, np.array(expected, np.float32).reshape(len(kinds), 26))


def test_nothing_of_it_is_remembered_under_its_name(own: sr.Index, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another index may have another encoder of the same identity, whose queries' vectors would be taken for its."""
    monkeypatch.setenv("SCIRETRIEVE_CACHE", str(tmp_path))  # other tests have the toy's remembered
    vectors = own.reader.query_encoder.encode([Query("q", "star")], remember=True)
    np.testing.assert_array_equal(vectors, [letter_counts("starz")])
    assert not list(tmp_path.glob("vectors/letters*"))


# vectors by id


def vectors_of(ids: list[str]) -> dict[str, Vectors]:
    return {id: MATRIX[IDS.index(id)].astype(np.float32) for id in ids}


def test_vectors_by_id_fill_an_index(tmp_path: Path) -> None:
    index = build(tmp_path / "index", vectors_of(IDS[::-1]))
    assert (index.snapshot.manifest.metric, index.modes[0]) == ("cosine", "hybrid")
    np.testing.assert_array_equal(np.asarray(index.snapshot.vectors[0].vectors), MATRIX)
    expected = cosines(MATRIX[3])
    ranking = index.similar(IDS[3], 59, mode="dense", group=False)[0]
    assert ranking.ids == sorted(expected.keys() - {IDS[3]}, key=lambda id: (-np.float32(expected[id]), id))
    with pytest.warns(WordsAlone, match="vectors in memory were given from Python"):
        assert index.search("star dust").mode == "bm25"
    assert "answered by words alone" in sciretrieve("search", "star dust", "-i", index.path).stderr
    again = build(tmp_path / "index", vectors_of(IDS))  # in another order they are the same
    assert again.snapshot.manifest.generation == index.snapshot.manifest.generation
    with pytest.raises(sr.SciretrieveError, match="holds an index with another encoder"):
        build(tmp_path / "index", vectors_of(IDS) | {IDS[0]: MATRIX[1]})


def test_papers_are_added_with_their_vectors(tmp_path: Path) -> None:
    index = build(tmp_path / "index", vectors_of(IDS[:50]), PAPERS[:50])
    for encoder, words in (
        (None, "the vectors in memory were given from Python; give those of others likewise"),
        (vectors_of(IDS[50:59]), f"vectors in memory has no vector of '{IDS[59]}'"),
        ({IDS[50]: [1.0, 2.0]}, "differs in its dim"),
    ):
        with pytest.raises(InvalidRequest, match=words):
            sr.add(PAPERS, index.path, encoder=encoder, progress=False)
        assert len(sr.open(index.path)) == 50
    sr.add(PAPERS, index.path, encoder=vectors_of(IDS[50:]), progress=False)
    fresh = index.refreshed()
    assert fresh.similar(IDS[55], 59, mode="dense", group=False)[0].ids[0] in IDS
    vectors = np.concatenate([np.asarray(shard.vectors) for shard in fresh.snapshot.vectors])
    np.testing.assert_array_equal(vectors, MATRIX)


def test_vectors_of_queries_are_looked_up_by_their_ids(own: sr.Index) -> None:
    index = sr.open(own.path, encoder={"q1": MATRIX[7]})
    assert index.search(Query("q1", "star"), 1, mode="dense", group=False)[0].scores[0] == pytest.approx(1.0)
    assert index.search(Query("q1", "star")).mode == "hybrid"
    with pytest.raises(InvalidRequest, match="vectors in memory has no vector of 'q2'"):
        index.search(Query("q2", "star"))
    with pytest.warns(WordsAlone, match="made elsewhere"):
        assert index.search("star").mode == "bm25"


@pytest.mark.parametrize(
    ("vectors", "words"),
    [
        ({"a": [1.0, np.nan]}, "the vector of 'a' has values that are no numbers"),
        ({"a": [1.0, 2.0], "b": [np.inf, 1.0]}, "the vector of 'b' has values that are no numbers"),
        ({"a": [1e300]}, "the vector of 'a' .* is too long"),
        ({"a": [1.0, 2.0], "b": [1.0]}, r"the vector of 'b' has the shape \(1,\), and the first one 2 numbers"),
        ({"a": []}, r"the vector of 'a' has the shape \(0,\)"),
        ({"a": [[1.0]]}, r"the vector of 'a' has the shape \(1, 1\)"),
        ({"a": "vector"}, "the vector of 'a' is not a list of numbers"),
        ({"a": ["1", "2"]}, "the vector of 'a' is not a list of numbers"),
        ({7: [1.0]}, "by the ids of papers, which are texts, not by 7"),
    ],
)
def test_vectors_that_cannot_be_compared_are_refused(vectors: Any, words: str) -> None:
    with pytest.raises(InvalidRequest, match=words):
        _ = HeldVectors(vectors).rows

"""Several indexes searched as one: against one index of all their papers, and against slow computations."""

from __future__ import annotations

import math
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sciretrieve as sr
from sciretrieve.base.choices import Metric
from sciretrieve.base.errors import Ambiguous, InvalidRequest, NotFound
from sciretrieve.lifecycle.distributed.cluster_search import ClusterSearcher, NodeGroups
from sciretrieve.matching.lexical import Analyzer
from sciretrieve.runs import Ranking
from tests.edited import edited_manifest
from tests.made_up import made_up_papers
from tests.toy_encoder import LetterEncoder

Rows = list[dict[str, Any]]


class WordEncoder(LetterEncoder):
    """Unit vectors that count words, those of titles eightfold, each in a place that depends on the encoder."""

    dim = 64

    def _vector(self, paper: sr.Paper, side: int) -> list[float]:
        vector = np.zeros(self.dim)
        for weight, text in ((8.0, paper.title), (1.0, paper.abstract)):
            for word in text.lower().split():
                vector[zlib.crc32(f"{self.name} {word}".encode()) % self.dim] += weight
        return list(vector / max(float(np.linalg.norm(vector)), 1e-12))


WORDS, OTHER = WordEncoder("words", layout="words", metric="cosine"), WordEncoder("other", layout="other", metric="l2")
"""Two encoders, whose scores are different kinds of numbers."""


def papers_of(*topics: str, count: int = 80, seed: int = 1, **columns: Any) -> Rows:
    """Made-up papers of some topics alone, each with a title of its own."""
    rows = [row for row in made_up_papers(6 * count, seed) if row["topic"] in topics][:count]
    return [{**row, "title": f"{row['title']} {seed}n{number}", "id": f"s{seed}-{row['id']}", **columns} for number, row in enumerate(rows)]


MINE = papers_of("graphs", "stars", seed=1)
LAB = papers_of("vaccines", "markets", "stars", seed=2)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("indexes")


def build(rows: Rows, into: Path, encoder: LetterEncoder | str | None = WORDS, **settings: Any) -> Path:
    sr.build(rows, into, progress=False, **{"shard_size": 64, "encoder": encoder, **settings}).close()
    return into


def opened(*indexes: Path | sr.Index) -> sr.Index:
    return sr.open_many(indexes, encoder=WORDS)


@pytest.fixture(scope="module")
def mine(folder: Path) -> Path:
    return build(MINE, folder / "mine")


@pytest.fixture(scope="module")
def lab(folder: Path) -> Path:
    return build(LAB, folder / "lab", shard_size=32)


@pytest.fixture(scope="module")
def both(mine: Path, lab: Path) -> Iterator[sr.Index]:
    with opened(mine, lab) as indexes:
        yield indexes


@pytest.fixture(scope="module")
def union(folder: Path) -> Iterator[sr.Index]:
    """One index of all papers of both."""
    with sr.open(build([*MINE, *LAB], folder / "union"), encoder=WORDS) as index:
        yield index


def facts(ranking: Ranking) -> dict[str, Any]:
    """All that a ranking says, but for what it says of indexes."""
    values = {field.name: getattr(ranking, field.name) for field in fields(ranking) if field.name not in ("indexes", "also_in", "query")}
    values["parts"] = {name: [None if math.isnan(x) else x for x in part] for name, part in ranking.parts.items()}
    return {name: value.tolist() if isinstance(value, np.ndarray) else value for name, value in values.items()}


ASKED: Sequence[tuple[str, dict[str, Any]]] = [
    ("graph networks", {}),
    ("vaccine trial", {"mode": "bm25"}),
    ("planet orbit", {"mode": "dense"}),
    ("the risk of a dose", {"fusion": "rrf", "k": 40}),
    ("galaxxy telescope", {}),
    ("lovelace 2009", {}),
    ("star AND (galaxy OR price) NOT dust", {}),
    ('"message passing" molecules', {}),
    ("market", {"filter": "year >= 2010 and citations > 20"}),
    ("topic:stars", {"k": 200}),
    ("auction", {"diversify": True}),
    ("infection", {"group": False, "k": 500}),
    ("nodes", {"since": 2005, "until": 2020}),
]


@pytest.mark.parametrize(("query", "how"), ASKED, ids=[query for query, _ in ASKED])
def test_an_answer_is_that_of_one_index_of_all_papers(both: sr.Index, union: sr.Index, query: str, how: Mapping[str, Any]) -> None:
    assert facts(both.search(query, **how)[0]) == facts(union.search(query, **how)[0])


def test_likeness_and_feedback_are_those_of_one_index_too(both: sr.Index, union: sr.Index) -> None:
    ids, others = [MINE[3]["id"], LAB[7]["id"]], [LAB[2]["id"]]
    for one, other in (
        (both.similar(ids, negatives=others), union.similar(ids, negatives=others)),
        (both.similar(text="Stars. Dust and radiation of stars"), union.similar(text="Stars. Dust and radiation of stars")),
        (both.search("star", like=ids, unlike=others), union.search("star", like=ids, unlike=others)),
    ):
        assert facts(one[0]) == facts(other[0])


def test_papers_and_counts_are_those_of_one_index(both: sr.Index, union: sr.Index) -> None:
    assert list(both) == list(union)
    assert len(both) == len(union)
    assert both.snapshot.columns == union.snapshot.columns
    assert both.modes == union.modes
    for query, filter in (("star", None), ("", "year >= 2010"), ("market OR vaccine", 'venue == "ACL"')):
        assert both.count(query, filter) == union.count(query, filter)
        assert both.matching(query, filter).tolist() == union.matching(query, filter).tolist()


def test_a_hit_says_its_index(both: sr.Index) -> None:
    run = both.search("star", 160)
    assert {hit.index for hit in run.hits} == {"mine", "lab"}
    assert all(hit.index == ("mine" if hit.id.startswith("s1") else "lab") for hit in run.hits)
    assert run.to_arrow()["index"].to_pylist() == [hit.index for hit in run.hits]
    assert run.hits[0].name == f"{run.hits[0].index}:{run.hits[0].id}"


def test_views_of_an_answer_are_those_of_one_index(both: sr.Index, union: sr.Index) -> None:
    request = sr.Request("star price", k=5, facets=("year", "topic"), cluster=True, explain=True)
    one, other = (sr.answer(index, request) for index in (both, union))
    assert (one.facets, one.groups, one.explanations) == (other.facets, other.groups, other.explanations)
    assert one.remarks == []


def test_deleted_papers_do_not_count(mine: Path, lab: Path, tmp_path: Path) -> None:
    index = build(MINE, tmp_path / "mine")
    sr.delete(index, filter='topic == "stars"')
    rest = build([*(row for row in MINE if row["topic"] != "stars"), *LAB], tmp_path / "rest")
    with opened(index, lab) as indexes, sr.open(rest, encoder=WORDS) as one:
        for mode in ("bm25", "dense", "hybrid"):
            found, expected = (each.search("star orbit graph", 30, mode=mode)[0] for each in (indexes, one))
            assert (found.ids, found.scores.tolist()) == (expected.ids, expected.scores.tolist())


# the same paper in several

TWIN = {"title": "A rare comet seen twice", "authors": ["Ada Lovelace"], "year": 2001}


@pytest.fixture(scope="module")
def twins(folder: Path) -> Iterator[sr.Index]:
    """Three indexes without vectors. One paper is in two of them under one id; one has another title in the third, and the same DOI; and
    one id is that of two papers."""
    here: Rows = [
        {"id": "comet", **TWIN, "abstract": "A comet."},
        {"id": "1", "title": "Tides of the sea"},
        {"id": "moon", "title": "The moon", "doi": "10.1000/MOON", "authors": ["A. Moon"]},
    ]
    there: Rows = [
        {"id": "comet", **TWIN, "abstract": "A comet."},
        {"id": "1", "title": "Winds of the plain", "abstract": "wind " * 40},
    ]
    elsewhere: Rows = [
        {"id": "luna", "title": "Earth's only satellite", "doi": "https://doi.org/10.1000/moon"},
        {"id": "x", **TWIN, "year": 2003, "title": "A RARE comet, seen twice"},
    ]
    named = {"here": here, "there": there, "elsewhere": elsewhere}
    with sr.open_many([build(rows, folder / name, encoder=None) for name, rows in named.items()]) as indexes:
        yield indexes


def test_a_paper_comes_once_with_where_it_stands(twins: sr.Index) -> None:
    (hit,) = twins.search("comet").hits
    assert (hit.index, hit.id) == ("here", "comet")
    assert (hit.also, hit.also_in) == (("comet", "x"), ("there", "elsewhere"))
    assert hit.also_names == ["there:comet", "elsewhere:x"]


def test_copies_are_found_that_the_search_does_not_come_to(twins: sr.Index) -> None:
    (hit,) = twins.search("moon").hits
    assert (hit.id, hit.also, hit.also_in) == ("moon", ("luna",), ("elsewhere",))


def test_the_copy_that_says_the_most_is_shown_of_those_that_may_answer(tmp_path: Path) -> None:
    short: Rows = [{"id": "s", **TWIN, "kept": True}, {"id": "t", "title": "Comets"}]
    full: Rows = [{"id": "f", **TWIN, "abstract": "Comets are seen again and again, and this one is among the rarest."}]
    paths = [build(rows, tmp_path / name, encoder=None) for name, rows in (("short", short), ("full", full))]
    with sr.open_many(paths) as indexes:
        found = indexes.search("rare comet", 2)
        assert [(hit.name, hit.also_names) for hit in found.hits] == [("full:f", ["short:s"]), ("short:t", [])]
        ungrouped = indexes.search("rare comet", group=False).hits
        assert (ungrouped[0].name, ungrouped[0].score) == ("short:s", found.hits[0].score)
        (kept,) = indexes.search("rare comet", filter="kept == true").hits
        assert (kept.name, kept.also_names) == ("short:s", ["full:f"])


def test_records_that_a_third_shows_to_be_one_work_come_once(tmp_path: Path) -> None:
    here: Rows = [{"id": "a", **TWIN}, {"id": "b", "title": "Sighting of a rare comet", "doi": "10.1000/comet"}]
    there: Rows = [{"id": "c", **TWIN, "title": "A rare comet, seen twice.", "doi": "10.1000/comet"}]
    paths = [build(rows, tmp_path / name, encoder=None) for name, rows in (("here", here), ("there", there))]
    with sr.open_many(paths) as indexes:
        (hit,) = indexes.search("comet", 1 + 1, filter="title contains 'comet' and id != 'c'").hits
        assert (hit.name, set(hit.also_names)) in [("here:a", {"here:b", "there:c"}), ("here:b", {"here:a", "there:c"})]


def test_copies_of_given_papers_are_no_answers(twins: sr.Index) -> None:
    assert [hit.id for hit in twins.similar("comet").hits] == []
    assert [hit.id for hit in twins.search("comet moon", like="luna").hits] == ["comet"]
    # where each record stands for itself, but for those that are given
    assert [hit.name for hit in twins.similar("here:comet", group=False).hits] == ["there:comet", "elsewhere:x"]


def test_so_it_is_in_one_index(tmp_path: Path) -> None:
    rows: Rows = [{"id": "a", **TWIN}, {"id": "b", **TWIN, "doi": "10.1000/comet"}, {"id": "c", "title": "Comets are rare"}]
    with sr.open(build(rows, tmp_path / "one", encoder=None)) as index:
        for given, other in (("a", "b"), ("b", "a")):
            assert [hit.id for hit in index.similar(given).hits] == ["c"]
            assert [hit.id for hit in index.search("rare comet", like=given).hits] == ["c"]
            assert {hit.id for hit in index.similar(given, group=False).hits} == {"c", other}


def test_an_id_of_several_papers_wants_the_name_of_the_index(twins: sr.Index) -> None:
    with pytest.raises(Ambiguous, match=r"'1' is the id of 2 papers.*here:1 \(Tides of the sea\); there:1 \(Winds of the plain\)"):
        twins.papers("1")
    with pytest.raises(Ambiguous, match="there:1"):
        twins["1"]
    assert twins.papers(["there:1", "here:1"]) == [twins.members[1]["1"], twins.members[0]["1"]]
    assert twins["there:1"].title == "Winds of the plain"


def test_an_id_of_one_paper_in_several_means_it(twins: sr.Index) -> None:
    assert twins.papers(["comet", "x", "10.1000/moon"]) == [twins.members[0]["comet"], twins.members[2]["x"], twins.members[0]["moon"]]
    with pytest.raises(NotFound, match="there is no paper 'nobody' in here"):
        twins["nobody"]
    assert [id in twins for id in ("comet", "1", "there:comet", "elsewhere:comet", "nowhere:comet")] == [True, True, True, False, False]
    with pytest.raises(NotFound, match="there is no paper 'comets' in here \\+ there \\+ elsewhere"):
        twins.papers("comets")


def test_a_profile_names_the_copies(twins: sr.Index) -> None:
    assert sr.profile(twins, "there:comet").also == ("here:comet", "elsewhere:x")


def test_distinct_has_of_each_work_the_record_that_says_the_most(twins: sr.Index) -> None:
    rows = twins.snapshot.distinct(twins.matching())
    assert twins.snapshot.whole_names(rows) == ["here:comet", "here:1", "here:moon", "there:1", "elsewhere:x"]  # x is of two years later


# different encoders


@pytest.fixture(scope="module")
def markets(folder: Path) -> Path:
    """Papers of another topic by another encoder, of which the scores are another kind of numbers, too."""
    return build(papers_of("markets", count=70, seed=3, rating=5), folder / "markets", OTHER)


@pytest.fixture(scope="module")
def mixed(mine: Path, markets: Path, lab: Path) -> Iterator[sr.Index]:
    """One with another encoder between two with the same."""
    with sr.open(markets, encoder=OTHER) as other, sr.open(mine, encoder=WORDS) as one, sr.open(lab, encoder=WORDS) as another:
        indexes = sr.open_many([one, other, another])
    with indexes:
        yield indexes


def scores_by(metric: Metric, queries: Any, papers: Any) -> Any:
    one, other = queries.astype(np.float64), papers.astype(np.float64)
    if metric == "l2":
        return -np.linalg.norm(one[:, None] - other[None], axis=2)
    return (one @ other.T) / np.linalg.norm(one, axis=1)[:, None] / np.linalg.norm(other, axis=1)


def scaled(metric: Metric, query: Any, papers: Any) -> Any:
    """The scores of papers for a query on the scale of their pairs, as docs/search.md defines it."""
    pairs = scores_by(metric, papers, papers)
    chance = np.percentile(pairs[np.triu_indices(len(pairs), 1)], 90)
    np.fill_diagonal(pairs, -np.inf)
    return (scores_by(metric, query, papers)[0] - chance) / (np.median(pairs.max(axis=1)) - chance)


def all_vectors(index: sr.Index) -> Any:
    return np.concatenate([shard.vectors for shard in index.snapshot.vectors])


@pytest.fixture(scope="module")
def on_scale(mixed: sr.Index) -> Callable[[str], dict[str, float]]:
    """Gives the scaled scores of all papers for a text, by their ids, computed by hand."""
    mine, markets, lab = mixed.members

    def compute(text: str) -> dict[str, float]:
        query = sr.Query("1", text)
        same = scaled("cosine", mine.reader.query_encoder.encode([query]), np.concatenate([all_vectors(mine), all_vectors(lab)]))
        other = scaled("l2", markets.reader.query_encoder.encode([query]), all_vectors(markets))
        scores = [*same[: len(mine)], *other, *same[len(mine) :]]
        return dict(zip([*mine.snapshot.live_ids(), *markets.snapshot.live_ids(), *lab.snapshot.live_ids()], scores, strict=True))

    return compute


@pytest.mark.parametrize("text", ["planet orbit dust", "auction price", "vaccine dose"])
def test_scores_of_different_encoders_are_on_the_scale_of_each(
    mixed: sr.Index, on_scale: Callable[[str], dict[str, float]], text: str
) -> None:
    expected = on_scale(text)
    ranking = mixed.search(text, 30, mode="dense", group=False)[0]
    assert ranking.ids == sorted(expected, key=lambda id: -expected[id])[:30]
    assert ranking.scores == pytest.approx([expected[id] for id in ranking.ids], abs=1e-4)


def test_words_count_over_indexes_with_different_encoders(mixed: sr.Index, folder: Path) -> None:
    rows = [*MINE, *papers_of("markets", count=70, seed=3), *LAB]
    with sr.open(build(rows, folder / "words", encoder=None)) as one:
        found, expected = (index.search("auction of stars", 20, mode="bm25")[0] for index in (mixed, one))
        assert (found.ids, found.scores.tolist()) == (expected.ids, expected.scores.tolist())


def test_likeness_goes_by_each_encoder(mixed: sr.Index) -> None:
    given = mixed.members[1].snapshot.live_ids()[4]
    hits = mixed.similar(given, 5, mode="dense").hits
    rows, query = mixed.snapshot.rows([hit.id for hit in hits]), sr.Query("1", paper=mixed[given])
    mine, markets, lab = mixed.members
    same = scaled("cosine", mine.reader.query_encoder.encode([query]), np.concatenate([all_vectors(mine), all_vectors(lab)]))
    other = scaled("l2", markets.reader.query_encoder.encode([query]), all_vectors(markets))
    scores = np.concatenate([same[: len(mine)], other, same[len(mine) :]])
    assert [hit.score for hit in hits] == pytest.approx(scores[rows].tolist(), abs=1e-4)
    scores[mixed.snapshot.rows(given)] = -np.inf
    assert sorted(rows.tolist()) == sorted(np.argsort(-scores)[:5].tolist())


@pytest.mark.parametrize("how", [{"diversify": True}, {"late": True}], ids=["diversify", "late"])
def test_what_one_encoder_is_needed_for_is_refused(mixed: sr.Index, how: dict[str, Any]) -> None:
    with pytest.raises(InvalidRequest, match=r"mine \+ markets \+ lab .*different encoders.*; take one index at a time"):
        mixed.search("star", **how)
    with pytest.raises(InvalidRequest, match="different encoders"):
        sr.answer(mixed, sr.Request("star", cluster=True))


def test_explanations_and_facets_of_different_encoders(mixed: sr.Index, on_scale: Callable[[str], dict[str, float]]) -> None:
    expected = on_scale("star price")
    answer = sr.answer(mixed, sr.Request("star price", explain=True, facets=("topic",)))
    for why in answer.explanations:
        assert why.dense is not None
        assert why.dense.score == pytest.approx(expected[why.id], abs=1e-4)
        higher, as_high = (sum(score > why.dense.score + slack for score in expected.values()) for slack in (1e-4, -1e-4))
        assert higher < why.dense.rank <= as_high
    assert answer.facets[0].papers


def test_without_a_scale_words_alone_are_searched(mine: Path, folder: Path) -> None:
    few = build(papers_of("markets", count=20, seed=4), folder / "few", OTHER)
    with opened(mine, few) as indexes:
        assert indexes.modes == ("bm25",)
        (remark,) = sr.answer(indexes, sr.Request("star")).remarks
        assert remark == (
            "the scores of few have no known scale, and others have another encoder, so all indexes are searched by words alone"
        )


# what only some have


def test_what_only_some_have_is_left_out_with_a_word(mine: Path, folder: Path) -> None:
    words, vectors = build(LAB, folder / "words-alone", encoder=None), build(LAB[:70], folder / "vectors-alone", lexical=None)
    with opened(mine, words) as indexes:
        assert indexes.modes == ("bm25",)
        answer = sr.answer(indexes, sr.Request("star"))
        assert (answer.run.mode, answer.remarks) == (
            "bm25",
            ["words-alone has no vectors, so all indexes are searched by words alone"],
        )
        with pytest.raises(InvalidRequest, match=r"words-alone has no vectors, .*; leave out `mode='dense'`"):
            indexes.search("star", mode="dense")
    with opened(vectors, mine) as indexes:
        assert indexes.modes == ("dense",)
        assert tuple(indexes.snapshot.remarks([])) == ("vectors-alone has no BM25, so all indexes are searched by meaning alone",)
        assert len(indexes.search("star", 20)[0]) == 20
    with pytest.raises(InvalidRequest, match="words-alone has no vectors, and vectors-alone no BM25"):
        sr.open_many([mine, words, vectors])


@pytest.mark.parametrize(
    ("filter", "passes"),
    [
        ("rating >= 5", lambda row: row.get("rating", -1) >= 5),
        ("rating is null", lambda row: row.get("rating") is None),
        ("not rating == 5 and year > 2010", lambda row: row.get("rating") != 5 and (row["year"] or 0) > 2010),
        ("rating == 5 or topic == 'stars'", lambda row: row.get("rating") == 5 or row["topic"] == "stars"),
    ],
    ids=["least", "null", "not", "or"],
)
def test_papers_of_an_index_without_a_column_have_no_value_there(
    mixed: sr.Index, filter: str, passes: Callable[[dict[str, Any]], bool]
) -> None:
    rows = [*MINE, *papers_of("markets", count=70, seed=3, rating=5), *LAB]
    passing = {row["id"] for row in rows if passes(row)}
    assert set(mixed.search("star", 500, filter=filter, group=False)[0].ids) == passing
    assert mixed.count("", filter) == len(passing)
    (remark,) = sr.answer(mixed, sr.Request("star", options=sr.SearchOptions(filter=filter))).remarks
    assert remark == "mine and lab have no column rating: a filter treats these papers as without a value"


def test_a_column_that_none_has_is_an_error(mixed: sr.Index) -> None:
    with pytest.raises(sr.SciretrieveError, match="unknown column in the filter 'stars'"):
        mixed.search("star", filter="stars > 3")


def test_a_typed_condition_on_a_column_is_remarked_on_too(mixed: sr.Index) -> None:
    assert len(sr.answer(mixed, sr.Request("price rating:5")).remarks) == 1
    assert sr.answer(mixed, sr.Request("price topic:stars")).remarks == []


# opening and closing


def test_what_is_open_stays_as_it_is(mine: Path, lab: Path) -> None:
    with sr.open(mine, encoder=WORDS) as one:
        indexes = opened(one, lab)
        indexes.close()
        assert len(one.search("star")[0])
    with sr.open(mine, encoder=WORDS) as one:
        indexes = opened(one, lab)
    assert len(indexes.search("star")[0])
    indexes.close()
    indexes.close()


def test_refreshed_has_what_was_committed_since(mine: Path, tmp_path: Path) -> None:
    path = build(LAB, tmp_path / "lab")
    with opened(mine, path) as before:
        assert before.refreshed() is before
        sr.delete(path, [LAB[0]["id"]])
        with before.refreshed() as after:
            assert after is not before
            assert (len(after), LAB[0]["id"] in after, LAB[0]["id"] in before) == (len(before) - 1, False, True)
            assert after.reader.query_encoder.encoder is before.reader.query_encoder.encoder
            before.close()
            assert len(after.search("star")[0])


def test_what_cannot_be_opened_together_is_refused(mine: Path, folder: Path) -> None:
    wrong: Any
    for wrong in ([], str(mine), mine):
        with pytest.raises(InvalidRequest, match="takes several indexes: a list of their folders"):
            sr.open_many(wrong)
    with pytest.raises(InvalidRequest, match="is given twice"):
        sr.open_many([mine, folder / "lab" / ".." / "mine"])
    with pytest.raises(NotFound, match="there is no index at"):
        sr.open_many([mine, folder / "none"])
    distributed = sr.open(mine)
    distributed.searcher = ClusterSearcher.of(distributed.snapshot, groups=object.__new__(NodeGroups))
    with pytest.raises(InvalidRequest, match="cannot be one of several indexes"):
        sr.open_many([mine, distributed])


def test_indexes_that_count_words_in_different_ways_are_refused(mine: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sciretrieve.lifecycle.building.Analyzer", lambda: Analyzer(form=2))
    old = build(LAB[:5], tmp_path / "old")
    with pytest.raises(InvalidRequest, match="mine and old count words in different ways; `sciretrieve reindex -i old` recounts them"):
        sr.open_many([mine, old])


def test_parameters_that_differ_are_the_usual_ones(mine: Path, lab: Path, both: sr.Index, tmp_path: Path) -> None:
    tuned = build(LAB, tmp_path / "lab", lexical=sr.Bm25Parameters(k1=0.5))
    with opened(mine, tuned) as indexes:
        found, expected = (index.search("star orbit", mode="bm25")[0] for index in (indexes, both))
        assert found.scores.tolist() == expected.scores.tolist()


def test_late_interaction_is_that_of_one_index(tmp_path: Path) -> None:
    rows = papers_of("stars", count=12, seed=6), papers_of("graphs", count=12, seed=7)
    paths = [build(some, tmp_path / name, "minilm") for name, some in (("a", rows[0]), ("b", rows[1]), ("all", [*rows[0], *rows[1]]))]
    with sr.open_many(paths[:2]) as indexes, sr.open(paths[2]) as one:
        assert facts(indexes.search("star orbit nodes")[0]) == facts(one.search("star orbit nodes")[0])
        assert "tokens" in indexes.search("star orbit nodes")[0].parts


def test_saved_searches_are_of_one_index(both: sr.Index) -> None:
    with pytest.raises(InvalidRequest, match="a saved search has one index"):
        sr.save_search(both, sr.Request("star"), "stars")


def test_names_are_paths_where_folders_have_one_name(tmp_path: Path) -> None:
    paths = [build(LAB[:3], tmp_path / name / "lab", encoder=None) for name in ("a", "b")]
    with sr.open_many(paths) as indexes:
        assert indexes.names == tuple(map(str, paths))


def test_what_is_of_each_index_is_added_up(mine: Path, tmp_path: Path) -> None:
    lacking = build([*LAB[:3], {"id": "textless", "title": ""}], tmp_path / "lacking", encoder=None)
    with sr.open_many([lacking, mine]) as indexes:
        assert (indexes.rejected, [row.id for row in indexes.rejections]) == (1, ["textless"])
        assert sr.health(indexes, progress=False).to_dict()["generation"] is None


def test_token_vectors_by_different_encoders_do_not_count(folder: Path, tmp_path: Path) -> None:
    rows = papers_of("stars", count=12, seed=6), papers_of("graphs", count=12, seed=7)
    paths = [build(rows[0], tmp_path / "a", "minilm"), build(rows[1], tmp_path / "b", "minilm", late=True)]
    with edited_manifest(paths[1]) as manifest:
        manifest["encoder"]["layout"] = "another"
    with sr.open_many(paths) as indexes:
        assert not indexes.snapshot.late

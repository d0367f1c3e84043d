"""Papers similar by citations, by text, and by both: held against the parts that they are made of."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sciretrieve as sr
from sciretrieve.base.choices import SimilarBy
from sciretrieve.base.errors import InvalidRequest, NotFound, UnknownName
from sciretrieve.matching.fusion import unit
from sciretrieve.query.ranking.linking import SHARE
from tests.command_line import sciretrieve
from tests.made_up import made_up_papers
from tests.query.citations.test_citation_graph import cosines

ROWS = [
    {**row, "references": [f"p{(7 * number + step) % 60:04d}" for step in (1, 11, 30)[: number % 4]] + ["10.1000/a"] * (number % 9 == 0)}
    for number, row in enumerate(made_up_papers(60))
]


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> sr.Index:
    return sr.build(ROWS, tmp_path_factory.mktemp("cited") / "index", encoder=None, shard_size=16)


def ranked(scores: dict[str, float]) -> list[str]:
    return sorted(scores, key=lambda id: (-scores[id], id))


def given(*ids: str) -> dict[str, float]:
    """The mean closeness with several papers."""
    parts = [cosines(ROWS, id) for id in ids]
    scores = {id: sum(part.get(id, 0.0) for part in parts) / len(parts) for id in set().union(*parts)}
    return {id: score for id, score in scores.items() if id not in ids}


def test_by_citations_only_linked_papers_answer(index: sr.Index) -> None:
    for ids in (["p0004"], ["p0009", "p0018"]):
        ranking = index.similar(ids, 100, by="citations", group=False).rankings[0]
        expected = given(*ids)
        assert set(ranking.ids) == expected.keys()
        assert ranking.scores.tolist() == pytest.approx([expected[id] for id in ranking.ids], rel=1e-4)
        assert list(ranking.ids) == ranked(dict(zip(ranking.ids, ranking.scores.tolist(), strict=True)))
        assert ranking.parts["citations"].tolist() == ranking.scores.tolist()
        assert list(index.similar(ids, 3, by="citations", group=False).rankings[0].ids) == list(ranking.ids)[:3]


def test_filters_negatives_and_deleted_papers(index: sr.Index, tmp_path: Path) -> None:
    everything = given("p0009")
    run = index.similar("p0009", 100, by="citations", filter="year >= 2010", group=False)
    passing = {row["id"] for row in ROWS if (row["year"] or 0) >= 2010}
    assert set(run.rankings[0].ids) == everything.keys() & passing
    pushed = index.similar("p0009", 100, by="citations", negatives=["p0018"], group=False).rankings[0]
    away = cosines(ROWS, "p0018")
    expected = {id: score - 0.2 * away.get(id, 0.0) for id, score in everything.items() if id != "p0018"}
    assert dict(zip(pushed.ids, pushed.scores.tolist(), strict=True)) == pytest.approx(
        {id: score for id, score in expected.items() if score > 0}, rel=1e-3
    )
    sr.build(ROWS, tmp_path / "index", encoder=None)
    gone = sorted(everything)[:2]
    sr.delete(tmp_path / "index", gone)
    for by in ("citations", "both"):
        assert not set(gone) & set(sr.open(tmp_path / "index").similar("p0009", 100, by=by).rankings[0].ids)


@pytest.mark.parametrize("by", ["both", None])
def test_both_joins_the_text_with_citations(index: sr.Index, by: SimilarBy | None) -> None:
    text = index.similar("p0009", 1000, by="text", group=False).rankings[0]
    linked = index.similar("p0009", 1000, by="citations", group=False).rankings[0]
    expected = dict(zip(text.ids, ((1 - SHARE) * unit(text.scores)).tolist(), strict=True))
    for id, score in zip(linked.ids, linked.scores.tolist(), strict=True):
        expected[id] = expected.get(id, 0.0) + SHARE * score
    run = index.similar("p0009", 1000, by=by, group=False)
    ranking = run.rankings[0]
    assert list(ranking.ids) == ranked(expected)
    assert ranking.scores.tolist() == pytest.approx([expected[id] for id in ranking.ids])
    unlinked = [id for id, part in zip(ranking.ids, ranking.parts["citations"], strict=True) if np.isnan(part)]
    assert unlinked == [id for id in text.ids if id not in linked.ids]  # as the text ranks them
    assert run.mode == "bm25+citations"
    assert list(index.similar("p0009", 5, by=by, group=False).rankings[0].ids) == list(ranking.ids)[:5]
    closeness = {hit.id: hit.scores["citations"] for hit in run.hits}
    assert {id for id, score in closeness.items() if score is not None} == set(linked.ids)


def test_an_index_without_references_goes_by_text(index: sr.Index, tmp_path: Path) -> None:
    plain = sr.build(made_up_papers(60), tmp_path / "index", encoder=None, shard_size=16)
    found, by_text = (of.similar("p0009", 9, **by).rankings[0].ids for of, by in ((plain, {}), (index, {"by": "text"})))  # type: ignore[arg-type]
    assert list(found) == list(by_text)
    for by in ("citations", "both"):
        with pytest.raises(InvalidRequest, match="has no column of references"):
            plain.similar("p0009", by=by)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"by": "colour"}, UnknownName, "unknown ground 'colour'"),
        ({"by": "citations", "mode": "bm25"}, InvalidRequest, "leave them out with `by='citations'`"),
        ({"by": "citations", "text": "Graphs. Networks."}, InvalidRequest, "a text cites nothing"),
        ({"ids": [], "by": "both", "text": "Graphs."}, InvalidRequest, "compares citations of papers in the index; give their ids"),
        ({"ids": "nobody", "by": "citations"}, NotFound, "there is no paper 'nobody'"),
        ({"by": "citations", "k": 0}, InvalidRequest, "at least 1, not 0"),
    ],
)
def test_what_cannot_be_asked(index: sr.Index, arguments: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        index.similar(**{"ids": "p0009", **arguments})


def test_a_query_has_no_ground() -> None:
    with pytest.raises(InvalidRequest, match="excludes a query"):
        sr.Request("graphs", by="citations")


def test_the_command_explains_the_links(index: sr.Index) -> None:
    value = json.loads(sciretrieve("similar", "p0009", "-i", index.path, "--by", "citations", "-k", "3", "--explain", "-f", "json").stdout)
    assert value["mode"] == "citations"
    assert [hit["id"] for hit in value["hits"]] == list(index.similar("p0009", 3, by="citations").rankings[0].ids)
    links = {hit["id"]: hit["explanation"]["link"] for hit in value["hits"]}
    cites = {row["id"]: set(row["references"]) for row in ROWS}
    assert {id: link["shared"] for id, link in links.items()} == {id: len(cites[id] & cites["p0009"]) for id in links}
    shown = sciretrieve("similar", "p0009", "-i", index.path, "--explain", "-k", "30").stdout
    assert "citations 0." in shown
    assert "1 shared reference" in shown
    alone = sciretrieve("similar", "p0009", "-i", index.path, "--by", "text", "--explain").stdout
    assert "citations" not in alone


def test_nothing_linked_is_said(tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = [{"id": "a", "title": "A", "references": ["b"]}, {"id": "c", "title": "C"}]
    index = sr.build(rows, tmp_path / "index", encoder=None)
    result = sciretrieve("similar", "a", "-i", index.path, "--by", "citations")
    assert "no reference links another paper with the given ones; --by text compares what they say" in result.stderr

"""Runs: TREC lines that keep our order when trec_eval reads them, and ids that stand in them."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import pytrec_eval
from hypothesis import given
from hypothesis import strategies as st

import sciretrieve as sr
from sciretrieve.runs import Ranking, Run, trec_id
from sciretrieve.types import Paper, Query, Rows


class NoPapers:
    """A source that is never asked."""

    def papers_at(self, rows: Rows) -> list[Paper]:
        raise AssertionError(rows)


def run_of(scores: list[float], ids: list[str] | None = None) -> Run:
    ids = ids or [f"p{number}" for number in range(len(scores))]
    return Run((Ranking(Query("q", "words"), ids, np.array(scores), np.arange(len(ids))),), "dense", NoPapers())


@given(st.lists(st.floats(-100, 100), min_size=1, max_size=40))
def test_trec_eval_sees_our_order(values: list[float]) -> None:
    scores = sorted(values, reverse=True)
    lines = [line.split() for line in run_of(scores).to_trec("tag")]
    assert [int(line[3]) for line in lines] == list(range(1, len(scores) + 1))
    # trec_eval reads scores as float32, and breaks ties by falling id: there must be none
    written_scores = [np.float32(line[4]) for line in lines]
    assert all(first > second for first, second in itertools.pairwise(written_scores))
    last = lines[-1][2]
    measures = pytrec_eval.RelevanceEvaluator({"q": {last: 1}}, {"recip_rank"}).evaluate({"q": {line[2]: float(line[4]) for line in lines}})
    assert measures["q"]["recip_rank"] == pytest.approx(1 / len(scores))


def test_lines_have_six_fields() -> None:
    assert list(run_of([2.5, 1.0], ["a b", "c%20d"]).to_trec("me")) == ["q Q0 a%20b 1 2.5 me", "q Q0 c%20d 2 1 me"]


@pytest.mark.parametrize(("id", "expected"), [("10.1/x", "10.1/x"), ("a b", "a%20b"), ("50% of\tall", "50%25%20of%09all"), ("50%", "50%")])
def test_ids_without_white_space_stay(id: str, expected: str) -> None:
    assert trec_id(id) == expected


def test_a_run_is_read_by_number_and_shown_briefly(index: sr.Index) -> None:
    run = index.search(["graph networks", "star dust"], 12)
    assert run[1] is run.rankings[1]
    assert run[-1].query.words == "star dust"
    assert repr(run) == "<Run of 2 queries in mode hybrid, 24 hits>"
    page = run._repr_html_()
    assert page.count("<table>") == 2
    assert page.count("<tr><td>") == 20
    assert run.hits[0].paper.title in page
    assert run.hits[11].id not in page.split("</table>")[0]


def test_a_table_has_titles_unless_they_are_left_out(index: sr.Index) -> None:
    run = index.search(["graph networks", "star dust"], 3)
    frame = run.to_pandas()
    assert frame["title"].tolist() == [hit.paper.title for ranking in run for hit in run.hits_of(ranking)]
    assert frame["year"].isna().tolist() == [hit.paper.year is None for ranking in run for hit in run.hits_of(ranking)]
    assert "title" not in run.to_arrow(titles=False).column_names

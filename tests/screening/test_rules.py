"""Stopping rules: when they stop, and what they say that they promise."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import sciretrieve as sr
from sciretrieve.base.errors import InvalidRequest
from sciretrieve.screening.rules import Status, stopping_rule

STATUS = Status(1000, 100, 20, 0, 0, "sample", 0.95, 0.95, 0, 0, None, None, None, 1.0, 0, stop=False)


@pytest.mark.parametrize(
    ("rule", "facts", "stops", "claim"),
    [
        ("sample", {}, False, "go on: the recall is estimated from a random sample, which begins after 50 irrelevant papers in a row"),
        ("sample", {"low": 0.9}, False, "go on: 95 % sure that at least 90.0 % of the relevant papers are read"),
        ("sample", {"low": 0.951}, True, "stop: 95 % sure that at least 95.1 %"),
        ("ranking", {"p_value": 0.06}, False, "go on: p = 0.06"),
        ("ranking", {"p_value": 0.05}, True, "no guarantee"),
        ("budget:101", {}, False, "go on: 100 papers are read of a budget of 101; it says nothing about"),
        ("budget:100", {}, True, "stop: 100 papers are read of a budget of 100; it says nothing about unread papers"),
        ("consecutive:30", {"irrelevant_in_a_row": 29}, False, "go on: the last 29 papers read were irrelevant, of 30 in a row"),
        ("consecutive:30", {"irrelevant_in_a_row": 31}, True, "it says nothing about unread papers"),
    ],
)
def test_when_a_rule_stops_and_what_it_says(rule: str, facts: dict[str, Any], stops: bool, claim: str) -> None:
    status = replace(STATUS, rule=rule, **facts)
    assert stopping_rule(rule).stops(status) is stops
    assert claim in replace(status, stop=stops).claim
    assert "3 maybes and 1 conflict count as not found, so decide them" in replace(status, maybe=3, conflicts=1).claim


@pytest.mark.parametrize("rule", ["luck", "budget", "budget:", "budget:0", "budget:-3", "consecutive:many", "sample:3", ""])
def test_rules_that_there_are_not(rule: str) -> None:
    with pytest.raises(InvalidRequest, match="there is no rule"):
        stopping_rule(rule)


def test_a_session_stops_by_the_rule_it_began_with(index: sr.Index, tmp_path: Path) -> None:
    with sr.Screening(index, tmp_path / "budget.jsonl", "vaccine", rule="budget:3") as session:
        session.decide(irrelevant=[paper.id for paper in session.next(2)])
        assert not session.status.stop
        session.decide(maybe=[paper.id for paper in session.next(1)])
        assert session.status.stop
    with sr.Screening(index, tmp_path / "row.jsonl", "vaccine", rule="consecutive:3") as session:
        for verdict in ("irrelevant", "irrelevant", "maybe", "irrelevant", "irrelevant"):
            session.decide(**{verdict: session.next(1)[0].id})
        assert (session.status.irrelevant_in_a_row, session.status.stop) == (2, False)
        session.decide(irrelevant=session.next(1)[0].id)
        assert session.status.stop
        session.decide(irrelevant=[paper.id for paper in session.next(60)])
        assert session.next(1)  # by the ranking: no sample is drawn
        assert session.status.sampled == 0
    with sr.Screening(index, tmp_path / "row.jsonl") as session:
        assert session.status.rule == "consecutive:3"

"""Sessions as Python has them: what is read next, what is kept, and what a damaged or foreign file does."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sciretrieve as sr
from sciretrieve.base.errors import InvalidRequest, NoSuchPaper
from sciretrieve.screening.rules import DRY

QUERY = "vaccine trial"


def is_relevant(paper: sr.Paper) -> bool:
    """What the reviewer of these tests wants: about half of the made-up papers on vaccines."""
    return "vaccine" in f"{paper.title} {paper.abstract}" and "dose" in f"{paper.title} {paper.abstract}"


def read(session: sr.Screening, count: int) -> list[bool]:
    """Decide on the next papers, as the reviewer does."""
    papers = session.next(count)
    labels = [is_relevant(paper) for paper in papers]
    for paper, label in zip(papers, labels, strict=True):
        session.decide([paper.id] if label else [], [] if label else [paper.id])
    return labels


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "review.jsonl"


def test_the_first_papers_are_those_of_the_search(index: sr.Index, file: Path) -> None:
    with sr.Screening(index, file, QUERY) as session:
        assert [paper.id for paper in session.next(7)] == index.search(QUERY, 7, group=False)[0].ids
        assert session.status.recall is None
        assert not session.status.stop


@pytest.mark.parametrize("settings", [{"shard_size": 128}, {"encoder": None}, {"lexical": None}], ids=["both", "words", "vectors"])
def test_decisions_teach_the_ranking(built: Any, file: Path, settings: dict[str, Any]) -> None:
    """Far more relevant papers are found than by reading the search's ranking, whatever halves the index has."""
    index = built(**settings)
    total = sum(is_relevant(paper) for paper in index.papers(index.snapshot.live_ids()))
    with sr.Screening(index, file, QUERY, rule="ranking") as session:
        for _ in range(10):
            read(session, total // 10 + 1)
        taught = session.status.relevant
    searched = sum(is_relevant(hit.paper) for hit in index.search(QUERY, 10 * (total // 10 + 1), group=False).hits)
    assert taught > 1.15 * searched
    assert taught > 0.7 * total


def test_a_session_goes_on_where_it_was(index: sr.Index, file: Path) -> None:
    with sr.Screening(index, file, QUERY, filter="year >= 2005", target=0.9) as session:
        read(session, 12)
        expected, decisions = [paper.id for paper in session.next(5)], dict(session.decisions)
        assert all((paper.year or 0) >= 2005 for paper in session.next(100))
    with sr.Screening(index, file) as again:
        assert dict(again.decisions) == decisions
        assert [paper.id for paper in again.next(5)] == expected
        assert again.status.target == 0.9
        assert len(again) == session.status.papers < len(index)


def test_the_last_decision_on_a_paper_counts(index: sr.Index, file: Path) -> None:
    with sr.Screening(index, file, QUERY) as session:
        first, second = (paper.id for paper in session.next(2))
        session.decide(first, second)
        session.decide(second, first)
        assert (session.relevant, session.irrelevant) == ([second], [first])
        assert len(file.read_text().splitlines()) == 1 + 4  # all is on disk at once, and nothing is ever rewritten
    with sr.Screening(index, file) as again:
        assert (again.relevant, again.irrelevant, again.status.read) == ([second], [first], 2)


def test_only_the_first_papers_of_a_query_are_screened(index: sr.Index, file: Path) -> None:
    with sr.Screening(index, file, QUERY, first=40) as session:
        assert len(session) == 40
        assert {paper.id for paper in session.next(50)} == set(index.search(QUERY, 40, group=False)[0].ids)


def test_a_random_sample_is_read_when_the_ranking_is_dry_and_the_rule_keeps_its_word(index: sr.Index, file: Path) -> None:
    total = sum(is_relevant(paper) for paper in index.papers(index.snapshot.live_ids()))
    with sr.Screening(index, file, QUERY, target=0.8, confidence=0.9) as session:
        while not session.status.stop:
            read(session, 5)
        status = session.status
        assert status.sampled > 0
        assert status.unread > 0
        assert status.low is not None
        assert status.recall is not None
        assert status.high is not None
        assert 0.8 <= status.low <= status.recall <= status.high <= 1
        assert status.relevant / total >= status.low
        assert status.claim.startswith("stop: 90 % sure that at least")
        seeds = [json.loads(line) for line in file.read_text().splitlines() if '"seed"' in line]
        assert len(seeds) == 1
        expected = [paper.id for paper in session.next(3)]
    with sr.Screening(index, file) as again:
        assert again.status == status
        assert [paper.id for paper in again.next(3)] == expected


def test_the_sample_is_random(index: sr.Index, file: Path) -> None:
    """Ranks, in the order of the ids, of what is drawn: neither their mean nor their neighbours tell anything."""
    with sr.Screening(index, file, QUERY) as session:
        session.decide(irrelevant=[paper.id for paper in session.next(DRY)])
        drawn = [paper.id for paper in session.next(len(session))]
        assert sorted(drawn) == sorted(id for id in session.units.ids if id not in session.decisions)
        session.decide(irrelevant=drawn[:-1])
    with sr.Screening(index, file) as again:  # no paper is of the sample that was read before it began
        assert again.status.sampled == len(again) - DRY - 1
    places = np.argsort(np.argsort(drawn))
    assert abs(places[:60].mean() / len(drawn) - 0.5) < 0.12
    assert abs(np.corrcoef(places[:-1], places[1:])[0, 1]) < 0.2


def test_everything_read_is_everything_found(index: sr.Index, file: Path) -> None:
    with sr.Screening(index, file, QUERY, filter="year == 2010") as session:
        while session.status.unread:
            read(session, 100)
        assert (session.status.recall, session.status.low, session.status.stop) == (1.0, 1.0, True)
        assert session.status.claim == "all papers are read"
        assert session.next() == []


def test_the_rule_by_the_ranking_says_that_it_promises_nothing(index: sr.Index, file: Path) -> None:
    with sr.Screening(index, file, QUERY, rule="ranking", target=0.8) as session:
        while not session.status.stop:
            read(session, 10)
        assert session.status.p_value <= 0.05
        assert session.status.sampled == 0
        assert "no guarantee" in session.status.claim


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('{"id": "p0001"}', "line 3: not a decision"),
        ("p0001,1", "line 3: not a JSON object"),
        ('{"id": "p0001", "relevant": "perhaps"}', "line 3: not a decision"),
        ('{"id": "p0001", "relevant": true, "reason": 7}', "line 3: not a decision"),
        ('{"id": "p0001", "votes": {"Ada": "yes"}}', "line 3: not a decision"),
        ('{"id": "p0001", "votes": {}}', "line 3: not a decision"),
        ('{"reasons": "one"}', "line 3: not a decision"),
        ('{"id": "nobody", "note": "one"}', "line 3: there is no paper 'nobody'"),
        ('{"id": "p0001", "relevant": 1}', "line 3: not a decision"),
        ('{"id": "nobody", "relevant": true}', "line 3: there is no paper 'nobody'"),
    ],
)
def test_a_bad_line_is_named(index: sr.Index, file: Path, line: str, said: str) -> None:
    with sr.Screening(index, file, QUERY) as session:
        read(session, 1)
    with file.open("a") as stream:
        stream.write(line + "\n")
    before = file.read_bytes()
    with pytest.raises((InvalidRequest, NoSuchPaper), match=said):
        sr.Screening(index, file)
    assert file.read_bytes() == before


def test_other_files_and_other_papers_are_refused(index: sr.Index, built: Any, file: Path, tmp_path: Path) -> None:
    sr.Screening(index, file, QUERY, filter="year >= 2005").close()
    with pytest.raises(InvalidRequest, match="begun with query 'vaccine trial', not query 'stars'"):
        sr.Screening(index, file, "stars")
    with pytest.raises(InvalidRequest, match=r"begun with target 0\.95"):
        sr.Screening(index, file, target=0.8)
    smaller = sr.build([{"id": "a", "title": "vaccine", "year": 2010}], tmp_path / "other", encoder=None)
    with pytest.raises(InvalidRequest, match="other papers, in generation 1"):
        sr.Screening(smaller, file)
    strange = json.loads(file.read_text().splitlines()[0])
    changes = ({"recall": "much"}, {"filter": [1]}, {"query": 7}, {"first": "ten"}, {"rule": None}, {"screening": 3})
    texts = [json.dumps(strange | change) + "\n" for change in changes]
    for text in (*texts, "\n", "[1, 2]\n", '{"id": "p0001", "relevant": true}\n'):
        file.write_text(text)
        with pytest.raises(InvalidRequest, match=r"review.jsonl"):
            sr.Screening(index, file)
        assert file.read_text() == text


@pytest.mark.parametrize(
    "settings",
    [{"target": 0.0}, {"target": 1.1}, {"confidence": 1.0}, {"rule": "luck"}, {"first": 3}, {"query": " "}, {"filter": "year == 1900"}],
)
def test_bad_settings_leave_no_file(index: sr.Index, file: Path, settings: Any) -> None:
    with pytest.raises(InvalidRequest):
        sr.Screening(index, file, **settings)
    assert not file.exists()


def test_decisions_are_taken_over(index: sr.Index, tmp_path: Path) -> None:
    with sr.Screening(index, tmp_path / "old.jsonl", QUERY) as old:
        read(old, 6)
        expected = {id: decision.verdict for id, decision in old.decisions.items()}
    tables = [tmp_path / "sheet.csv", tmp_path / "sheet of a German Excel.csv"]
    for table, between in zip(tables, ",;", strict=True):
        decided = [between.join((id, '"a, title; another"', "yes" if verdict == "include" else "0")) for id, verdict in expected.items()]
        others = [between.join(row) for row in (("p0299", "open", ""), ("elsewhere", "", "1"))]
        table.write_text("\n".join([between.join(("ID", "Title", "Included")), *decided, *others]))
    for source in (tmp_path / "old.jsonl", *tables):
        with sr.Screening(index, tmp_path / f"{source.name}.new.jsonl", QUERY) as session:
            taken = session.take_over(source)
            assert (taken.decisions, {id: decision.verdict for id, decision in session.decisions.items()}) == (6, expected)


def test_maybes_reasons_notes_and_who_decides_are_kept(index: sr.Index, file: Path) -> None:
    with sr.Screening(index, file, QUERY, reasons=["no dose", " a  review "], criteria="Doses in people.", reviewer="Ada") as session:
        first, second, third, fourth = (paper.id for paper in session.next(4))
        session.decide(first, second, third, reason="A Review")
        session.decide(irrelevant=fourth, reason="not in English", note="Dutch")
        session.note(third, "ask Ben")
        assert session.reasons == ["no dose", "a review", "not in English"]
        assert [paper.id for paper in session.next(3)] != [first, second, third]
    with sr.Screening(index, file, reviewer="Ben", reasons=["NO DOSE", "retracted"], criteria="Doses in people.") as session:
        assert session.reasons == ["no dose", "a review", "not in English", "retracted"]
        assert {id: (decision.verdict, decision.reason, decision.by) for id, decision in session.decisions.items()} == {
            first: ("include", "", ("Ada",)),
            second: ("exclude", "a review", ("Ada",)),
            third: ("maybe", "", ("Ada",)),
            fourth: ("exclude", "not in English", ("Ada",)),
        }
        assert dict(session.notes) == {third: "ask Ben", fourth: "Dutch"}
        assert (session.unresolved, session.status.maybe, session.criteria) == ([third], 1, "Doses in people.")
        session.decide(third, note="Ben says yes")
        assert session.decisions[third].by == ("Ben",)
        assert (session.notes[third], session.unresolved) == ("Ben says yes", [])
    assert sum('"criteria"' in line for line in file.read_text().splitlines()) == 1


@pytest.mark.parametrize(
    ("decision", "said"),
    [
        ({"relevant": "p0001", "reason": "no dose"}, "a reason is for papers that are excluded"),
        ({"note": "hm"}, "a note is for papers"),
        ({"relevant": "p0001", "maybe": "p0001"}, "'p0001' is given two decisions, include and maybe"),
        ({"relevant": ["p0001", "nobody"]}, "there is no paper 'nobody' among the 300 to screen"),
        ({"irrelevant": "p0001", "reason": "bad \udc80 bytes"}, "not UTF-8"),
        ({"irrelevant": "p0001", "note": "bad \udc80 bytes"}, "not UTF-8"),
    ],
    ids=["reason", "note", "two", "nobody", "bytes in a reason", "bytes in a note"],
)
def test_decisions_that_mean_nothing_are_refused(index: sr.Index, file: Path, decision: dict[str, Any], said: str) -> None:
    with sr.Screening(index, file, QUERY) as session:
        before = file.read_bytes()
        with pytest.raises((InvalidRequest, NoSuchPaper), match=said):
            session.decide(**decision)
        with pytest.raises(InvalidRequest, match="at least 1, not"):
            session.next(0)
        assert file.read_bytes() == before


@pytest.mark.parametrize("verdict", ["relevant", "maybe"])
def test_a_paper_that_may_be_relevant_is_enough_to_begin_with_and_is_not_read_again(index: sr.Index, file: Path, verdict: str) -> None:
    known = next(paper for paper in index.papers(index.snapshot.live_ids()) if is_relevant(paper))
    with sr.Screening(index, file) as session:
        with pytest.raises(InvalidRequest, match="nothing to go by"):
            session.next()
        session.decide(**{verdict: known.id})
        found = session.next(20)
        assert known.id not in [paper.id for paper in found]
        assert sum("vaccine" in f"{paper.title} {paper.abstract}" for paper in found) >= 15

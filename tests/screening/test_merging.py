"""Several people's copies of one session become one, in which nothing that they decided is lost."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import sciretrieve as sr
from sciretrieve.base.errors import IndexBusy, InvalidRequest, NotFound
from sciretrieve.screening.rules import DRY

Copies = Callable[..., list[Path]]


@pytest.fixture
def copies(index: sr.Index, tmp_path: Path) -> Copies:
    """Copies of one session, after some decisions that all have in common, and what each reviewer decides."""

    def make(common: int = 0, **decided: tuple[Any, ...]) -> list[Path]:
        first = tmp_path / "session.jsonl"
        with sr.Screening(index, first, "vaccine trial", reasons=["no dose"], criteria="Doses.") as session:
            if common:
                session.decide(irrelevant=[paper.id for paper in session.next(common)])
        paths = [tmp_path / f"{name}.jsonl" for name in decided]
        for (name, verdicts), path in zip(decided.items(), paths, strict=True):
            shutil.copy(first, path)
            with sr.Screening(index, path, reviewer=name) as session:
                session.decide(*verdicts)
        return paths

    return make


def test_what_all_agree_on_is_decided_and_the_rest_is_unresolved(index: sr.Index, copies: Copies, tmp_path: Path) -> None:
    ada, ben = copies(Ada=(), Ben=())
    with sr.Screening(index, ada) as session:
        session.decide(["p0001", "p0002"], ["p0003", "p0004"], "p0005", reason="no dose")
        session.note("p0001", "see table 2")
    with sr.Screening(index, ben) as session:
        session.decide(["p0001", "p0003"], "p0004", "p0002", reason="a review")
        session.decide("p0006", note="by Ben alone")
        session.note("p0001", "and figure 1")
    with sr.Screening.merge(index, tmp_path / "merged.jsonl", [ada, ben]) as merged:
        verdicts = {id: decision.verdict for id, decision in merged.decisions.items()}
        assert verdicts == {
            "p0001": "include",
            "p0002": None,
            "p0003": None,
            "p0004": "exclude",
            "p0005": "maybe",
            "p0006": "include",
        }
        assert merged.unresolved == ["p0002", "p0003", "p0005"]
        assert merged.votes["p0003"] == {"Ada": "exclude", "Ben": "include"}
        assert (merged.status.conflicts, merged.status.maybe) == (2, 1)
        assert (merged.decisions["p0001"].by, merged.decisions["p0006"].by) == (("Ada", "Ben"), ("Ben",))
        assert (merged.decisions["p0004"].reason, merged.reasons) == ("no dose", ["no dose", "a review"])
        assert dict(merged.notes) == {"p0001": "Ada: see table 2; Ben: and figure 1", "p0006": "by Ben alone"}
        assert merged.criteria == "Doses."
        assert merged.agreement is not None
        assert (merged.agreement.papers, merged.agreement.same, merged.agreement.alone) == (4, 2, 2)
        # settled by a third: what the others said stays
        assert not {"p0002", "p0003"} & {paper.id for paper in merged.next(50)}
        merged.decide("p0002", "p0003", reason="no dose")
    with sr.Screening(index, tmp_path / "merged.jsonl") as again:
        assert (again.unresolved, again.relevant) == (["p0005"], ["p0001", "p0002", "p0006"])
        assert again.agreement == merged.agreement
        assert again.votes["p0003"] == {"Ada": "exclude", "Ben": "include"}


def test_a_third_persons_session_settles_conflicts(index: sr.Index, copies: Copies, tmp_path: Path) -> None:
    ada, ben, cleo = copies(Ada=("p0001", "p0002"), Ben=("p0002", "p0001"), Cleo=("p0002", "p0001"))
    with sr.Screening.merge(index, tmp_path / "two.jsonl", [ada, ben]) as merged:
        assert len(merged.unresolved) == 2
        agreement = merged.agreement
        merged.take_over(cleo)
        assert (merged.unresolved, merged.relevant) == ([], ["p0002"])
        assert merged.decisions["p0001"].by == ("Cleo",)
        assert merged.agreement == agreement  # that of those who decided independently
    with sr.Screening.merge(index, tmp_path / "three.jsonl", [ada, ben, cleo]) as merged:
        assert len(merged.unresolved) == 2
        assert merged.agreement is not None
        assert merged.agreement.measure == "Fleiss's kappa"


def test_a_merged_session_is_merged_again(index: sr.Index, copies: Copies, tmp_path: Path) -> None:
    ada, ben, cleo = copies(Ada=("p0001", "p0002"), Ben=("p0002", "p0001"), Cleo=("p0002",))
    sr.Screening.merge(index, tmp_path / "two.jsonl", [ada, ben]).close()
    with sr.Screening.merge(index, tmp_path / "all.jsonl", [tmp_path / "two.jsonl", cleo]) as merged:
        assert merged.votes["p0001"] == {"Ada": "include", "Ben": "exclude"}
        assert merged.votes["p0002"] == {"Ada": "exclude", "Ben": "include", "Cleo": "include"}
        assert merged.status.conflicts == 2


def test_the_random_sample_that_began_first_goes_on(index: sr.Index, copies: Copies, tmp_path: Path) -> None:
    """What was unread when it began, its order, and how far it is read by both together."""
    ada, ben = copies(DRY - 5, Ada=(), Ben=())
    drawn: dict[Path, list[str]] = {}
    for path in (ben, ada):
        with sr.Screening(index, path) as session:
            session.decide(irrelevant=[paper.id for paper in session.next(5)] if path == ben else session.irrelevant[-1:])
            if path == ada:
                session.decide(irrelevant=[paper.id for paper in session.next(5)][::-1])
            drawn[path] = [paper.id for paper in session.next(300)]
    earlier = {ben: "2026-01-01T00:00:00+00:00", ada: "2026-01-02T00:00:00+00:00"}
    for path, time in earlier.items():
        rows = [json.loads(line) for line in path.read_text().splitlines()]
        path.write_text("".join(json.dumps(row | ({"time": time} if "seed" in row else {})) + "\n" for row in rows))
    for path, count, changed in ((ada, 12, drawn[ben][3]), (ben, 9, None)):
        with sr.Screening(index, path) as session:
            session.decide(irrelevant=drawn[ben][:count])
            if changed:
                session.decide(changed)
    with sr.Screening.merge(index, tmp_path / "merged.jsonl", [ada, ben]) as merged:
        status = merged.status
        assert (status.sampled, status.conflicts) == (12, 1)
        assert [paper.id for paper in merged.next(300)] != drawn[ada]
        merged.decide(irrelevant=drawn[ben][3])
        assert merged.status.sampled == 12
        merged.decide(irrelevant=drawn[ben][12:40])
        assert [paper.id for paper in merged.next(300)] == drawn[ben][40:]
        assert merged.status.low == 1.0 if not merged.relevant and merged.status.unread == 0 else merged.status.low is not None


def test_the_claim_of_a_merged_session_counts_conflicts_as_not_found(index: sr.Index, copies: Copies, tmp_path: Path) -> None:
    ada, ben = copies(Ada=(), Ben=())
    for path, skipped in ((ada, 0), (ben, 2)):
        with sr.Screening(index, path) as session:
            ids = session.units.ids
            session.decide(ids[skipped:8], [*ids[:skipped], *ids[8:]])
    with sr.Screening.merge(index, tmp_path / "merged.jsonl", [ada, ben]) as merged:
        assert (merged.status.low, merged.status.high, merged.status.stop) == (6 / 8, 1.0, False)
        assert merged.status.claim == "all papers are read; 2 conflicts count as not found, so decide them"


def test_what_cannot_be_merged_is_one_line_and_nothing_is_lost(index: sr.Index, built: Callable[..., sr.Index], tmp_path: Path) -> None:
    first, second, other = (tmp_path / name for name in ("ada.jsonl", "ben.jsonl", "other.jsonl"))
    for path in (first, second):
        with sr.Screening(index, path, "vaccine trial") as session:
            session.decide("p0001")
    sr.Screening(index, other, "vaccine trial", filter="year >= 2005").close()
    one_by_one = tmp_path / "papers.jsonl"
    sr.Screening(index, one_by_one, "vaccine trial", group=False).close()
    target = tmp_path / "merged.jsonl"
    before = {path: path.read_bytes() for path in (first, second, other)}
    with pytest.raises(InvalidRequest, match=r"other.jsonl is over other papers than .*ada.jsonl"):
        sr.Screening.merge(index, target, [first, other])
    with pytest.raises(InvalidRequest, match=r"papers.jsonl has other groups"):
        sr.Screening.merge(index, target, [first, one_by_one])
    with pytest.raises(InvalidRequest, match="name two sessions"):
        sr.Screening.merge(index, target, [first, first])
    with pytest.raises(NotFound, match=r"no session .*nowhere.jsonl"):
        sr.Screening.merge(index, target, [first, tmp_path / "nowhere.jsonl"])
    smaller = sr.build([{"id": "a", "title": "vaccine"}], tmp_path / "smaller", encoder=None)
    with pytest.raises(InvalidRequest, match="begun over other papers"):
        sr.Screening.merge(smaller, target, [first, second])
    with sr.Screening(index, second), pytest.raises(IndexBusy):
        sr.Screening.merge(index, target, [first, second])
    assert not target.exists()
    sr.Screening.merge(index, target, [first, second]).close()
    with pytest.raises(InvalidRequest, match=r"merged.jsonl exists"):
        sr.Screening.merge(index, target, [first, second])
    for path in (first, second):
        sr.Screening(index, path, reviewer="Ada").close()
    with pytest.raises(InvalidRequest, match=r"are both by 'Ada'"):
        sr.Screening.merge(index, tmp_path / "again.jsonl", [first, second])
    assert all(path.read_bytes().startswith(text) for path, text in before.items())
    with sr.Screening(index, target) as merged:
        assert merged.decisions["p0001"].by == ("ada", "ben")


@pytest.mark.parametrize("pilot", ["named", "unnamed", "named later"])
def test_what_a_copy_begins_with_was_decided_once(index: sr.Index, tmp_path: Path, pilot: str) -> None:
    """Ada reads four papers and hands a copy to Ben; then each reads the same ten, of which Ben decides one of Ada's four again."""
    ada, ben = tmp_path / "ada.jsonl", tmp_path / "ben.jsonl"
    with sr.Screening(index, ada, "vaccine trial", reviewer="Ada" if pilot == "named" else None) as session:
        ids = session.units.ids[:14]
        session.decide(ids[:2], ids[2:4], reason="no dose", note="pilot")
    shutil.copy(ada, ben)
    with sr.Screening(index, ada, reviewer="Ada" if pilot == "named later" else None) as session:
        session.decide(ids[4:9], ids[9:])
        session.note(ids[0], "read again")
    with sr.Screening(index, ben, reviewer="Ben") as session:
        session.decide(ids[4:8], [ids[0], *ids[8:]])
    with sr.Screening.merge(index, tmp_path / "merged.jsonl", [ben, ada]) as merged:
        first = {"named": "Ada", "unnamed": "ada", "named later": "Ada"}[pilot]
        told = {"named": ("Ada",), "unnamed": ("ada",), "named later": ()}[pilot]
        assert [merged.decisions[id].by for id in ids[1:4]] == [told] * 3
        assert [merged.decisions[id].by for id in ids[4:]] == [("Ben", first)] * 10
        assert merged.votes[ids[0]] == {"Ben": "exclude", told[0] if told else "": "include"}
        assert merged.agreement is not None
        both = 10 + bool(told)
        assert (merged.agreement.papers, merged.agreement.same, merged.agreement.alone) == (both, 9, 14 - both)
        assert set(merged.agreement.reviewers) == {first, "Ben"}
        if pilot == "named":
            assert merged.notes[ids[0]] == "read again"


def test_decisions_made_elsewhere_are_nobodys_here(index: sr.Index, copies: Copies, tmp_path: Path) -> None:
    ada, ben = copies(Ada=(), Ben=(["p0001", "p0002", "p0003"],))
    (tmp_path / "table.csv").write_text("id,relevant,by\np0001,1,\np0002,1,Cleo\np0003,0,\n")
    with sr.Screening(index, ada) as session:
        session.take_over(tmp_path / "table.csv")
        assert [session.decisions[id].by for id in ("p0001", "p0002")] == [(), ("Cleo",)]
        session.decide("p0003")
    with sr.Screening.merge(index, tmp_path / "merged.jsonl", [ada, ben]) as merged:
        assert [merged.decisions[id].by for id in ("p0001", "p0002", "p0003")] == [("Ben",), ("Cleo", "Ben"), ("Ada", "Ben")]
        assert merged.agreement is not None
        assert (merged.agreement.reviewers, merged.agreement.papers) == (("Ben", "Cleo", "Ada"), 2)


def test_a_copy_that_is_taken_over_brings_back_no_older_decision_of_ones_own(index: sr.Index, tmp_path: Path) -> None:
    ada, ben = tmp_path / "ada.jsonl", tmp_path / "ben.jsonl"
    with sr.Screening(index, ada, "vaccine trial", reviewer="Ada") as session:
        session.decide(["p0001", "p0002"])
    shutil.copy(ada, ben)
    with sr.Screening(index, ben, reviewer="Ben") as session:
        session.decide("p0003", "p0002")
    with sr.Screening(index, ada) as session:
        session.decide(irrelevant="p0001")
        session.take_over(ben)
        assert {id: (decision.verdict, decision.by) for id, decision in session.decisions.items()} == {
            "p0001": ("exclude", ("Ada",)),
            "p0002": ("exclude", ("Ben",)),
            "p0003": ("include", ("Ben",)),
        }

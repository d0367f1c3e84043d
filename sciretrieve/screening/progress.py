"""Progress of a session, and what its decisions say about recall.

A paper that may be relevant, or on which reviewers disagree, is open. Bounds assume the worst for open papers: a lower bound on recall
counts them as relevant and not found. So each bound holds whatever is decided later.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import takewhile

from .bounds import least_relevant, most_relevant, ranked_p_value
from .decisions import Verdict
from .rules import Status, stopping_rule


def status_of(
    verdicts: Mapping[str, Verdict | None],
    sample: Sequence[str],
    papers: int,
    target: float = 0.95,
    confidence: float = 0.95,
    rule: str = "sample",
) -> Status:
    """Status of a session with these decisions.

    Let F be the number of relevant papers found, and O the number of open papers. The sample's upper bound on relevant papers never falls
    when one more of its papers is relevant. Computed with all open papers relevant, it is the greatest possible number T, so recall is at
    least F / T. The lower bound, computed with all open papers irrelevant, is the least possible number L, so recall is at most (F + O) /
    L.

    Args:
        verdicts: verdicts by paper, in the order of reading; None means open.
        sample: papers that were unread when the random sample began, in random order; empty before. The sample counts as read up to the
            first paper without a decision, in whatever way papers came to be read.
        papers: number of papers.
        target, confidence: the wanted recall, and the probability of being right.
        rule: the stopping rule.
    """
    found = {id for id, verdict in verdicts.items() if verdict == "include"}
    perhaps = {id for id, verdict in verdicts.items() if verdict != "exclude"}
    sampled = list(takewhile(verdicts.__contains__, sample))
    places = [place for place, id in enumerate(sampled) if id in perhaps]
    sure_places = [place for place, id in enumerate(sampled) if id in found]
    recall = low = high = None
    if sampled:
        urn = set(sample)
        in_urn, sure_in_urn = len(perhaps & urn), len(found & urn)
        before, sure_before = len(perhaps) - in_urn, len(found) - sure_in_urn
        expected = len(places) / len(sampled) * len(urn)
        most = max(most_relevant(places, len(sampled), len(urn), confidence), in_urn)
        most = min(most, in_urn + papers - len(verdicts))
        least = max(least_relevant(sure_places, len(urn), confidence), sure_in_urn)
        recall = _share(len(found), before + max(min(expected, most), in_urn))
        low = _share(len(found), before + most)
        high = min(_share(len(perhaps), sure_before + least), 1.0)
    # the ranking's test has no guarantee, so it is computed both ways, and the worse result counts
    ways = [found] if found == perhaps else [found, perhaps]
    p_value = max(ranked_p_value([id in chosen for id in verdicts], papers, target) for chosen in ways)
    if len(verdicts) == papers:
        recall = low = _share(len(found), len(perhaps))
        high, p_value = 1.0, 0.0 if found == perhaps else 1.0
    status = Status(
        papers=papers,
        read=len(verdicts),
        relevant=len(found),
        maybe=list(verdicts.values()).count("maybe"),
        conflicts=list(verdicts.values()).count(None),
        rule=rule,
        target=target,
        confidence=confidence,
        sampled=len(sampled),
        sampled_relevant=len(sure_places),
        recall=recall,
        low=low,
        high=high,
        p_value=p_value,
        irrelevant_in_a_row=in_a_row(verdicts.values()),
        stop=False,
    )
    return replace(status, stop=stopping_rule(rule).stops(status))


def in_a_row(verdicts: Iterable[Verdict | None]) -> int:
    """Number of irrelevant papers at the end of the papers read."""
    return sum(1 for _ in takewhile(lambda verdict: verdict == "exclude", reversed([*verdicts])))


def _share(count: int, total: float) -> float:
    return count / total if total else 1.0

"""How far a session is, and what its decisions say of the recall: how many of the relevant papers are found.

A paper that may be relevant, or on which people disagree, is taken for the worst that it may turn out to be: where the recall is said to be
at least so much, it counts as relevant and not found. So the claim holds however it is decided in the end.
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
    """How far a session is with these decisions, and what they say of the recall.

    Let F be the relevant papers that are found and O those that are open. The bound from the sample on how many are relevant never falls
    if one more of its papers is. So with all open ones taken for relevant it gives the most that there can be, T, and the recall
    is at least F / T. With all of them taken for irrelevant, its counterpart gives the least, L, and the recall is at most (F + O) / L.

    Args:
        verdicts: by paper, in the order in which they were read; None is open, too.
        sample: all papers that were unread when the random sample began, in its order; empty before. It is read as far as there is a
            decision on every one, however it came to be read.
        papers: how many there are.
        target, confidence: the recall to be reached, and how sure to be of it.
        rule: what the stopping rule goes by.
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
    # the ranking's test has no guarantee; it is looked at both ways, and the worse counts
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
    """How many of the papers that were read last were irrelevant."""
    return sum(1 for _ in takewhile(lambda verdict: verdict == "exclude", reversed([*verdicts])))


def _share(count: int, total: float) -> float:
    return count / total if total else 1.0

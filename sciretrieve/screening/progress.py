"""What the decisions say of the recall: how many of the relevant papers are found.

A paper that may be relevant, or on which people disagree, is taken for the worst that it may turn out to be: where the recall is said to be
at least so much, it counts as relevant and not found. So the claim holds however it is decided in the end.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from .bounds import least_relevant, most_relevant, ranked_p_value
from .decisions import Verdict


@dataclass(frozen=True, slots=True)
class KnownRecall:
    """What is known of the recall; the fields are those of `Status`."""

    sampled: int
    sampled_relevant: int
    recall: float | None
    low: float | None
    high: float | None
    p_value: float


def recall_of(
    verdicts: Mapping[str, Verdict | None], sample: Sequence[str], sampled: Sequence[str], papers: int, target: float, confidence: float
) -> KnownRecall:
    """What decisions say of the recall.

    Let F be the relevant papers that are found and O those that are open. The bound from the sample on how many are relevant never falls
    if one more of its papers is. So with all open ones taken for relevant it gives the most that there can be, T, and the recall
    is at least F / T. With all of them taken for irrelevant, its counterpart gives the least, L, and the recall is at most (F + O) / L.

    Args:
        verdicts: by paper, in the order in which they were read; None is open, too.
        sample: all papers that were unread when the sample began; empty before.
        sampled: those of its beginning that are read, without a gap.
        papers: how many there are.
        target, confidence: the recall to be reached, and how sure to be of it.
    """
    found = {id for id, verdict in verdicts.items() if verdict == "include"}
    perhaps = {id for id, verdict in verdicts.items() if verdict != "exclude"}
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
    return KnownRecall(len(sampled), len(sure_places), recall, low, high, p_value)


def _share(count: int, total: float) -> float:
    return count / total if total else 1.0

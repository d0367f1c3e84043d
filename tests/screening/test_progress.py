"""What is known of the recall where some papers are open: against every way in which they may be decided, and simulated reviews."""

from itertools import product

import numpy as np
import pytest

from sciretrieve.screening.decisions import Verdict
from sciretrieve.screening.progress import status_of


@pytest.mark.parametrize("seed", range(12))
def test_the_bounds_hold_however_what_is_open_is_decided(seed: int) -> None:
    """The claim with open papers is never above, nor the upper one below, that of any way to decide them."""
    chance = np.random.default_rng(seed)
    papers = int(chance.integers(20, 60))
    ids = [f"p{place}" for place in range(papers)]
    before, sampled = ids[:10], ids[10 : 10 + int(chance.integers(3, papers - 10))]
    kinds: list[Verdict | None] = ["include", "exclude", "maybe", None]
    verdicts = {id: kinds[chance.choice(4, p=[0.3, 0.5, 0.1, 0.1])] for id in [*before, *sampled]}
    unresolved = [id for id, verdict in verdicts.items() if verdict in ("maybe", None)][:7]
    verdicts |= {id: "exclude" for id, verdict in verdicts.items() if verdict in ("maybe", None) and id not in unresolved}
    known = status_of(verdicts, ids[10:], papers, 0.9, 0.9)
    assert known.low is not None
    assert known.high is not None
    assert known.recall is not None
    assert known.low <= known.recall <= known.high
    ways: list[tuple[Verdict, ...]] = list(product(("include", "exclude"), repeat=len(unresolved)))
    for way in ways:
        decided = status_of(verdicts | dict(zip(unresolved, way, strict=True)), ids[10:], papers, 0.9, 0.9)
        assert decided.low is not None
        assert decided.high is not None
        # all that is open counts as not found, so even what is decided to be relevant was no less found than is claimed
        assert known.low <= decided.low + 1e-12
        assert known.high >= decided.high - 1e-12
        if len(set(way)) == 1:  # the ranking's test, which has no guarantee, looks at these two
            assert known.p_value >= decided.p_value


def test_without_open_papers_nothing_is_lost() -> None:
    everything: dict[str, Verdict | None] = {f"p{place}": "include" if place % 3 == 0 else "exclude" for place in range(9)}
    known = status_of(everything, [], 9)
    assert (known.recall, known.low, known.high, known.p_value) == (1.0, 1.0, 1.0, 0.0)
    known = status_of(everything | {"p0": "maybe"}, [], 9)
    assert [known.recall, known.low, known.high] == pytest.approx([2 / 3, 2 / 3, 1.0])


def test_the_estimate_takes_the_samples_share_for_that_of_all_that_was_unread() -> None:
    """Three relevant papers were found before the sample, and two of its first ten are: five of the eleven that are to be expected."""
    ids = [f"p{place}" for place in range(50)]
    verdicts: dict[str, Verdict | None] = {id: "include" if place in (0, 1, 2, 12, 15) else "exclude" for place, id in enumerate(ids[:20])}
    known = status_of(verdicts, ids[10:], 50)
    assert known.recall == pytest.approx(5 / 11)
    assert (known.sampled, known.sampled_relevant) == (10, 2)


def test_no_more_papers_are_missed_than_are_unread() -> None:
    """Three of the sample were read, which says little; but 45 of 50 papers were, so that at most five relevant ones are missed."""
    ids = [f"p{place}" for place in range(50)]
    verdicts: dict[str, Verdict | None] = {id: "include" if place < 10 else "exclude" for place, id in enumerate([*ids[:13], *ids[18:]])}
    known = status_of(verdicts, ids[10:], 50)
    assert known.low == pytest.approx(10 / 15)

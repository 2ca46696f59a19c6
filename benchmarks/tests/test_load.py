"""The load benchmark itself: what it takes for a fault, and what for none."""

from __future__ import annotations

import pytest

from benchmarks.load import _problems, messages_of

TURNS = 3
Kept = dict[int, list[tuple[str, str, str]]]


def answered(**failing: int) -> Kept:
    """Two users whose messages were repeated to them; the first so many of user N fail, as u0=1 says."""
    return {
        user: [
            (message, "failed", "") if number < failing.get(f"u{user}", 0) else (message, "done", message)
            for number, message in enumerate(messages_of(user, TURNS))
        ]
        for user in range(2)
    }


@pytest.mark.parametrize(
    ("kept", "injected", "problems"),
    [
        (answered(), 0, 0),
        (answered(u0=1), 0, 1),
        (answered(u0=1, u1=2), 3, 0),
        (answered(u0=1, u1=2), 2, 1),
        (answered(u0=TURNS, u1=TURNS), 1, 1),
    ],
    ids=["no fault", "a failure without a fault", "as many", "one more", "every turn"],
)
def test_no_more_turns_may_fail_than_requests_met_the_fault(kept: Kept, injected: int, problems: int) -> None:
    assert len(_problems(kept, 2, TURNS, failures_allowed=injected)) == problems


def test_a_turn_that_is_lost_mixed_up_or_left_open_is_a_problem() -> None:
    kept = answered()
    kept[0].pop()
    message = kept[1][0][0]
    kept[1][0] = (message, "done", "the locker of somebody else")
    kept[1][1] = (kept[1][1][0], "accepted", "")
    told = _problems(kept, 2, TURNS, failures_allowed=9)
    assert [problem.split(":")[0] for problem in told] == ["user 0", "user 1", "user 1"]

"""A verified fact of the world is shared; everything else is its user's own."""

from __future__ import annotations

from dataclasses import replace

import pytest

from agents.base.claim_interfaces import Claim, Weighed
from agents.memory.classifier import Classifier

FACT = Claim("The reading room opens at 10:00.", "The reading room opens at 10:00.", "fact", "world")
VERIFIED = Weighed("correct", 0.9)


def test_a_verified_fact_of_the_world_is_shared() -> None:
    assert Classifier(shared_from=0.9).classify(FACT, VERIFIED) == "shared"


@pytest.mark.parametrize(
    ("claim", "weighed"),
    [
        (replace(FACT, about="user"), VERIFIED),
        (replace(FACT, kind="preference"), VERIFIED),
        (replace(FACT, is_hearsay=True), VERIFIED),
        (FACT, replace(VERIFIED, status="unknown")),
        (FACT, replace(VERIFIED, status="incorrect")),
        (FACT, replace(VERIFIED, confidence=0.89)),
        (FACT, replace(VERIFIED, mode="direct")),
    ],
    ids=[
        "about the user",
        "preference",
        "hearsay",
        "unknown",
        "incorrect",
        "not sure enough",
        "without evidence",
    ],
)
def test_everything_else_is_the_users_own(claim: Claim, weighed: Weighed) -> None:
    assert Classifier(shared_from=0.9).classify(claim, weighed) == "yours"

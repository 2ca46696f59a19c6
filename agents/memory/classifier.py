"""Shared, or the user's own? Unsure is the user's own."""

from __future__ import annotations

from typing import Literal

from agents.base.claim_interfaces import Claim, Weighed


class Classifier:
    """Sends a claim to the shared memory, or to that of the user who stated it."""

    def __init__(self, *, shared_from: float) -> None:
        """shared_from: the least confidence at which a verified claim is shared, 0 to 1."""
        self._shared_from = shared_from

    def classify(self, claim: Claim, weighed: Weighed) -> Literal["shared", "yours"]:
        """Shared is a fact of the world, in the user's own name, that was found correct with evidence.

        By LUF, section 2.3: what cannot be decided, and every preference, is personal. A verdict of the
        claim alone, without evidence, shares nothing.
        """
        is_of_the_world = claim.kind == "fact" and claim.about == "world" and not claim.is_hearsay
        is_verified = (
            weighed.status == "correct"
            and weighed.mode == "knowledge"
            and weighed.confidence >= self._shared_from
        )
        return "shared" if is_of_the_world and is_verified else "yours"

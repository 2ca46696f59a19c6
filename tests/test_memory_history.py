"""What is told of a passage: how its claims were checked, by whom, and what a model knew by itself."""

from __future__ import annotations

from assistant.terminal.facts.memory_history import claim_lines
from stores.base.clock import now
from stores.database.tables import StatedClaim


def test_the_prior_and_the_models_of_a_claim_are_told() -> None:
    claim = StatedClaim(
        user_id=1,
        turn_id=7,
        origin="turn",
        number=1,
        text="Rome is a city.",
        text_key="rome is a city",
        quote="Rome is a city.",
        kind="fact",
        about="world",
        state="stored",
        status="unknown",
        confidence=0.5,
        scope="yours",
        grounds={"prior": "Rome is\nold.", "summarizer": "llama3.2", "discriminator": "llama3.2"},
        created_at=now(),
    )
    assert list(claim_lines([claim], {})) == [
        "Stated    in turn 7: “Rome is a city.”",
        "Checked   unknown, 0.50 · stored, yours",
        "Prior     “Rome is old.”",
        "Models    summarizer llama3.2, discriminator llama3.2",
    ]
    claim.grounds = {}
    assert len(list(claim_lines([claim], {}))) == 2

"""Phrases that a colleague would not say aloud stand in no code, screen or page of the manual."""

from __future__ import annotations

from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
# What stood there once, and was rewritten; how such a thing is said stands beside it.
NOT_SAID = {
    "surely gains": "the 95 % interval of the gain is above zero",
    "begins by itself": "starts automatically",
    "of yours; by the judge": "in 9 of your answers; judged helpful twice",
    "needs memory · standalone": "answered from memory · searched as typed",
    "What you said stays": "Your message stays",
    "stands in the prompt again": "is back in the prompt",
    "sends it anew": "sends it again",
    "a shelf of their own": "listed apart",
    "of theirs is gone on with": "until you continue it",
    "what three processes died of": "a message at which three processes have ended",
    "there is no turn": "you have no turn",
    "is no JSON list": "expected a JSON list",
    "As I have it": "the statement itself",
    "Noted: I keep your words": "what was noted",
}


def said() -> dict[Path, str]:
    files = [path for room in ("assistant", "agents", "stores") for path in (ROOT / room).rglob("*.py")]
    pages = [ROOT / "README.md", *(ROOT / "docs" / "manual").glob("*.md")]
    return {path: " ".join(path.read_text("utf-8").split()) for path in (*files, *pages)}


@pytest.fixture(scope="module")
def texts() -> dict[Path, str]:
    return said()


@pytest.mark.parametrize("phrase", NOT_SAID)
def test_a_phrase_that_nobody_says_stands_nowhere(texts: dict[Path, str], phrase: str) -> None:
    found = [str(path.relative_to(ROOT)) for path, text in texts.items() if phrase in text]
    assert not found, f"say {NOT_SAID[phrase]!r} in {found}"

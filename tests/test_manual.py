"""The manual is quoted to whoever asks: no sentence of it states somebody's affairs as if they were so."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

MANUAL = Path(__file__).parent.parent / "docs" / "manual"
WHAT_VOUCH_SAYS = ("I found nothing", "I am not sure that this answers it")

# In quotation marks, or behind a command that takes words: somebody's own words, which answer somebody
# else's question about the same thing.
_STATED = re.compile(r"[\"“`](?:My|Our|I|We|Ben|Ada)\b[^\"”`]*|`/(?:teach|remember) [A-Z][a-z ][^`]*")
_ASKED = re.compile(r"[\"“](?:When|What|Who|Which|Where|How) [^\"”]*\?[\"”]")


@pytest.mark.parametrize("page", sorted(MANUAL.glob("*.md")), ids=lambda page: page.stem)
def test_no_example_of_the_manual_could_answer_a_persons_own_question(page: Path) -> None:
    text = " ".join(page.read_text("utf-8").split())
    stated = [found for found in _STATED.findall(text) if not found[1:].startswith(WHAT_VOUCH_SAYS)]
    assert stated == []
    # a question about a thing is likelier quoted than any passage about that thing
    assert [asked for asked in _ASKED.findall(text) if "runs it" not in asked] == []

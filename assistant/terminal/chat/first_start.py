"""What a person is told who has never said anything here: what works now, and what one command would add."""

from __future__ import annotations

from assistant.terminal.engine.engine import Counts
from assistant.terminal.facts.messages import quotes_only


def first_start_text(counts: Counts) -> str:
    """Five lines at most on a normal screen; empty for somebody who has said something."""
    if counts.has_spoken:
        return ""
    lines = ["Vouch answers with its sources, and remembers what you tell it."]
    if quotes_only(counts.model):
        lines.append("No reply model yet: answers quote what was found. `vouch doctor` tells how to add one.")
    if not counts.shared:
        lines.append("Nothing to read yet: /ingest and a path reads a file or a folder.")
    lines.append("F1 lists all keys and commands.")
    return "\n".join(lines)

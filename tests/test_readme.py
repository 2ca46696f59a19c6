"""The README's first conversation is one that took place: the same messages get the same answers."""

from __future__ import annotations

import re
from pathlib import Path

from cli_helpers import Vouch

ROOT = Path(__file__).parent.parent


def in_one_line(transcript: str) -> str:
    """Without where lines end, and without numbers of memories, which grow with the manual."""
    return re.sub(r"(?<=, as )\d+|(?<=/undo )\d+", "1", " ".join(transcript.split()))


def test_the_first_conversation_is_what_a_newcomer_sees(tmp_path: Path, minilm_folder: Path) -> None:
    readme = (ROOT / "README.md").read_text("utf-8")
    told = readme.split("## A first conversation")[1].split("```")[1]
    messages = re.findall(r"^You: (.+)$", told, flags=re.MULTILINE)
    assert len(messages) == 2
    vouch = Vouch(tmp_path, minilm_folder.parent)
    vouch.run("ingest", "--shared", "--quiet", str(ROOT / "docs" / "manual"))
    assert in_one_line(vouch.chat(*messages)) == in_one_line(told)

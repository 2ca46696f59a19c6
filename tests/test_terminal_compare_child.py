"""A comparison for the chat, by the real command: what it tells, what it plays, and that it ends with us."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest
from cli_helpers import HANDBOOK, QUESTION, Vouch

from assistant.terminal.comparison.comparison_process import ComparisonChild, ComparisonFailed
from assistant.terminal.facts.comparison import Pair


@pytest.fixture(scope="module")
def talked(tmp_path_factory: pytest.TempPathFactory, minilm_folder: Path) -> Vouch:
    vouch = Vouch(tmp_path_factory.mktemp("talked"), minilm_folder.parent)
    vouch.run("ingest", vouch.write("handbook.md", HANDBOOK))
    vouch.chat(QUESTION, "And on Sundays?")
    vouch.chat(*(f"{QUESTION} I asked {times} times." for times in range(40)))
    return vouch


@pytest.fixture
def in_its_place(talked: Vouch, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The environment of that chat; the folder in which copies are made."""
    for name, value in talked.environment.items():
        monkeypatch.setenv(name, value)
    copies = tmp_path / "copies"
    copies.mkdir()
    monkeypatch.setenv("TMPDIR", str(copies))
    return copies


def child(folder: Path, *more: str, session: str = "1") -> ComparisonChild:
    command = [sys.executable, "-m", "assistant.cli", "replay", session, "--json", "--model", "live"]
    return ComparisonChild([*command, "--against", "untrained", "--led", str(folder), *more])


def copies(folder: Path) -> list[Path]:
    return list(folder.glob("vouch-replay-*"))


async def heard(comparison: ComparisonChild) -> list[dict[str, Any]]:
    return [line async for line in comparison.lines()]


async def test_it_tells_how_far_it_is_and_then_every_message(in_its_place: Path, tmp_path: Path) -> None:
    (tmp_path / "1").write_text("a file with the name of the session")
    told = await heard(child(tmp_path))
    progress = [(line["model"], line["done"], line["of"]) for line in told if "done" in line]
    assert progress == [("live", 0, 2), ("live", 1, 2), ("untrained", 0, 2), ("untrained", 1, 2)]
    pairs = [Pair.told(line) for line in told if "replies" in line]
    assert sorted((pair.turn_id, pair.message) for pair in pairs) == [(1, QUESTION), (2, "And on Sundays?")]
    assert {pair.kind for pair in pairs} == {"same"}
    first = next(pair for pair in pairs if pair.turn_id == 1)
    assert "10:00" in first.live.answer
    assert "10:00" in first.live.citations[0]


async def test_up_to_a_turn_no_later_one_is_played(in_its_place: Path, tmp_path: Path) -> None:
    told = await heard(child(tmp_path, "--up-to", "1"))
    assert [line["turn"] for line in told if "replies" in line] == [1]
    with pytest.raises(ComparisonFailed, match="turn 9 holds no message of this session"):
        await heard(child(tmp_path, "--up-to", "9"))


async def test_left_or_orphaned_it_ends_and_its_copies_with_it(in_its_place: Path, tmp_path: Path) -> None:
    comparison = child(tmp_path)
    async for line in comparison.lines():
        if "done" in line and copies(in_its_place):
            comparison.leave()
    assert not copies(in_its_place)

    command = child(tmp_path, session="2")._command  # long enough not to be over before it is orphaned
    reader, writer = os.pipe()
    process = await asyncio.create_subprocess_exec(
        *command, stdin=reader, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
    )
    os.close(reader)
    assert process.stdout is not None
    first = json.loads(await process.stdout.readline())
    assert first["done"] == 0
    os.close(writer)  # as when the chat was killed
    await process.communicate()
    assert process.returncode == 143
    assert not copies(in_its_place)

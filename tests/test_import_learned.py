"""`vouch import --learn`, with the real encoder and reader: what was written years ago replaces nothing."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
from cli_helpers import Vouch


@pytest.fixture
def vouch(tmp_path: Path, minilm_folder: Path) -> Vouch:
    return Vouch(tmp_path / "home", minilm_folder.parent)


def written(vouch: Vouch, name: str, message: str, year: int) -> str:
    """A conversation of Claude of one message."""
    at = datetime(year, 5, 1, tzinfo=UTC).isoformat()
    said = {"uuid": "m", "sender": "human", "text": message, "created_at": at}
    told = [{"uuid": name, "name": name, "created_at": at, "chat_messages": [said]}]
    return vouch.write(f"{name}/conversations.json", json.dumps(told))


def test_an_imported_statement_of_another_year_replaces_nothing_of_today(vouch: Vouch) -> None:
    vouch.chat("My locker number is 214.")
    for name, message, year in (
        ("b", "My locker number is 7.", 2023),
        ("a", "My locker number is 31.", 2021),
    ):
        vouch.run("import", "--learn", written(vouch, name, message, year))
    vouch.chat("/help")
    lines = {line["text"]: line for line in vouch.run("memory", "list", "--kind", "fact", "--json").objects}
    assert len(lines) == 3
    shown = vouch.run("memory", "show", str(lines["My locker number is 214."]["passage"]), "--json").objects[
        0
    ]
    newest = lines["My locker number is 214."]["passage"]
    likely = [link for link in shown["links"] if link["kind"] == "replaces" and link["probability"] >= 0.5]
    assert likely
    assert {link["newer"] for link in likely} == {newest}
    assert "214" in vouch.chat("What is my locker number?")

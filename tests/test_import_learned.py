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
    vouch.chat("I live in Ghent.")
    for name, message, year in (("b", "I live in Lyon.", 2023), ("a", "I live in Paris.", 2021)):
        vouch.run("import", "--learn", written(vouch, name, message, year))
    told = vouch.chat("/help")
    assert "Kept as earlier, yours, as " in told
    [line] = vouch.run("memory", "list", "--kind", "fact", "--json").objects
    assert line["text"] == "I live in Ghent."
    shown = vouch.run("memory", "show", str(line["passage"]), "--json").objects[0]
    assert {version["text"]: version["state"] for version in shown["versions"]} == {
        "I live in Ghent.": "live",
        "I live in Lyon.": "changed",
        "I live in Paris.": "changed",
    }
    assert "Ghent" in vouch.chat("Where do I live?")


def test_words_of_another_year_are_the_older_ones_before_they_are_weighed(vouch: Vouch) -> None:
    vouch.chat("My favourite colour is green now.")
    vouch.run("import", "--learn", written(vouch, "a", "My favourite colour is orange.", 2020))
    answer = vouch.run("ask", "What is my favourite colour?").out
    assert "green" in answer.splitlines()[0]

"""Each command as a script calls it: a call that gives JSON, one that is wrong, and the exit code of that.

{folder} in an argument is a folder with the files of `FILES`, and {data} an empty one.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import click

from assistant.cli import cli

CHATS = [
    {
        "title": "Holidays",
        "create_time": 1700000000.0,
        "conversation_id": "c-1",
        "current_node": "b",
        "mapping": {
            "a": {
                "id": "a",
                "parent": None,
                "children": ["b"],
                "message": {
                    "id": "a",
                    "author": {"role": "user"},
                    "create_time": 1700000000.0,
                    "content": {"content_type": "text", "parts": ["Is it open on holidays?"]},
                },
            },
            "b": {
                "id": "b",
                "parent": "a",
                "children": [],
                "message": {
                    "id": "b",
                    "author": {"role": "assistant"},
                    "create_time": 1700000001.0,
                    "content": {"content_type": "text", "parts": ["No."]},
                },
            },
        },
    }
]
FILES = {
    "notes.md": "The garden gate is painted dark green.\n",
    "chats.json": json.dumps(CHATS),
    "memory.jsonl": "",
    "tiny.gguf": "GGUF",
    "cafes.csv": "name,food\nKiku,japanese\n",
    "broken.jsonl": "{\n",
    "torn.backup": "no backup",
}


@dataclass(frozen=True)
class Call:
    """What a script types behind `vouch`, and which exit code it gets."""

    words: str
    code: int = 0
    stdin: str = ""

    def arguments(self, **places: str) -> list[str]:
        """Word by word; `_` in a word is a blank."""
        return [word.replace("_", " ").format(**places) for word in self.words.split()]


@dataclass(frozen=True)
class Row:
    """`gives`: with --json. None, with the reason, where a command has no results that are JSON."""

    gives: Call | None
    wrong: Call
    why_none: str = ""


ROWS: Mapping[str, Row] = {
    "ask": Row(Call("ask When_does_the_reading_room_open?"), Call("ask", 2)),
    "chat": Row(None, Call("chat", 2), "a transcript, one message a line"),
    "ingest": Row(Call("ingest {folder}/notes.md"), Call("ingest {folder}/nowhere.md", 1)),
    "docs list": Row(Call("docs list"), Call("docs list --scope cellar", 2)),
    "docs move": Row(None, Call("docs move nowhere --out", 1), "tests/test_collections.py moves"),
    "docs refresh": Row(Call("docs refresh"), Call("docs refresh nowhere", 1)),
    "docs remove": Row(None, Call("docs remove nowhere", 1), "tests/test_library.py removes"),
    "docs show": Row(None, Call("docs show nowhere", 1), "tests/test_library.py shows"),
    "search": Row(Call("search reading room"), Call("search", 2)),
    "why": Row(Call("why 1"), Call("why 999", 1)),
    "import": Row(Call("import {folder}/chats.json --dry-run"), Call("import {folder}/notes.md", 1)),
    "sessions": Row(Call("sessions"), Call("sessions --shelf cellar", 2)),
    "export": Row(Call("export 1"), Call("export 999", 1)),
    "memory edit": Row(Call("memory edit 2 I_like_coffee."), Call("memory edit 999 I_like_coffee.", 1)),
    "memory both": Row(None, Call("memory both 999", 1), "tests/test_statement_links.py keeps both"),
    "memory instead": Row(Call("memory instead 2 I_like_tea."), Call("memory instead 999 I_like_tea.", 1)),
    "memory link": Row(
        None, Call("memory link 2 2 --kind same", 2), "tests/test_statement_links.py links two"
    ),
    "memory export": Row(Call("memory export"), Call("memory export --scope cellar", 2)),
    "memory forget": Row(Call("memory forget 2 --yes"), Call("memory forget 999 --yes", 1)),
    "memory import": Row(
        Call("memory import {folder}/memory.jsonl"), Call("memory import {folder}/broken.jsonl", 2)
    ),
    "memory list": Row(Call("memory list"), Call("memory list --since yesterday", 2)),
    "memory pending": Row(Call("memory pending", 1), Call("memory pending --retries", 2)),
    "memory proposals": Row(Call("memory proposals", 1), Call("memory proposals --accept 999", 2)),
    "memory share": Row(Call("memory share 2", 1), Call("memory share 999", 1)),
    "memory show": Row(Call("memory show 2"), Call("memory show 999", 1)),
    "memory undo": Row(Call("memory undo"), Call("memory undo 999", 1)),
    "feedback": Row(Call("feedback 1 --good"), Call("feedback 999 --good", 1)),
    "train": Row(Call("train --status", 1), Call("train --budget soon", 2)),
    "replay": Row(None, Call("replay {folder}/nowhere.jsonl", 2), "tests/test_replay_command.py plays"),
    "kb add": Row(Call("kb add cafes {folder}/cafes.csv"), Call("kb add cafes {folder}/notes.md", 1)),
    "kb list": Row(Call("kb list"), Call("kb list --scope cellar", 2)),
    "kb remove": Row(None, Call("kb remove nowhere", 1), "tests/test_knowledge_bases.py removes"),
    "kb show": Row(None, Call("kb show nowhere", 1), "tests/test_knowledge_bases.py shows"),
    "models add": Row(Call("models add {folder}/tiny.gguf"), Call("models add {folder}/notes.md", 2)),
    "models find": Row(None, Call("models find --scope cellar", 2), "tests/test_nearby.py looks for some"),
    "models list": Row(Call("models list"), Call("models list --scope cellar", 2)),
    "models remove": Row(None, Call("models remove nowhere", 1), "tests/test_local_models.py removes"),
    "models use": Row(Call("models use extractive"), Call("models use nowhere", 1)),
    "encoder": Row(Call("encoder"), Call("encoder --back", 1)),
    "serve": Row(None, Call("serve --port 99999999", 2), "tests/test_terminal_serve.py reads its address"),
    "keys add": Row(Call("keys add ann"), Call("keys add ..", 2)),
    "keys list": Row(Call("keys list"), Call("keys list --scope cellar", 2)),
    "keys revoke": Row(None, Call("keys revoke 999", 1), "tests/test_doors_openai.py takes one back"),
    "mcp": Row(
        None, Call("mcp --token-file {folder}/notes.md", 2), "tests/test_doors_mcp.py calls its tools"
    ),
    "doctor": Row(Call("doctor --no-repair"), Call("doctor --thorougly", 2)),
    "backup": Row(Call("backup {data}/new.backup"), Call("backup", 2)),
    "restore": Row(None, Call("restore {folder}/torn.backup", 2), "tests/test_restore.py restores"),
}


def commands(command: click.Command = cli, name: str = "") -> Iterator[tuple[str, click.Command]]:
    """Every command that does something, by its words behind `vouch`."""
    if not isinstance(command, click.Group):
        yield name, command
        return
    context = click.Context(command)
    for each in command.list_commands(context):
        found = command.get_command(context, each)
        assert found is not None, f"{name} lists {each}"
        yield from commands(found, f"{name} {each}".strip())

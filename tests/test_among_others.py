"""Whatever one user types, nothing of another's is changed and nothing private of theirs is shown.

Every command there is, every command of a chat and every key of its screens is used by somebody else, with
what names the others' things: their numbers, documents, files and sessions. What comes later is used as well.
"""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import click
import pytest
from cli_helpers import ENDS_WITHIN_SECONDS, Vouch
from command_here import run_here
from screen_fixtures import assistant_in, on_screen
from script_rows import FILES, ROWS, commands

from assistant.terminal.input.commands import IN_PLAIN
from assistant.terminal.input.keys import PLACES

SECRETS = ("zqcat", "zqdiary", "zqcafe", "zqwhisper", "zqreason")
# What the owner of the machine's files does, which whoever can read them can do without Vouch.
OF_THE_MACHINE = {
    "backup": "copies the whole database",
    "restore": "puts another database in its place",
    "serve": "shows the screens in a browser until it is ended",
    "keys add": "lets a program ask in a user's name, which the machine's owner can say with --user",
    "keys list": "tells who has keys, and none of them",
    "keys revoke": "takes a key back",
    "mcp": "offers tools until it is ended; tests/test_doors_mcp.py calls them",
    "models add": "changes which models there are",
    "replay": "plays for minutes; tests/test_replay_command.py asks it for another's session",
    "train": "trains for minutes; tests/test_poisoned_rounds.py teaches it",
}
CALLS = 5  # of each command, drawn; beside those that are not
NAMED = ("menus", "cafes", "rules.md", "1", "2", "3", "4", "5")  # ann's
_KEPT = {
    "shared": "SELECT v.* FROM passage_versions AS v JOIN receipts AS r ON r.id = v.added_by"
    " WHERE v.space IN ('shared', 'kb:2') AND r.user_id = 1",
    "own": "SELECT * FROM passage_versions WHERE space IN ('user:1', 'kb:1')",
    "links": "SELECT * FROM statement_links WHERE space = 'user:1'",
    "documents": "SELECT d.* FROM document_versions AS d JOIN receipts AS r ON r.id = d.added_by"
    " WHERE r.user_id = 1",
    "collections": "SELECT d.source, d.collection FROM documents AS d JOIN document_versions AS v"
    " ON v.document_id = d.id JOIN receipts AS r ON r.id = v.added_by WHERE r.user_id = 1",
    "bases": "SELECT * FROM knowledge_bases WHERE id < 3",
    **{
        table: f"SELECT * FROM {table} WHERE user_id = 1"
        for table in ("turns", "sessions", "receipts", "feedback", "claims")
    },
}


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory, minilm_folder: Path) -> Vouch:
    return made_library(tmp_path_factory.mktemp("others"), minilm_folder.parent)


def made_library(folder: Path, encoders: Path) -> Vouch:
    """Ann has shared a document and a table, and keeps much for herself; mallory has a memory of hers."""
    made = Vouch(folder, encoders)
    made.run("ingest", "--shared", made.write("rules.md", "The reading room opens at ten.\n"))
    made.run("ingest", made.write("diary.md", "My diary is about zqdiary.\n"))
    made.run("kb", "add", "cafes", made.write("cafes.csv", "name,food\nzqcafe,japanese\n"))
    made.run("kb", "add", "menus", "--shared", made.write("menus.csv", "name,price\nsoup,4\n"))
    made.chat("My cat is called zqcat.", "When does the reading room open?", "/bad", "/rename zqcat")
    made.run("feedback", "2", "--bad", "--why", "zqreason")
    made.chat("/private", "My secret is zqwhisper.")
    made.run("chat", "--user", "mallory", stdin="My boat is called Rex.\nWhen does the room open?\n")
    made.write("rules.md", "The reading room never opens.\n")  # which a refresh would take up
    made.write("menus.csv", "name,price\nsoup,400\n")
    for name, content in FILES.items():
        made.write(f"files/{name}", content)
    return made


def kept(data: Path) -> dict[str, list[tuple[object, ...]]]:
    """All that is ann's."""
    with closing(sqlite3.connect(data / "vouch.db")) as opened:
        return {name: sorted(opened.execute(asked), key=repr) for name, asked in _KEPT.items()}


def named(library: Path, dice: random.Random) -> str:
    """Something that a call may name: mostly ann's."""
    files = [str(library / file) for file in ("rules.md", "menus.csv", "diary.md", "")]
    return dice.choice([*NAMED, *files, "ann", "Mallory says no.", str(dice.randint(1, 9))])


def calls(library: Path, name: str, command: click.Command) -> Iterator[list[str]]:
    """As scripts call it, and with arguments and options drawn from what there is."""
    row, dice = ROWS[name], random.Random(name)
    places = {"folder": str(library / "files"), "data": str(library)}
    for call in filter(None, (row.gives, row.wrong)):
        yield call.arguments(**places)
    given = [each for each in command.params if each.name not in _COMMON]
    flags = [each.opts[0] for each in given if isinstance(each, click.Option) and each.is_flag]
    arguments = [each for each in given if isinstance(each, click.Argument)]
    for what in (*NAMED, str(library / "rules.md"), str(library / "menus.csv")):
        for flag in ((), *((flag,) for flag in flags)):
            yield [*name.split(), *(what for _ in arguments), *flag]
    for _ in range(CALLS):
        words = name.split()
        for each in given:
            if isinstance(each, click.Argument):
                words.append(named(library, dice))
            elif dice.random() < 0.5:
                words.append(dice.choice(each.opts))
                if isinstance(each.type, click.Choice):
                    words.append(dice.choice(list(each.type.choices)))
                elif words[-1] not in flags:
                    words.append(named(library, dice))
        yield words


_COMMON = {
    *("user", "settings", "data", "as_json", "quiet", "verbose", "no_color", "plain", "no_input", "offline"),
    *("timeout", "help"),
}


def as_mallory(vouch: Vouch, words: list[str], stdin: str = "") -> str:
    """What she is shown. No call is a defect of ours."""
    environment = vouch.environment | {"VOUCH_USER": "mallory"}
    code, out, err = run_here(
        [*words, "--offline", "--no-input"],
        stdin=stdin.encode(),
        env=environment,
        cwd=vouch.folder,
        within_seconds=ENDS_WITHIN_SECONDS,
    )
    assert code != 70, (words, err.decode())
    return (out + err).decode(errors="replace")


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name, _ in commands() if name not in OF_THE_MACHINE])
def test_no_command_reaches_what_is_another_s(library: Vouch, tmp_path: Path, name: str) -> None:
    vouch = library.copy_to(tmp_path)
    before = kept(vouch.data)
    assert all(before[table] for table in ("shared", "own", "documents", "bases", "turns", "receipts"))
    command = dict(commands())[name]
    for words in calls(library.folder, name, command):
        told = as_mallory(vouch, words)
        typed = " ".join(words)
        assert not [word for word in SECRETS if word in told and word not in typed], (words, told)
        after = kept(vouch.data)
        assert after == before, words


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(set(IN_PLAIN) - {"/edit", "/compare", "/quit"}))
def test_no_command_of_a_chat_reaches_what_is_another_s(library: Vouch, tmp_path: Path, name: str) -> None:
    vouch, dice = library.copy_to(tmp_path), random.Random(name)
    before = kept(vouch.data)
    lines = [
        name,
        *(" ".join([name, *(named(library.folder, dice) for _ in range(1 + n % 2))]) for n in range(CALLS)),
    ]
    told = as_mallory(vouch, ["chat", "--plain"], "".join(f"{line}\n" for line in lines))
    assert not [word for word in SECRETS if word in told], (lines, told)
    assert kept(vouch.data) == before, lines


SCREENS = {
    "f2": "Why this answer",
    "f3": "Memory",
    "f4": "Training",
    "f5": "Sessions",
    "f8": "Log",
    "f9": "Documents",
    "ctrl+f": "Find",
}


@pytest.mark.slow
@pytest.mark.parametrize("opens", SCREENS)
async def test_no_key_of_a_screen_reaches_what_is_another_s(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, opens: str
) -> None:
    monkeypatch.chdir(tmp_path)  # a key writes what is one's own beside the person
    with assistant_in(tmp_path) as made:  # ann has shared rules.md
        ann = made.stores.journal.user_id("ann")
        made.stores.knowledge.remember(ann, "My cat is called zqcat.")
        made.stores.journal.open_session(ann, title="zqcat")
    before = kept(tmp_path / "data")
    async with on_screen(tmp_path, user="mallory", replies=[["At ten [1]."]] * 99) as chat:
        await chat.asks("When does the reading room open?")
        for pressed in [key for each in PLACES[SCREENS[opens]] for key in each.keys.split(",")]:
            await chat.presses(opens, pressed, "enter", "y", "enter")
            assert not [word for word in SECRETS if word in chat.text], (opens, pressed, chat.text)
            for _ in range(9):
                if chat.screen is chat.app.chat:
                    break
                await chat.presses("escape")
    assert kept(tmp_path / "data") == before

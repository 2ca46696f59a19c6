"""The bytes that terminals send for keys, in each encoding that there is, at a pseudo-terminal.

*Classic* is xterm's. *kitty* is its keyboard protocol (CSI code ; modifiers ; text u) with all that the
screens ask for, so that letters and Enter come as codes too. *modifyOtherKeys* is xterm's other encoding
(CSI 27 ; modifiers ; code ~), which terminals send that were told to send it always.
"""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from cli_helpers import HANDBOOK, Person, Vouch
from scripted_server import ScriptedServer, hangs, says

from assistant.terminal.input.keys import APP, CHAT, PROMPT
from stores.database.tables import Turn

CLASSIC = {
    "send": "\r",
    "new_line": "\n",
    "complete": "\t",
    "search_prompts": "\x12",
    "editor": "\x0f",
    "stop": "\x1b",
    "end_input": "\x04",
    "help": "\x1bOP",
    "why": "\x1bOQ",
    "memory": "\x1bOR",
    "training": "\x1bOS",
    "sessions": "\x1b[15~",
    "log": "\x1b[19~",
    "documents": "\x1b[20~",
    "find": "\x06",
    "new_session": "\x0e",
    "rate": "\x07",
    "redraw": "\x0c",
    "interrupt": "\x03",
    "palette": "\x10",
    "quit": "\x11",
}
_WITH_CTRL = {  # the letter
    "new_line": "j",
    "search_prompts": "r",
    "editor": "o",
    "end_input": "d",
    "find": "f",
    "new_session": "n",
    "rate": "g",
    "redraw": "l",
    "interrupt": "c",
    "palette": "p",
    "quit": "q",
}
KITTY = {
    "send": "\x1b[13u",
    "complete": "\x1b[9u",
    "stop": "\x1b[27u",
    "help": "\x1b[P",
    "why": "\x1b[Q",
    "memory": "\x1b[13~",
    "training": "\x1b[S",
    "sessions": "\x1b[15~",
    "log": "\x1b[19~",
    "documents": "\x1b[20~",
} | {name: f"\x1b[{ord(letter)};5u" for name, letter in _WITH_CTRL.items()}
OTHER_KEYS = CLASSIC | {name: f"\x1b[27;5;{ord(letter)}~" for name, letter in _WITH_CTRL.items()}
ENCODINGS = {"classic": CLASSIC, "kitty": KITTY, "modifyOtherKeys": OTHER_KEYS}
_ASKS = "sk anything"  # of the empty prompt; the cursor may stand on its first letter


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory, minilm_folder: Path) -> Vouch:
    made = Vouch(tmp_path_factory.mktemp("keys"), minilm_folder.parent)
    made.run("ingest", "--shared", made.write("handbook.md", HANDBOOK))
    return made


@pytest.fixture
def vouch(library: Vouch, tmp_path: Path) -> Vouch:
    copied = library.copy_to(tmp_path)
    editor = Path(copied.write("editor", '#!/bin/sh\nprintf "%s and more" "$(cat "$1")" > "$1"\n'))
    editor.chmod(0o700)
    copied.environment["VISUAL"] = str(editor)
    return copied


def messages(vouch: Vouch) -> list[str]:
    with vouch.database() as database, database.reading() as sql:
        return [turn.message for turn in sql.query(Turn).order_by(Turn.id)]  # type: ignore[arg-type]


class Keyboard:
    """Keys in one encoding, and what is seen behind them."""

    def __init__(self, person: Person, encoding: str) -> None:
        self._person = person
        self._encoding = encoding
        self.pressed: set[str] = set()

    def writes(self, text: str, seen: str) -> None:
        """Letters."""
        is_code = self._encoding == "kitty"
        self._person.types("".join(f"\x1b[{ord(one)};;{ord(one)}u" for one in text) if is_code else text)
        self._person.sees(seen)
        time.sleep(0.2)  # or Enter might be taken for a part of a paste

    def presses(self, name: str, *seen: str) -> None:
        """A key, by its id."""
        self.pressed.add(name)
        self._person.types(ENCODINGS[self._encoding][name])
        for text in seen:
            self._person.sees(text)

    def opens(self, name: str, seen: str) -> None:
        """A key that opens a screen, which is left again."""
        self.presses(name, seen)
        self._person.has_seen_all()  # so that the prompt is seen again only once Esc was read
        self.presses("stop")
        if self._encoding != "kitty":
            time.sleep(0.5)  # or it would be taken for the beginning of the next key
        self._person.sees(_ASKS)


def test_every_key_of_the_prompt_and_of_everywhere_has_its_bytes() -> None:
    for table in ENCODINGS.values():
        assert set(table) == {key.id for key in (*PROMPT, *CHAT, *APP)}


@pytest.mark.parametrize("encoding", ["classic", "kitty"])
def test_every_key_arrives_and_does_what_it_is_for(vouch: Vouch, encoding: str) -> None:
    with ScriptedServer([hangs(["Half of it"])], then=says("At ten.")) as server:
        vouch.use_server(server.base_url)
        with vouch.terminal("chat") as person:
            keys = Keyboard(person, encoding)
            person.sees("1 shared")
            keys.writes("one", "one")
            keys.presses("new_line")
            keys.writes("two", "two")
            keys.presses("send", "Half of it")
            keys.presses("stop", "stopped")
            keys.opens("help", "Help")
            keys.opens("why", "Why this answer")
            keys.opens("memory", "Waiting for check")
            keys.opens("training", "live model")
            keys.opens("sessions", "Sessions")
            keys.opens("log", "following")
            keys.opens("documents", "a ask it")
            keys.opens("find", "Find")
            keys.opens("search_prompts", "Earlier prompts")
            keys.opens("rate", "Last answer: ")
            keys.opens("palette", "Actions, commands")
            person.has_seen_all()
            keys.presses("redraw", "stopped", _ASKS)  # which nothing has changed
            keys.presses("new_session", "New session")
            keys.writes("/t", "/t")
            keys.presses("complete", "/teach")
            keys.presses("interrupt", _ASKS)  # clears
            keys.presses("interrupt", "Ctrl+C again or Ctrl+D leaves")
            keys.writes("three", "three")
            keys.presses("editor", "three and more")
            keys.presses("send", "At ten.")
            keys.presses("end_input")
            assert person.exit_code() == 0
    assert messages(vouch) == ["one\ntwo", "three and more"]
    assert keys.pressed == set(ENCODINGS[encoding]) - {"quit"}  # which leaves the other chats


def test_in_the_classic_encoding_keys_that_are_never_bound_are_backspace_tab_and_enter(vouch: Vouch) -> None:
    with ScriptedServer([says("At ten."), says("At noon.")]) as server:
        vouch.use_server(server.base_url)
        with vouch.terminal("chat") as person:
            keys = Keyboard(person, "classic")
            person.sees("1 shared")
            keys.writes("/tx", "/tx")
            person.types("\x08")  # Ctrl+H
            person.types("\x09")  # Ctrl+I
            person.sees("/teach")
            person.types("\x08" * len("/teach "))  # the menu may have been open, so that Tab completed
            keys.writes("one", "one")
            person.types("\x0d")  # Ctrl+M
            person.sees("At ten.")
            keys.writes("two", "two")
            person.types("\x1b\r")  # Alt+Enter
            person.sees("At noon.")
            keys.presses("quit")
            assert person.exit_code() == 0
    assert messages(vouch) == ["one", "two"]


def test_where_they_are_keys_of_their_own_they_do_nothing_and_shift_enter_is_a_new_line(
    vouch: Vouch,
) -> None:
    encoding = "modifyOtherKeys"
    with ScriptedServer(then=says("At ten.")) as server:
        vouch.use_server(server.base_url)
        with vouch.terminal("chat") as person:
            keys = Keyboard(person, encoding)
            person.sees("1 shared")
            keys.writes("one", "one")
            for code in map(ord, "him"):
                person.types(f"\x1b[27;5;{code}~")
            person.types("\x1b[27;3;13~")  # Alt+Enter
            keys.writes(" two", " two")
            person.types("\x1b[27;2;13~")  # Shift+Enter
            keys.writes("three", "three")
            keys.presses("send", "At ten.")
            keys.presses("quit")
            assert person.exit_code() == 0
    assert messages(vouch) == ["one two\nthree"]


def test_a_paste_with_an_escape_in_it_arrives_whole_and_enter_sends_it(vouch: Vouch) -> None:
    with ScriptedServer(then=says("At ten.")) as server:
        vouch.use_server(server.base_url)
        with vouch.terminal("chat") as person:
            person.sees("1 shared")
            person.types("\x1b[200~one\x1b[31mred\x07bell\ntwo\tlines end\x1b[201~")
            person.sees("lines end")
            time.sleep(0.2)  # or Enter might be taken for a part of it
            person.types("\r")
            person.sees("At ten.")
            person.types("\x11")
            assert person.exit_code() == 0
    assert messages(vouch) == ["one[31mredbell\ntwo    lines end"]

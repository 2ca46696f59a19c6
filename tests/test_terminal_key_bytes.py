"""The bytes that terminals send for keys, in the classic encoding and in the extended one.

Each encoding is tried at a pseudo-terminal. The bytes are those of xterm for the classic one, of the kitty
keyboard protocol (CSI code ; modifiers u) for the other, and of xterm's `modifyOtherKeys` where it differs.
"""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from cli_helpers import HANDBOOK, Vouch

from assistant.terminal.screens.keys import APP, CHAT, PROMPT

CLASSIC = {
    "help": "\x1bOP",
    "sessions": "\x1b[15~",
    "search_prompts": "\x12",
    "rate": "\x07",
    "new_line": "\n",
    "palette": "\x10",
    "interrupt": "\x03",
    "end_input": "\x04",
}
KITTY = {
    "help": "\x1b[P",
    "sessions": "\x1b[15~",
    "search_prompts": "\x1b[114;5u",
    "rate": "\x1b[103;5u",
    "new_line": "\x1b[106;5u",
    "palette": "\x1b[112;5u",
    "interrupt": "\x1b[99;5u",
    "end_input": "\x1b[100;5u",
}
ESCAPE = {"classic": "\x1b", "kitty": "\x1b[27u"}


@pytest.fixture(scope="module")
def vouch(tmp_path_factory: pytest.TempPathFactory, minilm_folder: Path) -> Vouch:
    made = Vouch(tmp_path_factory.mktemp("keys"), minilm_folder.parent)
    made.run("ingest", "--shared", made.write("handbook.md", HANDBOOK))
    return made


@pytest.mark.parametrize(("encoding", "keys"), [("classic", CLASSIC), ("kitty", KITTY)])
def test_keys_arrive_in_both_encodings(vouch: Vouch, encoding: str, keys: dict[str, str]) -> None:
    assert set(keys) <= {key.id for key in (*PROMPT, *CHAT, *APP)}
    with vouch.terminal("chat") as person:
        person.sees("1 shared")
        for name, seen in (
            ("help", "Help"),
            ("sessions", "Sessions"),
            ("search_prompts", "Earlier prompts"),
            ("palette", "Search for commands"),
        ):
            person.types(keys[name])
            person.sees(seen)
            person.types(ESCAPE[encoding])
            time.sleep(0.5)  # classic: or it would be taken for the beginning of the next key
            person.sees("Ask anything")
        person.types(keys["rate"])
        person.sees("no answer to rate yet")
        person.types(f"one{keys['new_line']}two")
        person.sees("two")
        person.types(keys["interrupt"])  # clears
        person.sees("Ask anything")
        person.types(keys["interrupt"])
        person.sees("Ctrl+C again or Ctrl+D leaves")
        person.types(keys["end_input"])
        assert person.exit_code() == 0


@pytest.mark.parametrize("pressed", ["\x1b[13;2u", "\x1b[27;2;13~"])  # kitty, modifyOtherKeys
def test_shift_enter_is_a_new_line_where_it_arrives(vouch: Vouch, pressed: str) -> None:
    with vouch.terminal("chat") as person:
        person.sees("1 shared")
        person.types(f"one{pressed}two")
        person.sees("two")
        time.sleep(0.2)
        person.types("\x03")  # clears: nothing was sent
        person.sees("Ask anything")
        person.types("\x11")
        assert person.exit_code() == 0


def test_a_paste_with_an_escape_in_it_arrives_whole_and_enter_sends_it(vouch: Vouch) -> None:
    with vouch.terminal("chat") as person:
        person.sees("1 shared")
        person.types("\x1b[200~one\x1b[31mred\x07bell\ntwo\tlines end\x1b[201~")
        person.sees("lines end")
        time.sleep(0.2)  # or Enter might be taken for a part of it
        person.types("\r")
        person.sees("I found nothing about that")
        person.types("\x11")
        assert person.exit_code() == 0
    with vouch.database() as database, database.reading() as sql:
        sent = sql.connection().exec_driver_sql("SELECT message FROM turns").scalars().all()
    assert sent == ["one[31mredbell\ntwo    lines end"]

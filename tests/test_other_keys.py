"""Keys in xterm's other encoding are the keys that kitty's protocol would tell."""

from __future__ import annotations

import pytest
from textual._xterm_parser import XTermParser
from textual.events import Key

from assistant.terminal.input.whole_paste import OtherKeyParser


def pressed(sent: str) -> list[tuple[str, str | None]]:
    return [(event.key, event.character) for event in OtherKeyParser().feed(sent) if isinstance(event, Key)]


@pytest.mark.parametrize(
    ("sent", "key"),
    [
        ("\x1b[27;5;113~", "ctrl+q"),
        ("\x1b[27;5;106~", "ctrl+j"),
        ("\x1b[27;2;13~", "shift+enter"),
        ("\x1b[27;3;13~", "alt+enter"),
        ("\x1b[27;2;9~", "shift+tab"),
        ("\x1b[27;1;27~", "escape"),
        ("\x1b[27;3;120~", "alt+x"),
    ],
)
def test_a_key_that_writes_nothing_is_told_by_its_name_alone(sent: str, key: str) -> None:
    assert pressed(sent) == [(key, None)]


@pytest.mark.parametrize(("sent", "letter"), [("\x1b[27;2;65~", "A"), ("\x1b[27;2;196~", "Ä")])
def test_a_letter_with_shift_is_that_letter(sent: str, letter: str) -> None:
    assert [character for _, character in pressed(sent)] == [letter]


@pytest.mark.parametrize("sent", ["\x1b[113;5u", "\x1b[13;2u", "\x1bOP", "\x1b[15~", "q", "\r"])
def test_other_encodings_are_read_as_before(sent: str) -> None:
    before = [(e.key, e.character) for e in XTermParser().feed(sent) if isinstance(e, Key)]
    assert pressed(sent) == before
    assert len(before) == 1

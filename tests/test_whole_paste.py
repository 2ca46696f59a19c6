"""What a terminal sends of a paste becomes one event, whole, however it is cut and whatever is in it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual import events
from textual._xterm_parser import XTermParser
from textual.driver import Driver
from textual.drivers import linux_driver
from textual.drivers.headless_driver import HeadlessDriver

from assistant.terminal.input.whole_paste import PasteParser, whole_pastes

START, END = "\x1b[200~", "\x1b[201~"
GARBLED = f"{START}one\x1b[31mred\x07bell\ntwo\tlines end{END}"


def parsed(*pieces: str) -> list[str]:
    """What is pasted, and the names of the keys behind and before it."""
    parser = PasteParser()
    found = [event for piece in pieces for event in parser.feed(piece)]
    return [
        event.text if isinstance(event, events.Paste) else event.key
        for event in found
        if isinstance(event, events.Paste | events.Key)
    ]


def test_an_escape_in_a_paste_does_not_end_it() -> None:
    assert parsed(f"{GARBLED}\r") == ["one[31mred\x07bell\ntwo\tlines end", "enter"]


def test_keys_before_behind_and_between_pastes_stay_keys() -> None:
    sent = f"a\x1b[A{START}x\x1b{END}\x1bOP{START}\x1b[B{END}\x1b[15~"
    assert parsed(sent) == ["a", "up", "x", "f1", "[B", "f5"]


def test_a_paste_within_a_paste_is_text() -> None:
    assert parsed(f"{START}a{START}b{END}") == ["a[200~b"]


def test_it_may_come_in_pieces() -> None:
    for cut in range(1, len(GARBLED)):
        assert parsed(GARBLED[:cut], GARBLED[cut:], "\r") == ["one[31mred\x07bell\ntwo\tlines end", "enter"]


PASTED = st.text(st.sampled_from("ab\x1b[201~\n\x07"), max_size=30).filter(lambda text: END not in text)


@given(st.lists(PASTED, max_size=3), st.integers(1, 7))
def test_whatever_is_pasted_arrives_without_its_escapes(pastes: list[str], length: int) -> None:
    sent = "".join(f"k{START}{text}{END}" for text in pastes)
    pieces = [sent[at : at + length] for at in range(0, len(sent), length)]
    assert parsed(*pieces) == [each for text in pastes for each in ("k", text.replace("\x1b", ""))]


def test_the_driver_parses_so_while_the_screens_are_open() -> None:
    with whole_pastes(linux_driver.LinuxDriver):
        assert vars(linux_driver)["XTermParser"] is PasteParser
    assert vars(linux_driver)["XTermParser"] is XTermParser


@pytest.mark.parametrize("driver", [HeadlessDriver, Driver])
def test_a_driver_that_reads_no_terminal_is_left_alone(driver: type[Driver]) -> None:
    with whole_pastes(driver):
        pass

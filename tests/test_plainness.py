"""Plain mode is explained by its first reason, and colour is for who wants it."""

from __future__ import annotations

import pytest

from assistant.settings.config import Settings, TerminalSettings
from assistant.terminal.plain.plainness import should_be_plain, wants_colour

PLAIN = Settings(terminal=TerminalSettings(plain=True))


@pytest.mark.parametrize(
    ("option", "environ", "settings", "is_terminal", "reason"),
    [
        (True, {"VOUCH_PLAIN": "1"}, PLAIN, False, "--plain"),
        (False, {"VOUCH_PLAIN": "1", "ACCESSIBLE": "1"}, PLAIN, False, "VOUCH_PLAIN"),
        (False, {"ACCESSIBLE": "1", "TERM": "dumb"}, PLAIN, False, "ACCESSIBLE"),
        (False, {"TERM": "dumb"}, PLAIN, False, "TERM=dumb"),
        (False, {}, PLAIN, False, "the settings"),
        (False, {}, Settings(), False, "no terminal"),
        (False, {"VOUCH_PLAIN": "0", "ACCESSIBLE": "", "TERM": "xterm"}, Settings(), True, None),
    ],
)
def test_plain_mode_is_explained_by_its_first_reason(
    option: bool, environ: dict[str, str], settings: Settings, is_terminal: bool, reason: str | None
) -> None:
    assert should_be_plain(option, environ, settings, is_terminal) == reason


@pytest.mark.parametrize(
    ("option", "environ", "is_terminal", "wanted"),
    [
        (False, {"TERM": "xterm", "NO_COLOR": ""}, True, True),
        (False, {"TERM": "xterm"}, False, False),
        (True, {"TERM": "xterm"}, True, False),
        (False, {"NO_COLOR": "1"}, True, False),
        (False, {"TERM": "dumb"}, True, False),
    ],
)
def test_colour_is_for_a_terminal_that_has_it_and_nobody_refused(
    option: bool, environ: dict[str, str], is_terminal: bool, wanted: bool
) -> None:
    assert wants_colour(option, environ, is_terminal) is wanted

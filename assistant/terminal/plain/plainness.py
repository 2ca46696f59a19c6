"""Whether there are to be screens, and colour: plain mode and its reasons."""

from __future__ import annotations

from collections.abc import Mapping

from assistant.settings.config import Settings
from assistant.settings.settings_file import says_yes


def should_be_plain(
    option: bool, environ: Mapping[str, str], settings: Settings, stdout_is_terminal: bool
) -> str | None:
    """Why there are to be no screens, or None when there may be."""
    reasons = (
        ("--plain", option),
        ("VOUCH_PLAIN", says_yes(environ.get("VOUCH_PLAIN", ""))),
        ("ACCESSIBLE", bool(environ.get("ACCESSIBLE"))),
        ("TERM=dumb", environ.get("TERM") == "dumb"),
        ("the settings", settings.terminal.plain),
        ("no terminal", not stdout_is_terminal),
    )
    return next((reason for reason, holds in reasons if holds), None)


def wants_colour(option_no_color: bool, environ: Mapping[str, str], is_terminal: bool) -> bool:
    """Colour only on a terminal that has it, for someone who did not turn it off."""
    refused = option_no_color or bool(environ.get("NO_COLOR")) or environ.get("TERM") == "dumb"
    return is_terminal and not refused

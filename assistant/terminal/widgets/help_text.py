"""All keys and commands, as they are in force."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from textwrap import fill

from assistant.terminal.input.keys import FIXED, PLACES, SCREEN_COMMANDS, shown


def help_text(changed: Mapping[str, str], commands: Mapping[str, str], *, width: int, first: str = "") -> str:
    """Lines of `width` characters at most.

    changed: keys that differ from the table, by id. commands: those of plain mode. first: the place
    whose keys are told first.
    """
    lines = _lines(changed, commands, first)
    return "\n".join(fill(line, max(30, width), subsequent_indent=" " * 6) for line in lines)


def _lines(changed: Mapping[str, str], commands: Mapping[str, str], first: str) -> Iterator[str]:
    for place, keys in sorted(PLACES.items(), key=lambda entry: entry[0] != first):
        yield place
        for key in keys:
            yield f"  {shown(changed.get(key.id, key.keys)):<18} {key.words}  [{key.id}]"
        for pressed, words in FIXED.get(place, ()):
            yield f"  {pressed:<18} {words}"
        yield ""
    yield "Commands, typed into the prompt"
    if not commands:
        yield "  (more of them once the assistant is ready)"
    for name, about in sorted((dict(commands) | SCREEN_COMMANDS).items()):
        yield f"  {name:<10} {about}"
    yield "  //         sends a message that begins with a slash"
    yield ""
    yield 'The names in brackets are for the settings: [terminal.keys] why = "f9" moves that key.'

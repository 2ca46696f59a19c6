"""Every key of the screens, in one table: what it is called, what it does, and its slash command.

Bindings, help, the command palette and the line of keys at the bottom are all made from it, and
[terminal.keys] in the settings changes a key by its id. Nothing of the screen library is imported here.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass

from stores.errors import WrongUsage


@dataclass(frozen=True)
class Key:
    """One key, or several that do the same."""

    id: str
    keys: str  # as the screen library names them, commas between
    action: str
    words: str
    slash: str = ""  # the command that does the same
    is_first: bool = False  # the prompt would do something else with it


PROMPT = (
    Key("send", "enter", "send", "send"),
    Key("new_line", "ctrl+j,shift+enter", "new_line", "new line"),
    Key("complete", "tab", "complete", "complete a command; otherwise the next pane"),
    Key("search_prompts", "ctrl+r", "screen.search_prompts", "search all earlier prompts"),
    Key("editor", "ctrl+o", "screen.editor", "write the prompt in $VISUAL or $EDITOR", "/edit"),
    Key("stop", "escape", "screen.stop_or_read", "stop the reply; when none runs, read"),
    Key(
        "end_input",
        "ctrl+d",
        "end_input",
        "leave on an empty prompt; else delete to the right",
    ),
)
CHAT = (
    Key("help", "f1", "help", "help: all keys and commands", "/help"),
    Key("why", "f2", "why", "why this answer", "/why"),
    Key("sessions", "f5", "sessions", "sessions", "/sessions"),
    Key("new_session", "ctrl+n", "new_session", "new session", "/new"),
    Key("rate", "ctrl+g", "rate", "rate the last answer"),
    Key("redraw", "ctrl+l", "redraw", "redraw, and follow the newest line"),
    Key("interrupt", "ctrl+c", "interrupt", "copy; else stop; else clear; twice leaves", is_first=True),
)
APP = (
    Key("palette", "ctrl+p", "command_palette", "every command with its key"),
    Key("quit", "ctrl+q", "quit", "leave", "/quit"),
)
RATE = (
    Key("rate_helped", "plus,equals_sign", "helped", "helped", "/good"),
    Key("rate_not_helped", "minus", "not_helped", "did not help", "/bad"),
    Key("rate_teach", "t", "teach", "teach", "/teach"),
    Key("rate_why", "w", "why", "why", "/why"),
    Key("rate_undo", "u", "undo", "undo what was learned", "/undo"),
    Key("rate_back", "escape,ctrl+g", "back", "back"),
)
READING = (
    Key("read_next", "j,down", "next", "next message"),
    Key("read_previous", "k,up", "previous", "the one before"),
    Key("read_first", "g,home", "first", "first message"),
    Key("read_last", "G,end", "last", "last message, and follow"),
    Key("read_fold", "space", "fold", "fold or unfold"),
    Key("read_copy", "y", "screen.copy", "copy the message", "/copy"),
    Key("read_copy_code", "c", "screen.copy_code", "copy its next block of code"),
    Key("read_helped", "plus,equals_sign", "screen.rate_current('good')", "helped", "/good"),
    Key("read_not_helped", "minus", "screen.rate_current('bad')", "did not help", "/bad"),
    Key("read_teach", "t", "screen.teach_current", "teach what the answer should have been", "/teach"),
    Key("read_why", "w", "screen.why", "why this answer", "/why"),
    Key("read_learned", "m", "screen.learned", "what was learned from this turn"),
    Key("read_undo", "u", "screen.undo", "undo what was learned last", "/undo"),
    Key("read_retry", "r", "screen.retry", "ask again", "/retry"),
    Key("read_find", "slash", "screen.find", "find in this session", "/find"),
    Key("read_find_next", "n", "screen.find_again(1)", "next that was found"),
    Key("read_find_previous", "N", "screen.find_again(-1)", "the one found before"),
    Key("read_back", "escape,i,enter", "screen.write", "back to the prompt"),
)
WHY = (
    Key("why_open", "enter", "open", "open the passage"),
    Key("why_helped", "plus,equals_sign", "helped", "the passage helped"),
    Key("why_not_helped", "minus", "not_helped", "it did not"),
    Key("why_back", "escape", "back", "back"),
)
SESSIONS = (
    Key("sessions_open", "enter", "open", "open the session"),
    Key("sessions_filter", "slash", "filter", "filter by title"),
    Key("sessions_new", "n", "new", "a new session", "/new"),
    Key("sessions_back", "escape,f5", "back", "back"),
)
PLACES: Mapping[str, tuple[Key, ...]] = {
    "In the prompt": PROMPT,
    "Everywhere": (*CHAT, *APP),
    "After the key that rates": RATE,
    "Reading": READING,
    "Why this answer": WHY,
    "Sessions": SESSIONS,
}
FIXED = {  # keys that are what they are, by place
    "In the prompt": (
        ("Up, Down", "on the first and last line: older and newer prompts of this session"),
        ("PageUp, PageDown", "scroll the conversation, while the prompt has one line"),
        ("End", "at the end of the line: follow the newest line"),
    ),
    "Reading": (("PageUp, PageDown", "by page"), ("1 to 9", "open that source")),
}
SCREEN_COMMANDS = {  # besides those of the line mode
    "/copy": "copy the last answer",
    "/edit": "write the prompt in your editor",
    "/find": "TEXT: find it in this session",
    "/retry": "ask the last question again",
    "/suspend": "back to the shell until `fg`",
    "/theme": "[NAME]: change the colours until you leave",
}

_NAMES = {
    "escape": "Esc",
    "enter": "Enter",
    "tab": "Tab",
    "space": "Space",
    "plus": "+",
    "equals_sign": "=",
    "minus": "-",
    "slash": "/",
    "home": "Home",
    "end": "End",
    "down": "Down",
    "up": "Up",
}


def keymap(chosen: Mapping[str, str], *, send_with: str) -> dict[str, str]:
    """The keys that differ from the table, by id. send_with: enter, or ctrl+j: then Enter is the new line.

    Raises `WrongUsage` for an id that there is not.
    """
    known = {key.id for keys in PLACES.values() for key in keys}
    for name in chosen:
        if name not in known:
            near = difflib.get_close_matches(name, known, n=1, cutoff=0.4)
            meant = f"Did you mean {near[0]}?" if near else "F1 in the chat lists the keys with their ids."
            raise WrongUsage(f"terminal.keys.{name} is the id of no key", hint=meant)
    swapped = {"send": "ctrl+j", "new_line": "enter"} if send_with == "ctrl+j" else {}
    return swapped | {name: keys.replace(" ", "") for name, keys in chosen.items()}


def first_actions(changed: Mapping[str, str]) -> dict[str, str]:
    """What the prompt does with a key instead of taking it as text, by key. changed: keys by id."""
    return {
        pressed: key.action if key in PROMPT else f"screen.{key.action}"
        for key in (*PROMPT, *CHAT)
        if key in PROMPT or key.is_first
        for pressed in changed.get(key.id, key.keys).split(",")
    }


def shown(keys: str) -> str:
    """Keys as a person reads them: `ctrl+g` is ^G, `f2` is F2."""
    return ", ".join(_shown_one(key) for key in keys.split(","))


def _shown_one(key: str) -> str:
    *modifiers, name = key.split("+")
    said = _NAMES.get(name) or (name.upper() if len(name) > 1 and name[0] == "f" else name)
    if "ctrl" in modifiers:
        return f"^{said.upper() if len(said) == 1 else said}"
    return "+".join([*(word.capitalize() for word in modifiers), said])

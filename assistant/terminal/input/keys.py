"""Every key of the screens, in one table: what it is called, what it does, and its slash command.

Bindings, help, the command palette and the line of keys at the bottom are all made from it, and
[terminal.keys] in the settings changes a key by its id. Nothing of the screen library is imported here.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass

from stores.base.errors import WrongUsage


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
    Key("complete", "tab", "complete", "complete a command or @document; otherwise the next pane"),
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
    Key("memory", "f3", "memory", "memory: what is remembered", "/memory"),
    Key("training", "f4", "training", "training", "/training"),
    Key("sessions", "f5", "sessions", "sessions", "/sessions"),
    Key("log", "f8", "log", "log", "/log"),
    Key("documents", "f9", "documents", "documents that were read", "/docs"),
    Key("find", "ctrl+f", "find", "find: this session, then all", "/find", is_first=True),
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
    Key("rate_helped", "plus,equals_sign", "choose('helped')", "helped; again takes it back", "/good"),
    Key("rate_not_helped", "minus", "choose('not_helped')", "did not help; again takes it back", "/bad"),
    Key("rate_teach", "t", "choose('teach')", "teach", "/teach"),
    Key("rate_why", "w", "choose('why')", "why", "/why"),
    Key("rate_undo", "u", "choose('undo')", "undo the latest learning or rating", "/undo"),
    Key("rate_notices", "n", "choose('notices')", "every notice of this chat, whole", "/notices"),
    Key("rate_back", "escape,ctrl+g", "back", "back"),
)
READING = (
    Key("read_next", "j,down", "next", "next message"),
    Key("read_previous", "k,up", "previous", "the one before"),
    Key("read_first", "g,home", "first", "first message"),
    Key("read_last", "G,end", "last", "last message, and follow"),
    Key("read_fold", "space", "fold", "fold or unfold"),
    Key("read_thoughts", "o", "thoughts", "open or fold what the model thought"),
    Key("read_copy", "y", "screen.copy", "copy the message", "/copy"),
    Key("read_copy_code", "c", "screen.copy_code", "copy its next block of code", "/copy code"),
    Key(
        "read_helped",
        "plus,equals_sign",
        "screen.rate_current('good')",
        "helped; again takes it back",
        "/good",
    ),
    Key("read_not_helped", "minus", "screen.rate_current('bad')", "did not help", "/bad"),
    Key("read_teach", "t", "screen.teach_current", "teach what the answer should have been", "/teach"),
    Key("read_why", "w", "screen.why", "why this answer", "/why"),
    Key("read_learned", "m", "screen.learned", "what was learned from this turn", "/learned"),
    Key("read_undo", "u", "screen.undo", "undo the latest learning or rating", "/undo"),
    Key("read_retry", "r", "screen.retry", "answer again; the earlier answer is kept", "/retry"),
    Key("read_change", "e", "screen.change_current", "change the message, and go on from there", "/change"),
    Key("read_branch_next", "right_square_bracket", "screen.branch(1)", "the next branch", "/branch"),
    Key("read_branch_before", "left_square_bracket", "screen.branch(-1)", "the branch before", "/branch"),
    Key("read_compare", "b", "screen.compare_current", "before and after: by another model", "/compare"),
    Key("read_find", "slash", "screen.find", "find: this session, then all", "/find"),
    Key("read_find_next", "n", "screen.find_again(1)", "next that was found"),
    Key("read_find_previous", "N", "screen.find_again(-1)", "the one found before"),
    Key("read_back", "escape,i,enter", "screen.write", "back to the prompt"),
)
WHY = (
    Key("why_open", "enter", "open", "open the passage"),
    Key("why_helped", "plus,equals_sign", "helped", "the passage helped"),
    Key("why_not_helped", "minus", "not_helped", "the passage did not help"),
    Key(
        "why_remove",
        "x",
        "remove",
        "remove your passage; a shared one is proposed for removal",
        "/forget",
    ),
    Key("why_undo", "u", "undo", "undo the latest removal made here", "/undo"),
    Key("why_compare", "c", "compare", "compare with the previous model", "/compare"),
    Key("why_back", "escape", "back", "back"),
)
FIND = (
    Key("find_next", "down", "mark(1)", "the next one"),
    Key("find_previous", "up", "mark(-1)", "the one before"),
    Key("find_list", "tab,shift+tab", "list", "from the words to the list, and back"),
    Key("find_list_next", "j", "mark(1)", "in the list: the next one"),
    Key("find_list_previous", "k", "mark(-1)", "in the list: the one before"),
    Key("find_words", "slash", "words", "from the list to the words"),
    Key("find_page_down", "pagedown", "mark(10)", "ten further"),
    Key("find_page_up", "pageup", "mark(-10)", "ten back"),
    Key("find_back", "escape,ctrl+f", "back", "back"),
)
SESSIONS = (
    Key("sessions_open", "enter", "open", "open the session"),
    Key("sessions_filter", "slash", "filter", "filter by title; Enter opens the marked one"),
    Key("sessions_scope", "tab", "shelf(1)", "the next shelf: open, asked, archived, deleted"),
    Key("sessions_scope_before", "shift+tab", "shelf(-1)", "the shelf before"),
    Key("sessions_rename", "e", "rename", "change its title", "/rename"),
    Key("sessions_archive", "z", "archive", "archive it; among archived or deleted ones: back", "/archive"),
    Key("sessions_delete", "x", "delete", "delete it; what it taught stays; erase a deleted one"),
    Key("sessions_undo", "u", "undo", "undo the latest change made here"),
    Key("sessions_new", "n", "new", "a new session", "/new"),
    Key("sessions_down", "down,j", "mark(1)", "the next one"),
    Key("sessions_up", "up,k", "mark(-1)", "the one before"),
    Key("sessions_back", "escape,f5", "back", "back"),
)
MEMORY = (
    Key("memory_open", "enter", "open", "all about it: versions, receipts"),
    Key("memory_down", "down,j", "mark(1)", "the next one"),
    Key("memory_up", "up,k", "mark(-1)", "the one before"),
    Key("memory_scope", "tab", "scope(1)", "the next scope"),
    Key("memory_scope_before", "shift+tab", "scope(-1)", "the scope before"),
    Key("memory_filter", "slash", "filter", "find words"),
    Key("memory_kinds", "v", "kinds", "list messages and documents too, or not"),
    Key("memory_edit", "e", "edit", "edit: a new version; a shared one goes through the check"),
    Key("memory_forget", "x", "forget", "forget for good", "/forget"),
    Key("memory_both", "b", "both", "both hold: it, and what it took the place of", "/both"),
    Key("memory_undo", "u", "undo", "undo its latest write", "/undo"),
    Key("memory_undo_latest", "U", "undo_latest", "undo your latest write of all"),
    Key("memory_share", "s", "share", "offer it to every user, through the check", "/share"),
    Key("memory_retry", "r", "retry", "weigh now what failed and waits"),
    Key("memory_accept", "a", "decide(True)", "accept a proposal, where you may decide"),
    Key("memory_discard", "d", "decide(False)", "put a proposal away"),
    Key("memory_export", "o", "export", "write it to a file"),
    Key("memory_privacy", "p", "privacy", "privacy: what is kept, who can read it, what left", "/privacy"),
    Key("memory_help", "f1", "help", "help"),
    Key("memory_back", "escape", "back", "out of the words that are looked for; back"),
    Key("memory_leave", "f3", "leave", "back to the chat"),
)
PRIVACY = (
    Key("privacy_forget", "x", "forget_everything", "forget everything of mine"),
    Key("privacy_back", "escape,p", "back", "back"),
)
TRAINING = (
    Key("training_start", "s", "start", "start or stop a round", "/train start"),
    Key("training_pause", "space", "pause", "pause, go on", "/train pause"),
    Key("training_details", "enter", "details", "all about the round"),
    Key("training_compare", "c", "compare", "compare answers", "/compare"),
    Key("training_step_back", "b", "back_step", "one step back, to the model before", "/train back"),
    Key("training_help", "f1", "help", "help"),
    Key("training_back", "escape,f4", "back", "back"),
)
COMPARE = (
    Key("compare_left", "1", "rate('left')", "the left one is better"),
    Key("compare_right", "2", "rate('right')", "the right one is better"),
    Key("compare_equal", "0", "rate('equal')", "neither is better"),
    Key("compare_next", "n", "next(1)", "next"),
    Key("compare_previous", "N", "next(-1)", "the one before"),
    Key("compare_worse", "f", "worse", "only worse ones, or all"),
    Key("compare_names", "v", "names", "show the names, or hide them"),
    Key("compare_help", "f1", "help", "help"),
    Key("compare_back", "escape", "back", "leave off, back"),
)
LOG = (
    Key("log_filter", "slash", "filter", "only lines with these words"),
    Key("log_level", "l", "level", "all levels, warnings, errors"),
    Key("log_follow", "f", "follow", "go to the newest line, and follow"),
    Key("log_open", "enter", "open", "the whole line"),
    Key("log_help", "f1", "help", "help"),
    Key("log_back", "escape,f8", "back", "back"),
)
DOCUMENTS = (
    Key("documents_open", "enter", "open", "read it"),
    Key("documents_ask", "a", "ask", "ask only it: its name goes into the prompt"),
    Key("documents_filter", "slash", "filter", "words of a name or a folder"),
    Key("documents_move", "m", "move", "move it into a collection, which @NAME asks alone"),
    Key("documents_refresh", "r", "refresh", "read it again, if the file has changed"),
    Key("documents_remove", "x", "remove", "remove it from answers; the file stays"),
    Key("documents_undo", "u", "undo", "undo the latest change made here"),
    Key("documents_down", "down,j", "mark(1)", "the next one"),
    Key("documents_up", "up,k", "mark(-1)", "the one before"),
    Key("documents_back", "escape,f9", "back", "back"),
)
PLACES: Mapping[str, tuple[Key, ...]] = {
    "In the prompt": PROMPT,
    "Everywhere": (*CHAT, *APP),
    "After the key that rates": RATE,
    "Reading": READING,
    "Why this answer": WHY,
    "Find": FIND,
    "Sessions": SESSIONS,
    "Documents": DOCUMENTS,
    "Memory": MEMORY,
    "Privacy": PRIVACY,
    "Training": TRAINING,
    "Before and after": COMPARE,
    "Log": LOG,
}
FIXED = {  # keys that are what they are, by place
    "In the prompt": (
        ("Up, Down", "on the first and last line: older and newer prompts of this session"),
        ("PageUp, PageDown", "scroll the conversation, while the prompt has one line"),
        ("F6, F7", "select the line; select all that is typed"),
        ("End", "at the end of the line: follow the newest line"),
    ),
    "Reading": (("PageUp, PageDown", "by page"), ("1 to 9", "open that source")),
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
    "left_square_bracket": "[",
    "right_square_bracket": "]",
    "home": "Home",
    "end": "End",
    "down": "Down",
    "up": "Up",
}


_BY_ID = {key.id: key for keys in PLACES.values() for key in keys}


def key_ids() -> frozenset[str]:
    """By what each key is named in [terminal.keys]."""
    return frozenset(_BY_ID)


def first_of(name: str, changed: Mapping[str, str]) -> str:
    """What is pressed for the key with this id, the first where there are several. changed: keys by id."""
    return shown(changed.get(name, _BY_ID[name].keys).split(",")[0])


def nearest_id(name: str) -> str:
    """The id that a misspelt one was probably meant to be; empty when none is near."""
    return next(iter(difflib.get_close_matches(name, sorted(key_ids()), n=1, cutoff=0.4)), "")


def keymap(chosen: Mapping[str, str], *, send_with: str) -> dict[str, str]:
    """The keys that differ from the table, by id. send_with: enter, or ctrl+j: then Enter is the new line.

    Raises `WrongUsage` for an id that there is not.
    """
    for name in chosen:
        if name not in key_ids():
            near = nearest_id(name)
            meant = f"Did you mean {near}?" if near else "F1 in the chat lists the keys with their ids."
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

"""The line of keys at the bottom: those of the prompt, or those of reading."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from textual.content import Content
from textual.reactive import reactive
from textual.widget import Widget

from assistant.terminal.input.keys import first_of, key_ids
from assistant.terminal.widgets.work import host

_SHORT = {  # what there is room for, in the order in which it is told
    "send": "send",
    "new_line": "line",
    "stop": "read",
    "rate": "rate",
    "why": "why",
    "memory": "memory",
    "training": "train",
    "help": "help",
    "sessions": "sessions",
    "palette": "all",
    "new_session": "new",
}
_FIRST = ("send", "stop", "help")  # where there is room for little else
_NARROW = 60  # columns
_SHORT_READING = {
    "read_next": "next",
    "read_previous": "previous",
    "read_back": "back",
    "read_fold": "fold",
    "read_helped": "helped",
    "read_not_helped": "not",
    "read_teach": "teach",
    "read_why": "why",
    "read_copy": "copy",
    "read_find": "find",
}


def keys_that_fit(keys: Sequence[str], width: int) -> str:
    """As many of these as there is room for on a row of so many columns; the first ones matter most."""
    told = ""
    for key in keys:
        told = f"{told}  {key}" if told and len(told) + len(key) + 4 <= width else told or key
    return told


class FittingKeys(Widget):
    """The keys of a screen as they are in force, as many as there is room for at its present width."""

    def __init__(self, words: Mapping[str, str], *, few: Mapping[str, str] | None = None) -> None:
        """words: what each does, by its id; the first ones matter most. few: those of a narrow screen."""
        super().__init__(classes="keys")
        self._words, self._few = words, few or words

    def render(self) -> Content:
        width, changed = self.app.size.width, host(self).changed_keys
        words = self._few if width < _NARROW else self._words
        return Content(keys_that_fit([f"{first_of(id, changed)} {words[id]}".strip() for id in words], width))


class KeyLine(Widget):
    """As many keys as fit; or a sentence, where there is no status line."""

    DEFAULT_CSS = "KeyLine { height: 1; padding: 0 1; color: $text-muted; }"
    reads: reactive[bool] = reactive(False)

    def __init__(self, changed: Mapping[str, str], *, id: str | None = None) -> None:
        """changed: keys that differ from the table, by id."""
        super().__init__(id=id)
        self._keys = {name: first_of(name, changed) for name in key_ids()}
        self._told = ""

    @property
    def reading(self) -> str:
        """What the prompt says while the keys read."""
        return f"Reading: {self._keys['read_back']} to type, {self._keys['read_find']} to find"

    def tell(self, sentence: str) -> None:
        """A sentence in place of the keys; an empty one brings them back."""
        if sentence != self._told:
            self._told = sentence
            self.refresh()

    def render(self) -> Content:
        if self._told:
            return Content(self._told).truncate(self.content_size.width, ellipsis=True)
        line = Content("")
        short = _SHORT_READING if self.reads else _SHORT
        first = _FIRST if self.app.size.width < _NARROW and not self.reads else ()
        for name in dict.fromkeys((*first, *short)):
            entry = Content.assemble((self._keys[name], "bold"), " ", short[name])
            longer = Content.assemble(line, "  ", entry) if line else entry
            if longer.cell_length > self.content_size.width:
                break
            line = longer
        return line

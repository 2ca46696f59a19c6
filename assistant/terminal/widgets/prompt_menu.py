"""The menu above the prompt: what could be meant by what is being typed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from textual.content import Content
from textual.widgets.option_list import Option

from assistant.terminal.widgets.marked_list import MarkedList
from stores.base.one_line import one_line

_WIDEST = 32  # columns of what is typed, before what is told of it


@dataclass(frozen=True)
class Choice:
    """What the prompt can be completed to."""

    line: str  # that the prompt holds then
    shown: str
    about: str = ""
    is_whole: bool = False  # nothing is missing behind it: Enter sends it at once


class PromptMenu(MarkedList, can_focus=False):
    """Lists what fits what is typed. The prompt has the focus, moves the mark, and takes what is marked."""

    DEFAULT_CSS = """
    PromptMenu {
        display: none; height: auto; max-height: 8; border: none; padding: 0 1; background: transparent;
        text-wrap: nowrap; text-overflow: ellipsis; scrollbar-size-vertical: 1;
    }
    """

    choices: Sequence[Choice] = ()
    at_once: Callable[[str], Sequence[Choice]] = staticmethod(lambda typed: ())  # what needs no looking up
    _typed = ""  # what the choices fit
    _put_away = ""  # what was typed when it was closed by hand
    _is_moved = False
    _completes = False

    @property
    def is_open(self) -> bool:
        return bool(self.display)

    def offer(self, typed: str, choices: Sequence[Choice], *, completes: bool) -> None:
        """Shows what fits what is typed, or nothing where nothing does, or where it was closed by hand.

        completes: Enter takes the marked one for what is unfinished.
        """
        if self._put_away and typed.startswith(self._put_away):
            return
        self.choices, self._typed, self._completes = choices, typed, completes
        self._is_moved, self._put_away = False, ""
        self.display = bool(choices)
        shown = [one_line(choice.shown) for choice in choices]
        width = min(_WIDEST, max(map(len, shown), default=0))
        rows = zip(shown, choices, strict=True)
        self.set_options(
            Option(Content.assemble(name.ljust(width), ("  " + one_line(choice.about), "$text-muted")))
            for name, choice in rows
        )
        self.highlighted = 0 if choices else None

    def close(self) -> None:
        self.display = False
        self.choices = ()

    def put_away(self) -> None:
        """Closes it, until something else is typed."""
        self._put_away = self._typed
        self.close()

    def move(self, by: int) -> None:
        """Marks the next one or the one before; behind the last comes the first."""
        if self.choices:
            self._is_moved = True
            self.highlighted = ((self.highlighted or 0) + by) % len(self.choices)

    def marked(self, typed: str) -> Choice | None:
        """What is marked, where the menu is of what is typed now."""
        if not self.is_open or typed != self._typed or self.highlighted is None:
            return None
        return self.choices[self.highlighted]

    def only(self, typed: str) -> Choice | None:
        """The only one that fits what is typed, where that is known at once: keys come fast behind Tab."""
        fitting = self.at_once(typed)
        return fitting[0] if len(fitting) == 1 else None

    def meant(self, typed: str) -> Choice | None:
        """What Enter takes: what was marked by hand, or completes what is unfinished."""
        is_finished = any(choice.line.rstrip() == typed.rstrip() for choice in self.choices)
        return self.marked(typed) if self._is_moved or (self._completes and not is_finished) else None

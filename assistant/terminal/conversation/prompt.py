"""Where messages are typed: it takes keys at once, keeps what was typed, and sends it whole."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Callable, Mapping

from textual import events
from textual.message import Message as Posted
from textual.timer import Timer
from textual.widgets import TextArea

from assistant.terminal.input.bindings import bindings
from assistant.terminal.input.keys import PROMPT
from assistant.terminal.text.printable import printable
from assistant.terminal.widgets.prompt_menu import Choice, PromptMenu
from assistant.terminal.widgets.work import host

_JOINING = "\u200b\u200c\u200d\u2060\u00ad"  # zero-width signs that words of some languages need
_LINES = 20  # a longer paste is folded


def _is_unseen_letter(character: str) -> bool:
    """A no-break space, or what joins or parts letters and emoji: the library takes these for no letters."""
    if len(character) != 1 or character.isprintable():
        return False
    return character in _JOINING or unicodedata.category(character) == "Zs"


class FoldedPastes:
    """What stands for a long paste, and the text behind it."""

    def __init__(self) -> None:
        self._texts: dict[str, str] = {}

    def fold(self, pasted: str) -> str:
        """What is put into the prompt: the text itself, or one mark for many lines."""
        lines = pasted.removesuffix("\n").count("\n") + 1
        if lines <= _LINES:
            return pasted
        mark, number = f"[{lines} lines pasted]", 1
        while self._texts.get(mark, pasted) != pasted:
            number += 1
            mark = f"[{lines} lines pasted, {number}]"
        self._texts[mark] = pasted
        return mark

    def unfold(self, text: str) -> str:
        """The text with everything that is folded in it."""
        for mark, pasted in self._texts.items():
            text = text.replace(mark, pasted)
        return text

    def at(self, line: str, column: int) -> tuple[int, int, str] | None:
        """The mark that a place of a line stands on: where it begins and ends, and the text behind it."""
        for mark, pasted in self._texts.items():
            start = line.find(mark)
            while start >= 0:
                if start <= column < start + len(mark):
                    return start, start + len(mark), pasted
                start = line.find(mark, start + 1)
        return None


ASKS = "Ask anything, or / for commands"
BURST_SECONDS = 0.03  # between keys that nobody typed: a paste that the terminal does not mark
_HOLDS_SECONDS = 0.05


class Prompt(TextArea):
    """A text area that sends with Enter and knows what was sent before."""

    BINDINGS = bindings(PROMPT)
    DEFAULT_CSS = """
    Prompt {
        height: auto; min-height: 3; max-height: 10; border: round $border-blurred; padding: 0 1;
        background: transparent; scrollbar-size-vertical: 1;
    }
    Prompt:focus { border: round $border; background-tint: $foreground 0%; }
    Prompt .text-area--placeholder { color: $text-muted; }
    Prompt.-teaching { border: round $warning; }
    """

    class Sent(Posted):
        """A message, a command or a correction, whole."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    class WantsCompletion(Posted):
        """Tab was pressed, and no menu is open."""

    class WantsToLeave(Posted):
        """Ctrl+D on an empty prompt."""

    class WantsWaiting(Posted):
        """Up on an empty prompt: what waits for its turn may be taken back."""

    class WantsNewest(Posted):
        """End, where the line ends already."""

    def __init__(
        self,
        first_actions: Mapping[str, str],
        *,
        menu: PromptMenu,
        has_waiting: Callable[[], bool],
        burst_seconds: float = BURST_SECONDS,
        id: str | None = None,
    ) -> None:
        """first_actions: by key, what is done instead of taking it as text.

        menu: of what fits what is being typed. has_waiting: whether something was sent and not begun.
        burst_seconds: 0 knows no bursts.
        """
        super().__init__(
            id=id,
            tab_behavior="focus",
            highlight_cursor_line=False,
            placeholder=ASKS,
        )
        self.sent: list[str] = []  # oldest first
        self._older = 0  # how far back in what was sent; 0 is what is being typed
        self._typed = ""
        self._pastes = FoldedPastes()
        self._put = ""  # the last text that nobody typed
        self._menu = menu
        self._first_actions = first_actions
        self._burst_seconds = burst_seconds
        self._key_times = (0.0, 0.0, 0.0)
        self.has_waiting = has_waiting
        self._held: Timer | None = None  # of an Enter behind a burst, until it is clear whether more comes

    @property
    def whole_text(self) -> str:
        """What is typed, with everything that is folded in it."""
        return self._pastes.unfold(self.text)

    @property
    def kept_text(self) -> str:
        """What is to be kept as a draft: not an old message that is looked at."""
        return self._pastes.unfold(self._typed) if self._older else self.whole_text

    @property
    def is_typed(self) -> bool:
        """Whether what stands here was typed, and not put here, as an earlier message is."""
        return self.text != self._put

    def put(self, text: str) -> None:
        """Replaces what stands in the prompt, in a way that can be undone; the cursor goes to the end."""
        self._older = 0
        self._set(text)

    def take(self) -> str:
        """Empties the prompt and returns what stood in it."""
        text = self.whole_text
        self.put("")
        return text

    def clear_typed(self) -> None:
        """Empties the prompt; Up brings it back."""
        self.sent.append(self.take())

    def take_choice(self, choice: Choice) -> None:
        """Completes what is typed; a folder's name can be typed on."""
        self.put(choice.line)
        self._put = "" if choice.line.endswith("/") else choice.line
        self._menu.close()

    def _set(self, text: str) -> None:
        text = printable(text)
        self._put = text
        self.replace(text, (0, 0), self.document.end)
        self.move_cursor(self.document.end)

    # Keys

    def action_send(self) -> None:
        """Sends, or unfolds the paste under the cursor; amid a burst of keys, Enter is a new line."""
        row, column = self.cursor_location
        folded = self._pastes.at(self.document.get_line(row), column)
        if folded is not None:
            start, end, pasted = folded
            self.replace(pasted, (row, start), (row, end))
        elif self._held is not None:
            self._let_go()
            self.action_send()
        elif self._is_burst:
            self._held = self.set_timer(_HOLDS_SECONDS, self._send_held)
        elif (choice := self._menu.meant(self.text)) is not None and not choice.is_whole:
            self.take_choice(choice)
        elif self.text.strip():
            if choice is not None:
                self.put(choice.line.rstrip())
            text = self.take()
            self.sent.append(text)
            self.post_message(self.Sent(text))

    def _send_held(self) -> None:
        self._held, self._key_times = None, (-math.inf, *self._key_times[1:])  # it was no burst
        self.action_send()

    def _let_go(self) -> None:
        """Keys come behind an Enter that was held: it belongs to a paste that the terminal does not mark."""
        if self._held is not None:
            self._held.stop()
            self._held = None
            self.action_new_line()

    async def _on_key(self, event: events.Key) -> None:
        """Acts on every key in the order in which they were pressed.

        The library takes in letters here, and runs bindings only when the key has gone up to the program and
        come back: where keys come fast, a Backspace would delete a letter that was typed behind it.
        """
        self._key_times = (*self._key_times[1:], event.time)
        action = self._action_of(event.key)
        if event.key not in self._first_actions:
            self._let_go()
        if action is None and event.character is not None and _is_unseen_letter(event.character):
            event.stop()
            event.prevent_default()
            self.replace(event.character, *sorted((self.selection.start, self.selection.end)))
        elif action is None:
            await super()._on_key(event)
        else:
            event.stop()
            event.prevent_default()
            await self.run_action(action)

    def _action_of(self, key: str) -> str | None:
        if key in self._first_actions:
            return self._first_actions[key]
        editing = [b.action for b in self._bindings.key_to_bindings.get(key, ()) if b.id is None]
        return editing[0] if editing else None

    @property
    def _is_burst(self) -> bool:
        """The last three keys came faster than anybody types."""
        first, second, third = self._key_times
        return third - second < self._burst_seconds and second - first < self._burst_seconds

    def action_new_line(self) -> None:
        self.replace("\n", *sorted((self.selection.start, self.selection.end)))

    def action_complete(self) -> None:
        """Takes what the menu marks; where none is open, asks for what fits, else goes to the next pane."""
        choice = self._menu.marked(self.text) or self._menu.only(self.text)
        if choice is not None:
            self.take_choice(choice)
        else:
            self.post_message(self.WantsCompletion())

    def action_select_line(self) -> None:
        """The line of the cursor; where nothing is typed, what the key is for."""
        self._tell_of_selecting()
        super().action_select_line()

    def action_select_all(self) -> None:
        self._tell_of_selecting()
        super().action_select_all()

    def _tell_of_selecting(self) -> None:
        if not self.text:
            host(self).tell("F6 selects a line, F7 all that is typed")

    def action_end_input(self) -> None:
        if self.text:
            self.action_delete_right()
        else:
            self.post_message(self.WantsToLeave())

    def action_cursor_up(self, select: bool = False) -> None:
        if self._menu.marked(self.text) is not None:
            self._menu.move(-1)
        elif select or not self._is_on_first_row:
            super().action_cursor_up(select)
        elif not self.text and self.has_waiting():
            self.post_message(self.WantsWaiting())
        elif self._older < len(self.sent):
            if self._older == 0:
                self._typed = self.text
            self._older += 1
            self._set(self.sent[-self._older])

    def action_cursor_down(self, select: bool = False) -> None:
        """A line down; on the last one, what was sent after, and at last what was being typed."""
        if self._menu.marked(self.text) is not None:
            self._menu.move(1)
        elif select or not self._is_on_last_row:
            super().action_cursor_down(select)
        elif self._older > 0:
            self._older -= 1
            self._set(self.sent[-self._older] if self._older else self._typed)

    def action_cursor_line_end(self, select: bool = False) -> None:
        """To the end of the line; from there, the newest line of the conversation is shown."""
        if not select and self.cursor_at_end_of_line:
            self.post_message(self.WantsNewest())
        super().action_cursor_line_end(select)

    def action_cursor_page_up(self) -> None:
        if self.document.line_count > 1:
            super().action_cursor_page_up()
        else:
            self.screen.query_one("#conversation").scroll_page_up(animate=False)

    def action_cursor_page_down(self) -> None:
        if self.document.line_count > 1:
            super().action_cursor_page_down()
        else:
            self.screen.query_one("#conversation").scroll_page_down(animate=False)

    async def _on_paste(self, event: events.Paste) -> None:
        """Inserts what is pasted, whole and never sent."""
        event.stop()
        event.prevent_default()
        pasted = self._pastes.fold(printable(event.text))
        start, end = sorted((self.selection.start, self.selection.end))
        self.replace(pasted, start, end)

    @property
    def _is_on_first_row(self) -> bool:
        return self._row == 0

    @property
    def _is_on_last_row(self) -> bool:
        return self._row >= self.wrapped_document.height - 1

    @property
    def _row(self) -> int:
        """The row of the cursor as lines are wrapped."""
        return self.wrapped_document.location_to_offset(self.cursor_location).y

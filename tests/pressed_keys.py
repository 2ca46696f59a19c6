"""A table of keys, each pressed where it works: what has to be true behind it, and was not before.

    Row(before("down"), then=SessionsScreen)   # the keys before it, and the screen that it opens
    Row(then="copied the message")             # or words that it brings on the screen
    Row(then=lambda chat: chat.prompt == "")   # or a claim

A place is opened anew for each key of each row, in one chat.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from screen_fixtures import ChatOnScreen
from textual.screen import Screen

from assistant.terminal.input.keys import Key

Act = Callable[[ChatOnScreen], Awaitable[None]]
Claim = Callable[[ChatOnScreen], bool]


async def nothing(_chat: ChatOnScreen) -> None:
    """For rows that need no more."""


def before(*keys: str) -> Act:
    """These keys, each done before the next."""

    async def presses(chat: ChatOnScreen) -> None:
        for key in keys:
            await chat.presses(key)

    return presses


def typed(text: str, *keys: str) -> Act:
    """A text in the prompt, and keys behind it."""

    async def puts(chat: ChatOnScreen) -> None:
        chat.app.chat.prompt.put(text)
        await chat.presses(*keys)

    return puts


@dataclass(frozen=True)
class Row:
    """One key, or several that do the same."""

    prepares: Act = nothing
    then: str | type[Screen[Any]] | Claim = ""
    after: Act = nothing

    def holds(self, chat: ChatOnScreen) -> bool:
        """Whether the key has done what it does."""
        if isinstance(self.then, str):
            return self.then in chat.text
        if isinstance(self.then, type):
            return isinstance(chat.screen, self.then)
        return self.then(chat)


async def press_each(
    chat: ChatOnScreen, keys: Sequence[Key], rows: Mapping[str, Row], *, opens: Act, leaves: Act
) -> None:
    """Presses every key of a place."""
    for key in keys:
        row = rows[key.id]
        for pressed in key.keys.split(","):
            await opens(chat)
            await row.prepares(chat)
            await chat.pilot.pause()
            assert not row.holds(chat), f"{key.id} is done before {pressed} was pressed:\n{chat.text}"
            await chat.presses(pressed)
            await chat.until(
                lambda row=row: row.holds(chat),  # type: ignore[misc]
                lambda told=f"{key.id}: {pressed} does not do it": f"{told}:\n{chat.text}",  # type: ignore[misc]
            )
            await row.after(chat)
            await leaves(chat)


async def back_to_the_prompt(chat: ChatOnScreen) -> None:
    """Out of whatever is open or begun; the prompt is empty."""
    main = chat.app.chat
    for _ in range(10):
        if chat.screen is main and main.teaches is None and main.changes is None and main.prompt.has_focus:
            break
        await chat.presses("escape")
        await chat.pilot.pause(0.02)
    await chat.until(lambda: chat.screen is main and main.prompt.has_focus and main.talk.is_idle)
    main.prompt.put("")
    main.tell("")

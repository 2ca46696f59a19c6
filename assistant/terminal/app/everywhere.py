"""The keys that hold everywhere: from any screen to any other, and help for the one that is open.

A screen gives way to the next one, so that none pile up and Esc leads back to the chat. What is being
typed is never left behind: it is kept for the next time, or the key says what comes first.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

from textual.screen import ModalScreen, Screen

from assistant.terminal.input.bindings import bindings
from assistant.terminal.input.key_sequence import KeysInOrder
from assistant.terminal.input.keys import CHAT
from assistant.terminal.widgets.page_screen import PageScreen
from assistant.terminal.widgets.work import GivesWay

if TYPE_CHECKING:
    from assistant.terminal.chat.chat_screen import ChatScreen

_LEAD = {  # ids of keys, and the place of the screen that each opens
    "help": "",
    "why": "Why this answer",
    "memory": "Memory",
    "training": "Training",
    "sessions": "Sessions",
    "log": "Log",
    "documents": "Documents",
    "find": "Find",
    "new_session": "",
}
_ACTIONS = {key.id: key.action for key in CHAT if key.id in _LEAD}
COMES_FIRST = "Esc leaves this; then that key works"


class Everywhere(KeysInOrder):
    """The program, whose chat opens all other screens. On the chat itself its own keys come first."""

    BINDINGS = bindings(replace(key, action=f"lead('{key.id}')") for key in CHAT if key.id in _LEAD)
    chat: ChatScreen

    async def action_lead(self, name: str) -> None:
        """What a key of the chat opens, from another screen. name: the key's id."""
        if name == "help":
            self.open_help()
            return
        place = _LEAD[name]
        opened = [screen for screen in self.screen_stack if place and _is_of(screen, place)]
        is_on_top = bool(opened) and opened[-1] is self.screen  # the key that opened it closes it
        goal = self.chat if is_on_top or not opened else opened[-1]
        if await self.goes_back_to(goal) and not opened:
            await self.does_in_chat(_ACTIONS[name])

    async def does_in_chat(self, action: str) -> None:
        """An action of the chat, which is in front."""
        if action == "why":
            self.chat.open_why()  # the same key once more would close it where it stands beside
        else:
            await self.run_action(action, self.chat)

    async def goes_back_to(self, goal: Screen[Any]) -> bool:
        """Closes what is above a screen; False, and nothing is closed, where something comes first."""
        above = self.screen_stack[self.screen_stack.index(goal) + 1 :]
        first = next((told for screen in reversed(above) if (told := _comes_first(screen))), "")
        if first:
            cast("Any", self).tell(first)
            return False
        while self.screen is not goal:
            top = self.screen
            await (top.give_way() if isinstance(top, GivesWay) else top.dismiss())
        return True

    def open_help(self) -> None:
        """All keys, those of the screen that is open first; on help itself the same key closes it."""
        from assistant.terminal.widgets.screen_help import HelpPage, open_help

        if isinstance(self.screen, HelpPage):
            self.screen.dismiss()
        else:
            open_help(self.screen, self.chat.desk, self.place)

    @property
    def place(self) -> str:
        """What the keys of the screen that is open are listed under; of a page, those of the screen below."""
        return next(filter(None, map(_place, reversed(self.screen_stack))), "")


def _is_of(screen: Screen[Any], place: str) -> bool:
    """Whether it is the screen of a place, and no page above it."""
    return _place(screen) == place and not isinstance(screen, PageScreen)


def _place(screen: Screen[Any]) -> str:
    return str(getattr(screen, "place", ""))


def _comes_first(screen: Screen[Any]) -> str:
    if isinstance(screen, ModalScreen):
        return COMES_FIRST
    return screen.comes_first if isinstance(screen, GivesWay) else ""

"""Keys in the order in which they were pressed: one that changes what the next ones mean is waited for.

A key goes to the widget that has the focus and, where that does not take it, up to the program, whose
bindings act on it. Letters that come fast behind it, as in a paste or from a quick hand, would meanwhile
go where it was pressed: behind `/` they would be commands of reading, and not words to find. So they are
held until it has come to its end, the screen that it opened is there, and the focus is where it belongs.
What is typed into a text is not held; what is typed before anything has the focus, while it starts, is.
"""

from __future__ import annotations

from collections import deque

from textual import events
from textual.app import App
from textual.dom import DOMNode
from textual.message_pump import MessagePump
from textual.timer import Timer
from textual.widgets import Input, TextArea

_GIVES_UP_SECONDS = 0.5  # for a key that never comes to its end, as where its widget is taken away


class KeysInOrder(App[int]):
    """The program, which hands on one command after another."""

    leading_keys: frozenset[str] = frozenset()  # those that lead away from a text that is being typed

    def __init__(self) -> None:
        super().__init__()
        self._held_keys: deque[events.Key | events.Paste] = deque()
        self._gives_up: Timer | None = None  # while a key is on its way
        self._has_begun = False  # something has had the focus

    async def on_event(self, event: events.Event) -> None:
        if not isinstance(event, events.Key | events.Paste) or event.is_forwarded:
            await super().on_event(event)
        elif self._gives_up is not None or self._held_keys:
            self._held_keys.append(event)
        elif self.focused is None and not self._has_begun:
            self._held_keys.append(event)
            self._gives_up = self.set_timer(_GIVES_UP_SECONDS, self._let_go)
            self.call_later(self._wait_for_screen, self._gives_up)
        else:
            self._has_begun = True
            await self._hand_on(event)

    async def _hand_on(self, event: events.Key | events.Paste) -> None:
        focused, screen = self.focused, self.screen
        if isinstance(event, events.Key) and self._may_lead_away(event.key):
            self._gives_up = self.set_timer(_GIVES_UP_SECONDS, self._let_go)
            await super().on_event(event)
            self._follow(focused or screen, self._gives_up)
        else:
            await super().on_event(event)

    def _may_lead_away(self, key: str) -> bool:
        return not isinstance(self.focused, Input | TextArea) or key in self.leading_keys

    def _follow(self, node: DOMNode | MessagePump, way: Timer) -> None:
        """Goes up behind the key, queue by queue; way: that of this key, and of no later one."""
        if way is not self._gives_up:
            return
        if node is self:
            self.call_later(self._wait_for_screen, way)  # behind what sets the focus
        else:
            above = node._parent or self
            node.call_later(lambda: self._follow(above, way))

    def _wait_for_screen(self, way: Timer) -> None:
        if way is self._gives_up:
            screen = self.screen
            if screen.is_mounted and screen.focused is not None:
                self.call_later(self._end, way)
            else:
                screen.call_after_refresh(lambda: self.call_later(self._end, way))

    async def _end(self, way: Timer) -> None:
        if way is self._gives_up:
            await self._let_go()

    async def _let_go(self) -> None:
        """The key has come to its end, or nobody knows where it is: the next ones follow."""
        if self._gives_up is not None:
            self._gives_up.stop()
            self._gives_up = None
        while self._held_keys and self._gives_up is None:
            await self._hand_on(self._held_keys.popleft())

"""The messages of a session: a few of them are widgets, all of them are records.

A message is four widgets, and each of them is laid out whenever something grows, so twenty messages at most
are mounted; those around them are mounted again when somebody scrolls there.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

from textual.app import ComposeResult
from textual.containers import VerticalScroll

from assistant.terminal.conversation.message_view import MessageView
from assistant.terminal.facts.messages import Message
from assistant.terminal.widgets.boxes import BlankBox

MOUNTED = 20  # messages at most
_AT_FIRST = 6  # messages: what fits on a screen is painted at once
_MORE = 6  # messages mounted at a time


class MountedMessages(VerticalScroll):
    """Has those messages mounted that somebody looks at."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.messages: list[Message] = []
        self.is_whole = True  # the first message here is the session's first
        self.fetch_older: Callable[[], Awaitable[Sequence[Message]]] | None = None
        self.current: Message | None = None  # the one that is read
        self._first = 0  # index of the first message that is mounted
        self._is_mounting = False

    def compose(self) -> ComposeResult:
        """At least as tall as what is in view, so that a few messages stand at its top."""
        yield BlankBox(id="messages")

    def follow(self) -> None:
        """Shows the newest line."""
        raise NotImplementedError

    # What is shown

    async def show(self, messages: Sequence[Message], *, is_whole: bool) -> None:
        """Another session, from its end."""
        await self._box.remove_children()
        self.messages, self.is_whole, self.current = list(messages), is_whole, None
        self._first = max(0, len(self.messages) - _AT_FIRST)
        await self._box.mount_all(MessageView(message) for message in self.messages[self._first :])
        self.follow()

    def add_older(self, older: Sequence[Message], *, is_whole: bool) -> None:
        """Messages before those that are here, none of which is in view yet."""
        self.messages[:0] = older
        self._first += len(older)
        self.is_whole = is_whole

    async def add(self, message: Message, *, before: Message | None = None) -> MessageView:
        """A new message at the end, or before one that waits."""
        await self.mount_to_end()
        view = MessageView(message)
        waiting = self.view_of(before) if before is not None else None
        if waiting is None:
            self.messages.append(message)
            await self._box.mount(view)
        else:
            self.messages.insert(self.messages.index(waiting.message), message)
            await self._box.mount(view, before=waiting)
        await self._drop_oldest()
        return view

    async def remove_message(self, message: Message) -> None:
        """Takes one away, such as one that waited and was taken back; nothing where it is gone."""
        view = self.view_of(message)
        if message in self.messages:
            self.messages.remove(message)
        if view is not None:
            await view.remove()

    async def cut_at(self, message: Message) -> None:
        """Takes away a message and all behind it, as where another branch begins."""
        index = self.messages.index(message)
        gone = self.messages[index:]
        del self.messages[index:]
        for view in self._views:
            if view.message in gone:
                await view.remove()
        if not self._views:
            self._first = max(0, len(self.messages) - _AT_FIRST)
            await self._box.mount_all(MessageView(each) for each in self.messages[self._first :])
        if self.current in gone:
            self.current = None

    def view_of(self, message: Message | None) -> MessageView | None:
        """The widget of a message, while it is mounted."""
        return next((view for view in self._views if view.message is message), None)

    @property
    def _box(self) -> BlankBox:
        return self.query_one("#messages", BlankBox)

    @property
    def _views(self) -> list[MessageView]:
        return [child for child in self._box.children if isinstance(child, MessageView)]

    @property
    def _last(self) -> int:
        return self._first + len(self._views)

    # Mounting

    async def mount_older(self) -> None:
        """Some messages before those that are mounted; fetched where they are not here yet."""
        if self._is_mounting:
            return
        self._is_mounting = True
        try:
            if self._first == 0:
                await self.fetch()
            count = min(_MORE, self._first)
            if count == 0:
                return
            older_ones = self.messages[self._first - count : self._first]
            height, place = self.virtual_size.height, self.scroll_y
            with self.app.batch_update():
                await self._box.mount_all([MessageView(message) for message in older_ones], before=0)
                self._first -= count
                for view in self._views[MOUNTED:]:
                    if view.message.state in ("done", "stopped", "failed", "unanswered"):
                        await view.remove()
            self.call_after_refresh(self._keep_place, place, height)
        finally:
            self._is_mounting = False

    async def fetch(self) -> None:
        """Older messages of the session, as records; after it `is_whole` may be true."""
        if self.is_whole:
            return
        if self.fetch_older is None:
            self.is_whole = True
            return
        older = await self.fetch_older()
        self.add_older(older, is_whole=self.is_whole)

    def _keep_place(self, place: float, height: int) -> None:
        self.scroll_to(y=place + self.virtual_size.height - height, animate=False, immediate=True)

    async def mount_newer(self) -> None:
        """Some messages behind those that are mounted."""
        if self._is_mounting:
            return
        self._is_mounting = True
        try:
            last = self._last
            await self._box.mount_all(
                [MessageView(message) for message in self.messages[last : last + _MORE]]
            )
            await self._drop_oldest()
        finally:
            self._is_mounting = False

    async def mount_to_end(self) -> None:
        """The newest messages, where somebody reads far above them."""
        if self._last < len(self.messages):
            await self._box.remove_children()
            self._first = max(0, len(self.messages) - _AT_FIRST)
            await self._box.mount_all([MessageView(message) for message in self.messages[self._first :]])

    async def mount_at(self, index: int) -> None:
        """Has a message mounted, wherever it stands."""
        message = self.messages[index]
        if self.view_of(message) is None and self._first - _MORE <= index < self._first:
            await self.mount_older()
        elif self.view_of(message) is None and self._last <= index < self._last + _MORE:
            await self.mount_newer()
        if self.view_of(message) is None:
            await self._mount_around(index)

    async def _mount_around(self, index: int) -> None:
        """Those around a message that is far from what is in view."""
        self.release_anchor()
        with self.app.batch_update():
            await self._box.remove_children()
            self._first = max(0, min(index - 1, len(self.messages) - _AT_FIRST))
            around = self.messages[self._first : self._first + _AT_FIRST]
            await self._box.mount_all([MessageView(message) for message in around])

    async def _drop_oldest(self) -> None:
        for view in self._views[: max(0, len(self._views) - MOUNTED)]:
            self._first += 1
            await view.remove()

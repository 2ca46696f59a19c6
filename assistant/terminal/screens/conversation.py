"""The messages of a session: a few of them are widgets, all of them are records.

A Markdown message is a dozen widgets and costs tens of milliseconds, so twenty at most are mounted; those
around them are mounted again when somebody scrolls there.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.message import Message as Posted

from assistant.terminal.screens.bindings import bindings
from assistant.terminal.screens.keys import READING
from assistant.terminal.screens.message_view import MessageView
from assistant.terminal.screens.messages import Message

MOUNTED = 20  # messages at most
_AT_FIRST = 6  # messages: what fits on a screen is painted at once
_MORE = 6  # messages mounted at a time


class Conversation(VerticalScroll):
    """Scrolls through a session; reading mode is when it has the focus."""

    BINDINGS: ClassVar[list[BindingType]] = [
        *bindings(READING),
        *(Binding(str(n), f"screen.open_source({n})", show=False) for n in range(1, 10)),
    ]
    DEFAULT_CSS = """
    Conversation { height: 1fr; scrollbar-size-vertical: 1; }
    Conversation > #messages { height: auto; min-height: 100%; }
    Conversation:focus { background-tint: $foreground 0%; }
    """

    class Followed(Posted):
        """Whether the newest line is in view has changed, or how much is below."""

    def __init__(self, *, follows: bool = True, id: str | None = None) -> None:
        super().__init__(id=id)
        self.messages: list[Message] = []
        self.is_whole = True  # the first message here is the session's first
        self.fetch_older: Callable[[], Awaitable[Sequence[Message]]] | None = None
        self.current: Message | None = None  # the one that is read
        self._follows = follows
        self._first = 0  # index of the first message that is mounted
        self._is_mounting = False
        self._reads_above = False
        self._height_when_left = 0

    def compose(self) -> ComposeResult:
        """At least as tall as what is in view, so that a few messages stand at its top."""
        yield Vertical(id="messages")

    # What is shown

    async def show(self, messages: Sequence[Message], *, is_whole: bool) -> None:
        """Another session, from its end."""
        await self._box.remove_children()
        self.messages, self.is_whole, self.current = list(messages), is_whole, None
        self._first = max(0, len(self.messages) - _AT_FIRST)
        await self._box.mount_all(MessageView(message) for message in self.messages[self._first :])
        self.follow()

    async def add(self, message: Message, *, before: Message | None = None) -> MessageView:
        """A new message at the end, or before one that waits."""
        await self._mount_to_end()
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
        """Takes one away, such as one that waited and was taken back."""
        view = self.view_of(message)
        self.messages.remove(message)
        if view is not None:
            await view.remove()

    def view_of(self, message: Message | None) -> MessageView | None:
        """The widget of a message, while it is mounted."""
        return next((view for view in self._views if view.message is message), None)

    @property
    def _box(self) -> Vertical:
        return self.query_one("#messages", Vertical)

    @property
    def _views(self) -> list[MessageView]:
        return [child for child in self._box.children if isinstance(child, MessageView)]

    @property
    def _last(self) -> int:
        return self._first + len(self._views)

    # Following

    @property
    def is_at_end(self) -> bool:
        """The newest line is in view."""
        return self._last >= len(self.messages) and self.scroll_y >= self.max_scroll_y

    @property
    def lines_below(self) -> int:
        """Lines that came since somebody scrolled up; none while the newest one is followed."""
        if not self._reads_above or self.is_at_end:
            return 0
        return max(0, self.virtual_size.height - self._height_when_left)

    def release_anchor(self) -> None:
        """Somebody scrolls: what comes is not followed until the newest line is in view again."""
        super().release_anchor()
        if not self._reads_above:
            self._reads_above, self._height_when_left = True, self.virtual_size.height

    def follow(self) -> None:
        """Shows the newest line, and keeps to it where the settings say so."""
        self._reads_above = False
        if self._last < len(self.messages):
            self.run_worker(self._follow_from_far(), exclusive=True, group="follow")
        elif self._follows:
            self.anchor()
        else:
            self.scroll_end(animate=False)

    async def _follow_from_far(self) -> None:
        await self._mount_to_end()
        self.follow()

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Mounts what is scrolled to, and tells when following begins or ends."""
        super().watch_scroll_y(old_value, new_value)
        if self.is_at_end:
            self._reads_above = False
        self.post_message(self.Followed())
        if new_value < old_value and new_value <= 2 and (self._first > 0 or not self.is_whole):
            self.run_worker(self.mount_older(), exclusive=False, group="older")
        elif new_value > old_value and new_value >= self.max_scroll_y - 2 and self._last < len(self.messages):
            self.run_worker(self._mount_newer(), exclusive=False, group="newer")

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
        self.messages[:0] = older
        self._first += len(older)

    def _keep_place(self, place: float, height: int) -> None:
        self.scroll_to(y=place + self.virtual_size.height - height, animate=False, immediate=True)

    async def _mount_newer(self) -> None:
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

    async def _mount_to_end(self) -> None:
        """The newest messages, where somebody reads far above them."""
        if self._last < len(self.messages):
            await self._box.remove_children()
            self._first = max(0, len(self.messages) - _AT_FIRST)
            await self._box.mount_all([MessageView(message) for message in self.messages[self._first :]])

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

    # Reading

    def read(self, message: Message | None) -> None:
        """Marks the message that is read and brings it into view."""
        for view in self._views:
            view.set_class(view.message is message and message is not None, "-current")
        self.current = message
        view_ = self.view_of(message)
        if view_ is not None:
            view_.scroll_visible(animate=False, top=view_.size.height > self.size.height)

    async def _read_at(self, index: int) -> None:
        index = max(0, min(index, len(self.messages) - 1))
        if not self.messages:
            return
        message = self.messages[index]
        if self.view_of(message) is None and self._first - _MORE <= index < self._first:
            await self.mount_older()
        elif self.view_of(message) is None and self._last <= index < self._last + _MORE:
            await self._mount_newer()
        if self.view_of(message) is None:
            await self._mount_around(index)
        self.read(message)

    async def read_message(self, message: Message) -> None:
        """Goes to a message, wherever it stands."""
        await self._read_at(self.messages.index(message))

    def _place(self) -> int:
        if self.current in self.messages:
            return self.messages.index(self.current)
        return len(self.messages)

    async def action_next(self) -> None:
        """The message behind this one."""
        await self._read_at(self._place() + 1)

    async def action_previous(self) -> None:
        """The message before this one; older ones are fetched."""
        if self._place() == 0 and not self.is_whole:
            await self.mount_older()
        await self._read_at(self._place() - 1)

    async def action_first(self) -> None:
        """The first message of the session."""
        while not self.is_whole:
            await self.fetch()
        await self._read_at(0)
        self.scroll_home(animate=False)

    async def action_last(self) -> None:
        """The newest message, and follows it."""
        await self._mount_to_end()
        self.follow()
        if self.messages:
            self.read(self.messages[-1])

    def action_fold(self) -> None:
        """Folds the message that is read, or unfolds it."""
        view = self.view_of(self.current)
        if view is not None:
            view.fold()

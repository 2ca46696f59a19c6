"""The conversation on the screen: it follows what comes, and is read message by message."""

from __future__ import annotations

from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Size
from textual.message import Message as Posted

from assistant.terminal.conversation.mounted_messages import MountedMessages
from assistant.terminal.facts.messages import Message
from assistant.terminal.input.bindings import bindings
from assistant.terminal.input.keys import READING
from assistant.terminal.widgets.boxes import PaintsNothing

_TYPES_ON_SECONDS = 0.3  # behind a letter, until the prompt has the focus


class Conversation(MountedMessages, PaintsNothing):
    """Scrolls through a session; reading mode is when it has the focus."""

    BINDINGS: ClassVar[list[BindingType]] = [
        *bindings(READING),
        *(Binding(str(n), f"screen.open_source({n})", show=False) for n in range(1, 10)),
    ]
    DEFAULT_CSS = """
    Conversation { height: 1fr; scrollbar-size-vertical: 1; scrollbar-gutter: stable; }
    Conversation > #messages { height: auto; min-height: 100%; }
    Conversation:focus { background-tint: $foreground 0%; }
    """

    class Followed(Posted):
        """Whether the newest line is in view has changed, or how much is below."""

    class Typed(Posted):
        """A letter that is no command here: it is meant for the prompt."""

        def __init__(self, letter: str) -> None:
            super().__init__()
            self.letter = letter

    class Pasted(Posted):
        """Something was pasted: it is meant for the prompt."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    def __init__(self, *, follows: bool = True, id: str | None = None) -> None:
        super().__init__(id=id)
        self.typing_until = 0.0  # keys that were pressed until then are meant for the prompt
        self._follows = follows
        self._reads_above = False
        self._height_when_left = 0
        self._laid_out_for = Size()  # of the terminal

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
        await self.mount_to_end()
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
            self.run_worker(self.mount_newer(), exclusive=False, group="newer")

    def keep_in_view(self, size: Size, new_lines: int = 0) -> None:
        """Another size of the terminal: the message that is read stays in view, once that is laid out.

        new_lines: that came since somebody scrolled up; at another width there are not more of them.
        """
        if not size.area or size == self._laid_out_for:
            return  # a terminal that has none tells of it again and again
        is_first, self._laid_out_for = not self._laid_out_for.area, size
        if not is_first:
            self.call_after_refresh(self._show_again, new_lines)

    def _show_again(self, new_lines: int) -> None:
        if self._reads_above:
            self._height_when_left = self.virtual_size.height - new_lines
        if self.has_focus and self.current is not None:
            self.read(self.current)
        self.post_message(self.Followed())

    # Reading

    async def _on_key(self, event: events.Key) -> None:
        """What is typed on goes to the prompt; the library runs the commands among the keys."""
        is_letter = event.is_printable and event.character is not None
        if is_letter and (event.time < self.typing_until or event.key not in self.screen.active_bindings):
            event.stop()
            event.prevent_default()
            self.typing_until = max(self.typing_until, event.time + _TYPES_ON_SECONDS)
            self.post_message(self.Typed(event.character or ""))
        else:
            await super()._on_key(event)

    def _on_paste(self, event: events.Paste) -> None:
        event.stop()
        self.post_message(self.Pasted(event.text))

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
        if self.messages:
            message = self.messages[index]
            await self.mount_at(index)
            self.read(message)

    async def read_message(self, message: Message) -> None:
        """Goes to a message, wherever it stands."""
        await self._read_at(self.messages.index(message))

    def _place(self) -> int:
        if self.current in self.messages:
            return self.messages.index(self.current)
        return len(self.messages)

    async def action_next(self) -> None:
        await self._read_at(self._place() + 1)

    async def action_previous(self) -> None:
        if self._place() == 0 and not self.is_whole:
            await self.mount_older()
        await self._read_at(self._place() - 1)

    async def action_first(self) -> None:
        while not self.is_whole:
            await self.fetch()
        await self._read_at(0)
        self.scroll_home(animate=False)

    async def action_last(self) -> None:
        await self.mount_to_end()
        self.follow()
        if self.messages:
            self.read(self.messages[-1])

    def action_thoughts(self) -> None:
        view = self.view_of(self.current)
        if view is not None:
            view.open_thoughts()

    def action_fold(self) -> None:
        view = self.view_of(self.current)
        if view is not None:
            view.fold()

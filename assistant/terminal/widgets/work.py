"""Work that a screen begins and does not wait for; what goes wrong with it is always told."""

from __future__ import annotations

from collections.abc import Awaitable, Coroutine
from typing import Any, Protocol, TypeVar, cast

from textual.app import App
from textual.await_complete import AwaitComplete
from textual.css.query import NoMatches
from textual.widget import Widget

from stores.base.errors import VouchError

T = TypeVar("T")


class Host(Protocol):
    """The app, as the screens know it."""

    changed_keys: dict[str, str]

    def tell(self, sentence: str) -> None:
        """One sentence, where the person looks."""

    def fail(self, error: Exception) -> None:
        """A defect of ours: leaves, and has it reported."""

    def leave(self, code: int) -> None:
        """Keeps what runs and what is typed, gives the screen back, and ends with this code."""

    async def or_leave(self, opening: Awaitable[T]) -> T:
        """What is awaited; a chat that cannot be opened is left with the reason."""
        ...


def host(widget: Widget) -> Host:
    """The app that a widget is of."""
    return cast("Host", widget.app)


class Working(Widget):
    """A widget or screen that looks things up while it goes on."""

    def work(self, todo: Coroutine[Any, Any, None]) -> None:
        """Does it beside everything else."""
        self.run_worker(self._told_of(todo), exit_on_error=False)

    async def _told_of(self, todo: Coroutine[Any, Any, None]) -> None:
        app = host(self)
        try:
            await todo
        except VouchError as error:
            app.tell(as_sentences(error))
        except Exception as error:  # noqa: BLE001 - reported when the screen is given back
            self.fail(error)

    def fail(self, error: Exception) -> None:
        """A defect of ours, but for what is missed where this, or all, is being taken down."""
        app = host(self)
        if not (isinstance(error, NoMatches) and self._is_taken_down(cast("App[Any]", app))):
            app.fail(error)

    def _is_taken_down(self, app: App[Any]) -> bool:
        """Whether what was looked up came when this, or all, was being taken down."""
        return not (app.is_running and set(app.screen_stack).intersection(self.ancestors_with_self))


def as_sentences(error: VouchError) -> str:
    """What went wrong, and what to do next."""
    ends = "" if error.message.endswith((".", "!", "?")) else "."
    return f"{error.message}{ends} {error.hint}" if error.hint else error.message


class GivesWay(Widget):
    """A screen that has something to do before another one takes its place."""

    @property
    def comes_first(self) -> str:
        """What is to be done before it can be left; empty where nothing is."""
        return ""

    def give_way(self) -> AwaitComplete:
        """Closes it, whatever else is open in it."""
        return self.screen.dismiss()


class Telling(Working):
    """A screen with a line of its own for what is told."""

    def tell(self, sentence: str) -> None:
        """One sentence, until the next."""
        raise NotImplementedError

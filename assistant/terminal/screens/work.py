"""Work that a screen begins and does not wait for; what goes wrong with it is always told."""

from __future__ import annotations

from collections.abc import Coroutine
from typing import TYPE_CHECKING, Any, cast

from textual.widget import Widget

from stores.errors import VouchError

if TYPE_CHECKING:
    from assistant.terminal.screens.app import ChatApp


class Working(Widget):
    """A widget or screen that looks things up while it goes on."""

    def work(self, todo: Coroutine[Any, Any, None]) -> None:
        """Does it beside everything else."""
        self.run_worker(self._told_of(todo), exit_on_error=False)

    async def _told_of(self, todo: Coroutine[Any, Any, None]) -> None:
        app = cast("ChatApp", self.app)
        try:
            await todo
        except VouchError as error:
            app.tell(f"{error.message} {error.hint}".strip())
        except Exception as error:  # noqa: BLE001 - a defect of ours, reported when the screen is given back
            app.fail(error)

"""Changes and removals of what is shared, on the Memory screen: read, decided, and told."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from memory_on_screen import opened, scope, settled, stored, texts
from screen_fixtures import ChatOnScreen, on_screen
from store_fixtures import Stores
from test_change_proposals import GONE, NINE, TEN, contradict, rewrite, share

from assistant.settings.config import MemorySettings
from assistant.wiring.assistant import Assistant


async def proposed(chat: ChatOnScreen, action: str, *, is_outdated: bool = False) -> int:
    """Bob's statement contradicts a shared fact, and ann may decide; returns the fact's passage."""

    def propose(assistant: Assistant, user: int) -> int:
        assistant.given.settings = replace(assistant.given.settings, memory=MemorySettings(curators="ann"))
        stores = Stores.over(assistant.stores.database)
        passage = share(stores, user)
        contradict(stores, assistant.stores.journal.user_id("bob"), action, passage)
        if is_outdated:
            rewrite(stores, user, passage, "The room opens at eight.")
        assistant.catch_up()
        return passage

    return await stored(chat, propose)


@pytest.mark.parametrize(
    ("action", "told", "done", "left"),
    [
        ("modify", f"change of: {NINE} → {TEN}", "Proposal 1 is done: it changed shared passage", [TEN]),
        (
            "delete",
            f"removal of: {NINE}, because of: {GONE}",
            "Proposal 1 is removed: shared passage",
            [],
        ),
    ],
)
async def test_a_change_is_read_and_accepted(
    tmp_path: Path, action: str, told: str, done: str, left: list[str]
) -> None:
    async with on_screen(tmp_path) as chat:
        passage = await proposed(chat, action)
        await opened(chat)
        await scope(chat, "Waiting for check")
        assert texts(chat) == [told]
        await chat.presses("a")
        await chat.shows(f"{done} {passage}")
        await chat.until(lambda: texts(chat) == [])
        await scope(chat, "Shared")
        assert [text for text in texts(chat) if text.startswith("The room")] == left


async def test_a_change_of_what_was_changed_since_is_told_so_and_put_away(tmp_path: Path) -> None:
    async with on_screen(tmp_path) as chat:
        await proposed(chat, "modify", is_outdated=True)
        await opened(chat)
        await scope(chat, "Waiting for check")
        assert texts(chat) == [f"change of: {NINE} → {TEN} (changed since)"]
        await chat.presses("a")
        await chat.shows("has changed since proposal 1 was made")
        await chat.presses("d")
        await chat.shows("Proposal 1 is put away")
        await settled(chat)
        assert texts(chat) == []

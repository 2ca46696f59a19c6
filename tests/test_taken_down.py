"""A turn that ends while the screen is being taken down is stored, and no defect."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from screen_fixtures import HOLD, QUESTION, assistant_in, on_screen

from stores.database.tables import Turn


@pytest.mark.slow
async def test_a_turn_that_ends_while_the_screen_is_taken_down_is_stored_and_no_defect(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with on_screen(tmp_path, replies=[["It opens ", HOLD, "at ten."]]) as chat:
        talk, take_down = chat.app.chat.talk, chat.app._close_all

        async def take_down_and_go_on() -> None:
            await take_down()
            chat.go_on()
            while not talk.is_idle:  # noqa: ASYNC110 - set by another task
                await asyncio.sleep(0.01)

        await chat.sends(QUESTION)
        await chat.shows("It opens")
        monkeypatch.setattr(chat.app, "_close_all", take_down_and_go_on)
    assert chat.app.defect is None
    with assistant_in(tmp_path) as assistant, assistant.stores.database.reading() as sql:
        assert [turn.answer for turn in sql.query(Turn)] == ["It opens at ten."]

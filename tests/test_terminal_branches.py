"""Branches on the screen: a message is changed or answered again, and what was said stays reachable."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from screen_fixtures import HOLD, ChatOnScreen, on_screen

from assistant.terminal.engine.engine import SessionChoice
from stores.base.errors import StoreUnavailable


def told(chat: ChatOnScreen) -> list[str]:
    return [message.text for message in chat.app.chat.conversation.messages]


async def until_told(chat: ChatOnScreen, holds: Callable[[], bool]) -> None:
    """Until the last answer is whole, too: what begins a branch is refused while one is being written."""
    await chat.until(lambda: holds() and chat.app.chat.talk.is_idle)


async def test_a_changed_message_goes_on_from_there_and_the_old_one_is_kept(tmp_path: Path) -> None:
    async with on_screen(tmp_path, replies=[["1"], ["2"], ["3"], ["4"]]) as chat:
        for message in ("one", "two", "three"):
            await chat.asks(message)
        await chat.types("half a thought")
        await chat.presses("escape", "k", "k", "k", "e")
        assert chat.prompt == "two"
        assert "Changing an earlier message" in chat.text
        await chat.types(" and a half")
        await chat.presses("enter")
        await until_told(chat, lambda: told(chat)[-1] == "4")
        assert told(chat) == ["one", "1", "two and a half", "4"]
        assert chat.prompt == "half a thought"
        await chat.shows("branch 2 of 2 · one")
        await chat.presses("escape", "left_square_bracket")
        await chat.shows("branch 1 of 2 · one")
        assert told(chat) == ["one", "1", "two", "2", "three", "3"]
        await chat.presses("left_square_bracket")
        await chat.shows("branch 2 of 2 · one")
        await chat.presses("right_square_bracket")
        await chat.shows("branch 1 of 2 · one")
    async with on_screen(tmp_path, choice=SessionChoice(last=True), replies=[["5"]]) as chat:
        await chat.shows("branch 1 of 2 · one")
        await chat.asks("four")  # goes on in the branch that is on
        assert told(chat)[-4:] == ["three", "3", "four", "5"]


async def test_an_answer_is_given_again_and_the_earlier_one_is_kept(tmp_path: Path) -> None:
    async with on_screen(tmp_path, replies=[["1"], ["2"], ["2b"]]) as chat:
        await chat.asks("one")
        await chat.types("draft")
        await chat.presses("escape", "e", "escape")  # leaves the message as it was
        assert chat.prompt == "draft"
        assert "Changing" not in chat.text
        assert told(chat) == ["one", "1"]
        await chat.sends("/branch")
        await chat.shows("one branch so far")
        await chat.asks("two")
        await chat.presses("escape", "r")
        await until_told(chat, lambda: told(chat)[-1] == "2b")
        assert told(chat) == ["one", "1", "two", "2b"]
        await chat.shows("branch 2 of 2")
        await chat.presses("i")
        await chat.sends("/branch 1")
        await until_told(chat, lambda: told(chat)[-1] == "2")
        await chat.sends("/branch 7")
        await chat.shows("there are 2 branches")


async def test_change_names_a_turn_and_its_new_text(tmp_path: Path) -> None:
    async with on_screen(tmp_path, replies=[["1"], ["2"], ["3"], ["4"]]) as chat:
        await chat.asks("one")
        await chat.asks("two")
        await chat.sends("/change 9 three")
        await chat.shows("this session has no turn 9")
        assert chat.prompt == "/change 9 three"
        await chat.presses("ctrl+u")
        await chat.until(lambda: not chat.prompt)
        await chat.sends("/change three")
        await until_told(chat, lambda: told(chat) == ["one", "1", "three", "3"])
        await chat.sends("/change 1 eins")
        await until_told(chat, lambda: told(chat) == ["eins", "4"])
        await chat.sends("/change")
        await chat.until(lambda: chat.prompt == "eins")


async def test_a_changed_message_that_cannot_be_kept_leaves_all_as_it_was(tmp_path: Path) -> None:
    async with on_screen(tmp_path, replies=[["1"], ["2"]]) as chat:
        await chat.asks("one")
        await chat.asks("two")
        journal = chat.app.chat.desk._known_assistant.stores.journal
        accept = journal.accept

        def refuse(*_: object, **__: object) -> None:
            raise StoreUnavailable("the disk is full")

        journal.accept = refuse  # type: ignore[assignment]
        await chat.presses("escape", "k", "k", "k", "e")
        await chat.types(" changed")
        await chat.presses("enter")
        await chat.shows("not sent: the disk is full")
        await until_told(chat, lambda: told(chat) == ["one", "1", "two", "2"])
        assert chat.prompt == "one changed"
        journal.accept = accept  # type: ignore[method-assign]
        chat.app.chat.prompt.put("")
        await chat.asks("three")
        assert told(chat)[-2:] == ["three", "Nothing more."]
        assert "branch" not in chat.text.splitlines()[0]


async def test_no_branch_begins_while_a_reply_is_written(tmp_path: Path) -> None:
    async with on_screen(tmp_path, replies=[["1"], ["Half", HOLD]]) as chat:
        await chat.asks("one")
        await chat.sends("two")
        await chat.shows("Half")
        await chat.presses("tab")
        for key in ("e", "r", "right_square_bracket"):
            chat.app.chat.tell("")
            await chat.presses(key)
            await chat.shows("a reply is being written: Esc stops it first")


async def test_what_is_found_in_another_branch_is_led_to(tmp_path: Path) -> None:
    async with on_screen(tmp_path, replies=[["1"], ["2"], ["3"]]) as chat:
        await chat.asks("the ladder")
        await chat.asks("the lamp")
        await chat.presses("escape", "g", "e", "ctrl+u")
        await chat.types("the locker")
        await chat.presses("enter")
        await until_told(chat, lambda: told(chat) == ["the locker", "3"])
        await chat.presses("ctrl+f")
        await chat.types("lamp")
        await chat.shows("Find · 1 with lamp")
        await chat.presses("enter")
        await chat.shows("branch 1 of 2")
        assert told(chat) == ["the ladder", "1", "the lamp", "2"]

"""Each key of the chat reaches its action: from the prompt, behind Ctrl+G, and while reading."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
from pressed_keys import Row, back_to_the_prompt, before, press_each, typed
from round_rows import keep, of, promoted
from screen_fixtures import ANSWER, QUESTION, ChatOnScreen, on_screen
from test_terminal_compare import ASKED, ASKED_AGAIN, playing
from textual.command import CommandPalette

from assistant.terminal.comparison.comparison_process import ComparisonChild
from assistant.terminal.facts.messages import Message
from assistant.terminal.input.keys import APP, CHAT, PROMPT, RATE, READING
from assistant.terminal.lists.documents_screen import DocumentsScreen
from assistant.terminal.lists.find_screen import FindScreen
from assistant.terminal.lists.log_screen import LogScreen
from assistant.terminal.lists.sessions_screen import SessionsScreen
from assistant.terminal.memory.memory_screen import MemoryScreen
from assistant.terminal.training.compare_screen import CompareScreen
from assistant.terminal.training.training_screen import TrainingScreen
from assistant.terminal.why.why_view import WhyScreen
from assistant.terminal.widgets.page_screen import PageScreen
from assistant.terminal.widgets.questions import PastPrompts

CODE = "First answer [1].\n\n```\ncode one\n```"


def messages(chat: ChatOnScreen) -> list[Message]:
    return chat.app.chat.conversation.messages


def is_read(chat: ChatOnScreen, place: int) -> bool:
    return chat.app.chat.conversation.current is messages(chat)[place]


def reads(chat: ChatOnScreen) -> bool:
    return bool(chat.app.chat.conversation.has_focus)


# In the prompt, and everywhere ------------------------------------------------------------------


async def at_the_prompt(chat: ChatOnScreen) -> None:
    """With the focus in the prompt, and a last answer."""
    if not messages(chat):
        await chat.asks(QUESTION)
    await chat.until(lambda: chat.app.chat.prompt.has_focus)


async def scrolled_up(chat: ChatOnScreen) -> None:
    await chat.asks("something long")
    await chat.presses("pageup", "pageup")
    await chat.until(lambda: "Line 39." not in chat.text)


IN_THE_PROMPT = {
    "send": Row(
        typed("one"), lambda chat: messages(chat)[-2:][0].text == "one" and chat.app.chat.talk.is_idle
    ),
    "new_line": Row(typed("one"), lambda chat: chat.prompt == "one\n"),
    "complete": Row(typed("/reme"), lambda chat: chat.prompt == "/remember "),
    "search_prompts": Row(then=PastPrompts),
    "editor": Row(typed("begun "), lambda chat: chat.prompt == "begun and more"),
    "stop": Row(then=reads),
    "end_input": Row(typed("ab", "home"), lambda chat: chat.prompt == "b"),
}
EVERYWHERE = {
    "help": Row(then=PageScreen),
    "why": Row(then=WhyScreen),
    "memory": Row(then=MemoryScreen),
    "training": Row(then=TrainingScreen),
    "sessions": Row(then=SessionsScreen),
    "log": Row(then=LogScreen),
    "documents": Row(then=DocumentsScreen),
    "find": Row(then=FindScreen),
    "new_session": Row(then=lambda chat: not messages(chat) and "New session" in chat.text),
    "rate": Row(then="Last answer:"),
    "redraw": Row(scrolled_up, "Line 39."),
    "interrupt": Row(typed("typed"), lambda chat: chat.prompt == ""),
    "palette": Row(then=CommandPalette),
    "quit": Row(then=lambda chat: vars(chat).get("left_with") == 0),
}


async def test_each_key_works_from_the_prompt(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    editor = tmp_path / "editor"
    editor.write_text('#!/bin/sh\nprintf "and more" >> "$1"\n')
    editor.chmod(0o700)
    monkeypatch.setenv("VISUAL", str(editor))
    long = "\n\n".join(f"Line {n}." for n in range(40))
    async with on_screen(tmp_path, replies=[[ANSWER], ["One."], [ANSWER], [long]]) as chat:
        monkeypatch.setattr(chat.app, "suspend", nullcontext)  # which a screen that nobody sees cannot
        monkeypatch.setattr(chat.app, "leave", lambda code: vars(chat).update(left_with=code))
        await press_each(
            chat,
            (*PROMPT, *CHAT, *APP),
            IN_THE_PROMPT | EVERYWHERE,
            opens=at_the_prompt,
            leaves=back_to_the_prompt,
        )


# Behind the key that rates ----------------------------------------------------------------------


async def rates(chat: ChatOnScreen) -> None:
    """An answer that nobody has rated yet."""
    await chat.asks(QUESTION)
    await chat.presses("ctrl+g")
    await chat.shows("Last answer:")


async def rates_behind_a_write(chat: ChatOnScreen) -> None:
    await chat.presses("escape")
    await chat.asks("/remember I like tea.")
    await chat.presses("ctrl+g")
    await chat.shows("Last answer:")


AFTER_RATE = {
    "rate_helped": Row(then=lambda chat: messages(chat)[-1].rating == "good"),
    "rate_not_helped": Row(then=lambda chat: messages(chat)[-1].rating == "bad"),
    "rate_teach": Row(then="What should the answer of turn"),
    "rate_why": Row(then=WhyScreen),
    "rate_undo": Row(rates_behind_a_write, "Undone: added “I like tea.”"),
    "rate_notices": Row(then=PageScreen),
    "rate_back": Row(then=lambda chat: "Last answer:" not in chat.text),
}


async def test_each_key_works_behind_the_one_that_rates(tmp_path: Path) -> None:
    async with on_screen(tmp_path, replies=[[ANSWER]] * 10) as chat:
        await press_each(chat, RATE, AFTER_RATE, opens=rates, leaves=back_to_the_prompt)


# Reading ----------------------------------------------------------------------------------------


async def reading(chat: ChatOnScreen) -> None:
    """The last message is read."""
    await chat.presses("escape")
    await chat.until(lambda: reads(chat))


async def rated_bad(chat: ChatOnScreen) -> None:
    if messages(chat)[-1].rating == "good":
        await chat.presses("minus")
        await chat.until(lambda: messages(chat)[-1].rating == "bad")


async def behind_a_write(chat: ChatOnScreen) -> None:
    await chat.presses("escape")
    await chat.asks("/remember I like tea.")
    await reading(chat)


async def nothing_copied(chat: ChatOnScreen) -> None:
    chat.app.copy_to_clipboard("")


async def found(chat: ChatOnScreen) -> None:
    await chat.opens(FindScreen, "slash")
    if not chat.screen.query_one("Input").value:  # type: ignore[attr-defined]
        await chat.types("answer")
    await chat.shows("Find · 2 with answer")
    await chat.presses("enter")
    await chat.shows("1 of 2 with answer")


THOUGHT = "<think>Code it is.</think>"

WHILE_READING = {
    "read_next": Row(before("k"), lambda chat: is_read(chat, -1)),
    "read_previous": Row(then=lambda chat: is_read(chat, -2)),
    "read_first": Row(then=lambda chat: is_read(chat, 0)),
    "read_last": Row(before("g"), lambda chat: is_read(chat, -1)),
    "read_fold": Row(then="folded", after=before("space")),
    "read_thoughts": Row(then="▾ thought in 3 words"),
    "read_copy": Row(nothing_copied, lambda chat: chat.app.clipboard.startswith("First answer [1].")),
    "read_copy_code": Row(nothing_copied, lambda chat: chat.app.clipboard == "code one"),
    "read_helped": Row(rated_bad, lambda chat: messages(chat)[-1].rating == "good"),
    "read_not_helped": Row(then=lambda chat: messages(chat)[-1].rating == "bad"),
    "read_teach": Row(then="What should the answer of turn"),
    "read_why": Row(then=WhyScreen),
    "read_learned": Row(then=PageScreen),
    "read_undo": Row(behind_a_write, "Undone: added “I like tea.”"),
    "read_retry": Row(then=lambda chat: messages(chat)[-1].text == "Again."),
    "read_change": Row(then="Changing an earlier message"),
    "read_branch_next": Row(then=lambda chat: chat.app.chat.branch_told == "branch 1 of 2"),
    "read_branch_before": Row(then=lambda chat: chat.app.chat.branch_told == "branch 2 of 2"),
    "read_compare": Row(then=CompareScreen),
    "read_find": Row(then=FindScreen),
    "read_find_next": Row(found, "2 of 2 with answer"),
    "read_find_previous": Row(found, "2 of 2 with answer"),
    "read_back": Row(then=lambda chat: chat.app.chat.prompt.has_focus),
}


async def test_each_key_works_while_reading(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def compared(*_: Any, **__: Any) -> ComparisonChild:
        return playing(ASKED, ASKED_AGAIN)

    monkeypatch.setattr(ComparisonChild, "of", staticmethod(compared))
    async with on_screen(
        tmp_path, replies=[["An answer."], [THOUGHT, CODE], ["Again."]], size=(80, 40)
    ) as chat:
        await chat.asks("one")
        await chat.asks("two")
        keep(of(chat), promoted(12))
        await press_each(chat, READING, WHILE_READING, opens=reading, leaves=back_to_the_prompt)


def test_every_key_of_these_places_has_its_row() -> None:
    rows = (IN_THE_PROMPT, EVERYWHERE, AFTER_RATE, WHILE_READING)
    for table, keys in zip(rows, (PROMPT, (*CHAT, *APP), RATE, READING), strict=True):
        assert list(table) == [key.id for key in keys]

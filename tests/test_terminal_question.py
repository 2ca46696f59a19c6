"""A question that needs an answer first: it stands where the prompt is, below the conversation."""

from __future__ import annotations

from pathlib import Path

import pytest
from screen_fixtures import ANSWER, QUESTION, ChatOnScreen, on_screen
from test_terminal_chat import learned
from textual.screen import ModalScreen

from assistant.terminal.conversation.message_view import MessageView
from assistant.terminal.facts.messages import Message
from assistant.terminal.widgets.questions import Question

TEXT = "My cat Ada sleeps on the blue chair by the window of the living room since May of last year."
LONG = "\n".join(f"{n:>6}  note        I like tea number {n}." for n in range(1, 41))


def lines_of_conversation(chat: ChatOnScreen) -> int:
    """Rows of it that nothing covers."""
    conversation = chat.app.chat.conversation.region
    rows = set(range(conversation.y, conversation.bottom))
    if isinstance(chat.screen, ModalScreen):
        box = chat.screen.children[0].region
        rows -= set(range(box.y, box.bottom))
    return len(rows)


def show_notice(chat: ChatOnScreen) -> None:
    chat.app.chat.notices.withdraw = lambda receipt_ids: None  # type: ignore[method-assign]
    chat.app.chat.heard(learned(12_345, TEXT))


async def asks(chat: ChatOnScreen, question: str) -> list[bool | None]:
    chat.app.chat.query_one("#first-start").display = False  # as where something was said
    answers: list[bool | None] = []
    chat.app.push_screen(Question(question, yes="forget", no="keep"), answers.append)
    await chat.until(lambda: isinstance(chat.screen, Question))
    await chat.shows("y forget")
    return answers


@pytest.mark.parametrize(("size", "least"), [((80, 24), 16), ((40, 12), 3)])
async def test_the_conversation_stays_in_view_behind_a_question_and_a_notice(
    tmp_path: Path, size: tuple[int, int], least: int
) -> None:
    async with on_screen(tmp_path, size=size) as chat:
        show_notice(chat)
        await asks(chat, "     2  note        I like tea and quiet rooms.\nForget this passage for good?")
        await chat.until(lambda: chat.app.chat.notices.size.height == 1)
        await chat.until(lambda: lines_of_conversation(chat) >= least)


async def test_a_notice_is_one_row_while_a_question_is_open_and_whole_behind_it(tmp_path: Path) -> None:
    async with on_screen(tmp_path) as chat:
        show_notice(chat)
        await chat.until(lambda: chat.app.chat.notices.size.height == 2)
        answers = await asks(chat, "Forget this passage for good?")
        await chat.until(lambda: chat.app.chat.notices.size.height == 1)
        await chat.shows("/undo 12345")
        await chat.presses("n")
        await chat.until(lambda: chat.app.chat.notices.size.height == 2)
        assert answers == [False]


async def test_a_long_question_scrolls_keeps_its_keys_and_is_answered_behind_that(tmp_path: Path) -> None:
    async with on_screen(tmp_path, size=(40, 12)) as chat:
        answers = await asks(chat, f"{LONG}\nForget these passages for good?")
        assert lines_of_conversation(chat) >= 1
        await chat.shows("number 1.")
        assert "good?" not in chat.text
        await chat.presses("end")
        await chat.shows("good?")
        await chat.shows("y forget")
        await chat.presses("home")
        await chat.shows("number 1.")
        await chat.presses("end", "up", "pageup", "f1", "f6")
        assert isinstance(chat.screen, Question)
        await chat.presses("y")
        await chat.until(lambda: answers == [True])


async def test_text_that_is_typed_on_is_no_answer_and_goes_into_the_prompt(tmp_path: Path) -> None:
    async with on_screen(tmp_path) as chat:
        for typed in ("why", "What is my dog called, and why?", "Yes", " y"):
            answers = await asks(chat, "Forget this passage for good?")
            await chat.types(typed)
            await chat.until(
                lambda typed=typed: chat.prompt == typed,  # type: ignore[misc]
                lambda: f"in the prompt: {chat.prompt!r}",
            )
            assert answers == [False]
            chat.app.chat.prompt.put("")


async def test_keys_that_are_queued_when_the_question_comes_do_not_answer_it(tmp_path: Path) -> None:
    async with on_screen(tmp_path) as chat:
        answers: list[bool | None] = []
        question = Question("Forget this passage for good?", yes="forget", no="keep")
        question.call_after_refresh = lambda *_: True  # type: ignore[method-assign]  # never painted
        chat.app.push_screen(question, answers.append)
        await chat.until(lambda: chat.screen is question)
        await chat.types("yes")
        await chat.until(lambda: chat.prompt == "yes")
        assert answers == [False]


async def test_typing_on_touches_nothing_of_a_screen_whose_letters_are_keys(tmp_path: Path) -> None:
    async with on_screen(tmp_path, replies=[[ANSWER]]) as chat:
        await chat.asks(QUESTION)
        await chat.reads()
        answers: list[bool | None] = []
        chat.app.push_screen(Question("Forget it?", yes="forget", no="keep"), answers.append)
        await chat.shows("y forget")
        await chat.presses("d")
        await chat.until(lambda: answers == [False])
        assert chat.prompt == ""


def test_a_line_that_comes_when_the_screen_is_taken_down_is_kept() -> None:
    view = MessageView(Message("Vouch", ""))
    view.say("Nothing was forgotten.")
    assert view.message.text == "Nothing was forgotten."

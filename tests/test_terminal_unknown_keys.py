"""A key that nothing takes says so in one calm line, on every screen, and F1 lists those that are taken."""

from __future__ import annotations

from pathlib import Path

from screen_fixtures import on_screen

from assistant.terminal.training.training_screen import TrainingScreen
from assistant.terminal.widgets.page_screen import PageScreen
from assistant.terminal.widgets.questions import Question


async def test_f6_and_f7_select_in_the_prompt_and_say_so_where_it_is_empty(tmp_path: Path) -> None:
    async with on_screen(tmp_path) as chat:
        await chat.presses("f6")
        await chat.shows("F6 selects a line, F7 all that is typed")
        prompt = chat.app.chat.prompt
        prompt.put("one\ntwo")
        await chat.presses("f6")
        assert prompt.selected_text == "two"
        await chat.presses("f7")
        assert prompt.selected_text == "one\ntwo"


async def test_a_letter_is_told_too_and_a_key_that_moves_is_not(tmp_path: Path) -> None:
    async with on_screen(tmp_path) as chat:
        await chat.opens(TrainingScreen, "f4")
        await chat.presses("q")
        await chat.shows("q does nothing here · F1 lists keys")
        await chat.presses("ctrl+g")
        await chat.shows("^G works in the chat · Esc goes back there")
        await chat.presses("left", "pageup", "tab")
        await chat.pilot.pause()
        assert "^G works in the chat" in chat.text  # keys that move say nothing


async def test_a_page_says_what_leads_back_and_a_question_stays_a_question(tmp_path: Path) -> None:
    async with on_screen(tmp_path) as chat:
        await chat.opens(PageScreen, "f1")
        await chat.presses("f6")
        await chat.shows("F6 does nothing here · Esc goes back")
        await chat.presses("escape")
        chat.app.push_screen(Question("Forget it?", yes="forget", no="keep"))
        await chat.shows("y forget")
        await chat.presses("f6", "f1")
        await chat.pilot.pause()
        assert isinstance(chat.screen, Question)
        assert "does nothing" not in chat.text
        await chat.presses("x")  # text is no answer
        await chat.until(lambda: chat.screen is chat.app.chat)

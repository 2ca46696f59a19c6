"""An answer that may be none is told apart from one that is."""

from __future__ import annotations

from pathlib import Path

from screen_fixtures import QUESTION, on_screen

from agents.backends.extractive import NOT_SURE
from assistant.terminal.conversation.message_view import MessageView
from assistant.terminal.facts.messages import Message


def test_it_is_known_by_the_words_it_begins_with_where_passages_are_quoted() -> None:
    quoted = Message("Assistant", f"{NOT_SURE} “It opens at ten.” [1]", 1, seconds=0.4, is_quoted=True)
    assert quoted.is_unsure
    assert quoted.label == "0.4 s · not sure"
    assert not Message("Assistant", quoted.text, 1).is_unsure  # a model that writes has its own words
    assert not Message("Assistant", "“It opens at ten.” [1]", 1, is_quoted=True).is_unsure


async def test_its_words_do_not_look_like_those_of_an_answer(tmp_path: Path) -> None:
    async with on_screen(tmp_path, replies=[[f"{NOT_SURE} “At ten.” [1]"], ["“At ten.” [1]"]]) as chat:
        chat.app.chat.talk.model_name = "extractive (quotes only)"
        for _ in range(2):
            await chat.asks(QUESTION)
        await chat.shows(" s · not sure")
        unsure, sure = (
            view for view in chat.app.chat.query(MessageView).results() if view.message.speaker == "Assistant"
        )
        assert unsure.query_one(".words").styles.text_style.italic
        assert not sure.query_one(".words").styles.text_style.italic
        strips = chat.app.screen._compositor.render_strips()
        painted = {
            segment.style.italic
            for strip in strips
            for segment in strip
            if "I am not sure" in segment.text and segment.style is not None
        }
        assert painted == {True}

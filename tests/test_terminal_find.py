"""Find on the screen: it opens from anywhere, tells as one types, leads to a turn, and is left at once."""

from __future__ import annotations

from pathlib import Path

from screen_fixtures import HOLD, ChatOnScreen, on_screen
from textual.widgets import Input

from assistant.terminal.lists.find_screen import FindScreen

REPLIES = [["In the cellar."], ["On the roof."], ["Under the stairs."], ["Nowhere."]]


async def two_sessions(chat: ChatOnScreen) -> None:
    """Two turns about a ladder in the first, one in the second, which is on."""
    await chat.asks("Where is the ladder?")
    await chat.asks("And the long ladder?")
    await chat.begins_session()
    await chat.asks("What became of the ladder?")


def is_open(chat: ChatOnScreen) -> bool:
    return isinstance(chat.screen, FindScreen)


async def finds(chat: ChatOnScreen, words: str) -> None:
    await chat.presses("ctrl+f")
    await chat.until(lambda: is_open(chat))
    await chat.types(words)


async def test_find_opens_from_the_prompt_is_left_by_one_key_and_tells_as_one_types(tmp_path: Path) -> None:
    async with on_screen(tmp_path, replies=REPLIES) as chat:
        await two_sessions(chat)
        await chat.types("half a thought")
        for key in ("escape", "ctrl+c", "ctrl+f"):
            await finds(chat, "ladder jk")
            await chat.shows("nothing with ladder jk")
            await chat.presses("tab")  # there is no list to go to
            assert chat.screen.query_one(Input).has_focus
            await chat.presses(key)
            await chat.until(lambda: chat.screen is chat.app.chat)
            assert chat.app.chat.prompt.has_focus
            assert chat.prompt == "half a thought"
        await finds(chat, "ladder")
        await chat.shows("Find · 3 with ladder")
        await chat.types(" long")
        await chat.shows("Find · 1 with ladder long")


async def test_enter_leads_to_the_turn_in_its_session_and_n_goes_on(tmp_path: Path) -> None:
    async with on_screen(tmp_path, replies=REPLIES) as chat:
        chat.app.chat.clock = lambda: 0.0  # a sentence goes by itself some time later
        await two_sessions(chat)
        await chat.presses("escape", "n")
        assert "Find" not in chat.text
        await chat.presses("escape")
        await finds(chat, "ladder")
        await chat.shows("Find · 3 with ladder")
        await chat.presses("down", "enter")
        await chat.shows("2 of 3 with ladder · n next, N previous")
        conversation = chat.app.chat.conversation
        assert chat.app.chat.talk.session_id == 1
        assert conversation.current is not None
        assert conversation.current.text == "And the long ladder?"
        await chat.presses("n")
        await chat.shows("3 of 3 with ladder")
        assert conversation.current.text == "Where is the ladder?"
        await chat.presses("n")
        await chat.shows("1 of 3 with ladder")
        assert chat.app.chat.talk.session_id == 2
        assert conversation.current.text == "What became of the ladder?"
        await chat.presses("N")
        await chat.shows("3 of 3 with ladder")
        await chat.presses("slash")  # what was looked for stands there again
        await chat.shows("Find · 3 with ladder")
        await chat.presses("enter")
        await chat.shows("n next, N previous")
        await chat.presses("enter")
        assert chat.app.chat.prompt.has_focus
        await chat.until(lambda: "n next" not in chat.text)


async def test_an_answer_is_led_to_where_it_holds_the_words(tmp_path: Path) -> None:
    async with on_screen(tmp_path, replies=REPLIES) as chat:
        await chat.asks("Where is it?")
        await chat.presses("escape", "slash")
        await chat.until(lambda: is_open(chat))
        await chat.types("cellar")
        await chat.presses("enter")  # before anything was shown
        await chat.shows("1 of 1 with cellar")
        current = chat.app.chat.conversation.current
        assert current is not None
        assert (current.speaker, current.text) == ("Assistant", "In the cellar.")


async def test_a_turn_far_above_is_led_to(tmp_path: Path) -> None:
    async with on_screen(tmp_path) as chat:
        journal = chat.app.chat.desk._known_assistant.stores.journal
        session = journal.open_session(1)
        for number in range(200):
            said = "a needle" if number == 20 else f"hay {number}"
            journal.accept(1, session, said, parts=[])
        await chat.sends("/find needle")
        await chat.shows("Find · 1 with needle")
        await chat.presses("enter")
        await chat.shows("1 of 1 with needle")
        await chat.shows("a needle")
        current = chat.app.chat.conversation.current
        assert current is not None
        assert current.text == "a needle"


async def test_a_private_session_is_not_searched_and_says_so(tmp_path: Path) -> None:
    async with on_screen(tmp_path, replies=REPLIES) as chat:
        await chat.sends("/private")
        await chat.shows("Private: not remembered")
        await chat.until(lambda: not chat.app.chat.conversation.messages)
        await chat.asks("Where is the ladder?")
        await chat.presses("ctrl+f")
        await chat.shows("what is said in a private session is not searched")
        await chat.types("ladder")
        await chat.shows("nothing with ladder")


async def test_find_does_not_leave_a_reply_that_is_being_written(tmp_path: Path) -> None:
    async with on_screen(tmp_path, replies=[["One."], ["Half", HOLD]]) as chat:
        await chat.asks("the ladder")
        await chat.begins_session()
        await chat.sends("go on")
        await chat.shows("Half")
        await finds(chat, "ladder")
        await chat.presses("enter")
        await chat.shows("a reply is being written: Esc stops it")
        assert chat.app.chat.talk.session_id == 2

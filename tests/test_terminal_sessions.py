"""Sessions on the screen: opened, filtered, renamed, archived and deleted, each change with its undo."""

from __future__ import annotations

from pathlib import Path

from screen_fixtures import HOLD, ChatOnScreen, on_screen

from assistant.terminal.engine.engine import SessionChoice
from assistant.terminal.lists.sessions_screen import SessionsScreen
from stores.conversation.sessions import Sessions, Shelf

REPLIES = [["1"], ["2"], ["3"]]


async def three_sessions(chat: ChatOnScreen) -> None:
    """The last of them is on."""
    for number, message in enumerate(("about lockers", "about ladders", "about lamps")):
        if number:
            await chat.begins_session()
        await chat.asks(message)


async def opens_list(chat: ChatOnScreen) -> None:
    await chat.opens(SessionsScreen, "f5")
    await chat.shows("[open ")


def on_shelf(chat: ChatOnScreen, shelf: Shelf) -> list[str]:
    database = chat.app.chat.desk._known_assistant.stores.database
    return [line.title for line in Sessions(database).lines(1, shelf=shelf)]


async def test_the_filter_opens_the_marked_session_with_one_enter_and_escape_gives_the_whole_list(
    tmp_path: Path,
) -> None:
    async with on_screen(tmp_path, replies=REPLIES) as chat:
        await three_sessions(chat)
        await chat.sends("/sessions lockers")
        await chat.shows("Sessions · 1")
        await chat.presses("escape")
        await chat.shows("Sessions · 3")
        await chat.presses("slash")
        await chat.types("about la")
        await chat.shows("Sessions · 2")
        await chat.presses("down", "enter")
        await chat.until(lambda: chat.screen is chat.app.chat)
        await chat.shows(" about ladders")
        assert chat.app.chat.talk.session_id == 2


async def test_questions_of_the_command_stand_on_a_shelf_of_their_own(tmp_path: Path) -> None:
    async with on_screen(tmp_path, replies=REPLIES) as chat:
        await chat.asks("about lockers")
        await chat.presses("f5")
        await chat.shows("[open 1]  archived 0")  # no shelf where nothing was asked so
        await chat.goes_back()
        asked = chat.app.chat.desk._known_assistant.stores.journal.open_session(1, is_asked=True)
        chat.app.chat.switch_session(asked)
        await chat.until(lambda: chat.app.chat.talk.session_id == asked)
        await chat.asks("about ladders")
        await opens_list(chat)
        await chat.shows("[open 1]  asked 1  archived 0  deleted 0")
        assert "about ladders" not in chat.text.split("Sessions ·")[1]
        await chat.presses("tab")
        await chat.shows("open 1  [asked 1]")
        await chat.shows("each is one question of `vouch ask`")
        await chat.presses("enter")
        await chat.until(lambda: chat.screen is chat.app.chat)
        await chat.asks("and more of them")
        await opens_list(chat)
        await chat.shows("[open 2]  archived 0")


async def test_a_session_is_renamed_and_undo_brings_its_title_back(tmp_path: Path) -> None:
    async with on_screen(tmp_path, replies=REPLIES) as chat:
        await three_sessions(chat)
        await opens_list(chat)
        await chat.presses("e", "ctrl+u")
        await chat.types("Light")
        await chat.presses("enter")
        await chat.shows("renamed: “Light”")
        assert on_shelf(chat, "open") == ["Light", "about ladders", "about lockers"]
        await chat.presses("u")
        await chat.shows("undone: renamed: “Light”")
        assert on_shelf(chat, "open")[0] == "about lamps"
        await chat.presses("e", "ctrl+u", "enter")  # no title is no change
        await chat.presses("e", "x", "escape")  # nor is one that was given up
        assert on_shelf(chat, "open")[0] == "about lamps"
        await chat.presses("e")
        await chat.types(" and bulbs")
        await chat.presses("enter")
        await chat.shows("renamed")
        await chat.presses("escape")
        await chat.shows(" about lamps and bulbs")  # in the header


async def test_a_session_is_deleted_or_archived_and_brought_back_by_undo_or_later(tmp_path: Path) -> None:
    async with on_screen(tmp_path, replies=REPLIES) as chat:
        await opens_list(chat)
        await chat.presses("u")
        await chat.shows("nothing to undo here")
        for key in ("x", "z", "e", "enter"):
            await chat.presses(key)  # there is no session yet
        await chat.goes_back()
        await three_sessions(chat)
        await opens_list(chat)
        await chat.presses("down", "x")
        await chat.shows("deleted: “about ladders” · u brings it back · what it taught stays")
        assert on_shelf(chat, "open") == ["about lamps", "about lockers"]
        await chat.presses("u")
        await chat.shows("undone: deleted: “about ladders”")
        assert len(on_shelf(chat, "open")) == 3
        await chat.presses("down", "x")
        await chat.shows("u brings it back")
        await chat.presses("tab", "tab")
        await chat.shows("[deleted 1]")
        await chat.presses("enter")
        await chat.shows("it is deleted: z brings it back")
        await chat.presses("z")
        await chat.shows("brought back")
        assert len(on_shelf(chat, "open")) == 3
        await chat.presses("escape")
        await opens_list(chat)
        await chat.presses("z")
        await chat.shows("archived: “about lamps”")
        await chat.presses("tab")
        await chat.shows("[archived 1]")
        assert on_shelf(chat, "archived") == ["about lamps"]
        await chat.presses("z")
        await chat.shows("out of the archive")
        assert len(on_shelf(chat, "open")) == 3


async def test_a_long_list_is_told_page_by_page(tmp_path: Path) -> None:
    async with on_screen(tmp_path) as chat:
        journal = chat.app.chat.desk._known_assistant.stores.journal
        for number in range(230):
            journal.accept(1, journal.open_session(1), f"session {number:03}", parts=[])
        await opens_list(chat)
        await chat.shows("Sessions · 230")
        await chat.presses("end")
        await chat.presses("end")
        await chat.shows("session 000")


async def test_the_list_can_be_changed_while_a_reply_is_written(tmp_path: Path) -> None:
    async with on_screen(tmp_path, replies=[["1"], ["Half", HOLD]]) as chat:
        await chat.asks("about lockers")
        await chat.begins_session()
        await chat.sends("go on")
        await chat.shows("Half")
        await opens_list(chat)
        await chat.presses("down", "x")
        await chat.shows("deleted: “about lockers”")
        await chat.presses("escape")
        await chat.shows("Half")


# What was typed


async def test_ctrl_r_finds_what_was_sent_in_any_session_but_a_private_one(tmp_path: Path) -> None:
    async with on_screen(tmp_path, replies=REPLIES) as chat:
        journal = chat.app.chat.desk._known_assistant.stores.journal
        for number in range(150):
            journal.accept(1, journal.open_session(1), f"errand {number}", parts=[])
        private = journal.open_session(1, is_private=True)
        journal.accept(1, private, "errand in private", parts=[])
        await chat.presses("ctrl+r")
        await chat.shows("errand 149")
        assert "in private" not in chat.text
        await chat.types("errand 77")
        await chat.shows("errand 77")
        await chat.presses("enter")
        await chat.until(lambda: chat.prompt == "errand 77")


async def test_what_is_typed_on_behind_escape_stays_in_the_prompt(tmp_path: Path) -> None:
    async with on_screen(tmp_path, replies=REPLIES, burst_seconds=600.0) as chat:
        await chat.asks("about lockers")
        await chat.types("half")
        chat.app.chat.action_stop_or_read()
        chat.app.chat.conversation.typing_until += 600.0  # however slow the machine is
        await chat.until(lambda: chat.app.chat.conversation.has_focus)
        await chat.types("/re")
        await chat.until(lambda: chat.prompt == "half/re")
        assert chat.screen is chat.app.chat
        assert chat.app.chat.prompt.has_focus


async def test_a_letter_that_is_no_command_while_reading_goes_to_the_prompt(tmp_path: Path) -> None:
    async with on_screen(tmp_path, replies=REPLIES) as chat:
        await chat.asks("about lockers")
        await chat.reads()
        await chat.types("quiet")  # of these letters e, t and u would be commands
        await chat.until(lambda: chat.prompt == "quiet")
        assert chat.app.chat.prompt.has_focus
        assert chat.app.chat.conversation.current is None


async def test_what_was_accepted_before_a_kill_stands_in_the_prompt_no_more(tmp_path: Path) -> None:
    async with on_screen(tmp_path, replies=[["Yes."]]) as chat:
        await chat.asks("about lockers")
        session = chat.app.chat.talk.session_id
        drafts = chat.app.chat.drafts
    last, new = (SessionChoice(last=True), session), (SessionChoice(), "new")
    for (choice, key), draft, left in (
        (last, "about lockers", ""),
        (new, "about lockers\n\nhalf", "half"),
        (last, "about locks", "about locks"),
    ):
        drafts.write(key, draft)
        async with on_screen(tmp_path, choice=choice) as chat:
            await chat.until(lambda left=left: chat.prompt == left)  # type: ignore[misc]
            chat.app.chat.prompt.put("")


async def test_a_message_is_a_draft_until_it_is_accepted_and_no_longer(tmp_path: Path) -> None:
    async with on_screen(tmp_path, replies=[["Yes, ", HOLD], ["And."]]) as chat:
        drafts = chat.app.chat.drafts
        await chat.sends("one")
        await chat.shows("Yes,")
        await chat.sends("two")
        await chat.until(lambda: drafts.read("new") == "two")
        chat.go_on()
        await chat.until(lambda: chat.app.chat.talk.is_idle)
        key = chat.app.chat.talk.session_id
        await chat.until(lambda: drafts.read("new") == drafts.read(key) == "")

"""The palette: what can be done on the screen that is open is found by its name, and is done there."""

from __future__ import annotations

from pathlib import Path

from memory_on_screen import opened
from pressed_keys import back_to_the_prompt
from screen_fixtures import ANSWER, QUESTION, ChatOnScreen, on_screen
from test_terminal_everywhere import keys_to
from test_terminal_sessions import REPLIES, on_shelf, opens_list, three_sessions
from textual.app import SystemCommand
from textual.command import CommandList, CommandPalette, DiscoveryHit, Hit
from textual.widgets import Input

from assistant.terminal.app.palette import InOrder, _is_listed
from assistant.terminal.input.keys import PLACES, READING
from assistant.terminal.lists.find_screen import FindScreen
from assistant.terminal.lists.log_screen import LogScreen
from assistant.terminal.lists.sessions_screen import SessionsScreen
from assistant.terminal.memory.memory_screen import MemoryScreen
from assistant.terminal.memory.privacy_screen import PrivacyScreen
from assistant.terminal.training.training_screen import TrainingScreen
from assistant.terminal.why.why_view import WhyScreen
from assistant.terminal.widgets.page_screen import PageScreen

ARCHIVE = "Sessions · archive it; among archived or deleted ones: back"
DELETE = "Sessions · delete it; what it taught stays; erase a deleted one"
CODE = "First answer [1].\n\n```\ncode one\n```\n\n```\ncode two\n```"


def rows(chat: ChatOnScreen) -> dict[str, SystemCommand]:
    """By their names, none of which stands there twice."""
    listed = list(chat.app.get_system_commands(chat.screen))
    by_name = {row.title.casefold(): row for row in listed}
    assert len(by_name) == len(listed)
    return {row.title: row for row in listed}


def of_place(chat: ChatOnScreen, place: str) -> list[str]:
    return [title for title in rows(chat) if title.startswith(f"{place} · ")]


async def chooses(chat: ChatOnScreen, words: str, title: str) -> None:
    """Types words into the palette, and takes the first row that they find."""
    await chat.opens(CommandPalette, "ctrl+p")
    chat.screen.query_one(Input).value = words
    await chat.until(lambda: first_row(chat) == title, lambda: f"{first_row(chat)!r} comes first")
    await chat.presses("enter")
    await chat.until(lambda: not isinstance(chat.screen, CommandPalette))


def first_row(chat: ChatOnScreen) -> str:
    found = chat.screen.query_one(CommandList)
    if not found.option_count:
        return ""
    return str(found.get_option_at_index(0).prompt).partition("\n")[0].strip()


SCREENS = {
    "Why this answer": ("f2", WhyScreen),
    "Find": ("ctrl+f", FindScreen),
    "Sessions": ("f5", SessionsScreen),
    "Memory": ("f3", MemoryScreen),
    "Training": ("f4", TrainingScreen),
    "Log": ("f8", LogScreen),
}


FOUND = {  # on each screen by the name of a command: the row of the screen, and that of the chat behind it
    "Sessions": [("rename", "sessions_rename"), ("archive", "sessions_archive"), ("new", "sessions_new")],
    "Memory": [("forget", "memory_forget"), ("share", "memory_share"), ("privacy", "memory_privacy")],
    "Training": [("compare", "training_compare"), ("train", "training_start")],
    "Why this answer": [("forget", "why_remove"), ("undo", "why_undo"), ("compare", "why_compare")],
}


async def test_each_action_of_a_screen_is_told_first_there_with_its_key_and_command(tmp_path: Path) -> None:
    async with on_screen(tmp_path, replies=[[ANSWER]]) as chat:
        await chat.asks(QUESTION)
        for place, (pressed, kind) in SCREENS.items():
            await keys_to(kind, pressed)(chat)
            wanted = [key for key in PLACES[place] if _is_listed(key)]
            assert list(rows(chat))[: len(wanted)] == [f"{place} · {key.words}" for key in wanted]
            for key in wanted:
                assert rows(chat)[f"{place} · {key.words}"].help.endswith(key.slash)
            assert not [title for title in rows(chat) if title.startswith("Reading · ")]
            for words, name in FOUND.get(place, []):
                found = await finds(chat, words)
                assert found[0] == f"{place} · {words_of(name)}"
                assert f"/{words}" in found[1:]
            await back_to_the_prompt(chat)
        found = await finds(chat, "retry")
        assert found[:2] == ["/retry", "Reading · answer again; the earlier answer is kept"]
        assert (await finds(chat, "rename"))[0] == "/rename"


async def test_only_what_acts_is_told_and_by_the_keys_of_the_settings(tmp_path: Path) -> None:
    async with on_screen(tmp_path, keys={"sessions_archive": "f9"}) as chat:
        await keys_to(SessionsScreen, "f5")(chat)
        assert of_place(chat, "Sessions") == [
            "Sessions · open the session",
            "Sessions · filter by title; Enter opens the marked one",
            "Sessions · change its title",
            ARCHIVE,
            DELETE,
            "Sessions · undo the latest change made here",
            "Sessions · a new session",
        ]
        assert rows(chat)[ARCHIVE].help == "F9 · /archive"
        await chat.shows("F9 archive")  # in the line of keys
        await opened(chat)
        await keys_to(PrivacyScreen, "p")(chat)
        assert of_place(chat, "Privacy") == ["Privacy · forget everything of mine"]
        assert not of_place(chat, "Memory")


async def test_a_row_acts_on_what_is_marked_and_what_is_typed_comes_first(tmp_path: Path) -> None:
    async with on_screen(tmp_path, replies=REPLIES) as chat:
        await three_sessions(chat)
        await opens_list(chat)
        await chat.presses("down")
        await chooses(chat, "archive it", ARCHIVE)
        await chat.shows("archived: “about ladders”")
        assert on_shelf(chat, "archived") == ["about ladders"]
        await chooses(chat, "latest change made", "Sessions · undo the latest change made here")
        await chat.shows("undone: archived: “about ladders”")
        assert on_shelf(chat, "archived") == []
        await chooses(chat, "rename", "Sessions · change its title")
        await chat.until(lambda: isinstance(chat.app.focused, Input))
        await chat.types("x")
        delete = rows(chat)[DELETE]
        delete.callback()
        await chat.shows("a title is being typed")
        await back_to_the_prompt(chat)
        delete.callback()  # of a screen that gave way
        await chat.pilot.pause()
        assert on_shelf(chat, "deleted") == []


async def finds(chat: ChatOnScreen, words: str) -> list[str]:
    """The names of the rows that words find, in their order."""
    provider = InOrder(chat.screen)
    return [hit.text or "" for hit in await best_first(provider, words)]


async def best_first(provider: InOrder, words: str) -> list[Hit | DiscoveryHit]:
    hits = [hit async for hit in provider.search(words)]
    return sorted(hits, key=lambda hit: hit.score, reverse=True)  # as the palette orders them


async def test_the_chat_tells_what_reading_does_with_the_last_answer(tmp_path: Path) -> None:
    async with on_screen(tmp_path, replies=[[CODE]]) as chat:
        await chat.asks("one")
        listed = rows(chat)
        assert listed["Reading · copy its next block of code"].help == "c · /copy code"
        assert listed["Reading · what was learned from this turn"].help == "m · /learned"
        assert listed["Reading · the branch before"].help == r"\[ · /branch"
        assert not {"Reading · next message", "Reading · why this answer"} & listed.keys()
        await chooses(chat, "block of code", "Reading · copy its next block of code")
        await chat.until(lambda: chat.app.clipboard == "code one")
        await chooses(chat, "learned from this", "Reading · what was learned from this turn")
        await chat.until(lambda: isinstance(chat.screen, PageScreen))
        await chat.shows("Learned from turn 1")


async def test_while_reading_a_row_acts_on_the_message_that_is_read(tmp_path: Path) -> None:
    async with on_screen(tmp_path, replies=[["First."], ["Second."]]) as chat:
        await chat.asks("one")
        await chat.asks("two")
        await chat.reads()
        await chat.presses("k", "k")
        await chat.until(lambda: chat.app.chat.conversation.current is chat.app.chat.conversation.messages[1])
        first = [key for key in READING if _is_listed(key)]
        assert list(rows(chat))[: len(first)] == [f"Reading · {key.words}" for key in first]
        await chooses(chat, "copy the message", "Reading · copy the message")
        await chat.until(lambda: chat.app.clipboard == "First.")
        await chooses(chat, "fold or unfold", "Reading · fold or unfold")
        await chat.shows("folded")


def words_of(name: str) -> str:
    return next(key.words for keys in PLACES.values() for key in keys if key.id == name)


async def test_sessions_and_documents_are_found_below_the_commands(tmp_path: Path) -> None:
    async with on_screen(tmp_path, replies=REPLIES) as chat:
        await three_sessions(chat)
        stores = chat.app.chat.desk._known_assistant.stores
        stores.sessions.rename(stores.journal.user_id("ann"), 1, "archive [bold]lockers[/bold]")
        await chooses(chat, "archive", "/archive")
        await chooses(chat, "[bold]lockers", "archive [bold]lockers[/bold]")
        await chat.until(lambda: chat.app.chat.talk.session_id == 1)
        await keys_to(SessionsScreen, "f5")(chat)
        await chooses(chat, "rules.md", "rules.md")
        await chat.until(lambda: chat.prompt == "@rules.md ")

"""The keys that hold everywhere: from each screen to each other one, and nothing typed is lost."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from memory_on_screen import opened, remembered
from pressed_keys import Act, back_to_the_prompt
from round_rows import keep, of, promoted
from screen_fixtures import ANSWER, QUESTION, ChatOnScreen, on_screen
from test_terminal_compare import ALIKE, ASKED, ASKED_AGAIN, playing
from test_terminal_contrast import faint_words
from test_terminal_log import SOME, write
from textual.screen import ModalScreen, Screen
from textual.widgets import Input, TextArea

from assistant.terminal.comparison.comparison_process import ComparisonChild
from assistant.terminal.lists.documents_screen import DocumentsScreen
from assistant.terminal.lists.find_screen import FindScreen
from assistant.terminal.lists.log_screen import LogScreen
from assistant.terminal.lists.sessions_screen import SessionsScreen
from assistant.terminal.memory.memory_screen import MemoryScreen
from assistant.terminal.memory.privacy_screen import PrivacyScreen
from assistant.terminal.training.compare_screen import CompareScreen
from assistant.terminal.training.training_screen import TrainingScreen
from assistant.terminal.why.why_view import WhyScreen
from assistant.terminal.widgets.page_screen import PageScreen

DRAFT = "half a thought"
NOTHING = "F6 does nothing here · F1 lists keys"
LEADS: dict[str, type[Screen[Any]]] = {
    "f2": WhyScreen,
    "f3": MemoryScreen,
    "f4": TrainingScreen,
    "f5": SessionsScreen,
    "f8": LogScreen,
    "ctrl+f": FindScreen,
}


def keys_to(kind: type[Screen[Any]], *keys: str) -> Act:
    """These keys, and the screen that they open."""

    async def go(chat: ChatOnScreen) -> None:
        await chat.presses(*keys)
        await chat.until(lambda: isinstance(chat.screen, kind), lambda: f"{keys} opens no {kind}")

    return go


def in_turn(*acts: Act) -> Act:
    async def go(chat: ChatOnScreen) -> None:
        for act in acts:
            await act(chat)

    return go


async def memory(chat: ChatOnScreen) -> None:
    await opened(chat)


def typing(*keys: str) -> Act:
    """Words in a field of the screen."""

    async def types(chat: ChatOnScreen) -> None:
        await chat.presses(*keys)
        await chat.until(lambda: isinstance(chat.app.focused, Input))
        await chat.types("la")

    return types


async def round_page(chat: ChatOnScreen) -> None:
    await keys_to(TrainingScreen, "f4")(chat)
    await chat.shows("> 12 ")
    await keys_to(PageScreen, "enter")(chat)


async def log_line(chat: ChatOnScreen) -> None:
    await keys_to(LogScreen, "f8")(chat)
    await chat.shows("indexer waits")
    await keys_to(PageScreen, "enter")(chat)


async def compare(chat: ChatOnScreen) -> None:
    await keys_to(WhyScreen, "f2")(chat)
    await keys_to(CompareScreen, "c")(chat)
    await chat.shows("names hidden")


@dataclass(frozen=True)
class Place:
    """A screen, how it is come to, and what its help tells first."""

    opens: Act
    help: str
    own: str = ""  # the key that opens this very screen, and closes it


PLACES = {
    "why": Place(keys_to(WhyScreen, "f2"), "Why this answer", "f2"),
    "passage": Place(
        in_turn(keys_to(WhyScreen, "f2"), keys_to(PageScreen, "enter")), "Why this answer"
    ),
    "memory": Place(memory, "Memory", "f3"),
    "memory filter": Place(in_turn(memory, typing("slash")), "Memory", "f3"),
    "memory page": Place(in_turn(memory, keys_to(PageScreen, "enter")), "Memory"),
    "privacy": Place(in_turn(memory, keys_to(PrivacyScreen, "p")), "Privacy"),
    "training": Place(keys_to(TrainingScreen, "f4"), "Training", "f4"),
    "round": Place(round_page, "Training"),
    "compare": Place(compare, "Before and after"),
    "sessions": Place(keys_to(SessionsScreen, "f5"), "Sessions", "f5"),
    "sessions filter": Place(in_turn(keys_to(SessionsScreen, "f5"), typing("slash")), "Sessions", "f5"),
    "documents": Place(keys_to(DocumentsScreen, "f9"), "Documents", "f9"),
    "log": Place(keys_to(LogScreen, "f8"), "Log", "f8"),
    "log filter": Place(in_turn(keys_to(LogScreen, "f8"), typing("slash")), "Log", "f8"),
    "log line": Place(log_line, "Log"),
    "find": Place(in_turn(keys_to(FindScreen, "ctrl+f"), typing()), "Find", "ctrl+f"),
    "help": Place(keys_to(PageScreen, "f1"), ""),
}  # fmt: skip


@pytest.fixture(autouse=True)
def no_children(monkeypatch: pytest.MonkeyPatch) -> None:
    """A comparison tells at once what another process would."""

    def compared(*_: Any, **__: Any) -> ComparisonChild:
        return playing(ASKED, ASKED_AGAIN, ALIKE)

    monkeypatch.setattr(ComparisonChild, "of", staticmethod(compared))


async def with_everything(chat: ChatOnScreen) -> None:
    """An answer, a second model, memories, a log, and a draft."""
    await chat.asks(QUESTION)
    await chat.asks("Is there a locker?")
    keep(of(chat), promoted(12))
    await remembered(chat, "I like tea.", "I like quiet rooms.")
    write(chat.place.state, *SOME)
    chat.app.chat.prompt.put(DRAFT)


def kinds(chat: ChatOnScreen) -> list[str]:
    return [type(screen).__name__ for screen in chat.app.screen_stack]


async def leaves_to(chat: ChatOnScreen, kind: type[Screen[Any]]) -> None:
    """That screen is the only one above the chat; Esc leads back to the chat, and the draft stands there."""
    await chat.until(
        lambda: isinstance(chat.screen, kind) and len(chat.app.screen_stack) == 2,
        lambda: f"wanted {kind.__name__} alone, there is {kinds(chat)}\n{chat.text}",
    )
    await back_home(chat)


async def back_home(chat: ChatOnScreen) -> None:
    main = chat.app.chat
    for _ in range(6):
        if chat.screen is main:
            break
        await chat.presses("escape")
        await chat.pilot.pause(0.02)
    await chat.until(lambda: chat.screen is main and main.prompt.has_focus)
    assert chat.prompt == DRAFT


async def test_each_key_that_holds_everywhere_works_on_each_screen(tmp_path: Path) -> None:
    """All of them where words are typed, and elsewhere two in turn and the one that a field would take."""
    async with on_screen(tmp_path, replies=[[ANSWER], ["No."]]) as chat:
        await with_everything(chat)
        main, session = chat.app.chat, chat.app.chat.talk.session_id
        turns = itertools.cycle(LEADS)
        for name, place in PLACES.items():
            is_typed = "filter" in name or name == "find"
            keys = (
                LEADS if is_typed else {next(turns), next(turns), "ctrl+f", place.own} - {""} & LEADS.keys()
            )
            for key in keys:
                await place.opens(chat)
                await chat.presses(key)
                if key != place.own:
                    await leaves_to(chat, LEADS[key])
                    continue
                if chat.screen is not main:
                    await chat.presses(key)  # out of the field first, where the same key is Esc
                await chat.until(lambda: chat.screen is main)
            await place.opens(chat)
            await chat.presses("ctrl+n")
            await chat.until(lambda: chat.screen is main and main.talk.session_id != session)
            main.switch_session(session)
            await chat.until(lambda: main.talk.session_id == session and chat.prompt == DRAFT)


async def test_f1_tells_the_keys_of_each_screen_and_f6_that_it_does_nothing_there(tmp_path: Path) -> None:
    async with on_screen(tmp_path, replies=[[ANSWER], ["No."]]) as chat:
        await with_everything(chat)
        for name, place in PLACES.items():
            await place.opens(chat)
            before, focused = list(chat.app.screen_stack), chat.app.focused
            assert "does nothing" not in chat.text, name
            if name in TELL_OF_UNKNOWN_KEYS:
                await chat.presses("f6", "f6")
                await chat.shows(NOTHING)
                assert chat.text.count(NOTHING) == 1, name
            await chat.presses("f1")
            if not place.help:  # help is open already: the same key closes it
                await chat.until(lambda: chat.screen is chat.app.chat)
                continue
            await chat.shows("─ Help ─")
            page = str(chat.screen.query_one("#page").render())
            assert page.startswith(f"{place.help}\n"), name
            await chat.presses("escape")
            await chat.until(lambda before=before: list(chat.app.screen_stack) == before)  # type: ignore[misc]
            assert chat.app.focused is focused, name
            await back_home(chat)


async def test_what_is_typed_on_a_screen_is_not_left_behind_and_the_later_of_two_keys_counts(
    tmp_path: Path,
) -> None:
    async with on_screen(tmp_path, replies=[[ANSWER]]) as chat:
        await chat.asks(QUESTION)
        for pressed, kind in ((("f4", "f3"), MemoryScreen), (("f2", "f8"), LogScreen)):
            await chat.presses(*pressed)
            await chat.until(lambda kind=kind: isinstance(chat.screen, kind))  # type: ignore[misc]
            await chat.pilot.pause(0.2)
            assert [type(screen) for screen in chat.app.screen_stack[1:]] == [kind]
            await back_to_the_prompt(chat)
        await keys_to(PageScreen, "escape", "1")(chat)
        await keys_to(WhyScreen, "f2")(chat)
        assert kinds(chat) == ["ChatScreen", "WhyScreen"]  # the source gave way
        await keys_to(FindScreen, "ctrl+f")(chat)
        await chat.types("reading ro")
        await keys_to(MemoryScreen, "f3")(chat)
        await keys_to(FindScreen, "ctrl+f")(chat)
        assert chat.screen.query_one(Input).value == "reading ro"
        await chat.shows("with reading ro")
        await chat.types("x")  # in place of it, as it is marked
        assert chat.screen.query_one(Input).value == "x"
        await keys_to(SessionsScreen, "f5")(chat)
        await chat.shows("open 1")
        await chat.presses("e")
        await chat.presses("f3")  # nothing was typed yet
        await chat.until(lambda: isinstance(chat.screen, MemoryScreen))
        await keys_to(SessionsScreen, "f5")(chat)
        await chat.shows("open 1")
        await chat.presses("e")
        await chat.types("!!")
        await chat.presses("f3")
        await chat.shows("a title is being typed: Enter keeps it, Esc leaves it as it was")
        assert isinstance(chat.screen, SessionsScreen)
        assert chat.screen.query_one(Input).value.endswith("!!")
        await chat.presses("enter")
        await chat.shows("renamed: “")
        session = chat.app.chat.talk.session_id
        await chat.presses("x")
        await chat.shows("deleted: “")
        await keys_to(MemoryScreen, "f3")(chat)  # any key leaves a session that was deleted
        await chat.until(lambda: chat.app.chat.talk.session_id != session)


TELL_OF_UNKNOWN_KEYS = ("why", "memory", "privacy", "training", "sessions", "log", "find")
MODALS = {
    "edit": in_turn(memory, keys_to(ModalScreen, "e")),
    "question": in_turn(memory, keys_to(ModalScreen, "x")),
    "line": in_turn(memory, keys_to(ModalScreen, "o")),
    "earlier prompts": keys_to(ModalScreen, "ctrl+r"),
}


async def test_what_waits_for_an_answer_comes_first(tmp_path: Path) -> None:
    async with on_screen(tmp_path, replies=[[ANSWER], ["No."]]) as chat:
        await with_everything(chat)
        for name, opens in MODALS.items():
            chat.app.clear_notifications()
            await opens(chat)
            before = list(chat.app.screen_stack)
            await chat.presses("f1")
            await chat.until(lambda: len(chat.app._notifications) == 1, lambda: "nothing was told")
            for key in (*LEADS, "ctrl+n"):
                await chat.presses(key)
            await chat.pilot.pause(0.1)
            assert list(chat.app.screen_stack) == before, name
            assert len(chat.app._notifications) == 1, name  # which is told once, and not seven times
            await back_home(chat)


async def test_what_was_typed_over_a_memory_comes_back_after_another_screen(tmp_path: Path) -> None:
    async with on_screen(tmp_path) as chat:
        await remembered(chat, "I like tea.")
        await memory(chat)
        await keys_to(ModalScreen, "e")(chat)
        await chat.types(" Greenish")
        await chat.presses("escape")
        await chat.shows("e brings back what you typed")
        await keys_to(TrainingScreen, "f4")(chat)
        await memory(chat)
        await keys_to(ModalScreen, "e")(chat)
        assert chat.screen.query_one(TextArea).text == "I like tea. Greenish"


async def test_why_beside_the_conversation_opens_from_another_screen_and_stays(tmp_path: Path) -> None:
    async with on_screen(tmp_path, replies=[[ANSWER]], size=(120, 40)) as chat:
        await chat.asks(QUESTION)
        panel = chat.app.chat.query_one("#why")
        for _ in range(2):
            await memory(chat)
            await chat.presses("f2")
            await chat.until(lambda: chat.screen is chat.app.chat and panel.has_class("-open"))
            await chat.shows("Why this answer")
        await chat.presses("f2")
        await chat.until(lambda: not panel.has_class("-open"))


async def test_a_key_that_settings_moved_leads_from_every_screen_and_closes_its_own(tmp_path: Path) -> None:
    async with on_screen(tmp_path, keys={"memory": "f9", "training": "f7"}) as chat:
        await opened(chat, key="f9")
        await keys_to(TrainingScreen, "f7")(chat)
        await chat.presses("f7")
        await chat.until(lambda: chat.screen is chat.app.chat)
        await opened(chat, key="f9")
        await chat.presses("f9")
        await chat.until(lambda: chat.screen is chat.app.chat)


async def test_the_palette_leads_from_a_screen_as_the_keys_do(tmp_path: Path) -> None:
    async with on_screen(tmp_path, replies=[[ANSWER]]) as chat:
        await chat.asks(QUESTION)
        for words, claim in (
            ("memory: what is", MemoryScreen),
            ("training F4", TrainingScreen),
            ("/remember", None),
        ):
            await keys_to(LogScreen, "f8")(chat)
            await chat.opens(ModalScreen, "ctrl+p")
            chat.screen.query_one(Input).value = words.partition(" F4")[0]
            await chat.pilot.pause(0.5)
            await chat.presses("enter")
            if claim is None:
                await chat.until(lambda: chat.screen is chat.app.chat and chat.prompt == "/remember ")
            else:
                await chat.until(
                    lambda claim=claim: [type(s) for s in chat.app.screen_stack[1:]] == [claim],  # type: ignore[misc]
                    lambda: f"{kinds(chat)}\n{chat.text}",
                )
                await back_to_the_prompt(chat)


RICH = (
    "# Heading\n\nIt **opens** at *10:00* [1], not [9], says `July` and [a page](https://example.org).\n\n"
    "> quoted\n\n```python\ndef opens(day):  # a comment\n    return f'at {10}'\n```\n\n"
    "| day | hour |\n|---|---|\n| Saturday | 10 |"
)


@pytest.mark.parametrize("theme", ["textual-dark", "textual-light"])
async def test_every_word_of_an_answer_can_be_read_and_in_light_of_every_screen(
    tmp_path: Path, theme: str
) -> None:
    async with on_screen(tmp_path, replies=[[RICH], ["No."]], theme=theme, size=(80, 40)) as chat:
        await with_everything(chat)
        await chat.shows("Saturday")
        assert set(faint_words(chat)) == set()
        for name, place in PLACES.items() if theme == "textual-light" else ():
            await place.opens(chat)
            await chat.pilot.pause(0.1)
            assert set(faint_words(chat)) == set(), name
            await back_home(chat)


async def test_every_screen_opens_and_is_left_where_there_is_hardly_any_room(tmp_path: Path) -> None:
    async with on_screen(tmp_path, replies=[[ANSWER], ["No."]]) as chat:
        await with_everything(chat)
        await chat.pilot.resize_terminal(40, 12)
        for name, place in PLACES.items():
            await place.opens(chat)
            assert all(len(row) <= 40 for row in chat.text.splitlines()), name
            await back_home(chat)
            assert chat.app.chat.prompt.region.height

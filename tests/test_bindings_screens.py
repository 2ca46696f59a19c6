"""Each key of the other screens reaches its action, and none was added without being tried here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import test_bindings_chat
from memory_on_screen import opened, remembered, weighs_without_a_model
from pressed_keys import Act, Row, back_to_the_prompt, before, nothing, press_each
from round_rows import NAMES, keep, led_by_fake, of, promoted, running
from screen_fixtures import ANSWER, QUESTION, ChatOnScreen, on_screen
from test_terminal_compare import ALIKE, ASKED, ASKED_AGAIN, playing
from test_terminal_log import SOME, line, write
from textual.widgets import Input, OptionList

from assistant.terminal.comparison.comparison_process import ComparisonChild
from assistant.terminal.facts.comparison import BETTER, WORSE
from assistant.terminal.input.keys import PLACES
from assistant.terminal.lists.find_screen import FindScreen
from assistant.terminal.lists.log_screen import LogScreen
from assistant.terminal.memory.memory_questions import AskLine, EditText
from assistant.terminal.memory.memory_screen import MemoryScreen
from assistant.terminal.memory.privacy_screen import PrivacyScreen
from assistant.terminal.training.compare_screen import CompareScreen
from assistant.terminal.training.training_screen import TrainingScreen
from assistant.terminal.why.why_view import WhyScreen
from assistant.terminal.widgets.page_screen import PageScreen
from assistant.terminal.widgets.questions import Question


@dataclass(frozen=True)
class Place:
    """A screen, its rows, and how it is come to."""

    rows: Mapping[str, Row]
    opens: Act
    prepares: Act = nothing


def in_the_chat(chat: ChatOnScreen) -> bool:
    return chat.screen is chat.app.chat


def marked(chat: ChatOnScreen) -> int | None:
    return chat.screen.query_one(OptionList).highlighted


def types_into(placeholder: str) -> Any:
    def claim(chat: ChatOnScreen) -> bool:
        field = chat.app.focused
        return isinstance(field, Input) and field.placeholder.startswith(placeholder)

    return claim


async def asked(chat: ChatOnScreen) -> None:
    await chat.asks(QUESTION)


# Why this answer --------------------------------------------------------------------------------


async def asked_with_two_models(chat: ChatOnScreen) -> None:
    await asked(chat)
    keep(of(chat), promoted(12))


async def why(chat: ChatOnScreen) -> None:
    await chat.opens(WhyScreen, "f2")


def rated(key: str, mark: str) -> Act:
    """The passage says the other thing."""

    async def rates(chat: ChatOnScreen) -> None:
        await chat.presses(key)
        await chat.shows(f"[1] {mark}shared")

    return rates


WHY = {
    "why_open": Row(then=PageScreen),
    "why_helped": Row(rated("minus", "-"), "[1] +shared"),
    "why_not_helped": Row(rated("plus", "+"), "[1] -shared"),
    "why_remove": Row(then="Propose to remove, for every user"),
    "why_undo": Row(then="nothing was removed here"),
    "why_compare": Row(then=CompareScreen),
    "why_back": Row(then=in_the_chat),
}

# Find -------------------------------------------------------------------------------------------


async def many_ladders(chat: ChatOnScreen) -> None:
    journal = of(chat).stores.journal
    session = journal.open_session(1)
    for number in range(15):
        journal.accept(1, session, f"ladder {number}", parts=[])


async def find(chat: ChatOnScreen) -> None:
    await chat.opens(FindScreen, "ctrl+f")
    if not chat.screen.query_one(Input).value:
        await chat.types("ladder")
    await chat.shows("Find · 15 with ladder")
    await chat.until(lambda: marked(chat) == 1)


FIND = {
    "find_next": Row(then=lambda chat: marked(chat) == 2),
    "find_previous": Row(before("down"), lambda chat: marked(chat) == 1),
    "find_page_down": Row(then=lambda chat: marked(chat) == 11),
    "find_page_up": Row(before("pagedown"), lambda chat: marked(chat) == 1),
    "find_list": Row(then=lambda chat: isinstance(chat.screen.focused, OptionList)),
    "find_list_next": Row(before("tab"), lambda chat: marked(chat) == 2),
    "find_list_previous": Row(before("tab", "down"), lambda chat: marked(chat) == 1),
    "find_words": Row(before("tab"), lambda chat: isinstance(chat.screen.focused, Input)),
    "find_back": Row(then=in_the_chat),
}

# Sessions ---------------------------------------------------------------------------------------


async def two_sessions(chat: ChatOnScreen) -> None:
    await chat.asks("about ladders")
    await chat.begins_session()
    await chat.asks("about lamps")


async def sessions(chat: ChatOnScreen) -> None:
    await chat.presses("f5")
    await chat.shows("[open 2]")
    await chat.until(lambda: marked(chat) == 0)


async def one_archived(chat: ChatOnScreen) -> None:
    await chat.presses("down", "z")
    await chat.shows("archived: “about ladders”")


async def undone(chat: ChatOnScreen) -> None:
    await chat.presses("u")
    await chat.shows("[open 2]")


SESSIONS = {
    "sessions_open": Row(
        before("down"), lambda chat: in_the_chat(chat) and chat.app.chat.talk.session_id == 1
    ),
    "sessions_filter": Row(then=types_into("Words of a title")),
    "sessions_scope": Row(then="[archived 0]"),
    "sessions_scope_before": Row(then="[deleted 0]"),
    "sessions_rename": Row(then=types_into("Its title")),
    "sessions_archive": Row(before("down"), "archived: “", after=undone),
    "sessions_delete": Row(before("down"), "deleted: “", after=undone),
    "sessions_undo": Row(one_archived, "undone: archived"),
    "sessions_new": Row(then=lambda chat: in_the_chat(chat) and "New session" in chat.text),
    "sessions_down": Row(then=lambda chat: marked(chat) == 1),
    "sessions_up": Row(before("down"), lambda chat: marked(chat) == 0),
    "sessions_back": Row(then=in_the_chat),
}

# Documents --------------------------------------------------------------------------------------


async def two_documents(chat: ChatOnScreen) -> None:
    (chat.place.data / "tea.md").write_text("Tea steeps for two minutes.")
    await chat.sends(f"/ingest {chat.place.data / 'tea.md'}")
    await chat.shows("tea.md: 1 passage, 1 new")
    (chat.place.data / "tea.md").write_text("Tea steeps for three minutes.")


async def documents(chat: ChatOnScreen) -> None:
    await chat.presses("f9")
    await chat.shows("Documents · 2")
    await chat.until(lambda: marked(chat) == 0)


async def is_back(chat: ChatOnScreen) -> None:
    await chat.presses("u")
    await chat.shows("Documents · 2")


async def one_removed(chat: ChatOnScreen) -> None:
    await chat.presses("x")
    await chat.shows("Documents · 1")


DOCUMENTS = {
    "documents_open": Row(then=PageScreen),
    "documents_ask": Row(then=lambda chat: in_the_chat(chat) and chat.prompt == "@tea.md "),
    "documents_filter": Row(then=types_into("Words of a name")),
    "documents_move": Row(then=types_into("Name of the collection"), after=is_back),
    "documents_refresh": Row(then="read again: tea.md", after=is_back),
    "documents_remove": Row(then="Documents · 1", after=is_back),
    "documents_undo": Row(one_removed, "Documents · 2"),
    "documents_down": Row(then=lambda chat: marked(chat) == 1),
    "documents_up": Row(before("down"), lambda chat: marked(chat) == 0),
    "documents_back": Row(then=in_the_chat),
}

# Memory -----------------------------------------------------------------------------------------


async def memories(chat: ChatOnScreen) -> None:
    weighs_without_a_model(chat)
    await remembered(chat, "I like tea.", "I like quiet rooms.", "I live in Oslo.", "I read German.")


async def memory(chat: ChatOnScreen) -> None:
    await opened(chat)


def scope_is(name: str) -> Any:
    return lambda chat: chat.screen.wanted.scope == name


async def decides(chat: ChatOnScreen) -> None:
    """There is a proposal, as far as the keys can tell."""
    screen: Any = chat.screen
    screen.action_decide = lambda accepts: screen.tell("accepted" if accepts else "put away")


MEMORY = {
    "memory_open": Row(then=PageScreen),
    "memory_down": Row(then=lambda chat: marked(chat) == 1),
    "memory_up": Row(before("down"), lambda chat: marked(chat) == 0),
    "memory_scope": Row(then=scope_is("shared")),
    "memory_scope_before": Row(then=scope_is("all")),
    "memory_filter": Row(then=types_into("Words that all stand in the text")),
    "memory_kinds": Row(then="messages and documents are listed too"),
    "memory_edit": Row(then=EditText),
    "memory_forget": Row(then=Question),
    "memory_both": Row(then="takes the place of nothing"),
    "memory_undo": Row(before("down"), "Undone: added “I live in Oslo.”"),
    "memory_undo_latest": Row(before("down"), "Undone: added “I read German.”"),
    "memory_share": Row(then="it is proposal 1 now, and stays yours"),
    "memory_retry": Row(then="nothing waits after a failure"),
    "memory_accept": Row(decides, "accepted"),
    "memory_discard": Row(decides, "put away"),
    "memory_export": Row(then=AskLine),
    "memory_privacy": Row(then=PrivacyScreen),
    "memory_help": Row(then=PageScreen),
    "memory_back": Row(then=in_the_chat),
    "memory_leave": Row(then=in_the_chat),
}


async def privacy(chat: ChatOnScreen) -> None:
    await opened(chat)
    await chat.opens(PrivacyScreen, "p")


PRIVACY = {
    "privacy_forget": Row(then=AskLine),
    "privacy_back": Row(then=MemoryScreen),
}

# Training ---------------------------------------------------------------------------------------


async def one_round_runs(chat: ChatOnScreen) -> None:
    await asked(chat)
    keep(of(chat), promoted(1, NAMES[0]), promoted(2, NAMES[1]), running())
    of(chat).learning.__dict__["background_learner"].is_leading = True


async def training(chat: ChatOnScreen) -> None:
    await chat.opens(TrainingScreen, "f4")
    await chat.shows("step 210 of 400")


TRAINING = {
    "training_start": Row(then=Question),
    "training_pause": Row(then="Space go on", after=before("space")),
    "training_details": Row(then=PageScreen),
    "training_compare": Row(before("down"), CompareScreen),
    "training_step_back": Row(then="Vouch uses the model of round 1 again"),
    "training_help": Row(then=PageScreen),
    "training_back": Row(then=in_the_chat),
}

# Before and after -------------------------------------------------------------------------------


async def two_answers(chat: ChatOnScreen) -> None:
    await asked(chat)
    await chat.asks("Is there a locker?")
    keep(of(chat), promoted(12))


async def compare(chat: ChatOnScreen) -> None:
    await chat.sends("/compare")
    await chat.shows("1 of 2 answers that changed")
    await chat.shows("It is closed.")


def better(side: str) -> Any:
    """That side was chosen for the first pair, wherever the live model's answer stands."""

    def claim(chat: ChatOnScreen) -> bool:
        screen = chat.screen
        if not isinstance(screen, CompareScreen):
            return False
        is_other = (side == "right") != screen._is_exchanged(0)
        return screen._choices.get(0) == (BETTER if is_other else WORSE)

    return claim


COMPARE = {
    "compare_left": Row(then=better("left")),
    "compare_right": Row(then=better("right")),
    "compare_equal": Row(then="Neither is better"),
    "compare_next": Row(then="2 of 2 answers"),
    "compare_previous": Row(then="2 of 2 answers"),
    "compare_worse": Row(then="1 of 1 answers that are worse"),
    "compare_names": Row(then="─ live 12"),
    "compare_help": Row(then=PageScreen),
    "compare_back": Row(then=in_the_chat),
}

# Log --------------------------------------------------------------------------------------------


async def logged(chat: ChatOnScreen) -> None:
    write(chat.place.state, *SOME, *(line(f"event {n}", second=10 + n) for n in range(5)))


async def log(chat: ChatOnScreen) -> None:
    await chat.opens(LogScreen, "f8")
    await chat.shows("event 4")


async def not_following(chat: ChatOnScreen) -> None:
    await chat.presses("up", "up")
    await chat.shows("not following")


LOG = {
    "log_filter": Row(then=types_into("Words of a line")),
    "log_level": Row(then="· warnings"),
    "log_follow": Row(not_following, lambda chat: "not following" not in chat.text),
    "log_open": Row(then=PageScreen),
    "log_help": Row(then=PageScreen),
    "log_back": Row(then=in_the_chat),
}

SCREENS = {
    "Why this answer": Place(WHY, why, asked_with_two_models),
    "Find": Place(FIND, find, many_ladders),
    "Sessions": Place(SESSIONS, sessions, two_sessions),
    "Documents": Place(DOCUMENTS, documents, two_documents),
    "Memory": Place(MEMORY, memory, memories),
    "Privacy": Place(PRIVACY, privacy, memories),
    "Training": Place(TRAINING, training, one_round_runs),
    "Before and after": Place(COMPARE, compare, two_answers),
    "Log": Place(LOG, log, logged),
}


@pytest.fixture
def no_children(monkeypatch: pytest.MonkeyPatch) -> None:
    """A comparison tells at once what another process would."""

    def compared(*_: Any, **__: Any) -> ComparisonChild:
        return playing(ASKED, ASKED_AGAIN, ALIKE)

    monkeypatch.setattr(ComparisonChild, "of", staticmethod(compared))


@pytest.mark.usefixtures("no_children")
@pytest.mark.parametrize("name", SCREENS)
async def test_each_key_of_a_screen_works(tmp_path: Path, name: str) -> None:
    place = SCREENS[name]
    async with on_screen(tmp_path, replies=[[ANSWER], ["No."]], learns=name == "Memory") as chat:
        with led_by_fake(chat):
            await place.prepares(chat)
            await press_each(chat, PLACES[name], place.rows, opens=place.opens, leaves=back_to_the_prompt)


def test_every_place_and_every_key_is_tried() -> None:
    of_the_chat = {"In the prompt", "Everywhere", "After the key that rates", "Reading"}
    assert set(PLACES) == of_the_chat | set(SCREENS)
    for name, place in SCREENS.items():
        assert set(place.rows) == {key.id for key in PLACES[name]}, name
    tried = [test_bindings_chat.IN_THE_PROMPT, test_bindings_chat.EVERYWHERE]
    tried += [test_bindings_chat.AFTER_RATE, test_bindings_chat.WHILE_READING]
    keys = {key.id for name in of_the_chat for key in PLACES[name]}
    assert {name for rows in tried for name in rows} == keys

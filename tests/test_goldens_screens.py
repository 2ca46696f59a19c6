"""The scenes of every screen beside their golden ones; scenes that are prepared alike share one opening."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from golden_screens import GOLDENS, Act, Scene, at_noon, check_scene, read_golden
from memory_on_screen import opened, remembered, settled, stored
from pressed_keys import before, nothing
from round_rows import FakeLearner, keep, of, promoted, refused, running
from screen_fixtures import ANSWER, HOLD, QUESTION, ChatOnScreen
from test_terminal_compare import ALIKE, ASKED, ASKED_AGAIN, playing
from test_terminal_everywhere import in_turn, keys_to
from test_terminal_log import SOME, write
from textual.command import CommandPalette
from textual.widgets import Input

from assistant.terminal.comparison.comparison_process import ComparisonChild
from assistant.terminal.conversation.notice_line import Notice
from assistant.terminal.lists.find_screen import FindScreen
from assistant.terminal.lists.sessions_screen import SessionsScreen
from assistant.terminal.memory.memory_questions import AskLine, EditText
from assistant.terminal.memory.privacy_screen import PrivacyScreen
from assistant.terminal.training.training_screen import TrainingScreen
from assistant.terminal.widgets.questions import PastPrompts, Question
from assistant.wiring.assistant import Assistant
from stores.base.clock import now
from stores.claims.claims import NewClaim
from stores.database.tables import StatedClaim

# The chat ---------------------------------------------------------------------------------------

LIST = "It opens at 10:00 on Saturdays [1], and:\n\n- **never** on holidays;\n- at nine [7] in `July`."
WRITTEN = ["On public holidays the reading room is closed [1], except", HOLD]


async def asked(chat: ChatOnScreen) -> None:
    await chat.asks(QUESTION)


async def writing(chat: ChatOnScreen) -> None:
    await chat.asks(QUESTION)
    await chat.sends("And on public holidays?")
    await chat.shows("except")
    chat.app.chat.notices.put(Notice("Learned, shared, as 9: “Closed on public holidays”.", 4, 2))


async def queued(chat: ChatOnScreen) -> None:
    await chat.sends("And on public holidays?")
    await chat.shows("except")
    await chat.sends("And at night?")


async def private(chat: ChatOnScreen) -> None:
    await chat.sends("/private")
    await chat.shows("Private")
    await chat.until(lambda: chat.app.chat.talk.is_idle)


async def sessions(chat: ChatOnScreen) -> None:
    await keys_to(SessionsScreen, "f5")(chat)
    await chat.shows("[open ")


async def remembers(chat: ChatOnScreen) -> None:
    await chat.asks("/remember I like tea.")


async def asks_before_forgetting(chat: ChatOnScreen) -> None:
    await chat.sends("/forget 2")
    await chat.until(lambda: isinstance(chat.screen, Question))


# Lists ------------------------------------------------------------------------------------------


async def two_sessions(chat: ChatOnScreen) -> None:
    await chat.asks("Where is the ladder that reaches the lamps of the reading room?")
    await chat.asks("And the long ladder?")
    await chat.begins_session()
    await chat.asks("What became of the ladder?")


async def sessions_filter(chat: ChatOnScreen) -> None:
    await sessions(chat)
    await chat.presses("slash")
    await chat.types("lamps")
    await chat.shows("Sessions · 1")


async def one_deleted(chat: ChatOnScreen) -> None:
    await two_sessions(chat)
    await sessions(chat)
    await chat.presses("down", "x")
    await chat.shows("deleted")
    await chat.goes_back()


async def deleted(chat: ChatOnScreen) -> None:
    await sessions(chat)
    await chat.shows("[open 1]")
    await chat.presses("shift+tab")
    await chat.shows("[deleted 1]")


async def find(chat: ChatOnScreen) -> None:
    await chat.opens(FindScreen, "ctrl+f")
    await chat.types("ladder")
    await chat.shows("with ladder")


async def logged(chat: ChatOnScreen) -> None:
    write(chat.place.state, *SOME)


# Memory -----------------------------------------------------------------------------------------


async def some_memories(chat: ChatOnScreen) -> None:
    """A preference, a fact from a turn with its claim, a correction that waits, one that is gone."""
    await chat.asks(QUESTION)
    await chat.asks("I can read German and French, no need to translate those.")
    await remembered(chat, "Keep answers short", kind="preference")
    await stored(chat, _fact)
    await stored(chat, _correction)
    [gone] = await remembered(chat, "Metric units", kind="preference")
    await stored(chat, lambda assistant, user: assistant.stores.knowledge.set_aside(user, [gone]))


def _fact(assistant: Assistant, user: int) -> None:
    number, receipt = assistant.stores.knowledge.remember(
        user, "Reads German and French", kind="fact", turn_id=2
    )
    with assistant.stores.database.writing() as sql:
        sql.add(
            StatedClaim(
                user_id=user,
                turn_id=2,
                origin="turn",
                number=1,
                text="Reads German and French",
                text_key="read german french",
                quote="I can read German and French",
                kind="fact",
                about="user",
                state="stored",
                status="unknown",
                confidence=1.0,
                scope="yours",
                passage_id=number,
                receipt_id=receipt,
                created_at=now(),
            )
        )


def _correction(assistant: Assistant, user: int) -> None:
    text = "Saturday hours are 10 to 16, not 9 to 16"
    number, _ = assistant.stores.knowledge.remember(user, text, kind="correction", turn_id=1)
    claim = NewClaim(text=text, quote=text, kind="fact", about="world")
    assistant.stores.claims.put_one(user, claim, origin="taught", turn_id=1, passage_id=number)


async def opens_memory(chat: ChatOnScreen) -> None:
    await opened(chat)


async def second_marked(chat: ChatOnScreen) -> None:
    await opened(chat)
    await chat.presses("down")
    await settled(chat)


async def filtered(chat: ChatOnScreen) -> None:
    await opened(chat)
    await chat.presses("slash")
    await chat.until(lambda: isinstance(chat.app.focused, Input))
    chat.screen.query_one(Input).value = ""
    await chat.types("german")
    await chat.shows("with “german”")
    await settled(chat)


async def waiting(chat: ChatOnScreen) -> None:
    await opened(chat)
    await chat.presses("tab", "tab")
    await settled(chat)


async def gone(chat: ChatOnScreen) -> None:
    await opened(chat)
    await chat.presses("shift+tab", "shift+tab")
    await settled(chat)


async def exports(chat: ChatOnScreen) -> None:
    await opened(chat)
    await chat.opens(AskLine, "o")
    chat.screen.query_one(Input).value = "memory.jsonl"


# Training and before/after ----------------------------------------------------------------------


async def training(chat: ChatOnScreen) -> None:
    await chat.opens(TrainingScreen, "f4")
    await chat.shows("live model")


async def one_runs(chat: ChatOnScreen) -> None:
    keep(of(chat), refused(), promoted(), running())


async def one_went_live(chat: ChatOnScreen) -> None:
    keep(of(chat), refused(), promoted())


async def one_is_led_here(chat: ChatOnScreen) -> None:
    is_led_here(chat)
    keep(of(chat), running(1))


async def one_is_paused_here(chat: ChatOnScreen) -> None:
    is_led_here(chat).is_paused = True
    keep(of(chat), refused(1), running(2, phase="reading", progress={}, curve=[], measured=[]))


def is_led_here(chat: ChatOnScreen) -> FakeLearner:
    """A round is, by a learner in place of the chat's own."""
    learner = FakeLearner()
    learner.is_leading = True
    of(chat).learning.__dict__["background_learner"].close()
    of(chat).learning.__dict__["background_learner"] = learner
    return learner


async def two_answers(chat: ChatOnScreen) -> None:
    await chat.asks(QUESTION)
    await chat.asks("Is there a locker?")
    keep(of(chat), promoted(12))


async def compare(chat: ChatOnScreen) -> None:
    await chat.sends("/compare")
    await chat.shows("It is closed.")


async def compare_with_names(chat: ChatOnScreen) -> None:
    await compare(chat)
    await chat.presses("v")
    await chat.shows("previous")


@dataclass(frozen=True)
class Opening:
    """One opening of the chat, and the scenes that are looked at in it."""

    scenes: Sequence[Scene]
    prepares: Act = nothing
    replies: Sequence[Sequence[str]] = ()


TOLD = [["In the cellar."], ["On the roof."], ["Under the stairs."]]
COMPARED = [["It opens at 10:00 on Saturdays [1]."], ["No."]]
OPENINGS = {
    "new": Opening(
        [
            Scene("first-start"),
            Scene("help", before("f1")),
            Scene("palette", keys_to(CommandPalette, "ctrl+p")),
            Scene("memory-empty", opens_memory),
            Scene("training-first", training),
            Scene("documents", before("f9")),
        ]
    ),
    "written": Opening([Scene("chat", leaves=nothing)], writing, [[LIST], WRITTEN]),
    "queued": Opening([Scene("chat-queued", leaves=nothing)], queued, [WRITTEN]),
    "private": Opening([Scene("chat-private")], private),
    "asked": Opening(
        [
            Scene("reading", before("escape", "k")),
            Scene("rating", before("ctrl+g")),
            Scene("why", before("f2")),
        ],
        asked,
        [[LIST]],
    ),
    "cited": Opening(
        [Scene("passage", before("escape", "1")), Scene("earlier-prompts", keys_to(PastPrompts, "ctrl+r"))],
        asked,
        [[ANSWER]],
    ),
    "remembered": Opening([Scene("forget-question", asks_before_forgetting)], remembers),
    "sessions": Opening(
        [
            Scene("sessions", sessions),
            Scene("sessions-filter", sessions_filter),
            Scene("sessions-rename", in_turn(sessions, before("e"))),
            Scene("find", find),
        ],
        two_sessions,
        TOLD,
    ),
    "one deleted": Opening([Scene("sessions-deleted", deleted)], one_deleted, TOLD),
    "logged": Opening([Scene("log", before("f8"))], logged),
    "memories": Opening(
        [
            Scene("memory", second_marked),
            Scene("memory-waiting", waiting),
            Scene("memory-gone", gone),
            Scene("memory-one", in_turn(second_marked, before("enter"))),
            Scene("memory-edit", in_turn(second_marked, keys_to(EditText, "e"))),
            Scene("memory-forget-question", in_turn(second_marked, before("x"))),
            Scene("memory-export-question", exports),
            Scene("privacy", in_turn(opens_memory, before("p"))),
            Scene(
                "privacy-question", in_turn(opens_memory, keys_to(PrivacyScreen, "p"), keys_to(AskLine, "x"))
            ),
            Scene("memory-filter", filtered),
        ],
        some_memories,
        [[ANSWER], ["Noted."]],
    ),
    "one runs": Opening([Scene("training", training)], one_runs),
    "one is paused": Opening([Scene("training-paused", training)], one_is_paused_here),
    "one is led": Opening([Scene("training-question", in_turn(training, before("s")))], one_is_led_here),
    "one went live": Opening(
        [
            Scene("training-between-rounds", training),
            Scene("training-round", in_turn(training, before("enter"))),
        ],
        one_went_live,
    ),
    "compared": Opening(
        [Scene("compare", compare), Scene("compare-names", compare_with_names)], two_answers, COMPARED
    ),
}


@pytest.mark.parametrize("name", OPENINGS)
async def test_a_scene_is_its_golden_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    def compared(*_: Any, **__: Any) -> ComparisonChild:
        return playing(ASKED, ASKED_AGAIN, ALIKE)

    monkeypatch.setattr(ComparisonChild, "of", staticmethod(compared))
    monkeypatch.setattr("assistant.terminal.facts.privacy.from_home", lambda _: "FILE")
    opening = OPENINGS[name]
    async with at_noon(tmp_path, monkeypatch, replies=opening.replies) as chat:
        await opening.prepares(chat)
        for scene in opening.scenes:
            await check_scene(chat, scene)


def test_the_key_that_leads_back_is_told_whole_in_every_scene() -> None:
    files = {file.stem for file in GOLDENS.glob("*.txt")}
    assert files == {scene.name for opening in OPENINGS.values() for scene in opening.scenes}
    for name in files - {"palette"}:
        words, _ = read_golden(GOLDENS / f"{name}.txt")
        told = [row for row in words if "Esc" in row]
        assert told, f"{name}: no Esc"
        assert all(len(row) <= 80 for row in told)
        assert not words[-1].rstrip("│╯ ").endswith("…"), f"{name}: keys are cut"

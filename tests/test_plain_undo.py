"""Undo in plain mode: the writes of this chat, the latest first, and what is asked before."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from agent_fakes import FakeChat
from screen_fixtures import HANDBOOK, ScriptedReplies, made_assistant

from assistant.settings.config import MemorySettings
from assistant.settings.locations import Locations
from assistant.terminal.actions.proposals import decide_proposal
from assistant.terminal.actions.undoing import undone_lines
from assistant.terminal.actions.written_here import Written
from assistant.terminal.engine.slash_commands import SlashCommands
from assistant.terminal.plain.chat import PlainChat
from assistant.wiring.assistant import Assistant
from stores.base.errors import CannotUndo
from stores.database.tables import Receipt
from stores.memory.edits import Undone


@pytest.fixture
def house(tmp_path: Path) -> Iterator[Assistant]:
    place = Locations(
        data=tmp_path / "d", settings=tmp_path / "s", cache=tmp_path / "c", state=tmp_path / "e"
    )
    assistant = made_assistant(place, FakeChat(ScriptedReplies([["Yes."]]).reply, name="scripted"))
    yield assistant
    assistant.close()


def says(house: Assistant, user: str, *lines: str, is_typed: bool = True) -> str:
    """All that is told while a person types these lines, or sends them through a pipe."""
    told: list[str] = []
    typed = iter(lines)
    PlainChat(
        house,
        house.stores.journal.user_id(user),
        0,
        ask=lambda: next(typed, None),
        say=told.append,
        echoes=not is_typed,
    ).run()
    return "".join(told)


def own_texts(house: Assistant, user: str) -> list[str]:
    lines = house.stores.catalogue.lines(
        house.stores.journal.user_id(user), scope="yours", memories_only=True
    )
    return [line.text for line in lines]


def test_what_was_written_before_the_first_message_is_undone_behind_it(house: Assistant) -> None:
    told = says(house, "ann", "/remember I like tea.", "Is it open?", "/undo", "/undo")
    assert told.count("Undone: added “I like tea.”.") == 1
    assert own_texts(house, "ann") == []


def test_a_new_session_begins_without_the_writes_of_the_one_before(house: Assistant) -> None:
    told = says(house, "ann", "/remember I like tea.", "/new", "Is it open?", "/undo")
    assert "there is nothing to undo of this session" in told
    assert own_texts(house, "ann") == ["I like tea."]


@pytest.fixture
def curated(house: Assistant) -> Removing:
    """Ann has accepted that the handbook be removed, as bob proposed."""
    house.given.settings = replace(house.given.settings, memory=MemorySettings(curators="ann", learn=False))
    ann, bob = house.stores.journal.user_id("ann"), house.stores.journal.user_id("bob")
    number = house.stores.proposals.propose_removal(bob, handbook(house))
    return Removing(house, ann, decide_proposal(house, "ann", ann, number, accepts=True))


@dataclass(frozen=True)
class Removing:
    """A chat of hers, in which she has just done so."""

    house: Assistant
    user_id: int
    accepted: Written

    def undo(self, answer: str | None) -> str:
        """What /undo tells. answer: to its question; None through a pipe."""
        commands = SlashCommands(
            self.house,
            self.user_id,
            self.house.stores.journal.open_session(self.user_id),
            ask=lambda: answer,
            is_asked=answer is not None,
            learn=lambda: None,
        )
        commands.note_written(self.accepted)
        return "\n".join(commands.run("/undo"))

    @property
    def is_removed(self) -> bool:
        return not self.house.stores.catalogue.lines(self.user_id, scope="shared")


def test_undo_of_what_concerns_every_user_is_asked_about(curated: Removing) -> None:
    question = f"Take back, for every user: delete “{HANDBOOK}”? An undo cannot be undone. [y/N]"
    assert curated.undo("n").split("\n")[:2] == [
        question,
        "Nothing was undone. To undo a certain write, type /undo and the number of its receipt.",
    ]
    assert curated.is_removed
    assert curated.undo("y").split("\n")[:2] == [question, f"Undone: removed “{HANDBOOK}”."]
    assert not curated.is_removed


def test_through_a_pipe_undo_of_what_concerns_every_user_names_its_number(curated: Removing) -> None:
    with pytest.raises(CannotUndo) as refused:
        curated.undo(None)
    assert refused.value.hint == f"`/undo {curated.accepted.receipt_id}` takes it back for all of them."
    assert curated.is_removed


def handbook(house: Assistant) -> int:
    [line] = house.stores.catalogue.lines(house.stores.journal.user_id("ann"), scope="shared")
    return line.passage_id


def test_forgetting_what_somebody_else_shared_asks_to_propose_its_removal(house: Assistant) -> None:
    forget = f"/forget {handbook(house)}"
    question = f"Propose to remove, for every user: “{HANDBOOK}”? Somebody else decides. [y/N]"
    told = says(house, "bob", forget, "")  # Enter
    assert "nothing was forgotten. Only who added it can take it back" in told
    assert f"{question}\nNothing was proposed.\n" in told
    assert house.stores.proposals.open() == []
    told = says(house, "bob", forget, "y", "/undo")
    assert "Proposed for removal, as proposal 1" in told
    assert f"Taken back: proposal 1, to remove “{HANDBOOK}”.\n" in told
    assert house.stores.proposals.open() == []
    assert "Propose" not in says(house, "ann", forget)  # hers: she can forget it
    assert "Propose" not in says(house, "bob", forget, is_typed=False)


# What is told of several ------------------------------------------------------------------------


def undone(*actions_and_texts: tuple[str, str]) -> str:
    """What is told of one undo; newest first."""
    receipts = [
        Receipt(user_id=1, action=action, space="", summary=text) for action, text in actions_and_texts
    ]
    return next(undone_lines(Undone(tuple(receipts), (), ())))


def test_what_one_message_taught_is_told_by_its_number_and_texts_in_their_order() -> None:
    one, two, three, four = [("add", f"fact {n}") for n in (1, 2, 3, 4)]
    out = ("delete", "old")
    assert undone(one) == "Undone: added “fact 1”."
    assert undone(two, one) == "Took back 2 facts of one message: “fact 1”; “fact 2”."
    assert undone(four, three, two, one) == (
        "Took back 4 facts of one message: “fact 1”; “fact 2”; “fact 3”; and 1 more."
    )
    assert undone(out, one) == (
        "Took back 1 fact of one message, and 1 that it had taken out: “fact 1”; “old”."
    )
    assert undone(out, out) == "Took back what one message had taken out, 2 passages: “old”; “old”."

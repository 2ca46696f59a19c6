"""Why this answer: how the message was routed, what became of a passage, and what the keys do with one."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from agent_fakes import source
from round_rows import keep, of, promoted
from screen_fixtures import ANSWER, QUESTION, ChatOnScreen, on_screen

from assistant.terminal.comparison.comparison_process import ComparisonChild
from assistant.terminal.engine.engine import SessionChoice
from assistant.terminal.facts.answer_lines import with_cited
from assistant.terminal.facts.why import _row
from assistant.terminal.training.compare_screen import CompareScreen
from assistant.terminal.why.passage_page import PassagePage
from assistant.terminal.why.why_view import WhyScreen, WhyView
from assistant.terminal.widgets.page_screen import PageScreen
from stores.conversation.journal import FoundPassage
from stores.database.tables import Feedback, Judgement, Turn

NOTE = "The reading room has a new wing."


async def asks_and_opens(chat: ChatOnScreen) -> None:
    """An answer made from a shared passage and from a note, and why."""
    await chat.asks(f"/remember {NOTE}")
    await chat.asks(QUESTION)
    await chat.opens(WhyScreen, "f2")


def own_texts(chat: ChatOnScreen) -> list[str]:
    user = of(chat).stores.journal.user_id("ann")
    return [line.text for line in of(chat).stores.catalogue.lines(user, scope="yours", memories_only=True)]


async def test_the_route_tells_what_the_message_was_taken_for(tmp_path: Path) -> None:
    async with on_screen(tmp_path, replies=[[ANSWER], ["At noon."], ["Noted."]]) as chat:
        await chat.asks(QUESTION)
        await chat.asks("And on Sundays?")
        await chat.asks("Thank you, I shall come.")
        await chat.sends("/why 1")
        await chat.shows("Route      question · answered from memory · searched as typed")
        assert "Query  " not in chat.text
        await chat.presses("escape")
        await chat.sends("/why 2")
        await chat.shows("Route      question · answered from memory · searched rewritten")
        await chat.shows("Query      And on Sundays? (after: ")
        await chat.presses("escape")
        await chat.sends("/why 3")
        await chat.shows("Route      statement")


def test_what_the_answer_cites_is_told_however_far_behind_it_was_found() -> None:
    found = [
        FoundPassage(
            version_id=n, found_rank=n, dense=0, lexical=0, lift=0, score=0, final_rank=n, citation=citation
        )
        for n, citation in [(1, 1), (2, None), (3, 2)]
    ]
    turn = Turn(message="When?", details={"cited": [2]})
    assert [each.version_id for each in with_cited(found, turn, most=1)] == [1, 3]
    earlier = replace(found[2], found_rank=0, final_rank=44)  # it stood in the conversation: nothing moved it
    assert _row(earlier, source(1, "At ten.").passage, True, turn, None).moved == 0


async def test_a_passage_tells_which_rounds_saw_it_and_how_it_was_marked(tmp_path: Path) -> None:
    async with on_screen(tmp_path, replies=[[ANSWER]]) as chat:
        await chat.asks(QUESTION)
        await chat.opens(WhyScreen, "f2")
        await chat.presses("enter")
        await chat.shows("Seen in training: no round. Marked as helping: 0, as not: 0.")
        keep(of(chat), promoted(1, "first-1111"), promoted(2, "second-2222"))  # both were shown passage 1
        await chat.presses("escape", "plus")
        await chat.shows("[1] +shared")
        await chat.opens(PageScreen, "enter")
        await chat.shows("Seen in training: rounds 1, 2. Marked as helping: 1, as not: 0.")


async def test_x_removes_a_passage_of_ones_own_and_u_brings_it_back(tmp_path: Path) -> None:
    async with on_screen(tmp_path, replies=[[ANSWER]]) as chat:
        await asks_and_opens(chat)
        await chat.presses("down", "x")
        await chat.until(lambda: own_texts(chat) == [])
        await chat.shows("u takes it back")
        await chat.shows("gone: “The reading room")
        await chat.presses("u")
        await chat.until(lambda: own_texts(chat) == [NOTE])
        await chat.until(lambda: "gone: " not in chat.text)
        await chat.presses("u")
        await chat.shows("nothing was removed here")


async def test_a_removal_is_a_notice_of_the_chat_with_its_undo(tmp_path: Path) -> None:
    async with on_screen(tmp_path, replies=[[ANSWER]]) as chat:
        await asks_and_opens(chat)
        await chat.presses("down", "x")
        await chat.until(lambda: own_texts(chat) == [])
        await chat.presses("escape")
        await chat.shows(f"Removed: “{NOTE}”")
        await chat.shows("^G u undo")
        await chat.presses("ctrl+g", "u")
        await chat.until(lambda: own_texts(chat) == [NOTE])


async def test_c_compares_the_turn_with_the_previous_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[dict[str, Any]] = []

    def begin(_assistant: Any, _user: str, session_id: int, **how: Any) -> ComparisonChild:
        asked.append({"session": session_id, **how})
        return ComparisonChild(["true"])

    monkeypatch.setattr(ComparisonChild, "of", begin)
    async with on_screen(tmp_path, replies=[[ANSWER]]) as chat:
        await asks_and_opens(chat)
        await chat.presses("c")
        await chat.shows("there is no model before the live one")
        keep(of(chat), promoted(1, "first-1111"), promoted(2, "second-2222"))
        await chat.opens(CompareScreen, "c")
        assert [(how["turn_id"], how["against"]) for how in asked] == [(1, "previous")]


# In an opened passage ---------------------------------------------------------------------------


async def opens_passage(chat: ChatOnScreen, *keys: str) -> None:
    await chat.opens(PassagePage, *keys)


async def test_an_opened_passage_is_marked_by_the_same_keys_also_while_reading(tmp_path: Path) -> None:
    async with on_screen(tmp_path, replies=[[ANSWER]]) as chat:
        await asks_and_opens(chat)
        await opens_passage(chat, "enter")
        await chat.shows("+ helped  - did not  x remove")
        await chat.presses("plus")
        await chat.shows("marked as helping")
        await chat.shows("Marked as helping: 1, as not: 0")
        await chat.presses("minus")
        await chat.shows("marked as not helping")
        await chat.shows("as not: 1")
        await chat.presses("escape")
        await chat.shows("[1] -shared")
        await chat.presses("escape", "escape", "9")
        await chat.shows("this answer has no source [9]")
        await opens_passage(chat, "1")
        await chat.presses("plus")
        await chat.shows("Marked as helping: 1, as not: 0")


async def test_x_and_u_in_an_opened_passage(tmp_path: Path) -> None:
    async with on_screen(tmp_path, replies=[[ANSWER]]) as chat:
        await asks_and_opens(chat)
        await opens_passage(chat, "down", "enter")
        await chat.presses("x")
        await chat.until(lambda: own_texts(chat) == [])
        await chat.shows("u takes it back")
        await chat.shows("No longer found")
        await chat.presses("u")
        await chat.until(lambda: own_texts(chat) == [NOTE])
        await chat.until(lambda: "No longer found" not in chat.text)
        await chat.presses("x")
        await chat.until(lambda: own_texts(chat) == [])
        await chat.presses("escape")
        await chat.shows("gone: “The reading room")
        await chat.presses("u")  # what was removed on the page is taken back in the list
        await chat.until(lambda: own_texts(chat) == [NOTE])


# What the turn holds of its models --------------------------------------------------------------


async def test_why_beside_the_conversation_follows_the_answers_tells_its_columns_and_closes(
    tmp_path: Path,
) -> None:
    async with on_screen(tmp_path, replies=[["One [1]."], ["Two."]], size=(120, 40)) as chat:
        await chat.asks(QUESTION)
        with of(chat).stores.database.writing() as sql:
            told: dict[str, Any] = {"turn_id": 1, "version_id": 1, "judge": "reader", "found_rank": 1}
            told["created_at"] = datetime.now(UTC)
            sql.add(Judgement(**told, label="answer", score=0.875, tokens_in=0, tokens_out=0))
        await chat.presses("f2")
        await chat.shows("Turn 1  When")
        await chat.shows("[1]  shared   0.88     1     =")
        await chat.shows("judged  0 to 1, how far it helps to answer")
        assert chat.app.chat.prompt.has_focus
        await chat.asks("and on Sundays?")
        await chat.shows("Turn 2  and on Sundays?")
        await chat.presses("tab")
        await chat.until(lambda: not chat.app.chat.prompt.has_focus)
        await chat.presses("f2")
        await chat.until(lambda: not chat.app.chat.query_one("#why", WhyView).has_class("-open"))
        assert "used from" not in chat.text


async def test_why_tells_of_an_old_turn_after_a_restart_and_keeps_what_is_said_of_a_passage(
    tmp_path: Path,
) -> None:
    async with on_screen(tmp_path, replies=[["One [1]."]]) as chat:
        await chat.asks(QUESTION)
    async with on_screen(tmp_path, choice=SessionChoice(last=True)) as chat:
        await chat.sends("/why 1")
        await chat.until(lambda: isinstance(chat.screen, WhyScreen))
        for key, mark in (("plus", "+"), ("minus", "-")):
            await chat.presses(key)
            await chat.shows(f"[1] {mark}shared")
        with of(chat).stores.database.reading() as sql:
            kept = [(f.turn_id, f.rating, f.version_id) for f in sql.query(Feedback).order_by(Feedback.id)]  # type: ignore[arg-type]
        assert kept == [(1, "good", 1), (1, "bad", 1)]

"""Undo in the chat: the latest write of any kind, then the one before; and just what a notice tells of."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from memory_on_screen import assistant_of, opened, remembered, stored, texts, weighs_without_a_model
from screen_fixtures import ANSWER, HANDBOOK, ChatOnScreen, on_screen
from test_terminal_chat import learned
from test_terminal_why import asks_and_opens, own_texts

from assistant.terminal.actions.written_here import Written
from assistant.terminal.conversation.rate_strip import RateStrip
from assistant.terminal.memory.memory_questions import EditText
from assistant.terminal.memory.memory_screen import MemoryScreen
from assistant.terminal.widgets.questions import Question
from assistant.wiring.assistant import Assistant
from stores.base.passages import SHARED

TEA, COFFEE, NOTE = "I like tea.", "I like coffee.", "The reading room has a new wing."


async def undoes(chat: ChatOnScreen) -> str:
    """What is said of a bare /undo."""
    await chat.asks("/undo")
    return chat.app.chat.conversation.messages[-1].text


async def edits_on_f3(chat: ChatOnScreen, text: str) -> None:
    """Gives the marked memory another text."""
    await opened(chat)
    await chat.opens(EditText, "e")
    await chat.presses("ctrl+u")
    await chat.types(text)
    await chat.opens(MemoryScreen, "enter")
    await chat.until(lambda: texts(chat) == [text])
    await chat.presses("f3")
    await chat.until(lambda: chat.screen is chat.app.chat)


async def test_undo_goes_back_through_the_writes_of_every_screen_and_never_forward(tmp_path: Path) -> None:
    async with on_screen(tmp_path, replies=[[ANSWER]]) as chat:
        await chat.asks(f"/remember {TEA}")
        await edits_on_f3(chat, COFFEE)
        await asks_and_opens(chat)  # /remember, too
        await chat.presses("down", "x")
        await chat.until(lambda: own_texts(chat) == [COFFEE])
        await chat.shows("u takes it back")
        await chat.presses("escape")
        said = await undoes(chat)
        assert f"Undone: removed “{NOTE}”." in said
        assert own_texts(chat) == [NOTE, COFFEE]
        assert f"Undone: added “{NOTE}”." in await undoes(chat)
        assert own_texts(chat) == [COFFEE]
        said = await undoes(chat)
        assert f"Undone: changed “{COFFEE}”." in said
        assert f"“{TEA}”." in said
        assert own_texts(chat) == [TEA]
        assert f"Undone: added “{TEA}”." in await undoes(chat)
        assert own_texts(chat) == []
        assert "there is nothing to undo of this session" in await undoes(chat)
        assert own_texts(chat) == []


async def test_what_was_undone_on_a_screen_is_not_undone_again(tmp_path: Path) -> None:
    async with on_screen(tmp_path, replies=[[ANSWER]]) as chat:
        await chat.asks(f"/remember {TEA}")
        await asks_and_opens(chat)
        await chat.presses("down", "x")
        await chat.until(lambda: own_texts(chat) == [TEA])
        await chat.shows("u takes it back")
        await chat.presses("u")
        await chat.until(lambda: own_texts(chat) == [NOTE, TEA])
        await chat.presses("escape")
        assert f"Undone: added “{NOTE}”." in await undoes(chat)
        assert own_texts(chat) == [TEA]


async def test_a_write_belongs_to_the_session_that_was_on(tmp_path: Path) -> None:
    async with on_screen(tmp_path) as chat:
        await remembered(chat, TEA)  # by another chat
        await chat.presses("ctrl+n")
        await chat.until(lambda: chat.app.chat.talk.session_id == 2)
        await edits_on_f3(chat, COFFEE)
        await chat.presses("ctrl+n")
        await chat.until(lambda: chat.app.chat.talk.session_id == 3)
        assert "there is nothing to undo of this session" in await undoes(chat)
        assert own_texts(chat) == [COFFEE]


async def test_undo_of_what_is_shared_is_asked_about(tmp_path: Path) -> None:
    async with on_screen(tmp_path) as chat:
        await chat.app.chat.desk.write(_shared_fact)
        for key, said in (("n", "Nothing was undone."), ("y", "Undone: added “The lift works.”")):
            await chat.sends("/undo")
            await chat.until(lambda: isinstance(chat.screen, Question))
            assert "Take back, for every user: add “The lift works.”?" in chat.text
            assert "y take back" in chat.text
            await chat.presses(key)
            await chat.shows(said)
            await chat.until(lambda: chat.app.chat.talk.is_idle)
        lines = assistant_of(chat).stores.catalogue.lines(1, scope="shared")
        assert [line.text for line in lines] == [HANDBOOK]


def _shared_fact(assistant: Assistant, user: int) -> Written:
    from stores.versions.changes import NewVersion, add_versions
    from stores.versions.receipts import open_receipt

    with assistant.stores.database.writing() as sql:
        receipt = open_receipt(sql, user, "add", SHARED, "The lift works.")
        new = NewVersion(text="The lift works.", kind="fact")
        add_versions(sql, SHARED, [new], author="curator", receipt_id=receipt)
    return Written("", receipt)


# Proposals --------------------------------------------------------------------------------------


async def test_x_on_a_shared_passage_asks_and_anything_but_y_proposes_nothing(tmp_path: Path) -> None:
    async with on_screen(tmp_path, replies=[[ANSWER]]) as chat:
        await asks_and_opens(chat)
        for key in ("n", "escape", "enter"):
            await chat.opens(Question, "home", "x")
            assert "Propose to remove, for every user" in chat.text
            await chat.presses(key)
            await chat.shows("nothing was proposed")
            assert assistant_of(chat).stores.proposals.open() == []


async def test_a_proposal_is_taken_back_by_u_by_undo_and_by_its_name(tmp_path: Path) -> None:
    async with on_screen(tmp_path, replies=[[ANSWER]]) as chat:
        waiting = assistant_of(chat).stores.proposals.open
        await asks_and_opens(chat)
        for number in (1, 2, 3):
            await chat.opens(Question, "home", "x")
            await chat.presses("y")
            await chat.shows(f"Proposed for removal, as proposal {number}")
            if number == 1:
                await chat.presses("u")
                await chat.shows("Taken back: proposal 1, to remove “The reading room opens")
            elif number == 2:
                await chat.presses("escape")
                assert await undoes(chat) == f"Taken back: proposal 2, to remove “{HANDBOOK}”."
                await chat.presses("f2")
                await chat.shows("Why this answer")
            assert len(waiting()) == (number == 3)
        await chat.presses("escape")
        await chat.asks("/undo p3")
        assert waiting() == []
        await chat.asks("/undo p3")
        await chat.shows("there is no open proposal 3")
        assert f"Undone: added “{NOTE}”." in await undoes(chat)


async def test_on_f3_an_offer_of_ones_own_is_taken_back_and_stays_yours(tmp_path: Path) -> None:
    async with on_screen(tmp_path, learns=True) as chat:
        weighs_without_a_model(chat)
        await remembered(chat, "The lift works.")
        await opened(chat)
        await chat.presses("s")
        await chat.shows("it is proposal 1 now")
        await chat.presses("tab", "tab")
        await chat.until(lambda: "[Waiting for check (1)]" in chat.text)
        await chat.presses("a")
        await chat.shows("ann may not decide proposals")
        await chat.shows("u takes it back")
        await chat.presses("u")
        await chat.shows("Taken back: proposal 1, to share “The lift works.”.")
        await chat.until(lambda: "[Waiting for check (0)]" in chat.text)
        assert own_texts(chat) == ["The lift works."]


async def test_on_f3_a_proposal_of_somebody_else_is_not_taken_back(tmp_path: Path) -> None:
    async with on_screen(tmp_path) as chat:
        await stored(chat, partial(_proposed_by, name="bob"))
        await opened(chat)
        await chat.presses("tab", "tab")
        await chat.until(lambda: "[Waiting for check (1)]" in chat.text)
        assert "u takes it back" not in chat.text
        await chat.presses("u")
        await chat.shows("proposal 1 is not one that you made")
        assert len(assistant_of(chat).stores.proposals.open()) == 1


def _proposed_by(assistant: Assistant, user: int, *, name: str) -> int:
    [line] = assistant.stores.catalogue.lines(user, scope="shared")
    return assistant.stores.proposals.propose_removal(assistant.stores.journal.user_id(name), line.passage_id)


# Notices ----------------------------------------------------------------------------------------


async def test_the_strip_names_what_u_takes_back_and_takes_just_that(tmp_path: Path) -> None:
    async with on_screen(tmp_path, size=(100, 24)) as chat:
        one, two = [await stored(chat, partial(_written, text=text)) for text in (TEA, COFFEE)]
        for receipt, text in ((two, COFFEE), (one, TEA)):  # the newest is shown
            chat.app.chat.heard(learned(receipt, text))
        await chat.shows("1 of 2")
        await chat.presses("ctrl+g")
        await chat.shows(f"u undo “{TEA}”  Esc")
        chat.app.chat.notices.done()  # another notice takes its place, between the two keys
        await chat.shows(f"“{COFFEE}”")
        await chat.presses("u")
        await chat.shows(f"Undone: added “{TEA}”.")
        assert own_texts(chat) == [COFFEE]
        notice = chat.app.chat.notices.current
        assert notice is not None
        assert notice.receipt_id == two
        await chat.until(lambda: chat.app.chat.talk.is_idle)
        await chat.presses("ctrl+g")
        await chat.until(lambda: chat.app.chat.query_one(RateStrip).has_focus)
        await stored(chat, lambda assistant, user: assistant.stores.knowledge.undo(user, two))  # another chat
        await chat.presses("u")
        await chat.shows(f"receipt {two} was undone already")


def _written(assistant: Assistant, user: int, *, text: str) -> int:
    return assistant.stores.knowledge.remember(user, text)[1]

"""What the keys of the Memory screen change: texts, sharing, forgetting, undo; what is told of privacy."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from memory_on_screen import (
    assistant_of,
    opened,
    put_claim,
    remembered,
    scope,
    settled,
    stored,
    texts,
    weighs_without_a_model,
)
from screen_fixtures import HANDBOOK, HOLD, QUESTION, on_screen
from textual.widgets import Input

from assistant.settings.config import MemorySettings
from assistant.terminal.conversation.notice_line import Notice
from assistant.terminal.memory.memory_questions import AskLine, EditText, TextBox
from assistant.terminal.memory.memory_screen import MemoryScreen
from assistant.terminal.memory.privacy_screen import SENTENCE, PrivacyScreen
from assistant.terminal.widgets.page_screen import PageScreen
from assistant.terminal.widgets.questions import Question
from assistant.wiring.assistant import Assistant
from stores.base.errors import StoreUnavailable
from stores.base.passages import SHARED
from stores.database.tables import Feedback, StatedClaim, Turn

# Changing ---------------------------------------------------------------------------------------


async def test_e_gives_it_another_text_and_u_brings_the_old_one_back(tmp_path: Path) -> None:
    async with on_screen(tmp_path) as chat:
        (number,) = await remembered(chat, "I like tea.")
        await opened(chat)
        await chat.opens(EditText, "e")
        assert chat.screen.query_one(TextBox).text == "I like tea."
        await chat.types(" A")
        await chat.presses("ctrl+j")
        await chat.types("lot")
        await chat.opens(MemoryScreen, "enter")
        await chat.until(lambda: texts(chat) == ["I like tea. A lot"])
        line = await stored(chat, lambda assistant, user: assistant.stores.catalogue.line(user, number))
        assert line.text == "I like tea. A\nlot"
        await chat.presses("u")
        await chat.until(lambda: texts(chat) == ["I like tea."])
        await chat.shows("Undone: changed")


async def test_a_document_is_neither_edited_nor_forgotten_here(tmp_path: Path) -> None:
    async with on_screen(tmp_path) as chat:
        await opened(chat)
        await scope(chat, "Shared")
        for key, told in (("e", "a document cannot be edited"), ("x", "is shared with every user")):
            await chat.presses(key)
            await chat.shows(told)
            assert isinstance(chat.screen, MemoryScreen)
        assert texts(chat) == [f"House rules: {HANDBOOK}"]


async def test_another_wording_of_a_shared_fact_goes_through_the_check(tmp_path: Path) -> None:
    async with on_screen(tmp_path, learns=True) as chat:
        weighs_without_a_model(chat)
        await stored(chat, _shared_fact)
        await opened(chat)
        await scope(chat, "Shared")
        await chat.presses("e")
        await chat.shows("goes through the check")
        await chat.types(" On Mondays.")
        await chat.opens(MemoryScreen, "enter")
        await chat.shows("stays yours")
        with assistant_of(chat).stores.database.reading() as sql:
            [claim] = sql.query(StatedClaim).all()
        assert (claim.text, claim.origin, claim.status) == ("The lift works. On Mondays.", "share", "unknown")
        assert "The lift works." in texts(chat)


def _shared_fact(assistant: Assistant, user: int) -> None:
    from stores.versions.changes import NewVersion, add_versions
    from stores.versions.receipts import open_receipt

    with assistant.stores.database.writing() as sql:
        receipt = open_receipt(sql, user, "add", SHARED, "The lift works.")
        new = NewVersion(text="The lift works.", kind="fact")
        add_versions(sql, SHARED, [new], author="curator", receipt_id=receipt)


async def test_x_asks_y_forgets_for_good_and_anything_else_keeps(tmp_path: Path) -> None:
    async with on_screen(tmp_path) as chat:
        (number,) = await remembered(chat, "I like tea.")
        await opened(chat)
        for key in ("escape", "n", "enter"):
            await chat.opens(Question, "x")
            await chat.presses(key)
            await chat.shows("nothing was forgotten")
            assert texts(chat) == ["I like tea."]
        await chat.opens(Question, "x")
        await chat.opens(PageScreen, "y")
        assert "Forgotten: “I like tea.”." in chat.text
        assert "Out of reach:" in chat.text
        await chat.presses("escape")
        await chat.until(lambda: texts(chat) == [])
        await scope(chat, "Forgotten")
        assert [text.partition("  ")[2] for text in texts(chat)] == ["(its text is gone)"]
        await chat.presses("escape")
        await chat.shows("0 yours · 1 shared")
        versions = await stored(
            chat, lambda assistant, user: assistant.stores.catalogue.history(user, number).versions
        )
        assert [version.text for version in versions] == [""]


async def test_what_was_forgotten_stands_in_the_conversation_no_more(tmp_path: Path) -> None:
    async with on_screen(tmp_path, replies=[["Noted."]]) as chat:
        await chat.asks("My secret is Zq.")
        await opened(chat)
        await chat.presses("v")
        await chat.until(lambda: texts(chat) == ["My secret is Zq."])
        await chat.opens(Question, "x")
        await chat.opens(PageScreen, "y")
        await chat.opens(MemoryScreen, "escape")
        await chat.presses("f3")
        await chat.until(lambda: chat.screen is chat.app.chat)
        await chat.until(lambda: "Zq" not in chat.text, lambda: chat.text)


async def test_u_takes_back_the_marked_one_alone_and_asks_where_others_are_concerned(tmp_path: Path) -> None:
    async with on_screen(tmp_path) as chat:
        await remembered(chat, "one", "two")
        await opened(chat)
        await chat.presses("down")
        await settled(chat)
        await chat.presses("u")
        await chat.until(lambda: texts(chat) == ["two"])
        await chat.presses("U")
        await chat.until(lambda: texts(chat) == [])
        await scope(chat, "Forgotten")
        await chat.presses("u")
        await chat.shows("has no write that can be taken back")
        await scope(chat, "Shared")
        await chat.opens(Question, "u")
        assert "ingested rules.md" in chat.text
        await chat.presses("n")
        await chat.shows("nothing was undone")
        await chat.opens(Question, "u")
        await chat.presses("y")
        await chat.until(lambda: texts(chat) == [])


async def test_r_tries_again_what_failed(tmp_path: Path) -> None:
    async with on_screen(tmp_path, learns=True) as chat:

        def failed(assistant: Assistant, user: int) -> None:
            from datetime import timedelta

            put_claim(assistant, user, text="The lift works.")
            job = assistant.stores.claim_jobs.take(user, lease=timedelta(seconds=1))
            assert job is not None
            assistant.stores.claim_jobs.postpone(job, "no model")

        weighs_without_a_model(chat)
        await stored(chat, failed)
        await opened(chat)
        await scope(chat, "Waiting for check")
        await chat.shows("1 time, last at")
        await chat.presses("r")
        await chat.shows("tried again: 1")
        await chat.until(lambda: texts(chat) == ["The lift works."] and "proposal" in chat.text)


async def test_o_writes_a_new_file_that_only_its_owner_reads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    async with on_screen(tmp_path / "x") as chat:
        await remembered(chat, "I like tea.")
        await opened(chat)
        await chat.opens(AskLine, "o")
        await chat.presses("escape")
        await chat.shows("nothing was written")
        assert {file.name for file in tmp_path.iterdir()} == {"x"}  # noqa: ASYNC240
        file = tmp_path / "mine.jsonl"
        for said in ("lines (yours) written to", "mine.jsonl is there already. Name another file."):
            await chat.opens(AskLine, "o")
            field = chat.screen.query_one(Input)
            assert field.value.startswith("vouch-memory-")
            field.value = file.name
            await chat.opens(MemoryScreen, "enter")
            await chat.shows(said)
        assert file.stat().st_mode & 0o777 == 0o600
        lines = [json.loads(line) for line in file.read_text().splitlines()]
        assert "I like tea." in json.dumps(lines)


# Privacy ----------------------------------------------------------------------------------------


async def test_privacy_tells_what_is_kept_and_forgets_everything_only_when_it_is_typed(
    tmp_path: Path,
) -> None:
    async with on_screen(tmp_path, replies=[["Noted."]], size=(80, 40)) as chat:
        await chat.asks("My secret is Zq.")
        await chat.types("a draft of Zq")
        await chat.until(lambda: len(list((tmp_path / "state" / "drafts").rglob("*.txt"))) == 1)
        chat.app.chat.drafts.write("another session", "Zq too")
        await remembered(chat, "I like Zq tea.")
        await opened(chat)
        await chat.opens(PrivacyScreen, "p")
        for words in (
            "Only you can find: 1 message, 1 note.",
            "Conversations: 1 turn in 1 session, and in 0 private sessions.",
            "Nothing: no model elsewhere was asked.",
            "No round saw it.",
        ):
            assert words in chat.text, chat.text
        await chat.opens(AskLine, "x")
        await chat.opens(PrivacyScreen, "escape")
        await chat.opens(AskLine, "x")
        await chat.types("yes")
        await chat.presses("enter")
        await chat.shows("nothing was changed.")
        chat.screen.query_one(Input).value = SENTENCE
        await chat.opens(PageScreen, "enter")
        assert "Forgotten: 2 passages." in chat.text
        await chat.presses("escape", "escape")
        await chat.shows("0 yours · 1 shared")
        await chat.until(lambda: "My secret" not in chat.text)
        assert chat.app.chat.drafts.read("another session") == ""
        with assistant_of(chat).stores.database.reading() as sql:
            assert [turn.message for turn in sql.query(Turn)] == [""]
            assert [feedback.reason for feedback in sql.query(Feedback)] == []


# Beside a reply, and without a store ------------------------------------------------------------


async def test_it_opens_and_moves_while_a_reply_is_written_and_writing_waits_for_it(tmp_path: Path) -> None:
    async with on_screen(tmp_path, replies=[["It", HOLD, " opens."]]) as chat:
        await remembered(chat, "one", "two")
        await chat.sends(QUESTION)
        await chat.shows("It")
        await opened(chat)
        await chat.presses("down")
        await settled(chat)
        await chat.presses("u")
        await chat.shows("undoing …")
        assert len(texts(chat)) == 2
        chat.go_on()
        await chat.until(lambda: texts(chat) == ["two"])


async def test_a_store_that_cannot_be_read_is_told_and_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with on_screen(tmp_path) as chat:
        await remembered(chat, "I like tea.")
        assistant = assistant_of(chat)

        def locked(*_: Any, **__: Any) -> int:
            raise StoreUnavailable("the database is locked by another process", hint="Try again.")

        with monkeypatch.context() as patched:
            patched.setattr(assistant.stores.catalogue, "count", locked, raising=False)
            await chat.presses("f3")
            await chat.shows("Memory cannot be read now: the database is locked by another process")
        await chat.presses("tab", "shift+tab")
        await chat.until(lambda: texts(chat) == ["I like tea."])


# Notices ----------------------------------------------------------------------------------------


async def test_no_notice_offers_an_undo_that_is_done_already(tmp_path: Path) -> None:
    async with on_screen(tmp_path) as chat:
        one, two, three = [
            await stored(chat, partial(_written, text=text)) for text in ("one", "two", "three")
        ]
        notices = chat.app.chat.notices
        for receipt in (one, two, three):
            notices.put(Notice(f"Learned {receipt}.", receipt, None))
        await chat.shows("1 of 3")
        await chat.asks(f"/undo {two}")
        await chat.shows("1 of 2")
        assert f"Learned {three}." in chat.text
        await opened(chat)
        await chat.presses("end")
        await settled(chat)
        await chat.presses("u")
        await chat.until(lambda: texts(chat) == ["three"])
        await chat.presses("f3")
        await chat.shows(f"Learned {three}.")
        assert " of " not in chat.text.splitlines()[-6]
        await opened(chat)
        await chat.opens(Question, "x")
        await chat.opens(PageScreen, "y")
        await chat.until(lambda: notices.current is None)
        for receipt in (1_001, 1_002, 1_003):
            notices.put(Notice(f"Learned {receipt}.", receipt, None))
        notices.done()  # what is done with is counted on
        assert notices.right.startswith("2 of 3")
        notices.withdraw({1_001})
        assert notices.right.startswith("2 of 2")
        notices.withdraw({1_002})
        await chat.until(lambda: not notices.display)


def _written(assistant: Assistant, user: int, *, text: str) -> int:
    return assistant.stores.knowledge.remember(user, text)[1]


# Proposals --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("key", "said"), [("a", "Proposal 1 is shared now"), ("d", "Proposal 1 is put away")]
)
async def test_whom_the_settings_name_decides_a_proposal(tmp_path: Path, key: str, said: str) -> None:
    async with on_screen(tmp_path, learns=True) as chat:
        weighs_without_a_model(chat)

        def proposed(assistant: Assistant, _user: int) -> None:
            assistant.given.settings = replace(
                assistant.given.settings, memory=MemorySettings(curators="ann")
            )
            bob = assistant.stores.journal.user_id("bob")
            put_claim(assistant, bob, text="The lift works.")
            assistant.turns.host.remember(bob, lambda _learned: None)
            assistant.turns.host.settle()

        await stored(chat, proposed)
        await opened(chat)
        await scope(chat, "Waiting for check")
        assert texts(chat) == ["The lift works."]
        await chat.presses(key)
        await chat.shows(said)
        await chat.until(lambda: texts(chat) == [])
        await scope(chat, "Shared")
        assert ("The lift works." in texts(chat)) == (key == "a")

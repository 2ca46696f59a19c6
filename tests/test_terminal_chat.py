"""The chat on the screen: sending, writing, stopping, queueing, following, drafts, notices."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest
from screen_fixtures import HOLD, on_screen
from textual.geometry import Region

from assistant.terminal.conversation.answer_text import AnswerText
from assistant.terminal.conversation.notice_line import Notice
from assistant.terminal.engine.engine import SessionChoice
from assistant.wiring.assistant import Assistant
from stores.base.errors import ModelUnreachable, StoreUnavailable
from stores.claims.decisions import Learned


async def test_the_prompt_takes_keys_before_the_assistant_is_open(tmp_path: Path) -> None:
    opened: list[bool] = []
    async with on_screen(
        tmp_path, replies=[["Yes."]], waits_for_ready=False, opens_when=lambda: bool(opened)
    ) as chat:
        await chat.types("open?")
        assert chat.prompt == "open?"
        await chat.presses("enter")
        await chat.shows("waits for its turn")
        assert "opening …" in chat.text
        opened.append(True)
        await chat.shows("Yes.")
        assert "waits for its turn" not in chat.text


async def test_what_is_sent_during_a_reply_waits_is_taken_back_by_up_or_sent_behind_it(
    tmp_path: Path,
) -> None:
    async with on_screen(tmp_path, replies=[["First", HOLD, " done."], ["Second done."]]) as chat:
        await chat.sends("one")
        await chat.shows("First")
        await chat.sends("two")
        await chat.shows("waits for its turn")
        await chat.presses("up")
        assert chat.prompt == "two"
        assert "waits for its turn" not in chat.text
        await chat.presses("enter")
        await chat.shows("waits for its turn")
        assert chat.text.index("First") < chat.text.index("two")
        chat.go_on()
        await chat.shows("Second done.")
        assert "First done." in chat.text


async def test_what_is_sent_and_taken_back_in_one_go_is_in_the_prompt_again(tmp_path: Path) -> None:
    async with on_screen(tmp_path, replies=[["First", HOLD, " done."], ["Third done."]]) as chat:
        await chat.sends("one")
        await chat.shows("First")
        talk = chat.app.chat.talk
        talk.send("two")  # its task has not begun
        assert await talk.take_back() == "two"
        await chat.pilot.pause()
        assert "two" not in chat.text
        await chat.sends("three")
        chat.go_on()
        await chat.shows("Third done.")


async def test_escape_stops_the_reply_and_keeps_its_part(tmp_path: Path) -> None:
    async with on_screen(tmp_path, replies=[["Half of it", HOLD]]) as chat:
        await chat.sends("one")
        await chat.shows("Half of it")
        await chat.shows("writing · Esc stops")
        await chat.presses("escape")
        await chat.until(lambda: chat.app.chat.talk.is_idle)
        assert "stopped" in chat.text
    async with on_screen(tmp_path, choice=SessionChoice(last=True)) as chat:
        await chat.shows("Half of it")
        assert "stopped" in chat.text


async def test_a_reply_that_fails_keeps_its_part_and_says_why(tmp_path: Path) -> None:
    lost = ModelUnreachable(f"connection lost{' again' * 12}", hint="Look at model.base_url.")
    async with on_screen(tmp_path, replies=[["Half of it", lost]]) as chat:
        await chat.asks("one")
        assert "Half of it" in chat.text
        assert "failed" in chat.text
        assert " ".join(chat.text.split()).count(" again") == 12  # nothing of why is cut
        assert "Look at model.base_url." in chat.text


async def test_a_message_that_cannot_be_kept_goes_back_to_the_prompt(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> None:
        raise StoreUnavailable("the disk is full", hint="Make room.")

    async with on_screen(tmp_path, replies=[["Yes."]]) as chat:
        monkeypatch.setattr(chat.app.chat.desk._known_assistant.stores.journal, "accept", full)
        await chat.sends("one")
        await chat.shows("not sent: the disk is full. Make room.")
        assert chat.prompt == "one"
        assert chat.app.chat.conversation.messages == []
        monkeypatch.undo()
        await chat.presses("enter")
        await chat.shows("Yes.")


async def test_nothing_that_was_written_steers_the_terminal_or_is_markup(tmp_path: Path) -> None:
    async with on_screen(tmp_path, replies=[["\x1b[31m[red]hot[/red]\x07 [@click=app.bell]x[/]"]]) as chat:
        await chat.asks("\x1b]0;title\x07[bold]loud[/bold]")
        assert "[bold]loud[/bold]" in chat.text
        assert "[red]hot[/red]" in chat.text
        assert "\x1b" not in chat.text
        assert "\x07" not in chat.text


async def test_a_draft_comes_back_and_what_waited_with_it(tmp_path: Path) -> None:
    async with on_screen(tmp_path, replies=[["First", HOLD]]) as chat:
        await chat.sends("one")
        await chat.shows("First")
        await chat.sends("two")
        await chat.shows("waits for its turn")
        chat.app.chat.prompt.put("half a thou")
        chat.app.leave(0)
        await chat.until(lambda: not chat.app.is_running)
        assert chat.app.return_value == 0
    async with on_screen(tmp_path, choice=SessionChoice(last=True)) as chat:
        assert chat.prompt == "two\n\nhalf a thou"
    async with on_screen(tmp_path) as chat:
        assert chat.prompt == ""  # of another session
        await chat.types("half")
        chat.app.leave(0)
        await chat.until(lambda: not chat.app.is_running)
    async with on_screen(tmp_path) as chat:
        assert chat.prompt == "half"


async def test_what_was_sent_while_it_opened_does_not_come_back_as_a_draft(tmp_path: Path) -> None:
    opened: list[bool] = []
    async with on_screen(
        tmp_path, replies=[["Yes."]], waits_for_ready=False, opens_when=lambda: bool(opened)
    ) as chat:
        await chat.types("question")
        drafts = chat.app.chat.drafts
        await chat.until(lambda: drafts.read("new") == "question")
        await chat.presses("enter")
        opened.append(True)
        await chat.shows("Yes.")
        assert chat.prompt == ""
        await chat.until(lambda: drafts.read("new") == "")


async def test_following_ends_when_somebody_scrolls_up_and_end_follows_again(tmp_path: Path) -> None:
    long = "\n\n".join(f"Line {n}." for n in range(40))
    async with on_screen(tmp_path, replies=[[long, HOLD, "\n\nAnd more.\n\nAnd the end."]]) as chat:
        await chat.sends("one")
        await chat.shows("Line 39.")
        await chat.presses("pageup")
        await chat.until(lambda: "Line 39." not in chat.text)
        chat.go_on()
        await chat.shows("new lines, End to follow")
        assert "And the end." not in chat.text
        await chat.presses("end")
        await chat.shows("And the end.")
        assert "End to follow" not in chat.text
        words = chat.app.chat.conversation.query(AnswerText).last()
        width = words.size.width
        await words.remove()  # what was taken off the screen is painted as nothing
        assert [strip.text for strip in words.render_lines(Region(0, 0, width, 1))] == [" " * width]


def learned(receipt_id: int, text: str = "The room closes at four.") -> Learned:
    return Learned(
        claim_id=receipt_id,
        turn_id=1,
        text=text,
        kind="fact",
        state="stored",
        status="correct",
        confidence=0.9,
        scope="yours",
        action="add",
        reason="",
        passage_id=7,
        receipt_id=receipt_id,
    )


def remembered(assistant: Assistant, user_id: int, *, text: str) -> int:
    _, receipt_id = assistant.stores.knowledge.remember(user_id, text)
    return receipt_id


async def test_of_several_notices_the_newest_is_shown_and_the_others_wait_behind_it(tmp_path: Path) -> None:
    async with on_screen(tmp_path) as chat:
        for said in ("Tea.", "Milk."):
            kept = await chat.app.chat.desk.look(partial(remembered, text=said))
            chat.app.chat.heard(learned(kept, said))
        await chat.shows("1 of 2 · ^G u undo · ^G w why")
        assert "Learned, yours" in chat.text
        assert "“Milk.”" in chat.text
        assert "“Tea.”" not in chat.text
        chat.app.chat.notices.done()
        await chat.shows("2 of 2 · ^G u undo · ^G w why")
        assert "“Tea.”" in chat.text
        kept = await chat.app.chat.desk.look(partial(remembered, text="Bread."))
        chat.app.chat.heard(learned(kept, "Bread."))
        await chat.shows("1 of 2 · ^G u undo · ^G w why")  # of those that are still told
        assert "“Bread.”" in chat.text
        assert chat.app.chat.prompt.has_focus


async def test_a_notice_stays_ten_seconds_and_until_the_next_message_and_a_new_one_comes_first(
    tmp_path: Path,
) -> None:
    moment = [0.0]
    async with on_screen(tmp_path) as chat:
        line = chat.app.chat.notices
        line.clock = lambda: moment[0]
        line.put(Notice("one"))
        moment[0] = 60.0
        line.look()
        assert line.current == Notice("one")  # nothing was sent
        line.done()
        for words in ("one", "two", "three"):
            line.put(Notice(words))
        line.message_sent()
        assert line.current == Notice("three")
        line.put(Notice("four"))  # of that message
        for moment[0] in (69.9, 80.0):
            line.look()
            assert line.current == Notice("four")  # until the next message
        line.message_sent()
        shown = [line.current]
        for moment[0] in (89.9, 90.0, 100.0, 110.0):
            line.look()
            shown.append(line.current)
        assert shown == [Notice("three"), Notice("three"), Notice("two"), Notice("one"), None]


async def test_what_is_sent_is_in_view(tmp_path: Path) -> None:
    long = "\n\n".join(f"Line {n}." for n in range(40))
    async with on_screen(tmp_path, replies=[[long], ["Yes."]], follows=False) as chat:
        await chat.asks("one")
        await chat.presses("pageup")
        await chat.sends("the second question")
        await chat.shows("the second question")

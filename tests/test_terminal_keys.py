"""Each key reaches its action: pressed while the prompt has the focus, or where it is told to work."""

from __future__ import annotations

from pathlib import Path

import pytest
from screen_fixtures import ANSWER, HOLD, QUESTION, ChatOnScreen, on_screen
from textual import events

from assistant.terminal.engine.engine import SessionChoice
from assistant.terminal.engine.near_commands import did_you_mean
from assistant.terminal.input.keys import PLACES, keymap, shown
from assistant.terminal.why.why_view import WhyScreen
from assistant.terminal.widgets.page_screen import PageScreen
from assistant.terminal.widgets.questions import Question
from stores.base.errors import WrongUsage
from stores.database.tables import Feedback, Turn


def ratings(chat: ChatOnScreen) -> list[tuple[int, str, int | None]]:
    """What is kept of ratings: turn, rating, version."""
    assistant = chat.app.chat.desk._known_assistant
    with assistant.stores.database.reading() as sql:
        return [(f.turn_id, f.rating, f.version_id) for f in sql.query(Feedback).order_by(Feedback.id)]


# In the prompt ----------------------------------------------------------------------------------


async def test_enter_sends_and_ctrl_j_shift_enter_and_pastes_are_new_lines(tmp_path: Path) -> None:
    async with on_screen(tmp_path, replies=[["Yes."], ["And."]]) as chat:
        await chat.presses("a", "ctrl+j", "b", "shift+enter", "c")
        assert chat.prompt == "a\nb\nc"
        await chat.presses("enter")
        await chat.shows("Yes.")
        chat.app.post_message(events.Paste("one\r\ntwo\x1b[31m\n"))
        await chat.until(lambda: chat.prompt == "one\ntwo[31m\n")
        chat.app.chat.prompt.put("")
        await chat.asks("//etc is a folder")
        with chat.app.chat.desk._known_assistant.stores.database.reading() as sql:
            assert [turn.message for turn in sql.query(Turn)] == ["a\nb\nc", "/etc is a folder"]


async def test_send_with_ctrl_j_makes_enter_the_new_line(tmp_path: Path) -> None:
    async with on_screen(tmp_path, replies=[["Yes."]], send_with="ctrl+j") as chat:
        await chat.presses("a", "enter", "b")
        assert chat.prompt == "a\nb"
        await chat.presses("ctrl+j")
        await chat.shows("Yes.")


async def test_enter_amid_a_burst_of_keys_is_a_new_line_also_behind_a_marked_paste(tmp_path: Path) -> None:
    async with on_screen(tmp_path, replies=[["Yes."], ["And."]], burst_seconds=1e6) as chat:
        for key in ("a", "b", "enter", "c", "enter", "enter", "d"):
            chat.app.post_message(events.Key(key, key if len(key) == 1 else None))
        await chat.until(lambda: chat.prompt == "ab\nc\n\nd")
        await chat.presses("enter")
        await chat.shows("Yes.")
        chat.app.post_message(events.Paste("pasted"))
        for key in ("a", "b", "enter", "c"):
            chat.app.post_message(events.Key(key, key if len(key) == 1 else None))
        await chat.until(lambda: chat.prompt == "pastedab\nc")


async def test_keys_act_in_the_order_in_which_they_were_pressed_however_fast_they_come(
    tmp_path: Path,
) -> None:
    async with on_screen(tmp_path, replies=[["Yes."]]) as chat:
        for key in ("x", "backspace", "a", "b", "left", "c", "end", "d", "enter", "e", "f", "backspace"):
            chat.app.post_message(events.Key(key, key if len(key) == 1 else None))
        await chat.shows("Yes.")
        assert chat.app.chat.conversation.messages[0].text == "acbd"
        assert chat.prompt == "e"


async def test_a_long_paste_is_folded_unfolded_with_enter_on_it_and_sent_whole(tmp_path: Path) -> None:
    long = "\n".join(f"line {n}" for n in range(21))
    async with on_screen(tmp_path, replies=[["Yes."]]) as chat:
        chat.app.post_message(events.Paste(long))
        await chat.until(lambda: chat.prompt == "[21 lines pasted]")
        await chat.presses("left", "enter")
        assert chat.prompt == long
        chat.app.chat.prompt.put("")
        chat.app.post_message(events.Paste(long))
        await chat.until(lambda: chat.prompt == "[21 lines pasted]")
        await chat.presses("enter")
        await chat.shows("Yes.")
        assert chat.app.chat.conversation.messages[0].text == long


async def test_tab_completes_commands_paths_and_documents_and_otherwise_goes_to_the_next_pane(
    tmp_path: Path,
) -> None:
    (tmp_path / "notes with blanks.md").write_text("x")
    async with on_screen(tmp_path) as chat:
        for typed, completed in (
            ("/rem", "/remember "),
            ("/me", "/memory "),
            ("/copy c", "/copy code"),
            (f"/ingest {tmp_path}/no", f"/ingest {tmp_path}/notes with blanks.md"),
            ("when, says @r", "when, says @rules.md "),
        ):
            chat.app.chat.prompt.put(typed)
            await chat.presses("tab")
            await chat.until(lambda completed=completed: chat.prompt == completed)  # type: ignore[misc]
        chat.app.chat.prompt.put("@beer")
        await chat.presses("tab")
        await chat.shows("nothing begins with @beer")
        for typed in ("hello", "ann@r"):
            chat.app.chat.prompt.put(typed)
            chat.app.chat.prompt.focus()
            await chat.presses("tab")
            await chat.until(lambda: not chat.app.chat.prompt.has_focus)


async def test_up_and_down_bring_older_and_newer_prompts_and_the_draft(tmp_path: Path) -> None:
    async with on_screen(tmp_path, replies=[["1"], ["2"]]) as chat:
        await chat.asks("first\nof two lines")
        await chat.asks("second")
        await chat.types("draft")
        await chat.presses("up")
        assert chat.prompt == "second"
        await chat.presses("up", "up")  # the second of these goes up a line
        assert chat.prompt == "first\nof two lines"
        await chat.presses("down", "down")
        assert chat.prompt == "second"
        await chat.presses("down")
        assert chat.prompt == "draft"


async def test_ctrl_c_stops_copies_clears_and_twice_leaves(tmp_path: Path) -> None:
    async with on_screen(tmp_path, replies=[["Half of it", HOLD]]) as chat:
        await chat.sends("one")
        await chat.shows("Half of it")
        await chat.presses("ctrl+n")
        assert "a reply is being written: Esc stops it" in chat.text  # the session is not left
        await chat.presses("ctrl+c")
        await chat.shows("stopped")
        await chat.types("typed")
        await chat.presses("shift+home", "ctrl+c")
        assert chat.prompt == chat.app.clipboard == "typed"
        await chat.presses("end", "ctrl+c")
        assert chat.prompt == ""
        await chat.presses("up")
        assert chat.prompt == "typed"
        chat.app.chat.prompt.put("two")
        await chat.presses("ctrl+z")
        assert chat.prompt == "typed"
        await chat.presses("ctrl+c", "ctrl+c")
        assert "Ctrl+C again or Ctrl+D leaves" in chat.text
        await chat.presses("ctrl+c")
        await chat.until(lambda: not chat.app.is_running)
        assert chat.app.return_value == 130


async def test_ctrl_d_deletes_to_the_right_and_leaves_on_an_empty_prompt(tmp_path: Path) -> None:
    async with on_screen(tmp_path) as chat:
        await chat.types("ab")
        await chat.presses("home", "ctrl+d")
        assert chat.prompt == "b"
        await chat.presses("ctrl+d", "ctrl+d")
        await chat.until(lambda: not chat.app.is_running)
        assert chat.app.return_value == 0


# Everywhere -------------------------------------------------------------------------------------


async def test_ctrl_n_begins_a_new_session_and_f5_goes_back(tmp_path: Path) -> None:
    async with on_screen(tmp_path, replies=[["1"], ["2"]]) as chat:
        await chat.asks("in the first session")
        await chat.presses("ctrl+n")
        await chat.shows("New session")
        await chat.until(lambda: not chat.app.chat.conversation.messages)
        await chat.asks("in the second session")
        await chat.presses("f5")
        await chat.shows("Sessions · 2")
        await chat.presses("slash")
        await chat.types("first")
        await chat.shows("Sessions · 1")
        await chat.presses("enter", "enter")
        await chat.until(lambda: chat.screen is chat.app.chat)
        await chat.shows("in the first session")
        assert "in the second session" not in chat.text
        first = chat.app.chat.talk.session_id
        await chat.asks("and on")
        with chat.app.chat.desk._known_assistant.stores.database.reading() as sql:
            assert [t.session_id == first for t in sql.query(Turn).order_by(Turn.id)] == [True, False, True]


async def test_ctrl_g_rates_the_last_answer_takes_a_correction_and_gives_the_draft_back(
    tmp_path: Path,
) -> None:
    async with on_screen(tmp_path, replies=[[ANSWER]]) as chat:
        await chat.presses("ctrl+g")
        assert "no answer to rate yet" in chat.text
        await chat.asks(QUESTION)
        await chat.presses("ctrl+g", "plus")
        await chat.shows(" s · good")
        assert chat.app.chat.prompt.has_focus
        await chat.presses("ctrl+g", "minus")
        await chat.shows(" s · bad")
        await chat.types("draft")
        await chat.presses("ctrl+g", "t")
        assert "What should the answer of turn 1 have been?" in chat.text
        assert chat.prompt == ""
        await chat.presses("escape")
        assert chat.prompt == "draft"
        await chat.presses("ctrl+g", "t")
        await chat.types("At nine")
        await chat.presses("enter")
        await chat.shows("Kept for turn 1, yours, as")
        assert chat.prompt == "draft"
        assert ratings(chat) == [(1, "good", None), (1, "bad", None), (1, "taught", None)]


# Reading ----------------------------------------------------------------------------------------


# Changing keys ----------------------------------------------------------------------------------


async def test_a_key_is_changed_by_its_id_and_help_and_the_line_of_keys_tell_the_new_one(
    tmp_path: Path,
) -> None:
    async with on_screen(tmp_path, replies=[[ANSWER]], keys={"help": "f9", "rate": "ctrl+t"}) as chat:
        await chat.asks(QUESTION)
        assert "F9 help" in chat.text
        assert "^T rate" in chat.text
        await chat.presses("f1")
        assert chat.screen is chat.app.chat
        await chat.opens(PageScreen, "f9")
        await chat.presses("escape", "ctrl+t")
        await chat.shows("Last answer:")
        await chat.opens(WhyScreen, "escape", "f2")
        await chat.presses("f6")
        await chat.shows("F6 does nothing here · F9 lists keys")


def test_an_id_that_there_is_not_is_named_with_the_nearest() -> None:
    with pytest.raises(WrongUsage) as raised:
        keymap({"wy": "f9"}, send_with="enter")
    assert "terminal.keys.wy" in raised.value.message
    assert raised.value.hint == "Did you mean why?"


def test_keys_are_told_as_a_person_reads_them() -> None:
    assert shown("ctrl+j,shift+enter") == "^J, Shift+Enter"
    assert shown("plus,equals_sign") == "+, ="
    assert shown("f2") == "F2"
    assert shown("G") == "G"


def test_every_id_is_there_once() -> None:
    ids = [key.id for keys in PLACES.values() for key in keys]
    assert len(ids) == len(set(ids))


# Commands ---------------------------------------------------------------------------------------


async def test_a_mistyped_command_is_typed_over_mended_or_cleared_by_escape(tmp_path: Path) -> None:
    async with on_screen(tmp_path, replies=[["Yes."]]) as chat:
        await chat.asks("Is it open?")
        await chat.sends("/rember the milk")
        await chat.shows("Did you mean /remember?")
        await chat.presses("escape")
        await chat.until(lambda: chat.prompt == "")
        assert not chat.app.chat.conversation.has_focus
        assert "There is no command" not in chat.text
        await chat.presses("up")  # nothing typed is ever lost
        await chat.until(lambda: chat.prompt == "/rember the milk")
        await chat.presses("enter")
        await chat.shows("Did you mean /remember?")
        await chat.types("x")
        await chat.until(lambda: chat.prompt == "x")
        await chat.presses("escape")  # another text waits in the prompt, as ever
        await chat.until(lambda: chat.app.chat.conversation.has_focus)
        assert chat.prompt == "x"


def test_the_nearest_commands_are_named() -> None:
    commands = ("/forget", "/find", "/help", "/remember", "/replay", "/retry")
    assert did_you_mean("/forgte", commands) == "Did you mean /forget?"
    assert did_you_mean("/H", commands) == "Did you mean /help?"
    assert did_you_mean("/re", commands) == "Did you mean /remember, /replay or /retry?"
    assert did_you_mean("/zzz", commands) == ""
    assert did_you_mean("/frobnicate", ("/private", *commands)) == ""
    assert did_you_mean("/fnid", commands) == "Did you mean /find?"
    assert did_you_mean("/memry", ("/memory", *commands)) == "Did you mean /memory?"
    assert did_you_mean("/exit", ("/edit", *commands)) == "Did you mean /edit?"
    assert did_you_mean("/", ("/a-long-one",)) == ""


async def test_forgetting_asks_first_and_anything_but_yes_keeps(tmp_path: Path) -> None:
    async with on_screen(tmp_path) as chat:
        await chat.asks("/remember I like tea.")
        for key, said in (("escape", "Nothing was forgotten."), ("y", "Forgotten: “I like tea.”")):
            await chat.sends("/forget 2")
            await chat.until(lambda: isinstance(chat.screen, Question))
            assert "Forget this passage for good? This cannot be undone." in chat.text
            await chat.presses(key)
            await chat.shows(said)


async def test_private_says_so_in_the_header_and_new_takes_a_title(tmp_path: Path) -> None:
    async with on_screen(tmp_path, size=(120, 30)) as chat:
        await chat.sends("/private")
        await chat.shows("Private: not remembered, trained on or found")
        await chat.asks("Is it open?")
        await chat.presses("f5")
        await chat.shows("(private)")  # no word of it stands in the list
        await chat.presses("e", *["backspace"] * 9)
        await chat.types("Secret")
        await chat.presses("enter", "escape")
        await chat.shows("Private: not remembered, trained on or found · Secret")
        await chat.sends("/new Holiday")
        await chat.shows(" Holiday")
        await chat.until(lambda: not chat.app.chat.conversation.messages)
        assert "Private" not in chat.text
    # also when it is opened again
    async with on_screen(tmp_path, choice=SessionChoice(2), size=(120, 30)) as chat:
        await chat.shows("Private: not remembered, trained on or found · Secret")


async def test_help_opens_and_quit_leaves_by_their_commands(tmp_path: Path) -> None:
    async with on_screen(tmp_path) as chat:
        await chat.sends("/help")
        await chat.until(lambda: isinstance(chat.screen, PageScreen))
        await chat.presses("escape")
        await chat.sends("/help before LIVE")  # only what has both words
        await chat.shows("answers by the live model and the one before")
        assert "/undo" not in chat.text
        await chat.presses("escape")
        await chat.sends("/quit")
        await chat.until(lambda: not chat.app.is_running)
        assert chat.app.return_value == 0

"""What the lines of the chat tell: header, notices, status and answers, for how long and in how much room."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from round_rows import of
from screen_fixtures import ANSWER, QUESTION, ChatOnScreen, on_screen
from test_terminal_chat import learned

from agents.backends.extractive import NOT_SURE
from assistant.terminal.conversation.message_view import MessageView
from assistant.terminal.conversation.prompt import FoldedPastes
from assistant.terminal.facts.messages import FORGOTTEN, Message, messages_of, passage_name
from assistant.terminal.memory.memory_screen import MemoryScreen
from assistant.terminal.why.why_view import WhyView
from assistant.terminal.widgets.page_screen import PageScreen
from assistant.terminal.widgets.two_sided_line import broken
from stores.base.passages import Passage
from stores.database.tables import Turn


async def test_a_narrow_notice_shortens_the_quoted_text_and_never_the_way_back(tmp_path: Path) -> None:
    async with on_screen(tmp_path, size=(80, 12)) as chat:
        chat.app.chat.heard(
            learned(12_345, "My cat is called Ada and sleeps on the blue chair by the window.")
        )
        words = chat.app.chat.notices.left  # at once: a write that is not there is withdrawn
        assert words.startswith("Learned, yours: “My cat is ")
        assert words.endswith("…” · /undo 12345")
        assert len(words) + 1 + len(chat.app.chat.notices.right) <= chat.app.size.width - 2
        await chat.until(lambda: chat.app.chat.notices.current is None)  # it was looked for


async def test_what_was_told_goes_after_a_while_and_what_holds_stays(tmp_path: Path) -> None:
    moment = [0.0]
    async with on_screen(tmp_path) as chat:
        screen = chat.app.chat
        screen.clock = lambda: moment[0]
        screen.tell("noted for turn 22: taught")
        moment[0] = 5.9
        screen._look_at_training()
        assert "noted for turn 22" in chat.text
        moment[0] = 6.0
        await chat.until(lambda: "noted for turn 22" not in chat.text)
        screen.tell("offline: nobody answers", stays=True)
        moment[0] = 60.0
        screen._look_at_training()
        await chat.shows("offline: nobody answers")


async def test_ctrl_c_on_another_screen_names_the_keys_that_lead_out(tmp_path: Path) -> None:
    async with on_screen(tmp_path) as chat:
        await chat.opens(MemoryScreen, "f3")
        await chat.presses("ctrl+c")
        await chat.shows("Esc goes back · Ctrl+Q leaves")
        assert "Do you want to quit" not in chat.text


def test_words_that_were_forgotten_are_told_as_forgotten() -> None:
    moment = datetime(2026, 11, 1, tzinfo=UTC)
    passage = Passage(1, 1, "user:1", "note", "", "", None, 0, "", "", moment)
    assert passage_name(passage) == FORGOTTEN
    turn = Turn(id=1, session_id=1, user_id=1, message="Where?", state="done", accepted_at=moment)
    assert [message.text for message in messages_of([turn], {})] == ["Where?", FORGOTTEN]


def test_a_paste_that_ends_its_last_line_has_no_line_behind_it() -> None:
    lines = "\n".join(f"line {n}" for n in range(50))
    assert FoldedPastes().fold(lines) == FoldedPastes().fold(f"{lines}\n") == "[50 lines pasted]"


def go_live(chat: ChatOnScreen, version: str) -> None:
    """A round that ends with its model live, as its learner writes it."""
    rounds = of(chat).stores.rounds
    number = rounds.begin("retriever", {})
    rounds.promote(
        number,
        "query encoder",
        version,
        "Promoted.",
        details={},
        figures={},
        before_the_first="untrained",
        compared_with={"query encoder": of(chat).stores.live_models.live("query encoder")},
    )


async def test_the_header_tells_which_trained_model_is_live(tmp_path: Path) -> None:
    async with on_screen(tmp_path) as chat:
        assert "model" not in chat.text.splitlines()[0]  # none was trained
        go_live(chat, "first-1111")
        go_live(chat, "second-2222")
        chat.app.chat.heard_of_training("Round 2 went live.")
        told = "0 yours · 1 shared · scripted · model 2"
        await chat.until(lambda: chat.text.splitlines()[0].endswith(told))
        of(chat).stores.live_models.step_back("query encoder")
        chat.app.chat.heard_of_training("told")
        await chat.until(lambda: chat.text.splitlines()[0].endswith(" · model 1"))


LONG = (
    "Round 3 was refused: nDCG@10 lost 1.40 points on the held-out questions of October, "
    "which is more than the 1.00 points that are allowed. The live model stays as it is."
)


def squeezed(screen: str) -> str:
    return " ".join(screen.split())


def test_words_are_broken_between_words_and_a_long_word_within() -> None:
    assert broken("one two three", 7) == ["one two", "three"]
    assert broken("a abcdefgh b", 3) == ["a", "abc", "def", "gh", "b"]
    assert broken("", 5) == [""]
    assert broken("日本語 x", 4) == ["日本", "語 x"]


async def test_what_one_row_does_not_hold_is_told_whole_on_several(tmp_path: Path) -> None:
    async with on_screen(tmp_path) as chat:
        chat.app.chat.tell(LONG, stays=True)
        await chat.until(lambda: LONG in squeezed(chat.text))
        chat.app.chat.tell("short", stays=True)
        await chat.until(lambda: "The live model" not in chat.text)
        assert chat.app.chat.query_one("#status").size.height == 1
        chat.app.chat.heard_of_training(LONG)  # as a notice
        await chat.until(lambda: LONG in squeezed(chat.text))
        assert "^G w why" in chat.text
        chat.app.chat.session_title = "t" * 60
        chat.app.chat.show_header()
        await chat.shows(f"{'t' * 60} ")
        assert " shared ·" not in chat.text  # the counts give way first
        assert chat.text.splitlines()[0].endswith(" scripted")


async def test_where_it_is_cut_the_list_of_notices_tells_it_whole(tmp_path: Path) -> None:
    async with on_screen(tmp_path, size=(80, 12), replies=[[ANSWER]]) as chat:
        await chat.asks(QUESTION)
        chat.app.chat.heard_of_training(LONG)
        await chat.shows("Round 3 was refused")
        assert "…" in chat.text
        await chat.opens(PageScreen, "ctrl+g", "n")
        await chat.until(lambda: LONG in squeezed(chat.text.replace("│", " ")))
        await chat.presses("escape")
        await chat.sends("/notices")
        await chat.until(lambda: isinstance(chat.screen, PageScreen))


async def test_why_takes_its_share_of_a_wide_screen(tmp_path: Path) -> None:
    async with on_screen(tmp_path, size=(100, 50), replies=[[ANSWER]]) as chat:
        await chat.asks(QUESTION)
        await chat.presses("f2")
        await chat.shows("used from")
        pane = chat.app.chat.query_one("#why", WhyView)
        for width, wide in ((100, 46), (160, 60), (200, 76)):
            await chat.pilot.resize_terminal(width, 50)
            await chat.until(lambda wide=wide: pane.outer_size.width == wide)  # type: ignore[misc]
        row = next(line for line in chat.text.splitlines() if "[1]  " in line and "shared" in line)
        assert "House rules" in row[200 - 76 :]  # on one row where there is room


def test_it_is_known_by_the_words_it_begins_with_where_passages_are_quoted() -> None:
    quoted = Message("Assistant", f"{NOT_SURE} “It opens at ten.” [1]", 1, seconds=0.4, is_quoted=True)
    assert quoted.is_unsure
    assert quoted.label == "0.4 s · not sure"
    assert not Message("Assistant", quoted.text, 1).is_unsure  # a model that writes has its own words
    assert not Message("Assistant", "“It opens at ten.” [1]", 1, is_quoted=True).is_unsure


async def test_its_words_do_not_look_like_those_of_an_answer(tmp_path: Path) -> None:
    async with on_screen(tmp_path, replies=[[f"{NOT_SURE} “At ten.” [1]"], ["“At ten.” [1]"]]) as chat:
        chat.app.chat.talk.model_name = "extractive (quotes only)"
        for _ in range(2):
            await chat.asks(QUESTION)
        await chat.shows(" s · not sure")
        unsure, sure = (
            view for view in chat.app.chat.query(MessageView).results() if view.message.speaker == "Assistant"
        )
        assert unsure.query_one(".words").styles.text_style.italic
        assert not sure.query_one(".words").styles.text_style.italic
        strips = chat.app.screen._compositor.render_strips()
        painted = {
            segment.style.italic
            for strip in strips
            for segment in strip
            if "I am not sure" in segment.text and segment.style is not None
        }
        assert painted == {True}

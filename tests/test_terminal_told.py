"""What the lines of the chat tell, for how long, and in how much room."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from screen_fixtures import on_screen
from test_terminal_chat import learned

from assistant.terminal.conversation.prompt import FoldedPastes
from assistant.terminal.facts.messages import FORGOTTEN, messages_of, passage_name
from assistant.terminal.memory.memory_screen import MemoryScreen
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
        await chat.presses("f3")
        await chat.until(lambda: isinstance(chat.screen, MemoryScreen))
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

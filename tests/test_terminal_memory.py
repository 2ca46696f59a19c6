"""The Memory screen: how it opens, what it lists, and what it tells of each memory."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from memory_on_screen import (
    assistant_of,
    opened,
    put_claim,
    remembered,
    scope,
    settled,
    stored,
    texts,
)
from pressed_keys import back_to_the_prompt
from rich.cells import cell_len
from screen_fixtures import ANSWER, HANDBOOK, QUESTION, on_screen
from textual.widgets import Input

from assistant.terminal.memory.memory_list import MemoryList
from assistant.terminal.memory.memory_screen import MemoryScreen
from assistant.terminal.memory.privacy_screen import PrivacyScreen
from assistant.terminal.widgets.page_screen import PageScreen
from assistant.wiring.assistant import Assistant
from stores.base.clock import now
from stores.base.one_line import short
from stores.claims.claims import NewClaim
from stores.database.tables import Round, StatedClaim

# Opening ----------------------------------------------------------------------------------------


async def test_it_opens_before_it_is_ready_only_with_a_word(tmp_path: Path) -> None:
    opens: list[int] = []
    async with on_screen(tmp_path, waits_for_ready=False, opens_when=lambda: bool(opens)) as chat:
        await chat.presses("f3")
        await chat.shows("not yet: still opening")
        opens.append(1)
        await chat.is_ready()


async def test_the_command_takes_words_and_a_number(tmp_path: Path) -> None:
    async with on_screen(tmp_path) as chat:
        tea, _ = await remembered(chat, "I like tea.", "My bicycle is red.")
        await chat.sends("/memory bicycle")
        await chat.until(lambda: isinstance(chat.screen, MemoryScreen))
        await settled(chat)
        assert texts(chat) == ["My bicycle is red."]
        await chat.presses("escape")
        await settled(chat)
        assert len(texts(chat)) == 2
        await chat.goes_back()
        await chat.sends(f"/memory {tea}")
        await chat.until(lambda: isinstance(chat.screen, PageScreen))
        await chat.shows(f"Memory {tea}")
        await chat.opens(MemoryScreen, "escape")


async def test_a_number_that_names_no_memory_is_looked_for_or_told_in_the_chat(tmp_path: Path) -> None:
    async with on_screen(tmp_path) as chat:
        _, gone = await remembered(chat, "My locker number is 214.", "I like tea.")
        await stored(chat, lambda assistant, user: assistant.stores.knowledge.set_aside(user, [gone]))
        await chat.sends(f"/memory {gone}")  # what is left of it
        await chat.until(lambda: isinstance(chat.screen, PageScreen))
        await chat.shows(f"Memory {gone}")
        await back_to_the_prompt(chat)
        await chat.sends("/memory 214")
        await chat.until(lambda: isinstance(chat.screen, MemoryScreen) and texts(chat) != [])
        await chat.until(lambda: texts(chat) == ["My locker number is 214."])
        await back_to_the_prompt(chat)
        for number in ("99999", "9" * 40):
            await chat.sends(f"/memory {number}")
            await chat.shows(f"there is no memory {short(number, 30)}, and none says")
            assert chat.screen is chat.app.chat
            chat.app.chat.prompt.put("")


async def test_an_empty_memory_says_how_to_begin(tmp_path: Path) -> None:
    async with on_screen(tmp_path) as chat:
        await opened(chat)
        await chat.shows("Nothing of yours is remembered yet.")
        await chat.presses("x", "u", "s", "e", "enter")
        await chat.shows("nothing is marked")
        await chat.presses("U")
        await chat.shows("Take back: add “ingested rules.md”, for every user?")
        await chat.presses("y")
        await chat.shows("Undone: added “ingested rules.md”.")
        await chat.presses("U")
        await chat.shows("there is nothing to undo")


# The list ---------------------------------------------------------------------------------------


async def test_the_scopes_have_their_counts_and_tab_goes_through_them(tmp_path: Path) -> None:
    async with on_screen(tmp_path) as chat:
        keep, gone = await remembered(chat, "I like tea.", "I like coffee.")
        await stored(chat, lambda assistant, user: assistant.stores.knowledge.set_aside(user, [gone]))
        await stored(chat, partial(put_claim, text="The lift works."))
        await opened(chat)
        assert "All (2)  [Yours (1)]  Shared (1)  Waiting for check (1)  Forgotten (1)" in chat.text
        seen = []
        for _ in range(5):
            await chat.presses("tab")
            await settled(chat)
            seen.append(texts(chat))
        assert seen[0] == [f"House rules: {HANDBOOK}"]
        assert seen[1] == ["The lift works."]
        assert len(seen[2]) == 1
        assert seen[2][0].endswith("I like coffee.")
        assert seen[3] == ["I like tea.", f"House rules: {HANDBOOK}"]
        assert seen[4] == ["I like tea."]
        await chat.presses("shift+tab")
        await settled(chat)
        assert len(texts(chat)) == 2
        assert keep < gone


async def test_words_find_as_they_are_typed_also_in_what_was_said(tmp_path: Path) -> None:
    async with on_screen(tmp_path, replies=[["Noted."]]) as chat:
        await chat.asks("Tea is served at four.")
        await remembered(chat, "I like tea.", "I like coffee.", "Half a % of TEA.")
        await opened(chat)
        await chat.presses("slash")
        await chat.types("tea")
        await chat.until(lambda: texts(chat) == ["Half a % of TEA.", "I like tea.", "Tea is served at four."])
        await chat.types(" like")
        await chat.until(lambda: texts(chat) == ["I like tea."])
        assert "[Yours (1)]" in chat.text
        await chat.types(" x")
        await chat.shows("Nothing here says “tea like x”. Esc shows everything again.")
        await chat.presses("escape")
        await chat.until(lambda: len(texts(chat)) == 3)
        assert chat.screen.query_one(MemoryList).has_focus
        await chat.presses("slash", "%")
        await chat.presses("enter")
        await chat.until(lambda: texts(chat) == ["Half a % of TEA."])
        assert chat.screen.query_one(MemoryList).has_focus
        assert chat.screen.query_one(Input).display


async def test_ten_thousand_memories_open_by_page(tmp_path: Path) -> None:
    async with on_screen(tmp_path) as chat:
        await stored(chat, _ten_thousand)
        screen = await opened(chat)
        assert "[Yours (10000)]" in chat.text
        assert len(screen._rows) == 200
        await chat.presses("end")
        await chat.until(lambda: len(screen._rows) == 400)
        await settled(chat)
        assert screen._rows[0].text == "memory 9999"
        assert screen._rows[399].text == "memory 9600"
        assert screen.query_one(MemoryList).option_count == 400


def _ten_thousand(assistant: Assistant, user: int) -> None:
    from stores.base.passages import own_space
    from stores.versions.changes import NewVersion, add_versions
    from stores.versions.receipts import open_receipt

    space = own_space(user)
    with assistant.stores.database.writing() as sql:
        receipt = open_receipt(sql, user, "add", space, "many")
        versions = [NewVersion(text=f"memory {n}", kind="fact") for n in range(10_000)]
        add_versions(sql, space, versions, author="user", receipt_id=receipt)


# The box and the page ---------------------------------------------------------------------------


async def test_the_box_tells_where_it_is_from_what_checked_it_and_what_became_of_it(tmp_path: Path) -> None:
    async with on_screen(tmp_path, size=(100, 40), replies=[["Noted."], [ANSWER]]) as chat:
        await chat.asks("I read German and French.")

        def learned(assistant: Assistant, user: int) -> int:
            number, receipt = assistant.stores.knowledge.remember(
                user, "Reads German.", kind="fact", turn_id=1
            )
            with assistant.stores.database.writing() as sql:
                sql.add(
                    StatedClaim(
                        user_id=user,
                        turn_id=1,
                        origin="turn",
                        number=1,
                        text="Reads German.",
                        text_key="read german",
                        quote="I read German and French.",
                        kind="fact",
                        about="world",
                        state="stored",
                        status="unknown",
                        confidence=0.93,
                        scope="yours",
                        passage_id=number,
                        receipt_id=receipt,
                        grounds={"reason": "nothing says otherwise"},
                        created_at=now(),
                    )
                )
                sql.add(Round(recipe="r", state="promoted", settings={"turns": [1]}, created_at=now()))
                sql.add(Round(recipe="r", state="promoted", settings={"turns": [7]}, created_at=now()))
            return number

        await stored(chat, learned)
        await opened(chat)
        await chat.shows("fact · yours only")
        for words in (
            "From      turn 1 of “I read German and French.”",
            "> You: I read German and French.",
            "Checked   unknown, 0.93 · stored, yours · nothing says otherwise",
            "Used      in no answer yet · by you: helped 0, not 0",
            "Trained   round 1 saw it",
            "Sent to   never left this machine",
        ):
            assert words in chat.text, chat.text


async def test_what_a_server_was_asked_with_is_told(tmp_path: Path) -> None:
    async with on_screen(tmp_path, replies=[[ANSWER]]) as chat:
        assistant_of(chat).turns.pipeline._server = "api.example.com"
        await chat.asks(QUESTION)
        await opened(chat)
        await scope(chat, "Shared")
        await chat.shows("api.example.com (scripted), with 1 answer, last")
        await chat.opens(PrivacyScreen, "p")
        assert "Api.example.com (scripted), with 1 answer" in chat.text


async def test_the_page_tells_all_versions_and_text_from_outside_steers_nothing(tmp_path: Path) -> None:
    async with on_screen(tmp_path, size=(100, 40)) as chat:
        (number,) = await remembered(chat, "I like tea.")
        hostile, shown = (
            "[bold]x[/bold] \x1b[31mred\x07 [link=a]b[/link",
            "[bold]x[/bold] [31mred [link=a]b[/link",
        )
        await stored(chat, lambda assistant, user: assistant.stores.knowledge.edit(user, number, hostile))
        await opened(chat)
        assert chat.text.count(shown) == 2
        await chat.opens(PageScreen, "enter")
        for told in (f"Memory {number}", shown, "“I like tea.”", "Version 2 by user", "Version 1 by user"):
            assert told in chat.text
        assert "Receipt 3: modify" in chat.text


# The palette ------------------------------------------------------------------------------------


async def test_a_check_that_was_taken_back_is_not_told_of_a_memory_that_is_known(tmp_path: Path) -> None:
    async with on_screen(tmp_path) as chat:
        (number,) = await remembered(chat, "The lift works.")
        claim = NewClaim(text="The lift works.", quote="The lift works.", kind="fact", about="world")

        def take_back(assistant: Assistant, user: int) -> None:
            assistant.stores.claims.put_one(user, claim, origin="share", passage_id=number)
            with assistant.stores.database.writing() as sql:
                sql.query(StatedClaim).update({"state": "withdrawn", "status": "correct", "confidence": 0.9})

        await stored(chat, take_back)
        await opened(chat)
        await chat.shows("what was checked of it was taken back")
        assert "withdrawn" not in chat.text


async def test_wide_characters_keep_the_columns(tmp_path: Path) -> None:
    async with on_screen(tmp_path) as chat:
        await remembered(chat, "図書館は土曜日の十時に開きます。" * 4, "I like tea.")
        await opened(chat)
        rows = [line for line in chat.text.splitlines() if " you  " in line]
        assert [cell_len(row.partition(" you  ")[0]) for row in rows] == [60, 60]

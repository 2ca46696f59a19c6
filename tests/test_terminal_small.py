"""At 40 columns and 12 rows each screen still tells the keys that matter most, and shows what it is for."""

from __future__ import annotations

from pathlib import Path

from golden_screens import to_the_prompt
from pressed_keys import Act, before
from screen_fixtures import QUESTION, ChatOnScreen, on_screen


async def remembered(chat: ChatOnScreen) -> None:
    await chat.asks("/remember My locker number is 214.")
    await chat.presses("f3")
    await chat.shows("My locker")


async def found(chat: ChatOnScreen) -> None:
    await chat.presses("ctrl+f")
    await chat.shows("Words of a message")
    await chat.types("reading")
    await chat.shows("In this session")


ROWS: dict[str, tuple[Act, tuple[str, ...]]] = {
    "chat": (before(), ("Enter send", "Esc read", "F1 help")),
    "reading": (before("escape"), ("j next", "k previous", "Esc back")),
    "rating": (before("ctrl+g"), ("+", "-", "t", "w", "u", "Esc")),
    "why": (before("f2"), (">[1]", "Enter open", "+  -", "x remove", "Esc back")),
    "memory": (remembered, (">", "Enter open", "x forget", "u undo", "Esc back")),
    "training": (before("f4"), ("s start", "Space pause", "Esc back")),
    "sessions": (before("f5"), (">*", "Enter open", "x delete", "u undo", "Esc back")),
    "find": (found, (">2", "Enter open", "Esc back")),
    "log": (before("f8"), ("/ filter", "Esc back")),
    "help": (before("f1"), ("Esc back",)),
}


async def test_the_main_keys_are_told_where_there_is_little_room_and_the_prompt_comes_back(
    tmp_path: Path,
) -> None:
    async with on_screen(tmp_path, replies=[["It opens at ten [1]."]], size=(80, 24)) as chat:
        await chat.asks(QUESTION)
        await chat.pilot.resize_terminal(40, 12)
        for opens, told in ROWS.values():
            await opens(chat)
            for words in told:
                await chat.shows(words)
            assert all(len(row) <= 40 for row in chat.text.splitlines())
            await to_the_prompt(chat)
            assert chat.app.chat.prompt.region.height
        await chat.sends("/private")
        await chat.shows(" Private: not remembered or trained on\n")

"""The menu above the prompt."""

from __future__ import annotations

from pathlib import Path

from screen_fixtures import ChatOnScreen, on_screen

from assistant.settings.changed_settings import change_settings
from assistant.terminal.input.commands import OF_BOTH, OF_SCREEN


def _menu(chat: ChatOnScreen) -> list[str]:
    menu = chat.app.chat.menu
    return [choice.shown for choice in menu.choices] if menu.is_open else []


async def test_a_slash_lists_every_command_and_typing_filters_them(tmp_path: Path) -> None:
    async with on_screen(tmp_path) as chat:
        await chat.types("/")
        await chat.until(lambda: _menu(chat) == list(OF_BOTH | OF_SCREEN))
        await chat.types("s")
        await chat.until(lambda: _menu(chat) == ["/share", "/sessions", "/system", "/suspend"])
        await chat.types("ha")
        await chat.until(lambda: _menu(chat) == ["/share"])
        await chat.shows("offer a memory of yours to every user")
        await chat.presses("backspace", "backspace", "backspace", "backspace")
        await chat.until(lambda: not _menu(chat))


async def test_a_command_is_found_by_what_it_does(tmp_path: Path) -> None:
    async with on_screen(tmp_path) as chat:
        await chat.types("/colour")
        await chat.until(lambda: _menu(chat) == ["/theme"])


async def test_enter_takes_the_marked_command_and_carries_out_what_needs_no_words(tmp_path: Path) -> None:
    async with on_screen(tmp_path) as chat:
        await chat.types("/sess")
        await chat.until(lambda: _menu(chat) == ["/sessions"])
        await chat.presses("enter")
        await chat.shows("[open 0]")
        await chat.presses("escape")
        await chat.types("/forg")
        await chat.until(lambda: _menu(chat) == ["/forget"])
        await chat.presses("enter")
        await chat.until(lambda: chat.prompt == "/forget ")


async def test_arrows_move_the_mark_and_tab_takes_what_is_marked(tmp_path: Path) -> None:
    async with on_screen(tmp_path) as chat:
        await chat.types("/s")
        await chat.until(lambda: len(_menu(chat)) == 4)
        await chat.presses("down", "down", "up", "tab")
        await chat.until(lambda: chat.prompt == "/sessions ")
        await chat.presses("ctrl+u")
        await chat.types("/s")
        await chat.until(lambda: len(_menu(chat)) == 4)
        await chat.presses("up", "tab")
        await chat.until(lambda: chat.prompt == "/suspend ")


async def test_escape_closes_the_menu_and_keeps_what_is_typed(tmp_path: Path) -> None:
    async with on_screen(tmp_path) as chat:
        await chat.types("/s")
        await chat.until(lambda: len(_menu(chat)) == 4)
        await chat.presses("escape")
        await chat.types("e")
        await chat.until(lambda: chat.prompt == "/se")
        assert not _menu(chat)
        assert chat.app.chat.prompt.has_focus


async def test_an_earlier_message_opens_no_menu(tmp_path: Path) -> None:
    async with on_screen(tmp_path, replies=[["1"]]) as chat:
        chat.app.chat.prompt.sent += ["first", "/memory"]
        await chat.presses("up")
        await chat.until(lambda: chat.prompt == "/memory")
        await chat.presses("up")
        await chat.until(lambda: chat.prompt == "first")
        assert not _menu(chat)


async def test_an_at_sign_lists_documents_and_enter_takes_the_marked_one_without_sending(
    tmp_path: Path,
) -> None:
    async with on_screen(tmp_path) as chat:
        await chat.types("when, says @")
        await chat.until(lambda: _menu(chat) == ["@rules.md"])
        await chat.presses("enter")
        await chat.until(lambda: chat.prompt == "when, says @rules.md ")
        assert not chat.app.chat.conversation.messages


async def test_what_stands_behind_a_command_is_taken_only_by_hand(tmp_path: Path) -> None:
    (tmp_path / "notes.md").write_text("x")
    async with on_screen(tmp_path) as chat:
        await chat.types("/theme dr")
        await chat.until(lambda: _menu(chat) == ["dracula"])
        await chat.presses("enter")
        await chat.shows("no theme dr")
        await chat.presses("ctrl+u")
        await chat.types("/theme dr")
        await chat.until(lambda: _menu(chat) == ["dracula"])
        await chat.presses("down", "enter")
        await chat.until(lambda: chat.app.theme == "dracula")
        await chat.types("/ingest ~nobody-of-this-name/")
        await chat.until(lambda: not _menu(chat))
        await chat.presses("ctrl+u")
        await chat.types(f"/ingest {tmp_path}/n")
        await chat.until(lambda: _menu(chat) == [f"{tmp_path}/notes.md"])


async def test_a_chosen_theme_is_kept_in_the_settings_file(tmp_path: Path) -> None:
    kept: list[str] = []
    async with on_screen(tmp_path) as chat:
        chat.app._keep_theme = kept.append
        await chat.sends("/theme dracula")
        await chat.shows("dracula from now on")
    assert kept == ["dracula"]
    file = tmp_path / "settings.toml"
    file.write_text('# mine\n[model]\nname = "x"\n')
    change_settings(file, "terminal", {"theme": "dracula"})
    assert file.read_text() == '# mine\n[model]\nname = "x"\n\n[terminal]\ntheme = "dracula"\n'

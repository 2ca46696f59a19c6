"""Texts of [personas] that /system takes by their names."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from plain_fixtures import talk
from screen_fixtures import QUESTION, on_screen
from scripted_server import ScriptedServer, says
from test_model_choice import SERVER_ANSWERS, asking

PERSONAS = {"editor": "You edit texts.", "poet": "You rhyme."}


def test_a_persona_stays_with_its_session_whatever_becomes_of_the_settings(tmp_path: Path) -> None:
    with ScriptedServer(then=says(SERVER_ANSWERS)) as server, asking(tmp_path, server.base_url) as assistant:
        assistant.given.settings = replace(assistant.given.settings, personas=PERSONAS)
        told, session = talk(assistant, "/system @poet", "/system")
        assert told.count("Of all answers here is asked: You rhyme.") == 2
        assert "Personas: @editor, @poet." in told
        assistant.given.settings = replace(assistant.given.settings, personas={})
        talk(assistant, QUESTION, session=session)
        assert server.requests[-1].body["messages"][0]["content"].endswith("\nYou rhyme.")
        talk(assistant, QUESTION)
        assert "You rhyme." not in str(server.requests[-1].body)


def test_a_name_of_no_persona_lists_those_there_are_and_changes_nothing(tmp_path: Path) -> None:
    with asking(tmp_path) as assistant:
        told, _ = talk(assistant, "/system @poet")
        assert (
            "there is no persona poet\nThere is none so far. [personas] in settings.toml holds them." in told
        )
        assistant.given.settings = replace(assistant.given.settings, personas=PERSONAS)
        told, _ = talk(assistant, "/system Be curt.", "/system @pote", "/system")
        assert "there is no persona pote\nThere are: editor, poet." in told
        assert told.count("Of all answers here is asked: Be curt.") == 2


async def test_tab_completes_the_name_of_a_persona(tmp_path: Path) -> None:
    async with on_screen(tmp_path, size=(100, 30)) as chat:
        assistant = chat.app.chat.desk._known_assistant
        assistant.given.settings = replace(assistant.given.settings, personas=PERSONAS)
        chat.app.chat.prompt.put("/system @e")
        await chat.pilot.press("tab")
        await chat.until(lambda: chat.app.chat.prompt.text == "/system @editor")

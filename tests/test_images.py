"""Images that go with a message: from a file to the model's server, by both protocols and every door."""

from __future__ import annotations

import base64
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from cli_helpers import Vouch
from plain_fixtures import talk
from screen_fixtures import QUESTION, on_screen
from scripted_server import ScriptedServer, refuses, says
from test_model_choice import SERVER_ANSWERS, asking

from agents.backends.openai.chat import OpenAIChat
from agents.base.chat_interfaces import ChatMessage, Image, ReplyRequest
from assistant.settings.config import ModelSettings
from assistant.terminal.facts.answer_lines import why_lines
from assistant.turns import images
from assistant.turns.images import read_image
from assistant.turns.pipeline import TurnPipeline
from assistant.wiring.assistant import Assistant
from stores.base.errors import WrongUsage
from stores.forgetting.forgetting import Forgetting

PNG = b"\x89PNG\r\n\x1a\n" + b"pixels"
URL = f"data:image/png;base64,{base64.b64encode(PNG).decode()}"
MESSAGES = (ChatMessage("system", "Be brief."), ChatMessage("user", "What is it?"))


@pytest.fixture
def cat(tmp_path: Path) -> Path:
    path = tmp_path / "cat.png"
    path.write_bytes(PNG)
    return path


@contextmanager
def seeing(folder: Path, server: ScriptedServer, sees: Any = "yes") -> Iterator[Assistant]:
    """An assistant whose model takes images, as the settings say."""
    with asking(folder, server.base_url) as assistant:
        model = replace(assistant.given.settings.model, images=sees)
        assistant.given.settings = replace(assistant.given.settings, model=model)
        yield assistant


def sent_images(server: ScriptedServer, number: int = -1) -> list[str]:
    """The addresses of the images of a request, which are the images themselves."""
    content = server.requests[number].body["messages"][-1]["content"]
    return [] if isinstance(content, str) else [part["image_url"]["url"] for part in content[1:]]


@pytest.mark.parametrize(
    ("data", "media_type"),
    [
        (PNG, "image/png"),
        (b"\xff\xd8\xff\xe0", "image/jpeg"),
        (b"GIF89a..", "image/gif"),
        (b"RIFF\0\0\0\0WEBPVP8 ", "image/webp"),
    ],
)
def test_an_image_is_known_by_its_bytes(tmp_path: Path, data: bytes, media_type: str) -> None:
    path = tmp_path / "named.txt"
    path.write_bytes(data)
    assert read_image(path) == Image(str(path), media_type, data)


def test_what_cannot_be_sent_as_an_image_is_refused_by_its_path(
    tmp_path: Path, cat: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "notes.png").write_text("notes")
    os.mkfifo(tmp_path / "pipe.png")  # nobody writes into it: it is not waited for
    for name, told in [
        ("notes.png", "no image that can be sent"),
        ("gone.png", "No such file"),
        ("pipe.png", "no file"),
        (".", "no file"),
        ("\0", "no name of a file"),
    ]:
        with pytest.raises(WrongUsage, match=told):
            read_image(tmp_path / name)
    monkeypatch.setattr(images, "MOST_BYTES", len(PNG) - 1)
    with pytest.raises(WrongUsage, match=r"cat\.png: larger than"):
        read_image(cat)


@pytest.mark.parametrize(
    ("protocol", "content"),
    [
        (
            "chat",
            [{"type": "text", "text": "What is it?"}, {"type": "image_url", "image_url": {"url": URL}}],
        ),
        (
            "responses",
            [{"type": "input_text", "text": "What is it?"}, {"type": "input_image", "image_url": URL}],
        ),
    ],
)
async def test_an_image_goes_in_the_form_of_the_protocol(
    protocol: str, content: list[dict[str, Any]]
) -> None:
    with ScriptedServer([says("A cat.")]) as server:
        chat = OpenAIChat(base_url=server.base_url, model="scripted", protocol=protocol)
        request = ReplyRequest(MESSAGES, images=(Image("/cat.png", "image/png", PNG),))
        assert [piece async for piece in chat.stream(request)] == ["A cat."]
        await chat.aclose()
        body = server.requests[0].body
        assert (body.get("messages") or body["input"])[-1] == {"role": "user", "content": content}


@pytest.mark.parametrize(
    ("about", "tells", "takes"),
    [
        ({"owned_by": "library"}, {"/api/show": {"capabilities": ["completion", "vision"]}}, True),
        ({"owned_by": "library"}, {"/api/show": {"capabilities": ["completion"]}}, False),
        ({"owned_by": "llamacpp"}, {"/props": {"modalities": {"vision": True, "audio": False}}}, True),
        ({"owned_by": "llamacpp"}, {"/props": {"modalities": {"vision": False}}}, False),
        ({"architecture": {"input_modalities": ["text", "image"]}}, {}, True),
        ({"architecture": {"input_modalities": ["text"]}}, {}, False),
        ({"owned_by": "library"}, {"/api/show": []}, None),
        ({"owned_by": "llamacpp"}, {}, None),
        ({"architecture": "llama"}, {}, None),
    ],
)
async def test_a_server_is_asked_whether_its_model_takes_images(
    about: dict[str, Any], tells: dict[str, object], takes: bool | None
) -> None:
    with ScriptedServer(about_models=about, tells=tells) as server:
        chat = OpenAIChat(base_url=server.base_url, model="scripted")
        assert await chat.takes_images() is takes
        await chat.aclose()


def test_an_image_goes_with_one_message_and_again_with_a_retry(tmp_path: Path, cat: Path) -> None:
    with ScriptedServer(then=says(SERVER_ANSWERS)) as server, seeing(tmp_path, server) as assistant:
        told, session = talk(assistant, f"/attach {cat}", QUESTION, "And then?", "/why 1")
        assert "With your next message goes cat.png. /attach off takes it back." in told
        assert [sent_images(server, number) for number in (0, 1)] == [[URL], []]
        assert "With the message went cat.png" in told
        talk(assistant, "/retry 1", session=session)
        assert sent_images(server) == [URL]


def test_a_retry_says_that_the_image_is_gone_or_another_one(tmp_path: Path, cat: Path) -> None:
    with ScriptedServer(then=says(SERVER_ANSWERS)) as server, seeing(tmp_path, server) as assistant:
        _, session = talk(assistant, f"/attach {cat}", QUESTION)
        cat.write_bytes(PNG + b"more")
        told, _ = talk(assistant, "/retry", session=session)
        assert "cat.png is another image by now" in told
        cat.unlink()
        told, _ = talk(assistant, "/retry", session=session)
        assert "cannot be read any more" in told
        assert len(server.requests) == 1
        cat.write_bytes(PNG + b"other")
        talk(assistant, f"/attach {cat}", "/retry", session=session)  # in its place
        assert len(server.requests) == 2
        assert sent_images(server) not in ([], [URL])


def test_a_server_that_refuses_an_image_is_quoted_and_nothing_is_lost(tmp_path: Path, cat: Path) -> None:
    refused = refuses(400, "This model does not support image input.")
    with (
        ScriptedServer([refused], then=says(SERVER_ANSWERS)) as server,
        seeing(tmp_path, server) as assistant,
    ):
        told, session = talk(assistant, f"/attach {cat}", QUESTION, "/retry")
        assert "This model does not support image input." in told
        assert sent_images(server) == [URL]  # by /retry
        user = assistant.stores.journal.user_id("ann")
        assert [turn.message for turn in assistant.stores.journal.turns(user, session)] == [QUESTION]


def test_an_image_is_refused_before_anything_is_kept_where_it_cannot_be_seen(
    tmp_path: Path, cat: Path
) -> None:
    with ScriptedServer(then=says(SERVER_ANSWERS)) as server:
        for sees, told in [("auto", 'model.images to "yes"'), ("no", "takes no images")]:
            with seeing(tmp_path / sees, server, sees) as assistant:
                said, _ = talk(assistant, f"/attach {cat}", "/attach")
                assert told in said
                assert "No image goes with your next message" in said
                user = assistant.stores.journal.user_id("ann")
                session = assistant.stores.journal.open_session(user)
                with pytest.raises(WrongUsage):
                    assistant.turns.host.play(
                        user, session, QUESTION, watch=lambda event: None, images=[read_image(cat)]
                    )
                assert assistant.stores.journal.turns(user, session) == []
        (cat.parent / "notes.md").write_text("no image")
        with asking(tmp_path) as assistant:
            assert "no image that can be sent" in talk(assistant, f"/attach {cat.parent / 'notes.md'}")[0]
            assert "takes no images" in talk(assistant, f"/attach {cat}")[0]
        assert server.requests == []


def test_attached_images_wait_for_a_message_that_is_kept(
    tmp_path: Path, cat: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ScriptedServer(then=says(SERVER_ANSWERS)) as server, seeing(tmp_path, server) as assistant:
        checks = iter([None, WrongUsage("not now"), None])

        async def check(_pipeline: TurnPipeline) -> None:
            if (error := next(checks)) is not None:
                raise error

        monkeypatch.setattr(TurnPipeline, "check_images", check)
        told, _ = talk(assistant, f"/attach {cat}", QUESTION, QUESTION, "/attach")
        assert "not now" in told
        assert "No image goes with your next message" in told
        assert [sent_images(server, number) for number in range(len(server.requests))] == [[URL]]


def test_an_image_whose_turn_is_forgotten_is_named_nowhere(tmp_path: Path, cat: Path) -> None:
    with ScriptedServer(then=says(SERVER_ANSWERS)) as server, seeing(tmp_path, server) as assistant:
        talk(assistant, f"/attach {cat}", "My locker is 12.")
        user = assistant.stores.journal.user_id("ann")
        turn = assistant.stores.journal.last_turn(user)
        said = assistant.stores.catalogue.said_in(user, turn.id or 0)
        Forgetting(assistant.stores.database).forget(user, [passage.passage_id for passage in said])
        turn = assistant.stores.journal.turn(user, turn.id or 0)
        assert turn.message == ""
        assert "cat.png" not in str(turn.details)
        assert not any("went" in line for line in why_lines(assistant, user, turn))


async def test_on_the_screen_an_image_goes_with_the_next_message(tmp_path: Path, cat: Path) -> None:
    async with on_screen(tmp_path, size=(100, 30)) as chat:
        assistant = chat.app.chat.desk._known_assistant
        with ScriptedServer(then=says(SERVER_ANSWERS), models=["large"]) as server:
            model = ModelSettings(
                backend="openai", base_url=server.base_url, name="scripted", retries=0, images="yes"
            )
            assistant.given.settings = replace(assistant.given.settings, model=model)
            await chat.asks("/model large")
            await chat.asks(f"/attach {cat}")
            await chat.shows("With your next message goes cat.png.")
            await chat.asks(QUESTION)
            await chat.shows("At ten")
            await chat.asks("And then?")
            await chat.until(lambda: len(server.requests) == 2)
            assert [sent_images(server, number) for number in (0, 1)] == [[URL], []]


def test_ask_sends_an_image(tmp_path: Path, cat: Path, minilm_folder: Path) -> None:
    vouch = Vouch(tmp_path, minilm_folder.parent)
    with ScriptedServer(then=says(SERVER_ANSWERS)) as server:
        vouch.use_server(server.base_url, 'images = "yes"\n')
        vouch.run("ask", "--attach", str(cat), QUESTION)
        assert sent_images(server, 0) == [URL]
        assert "No such file" in vouch.run("ask", "--attach", "gone.png", QUESTION, code=2).err
        vouch.use_server(server.base_url)
        refused = vouch.run("ask", "--attach", str(cat), QUESTION, code=2).err
        assert "does not say whether it takes images" in refused
        assert "model.images" in refused

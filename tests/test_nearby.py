"""Model servers on this machine are found where somebody asks, tried, and written into the settings."""

from __future__ import annotations

import socket
import threading
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from scripted_server import ScriptedServer, refuses, says
from test_model_choice import asking

from agents.backends.openai.nearby import NearbyServer, nearby_servers
from assistant.terminal.actions import model_choice
from assistant.wiring.assistant import Assistant
from stores.base.errors import ModelError, WrongUsage


def _port(server: ScriptedServer) -> int:
    return urlsplit(server.base_url).port or 0


def test_servers_are_found_with_the_models_that_chat() -> None:
    with (
        ScriptedServer(models=["llama3", "nomic-embed-text"]) as server,
        ScriptedServer(models=None) as other,
    ):
        found = nearby_servers({_port(server): "Ollama", _port(other): "vLLM", 1: "Jan"})
    assert found == [NearbyServer("Ollama", f"http://127.0.0.1:{_port(server)}/v1", ("llama3",))]


@pytest.mark.parametrize("said", [b"", b"SSH-2.0-x\r\n", b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nnope"])
def test_what_speaks_another_protocol_or_nothing_is_no_server(said: bytes) -> None:
    with socket.create_server(("127.0.0.1", 0)) as door:

        def serve() -> None:
            link, _ = door.accept()
            with link:
                link.recv(1000)
                link.sendall(said)

        serving = threading.Thread(target=serve)
        serving.start()
        assert nearby_servers({door.getsockname()[1]: "Ollama"}) == []
        serving.join()


def _told(assistant: Assistant, server: ScriptedServer, line: str, patch: pytest.MonkeyPatch) -> list[str]:
    near = [NearbyServer("Ollama", server.base_url, ("a", "b"))]
    patch.setattr(model_choice, "nearby_servers", lambda: near)
    return list(model_choice.choose_model(assistant, line, menu=None))


def test_one_that_replies_answers_from_now_on_and_is_written_into_the_settings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ScriptedServer(then=says("Hello ", "there.")) as server, asking(tmp_path) as assistant:
        assert "It says: Hello there." in _told(assistant, server, "find b", monkeypatch)
        assert assistant.models.model_in_use.name == "b"
        written = assistant.given.locations.settings.read_text()
    assert f'base_url = "{server.base_url}"\nname = "b"' in written


def test_one_that_fails_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with ScriptedServer(then=refuses(401, "no")) as server, asking(tmp_path) as assistant:
        before = assistant.models.model_in_use
        with pytest.raises(ModelError):
            _told(assistant, server, "find a", monkeypatch)
        assert assistant.models.model_in_use == before
        assert not assistant.given.locations.settings.exists()


def test_without_a_number_they_are_listed_and_nothing_is_tried(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ScriptedServer() as server, asking(tmp_path) as assistant:
        told = _told(assistant, server, "find", monkeypatch)
    assert any(line.strip().startswith("2  b") for line in told)
    assert server.requests == []


def test_no_key_and_no_header_of_another_server_goes_to_one_that_was_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ScriptedServer(then=says("Hello")) as server, asking(tmp_path) as assistant:
        plain = assistant.given.settings
        for model in (
            replace(plain.model, key_file="/k"),
            replace(plain.model, backend="openai", base_url="http://127.0.0.1:9/v1", name="x"),
        ):
            assistant.given.settings = replace(plain, model=model)
            with pytest.raises(WrongUsage, match="would go to this server"):
                _told(assistant, server, "find b", monkeypatch)
        assistant.given.settings = plain
        monkeypatch.setenv("VOUCH_API_KEY", "sk-secret")
        with pytest.raises(WrongUsage, match="would go to this server"):
            _told(assistant, server, "find b", monkeypatch)
        assert server.requests == []

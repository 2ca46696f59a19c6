"""Who is asking, and which key a server is shown."""

from __future__ import annotations

from pathlib import Path

import pytest

from assistant.settings.config import ModelSettings
from assistant.settings.identity import api_key, user_name
from stores.base.errors import WrongUsage

# Users


def test_the_user_is_the_option_then_the_variable_then_the_login(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("getpass.getuser", lambda: "login")
    assert user_name("option", {"VOUCH_USER": "variable"}) == "option"
    assert user_name(None, {"VOUCH_USER": "variable"}) == "variable"
    assert user_name(None, {}) == "login"


def test_a_user_without_a_login_name_is_me(monkeypatch: pytest.MonkeyPatch) -> None:
    def nobody() -> str:
        raise KeyError("getpwuid(): uid not found: 1234")

    monkeypatch.setattr("getpass.getuser", nobody)
    assert user_name(None, {}) == "me"


def test_one_name_in_two_spellings_is_one_user() -> None:
    assert user_name(" Zoe\u0308 ", {}) == "Zo\u00eb"


@pytest.mark.parametrize(
    "name",
    ["", "  ", "a" * 65, "a\x1b[31m", "a\nb", "a\u200db", "\u202ea", "\udc80", "a/b", "a\\b", ".", ".."],
)
def test_a_name_that_is_none_is_refused(name: str) -> None:
    with pytest.raises(WrongUsage) as caught:
        user_name(name, {})
    assert caught.value.message.isprintable()


def test_a_name_may_have_sixty_four_characters() -> None:
    assert user_name("é" * 64, {}) == "é" * 64


# Keys of services


def server(url: str = "http://localhost:8000/v1", key_file: Path | str = "") -> ModelSettings:
    return ModelSettings(backend="openai", base_url=url, name="m", key_file=str(key_file))


def file_with_key(folder: Path, content: str, mode: int) -> Path:
    path = folder / "key"
    path.write_text(content, encoding="utf-8")
    path.chmod(mode)
    return path


def test_the_own_variable_wins(tmp_path: Path) -> None:
    model = server("https://api.openai.com/v1", file_with_key(tmp_path, "in-file", 0o600))
    assert api_key(model, {"VOUCH_API_KEY": "own", "OPENAI_API_KEY": "theirs"}) == "own"


def test_openais_key_goes_to_openai() -> None:
    assert api_key(server("https://API.openai.com/v1"), {"OPENAI_API_KEY": "theirs"}) == "theirs"


@pytest.mark.parametrize(
    "url",
    [
        "http://localhost:8000/v1",
        "https://api.openai.com.other.example/v1",
        "https://other.example/api.openai.com",
        "http://api.openai.com/v1",
    ],
)
def test_openais_key_goes_nowhere_else(url: str) -> None:
    assert api_key(server(url), {"OPENAI_API_KEY": "theirs"}) == ""


@pytest.mark.parametrize("mode", [0o600, 0o400])
def test_a_key_is_read_from_a_file_of_its_owner_alone(tmp_path: Path, mode: int) -> None:
    assert api_key(server(key_file=file_with_key(tmp_path, "in-file\n", mode)), {}) == "in-file"


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o644, 0o200])
def test_a_key_file_others_may_read_is_refused(tmp_path: Path, mode: int) -> None:
    path = file_with_key(tmp_path, "hidden", mode)
    with pytest.raises(WrongUsage) as caught:
        api_key(server(key_file=path), {})
    assert caught.value.hint == f"Run: chmod 600 {path}"


def test_a_key_file_is_found_in_the_home_directory(tmp_path: Path) -> None:
    file_with_key(tmp_path, "in-file", 0o600)
    assert api_key(server(key_file="~/key"), {"HOME": str(tmp_path)}) == "in-file"


def test_a_key_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(WrongUsage, match="which is no file"):
        api_key(server(key_file=tmp_path / "key"), {})


@pytest.mark.parametrize("content", ["", "hidden word", "hidden\nhidden", "hidden\x00", "hiddén"])
def test_what_is_no_key_is_refused_without_showing_it(tmp_path: Path, content: str) -> None:
    with pytest.raises(WrongUsage) as caught:
        api_key(server(key_file=file_with_key(tmp_path, content, 0o600)), {})
    assert "hidd" not in caught.value.message + caught.value.hint


def test_a_server_may_need_no_key() -> None:
    assert api_key(server(), {}) == ""

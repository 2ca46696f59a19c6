"""The encoder, the reader and the chat model."""

from __future__ import annotations

import secrets
import shutil
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

from agents.base.interfaces import Encoder
from assistant.checks.check import Check, Look
from assistant.wiring.assistant import Assistant
from stores.base.errors import DamagedEncoder, EncoderUnavailable
from stores.base.secrets import without_secrets

_LIBRARIES = {"llamacpp": "xllamacpp"}  # others are called as the backend is
_EXTRAS = {"llamacpp": "local"}


def encoder(assistant: Assistant, how: Look) -> Check:
    """Whether the encoders named and in use can be loaded; a damaged export is made anew."""
    repaired: list[str] = []
    loads: tuple[Callable[[], Encoder], ...] = (
        lambda: assistant.search.wanted_encoder,
        lambda: assistant.search.encoder,
    )
    for load in loads:
        try:
            load()
        except EncoderUnavailable as error:
            if not isinstance(error, DamagedEncoder):
                continue  # search may go on with the encoder used before

            if not (how.repairs and _is_ours(error.folder, assistant.given.locations.cache)):
                raise
            _discard(error.folder)
            load()
            repaired.append(f"{error.message}: deleted, and prepared again")
    used = assistant.search.encoder
    return Check("encoder", "ok", f"{used.version}, {used.dimension} dimensions", repaired=tuple(repaired))


def reader(assistant: Assistant) -> Check:
    """Whether the reader can be loaded, where it is used."""
    settings = assistant.given.settings
    judges = settings.reranking.judge == "reader"
    answers = settings.answer.reader and settings.model.backend == "extractive"
    if not (judges or answers):
        return Check("reader", "ok", "not used: the settings have it neither judge nor answer")
    work = " and ".join([*["judges passages"] * judges, *["finds answers"] * answers])
    return Check("reader", "ok", f"{assistant.models.readings.name}, {work}")


def chat_model(assistant: Assistant, *, asks_server: bool) -> Check:
    """Whether the model is there and answers; it is asked only when that was said."""
    model = assistant.given.settings.model
    if model.backend == "extractive":
        return Check(
            "chat model",
            "ok",
            "extractive: answers quote passages",
            "To have answers written, name a server: [model] in settings.toml.",
        )
    where = f"at {without_secrets(model.base_url)}"
    if model.backend != "openai":
        where = f"by {model.backend} on this machine"
        if find_spec(_LIBRARIES.get(model.backend, model.backend)) is None:
            extra = _EXTRAS.get(model.backend, model.backend)
            hint = f"Install it with pip install 'vouch[{extra}]', or set model.backend to another."
            return Check("chat model", "broken", f"{model.label} {where}, which is not installed", hint)
        folder = Path(model.path or model.name).expanduser()
        if model.backend == "llamacpp" and not folder.is_file():
            return Check("chat model", "broken", f"{folder} is no file", "Set model.path to a GGUF file.")
        if model.name.startswith(("/", "~", ".")) and not (folder / "config.json").is_file():
            return Check(
                "chat model", "broken", f"{folder} holds no model", "Set model.name to one that does."
            )
    if not asks_server:
        return Check("chat model", "ok", f"{model.label} {where}, not asked", "--online asks it.")
    reply = assistant.turns.host.ask_model("Answer with the word yes.")
    return Check("chat model", "ok", f"{model.label} {where} answers ({len(reply)} characters)")


def _discard(folder: Path) -> None:
    """Deletes an export: gone at once for whoever looks for it."""
    discarded = folder.with_name(f".partial-{secrets.token_hex(8)}")
    folder.rename(discarded)
    shutil.rmtree(discarded, ignore_errors=True)


def _is_ours(folder: Path, cache: Path) -> bool:
    """Whether an export lies where we keep them: a folder named in the settings is not ours to delete."""
    return folder.resolve().parent == (cache / "encoders").resolve()

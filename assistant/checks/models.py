"""The encoder and the chat model."""

from __future__ import annotations

import secrets
import shutil
from collections.abc import Callable
from pathlib import Path

from agents.interfaces import Encoder
from assistant.checks.check import Check, Look
from assistant.wiring import Assistant
from stores.errors import DamagedEncoder, EncoderUnavailable


def encoder(assistant: Assistant, how: Look) -> Check:
    """Whether the encoders named and in use can be loaded; a damaged export is made anew."""
    repaired: list[str] = []
    loads: tuple[Callable[[], Encoder], ...] = (lambda: assistant.wanted_encoder, lambda: assistant.encoder)
    for load in loads:
        try:
            load()
        except EncoderUnavailable as error:
            if not isinstance(error, DamagedEncoder):
                continue  # search may go on with the encoder used before

            if not (how.repairs and _is_ours(error.folder, assistant.locations.cache)):
                raise
            discarded = error.folder.with_name(f".partial-{secrets.token_hex(8)}")
            error.folder.rename(discarded)
            shutil.rmtree(discarded, ignore_errors=True)
            load()
            repaired.append(f"{error.message}: deleted, and prepared again")
    used = assistant.encoder
    return Check("encoder", "ok", f"{used.version}, {used.dimension} dimensions", repaired=tuple(repaired))


def chat_model(assistant: Assistant, *, asks_server: bool) -> Check:
    """Whether the model answers; a server is asked only when that was said."""
    model = assistant.settings.model
    if model.backend == "extractive":
        return Check(
            "chat model",
            "ok",
            "extractive: answers quote passages",
            "To have answers written, name a server: [model] in settings.toml.",
        )
    if not asks_server:
        return Check("chat model", "ok", f"{model.name} at {model.base_url}, not asked", "--online asks it.")
    reply = assistant.player.ask_model("Answer with the word yes.")
    return Check("chat model", "ok", f"{model.name} at {model.base_url} answers ({len(reply)} characters)")


def _is_ours(folder: Path, cache: Path) -> bool:
    """Whether an export lies where we keep them: a folder named in the settings is not ours to delete."""
    return folder.resolve().parent == (cache / "encoders").resolve()

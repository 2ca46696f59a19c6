"""How the tokenizer of a llama.cpp child reads a text: no text from outside may name its control tokens.

    text -> tokens with control tokens, and without -> those that only the first has -> broken up in the text

The child's own tokenizer is asked, so that nothing has to be known of the model.
"""

from __future__ import annotations

import json
import re
import urllib.request
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from agents.backends.llamacpp_child import Started
from agents.base.chat_interfaces import ChatMessage
from stores.base.errors import ModelRefused, ModelUnreachable

_SILENCE_SECONDS = 60.0  # a prompt that was sent before is read first
_TEMPLATE_SECONDS = 10.0  # it takes milliseconds
_MOST_TRIES = 8  # breaking one up may make another
_UNBROKEN = "A text names a control token of the model in a way that cannot be broken up"


class ServedTokens:
    """The tokenizer of one child."""

    def __init__(self, child: Started) -> None:
        self._child = child
        self._control: set[str] = set()  # that texts named so far

    def harmless(self, text: str) -> str:
        """The text with a space in every control token that is written in it.

        Raises `ModelRefused` where that does not help, and `ModelUnreachable`.
        """
        text = self._broken_up(text)
        for _ in range(_MOST_TRIES):
            named = self._named_in(text)
            if not named:
                return text
            self._control |= named
            text = self._broken_up(text)
        raise ModelRefused(_UNBROKEN)

    def harmless_messages(self, messages: Sequence[ChatMessage]) -> tuple[ChatMessage, ...]:
        """The same of each message; asked of all at once where none names any."""
        if not self._named_in("\n".join(message.content for message in messages)):
            return tuple(messages)
        return tuple(replace(message, content=self.harmless(message.content)) for message in messages)

    def require_template(self, messages: Sequence[ChatMessage]) -> None:
        """Runs the template of the child's file over the messages, which takes milliseconds.

        One that does not end is ended with its child: raises `ModelRefused`.
        """
        told = [{"role": message.role, "content": message.content} for message in messages]
        try:
            self._ask("apply-template", {"messages": told}, _TEMPLATE_SECONDS)
        except TimeoutError as error:
            self._child.process.kill()
            raise ModelRefused(
                f"The chat template in the model's file does not end within {_TEMPLATE_SECONDS:g} s",
                hint="Name another file in model.path, or get this one from who made the model.",
            ) from error
        except (OSError, ValueError):  # the request itself will tell
            return

    def plain(self, text: str) -> list[int]:
        """The text's tokens behind whatever begins a prompt, none of which controls anything."""
        return [token["id"] for token in self._read(text, special=False, begins=True)]

    def _broken_up(self, text: str) -> str:
        if not self._control:
            return text
        longest_first = sorted(self._control, key=len, reverse=True)
        pattern = "|".join(map(re.escape, longest_first))
        return re.sub(pattern, lambda found: f"{found.group()[0]} {found.group()[1:]}", text)

    def _named_in(self, text: str) -> set[str]:
        """The control tokens that a text names, as they are written there.

        Raises `ModelRefused` where it names some and they cannot be told.
        """
        read, plain = (self._read(text, special=special) for special in (True, False))
        if read == plain:
            return set()
        only = {token["id"] for token in read} - {token["id"] for token in plain}
        pieces = {str(token["piece"]) for token in read if token["id"] in only}
        if not (named := {piece for piece in pieces if self._controls(piece)}):
            raise ModelRefused(_UNBROKEN)
        return named

    def _controls(self, piece: str) -> bool:
        read, plain = (self._read(piece, special=special) for special in (True, False))
        return len(piece) > 1 and len(read) == 1 and read != plain

    def _read(self, text: str, *, special: bool, begins: bool = False) -> list[dict[str, Any]]:
        asked = {"content": text, "parse_special": special, "add_special": begins, "with_pieces": True}
        try:
            return list(self._ask("tokenize", asked, _SILENCE_SECONDS)["tokens"])
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise ModelUnreachable(f"llama.cpp reads no text: {type(error).__name__}") from error

    def _ask(self, path: str, asked: Mapping[str, object], seconds: float) -> Any:
        request = urllib.request.Request(
            f"{self._child.address}/{path}",
            json.dumps(asked).encode("utf-8", "replace"),
            {"Authorization": f"Bearer {self._child.key}", "Content-Type": "application/json"},
        )
        with urllib.request.urlopen(request, timeout=seconds) as answer:
            return json.load(answer)

"""Messages as the tokens of a prompt, for models that run in this process.

    messages -> control tokens written in them broken up -> the model's chat template -> tokens

What is in a message is text from outside: a passage that says <|im_end|> must not end the user's turn.
So a space is put into whatever the tokenizer would take for one of its own tokens, and the template
alone decides where turns begin and end.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence
from typing import Any

from agents.base.chat_interfaces import ChatMessage
from agents.base.control_tokens import ControlTokens
from stores.base.errors import ModelRefused

_log = logging.getLogger(__name__)
_NOT_YET_A_CHARACTER = "\ufffd"  # how a tokenizer decodes the first bytes of one


class PromptTokenizer:
    """A model's tokenizer and chat template. Safe to use from several threads."""

    def __init__(self, tokenizer: Any) -> None:
        """tokenizer: one of the library transformers."""
        self._tokenizer = tokenizer
        self._lock = threading.Lock()  # a tokenizer that two threads enter at once raises
        self._has_template = bool(tokenizer.chat_template)
        self._takes_system = True  # until the template refused it once
        self._control = ControlTokens(tokenizer)
        if not self._has_template:
            _log.warning("the model has no chat template: messages go to it as `User: ...`, `Assistant: ...`")

    def prompt(self, messages: Sequence[ChatMessage]) -> list[int]:
        """The token ids after which the model writes its reply. Raises `ModelRefused`."""
        if not self._has_template:
            lines = [f"{m.role.capitalize()}: {self.harmless(m.content)}\n\n" for m in messages]
            return self._ids("".join(lines) + "Assistant:", add_special_tokens=True)
        return self._ids(self._rendered(messages), add_special_tokens=False)

    def continuation(self, text: str) -> list[int]:
        """The token ids of a reply's beginning, as they follow a prompt."""
        return self._ids(self.harmless(text), add_special_tokens=False)

    def count(self, text: str) -> int:
        """How many tokens a text has."""
        return len(self.continuation(text))

    def harmless(self, text: str) -> str:
        """The text with a space in every control token that is written in it, and without half characters."""
        return self._control.broken_up(text)

    def decoded(self, ids: Sequence[int]) -> str:
        """The text of tokens; control tokens have none."""
        with self._lock:
            return str(self._tokenizer.decode(list(ids), skip_special_tokens=True))

    def token_texts(self, ids: Sequence[int]) -> tuple[str, ...]:
        """The text of each token by itself; one that is part of a character is shown as �."""
        with self._lock:
            return tuple(str(self._tokenizer.decode([token])) for token in ids)

    def _rendered(self, messages: Sequence[ChatMessage]) -> str:
        from jinja2 import TemplateError

        plain = [{"role": m.role, "content": self.harmless(m.content)} for m in messages]
        if self._takes_system:
            try:
                return self._template(plain)
            except TemplateError as error:
                if not any(message["role"] == "system" for message in plain):
                    raise _refused(error) from None
        try:
            rendered = self._template(_without_system(plain))
        except TemplateError as error:
            raise _refused(error) from None
        self._takes_system = False
        return rendered

    def _template(self, messages: Sequence[dict[str, str]]) -> str:
        with self._lock:
            return str(
                self._tokenizer.apply_chat_template(
                    list(messages), tokenize=False, add_generation_prompt=True
                )
            )

    def _ids(self, text: str, *, add_special_tokens: bool) -> list[int]:
        with self._lock:
            return list(self._tokenizer.encode(text, add_special_tokens=add_special_tokens))


class PieceDecoder:
    """Turns tokens, as they are written, into pieces of text that join to the whole."""

    def __init__(self, decoded: Callable[[Sequence[int]], str]) -> None:
        """decoded: the text of tokens."""
        self._decoded = decoded
        self._ids: list[int] = []
        self._from = 0  # where decoding starts: a token may look otherwise at the start of a text
        self._shown = 0  # tokens whose text was handed out

    def feed(self, ids: Sequence[int]) -> str:
        """The text that these tokens add; empty while they end in the middle of a character."""
        self._ids.extend(ids)
        before, after = self._texts()
        if len(after) <= len(before) or after.endswith(_NOT_YET_A_CHARACTER):
            return ""
        self._from, self._shown = self._shown, len(self._ids)
        return after[len(before) :]

    def rest(self) -> str:
        """What was held back, once the reply has ended."""
        before, after = self._texts()
        self._from = self._shown = len(self._ids)
        return after[len(before) :]

    def _texts(self) -> tuple[str, str]:
        return self._decoded(self._ids[self._from : self._shown]), self._decoded(self._ids[self._from :])


def _without_system(messages: Sequence[dict[str, str]]) -> list[dict[str, str]]:
    """The system message put before the first of the user's, for templates that know no such role."""
    told = "\n\n".join(message["content"] for message in messages if message["role"] == "system")
    rest = [dict(message) for message in messages if message["role"] != "system"]
    first = next((message for message in rest if message["role"] == "user"), None)
    if first is not None and told:
        first["content"] = f"{told}\n\n{first['content']}"
    return rest


def _refused(error: Exception) -> ModelRefused:
    return ModelRefused(
        f"The model's chat template does not take these messages: {error}",
        hint="Choose another model, or serve this one with a template of your own.",
    )

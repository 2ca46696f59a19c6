"""What a server's failures mean to a person: what, where, and what next.

No error here holds the key, a password of the address, or a server's words unpruned.
"""

from __future__ import annotations

import math
import re
import time
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import replace
from email.utils import mktime_tz, parsedate_tz
from typing import TYPE_CHECKING

from agents.backends.openai.habits import Habits
from agents.prompts.structured_replies import in_short
from stores.base.errors import (
    ContextTooLong,
    ModelBusy,
    ModelError,
    ModelRefused,
    ModelUnreachable,
    NoLogProbabilities,
    ReplyCut,
    UnknownModel,
    WrongKey,
)

if TYPE_CHECKING:
    import openai

_MODELS_LISTED = 5
_ONLY_IN = "v1/responses"  # in what OpenAI says of a model that does no chat completions
FIRST_PAUSE, _LONGEST_PAUSE = 0.5, 8.0  # seconds until a server is asked again that does not say when
_LONGEST_ASKED = 60.0  # seconds that a server may ask to wait for
_RECONNECTED = 1  # further tries of a server that is not there
_SPENT = ("insufficient_quota", "billing_hard_limit_reached", "credit_balance_too_low")
_LENGTH = re.compile(
    r"(?:maximum context length is|available context size \(|context window of)\s*"
    r"(\d{1,3}(?:,\d{3})+|\d{3,8})",
    re.IGNORECASE,
)
_LEAST_LENGTH = 512  # tokens that a context has
_TOO_LONG = ("context length", "context window", "context size", "too long", "too many tokens")


class ServerFailures:
    """Failures of one model at one server, as errors of ours."""

    def __init__(
        self,
        *,
        model: str,
        server: str,
        has_key: bool,
        secrets: Sequence[str],
        timeout_seconds: float,
        first_word_seconds: float,
        models: Callable[[], Awaitable[Sequence[object]]],
    ) -> None:
        """server: as it may be shown. secrets: are never shown. models: the server's list of them."""
        self._model = model
        self._server = server
        self._has_key = has_key
        self._secrets = tuple(secrets)
        self._timeout_seconds, self._first_word_seconds = timeout_seconds, first_word_seconds
        self._models = models

    async def explained(self, error: openai.APIError | ValueError) -> ModelError:
        """The same failure in words for a person: what, where, and what next."""
        import openai

        if isinstance(error, openai.APITimeoutError):
            return self._no_answer()
        if isinstance(error, openai.APIConnectionError):
            reason = self.pruned(str(error.__cause__ or error.message))
            return ModelUnreachable(
                f"No connection to the model's server at {self._server}: {reason}",
                hint="Start the server, or check base_url and the network.",
            )
        if isinstance(error, openai.APIStatusError):
            return await self._explained_status(error)
        return ReplyCut(
            f"The answer of {self._server} is no reply of a chat model",
            hint="Check base_url: it must lead to OpenAI's protocol, and usually ends in /v1.",
        )

    def adapted(self, error: openai.APIStatusError, habits: Habits, sent: Collection[str]) -> Habits | None:
        """How the request may be put instead; see `Habits.adapted`."""
        words = self._server_words(error)
        if _is_too_long(error, words):
            return None
        if _ONLY_IN in words and habits.protocol == "chat":
            return replace(habits, protocol="responses")
        return habits.adapted(words, error.param or "", sent) if error.status_code != 404 else None

    async def _explained_status(self, error: openai.APIStatusError) -> ModelError:
        status, words = error.status_code, self._server_words(error)
        if status == 402 or _is_spent(error):
            return ModelRefused(
                f"{self._server} answers no more requests with this key (HTTP {status}): {words}",
                hint="Add credit there, or choose another model: /model, or model.name.",
            )
        if status == 401:  # without the server's words: OpenAI's repeat part of the key
            return WrongKey(
                f"{self._server} does not accept the key"
                if self._has_key
                else f"{self._server} wants a key, and none is set",
                hint="Set VOUCH_API_KEY to a key of this server.",
            )
        if status == 403:
            return WrongKey(
                f"{self._server} does not let this key use {self._model}: {words}",
                hint="Set VOUCH_API_KEY to a key that may, or choose another model.",
            )
        if status == 404 or error.code == "model_not_found":
            hint = await self._models_hint()
            if error.request.url.path.endswith("/responses"):
                hint += ' Where the server has no /responses, set model.protocol to "chat".'
            return UnknownModel(f"{self._server} has no model {self._model!r}: {words}", hint=hint)
        if status in (408, 409, 429) or status >= 500:
            seconds = _retry_after_seconds(error.response.headers)
            return ModelBusy(
                f"{self._server} cannot answer just now (HTTP {status}): {words}",
                hint="Try again later." if seconds is None else f"Try again in {math.ceil(seconds)} seconds.",
                retry_after_seconds=seconds,
            )
        if status == 413 or _is_too_long(error, words):
            return self._too_long(words)
        return ModelRefused(
            f"{self._server} refused the request to {self._model} (HTTP {status}): {words}",
            hint="Check the model's name and settings against what the server says.",
        )

    def broken_off(
        self, error: openai.APIError | ValueError | TimeoutError, *, has_begun: bool
    ) -> ModelError:
        """What became of a reply whose stream failed."""
        import openai

        if isinstance(error, (openai.APITimeoutError, TimeoutError)):
            if not has_begun:
                return self._no_answer()
            what = f"nothing more came for {self._timeout_seconds:g} seconds"
        elif isinstance(error, openai.APIConnectionError):
            what = "the connection broke"
        elif isinstance(error, openai.APIError):
            what = self._server_words(error)
            if _is_too_long(error, what):
                return self._too_long(what)
        else:
            what = "the server sent something that is not part of a reply"
        return ReplyCut(f"The reply of {self._model} at {self._server} broke off: {what}", hint="Ask again.")

    def check_finish(self, finish: str | None, *, has_begun: bool, tools: str = "") -> None:
        """Raises unless the model said that it was done. tools: what it asked for; nothing is run."""
        if finish is None:
            raise ReplyCut(
                f"The reply of {self._model} at {self._server} ended before the model said that it was done",
                hint="Ask again."
                if has_begun
                else "Check base_url: it must lead to OpenAI's protocol, and usually ends in /v1.",
            )
        if tools or (finish in ("tool_calls", "function_call") and not has_begun):
            asked = f": {self.pruned(tools)}" if tools else ""
            raise ReplyCut(
                f"{self._model} at {self._server} asked for a tool, and Vouch runs none{asked}",
                hint="Ask in other words, or choose a model that answers without tools.",
            )
        if finish == "content_filter":
            raise ReplyCut(
                f"A filter at {self._server} cut the reply of {self._model}",
                hint="Ask in other words.",
            )

    def no_log_probabilities(self) -> NoLogProbabilities:
        """Where a server does not tell any."""
        return NoLogProbabilities(
            f"{self._server} does not say how probable {self._model} finds a given reply",
            hint="Serve the model with vLLM, or run it in this process: model.backend.",
        )

    def pruned(self, words: str) -> str:
        """Foreign words without secrets and control characters, on one line, and not too many."""
        for secret in self._secrets:
            words = words.replace(secret, "[secret]")
        return in_short(words)

    def _no_answer(self) -> ModelUnreachable:
        return ModelUnreachable(
            f"{self._server} did not answer within {self._first_word_seconds:g} seconds",
            hint="Check that the server is well, or allow it more time: model.first_word_seconds.",
        )

    def _too_long(self, words: str) -> ContextTooLong:
        return ContextTooLong(
            f"More text than {self._model} at {self._server} can read at once: {words}",
            hint="Ask with less text, or choose a model with a longer context.",
        )

    async def _models_hint(self) -> str:
        """Names some models of the server, when it tells them."""
        names = [
            self.pruned(model_id)
            for model in await self._models()
            if isinstance(model_id := getattr(model, "id", None), str)
        ]
        if not names:
            return "Check the model's name, and base_url: it usually ends in /v1."
        listed = ", ".join(names[:_MODELS_LISTED])
        return f"It has: {listed}{' and more' if len(names) > _MODELS_LISTED else ''}."

    def _server_words(self, error: openai.APIError) -> str:
        """What the server said, fit for a terminal."""
        said: object = error.body
        while isinstance(said, Mapping):
            said = next((said[key] for key in ("message", "detail", "error") if said.get(key)), None)
        return self.pruned(str(said) if said else error.message)


def _is_too_long(error: openai.APIError, words: str) -> bool:
    return error.code == "context_length_exceeded" or any(sign in words.lower() for sign in _TOO_LONG)


def wait_before(error: openai.APIError, tries: int) -> float | None:
    """Seconds until a request may be sent once more; None where that is of no use.

    tries: those before. A server that is gone is tried once more; one that was silent for long is not, nor is
    one whose key, credit or request is refused.
    """
    import openai

    longer = float(min(_LONGEST_PAUSE, FIRST_PAUSE * 2**tries))
    if isinstance(error, openai.APITimeoutError):
        return None
    if isinstance(error, openai.APIConnectionError):
        is_gone = type(error.__cause__).__name__ == "ConnectError"
        return longer if tries < _RECONNECTED or not is_gone else None
    if not isinstance(error, openai.APIStatusError) or _is_spent(error):
        return None
    if error.status_code not in (408, 409, 429) and error.status_code < 500:
        return None
    asked = _retry_after_seconds(error.response.headers)
    return longer if asked is None else asked if asked <= _LONGEST_ASKED else None


def context_length(error: openai.APIError) -> int:
    """The length that a server tells as it refuses what is too long; 0 where it tells none."""
    body: object = error.body
    while isinstance(body, Mapping):
        told = body.get("n_ctx")
        if isinstance(told, int) and not isinstance(told, bool) and told >= _LEAST_LENGTH:
            return told
        body = body.get("error")
    found = _LENGTH.search(str(error.message))
    length = int(found[1].replace(",", "")) if found else 0
    return length if length >= _LEAST_LENGTH else 0


def _is_spent(error: openai.APIStatusError) -> bool:
    """Whether the key has no credit left: to ask again is of no use."""
    return error.code in _SPENT or error.type in _SPENT


def _retry_after_seconds(headers: Mapping[str, str]) -> float | None:
    """How long the server asks to wait: given as seconds or as a date."""
    value = headers.get("retry-after", "")
    try:
        seconds = float(value)
    except ValueError:
        date = parsedate_tz(value)
        seconds = mktime_tz(date) - time.time() if date else math.nan
    return max(seconds, 0.0) if math.isfinite(seconds) else None

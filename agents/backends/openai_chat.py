"""A chat model behind any server that speaks OpenAI's protocol: OpenAI, vLLM, Ollama, llama.cpp.

    request -> retries, until the first piece -> pieces -> the model's own word that it was done

Beyond that protocol, a vLLM server is asked for the log-probabilities of a given reply, and any server
for the length of the model's context, which some tell in their list of models. The `openai` client
connects, retries and decodes. Here its outcomes become those of `ChatModel`: a reply is whole or an error
says why not, and no error holds the key, a password in the address, or a server's words unpruned.
Importing `openai` takes a second, so it waits for the first request.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from email.utils import mktime_tz, parsedate_tz
from functools import partial
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import unquote, urlsplit, urlunsplit

from agents.backends.structured_replies import (
    check_choices,
    choice_schema,
    fitting_reply,
    one_line,
    with_instructions,
)
from agents.interfaces import ChatMessage, ContinuationScore, CutAtLimit, ReplyRequest
from agents.token_budget import estimated_tokens
from stores.errors import (
    ContextTooLong,
    MalformedReply,
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
    from openai.types.chat import ChatCompletionChunk, ChatCompletionMessageParam

_ABOUT_THIS_MACHINE = tuple(  # what the client library would tell every server about it
    f"X-Stainless-{part}"
    for part in ("Lang", "Package-Version", "OS", "Arch", "Runtime", "Runtime-Version", "Async")
)
_NO_KEY = "no-key"  # sent where no key is set; with none at all the client would read OPENAI_API_KEY
_MODELS_LISTED = 5
_LISTING_SECONDS = 5.0  # the list of models is a courtesy: an error does not wait long for it
_LAST_WORDS_SECONDS = 0.5  # what may follow a finished reply: token counts and the end mark
_USUAL_CONTEXT_TOKENS = 8192  # assumed where neither the settings nor the server say
_LAST_LOOK_SECONDS = 1.0  # that leaving waits for the list of models
_TOO_LONG = ("context length", "context window", "context size", "too long", "too many tokens")


class OpenAIChat:
    """Writes replies with one model of one server.

    timeout_seconds: the longest wait to connect, and between two pieces of a reply.
    max_retries: further tries after a rate limit, a failure of the server or no connection, each
        after a longer pause or the one the server asks for; never once a piece has arrived.
    context_tokens: what the model can read and write at once; 0 takes the server's word, which is asked for
        after the first reply; until then, and where it says nothing, 8,192.
    Belongs to the event loop of its first request.
    """

    def __init__(
        self,
        *,
        base_url: str,
        model: str,
        api_key: str = "",
        timeout_seconds: float = 60.0,
        max_retries: int = 2,
        max_tokens: int | None = None,
        temperature: float | None = None,
        context_tokens: int = 0,
    ) -> None:
        self._base_url = base_url
        self._model = model
        self._api_key = api_key.strip()
        self._timeout_seconds = timeout_seconds
        self._max_retries = max_retries
        self._max_tokens = max_tokens
        self._temperature = temperature
        self._server, password = _split_credentials(base_url)
        self._secrets = tuple(secret for secret in (self._api_key, password) if secret)
        self._client: openai.AsyncOpenAI | None = None
        self._takes_schema = True  # until the server refused response_format once
        self._has_log_probabilities = True  # until it refused them once
        self._given_context_tokens = context_tokens
        self._listed: _ListedModel | None = None
        self._looking_up = asyncio.Lock()
        self._in_background: asyncio.Task[_ListedModel] | None = None  # looks the model up

    @property
    def name(self) -> str:
        """The model's name at its server."""
        return self._model

    @property
    def can_score(self) -> bool:
        """Whether the server has not yet refused log-probabilities."""
        return self._has_log_probabilities

    @property
    def context_tokens(self) -> int:
        """See `ChatModel.context_tokens`."""
        told = self._listed.context_tokens if self._listed else 0
        return self._given_context_tokens or told or _USUAL_CONTEXT_TOKENS

    def count_tokens(self, text: str) -> int:
        """A high estimate: a server's tokenizer is not at hand."""
        return estimated_tokens(text)

    async def aclose(self) -> None:
        """Gives the connections back. The next request opens new ones."""
        looking_up, self._in_background = self._in_background, None
        if looking_up is not None:
            await asyncio.wait([looking_up], timeout=_LAST_LOOK_SECONDS)
            looking_up.cancel()
            await asyncio.wait([looking_up])
        client, self._client = self._client, None
        if client is not None:
            await client.close()

    async def stream(self, request: ReplyRequest) -> AsyncIterator[str | CutAtLimit]:
        """The reply piece by piece; see `ChatModel.stream`."""
        client = await self._connected()
        import openai

        try:
            chunks = await client.chat.completions.create(
                model=self._model,
                messages=_as_sent(request.messages),
                stream=True,
                max_tokens=openai.omit if self._max_tokens is None else self._max_tokens,
                temperature=openai.omit if self._temperature is None else self._temperature,
            )
        except openai.APIError as error:
            explained = await self._explained(error)
            if isinstance(explained, ContextTooLong):
                await self._listed_model()
            raise explained from None  # its cause may quote the key

        has_begun = False
        finish: str | None = None
        async with chunks:  # left in any way, cancelled too, it closes the connection
            try:
                async for chunk in chunks:
                    piece, finish = _read_chunk(chunk)
                    if piece:
                        has_begun = True
                        yield piece
                    if finish is not None:
                        break
            except (openai.APIError, ValueError) as error:  # ValueError: not JSON, or not UTF-8
                raise self._broken_off(error, has_begun=has_begun) from None
            if finish is not None:
                await _read_last_words(chunks)
        self._check_finish(finish, has_begun=has_begun)
        if finish == "length":
            yield CutAtLimit(self._max_tokens)
        if not self._given_context_tokens and self._listed is None and self._in_background is None:
            # once, and when the reply is there: the next turn knows it, and this one does not wait for it
            self._in_background = asyncio.create_task(self._listed_model())

    async def structured(
        self, messages: Sequence[ChatMessage], schema: Mapping[str, object]
    ) -> dict[str, object]:
        """A reply that fits the schema, after at most one repair; see `ChatModel.structured`."""
        return await fitting_reply(
            partial(self._complete, schema=schema),
            messages,
            schema,
            writer=f"{self._model} at {self._server}",
            pruned=self._pruned,
        )

    async def choose(self, messages: Sequence[ChatMessage], choices: Sequence[str]) -> str:
        """The one that the model replies with; see `ChatModel.choose`.

        A vLLM server holds the model to the choices themselves, any other to a JSON object that names one.
        """
        check_choices(choices)
        if not (await self._listed_model()).is_vllm:
            return str((await self.structured(messages, choice_schema(choices)))["choice"])
        client = await self._connected()
        import openai

        try:
            reply = await self._ask(client, messages, {"structured_outputs": {"choice": list(choices)}})
        except (openai.APIError, ValueError) as error:
            raise await self._explained(error) from None
        if reply not in choices:
            raise MalformedReply(
                f"{self._model} at {self._server} chose none of what it was to choose from:"
                f" {self._pruned(reply)}",
                hint="Raise model.max_tokens, or choose a model that follows instructions better.",
            )
        return reply

    async def log_probability(self, messages: Sequence[ChatMessage], continuation: str) -> ContinuationScore:
        """What a vLLM server says of the reply's tokens; see `ChatModel.log_probability`.

        The server writes the prompt and cuts both texts into tokens; then it is asked for its
        log-probabilities of just these tokens, so that they begin exactly where a reply would.
        """
        if not self._has_log_probabilities:
            raise self._no_log_probabilities()
        client = await self._connected()
        import openai

        try:
            prompt = await self._tokenized(client, {"messages": _as_sent(messages)})
            text = {"prompt": _well_formed(continuation), "add_special_tokens": False}
            reply = await self._tokenized(client, text) if continuation else []
            answer = await client.post(
                "/completions",
                cast_to=object,
                body={
                    "model": self._model,
                    "prompt": prompt + reply,
                    "max_tokens": 1,
                    "prompt_logprobs": 0,
                },
            )
            return _read_score(answer, reply)
        except (openai.APIError, ValueError) as error:
            explained = await self._explained(error)
            is_other = isinstance(error, ValueError) or (
                isinstance(error, openai.APIStatusError) and error.status_code in (400, 404, 405, 422, 501)
            )
            if not is_other or isinstance(explained, ContextTooLong):
                raise explained from None
        self._has_log_probabilities = False
        raise self._no_log_probabilities()

    async def _tokenized(self, client: openai.AsyncOpenAI, text: Mapping[str, object]) -> list[int]:
        """The server's own tokens of messages or a text. Raises ValueError where it answers otherwise."""
        root = self._base_url.rstrip("/").removesuffix("/v1")
        answer = await client.post(f"{root}/tokenize", cast_to=object, body={"model": self._model, **text})
        ids = answer.get("tokens") if isinstance(answer, dict) else None
        if not isinstance(ids, list) or not ids or not all(isinstance(token, int) for token in ids):
            raise ValueError("no tokens")
        return ids

    def _no_log_probabilities(self) -> NoLogProbabilities:
        return NoLogProbabilities(
            f"{self._server} does not say how probable {self._model} finds a given reply",
            hint="Serve the model with vLLM, or run it in this process: model.backend.",
        )

    async def _listed_model(self) -> _ListedModel:
        """What the server's list says of this model; asked once, and no error when it says nothing."""
        async with self._looking_up:
            if self._listed is None:
                found = _ListedModel()
                for model in await self._models():
                    if getattr(model, "id", None) == self._model:
                        found = _ListedModel.read(model)
                self._listed = found
        return self._listed

    async def _models(self) -> list[object]:
        """The server's list of models; empty when it does not tell."""
        client = (await self._connected()).with_options(
            max_retries=0, timeout=min(self._timeout_seconds, _LISTING_SECONDS)
        )
        import openai

        with suppress(openai.APIError, ValueError):
            models = getattr(await client.models.list(), "data", None)
            return models if isinstance(models, list) else []
        return []

    async def _complete(self, messages: Sequence[ChatMessage], schema: Mapping[str, object]) -> str:
        """One whole reply, held to the schema by the server if it can, by instructions if it cannot."""
        client = await self._connected()
        import openai

        if self._takes_schema:
            form = {"name": "reply", "schema": dict(schema), "strict": True}
            held_to = {"response_format": {"type": "json_schema", "json_schema": form}}
            try:
                return await self._ask(client, messages, held_to)
            except (openai.BadRequestError, openai.UnprocessableEntityError) as error:
                explained = await self._explained(error)
                if isinstance(explained, (ContextTooLong, UnknownModel)):
                    raise explained from None
            except (openai.APIError, ValueError) as error:
                raise await self._explained(error) from None
        try:
            reply = await self._ask(client, with_instructions(messages, schema), {})
        except (openai.APIError, ValueError) as error:
            raise await self._explained(error) from None
        self._takes_schema = False
        return reply

    async def _ask(
        self,
        client: openai.AsyncOpenAI,
        messages: Sequence[ChatMessage],
        held_to: Mapping[str, object],
    ) -> str:
        """The text of one reply. held_to: what more is sent with it. Errors are the client's own."""
        import openai

        completion = await client.chat.completions.create(
            model=self._model,
            messages=_as_sent(messages),
            max_tokens=openai.omit if self._max_tokens is None else self._max_tokens,
            temperature=openai.omit if self._temperature is None else self._temperature,
            extra_body=held_to,
        )
        choice = _first_choice(completion)
        content = getattr(getattr(choice, "message", None), "content", None)
        return content if isinstance(content, str) else ""

    async def _connected(self) -> openai.AsyncOpenAI:
        """The client, made when first needed, beside the event loop: its imports take a second."""
        if self._client is None:
            client = await asyncio.to_thread(self._make_client)
            if self._client is None:  # else another request was faster
                self._client = client
        return self._client

    def _make_client(self) -> openai.AsyncOpenAI:
        """A client that knows this server and key, and none from the environment."""
        if not (self._api_key.isascii() and self._api_key.isprintable()):
            raise WrongKey(
                f"The key for {self._server} has a character that no header can carry",
                hint="Copy the key again into VOUCH_API_KEY, without quotation marks or line breaks.",
            )
        import httpx2
        import openai

        try:
            client = openai.AsyncOpenAI(
                base_url=self._base_url,
                api_key=self._api_key or _NO_KEY,
                timeout=self._timeout_seconds,
                max_retries=self._max_retries,
                default_headers=dict.fromkeys(_ABOUT_THIS_MACHINE, openai.omit),  # type: ignore[arg-type]
            )
        except httpx2.InvalidURL as error:
            raise ModelUnreachable(
                f"{self._server} is no address of a server: {self._pruned(str(error))}",
                hint="Correct base_url: it looks like http://127.0.0.1:8000/v1.",
            ) from None
        client.organization = client.project = None  # OPENAI_ORG_ID is no business of other servers
        _ = client.chat.completions  # imported on first use: 60 ms
        return client

    def _check_finish(self, finish: str | None, *, has_begun: bool) -> None:
        """Raises unless the model said that it was done."""
        if finish is None:
            raise ReplyCut(
                f"The reply of {self._model} at {self._server} ended before the model said that it was done",
                hint="Ask again."
                if has_begun
                else "Check base_url: it must lead to OpenAI's protocol, and usually ends in /v1.",
            )
        if finish == "content_filter":
            raise ReplyCut(
                f"A filter at {self._server} cut the reply of {self._model}",
                hint="Ask in other words.",
            )

    def _broken_off(self, error: openai.APIError | ValueError, *, has_begun: bool) -> ModelError:
        """What became of a reply whose stream failed."""
        import openai

        if isinstance(error, openai.APITimeoutError):
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

    async def _explained(self, error: openai.APIError | ValueError) -> ModelError:
        """The same failure in words for a person: what, where, and what next."""
        import openai

        if isinstance(error, openai.APITimeoutError):
            return self._no_answer()
        if isinstance(error, openai.APIConnectionError):
            reason = self._pruned(str(error.__cause__ or error.message))
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

    async def _explained_status(self, error: openai.APIStatusError) -> ModelError:
        status, words = error.status_code, self._server_words(error)
        if status == 401:  # without the server's words: OpenAI's repeat part of the key
            return WrongKey(
                f"{self._server} does not accept the key"
                if self._api_key
                else f"{self._server} wants a key, and none is set",
                hint="Set VOUCH_API_KEY to a key of this server.",
            )
        if status == 403:
            return WrongKey(
                f"{self._server} does not let this key use {self._model}: {words}",
                hint="Set VOUCH_API_KEY to a key that may, or choose another model.",
            )
        if status == 404 or error.code == "model_not_found":
            return UnknownModel(
                f"{self._server} has no model {self._model!r}: {words}", hint=await self._models_hint()
            )
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

    def _no_answer(self) -> ModelUnreachable:
        return ModelUnreachable(
            f"{self._server} did not answer within {self._timeout_seconds:g} seconds",
            hint="Check that the server is well, or allow it more time.",
        )

    def _too_long(self, words: str) -> ContextTooLong:
        return ContextTooLong(
            f"More text than {self._model} at {self._server} can read at once: {words}",
            hint="Ask with less text, or choose a model with a longer context.",
        )

    async def _models_hint(self) -> str:
        """Names some models of the server, when it tells them."""
        names = [
            self._pruned(model_id)
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
        return self._pruned(str(said) if said else error.message)

    def _pruned(self, words: str) -> str:
        """Foreign words without secrets and control characters, on one line, and not too many."""
        for secret in self._secrets:
            words = words.replace(secret, "[secret]")
        return one_line(words)


@dataclass(frozen=True)
class _ListedModel:
    """What a server's list says of a model."""

    context_tokens: int = 0  # 0: nothing
    is_vllm: bool = False

    @classmethod
    def read(cls, model: object) -> _ListedModel:
        """From an entry of the list."""
        length = getattr(model, "max_model_len", 0)
        is_length = isinstance(length, int) and not isinstance(length, bool) and length > 0
        return cls(length if is_length else 0, getattr(model, "owned_by", "") == "vllm")


def _split_credentials(base_url: str) -> tuple[str, str]:
    """The address as it may be shown, and the password that was in it or an empty string."""
    try:
        parts = urlsplit(base_url)
    except ValueError:  # brackets that do not close; the client says more
        return "the server named by base_url", ""
    host = parts.netloc.rpartition("@")[2]
    return urlunsplit((parts.scheme, host, parts.path, "", "")), unquote(parts.password or "")


def _as_sent(messages: Sequence[ChatMessage]) -> list[ChatCompletionMessageParam]:
    plain = [{"role": message.role, "content": _well_formed(message.content)} for message in messages]
    return cast("list[ChatCompletionMessageParam]", plain)


def _first_choice(reply: object) -> object:
    """The only choice of a reply or chunk; None where it has none, as in a count of tokens."""
    choices = getattr(reply, "choices", None)
    return choices[0] if isinstance(choices, list) and choices else None


def _read_chunk(chunk: object) -> tuple[str, str | None]:
    """A chunk's text, and why the model is done if it is; the client does not check their types."""
    choice = _first_choice(chunk)
    piece = getattr(getattr(choice, "delta", None), "content", None)
    finish = getattr(choice, "finish_reason", None)
    return (
        _well_formed(piece) if isinstance(piece, str) else "",
        finish if isinstance(finish, str) and finish else None,
    )


def _well_formed(text: str) -> str:
    """Text that can be sent and stored: JSON and terminals may carry half a character, which UTF-8 cannot."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _read_score(answer: object, reply: Sequence[int]) -> ContinuationScore:
    """The score of the last tokens of a prompt. Raises ValueError where the answer does not hold it."""
    choices = answer.get("choices") if isinstance(answer, dict) else None
    places = choices[0].get("prompt_logprobs") if isinstance(choices, list) and choices else None
    if not isinstance(places, list) or len(places) <= len(reply):
        raise ValueError("no log-probabilities")
    try:
        found: list[dict[str, Any]] = [
            place[str(token)] for place, token in zip(places[len(places) - len(reply) :], reply, strict=True)
        ]
        return ContinuationScore(
            tuple(str(token["decoded_token"]) for token in found),
            tuple(float(token["logprob"]) for token in found),
        )
    except (KeyError, TypeError) as error:
        raise ValueError("log-probabilities of another form") from error


async def _read_last_words(chunks: openai.AsyncStream[ChatCompletionChunk]) -> None:
    """Reads what follows a finished reply, so that the connection serves again; none of it matters."""
    import openai

    with suppress(TimeoutError, openai.APIError, ValueError):
        async with asyncio.timeout(_LAST_WORDS_SECONDS):
            async for _ in chunks:
                pass


def _is_too_long(error: openai.APIError, words: str) -> bool:
    return error.code == "context_length_exceeded" or any(sign in words.lower() for sign in _TOO_LONG)


def _retry_after_seconds(headers: Mapping[str, str]) -> float | None:
    """How long the server asks to wait: given as seconds or as a date."""
    value = headers.get("retry-after", "")
    try:
        seconds = float(value)
    except ValueError:
        date = parsedate_tz(value)
        seconds = mktime_tz(date) - time.time() if date else math.nan
    return max(seconds, 0.0) if math.isfinite(seconds) else None

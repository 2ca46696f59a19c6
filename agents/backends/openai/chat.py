"""A chat model behind any server that speaks OpenAI's protocol: OpenAI, vLLM, Ollama, llama.cpp.

    request -> retries, until the first piece -> pieces -> the model's own word that it was done
    refused for a parameter -> asked again without it (habits.py)

Beyond that protocol, a vLLM server is asked for the log-probabilities of a given reply, and any server
for the length of the model's context, which some tell in their list of models. The `openai` client
connects, retries and decodes. Here its outcomes become those of `ChatModel`: a reply is whole or an error
says why not, and no error holds the key, a password in the address, or a server's words unpruned.
Importing `openai` takes a second, so it waits for the first request.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar, cast

from agents.backends.openai.client import is_on_this_machine, make_client
from agents.backends.openai.failures import ServerFailures, context_length, wait_before
from agents.backends.openai.habits import MOST_ADAPTED, Habits, KnownHabits
from agents.backends.openai.responses import completion, renamed
from agents.backends.openai.responses import request as responses_request
from agents.backends.openai.server import ListedModel, told_images, told_length
from agents.backends.openai.wire import (
    ToolCalls,
    as_sent,
    called_tools,
    counted_tokens,
    first_choice,
    read_chunk,
    read_last_words,
    read_message,
    read_score,
    split_credentials,
    told_error,
    well_formed,
)
from agents.base.chat_interfaces import (
    ChatMessage,
    ContinuationScore,
    CutAtLimit,
    Image,
    Piece,
    ReplyRequest,
    Tokens,
)
from agents.base.token_budget import estimated_tokens
from agents.prompts.structured_replies import check_choices, choice_schema, fitting_reply, with_instructions
from stores.base.errors import ContextTooLong, MalformedReply, ModelRefused, ToolsAsked, UnknownModel
from stores.base.secrets import secret_words

if TYPE_CHECKING:
    import openai
    from openai.types.chat import ChatCompletionMessageParam

_Chunk = TypeVar("_Chunk")
_LISTING_SECONDS = 5.0  # the list of models is a courtesy: an error does not wait long for it
_USUAL_HERE, _USUAL_ELSEWHERE = 8_192, 32_768  # tokens, assumed where neither settings nor server say
_TELLING = 0.05  # by which the share of tokens has to differ to be written down anew
_STRUCTURED = 4_096  # tokens of a reply that nobody reads while it is written, at most
_NEARLY_ALL = 0.9  # of the context, from where on a server's count tells nothing of a text
_READY_SECONDS = 1.0  # that a first reply waits for the length of the context
_LAST_LOOK_SECONDS = 1.0  # that leaving waits for the list of models


class OpenAIChat:
    """Writes replies with one model of one server.

    timeout_seconds: the longest wait to connect, and between two pieces of a reply. first_word_seconds: until
        the first piece, which a model that is loaded first may take long for.
    max_retries: further tries after a rate limit, a failure of the server or no connection, each
        after a longer pause or the one the server asks for; never once a piece has arrived.
    context_tokens: what the model can read and write at once; 0 takes the server's word, which is asked for
        before the first reply; where it says nothing, 8,192 on this machine and 32,768 elsewhere.
    max_tokens, temperature: None leaves them to the server.
    parameters: further ones of a request, by the protocol's names, such as top_p.
    headers: further ones of each request.
    habits: what servers refused before; None learns it anew.
    protocol: "chat", "responses", or "auto", which is "chat" until the server says that the model
        has responses alone.
    images: whether the model takes them; None: as the server tells.
    counts_tokens: asks the server to count those of streamed replies, too.
    Belongs to the event loop of its first request.
    """

    def __init__(
        self,
        *,
        base_url: str,
        model: str,
        api_key: str = "",
        timeout_seconds: float = 60.0,
        first_word_seconds: float = 600.0,
        max_retries: int = 2,
        max_tokens: int | None = None,
        temperature: float | None = None,
        context_tokens: int = 0,
        parameters: Mapping[str, object] | None = None,
        headers: Mapping[str, str] | None = None,
        habits: KnownHabits | None = None,
        counts_tokens: bool = False,
        protocol: str = "auto",
        images: bool | None = None,
    ) -> None:
        self._base_url = base_url
        self._model = model
        self._api_key = api_key.strip()
        self._timeout_seconds, self._first_word_seconds = timeout_seconds, first_word_seconds
        self._max_retries = max_retries
        self._max_tokens = max_tokens
        self._temperature = temperature
        self._parameters = dict(parameters or {})
        self._headers = dict(headers or {})
        self._server, in_address = split_credentials(base_url)
        sent = [*self._headers.values(), *secret_words([self._headers, self._parameters])]
        self._failures = ServerFailures(
            model=model,
            server=self._server,
            has_key=bool(self._api_key),
            secrets=[secret for secret in (self._api_key, *in_address, *sent) if secret],
            timeout_seconds=timeout_seconds,
            first_word_seconds=first_word_seconds,
            models=self._models,
        )
        self._counts, self._protocol = counts_tokens, protocol
        self._images = images
        self.used = Tokens()  # since it was made, as far as the server tells
        self._client: openai.AsyncOpenAI | None = None
        self._known_habits = habits or KnownHabits(None)
        self._habits: Habits | None = None  # read with the first request
        self._kept_share = 0.0  # of tokens, as it was written down last
        self._has_log_probabilities = True  # until it refused them once
        self._given_context_tokens = context_tokens
        self._listed: ListedModel | None = None
        self._looking_up = asyncio.Lock()
        self._in_background: asyncio.Task[None] | None = None  # looks the model up, once

    @property
    def name(self) -> str:
        return self._model

    @property
    def can_score(self) -> bool:
        """Whether the server has not yet refused log-probabilities."""
        return self._has_log_probabilities

    @property
    def context_tokens(self) -> int:
        known = self._given_context_tokens or self._current_habits().context_tokens
        return known or (_USUAL_HERE if is_on_this_machine(self._base_url) else _USUAL_ELSEWHERE)

    def count_tokens(self, text: str) -> int:
        """An estimate, by the share that the server's own counts were of it before."""
        return math.ceil(estimated_tokens(text) * self._current_habits().tokens_share)

    async def get_ready(self) -> None:
        """Asks the server for the length of its context where that is not known; waits a second at most."""
        if self._given_context_tokens or (self._listed is not None and self._current_habits().context_tokens):
            return
        looking_up = self._look_up()  # also where it is known from before: a server may start with another
        if not self._current_habits().context_tokens:
            await asyncio.wait([looking_up], timeout=_READY_SECONDS)

    async def model_names(self) -> list[str]:
        """What the server lists, in its order; empty when it does not tell."""
        names = (getattr(model, "id", None) for model in await self._models())
        return [name for name in names if isinstance(name, str) and name]

    @property
    def takes_tools(self) -> bool:
        """Whether a program's tools can be offered to it; responses have another form of them."""
        return self._current_habits().protocol == "chat"

    async def takes_images(self) -> bool | None:
        """Whether the model takes images, by the settings or its server; None where neither says."""
        if self._images is not None:
            return self._images
        listed = await self._listed_model()
        return await told_images(await self._asking_beside(), self._root, self._model, listed)

    async def aclose(self) -> None:
        looking_up, self._in_background = self._in_background, None
        if looking_up is not None:
            await asyncio.wait([looking_up], timeout=_LAST_LOOK_SECONDS)
            looking_up.cancel()
            await asyncio.wait([looking_up])
        client, self._client = self._client, None
        if client is not None:
            await client.close()

    async def stream(self, request: ReplyRequest) -> AsyncIterator[Piece]:
        """The reply piece by piece; see `ChatModel.stream`."""
        client = await self._connected()
        import openai

        try:
            more = {"stream": True, **(request.tools.parameters if request.tools else {})}
            rounds = request.tools.rounds if request.tools else ()
            chunks = await self._adapting(client, request.messages, more, request.images, rounds)
        except openai.APIError as error:
            explained = await self._failures.explained(error)
            if isinstance(explained, ContextTooLong):
                await self._learn_length(context_length(error))
            raise explained from None  # its cause may quote the key

        has_begun = False
        finish: str | None = None
        tools, calls = "", ToolCalls()  # that the model asked for
        async with chunks:  # left in any way, cancelled too, it closes the connection
            try:
                async for chunk in self._in_time(chunks):
                    pieces, finish = read_chunk(chunk)
                    tools += called_tools(chunk)
                    calls.hear(chunk)
                    for piece in pieces:
                        has_begun = True
                        yield piece
                    if finish is not None:
                        break
            except (openai.APIError, ValueError, TimeoutError) as error:  # ValueError: not JSON, or not UTF-8
                raise self._failures.broken_off(error, has_begun=has_begun) from None
            if finish is not None:
                used = counted_tokens(chunk) or await read_last_words(chunks)
                self.used += used
                if not request.images:  # whose tokens no text tells
                    self._learn_share(request.messages, used.sent)
        if request.tools is not None and finish is not None and calls.whole:
            raise ToolsAsked(calls.whole)
        self._failures.check_finish(finish, has_begun=has_begun, tools=tools)
        if finish == "length":
            yield CutAtLimit(self._max_tokens)
        if not self._given_context_tokens and not self._current_habits().context_tokens:
            self._look_up()  # the next turn knows it

    async def _in_time(self, chunks: AsyncIterator[_Chunk]) -> AsyncIterator[_Chunk]:
        """The same. Raises TimeoutError where nothing more comes for long, whatever keeps the line alive."""
        seconds = self._first_word_seconds
        while True:
            async with asyncio.timeout(seconds):
                try:
                    chunk = await anext(chunks)
                except StopAsyncIteration:
                    return
            yield chunk
            pieces, _ = read_chunk(chunk)
            seconds = self._timeout_seconds if pieces else seconds

    def _look_up(self) -> asyncio.Task[None]:
        if self._in_background is None or self._in_background.done():
            self._in_background = asyncio.create_task(self._learn_length())
        return self._in_background

    async def _learn_length(self, told: int = 0) -> None:
        """Keeps how long the context is. told: by a refusal; 0: the server is asked."""
        if not told:
            listed = await self._listed_model()
            told = await told_length(await self._asking_beside(), self._root, self._model, listed)
        if told and told != self._current_habits().context_tokens:
            self._learn(replace(self._current_habits(), context_tokens=told))

    async def _asking_beside(self) -> openai.AsyncOpenAI:
        """The client for what is a courtesy: it waits for no answer for long."""
        return (await self._connected()).with_options(max_retries=0, timeout=_LISTING_SECONDS)

    @property
    def _root(self) -> str:
        """The server's address without /v1."""
        return self._base_url.rstrip("/").removesuffix("/v1")

    def _learn_share(self, messages: Sequence[ChatMessage], sent: int) -> None:
        """Keeps which share of the estimate the server counted."""
        estimated = sum(estimated_tokens(message.content) for message in messages)
        if sent >= _NEARLY_ALL * self.context_tokens:  # it may have cut what it was sent
            return
        if (habits := self._current_habits().counted(estimated, sent)) is not None:
            self._habits = habits
            if abs(habits.tokens_share - self._kept_share) >= _TELLING:
                self._learn(habits)

    async def structured(
        self, messages: Sequence[ChatMessage], schema: Mapping[str, object]
    ) -> dict[str, object]:
        """A reply that fits the schema, after at most one repair; see `ChatModel.structured`."""
        return await fitting_reply(
            partial(self._complete, schema=schema),
            messages,
            schema,
            writer=f"{self._model} at {self._server}",
            pruned=self._failures.pruned,
        )

    async def choose(self, messages: Sequence[ChatMessage], choices: Sequence[str]) -> str:
        """The one that the model replies with; see `ChatModel.choose`.

        A vLLM server holds the model to the choices themselves, any other to a JSON object that names one.
        """
        check_choices(choices)
        if not (await self._listed_model()).is_vllm or self._current_habits().protocol == "responses":
            return str((await self.structured(messages, choice_schema(choices)))["choice"])
        client = await self._connected()
        import openai

        try:
            reply = await self._ask(client, messages, {"structured_outputs": {"choice": list(choices)}})
        except (openai.APIError, ValueError) as error:
            raise await self._failures.explained(error) from None
        if reply not in choices:
            raise MalformedReply(
                f"{self._model} at {self._server} chose none of what it was to choose from:"
                f" {self._failures.pruned(reply)}",
                hint="Raise model.max_tokens, or choose a model that follows instructions better.",
            )
        return reply

    async def log_probability(self, messages: Sequence[ChatMessage], continuation: str) -> ContinuationScore:
        """What a vLLM server says of the reply's tokens; see `ChatModel.log_probability`.

        The server writes the prompt and cuts both texts into tokens; then it is asked for its
        log-probabilities of just these tokens, so that they begin exactly where a reply would.
        """
        if not self._has_log_probabilities:
            raise self._failures.no_log_probabilities()
        client = await self._connected()
        import openai

        try:
            prompt = await self._tokenized(client, {"messages": as_sent(messages)})
            text = {"prompt": well_formed(continuation), "add_special_tokens": False}
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
            return read_score(answer, reply)
        except (openai.APIError, ValueError) as error:
            explained = await self._failures.explained(error)
            is_other = isinstance(error, ValueError) or (
                isinstance(error, openai.APIStatusError) and error.status_code in (400, 404, 405, 422, 501)
            )
            if not is_other or isinstance(explained, ContextTooLong):
                raise explained from None
        self._has_log_probabilities = False
        raise self._failures.no_log_probabilities()

    async def _tokenized(self, client: openai.AsyncOpenAI, text: Mapping[str, object]) -> list[int]:
        """The server's own tokens of messages or a text. Raises ValueError where it answers otherwise."""
        answer = await client.post(
            f"{self._root}/tokenize", cast_to=object, body={"model": self._model, **text}
        )
        ids = answer.get("tokens") if isinstance(answer, dict) else None
        if not isinstance(ids, list) or not ids or not all(isinstance(token, int) for token in ids):
            raise ValueError("no tokens")
        return ids

    async def _listed_model(self) -> ListedModel:
        """What the server's list says of this model; asked once, and no error when it says nothing."""
        async with self._looking_up:
            if self._listed is None:
                models = await self._models()
                if not models:  # it may not be up yet
                    return ListedModel()
                names = (self._model, f"{self._model}:latest")  # as Ollama lists it
                named = [model for model in models if getattr(model, "id", None) in names]
                found = named or (models if len(models) == 1 else [])  # llama.cpp answers by any name
                self._listed = ListedModel.read(found[0]) if found else ListedModel()
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

        if "response_format" not in self._current_habits().left_out:
            form = {"name": "reply", "schema": dict(schema), "strict": True}
            held_to = {"response_format": {"type": "json_schema", "json_schema": form}}
            try:
                return await self._ask(client, messages, held_to)
            except (openai.BadRequestError, openai.UnprocessableEntityError) as error:
                explained = await self._failures.explained(error)
                if isinstance(explained, (ContextTooLong, UnknownModel)):
                    raise explained from None
            except (openai.APIError, ValueError) as error:
                raise await self._failures.explained(error) from None
        try:
            reply = await self._ask(client, with_instructions(messages, schema), {})
        except (openai.APIError, ValueError) as error:
            raise await self._failures.explained(error) from None
        habits = self._current_habits()
        if "response_format" not in habits.left_out:
            self._learn(replace(habits, left_out=(*habits.left_out, "response_format")))
        return reply

    async def _ask(
        self,
        client: openai.AsyncOpenAI,
        messages: Sequence[ChatMessage],
        held_to: Mapping[str, object],
    ) -> str:
        """The text of one reply. held_to: what more is sent with it. Errors are the client's own."""
        completion = await self._adapting(client, messages, held_to)
        self.used += counted_tokens(completion)
        if error := told_error(completion):
            raise ModelRefused(
                f"{self._model} at {self._server} did not answer: {self._failures.pruned(error)}"
            )
        words, is_refusal = read_message(first_choice(completion))
        if is_refusal:
            raise ModelRefused(f"{self._model} at {self._server} refuses: {self._failures.pruned(words)}")
        return words

    async def _adapting(
        self,
        client: openai.AsyncOpenAI,
        messages: Sequence[ChatMessage],
        more: Mapping[str, object],
        images: Sequence[Image] = (),
        rounds: Sequence[Mapping[str, Any]] = (),
    ) -> Any:
        """What the client returns; put otherwise and asked again where the server refuses a parameter.

        more: what this request has beside the settings' parameters. rounds: of tools, behind the messages.
        Errors are the client's own.
        """
        import openai

        for number in range(MOST_ADAPTED):
            habits = self._current_habits()
            counting = {"include_usage": True} if self._counts and more.get("stream") else None
            asked_for = {
                habits.limit: self._max_tokens or (None if more.get("stream") else self._structured_limit()),
                "temperature": self._temperature,
                "stream_options": counting,
                **self._parameters,
            }
            set_by_user = {name: value for name, value in asked_for.items() if value is not None}
            if habits.protocol == "responses":
                set_by_user = renamed(set_by_user)
            set_by_user = {n: value for n, value in set_by_user.items() if n not in habits.left_out}
            try:
                answer = await self._trying_again(
                    partial(
                        self._post,
                        client,
                        habits,
                        [
                            *as_sent(messages, instructions=habits.instructions, images=images),
                            *cast("Sequence[ChatCompletionMessageParam]", rounds),
                        ],
                        set_by_user,
                        more,
                    )
                )
            except (openai.BadRequestError, openai.NotFoundError, openai.UnprocessableEntityError) as error:
                adapted = self._failures.adapted(error, habits, set_by_user)
                is_other = adapted is not None and adapted.protocol != habits.protocol
                if adapted is None or number == MOST_ADAPTED - 1 or (is_other and self._protocol != "auto"):
                    raise
                self._habits = adapted
            else:
                if number:
                    self._learn(habits)
                return answer
        raise AssertionError("the last try returns or raises")

    async def _post(
        self,
        client: openai.AsyncOpenAI,
        habits: Habits,
        sent: list[ChatCompletionMessageParam],
        parameters: Mapping[str, object],
        more: Mapping[str, object],
    ) -> Any:
        """One request, as the protocol has it, and the answer as one to a chat completion."""
        from openai import AsyncStream
        from openai.types.chat import ChatCompletion, ChatCompletionChunk

        is_stream = bool(more.get("stream"))
        others = {name: value for name, value in more.items() if name != "stream"}
        if habits.protocol == "chat":
            return await client.chat.completions.create(
                model=self._model, messages=sent, stream=is_stream, extra_body={**parameters, **others}
            )
        body = responses_request(self._model, sent, {**parameters, **renamed(others)}, stream=is_stream)
        if is_stream:
            chunks = AsyncStream[ChatCompletionChunk]
            return await client.post(
                "/responses", cast_to=ChatCompletionChunk, body=body, stream=True, stream_cls=chunks
            )
        whole = await client.post("/responses", cast_to=object, body=body)
        return ChatCompletion.construct(**completion(whole if isinstance(whole, Mapping) else {}))

    async def _trying_again(self, ask: Callable[[], Awaitable[Any]]) -> Any:
        """What one request returns, after pauses where it is of use to send it once more."""
        import openai

        for tries in range(self._max_retries + 1):
            try:
                return await ask()
            except openai.APIError as error:
                seconds = wait_before(error, tries)
                if seconds is None or tries == self._max_retries:
                    raise
            await asyncio.sleep(seconds)
        raise AssertionError("the last try returns or raises")

    def _structured_limit(self) -> int | None:
        """Tokens of a reply that nobody reads while it is written; servers elsewhere have their own."""
        if not is_on_this_machine(self._base_url):
            return None
        return min(_STRUCTURED, self.context_tokens // 2)

    def _current_habits(self) -> Habits:
        if self._habits is None:
            known = self._known_habits.of(self._server, self._model)
            self._habits = known if self._protocol == "auto" else replace(known, protocol=self._protocol)
        return self._habits

    def _learn(self, habits: Habits) -> None:
        self._habits = habits
        self._kept_share = habits.tokens_share
        if self._protocol != "auto":  # which was set, and not learned
            habits = replace(habits, protocol="chat")
        self._known_habits.learn(self._server, self._model, habits)

    async def _connected(self) -> openai.AsyncOpenAI:
        """The client, made when first needed, beside the event loop: its imports take a second."""
        if self._client is None:
            client = await asyncio.to_thread(
                make_client,
                self._base_url,
                server=self._server,
                api_key=self._api_key,
                headers=self._headers,
                connect_seconds=self._timeout_seconds,
                read_seconds=self._first_word_seconds,
                pruned=self._failures.pruned,
            )
            if self._client is None:  # else another request was faster
                self._client = client
        return self._client

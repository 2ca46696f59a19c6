"""The memory as a model, by OpenAI's protocol: /v1/models, /v1/chat/completions and /v1/embeddings.

Who asks is said by the key and by nothing else. Programs send a whole conversation each time: its last
message is answered in the session that holds the others, and those are never learned from again.
"""

from __future__ import annotations

import base64
import json
import logging
import threading
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from typing import Any, TypeVar

import anyio.to_thread
import numpy as np
from pydantic import BaseModel, ValidationError
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from assistant.doors.guard import Guard, bearer
from assistant.doors.openai_bodies import ChatBody, EmbeddingsBody, told
from assistant.process.log import fields
from stores.base.errors import (
    ModelBusy,
    NotFound,
    OverTime,
    ToolsAsked,
    TryAgain,
    VouchError,
    WrongUsage,
)
from vouch import Answer, AnswerStream, Vouch

B = TypeVar("B", bound=BaseModel)
T = TypeVar("T")

_log = logging.getLogger(__name__)

OWN = "vouch"  # the model that answers by the settings; others are vouch/NAME
MOST_BYTES = 20_000_000  # of a request: images come along
_OF_A_USER = 16  # requests that are worked on at once; further ones wait, and those of others do not


class Api:
    """The requests of all users of one process."""

    def __init__(
        self,
        user_of: Callable[[str], str | None],
        open_memory: Callable[[str, str], Vouch],
        *,
        models: tuple[str, ...] = (),
        metrics: Callable[[], tuple[bytes, str]] | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """user_of: whose key it is. open_memory: of a user, answered by a model ("" for the settings').

        models: names of chat models of the settings. metrics: what is told of the server, and its kind, to
        whoever asks; None: nothing.
        """
        self._user_of, self._open, self._clock = user_of, open_memory, clock
        self._metrics = metrics
        self.models = (OWN, *(f"{OWN}/{name}" for name in models))
        self._known: dict[tuple[str, str], Vouch] = {}
        self._opening = threading.Lock()
        self._threads: dict[str, anyio.CapacityLimiter] = {}  # of each user; of nobody: to look a key up

    def app(self, *, host: str, names: Sequence[str] = ()) -> Guard:
        """To be served. host: what the server is bound to. names: by which others know it besides."""
        routes = [
            Route("/v1/models", self._answering(self._models), methods=["GET"]),
            Route("/v1/models/{name:path}", self._answering(self._model), methods=["GET"]),
            Route("/v1/chat/completions", self._answering(self._chat), methods=["POST"]),
            Route("/v1/embeddings", self._answering(self._embeddings), methods=["POST"]),
        ]
        if self._metrics is not None:
            routes.append(Route("/metrics", self._told, methods=["GET"]))
        handlers = {404: _nothing_here, 405: _nothing_here, 500: _defect}
        app = Starlette(routes=routes, exception_handlers=handlers)
        return Guard(app, host=host, names=names, token=None, most_bytes=MOST_BYTES)

    def _answering(
        self, answer: Callable[[Request, str], Awaitable[Response]]
    ) -> Callable[[Request], Awaitable[Response]]:
        """Finds out who asks, and tells errors as the protocol has them."""

        async def answered(request: Request) -> Response:
            key = bearer(request.headers.get("authorization", ""))
            user = await self._off_loop(self._user_of, key) if key else None
            if user is None:
                said = (
                    "The key is wrong or was taken back."
                    if key
                    else "There is no key: Authorization: Bearer KEY"
                )
                return _refusal(401, said, code="invalid_api_key")
            try:
                return await answer(request, user)
            except VouchError as error:
                return _failure(error)

        return answered

    async def _told(self, request: Request) -> Response:
        assert self._metrics is not None
        text, kind = await self._off_loop(self._metrics)
        return Response(text, media_type=kind)

    async def _models(self, request: Request, user: str) -> Response:
        return JSONResponse({"object": "list", "data": [self._described(name) for name in self.models]})

    async def _model(self, request: Request, user: str) -> Response:
        name = request.path_params["name"]
        self._check_model(name)
        return JSONResponse(self._described(name))

    def _described(self, name: str) -> dict[str, object]:
        return {"id": name, "object": "model", "created": 0, "owned_by": OWN}

    def _check_model(self, name: str) -> None:
        if name not in self.models:
            raise NotFound(f"there is no model {name[:80]!r}", hint=f"There are: {', '.join(self.models)}.")

    async def _memory(self, user: str, model: str) -> Vouch:
        """Opened once, and kept."""
        self._check_model(model)
        named = model.partition("/")[2]

        def opened() -> Vouch:
            with self._opening:
                if (user, named) not in self._known:
                    self._known[user, named] = self._open(user, named)
                return self._known[user, named]

        return await self._off_loop(opened, of=user)

    async def _chat(self, request: Request, user: str) -> Response:
        body = await _read(request, ChatBody)
        memory = await self._memory(user, body.model)
        session = body.session
        messages = _from_the_last_message(body.messages) if session is not None else body.messages
        stream = partial(
            memory.stream,
            messages,
            session,
            tools=body.tools or (),
            tool_choice=body.tool_choice,
            is_kept=body.store is not False,
        )
        pieces = await self._off_loop(stream, of=user)
        if body.stream:
            has_usage = body.stream_options is not None and body.stream_options.include_usage
            told = self._streamed(pieces, body.model, user, has_usage=has_usage)
            return StreamingResponse(
                told, media_type="text/event-stream", headers={"Cache-Control": "no-store"}
            )
        try:
            answer = await self._off_loop(_whole, pieces, of=user)
        except ToolsAsked as asked:
            return JSONResponse(self._asking(asked, body.model))
        finally:
            pieces.stop()  # where the program has gone
        return JSONResponse(self._completion(answer, body.model))

    def _asking(self, asked: ToolsAsked, model: str) -> dict[str, Any]:
        message = {"role": "assistant", "content": None, "refusal": None, "tool_calls": asked.calls}
        choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": "tool_calls"}
        head = self._head(f"chatcmpl-{time.monotonic_ns()}", "chat.completion", model)
        return {**head, "choices": [choice], "usage": None}

    def _completion(self, answer: Answer, model: str) -> dict[str, Any]:
        message = {"role": "assistant", "content": answer.text, "refusal": None}
        choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": _finish(answer)}
        whole = self._head(f"chatcmpl-{answer.turn}", "chat.completion", model)
        return {**whole, "choices": [choice], "usage": _usage(answer), "vouch": _explained(answer)}

    def _head(self, number: str, kind: str, model: str) -> dict[str, Any]:
        return {"id": number, "object": kind, "created": int(self._clock()), "model": model}

    async def _streamed(
        self, pieces: AnswerStream, model: str, user: str, *, has_usage: bool
    ) -> AsyncIterator[str]:
        head = self._head(f"chatcmpl-{pieces.session}-{time.monotonic_ns()}", "chat.completion.chunk", model)

        def chunk(delta: Mapping[str, object], finish: str | None = None, **more: object) -> str:
            choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
            return _event({**head, "choices": [choice], **more})

        try:
            await self._off_loop(pieces.__enter__, of=user)
            yield chunk({"role": "assistant", "content": ""})
            read = iter(pieces)
            while (piece := await self._off_loop(next, read, None, of=user)) is not None:
                yield chunk({"content": piece})
            answer = pieces.answer
            yield chunk({}, _finish(answer), vouch=_explained(answer))
            if has_usage:
                yield _event({**head, "choices": [], "usage": _usage(answer)})
            yield "data: [DONE]\n\n"
        except ToolsAsked as asked:
            yield chunk({"tool_calls": [{"index": n, **call} for n, call in enumerate(asked.calls)]})
            yield chunk({}, "tool_calls")
            yield "data: [DONE]\n\n"
        except VouchError as error:
            yield _event({"error": _error(error)})
        except Exception as error:  # noqa: BLE001 - the answer has begun: its end is told in it
            yield _event({"error": _told_defect(error)})
        finally:
            pieces.stop()

    async def _embeddings(self, request: Request, user: str) -> Response:
        body = await _read(request, EmbeddingsBody)
        memory = await self._memory(user, body.model)
        vectors = await self._off_loop(memory.embed, body.texts, of=user)
        rows = [
            {"object": "embedding", "index": place, "embedding": _packed(vector, body.encoding_format)}
            for place, vector in enumerate(vectors)
        ]
        return JSONResponse({"object": "list", "data": rows, "model": body.model, "usage": None})

    async def _off_loop(self, work: Callable[..., T], *given: Any, of: str = "") -> T:
        """On a thread. of: the user whom it is for."""
        threads = self._threads.setdefault(of, anyio.CapacityLimiter(_OF_A_USER))
        return await anyio.to_thread.run_sync(work, *given, abandon_on_cancel=True, limiter=threads)


def _from_the_last_message(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The user's last one, with what stands behind it."""
    users = [place for place, each in enumerate(messages) if each.get("role") == "user"]
    return messages[users[-1] :] if users else messages


def _whole(pieces: AnswerStream) -> Answer:
    with pieces:
        for _ in pieces:
            pass
    return pieces.answer


async def _read(request: Request, kind: type[B]) -> B:
    """The body of a request. Raises `WrongUsage`."""
    try:
        return kind.model_validate(json.loads(await request.body()))
    except ValidationError as error:
        raise WrongUsage(told(error)) from None
    except (ValueError, RecursionError):
        raise WrongUsage("the body is no JSON") from None


def _explained(answer: Answer) -> dict[str, Any]:
    """What the protocol has no field for."""
    return {
        "turn": answer.turn,
        "session": answer.session,
        "sure": answer.sure,
        "sources": [asdict(source) for source in answer.sources],
        "receipts": [asdict(receipt) for receipt in answer.receipts],
        "unreachable": answer.unreachable or None,
    }


def _usage(answer: Answer) -> dict[str, int] | None:
    """As the chat model's server counted; None where it did not, or none was asked."""
    if answer.tokens is None:
        return None
    sent, written = answer.tokens
    return {"prompt_tokens": sent, "completion_tokens": written, "total_tokens": sent + written}


def _finish(answer: Answer) -> str:
    return "length" if answer.is_cut else "stop"


def _packed(vector: list[float], encoding: str | None) -> list[float] | str:
    if encoding != "base64":
        return vector
    return base64.b64encode(np.asarray(vector, dtype="<f4").tobytes()).decode()


def _event(told: Mapping[str, Any]) -> str:
    return f"data: {json.dumps(told)}\n\n"


def _failure(error: VouchError) -> Response:
    status = next((code for kind, code in _STATUS if isinstance(error, kind)), 500)
    answer = JSONResponse({"error": _error(error)}, status_code=status)
    if error.retry_after_seconds is not None:
        answer.headers["Retry-After"] = str(int(error.retry_after_seconds) + 1)
    return answer


_STATUS: tuple[tuple[type[VouchError], int], ...] = (
    (WrongUsage, 400),
    (NotFound, 404),
    (ModelBusy, 429),
    (OverTime, 504),
    (TryAgain, 503),
)


def _error(error: VouchError) -> dict[str, object]:
    kind = "invalid_request_error" if isinstance(error, WrongUsage | NotFound) else "server_error"
    said = f"{error.message}. {error.hint}" if error.hint else error.message
    return {"message": said, "type": kind, "param": None, "code": None}


def _refusal(status: int, said: str, *, code: str | None = None, retry_after: int | None = None) -> Response:
    error = {"message": said, "type": "invalid_request_error", "param": None, "code": code}
    return JSONResponse({"error": error}, status_code=status)


def _told_defect(error: Exception) -> dict[str, object]:
    _log.error("a defect", extra=fields(error=type(error).__name__))
    said = "A defect of Vouch's own; its log says more."
    return {"message": said, "type": "server_error", "param": None, "code": None}


async def _defect(request: Request, error: Exception) -> Response:
    return JSONResponse({"error": _told_defect(error)}, status_code=500)


async def _nothing_here(request: Request, error: Exception) -> Response:
    return _refusal(404, f"There is no {request.method} {request.url.path[:80]} here.")

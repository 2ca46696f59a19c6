"""A chat model whose replies are kept, so that a replay with a recording needs no model and no network.

    request -> SHA-256 of what was asked -> known: the reply of then; else the model is asked and noted

A recording is a file of JSON lines, added to as replies come. Of several replies to one request the first
counts. What a crash has torn is asked for again, and stays in the file.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import asdict
from functools import cached_property
from pathlib import Path
from typing import Any

from agents.base.chat_interfaces import (
    ChatMessage,
    ChatModel,
    ContinuationScore,
    CutAtLimit,
    Piece,
    ReplyRequest,
    Thought,
)
from assistant.replay.storage.line_file import LineFile
from stores.base.errors import MalformedReply, ModelUnreachable, NoLogProbabilities


class Recording:
    """The replies of one model, by request."""

    def __init__(self, file: Path) -> None:
        self._file = LineFile(file, is_ours=False)
        self._known: dict[str, Any] = {}
        for line in self._file.lines:
            if (
                isinstance(line, dict)
                and isinstance(line.get("request"), str)
                and _is_reply(line.get("reply"))
            ):
                self._known.setdefault(line["request"], line["reply"])

    @property
    def broken(self) -> Sequence[int]:
        """The numbers of the file's lines that are torn, or no JSON; they are passed over."""
        return self._file.broken

    def known(self, key: str) -> Any:
        """The reply to a request; None where there is none."""
        return self._known.get(key)

    def note(self, key: str, reply: Any) -> None:
        """Keeps a reply, durable when this returns. reply: plain JSON, not null."""
        if key not in self._known:
            self._known[key] = reply
            self._file.append({"request": key, "reply": reply})


def _is_reply(reply: object) -> bool:
    if isinstance(reply, list):
        return all(isinstance(piece, str) or (isinstance(piece, dict) and "cut" in piece) for piece in reply)
    return isinstance(reply, dict) and not reply.keys().isdisjoint(("value", "malformed", "none"))


class RecordedChat:
    """A chat model over a recording. Texts are counted by the model of then, too."""

    def __init__(self, recording: Recording, make: Callable[[], ChatModel] | None, *, name: str) -> None:
        """make: the model, made when something is asked that is not recorded; None: there is none.

        name: the model's, since a request to one is none to another.
        """
        self._recording = recording
        self._make = make
        self.name = name

    @cached_property
    def _model(self) -> ChatModel:
        if self._make is None:
            raise ModelUnreachable(
                "the recording does not hold this request",
                hint="Name the model to be asked, or the recording of the same replay.",
            )
        return self._make()

    def _key(self, way: str, **asked: Any) -> str:
        told = json.dumps([self.name, way, asked], sort_keys=True, ensure_ascii=False, default=asdict)
        return hashlib.sha256(told.encode("utf-8", "replace")).hexdigest()

    def _plain(self, way: str, compute: Callable[[], Any], **asked: Any) -> Any:
        key = self._key(way, **asked)
        if (known := self._recording.known(key)) is None:
            known = {"value": compute()}
            self._recording.note(key, known)
        return known["value"]

    @property
    def can_score(self) -> bool:
        return bool(self._plain("can_score", lambda: self._model.can_score))

    @property
    def context_tokens(self) -> int | None:
        found = self._plain("context_tokens", lambda: self._model.context_tokens)
        return None if found is None else int(found)

    def count_tokens(self, text: str) -> int:
        return int(self._plain("count_tokens", lambda: self._model.count_tokens(text), text=text))

    async def stream(self, request: ReplyRequest) -> AsyncIterator[Piece]:
        """See `ChatModel`. A reply is noted once it is whole."""
        key = self._key("stream", messages=[asdict(message) for message in request.messages])
        known = self._recording.known(key)
        if known is None:
            pieces: list[str | dict[str, int | None]] = []
            async for piece in self._model.stream(request):
                if not isinstance(piece, Thought):
                    pieces.append({"cut": piece.tokens} if isinstance(piece, CutAtLimit) else piece)
                yield piece
            self._recording.note(key, pieces)
            return
        for piece in known:
            yield piece if isinstance(piece, str) else CutAtLimit(piece["cut"])

    async def structured(
        self, messages: Sequence[ChatMessage], schema: Mapping[str, object]
    ) -> dict[str, object]:
        """See `ChatModel`. That no reply fitted is recorded as well."""
        key = self._key("structured", messages=list(messages), schema=schema)
        if (known := self._recording.known(key)) is None:
            try:
                known = {"value": await self._model.structured(messages, schema)}
            except MalformedReply as error:
                known = {"malformed": error.message}
            self._recording.note(key, known)
        if "malformed" in known:
            raise MalformedReply(known["malformed"])
        return dict(known["value"])

    async def choose(self, messages: Sequence[ChatMessage], choices: Sequence[str]) -> str:
        key = self._key("choose", messages=list(messages), choices=list(choices))
        if (known := self._recording.known(key)) is None:
            known = {"value": await self._model.choose(messages, choices)}
            self._recording.note(key, known)
        return str(known["value"])

    async def log_probability(self, messages: Sequence[ChatMessage], continuation: str) -> ContinuationScore:
        """See `ChatModel`. That there are none is recorded as well."""
        key = self._key("log_probability", messages=list(messages), continuation=continuation)
        if (known := self._recording.known(key)) is None:
            try:
                known = {"value": asdict(await self._model.log_probability(messages, continuation))}
            except NoLogProbabilities as error:
                known = {"none": error.message}
            self._recording.note(key, known)
        if "none" in known:
            raise NoLogProbabilities(known["none"])
        found = known["value"]
        return ContinuationScore(tuple(found["tokens"]), tuple(found["log_probabilities"]))

    async def aclose(self) -> None:
        if "_model" in self.__dict__:
            await self._model.aclose()

"""A small server that speaks OpenAI's protocol on loopback and does what a test's script says.

    with ScriptedServer([refuses(429, "slow down"), says("Hello", " you")]) as server:
        chat = OpenAIChat(base_url=server.base_url, model="scripted", api_key="k")

The script has one behaviour for each chat request, in the order they arrive; `then` serves all that
come after them. A behaviour suits all kinds of request: a reply is streamed where the client asked
for a stream and sent whole where it did not, and is a response where `/v1/responses` was asked.
`GET /v1/models` is answered beside the script, and so are vLLM's `/tokenize` and the log-probabilities of
a prompt, where the test says what they are: its tokens are bytes.
"""

from __future__ import annotations

import json
import select
import socket
import socketserver
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler
from types import TracebackType
from typing import Any, TypeAlias

from tests.free_ports import free_port

_POLL_SECONDS = 0.01  # how soon a disconnect or the end of the test is noticed
_WITHIN_SECONDS = 90.0  # generous: only what never comes fails by it


@dataclass(frozen=True)
class Request:
    """A chat request as it arrived."""

    body: dict[str, Any]
    headers: Mapping[str, str]  # names in lower case
    at_seconds: float  # on the clock of time.monotonic
    is_to_respond: bool = False  # to /v1/responses

    @property
    def wants_stream(self) -> bool:
        return bool(self.body.get("stream"))

    @property
    def last_message(self) -> str:
        return str(self.body["input" if self.is_to_respond else "messages"][-1]["content"])


class ClientLeft(Exception):
    """The client closed its connection before the reply was whole, or the test is over."""


class Call:
    """One request being answered: what a behaviour writes to."""

    def __init__(self, request: Request, handler: _Handler) -> None:
        self.request = request
        self._handler = handler

    def send_json(self, status: int, body: object, headers: Mapping[str, str] | None = None) -> None:
        """A whole answer."""
        content = json.dumps(body).encode()
        self._send_head(
            status,
            {"Content-Type": "application/json", "Content-Length": str(len(content))} | dict(headers or {}),
        )
        self._write(content)

    def open_stream(self) -> None:
        """The head of a stream of events, and the role that servers announce first."""
        self._send_head(200, {"Content-Type": "text/event-stream", "Transfer-Encoding": "chunked"})
        if self.request.is_to_respond:
            self.send_event("response.created", response={"status": "in_progress"})
        else:
            self.send_delta({"role": "assistant", "content": ""})

    def send_event(self, kind: str, **told: object) -> None:
        """An event of a response."""
        self.send_raw(f"event: {kind}\n".encode())
        self.send_data(json.dumps({"type": kind, **told}))

    def send_delta(self, delta: Mapping[str, object], finish: str | None = None) -> None:
        if self.request.is_to_respond:
            if "content" in delta:
                self.send_event("response.output_text.delta", delta=delta["content"])
            if finish is not None:
                self.send_event(
                    f"response.{'completed' if finish == 'stop' else 'incomplete'}",
                    response=response("", finish),
                )
            return
        choice = {"index": 0, "delta": dict(delta), "finish_reason": finish}
        self.send_data(json.dumps(_envelope("chat.completion.chunk", [choice])))

    def send_data(self, data: str | bytes) -> None:
        """One event with this data, which need not be JSON."""
        self.send_raw(b"data: " + (data.encode() if isinstance(data, str) else data) + b"\n\n")

    def send_raw(self, written: bytes) -> None:
        """These bytes of the stream."""
        self._write(f"{len(written):x}\r\n".encode() + written + b"\r\n")

    def close_stream(self) -> None:
        """The proper end of a stream's body, with or without [DONE] before it."""
        self._write(b"0\r\n\r\n")

    def break_connection(self) -> None:
        """Closes the connection in the middle of what was being sent."""
        self._handler.close_connection = True

    def pause(self, seconds: float) -> None:
        """Waits; raises ClientLeft as soon as the client disconnects."""
        ends = time.monotonic() + seconds
        while (left := ends - time.monotonic()) > 0:
            connection = self._handler.connection
            try:
                if select.select([connection], [], [], min(left, _POLL_SECONDS))[0]:
                    if connection.recv(1, socket.MSG_PEEK) == b"":
                        raise ClientLeft
                    time.sleep(_POLL_SECONDS)  # the next request is already there
            except OSError:
                raise ClientLeft from None

    def _send_head(self, status: int, headers: Mapping[str, str]) -> None:
        self._handler.send_response(status)
        for name, value in headers.items():
            self._handler.send_header(name, value)
        try:
            self._handler.end_headers()
        except OSError:
            raise ClientLeft from None

    def _write(self, data: bytes) -> None:
        try:
            self._handler.wfile.write(data)
        except OSError:
            raise ClientLeft from None


Behaviour: TypeAlias = Callable[[Call], None]


def says(*pieces: str, finish: str = "stop", pause_seconds: float = 0.0) -> Behaviour:
    """A whole reply in these pieces, with a pause before each of them."""
    return computes(lambda _: pieces, finish=finish, pause_seconds=pause_seconds)


def says_between(raw: bytes, *pieces: str) -> Behaviour:
    """A whole reply in these pieces, with these bytes before each and at the end."""

    def behave(call: Call) -> None:
        call._send_head(200, {"Content-Type": "text/event-stream", "Transfer-Encoding": "chunked"})
        for piece in pieces:
            call.send_raw(raw)
            call.send_delta({"content": piece})
        call.send_raw(raw)
        call.send_delta({}, "stop")
        call.send_data("[DONE]")
        call.close_stream()

    return behave


def echoes(citing: str = "") -> Behaviour:
    """Repeats the last message, and ends with the text given, such as " [1]"."""
    return computes(lambda request: (request.last_message, citing))


def computes(
    reply: Callable[[Request], Iterable[str]], *, finish: str = "stop", pause_seconds: float = 0.0
) -> Behaviour:
    """A whole reply whose pieces a function makes from the request."""

    def behave(call: Call) -> None:
        pieces = reply(call.request)
        if not call.request.wants_stream:
            call.pause(pause_seconds)
            if call.request.is_to_respond:
                call.send_json(200, response("".join(pieces), finish))
                return
            message = {"role": "assistant", "content": "".join(pieces)}
            choice = {"index": 0, "message": message, "finish_reason": finish}
            call.send_json(200, _envelope("chat.completion", [choice]))
            return
        call.open_stream()
        for piece in pieces:
            call.pause(pause_seconds)
            call.send_delta({"content": piece})
        call.send_delta({}, finish)
        if not call.request.is_to_respond:
            call.send_data(json.dumps(_envelope("chat.completion.chunk", [])))  # where token counts come
            call.send_data("[DONE]")
        call.close_stream()

    return behave


def response(text: str, finish: str = "stop") -> dict[str, Any]:
    """A whole response; its output is empty where there is no text, as at the end of a stream it may be."""
    part = {"type": "output_text", "text": text, "annotations": []}
    item = {"type": "message", "role": "assistant", "status": "completed", "content": [part]}
    reason = {"length": "max_output_tokens"}.get(finish, finish)
    return {
        "id": "resp-1",
        "object": "response",
        "status": "completed" if finish == "stop" else "incomplete",
        "incomplete_details": None if finish == "stop" else {"reason": reason},
        "error": None,
        "output": [item] if text else [],
        "usage": {"input_tokens": 11, "output_tokens": 7, "total_tokens": 18},
    }


def refuses(
    status: int, message: str, *, code: str | None = None, headers: Mapping[str, str] | None = None
) -> Behaviour:
    """An error, in the form OpenAI gives it."""
    error = {"message": message, "type": "error", "param": None, "code": code}
    return lambda call: call.send_json(status, {"error": error}, headers)


def answers_json(status: int, body: object) -> Behaviour:
    """This JSON, whatever was asked."""
    return lambda call: call.send_json(status, body)


def hangs(after: Sequence[str] = (), *, seconds: float = 300.0) -> Behaviour:
    """Falls silent before the first byte, or after these pieces, until the client leaves."""

    def behave(call: Call) -> None:
        _send_pieces(call, after)
        call.pause(seconds)
        call.break_connection()

    return behave


def cuts(after: Sequence[str] = ()) -> Behaviour:
    """Closes the connection before the first byte, or after these pieces."""

    def behave(call: Call) -> None:
        _send_pieces(call, after)
        call.break_connection()

    return behave


def ends_unfinished(*pieces: str, done: bool = False) -> Behaviour:
    """A stream that ends in order but without a finish_reason, with [DONE] or without it."""

    def behave(call: Call) -> None:
        call.open_stream()
        for piece in pieces:
            call.send_delta({"content": piece})
        if done:
            call.send_data("[DONE]")
        call.close_stream()

    return behave


def garbles(*pieces: str, data: str | bytes = '{"choices": [') -> Behaviour:
    """A stream of these pieces and then of data that is no part of a reply."""

    def behave(call: Call) -> None:
        call.open_stream()
        for piece in pieces:
            call.send_delta({"content": piece})
        call.send_data(data)
        call.close_stream()

    return behave


class ScriptedServer:
    """Serves while its `with` block runs, on a free port of loopback."""

    def __init__(
        self,
        script: Iterable[Behaviour] = (),
        *,
        then: Behaviour | None = None,
        models: Sequence[str] | None = ("scripted",),  # None: the list is not to be had
        about_models: Mapping[str, Any] | None = None,  # what the list says of each, such as max_model_len
        log_probability: Callable[[int], float] | None = None,  # of a byte, wherever it stands
        has_responses: bool = True,  # and not chat completions alone
        tells: Mapping[str, object] | None = None,  # what stands at further addresses, such as /props
    ) -> None:
        self._script = deque(script)
        self._then = then
        self.models = models
        self.about_models = dict(about_models or {})
        self.log_probability = log_probability
        self.has_responses = has_responses
        self.tells = dict(tells or {})
        self.beside: list[tuple[str, dict[str, Any]]] = []  # paths and bodies of what was no chat request
        self.requests: list[Request] = []
        self.disconnects = 0  # replies that the client did not wait for
        self._changed = threading.Condition()
        self._failures: list[BaseException] = []
        self._server = _Server(self)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(_POLL_SECONDS,))

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def wait_for_requests(self, count: int, timeout_seconds: float = _WITHIN_SECONDS) -> bool:
        """Waits until this many chat requests have arrived; false if they do not. Blocks its thread."""
        with self._changed:
            return self._changed.wait_for(lambda: len(self.requests) >= count, timeout_seconds)

    def wait_for_disconnects(self, count: int = 1, timeout_seconds: float = _WITHIN_SECONDS) -> bool:
        """Waits until the client has left this many replies; false if it does not. Blocks its thread."""
        with self._changed:
            return self._changed.wait_for(lambda: self.disconnects >= count, timeout_seconds)

    def __enter__(self) -> ScriptedServer:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.close_connections()
        self._server.server_close()  # waits for the threads of its connections
        if error is None and self._failures:
            raise self._failures[0]

    def answer(self, call: Call) -> None:
        """Records a chat request and does what the script says; for the server's own threads."""
        with self._changed:
            self.requests.append(call.request)
            behaviour = self._script.popleft() if self._script else self._then
            self._changed.notify_all()
        if behaviour is None:
            count = len(self.requests)
            behaviour = refuses(418, f"the script has no behaviour for request {count}")
        try:
            behaviour(call)
        except ClientLeft:
            call.break_connection()
            with self._changed:
                self.disconnects += 1
                self._changed.notify_all()

    def note_failure(self, error: BaseException) -> None:
        """Keeps an error of a behaviour, to be raised where the test can see it."""
        self._failures.append(error)


def unused_url() -> str:
    """The address of a port on which nothing listens."""
    return f"http://127.0.0.1:{free_port()}/v1"


def _envelope(kind: str, choices: list[dict[str, Any]]) -> dict[str, Any]:
    return {"id": "chat-1", "object": kind, "created": 0, "model": "scripted", "choices": choices}


def _send_pieces(call: Call, pieces: Sequence[str]) -> None:
    if pieces:
        call.open_stream()
        for piece in pieces:
            call.send_delta({"content": piece})


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # else every piece waits 40 ms for the last one's receipt
    server: _Server

    def do_GET(self) -> None:
        models = self.server.scripted.models
        call = Call(Request({}, {}, time.monotonic()), self)
        if self.path in self.server.scripted.tells:
            call.send_json(200, self.server.scripted.tells[self.path])
        elif self.path != "/v1/models" or models is None:
            call.send_json(404, {"error": {"message": "Not Found"}})
        else:
            about = {"object": "model", "created": 0, "owned_by": "test"} | self.server.scripted.about_models
            listed = [{"id": model} | about for model in models]
            call.send_json(200, {"object": "list", "data": listed})

    def do_POST(self) -> None:
        length = int(self.headers["Content-Length"])
        if len(sent := self.rfile.read(length)) < length:
            return  # who asked left off before the whole request was sent
        body = json.loads(sent)
        headers = {name.lower(): value for name, value in self.headers.items()}
        is_to_respond = self.path == "/v1/responses"
        call = Call(Request(body, headers, time.monotonic(), is_to_respond), self)
        scripted = self.server.scripted
        if self.path == "/v1/chat/completions" or (is_to_respond and scripted.has_responses):
            scripted.answer(call)
            return
        scripted.beside.append((self.path, body))
        if self.path == "/tokenize" and scripted.log_probability:
            texts = [f"{m['role']}: {m['content']}\n" for m in body.get("messages", [])]
            call.send_json(200, {"tokens": list("".join([*texts, body.get("prompt", "")]).encode())})
        elif self.path == "/v1/completions" and scripted.log_probability:
            places = [
                {str(b): {"logprob": scripted.log_probability(b), "decoded_token": chr(b)}}
                for b in body["prompt"]
            ]
            call.send_json(200, {"choices": [{"text": "", "prompt_logprobs": [None, *places[1:]]}]})
        elif self.path in scripted.tells:
            call.send_json(200, scripted.tells[self.path])
        else:
            call.send_json(404, {"error": {"message": "Not Found"}})

    def log_message(self, format: str, *args: object) -> None:
        """Says nothing: the requests are kept instead."""


class _Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    request_queue_size = 64

    def __init__(self, scripted: ScriptedServer) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.scripted = scripted
        self._connections: set[socket.socket] = set()
        self._lock = threading.Lock()

    def process_request(self, request: Any, client_address: Any) -> None:
        with self._lock:
            self._connections.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        with self._lock:
            self._connections.discard(request)
        super().shutdown_request(request)

    def close_connections(self) -> None:
        """Wakes the threads that wait for a next request or for a client to leave."""
        with self._lock:
            for connection in self._connections:
                try:
                    connection.shutdown(socket.SHUT_RDWR)
                except OSError:
                    continue  # the client was first

    def handle_error(self, request: Any, client_address: Any) -> None:
        error = sys.exception()
        if error is not None and not isinstance(error, (ClientLeft, ConnectionError)):
            self.scripted.note_failure(error)

"""The query model: never waited for longer than it may take, and where it fails, nothing is new."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import Future
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from agents.backends import query_model
from agents.backends.llamacpp_child import Started
from agents.backends.query_model import SHIPPED, QueryModel
from agents.base.interfaces import Exchange
from agents.retrieval.query_augmenter import QueryAugmenter
from stores.base.errors import UnknownModel

EARLIER = [("who walked on the moon first?", "Neil Armstrong")]
CHAT = [Exchange("hello", "hello", "Hi."), Exchange(EARLIER[0][0], "", "Neil Armstrong. He did. [1]\nMore.")]


class Server:
    """Answers as llama.cpp would."""

    def __init__(self) -> None:
        self.reply: object = {"content": " when was Neil Armstrong born?"}
        self.asked: list[dict[str, object]] = []
        served = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                assert self.headers["Authorization"] == "Bearer the key"
                asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                if self.path == "/tokenize":  # each letter is a token
                    assert not asked["parse_special"]
                    reply: object = {"tokens": [{"id": ord(one), "piece": one} for one in asked["content"]]}
                else:
                    served.asked.append(asked | {"prompt": "".join(map(chr, asked["prompt"]))})
                    reply = served.reply
                self.send_response(200)
                self.end_headers()
                self.wfile.write(json.dumps(reply).encode())

            def log_message(self, *_told: object) -> None: ...

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.http.serve_forever, daemon=True).start()


@pytest.fixture
def server() -> Iterator[Server]:
    made = Server()
    yield made
    made.http.shutdown()
    made.http.server_close()


@pytest.fixture
def model(server: Server, monkeypatch: pytest.MonkeyPatch) -> Iterator[QueryModel]:
    def start(*_path: Path, **_how: object) -> Started:
        process = subprocess.Popen(
            [sys.executable, "-c", "input()"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        return Started(process, f"http://127.0.0.1:{server.http.server_port}", "the key", 1024)

    monkeypatch.setattr(query_model, "start", start)
    made = QueryModel(Path("base.gguf"), Path("adapters.gguf"))
    yield made
    made.close()


def test_it_writes_what_stands_alone(model: QueryModel, server: Server) -> None:
    assert model.begin("when was he born?", EARLIER).result() == "when was Neil Armstrong born?"
    assert server.asked[0]["prompt"] == (
        "Q: who walked on the moon first?\nA: Neil Armstrong\nQ: when was he born?\nAlone:"
    )


def test_it_reads_ahead_what_the_prompt_of_any_next_question_begins_with(
    model: QueryModel, server: Server
) -> None:
    model.read_ahead(EARLIER)
    model.begin("when was he born?", EARLIER).result()
    read, asked = ((one["prompt"], one["n_predict"]) for one in server.asked)
    assert read == ("Q: who walked on the moon first?\nA: Neil Armstrong\nQ:", 0)
    assert str(asked[0]).startswith(str(read[0]))


def test_a_question_does_not_wait_for_what_was_not_begun(model: QueryModel, server: Server) -> None:
    reading, goes_on = threading.Event(), threading.Event()
    model._worker.submit(lambda: (reading.set(), goes_on.wait(60)))
    assert reading.wait(60)
    model.read_ahead(EARLIER)
    question = model.begin("when was he born?", EARLIER)
    goes_on.set()
    assert question.result() == "when was Neil Armstrong born?"
    assert [one["n_predict"] for one in server.asked] == [48]


@pytest.mark.parametrize(
    "reply", [{"content": " same"}, {"content": " When was he born? "}, {"error": 1}, []]
)
def test_otherwise_nothing_is_new(model: QueryModel, server: Server, reply: object) -> None:
    server.reply = reply
    assert model.begin("when was he born?", EARLIER).result() == ""


@pytest.mark.parametrize("is_closing", [False, True])
def test_a_failure_is_told_and_not_that_closing_cut_it_off(
    model: QueryModel, server: Server, caplog: pytest.LogCaptureFixture, *, is_closing: bool
) -> None:
    class Asked(list[dict[str, object]]):
        def append(self, asked: dict[str, object]) -> None:
            if is_closing:
                model._is_of_no_use.set()

    server.asked, server.reply = Asked(), {"error": 1}
    assert model.begin("when was he born?", EARLIER).result() == ""
    assert bool(caplog.records) is not is_closing


def test_its_ways_are_the_likeliest_and_others_by_chance(model: QueryModel, server: Server) -> None:
    assert model.require_started() is model
    ways = model.ways("when was he born?", EARLIER, most=3, seed=7).result()
    assert ways == ["when was Neil Armstrong born?"]  # the same each time
    assert [(one["temperature"], one.get("seed")) for one in server.asked] == [(0, None), (1.0, 8), (1.0, 9)]
    server.reply = {"content": " same"}
    assert model.ways("when was he born?", EARLIER, most=3, seed=7).result() == []


def test_one_that_was_killed_is_started_again(model: QueryModel) -> None:
    first = model._ready()
    assert first is not None
    first.process.kill()
    first.process.wait()
    assert model.begin("when was he born?", EARLIER).result() == "when was Neil Armstrong born?"


def test_one_that_cannot_start_is_tried_once(monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[int] = []

    def start(*_path: Path, **_how: object) -> Started:
        tried.append(1)
        raise UnknownModel("llama.cpp cannot load it")

    monkeypatch.setattr(query_model, "start", start)
    model = QueryModel(Path("base.gguf"), Path("adapters.gguf"))
    model.warm_up()
    assert [model.begin("when?", EARLIER).result() for _ in range(2)] == ["", ""]
    with pytest.raises(UnknownModel, match=r"cannot be started with adapters\.gguf"):
        model.require_started()
    model.close()
    assert tried == [1]


def test_a_model_that_loads_is_not_waited_for_when_the_chat_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begin, begun = subprocess.Popen, threading.Event()

    def loads_for_ever(command: list[str], **how: object) -> subprocess.Popen[str]:
        begun.set()
        return begin([command[0], "-c", "import time; time.sleep(600)"], **how)  # type: ignore[call-overload,no-any-return]

    monkeypatch.setattr("agents.backends.llamacpp_child.subprocess.Popen", loads_for_ever)
    for name in ("base.gguf", "adapters.gguf"):
        (tmp_path / name).write_bytes(b"GGUF")
    model = QueryModel(tmp_path / "base.gguf", tmp_path / "adapters.gguf")
    rewriting = model.begin("when?", EARLIER)
    assert begun.wait(60)
    model.close()
    assert rewriting.result(60) == ""


class Rewriter:
    """Writes when the test says so."""

    def __init__(self) -> None:
        self.asked: list[object] = []
        self.writing: Future[str] = Future()

    def begin(self, question: str, earlier: object) -> Future[str]:
        self.asked.append((question, earlier))
        return self.writing

    def read_ahead(self, earlier: object) -> None: ...


def test_a_follow_up_is_begun_at_once_with_what_was_answered() -> None:
    rewriter = Rewriter()
    query = QueryAugmenter(lambda: rewriter, seconds=60).augment("when was he born?", CHAT)
    assert rewriter.asked == [("when was he born?", [("hello", ""), EARLIER[0]])]
    rewriter.writing.set_result("when was Neil Armstrong born?")
    assert query.rewritten() == "when was Neil Armstrong born?"


def test_what_is_not_written_in_time_is_not_waited_for() -> None:
    rewriter = Rewriter()
    query = QueryAugmenter(lambda: rewriter, seconds=0.0).augment("when was he born?", CHAT)
    assert query.rewritten() == ""
    assert rewriter.writing.cancelled()


def test_what_only_states_is_not_rewritten() -> None:
    rewriter = Rewriter()
    augmenter = QueryAugmenter(lambda: rewriter, seconds=60, only_states=lambda message: True)
    assert augmenter.augment("Nadia comes on the 20th.", CHAT).rewritten() == ""
    assert rewriter.asked == []


@pytest.mark.slow
def test_smollm2_with_our_adapters_makes_a_question_stand_alone(smollm2: Path) -> None:
    model = QueryModel(smollm2, SHIPPED)
    try:
        alone = model.begin("when was he born?", EARLIER).result()
        assert "armstrong" in alone.casefold()
        child = model._ready()
        assert child is not None
        os.kill(child.process.pid, signal.SIGKILL)
        child.process.wait()
        assert model.begin("when was he born?", EARLIER).result() == alone
        assert model.begin("how tall is the eiffel tower?", EARLIER).result() == ""
    finally:
        model.close()

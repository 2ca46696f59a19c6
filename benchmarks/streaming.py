"""A long answer while it streams: how far the screen is behind, and how soon a key is painted meanwhile.

    python -m benchmarks.streaming [--words 5000] [--rate 50] [--work DIR] [--beside COMMAND]

A server on this machine sends a Markdown answer word by word at an even rate, from a process of its own; the
chat is another, at a pseudo-terminal of 120 x 40. Four times a second a letter is typed and taken back, and
timed until it is painted. *Behind* is how long after the last word was sent the last word was painted. The
answer that was stored is compared with what was sent. `--beside` runs a command meanwhile, with the low
priority that a training has, which is ended with the chat: with the lessons of a round,

    --beside "python -m assistant.learning.recipes.retriever.train LESSONS --out FOLDER"

is the worst a round can do; a chat's own round waits while a reply is written.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import resource
import shlex
import sqlite3
import subprocess
import sys
import tempfile
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from multiprocessing.sharedctypes import Synchronized
from pathlib import Path
from typing import Any

from assistant.process.low_priority import give_way
from benchmarks.at_terminal import AtTerminal

LAST = "thelastword"
LETTERS = "жщюяфэъ"


def long_answer(words: int) -> list[str]:
    """Pieces of a word each: paragraphs, headings, lists, code and a table, and the last word."""
    pieces: list[str] = []
    block = 0
    while len(pieces) < words - 1:
        block += 1
        kind = block % 5
        count = min(60, words - 1 - len(pieces))
        line = [f"word{len(pieces) + n} " for n in range(count)]
        if kind == 1:
            line[0] = f"## {line[0]}"
        elif kind == 2:
            line = [f"\n- {word}" if n % 8 == 0 else word for n, word in enumerate(line)]
        elif kind == 3:
            line[0], line[-1] = f"```\n{line[0]}", f"{line[-1]}\n```"
        elif kind == 4 and count > 8:
            line[:8] = ["| a ", "| b |\n", "|---|", "---|\n", "| 1 ", "| 2 |\n", "| 3 ", "| 4 |\n\n"]
        line[-1] += "\n\n"
        pieces += line
    return [*pieces, LAST]


def serve(port: Synchronized[int], sent: Synchronized[float], words: int, rate: float) -> None:
    """An OpenAI-compatible server that knows one answer."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.end_headers()
            began = time.perf_counter()
            for number, piece in enumerate(long_answer(words)):
                wait = began + number / rate - time.perf_counter()
                if wait > 0:
                    time.sleep(wait)
                chunk: dict[str, Any] = {
                    "id": "1",
                    "object": "chat.completion.chunk",
                    "created": 0,
                    "model": "long",
                }
                chunk["choices"] = [{"index": 0, "delta": {"content": piece}, "finish_reason": None}]
                self.wfile.write(f"data: {json.dumps(chunk)}\n\n".encode())
                self.wfile.flush()
            sent.value = time.perf_counter()
            chunk["choices"] = [{"index": 0, "delta": {}, "finish_reason": "stop"}]
            self.wfile.write(f"data: {json.dumps(chunk)}\n\ndata: [DONE]\n\n".encode())

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    port.value = server.server_port
    server.serve_forever()


def _begun(command: str) -> subprocess.Popen[bytes]:
    process = subprocess.Popen(shlex.split(command), stdout=subprocess.DEVNULL)
    give_way(process.pid)
    return process


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--words", type=int, default=5_000)
    parser.add_argument("--rate", type=float, default=50.0, help="words a second")
    parser.add_argument("--work", type=Path, help="kept; a new folder when none is named")
    parser.add_argument("--beside", metavar="COMMAND", help="runs meanwhile, with low priority")
    arguments = parser.parse_args()
    port = multiprocessing.Value("i", 0)
    sent = multiprocessing.Value("d", 0.0)
    server = multiprocessing.Process(
        target=serve, args=(port, sent, arguments.words, arguments.rate), daemon=True
    )
    server.start()
    while port.value == 0:
        time.sleep(0.01)
    work = arguments.work or Path(tempfile.mkdtemp(prefix="streaming-"))
    work.mkdir(exist_ok=True)
    settings = work / "settings.toml"
    settings.write_text(
        f'[model]\nbackend = "openai"\nbase_url = "http://127.0.0.1:{port.value}/v1"\nname = "long"\n'
        "max_tokens = 100000\ncontext_tokens = 200000\n"
        '[memory]\nagents = "reader"\nlearn = false\n[reranking]\njudge = "scores"\n'
    )
    environment = os.environ | {"TERM": "xterm-256color", "VOUCH_USER": "benchmark"}
    command = [sys.executable, "-m", "assistant.cli", "chat", "--data", str(work / "data")]
    chat = AtTerminal([*command, "--settings", str(settings)], environment, columns=120, rows=40)
    chat.waits_for("shared")  # it is ready
    chat.types("go on")
    time.sleep(0.1)
    chat.types("\r")
    chat.waits_for("word1", within=60)
    beside = _begun(arguments.beside) if arguments.beside else None
    delays: list[float] = []
    shown = 0.0
    began = time.perf_counter()
    while not shown and time.perf_counter() - began < arguments.words / arguments.rate + 120:
        letter = LETTERS[len(delays) % len(LETTERS)]
        before = len(chat.painted)
        delays.append(-chat.types(letter) + chat.waits_for(letter))
        chat.types("\x7f")
        pause = time.perf_counter() + 0.25
        while time.perf_counter() < pause:
            chat.read(pause - time.perf_counter())
        if LAST in chat.painted[before:]:
            shown = time.perf_counter()  # within a quarter of a second
        chat.painted = chat.painted[-200_000:]
    if beside is not None:
        ended = beside.poll() is not None
        print(f"beside it: {'ended before the answer did' if ended else 'ran all the while'}")
        beside.kill()
        beside.wait()
    chat.waits_for("s", within=5)
    time.sleep(1)
    code = chat.ends("\x11")
    processor = resource.getrusage(resource.RUSAGE_CHILDREN)
    with sqlite3.connect(work / "data" / "vouch.db") as database:
        stored, state = database.execute("SELECT answer, state FROM turns ORDER BY id DESC").fetchone()
    server.terminate()
    delays.sort()
    print(f"load average {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores; exit code {code}")
    print(
        f"{arguments.words} words at {arguments.rate:g}/s: behind by {shown - sent.value:.2f} s (to 0.25 s)"
    )
    print(
        f"key to paint, {len(delays)} keys: median {delays[len(delays) // 2] * 1000:.0f} ms, "
        f"95th {delays[int(len(delays) * 0.95)] * 1000:.0f} ms, worst {delays[-1] * 1000:.0f} ms"
    )
    is_whole = stored == "".join(long_answer(arguments.words))
    print(f"stored whole: {is_whole} ({state}); processor {processor.ru_utime + processor.ru_stime:.0f} s")


if __name__ == "__main__":
    main()

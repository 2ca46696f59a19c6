"""What a person sees of each fault of a model server: python -m benchmarks.server_faults

A scripted server fails in one way after another; each time a user who told one fact asks one question with
`vouch ask`. Printed are the fault, standard output, standard error and the exit code, as rows of a table.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from tests.scripted_server import (
    Behaviour,
    Call,
    ScriptedServer,
    cuts,
    ends_unfinished,
    garbles,
    hangs,
    refuses,
    says,
    says_between,
    unused_url,
)

QUESTION = "Where does my sister live?"
TOLD = "My sister lives in Porto."


def _asks_for_a_tool(call: Call) -> None:
    call.open_stream()
    tool = {"index": 0, "id": "1", "type": "function", "function": {"name": "shell", "arguments": "{}"}}
    call.send_delta({"tool_calls": [tool]})
    call.send_delta({}, finish="tool_calls")
    call.close_stream()


def _without_events(call: Call) -> None:
    message = {"role": "assistant", "content": "In Porto [1]."}
    call.send_json(200, {"id": "1", "choices": [{"index": 0, "message": message, "finish_reason": "stop"}]})


LOOPS = "She lives in Porto, by the river, as you said. " * 60
FAULTS: Mapping[str, Behaviour | None] = {
    "no fault": says("In Porto [1]."),
    "is not there": None,
    "refuses the key (401)": refuses(401, "Incorrect API key provided"),
    "has no credit left (402)": refuses(402, "Insufficient Balance"),
    "quota is used up (429)": refuses(429, "You exceeded your current quota", code="insufficient_quota"),
    "is busy (429)": refuses(429, "slow down"),
    "fails (500)": refuses(500, "internal error"),
    "does not know the model (404)": refuses(404, "The model does not exist", code="model_not_found"),
    "finds the message too long (400)": refuses(
        400, "maximum context length is 10 tokens", code="context_length_exceeded"
    ),
    "sends nothing": hangs(),
    "falls silent in the middle": hangs(["She lives"]),
    "dies in the middle": cuts(["She lives"]),
    "ends without an end": ends_unfinished("She lives"),
    "sends what is no JSON": garbles("She lives"),
    "an error within the stream": says_between(
        b'data: {"error": {"message": "CUDA out of memory"}}\n\n', "She ", "lives"
    ),
    "events without data": says_between(b"event: ping\n\nretry: 5\n\ndata:\n\n", "In ", "Porto [1]."),
    "a whole reply in place of a stream": _without_events,
    "an empty reply": says(""),
    "stops at its longest length": says("She lives in", finish="length"),
    "filters the reply": says("She lives", finish="content_filter"),
    "repeats itself": says(*(f"{word} " for word in LOOPS.split())),
    "asks for a tool": _asks_for_a_tool,
}


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        _ask(home, unused_url(), TOLD)  # which is kept, and answered by quoting
        print("| the server | on the screen | on standard error | exit code |\n| --- | --- | --- | ---: |")
        for fault, behaviour in FAULTS.items():
            if behaviour is None:
                done = _ask(home, unused_url(), QUESTION)
            else:
                with ScriptedServer([], then=behaviour) as server:
                    done = _ask(home, server.base_url, QUESTION)
            cells = (
                " / ".join(text.split("\n"))[:300] for text in (done.stdout.strip(), done.stderr.strip())
            )
            print(f"| {fault} | {' | '.join(cells)} | {done.returncode} |", flush=True)


def _ask(home: Path, url: str, question: str) -> subprocess.CompletedProcess[str]:
    settings = home / "settings.toml"
    settings.write_text(
        f'[model]\nbackend = "openai"\nbase_url = "{url}"\nname = "scripted"\nretries = 1\n'
        "timeout_seconds = 3.0\nfirst_word_seconds = 4.0\n[memory]\nlearn = false\n"
    )
    return subprocess.run(
        [
            sys.executable,
            "-m",
            "assistant.cli",
            "ask",
            "--settings",
            str(settings),
            "--data",
            str(home),
            question,
        ],
        capture_output=True,
        text=True,
        env={**os.environ, "VOUCH_API_KEY": "sk-1234567890"},
        check=False,
    )


if __name__ == "__main__":
    main()

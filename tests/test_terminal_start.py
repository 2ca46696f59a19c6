"""What is painted first, and what is loaded by then."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from textwrap import fill

import pytest

from assistant.terminal.chat.opening import first_start_text
from assistant.terminal.engine.engine import Counts

NOT_BEFORE_THE_FIRST_PAINT = {
    *("torch", "transformers", "sentence_transformers", "chromadb", "faiss", "openai", "onnxruntime"),
    *("tokenizers", "numpy", "sqlalchemy", "sqlmodel", "alembic", "pydantic"),
}

# Runs the screens without a terminal and tells what is loaded when the assistant is first asked for, which is
# behind the first paint.
_PAINT_AND_TELL = """
import asyncio, json, sys, time
from contextlib import contextmanager
from textual import events
from assistant.terminal.app.app import ChatApp
from assistant.terminal.engine.engine import Desk, SessionChoice
from assistant.terminal.actions.drafts import Drafts
from pathlib import Path

seen = {}

@contextmanager
def opens(tell):
    seen["modules"] = sorted(name for name in sys.modules if "." not in name)
    time.sleep(60)
    yield

class Early(ChatApp):
    def on_load(self):
        for key in "oh":
            self.post_message(events.Key(key, key))

async def main():
    desk = Desk(opens, user="ann")
    app = Early(desk, Drafts(Path("state"), Path("data"), "ann"), SessionChoice(), theme="textual-dark",
                follows=True, changed_keys={}, burst_seconds=0.0)
    async with app.run_test() as pilot:
        while "modules" not in seen:
            await pilot.pause(0.01)
        text = "\\n".join(strip.text for strip in app.screen._compositor.render_strips())
        assert "Enter send" in text, text
        await pilot.press("h", "i")
        seen["prompt"] = app.chat.prompt.text
        app.exit(0)

asyncio.run(main())
print(json.dumps({"modules": seen["modules"], "prompt": seen["prompt"]}))
sys.stdout.flush()
import os
os._exit(0)
"""


def test_the_screen_is_painted_and_takes_keys_before_any_model_or_database_library_is_imported(
    tmp_path: Path,
) -> None:
    ran = subprocess.run(
        [sys.executable, "-c", _PAINT_AND_TELL],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        check=True,
    )
    told = json.loads(ran.stdout.splitlines()[-1])
    assert not set(told["modules"]) & NOT_BEFORE_THE_FIRST_PAINT
    assert told["prompt"] == "ohhi"


@pytest.mark.parametrize(
    ("counts", "told"),
    [
        (
            Counts(0, 0, "extractive (quotes only)"),
            ["Vouch answers", "  tell", "  ask", "  read a folder", "No chat model yet", "F1"],
        ),
        (Counts(0, 3, "scripted"), ["Vouch answers", "  tell", "  ask", "  read a folder", "F1"]),
        (Counts(0, 0, "extractive (quotes only)", has_spoken=True), []),
    ],
)
def test_who_never_said_anything_is_told_what_works_and_what_one_command_adds(
    counts: Counts, told: list[str]
) -> None:
    lines = first_start_text(counts).splitlines()
    assert len(lines) == len(told)
    assert all(line.startswith(beginning) for line, beginning in zip(lines, told, strict=True))
    assert sum(len(fill(line, 78).splitlines()) for line in lines) <= 7

"""What is painted first, and what is loaded by then."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

NOT_BEFORE_THE_FIRST_PAINT = {
    *("torch", "transformers", "sentence_transformers", "chromadb", "faiss", "openai", "onnxruntime"),
    *("tokenizers", "numpy", "sqlalchemy", "sqlmodel", "alembic", "pydantic"),
}

# Runs the screens without a terminal and tells what is loaded when the assistant is first asked for, which is
# behind the first paint.
_PAINT_AND_TELL = """
import asyncio, json, sys, time
from contextlib import contextmanager
from assistant.terminal.screens.app import ChatApp
from assistant.terminal.screens.desk import Desk, SessionChoice
from assistant.terminal.screens.drafts import Drafts
from pathlib import Path

seen = {}

@contextmanager
def opens(tell):
    seen["modules"] = sorted(name for name in sys.modules if "." not in name)
    time.sleep(60)
    yield

async def main():
    desk = Desk(opens, user="ann")
    app = ChatApp(desk, Drafts(Path("state"), Path("data"), "ann"), SessionChoice(), theme="textual-dark",
                  follows=True, changed_keys={}, burst_seconds=0.0)
    async with app.run_test() as pilot:
        while "modules" not in seen:
            await pilot.pause(0.01)
        text = "\\n".join(strip.text for strip in app.screen._compositor.render_strips())
        assert "Ask anything" in text, text
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
    assert told["prompt"] == "hi"

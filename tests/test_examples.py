"""The examples run as they stand, each as a program of its own."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parent.parent / "examples"
SAYS = {
    "ask": ("Porto", "sure", "[1] My sister Mia lives in Porto."),
    "conversation": ("allergic to peanuts", "Mia lives in Porto"),
    "undo": ("[]\n", "['The spare key lies under the third flowerpot.']"),
    "documents": ("new 1", "ten", "[1] "),
    "stream": ("six", "from 1 passages"),
    "feedback": ("eight",),
    "langchain_retriever": ("My sister Mia lives in Porto. {'passage': 1",),
    "llamaindex_retriever": ("My sister Mia lives in Porto.",),
}
NEEDS = {"langchain_retriever": "langchain_core", "llamaindex_retriever": "llama_index"}


def test_every_example_is_run() -> None:
    assert {file.stem for file in EXAMPLES.glob("*.py")} == set(SAYS)


@pytest.mark.parametrize("name", SAYS)
def test_an_example_runs(name: str, tmp_path: Path, minilm_folder: Path) -> None:
    if name in NEEDS and importlib.util.find_spec(NEEDS[name]) is None:
        pytest.skip(f"{NEEDS[name]} is not installed")
    places = {f"XDG_{kind}_HOME": str(tmp_path / kind.lower()) for kind in ("DATA", "CONFIG", "STATE")}
    run = subprocess.run(
        [sys.executable, EXAMPLES / f"{name}.py"],
        env={
            **os.environ,
            **places,
            "XDG_CACHE_HOME": str(minilm_folder.parent.parent),
            "PYTHONPATH": str(EXAMPLES.parent),
        },
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    for said in SAYS[name]:
        assert said in run.stdout

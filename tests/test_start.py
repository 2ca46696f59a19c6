"""What a command imports: the model libraries take seconds, so only what needs them pays."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest
from cli_helpers import HANDBOOK, QUESTION, Vouch

MODEL_LIBRARIES = {"torch", "transformers", "sentence_transformers", "chromadb", "textual", "openai"}
NEEDED_BY_A_TURN = {"onnxruntime", "tokenizers", "numpy", "sqlalchemy"}
NOT_FOR_LISTS = {"onnxruntime", "tokenizers", "numpy", "rich", "alembic", "httpx", "psycopg"}

# Runs a command in this process and tells, behind its output, what it has imported.
_RUN_AND_TELL = """
import json, sys
from assistant.cli import run
code = run(sys.argv[1:])
sys.stdout.flush()
print(json.dumps({"code": code, "modules": sorted(name for name in sys.modules if "." not in name)}))
"""


def imported_by(vouch: Vouch, *arguments: str, stdin: str = "", codes: tuple[int, ...] = (0,)) -> set[str]:
    """The packages that a command has loaded when it ends as it should."""
    ran = subprocess.run(
        [sys.executable, "-c", _RUN_AND_TELL, *arguments],
        input=stdin,
        capture_output=True,
        text=True,
        env=vouch.environment,
        cwd=vouch.folder,
        check=True,
    )
    told = json.loads(ran.stdout.splitlines()[-1])
    assert told["code"] in codes, ran.stderr
    return set(told["modules"])


@pytest.fixture(scope="module")
def vouch(tmp_path_factory: pytest.TempPathFactory, minilm_folder: Path) -> Vouch:
    """A store in which a document is known to everybody, and a question was answered."""
    made = Vouch(tmp_path_factory.mktemp("start"), minilm_folder.parent)
    made.run("ingest", "--shared", made.write("handbook.md", HANDBOOK))
    made.run("ask", QUESTION)
    return made


@pytest.mark.parametrize("arguments", [["--version"], ["memory", "--help"]])
def test_help_and_version_import_no_model_library_and_no_store(vouch: Vouch, arguments: list[str]) -> None:
    loaded = imported_by(vouch, *arguments)
    assert not loaded & (MODEL_LIBRARIES | NEEDED_BY_A_TURN)


@pytest.mark.parametrize(
    "arguments",
    [
        ["memory", "list", "--scope", "shared"],
        ["memory", "pending"],
        ["sessions"],
        ["why"],
        ["train", "--status"],
    ],
    ids=" ".join,
)
def test_what_needs_no_model_loads_none_and_nothing_for_vectors_or_screens(
    vouch: Vouch, arguments: list[str]
) -> None:
    loaded = imported_by(vouch, *arguments, codes=(0, 1))  # 1: there is nothing to list
    assert "sqlalchemy" in loaded  # it has looked into the store
    assert loaded & (MODEL_LIBRARIES | NOT_FOR_LISTS) == set()


def test_a_whole_offline_chat_loads_neither_torch_nor_chromadb(vouch: Vouch) -> None:
    loaded = imported_by(vouch, "chat", "--offline", stdin=f"{QUESTION}\n/remember I like tea.\n/why\n")
    assert not loaded & MODEL_LIBRARIES
    assert loaded >= NEEDED_BY_A_TURN  # a turn was played


def test_the_version_is_that_of_the_package(vouch: Vouch) -> None:
    assert vouch.run("--version").out == f"vouch {version('vouch')}\n"


def test_help_begins_with_three_examples_and_that_of_a_command_has_its_own(vouch: Vouch) -> None:
    before, _, after = vouch.run("--help").out.partition("Commands:")
    assert before.count("  vouch ") == 3
    for command in ("ask", "chat", "ingest", "search", "memory", "feedback", "doctor", "backup", "restore"):
        assert f"\n  {command} " in after
        help_text = vouch.run(command, "--help").out
        assert "\\b" not in help_text
        assert f"\n    vouch {command}" in help_text

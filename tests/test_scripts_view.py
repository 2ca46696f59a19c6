"""Every command as a script meets it: help, JSON alone on standard output, errors as objects beside it."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from cli_helpers import HANDBOOK, QUESTION, Ran, Vouch
from click.testing import CliRunner
from script_rows import FILES, ROWS, commands

from assistant.cli import cli

COMMON = "--user --settings --data --json --quiet --verbose --no-color --plain --no-input --offline".split()
EXACT = ("memory export",)  # read in again, in the order of its times
_TIMES = re.compile(r"\d{4}-\d\d-\d\dT[^\s\"]*")
_TO_THE_SECOND = re.compile(r"[^T]*T\d\d:\d\d:\d\d\+00:00")
NOTHING_YET = (
    "docs refresh",
    "memory pending",
    "memory proposals",
    "train",
)  # there is nothing to give


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory, minilm_folder: Path) -> Vouch:
    """One shared passage, a note of ann's, a turn of hers; calls work on copies of it."""
    made = Vouch(tmp_path_factory.mktemp("scripts"), minilm_folder.parent)
    made.run("--user", "librarian", "ingest", "--shared", made.write("handbook.md", HANDBOOK))
    made.chat("/remember I like tea.", QUESTION)
    return made


@pytest.fixture
def vouch(library: Vouch, tmp_path: Path) -> Vouch:
    return library.copy_to(tmp_path)


def run(vouch: Vouch, words: list[str], *, stdin: str, code: int) -> Ran:
    """At a pipe that says it were a terminal with colours, which changes nothing."""
    colours = {"TERM": "xterm-256color", "COLORTERM": "truecolor", "CLICOLOR_FORCE": "1", "FORCE_COLOR": "1"}
    ran = vouch.run(*words, stdin=stdin, code=code, environment=colours)
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f]", ran.err), ran.err
    return ran


def places(vouch: Vouch) -> dict[str, str]:
    for name, content in FILES.items():
        vouch.write(f"files/{name}", content)
    return {"folder": str(vouch.folder / "files"), "data": str(vouch.folder)}


def test_every_command_has_its_row() -> None:
    assert set(ROWS) == {name for name, _ in commands()}


def test_where_there_is_no_json_the_reason_is_told() -> None:
    assert all(row.why_none for row in ROWS.values() if row.gives is None)


@pytest.mark.parametrize("name", ROWS)
def test_its_help_begins_with_how_it_is_used_and_has_every_common_option(name: str) -> None:
    for option in ("--help", "-h"):
        told = CliRunner().invoke(cli, [*name.split(), option], prog_name="vouch")
        assert told.exit_code == 0
        assert told.stderr == ""
        assert told.stdout.startswith(f"Usage: vouch {name} ")
        assert [each for each in (*COMMON, "--timeout", "--help") if each not in told.stdout] == []
        assert max(len(line) for line in told.stdout.splitlines()) <= 100


@pytest.mark.parametrize("name", [name for name, row in ROWS.items() if row.gives is not None])
def test_with_json_standard_output_holds_objects_and_nothing_else(vouch: Vouch, name: str) -> None:
    call = ROWS[name].gives
    assert call is not None
    ran = run(vouch, [*call.arguments(**places(vouch)), "--json"], stdin=call.stdin, code=call.code)
    found = [json.loads(line) for line in ran.out.splitlines()]
    assert all(type(each["schema"]) is int for each in found), ran.out
    assert bool(found) == (name not in NOTHING_YET), ran.err
    if name not in EXACT:
        assert [time for time in _TIMES.findall(ran.out) if not _TO_THE_SECOND.fullmatch(time)] == []


@pytest.mark.parametrize("name", ROWS)
def test_what_is_wrong_is_one_object_on_standard_error_with_its_exit_code(vouch: Vouch, name: str) -> None:
    call = ROWS[name].wrong
    ran = run(vouch, [*call.arguments(**places(vouch)), "--json"], stdin=call.stdin, code=call.code)
    assert ran.out == ""
    told, *rest = ran.err.splitlines()
    complaint = json.loads(told)
    assert (complaint["schema"], complaint["code"]) == (1, call.code)
    assert complaint["error"]
    assert "defect" not in complaint["error"]
    assert not rest or name == "ingest"  # which sums up in words besides

"""Long results at a terminal are shown by the person's pager; short ones, and those in a pipe, are not."""

from __future__ import annotations

from pathlib import Path

import pytest
from cli_helpers import Vouch


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory, minilm_folder: Path) -> Vouch:
    """Forty notes, made once; tests work on copies of it."""
    made = Vouch(tmp_path_factory.mktemp("paging"), minilm_folder.parent)
    notes = "".join(f'{{"text": "Note {number:02} is kept."}}\n' for number in range(40))
    made.run("memory", "import", "-", stdin=notes)
    return made


@pytest.fixture
def vouch(library: Vouch, tmp_path: Path) -> Vouch:
    """A pager that marks what it was given, and counts."""
    copy = library.copy_to(tmp_path)
    copy.write(
        "pager.py", "import sys\ngiven = sys.stdin.read()\nprint(f'PAGER {given.count(chr(10))} lines')\n"
    )
    copy.environment |= {"PAGER": f"python3 {copy.folder / 'pager.py'}", "LINES": "24", "COLUMNS": "80"}
    return copy


@pytest.mark.slow
def test_a_long_list_at_a_terminal_goes_through_the_pager(vouch: Vouch) -> None:
    with vouch.terminal("memory", "list") as person:
        person.sees("PAGER 40 lines")
        assert person.exit_code() == 0
        assert "Note 07" not in person.screen


def test_a_short_one_is_printed(vouch: Vouch) -> None:
    with vouch.terminal("memory", "list", "--query", "Note 07") as person:
        person.sees("Note 07 is kept.")
        assert person.exit_code() == 0
        assert "PAGER" not in person.screen


@pytest.mark.parametrize("option", ["--json", "--no-input"])
def test_whoever_reads_it_otherwise_gets_it_as_it_comes(vouch: Vouch, option: str) -> None:
    with vouch.terminal("memory", "list", option) as person:
        person.sees("Note 39 is kept.")
        assert person.exit_code() == 0
        assert "PAGER" not in person.screen


def test_what_asks_first_is_not_paged(vouch: Vouch) -> None:
    vouch.chat("Hello.")
    vouch.run("sessions", "--delete")
    vouch.environment |= {"LINES": "2"}
    with vouch.terminal("sessions", "--shelf", "deleted", "--erase") as person:
        person.sees("[y/N]")
        person.types("n\n")
        person.exit_code()
        assert "PAGER" not in person.screen


def test_a_pipe_is_never_paged(vouch: Vouch) -> None:
    out = vouch.run("memory", "list").out
    assert out.count("\n") == 40
    assert "PAGER" not in out


@pytest.mark.parametrize("pager", ["no-such-program-here", "'"])
def test_without_a_pager_that_can_be_run_it_is_printed(vouch: Vouch, pager: str) -> None:
    vouch.environment |= {"PAGER": pager}
    with vouch.terminal("memory", "list") as person:
        person.sees("Note 39 is kept.")
        person.sees("Note 00 is kept.") if "Note 00" not in person.screen else None
        assert person.exit_code() == 0


def test_a_pager_that_is_left_early_is_no_error_and_the_code_is_the_commands(vouch: Vouch) -> None:
    vouch.environment |= {"PAGER": "true"}
    with vouch.terminal("memory", "list") as person:
        assert person.exit_code() == 0

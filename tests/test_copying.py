"""Copying by a tool of the desktop: which is asked, how, and who comes next where one fails.

The tools are stand-ins on PATH, which keep what they were given.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from assistant.terminal.input import clipboard
from assistant.terminal.input.clipboard import copy_by_tool

TEXT = "Ein Maß\nund noch eins\n"  # two lines, and letters that are no ASCII
WAYLAND = {"WAYLAND_DISPLAY": "wayland-0"}
X11 = {"DISPLAY": ":0"}
DESKTOP = WAYLAND | X11
TAKES = 'printf "%s|" "$@" > "$0.arguments"; cat > "$0.taken"'
FAILS = "cat > /dev/null; exit 1"
HANGS = "exec sleep 600"

Stands = Callable[[str, str], Path]


@pytest.fixture
def stands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Stands:
    """Puts a tool on PATH, where else there is only what a shell needs. Returns what it writes beside."""
    (tmp_path / "tools").mkdir()
    (tmp_path / "shell").mkdir()
    for name in ("cat", "sleep"):
        (tmp_path / "shell" / name).symlink_to(f"/bin/{name}")
    monkeypatch.setenv("PATH", f"{tmp_path / 'tools'}:{tmp_path / 'shell'}")

    def stand(name: str, does: str) -> Path:
        tool = tmp_path / "tools" / name
        tool.write_text(f"#!/bin/sh\n{does}\n")
        tool.chmod(0o755)
        return tool

    return stand


def taken(tool: Path) -> str | None:
    kept = tool.with_name(f"{tool.name}.taken")
    return kept.read_text() if kept.exists() else None


@pytest.mark.parametrize(
    ("name", "environment", "arguments"),
    [
        ("wl-copy", WAYLAND, "|"),
        ("xclip", X11, "-selection|clipboard|"),
        ("pbcopy", {}, "|"),
    ],
)
def test_each_tool_is_given_the_text_on_its_input(
    stands: Stands, name: str, environment: dict[str, str], arguments: str
) -> None:
    tool = stands(name, TAKES)
    assert copy_by_tool(TEXT, environment) == name
    assert taken(tool) == TEXT
    assert tool.with_name(f"{name}.arguments").read_text() == arguments


def test_the_first_that_takes_the_text_is_the_only_one_asked(stands: Stands) -> None:
    tools = [stands(name, TAKES) for name in ("wl-copy", "xclip", "pbcopy")]
    assert copy_by_tool(TEXT, DESKTOP) == "wl-copy"
    assert [taken(tool) for tool in tools] == [TEXT, None, None]


@pytest.mark.parametrize(("environment", "asked"), [(X11, "xclip"), ({}, None), ({"DISPLAY": ""}, None)])
def test_a_tool_without_its_display_is_not_asked(
    stands: Stands, environment: dict[str, str], asked: str | None
) -> None:
    tools = [stands(name, TAKES) for name in ("wl-copy", "xclip")]
    assert copy_by_tool(TEXT, environment) == asked
    assert [tool.name for tool in tools if taken(tool) is not None] == ([asked] if asked else [])


@pytest.mark.parametrize(
    "does", [FAILS, HANGS, "exec < /dev/null; exit 3"], ids=["fails", "hangs", "reads none"]
)
def test_behind_one_that_does_not_take_it_the_next_is_asked(
    stands: Stands, monkeypatch: pytest.MonkeyPatch, does: str
) -> None:
    if does != HANGS:
        monkeypatch.setattr(clipboard, "_WITHIN_SECONDS", 60.0)  # however slow the machine is
    stands("wl-copy", does)
    xclip = stands("xclip", TAKES)
    text = TEXT if does == HANGS else TEXT * 20_000  # more than a pipe holds
    assert copy_by_tool(text, DESKTOP) == "xclip"
    assert taken(xclip) == text


def test_one_that_cannot_be_started_is_passed_over(stands: Stands) -> None:
    stands("wl-copy", "").write_text("#!/nowhere/at/all\n")
    pbcopy = stands("pbcopy", TAKES)
    assert copy_by_tool(TEXT, WAYLAND) == "pbcopy"
    assert taken(pbcopy) == TEXT


def test_where_none_takes_it_or_there_is_none_none_is_named(stands: Stands) -> None:
    assert copy_by_tool(TEXT, DESKTOP) is None
    for name in ("wl-copy", "xclip", "pbcopy"):
        stands(name, FAILS)
    assert copy_by_tool(TEXT, DESKTOP) is None


def test_a_tool_that_stays_behind_with_the_text_is_not_waited_for(stands: Stands, tmp_path: Path) -> None:
    """As xclip does: the clipboard is the process that holds it."""
    left = tmp_path / "left"
    stands("xclip", f"cat > /dev/null; sleep 600 & echo $! > {left}")
    try:
        assert copy_by_tool(TEXT, X11) == "xclip"
    finally:
        os.kill(int(left.read_text()), signal.SIGKILL)


def test_nothing_that_a_tool_says_reaches_the_screen(
    stands: Stands, capfd: pytest.CaptureFixture[str]
) -> None:
    stands("pbcopy", "cat > /dev/null; echo said; echo complained >&2")
    assert copy_by_tool(TEXT, {}) == "pbcopy"
    assert capfd.readouterr() == ("", "")

"""`vouch serve` without its extra says what to type."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from assistant.cli import _invoke
from stores.base.errors import BackendMissing


@pytest.mark.parametrize(
    ("place", "typed"),
    [
        (".venv/bin", ".venv/bin/pip install 'vouch[serve]'"),  # as the README has it
        ("my venv/bin", "'my venv/bin/pip' install 'vouch[serve]'"),
        ("nothing", "pip install 'vouch[serve]'"),
    ],
)
def test_serving_without_its_package_says_exactly_what_to_type(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str, typed: str
) -> None:
    pip = tmp_path / place / "pip"
    if place != "nothing":
        pip.parent.mkdir(parents=True)
        pip.touch()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "executable", str(pip.with_name("python")))
    monkeypatch.setitem(sys.modules, "aiohttp", None)  # as if not installed
    monkeypatch.delitem(sys.modules, "assistant.terminal.app.serving", raising=False)
    with pytest.raises(BackendMissing) as caught:
        _invoke(["serve", "--data", str(tmp_path)], {})
    assert caught.value.message == "`vouch serve` needs the package aiohttp"
    assert caught.value.hint == f"Install it: {typed}"

"""The files by which a server is set up name commands, options and settings that there are."""

from __future__ import annotations

import configparser
import shlex
from pathlib import Path

import click
import pytest
import yaml

from assistant.cli import cli
from assistant.settings.settings_file import load_settings

DEPLOY = Path(__file__).parent.parent / "deploy"
UNITS = sorted((DEPLOY / "systemd").glob("*.service"))


def check(words: list[str]) -> None:
    """Raises where a command does not know an option."""
    command = cli.get_command(click.Context(cli), words[0])
    assert command is not None, words
    command.make_context(words[0], words[1:], resilient_parsing=True)


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.name)
def test_a_unit_begins_a_command_that_there_is(unit: Path) -> None:
    told = configparser.RawConfigParser(strict=False)
    told.optionxform = str  # type: ignore[method-assign,assignment]
    told.read(unit)
    program, *words = shlex.split(told["Service"]["ExecStart"])
    assert Path(program).name == "vouch"
    check(words)
    assert told["Service"]["NoNewPrivileges"] == "yes"


def test_each_service_of_ours_begins_a_command_that_there_is_and_writes_nothing_but_data() -> None:
    services = yaml.safe_load((DEPLOY / "compose.yaml").read_text())["services"]
    ours = [each for each in services.values() if "build" in each]
    assert len(ours) == 2
    for service in ours:
        assert service["read_only"]
        if "command" in service:
            check(service["command"])
    [line] = [line for line in (DEPLOY / "Dockerfile").read_text().splitlines() if line.startswith("CMD ")]
    check(yaml.safe_load(line.removeprefix("CMD ")))


def test_the_settings_can_be_read_and_name_the_services() -> None:
    settings = load_settings(DEPLOY / "settings.toml", environ={}, explicit=True)
    services = yaml.safe_load((DEPLOY / "compose.yaml").read_text())["services"]
    for address in (settings.store.url, settings.index.url, settings.model.base_url):
        assert any(f"{mark}{name}" in address for name in services for mark in ("@", "//"))

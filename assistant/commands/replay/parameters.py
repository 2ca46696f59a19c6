"""What the options of vouch replay may be."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

_MOST_SEED = 2**32 - 1  # that every generator of random numbers takes


class Limit(click.ParamType[tuple[str, float]]):
    """METRIC=VALUE."""

    name = "metric=value"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        metric, equals, number = str(value).rpartition("=")
        try:
            return metric.strip(), float(number if equals and metric else "")
        except ValueError:
            self.fail(f"{value!r} is not METRIC=VALUE with a number", param, ctx)


class Seeds(click.ParamType[tuple[int, ...]]):
    """Whole numbers with commas between, each once."""

    name = "1,2,3"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if isinstance(value, tuple):
            return value
        try:
            seeds = tuple(dict.fromkeys(int(part) for part in str(value).replace(",", " ").split()))
        except ValueError:
            seeds = ()
        if not seeds:
            self.fail(f"{value!r} is not like 1,2,3", param, ctx)
        if not all(0 <= seed <= _MOST_SEED for seed in seeds):
            self.fail(f"{value!r}: a seed is a whole number from 0 to {_MOST_SEED}", param, ctx)
        return seeds


class Share(click.types.FloatParamType):
    """A number from 0 to 1."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        number = super().convert(value, param, ctx)
        if not 0 <= number <= 1:  # as no number is that is none
            self.fail(f"it is {number:g}, but must be from 0 to 1", param, ctx)
        return number


class Place(click.Path):
    """A file or folder; an empty name is most likely a script's variable that was not set."""

    def __init__(self) -> None:
        super().__init__(path_type=Path)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if not str(value):
            self.fail("it is empty: give a path, or leave the option out", param, ctx)
        return super().convert(value, param, ctx)

"""What the options of vouch replay may be, and how a person is told that one cannot be that."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import click

_LEAST_PERCENT = 10  # a share above 1 is meant as percent from here on
_MOST_SEED = 2**32 - 1  # that every generator of random numbers takes

LOSSES = "strict,flaccid,hard"  # by default


class Pair(click.ParamType[tuple[str, str]]):
    """NAME=VALUE."""

    name = "name=value"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, str]:
        name, equals, given = str(value).rpartition("=")
        if not (name and equals and given):
            self.fail(f"{value!r} is not NAME=VALUE", param, ctx)
        return name.strip(), given.strip()


class Column(Pair):
    """WHAT=NAME, or WHAT= where a table has no such column."""

    name = "what=name"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, str]:
        what, equals, column = str(value).partition("=")
        if not (what and equals):
            self.fail(f"{value!r} is not WHAT=NAME", param, ctx)
        return what.strip(), column.strip()


class Limit(Pair):
    """METRIC=VALUE."""

    name = "metric=value"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        metric, number = super().convert(value, param, ctx)
        try:
            return metric, float(number)
        except ValueError:
            self.fail(f"{number!r} is no number", param, ctx)


class Seeds(click.ParamType[tuple[int, ...]]):
    """Whole numbers with commas between."""

    name = "1,2,3"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if isinstance(value, tuple):
            return value
        try:
            seeds = tuple(int(part) for part in str(value).replace(",", " ").split())
        except ValueError:
            seeds = ()
        if not seeds:
            self.fail(f"{value!r} is not like 1,2,3", param, ctx)
        if not all(0 <= seed <= _MOST_SEED for seed in seeds):
            self.fail(f"{value!r}: a seed is a whole number from 0 to {_MOST_SEED}", param, ctx)
        return seeds


class AtLeast(click.types.IntParamType):
    """A whole number that is not below another."""

    def __init__(self, least: int) -> None:
        self.least = least

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        number = super().convert(value, param, ctx)
        if number < self.least:
            self.fail(f"it is {number}, but must be {self.least} or more", param, ctx)
        return number


class Share(click.types.FloatParamType):
    """A number from 0 to 1."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        number = super().convert(value, param, ctx)
        if math.isnan(number) or not 0 <= number <= 1:
            hint = f", as {number / 100:g} for {number:g} %" if _LEAST_PERCENT <= number <= 100 else ""
            self.fail(f"it is {number:g}, but must be from 0 to 1{hint}", param, ctx)
        return number


class Place(click.Path):
    """A file or folder; an empty name is most likely a script's variable that was not set."""

    def __init__(self) -> None:
        super().__init__(path_type=Path)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if not str(value):
            self.fail("it is empty: give a path, or leave the option out", param, ctx)
        return super().convert(value, param, ctx)

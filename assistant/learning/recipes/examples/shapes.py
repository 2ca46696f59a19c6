"""The shape that a record of a file must have: which fields, and what each holds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import NoneType, UnionType
from typing import Any, TypeAlias

# A type, [the shape of each of a list], or {field: its shape}: "field?" may be missing, "*" is every field.
Shape: TypeAlias = "type[Any] | UnionType | Sequence[Shape] | Mapping[str, Shape]"

_NAMES = {str: "text", int: "a whole number", list: "a list", dict: "an object", NoneType: "null"}


def must_fit(value: object, shape: Shape, at: str = "") -> None:
    """Raises ValueError for what is not of its shape.

    at: where the value stands in its record, as told: `answers, 2` is the second one. Empty is the record.
    """
    if isinstance(shape, Mapping):
        _must_be(value, dict, at)
        assert isinstance(value, dict)
        for name, inner in shape.items():
            field = name.removesuffix("?")
            if name == "*":
                for each, held in value.items():
                    must_fit(held, inner, _within(at, each))
            elif field in value:
                must_fit(value[field], inner, _within(at, field))
            elif field == name:
                raise ValueError(f"the field {_within(at, field)!r} is missing")
    elif isinstance(shape, Sequence):
        _must_be(value, list, at)
        assert isinstance(value, list)
        for number, each in enumerate(value, start=1):
            must_fit(each, shape[0], _within(at, str(number)))
    else:
        _must_be(value, shape, at)


def _must_be(value: object, kind: type[Any] | UnionType, at: str) -> None:
    if not isinstance(value, kind):
        kinds = kind.__args__ if isinstance(kind, UnionType) else (kind,)
        wanted = " or ".join(_NAMES[each] for each in kinds)
        raise ValueError(f"the field {at!r} must be {wanted}" if at else f"it must be {wanted}")


def _within(at: str, name: str) -> str:
    return f"{at}, {name}" if at else name

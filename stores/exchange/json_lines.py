"""One JSON object on a line, and what is wrong with a line that is none, in a person's words."""

from __future__ import annotations

import json
from typing import Any, NoReturn

_MOST_DIGITS = 30  # of a whole number
_JSON_FAULTS = {  # what the parser says of a line, and what a person is told
    "Expecting value": "a value is missing",
    "Expecting property name": "a name in double quotes is missing",
    "Illegal trailing comma": "a comma is too many",
    "Expecting ':'": "a colon is missing",
    "Expecting ','": "a comma is missing",
    "Extra data": "something follows the object",
    "Unterminated string": "a text has no end, which begins",
    "Invalid control character": "a control character stands",
    "Invalid \\": "a backslash has no meaning",
}


def json_object(line: str) -> dict[str, Any]:
    """Raises `ValueError` with what is wrong, and where; numbers are finite."""
    try:
        told = json.loads(line, parse_constant=_no_number, parse_int=_whole_number)
    except json.JSONDecodeError as error:
        what = next((words for start, words in _JSON_FAULTS.items() if error.msg.startswith(start)), "")
        raise ValueError(f"this is no JSON: {what or 'it breaks off'} at character {error.pos + 1}") from None
    except RecursionError:
        raise ValueError("its values lie too deep within one another") from None
    if not isinstance(told, dict):
        raise ValueError("a line must be one JSON object")
    return told


def _no_number(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number")


def _whole_number(digits: str) -> int:
    if len(digits) > _MOST_DIGITS:
        raise ValueError(f"a number has more than {_MOST_DIGITS} digits")
    return int(digits)

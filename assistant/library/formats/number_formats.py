"""Numbers of a sheet as the sheet shows them: 0.475 under "0.0%" is 47.5%, 7 under "0000" is 0007.

A format is up to four sections, for numbers above zero, below zero, zero, and text. What is not understood
of it (conditions, fractions) shows the number as it is. No library that is still kept does this.
"""

from __future__ import annotations

import math
import re
from decimal import ROUND_HALF_UP, Decimal, localcontext

_TOKEN = re.compile(
    r'"([^"]*)"?|\\(.)|[_*].|\[\$([^\]-]*)[^\]]*\]|\[([^\]]*)\]|(E[+-]0+)|(General)|(.)', re.S | re.I
)
_CONDITION = re.compile("[<>=]")
_MOST_DECIMALS = 30
_MOST_LENGTH = 255  # of a format, in Excel too


def shown_number(value: float, number_format: str) -> str:
    """A number in its format; negative ones have a minus sign, or what the format gives them."""
    if not math.isfinite(value) or len(number_format) > _MOST_LENGTH:
        return _general(value)
    sections = _sections(number_format)
    which = 1 if value < 0 and len(sections) > 1 else 2 if value == 0 and len(sections) > 2 else 0
    told = _in_section(abs(value), sections[which])
    if told is None:
        return _general(value)
    is_negative = value < 0 and which == 0 and re.search("[1-9]", told)
    return " ".join(("-" + told.lstrip() if is_negative else told).split())


def _general(value: float) -> str:
    if isinstance(value, int) or (value.is_integer() and abs(value) < 1e15):
        return str(int(value))
    return format(value, ".15g")


def _sections(number_format: str) -> list[str]:
    """Cut at each semicolon that is not quoted."""
    found = [""]
    for token in _TOKEN.finditer(number_format):
        if token[0] == ";":
            found.append("")
        else:
            found[-1] += token[0]
    return found


def _in_section(value: float, section: str) -> str | None:
    """A number that is not negative; None where the section is not understood."""
    parts: list[str | None] = []  # literal text, and None for each place of a digit before the point
    whole = decimals = ""  # the places of digits: 0, # or ?
    scale, has_point, has_commas, commas = Decimal(1), False, False, 0
    point_at = None
    for token in _TOKEN.finditer(section):
        quoted, escaped, currency, bracketed, exponent, general, character = token.groups()
        if exponent or (bracketed and _CONDITION.match(bracketed)) or character in ("/", "@"):
            return f"{value:.{min(len(decimals), _MOST_DECIMALS)}E}" if exponent else None
        if general:
            parts.append(_general(value))
        elif character and character in "0#?":
            has_commas, commas = has_commas or (commas > 0 and not has_point), 0
            if has_point:
                decimals += character
            else:
                whole += character
                parts.append(None)
        elif character == "." and not has_point:
            has_point, point_at = True, len(parts)
        elif character == "," and (whole or decimals):
            commas += 1
        else:
            scale *= 100 if character == "%" else 1
            parts.append(quoted or escaped or currency or character or " ")
            if quoted is not None or bracketed is not None:
                parts[-1] = quoted or ""
    if not parts and not whole:
        return "" if value == 0 else None
    with localcontext() as context:
        context.rounding = ROUND_HALF_UP
        scaled = Decimal(repr(value)) * scale / 1000**commas
        before, _, after = f"{scaled:.{min(len(decimals), _MOST_DECIMALS)}f}".partition(".")
    least = len(whole[whole.index("0") :]) if "0" in whole else 0
    before = before.lstrip("0").rjust(least, "0")
    while after.endswith("0") and decimals[len(after) - 1] != "0":
        after = after[:-1]
    if has_commas:
        before = f"{int(before or 0):,}".rjust(least, "0") if before else ""
    if point_at is not None:
        parts.insert(point_at, f".{after}" if after or decimals.startswith("0") else "")
    return _filled(parts, before)


def _filled(parts: list[str | None], digits: str) -> str:
    """Digits into their places, from the right; the first place takes all that are left."""
    places = parts.count(None)
    told: list[str] = []
    left = digits
    for part in reversed(parts):
        if part is not None:
            told.append(part)
            continue
        places -= 1
        told.append(left if places == 0 else left[-1:])
        left = left[:-1]
    return "".join(reversed(told))

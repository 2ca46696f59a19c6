"""What may hold a key or a password, as it may be shown: names stay, values do not."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

HIDDEN = "..."
_SHORTEST_CHARACTERS = 8  # of a word that is taken for a secret: shorter ones are words of everybody's


def without_secrets(url: str) -> str:
    """An address without its user and password, and without the values of its query."""
    return without_values(re.sub(r"://.*@", f"://{HIDDEN}@", url, flags=re.DOTALL))


def without_values(url: str) -> str:
    """An address without the values of its query."""
    address, mark, query = url.partition("?")
    if not mark:
        return url
    parts = (part.partition("=") for part in query.split("&"))
    return f"{address}?{'&'.join(f'{name}={HIDDEN}' if equals else HIDDEN for name, equals, _ in parts)}"


def hidden(value: object) -> object:
    """What JSON holds, with every key and no value."""
    if isinstance(value, Mapping):
        return {key: hidden(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [hidden(inner) for inner in value]
    return HIDDEN


def secret_words(value: object) -> Iterator[str]:
    """The texts within what JSON holds that may be secrets, and the words of each: `Bearer KEY` has two."""
    if isinstance(value, Mapping):
        value = list(value.values())
    if isinstance(value, list):
        for inner in value:
            yield from secret_words(inner)
    elif isinstance(value, str):
        yield from (
            word for word in dict.fromkeys((value, *value.split())) if len(word) >= _SHORTEST_CHARACTERS
        )

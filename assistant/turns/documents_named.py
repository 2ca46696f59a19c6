"""Documents that a message names: "@less.md how do I leave it" is answered from less.md alone."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

_NAMED = re.compile(r'(?<!\S)@(?:"([^"\n]+)"|(\S+))[ \t]*')

DocumentsCalled = Callable[[int, str], Sequence[int]]


def documents_named(message: str, user_id: int, called: DocumentsCalled) -> tuple[str, list[int] | None]:
    """The message without the names, and the versions that they mean; None where it names no document.

    called: the live versions of a user's documents of a name; none where there is none. What is no name of a
    document stays a word of the message.
    """
    versions: list[int] = []
    rest, at = [], 0
    for name in _NAMED.finditer(message):
        typed = name[1] or name[2]
        if found := called(user_id, typed) or called(user_id, typed.rstrip(",.:;!?")):
            versions += found
            rest.append(message[at : name.start()])
            at = name.end()
    question = "".join([*rest, message[at:]]).strip()
    return (question, versions) if versions and question else (message, None)


def naming(name: str) -> str:
    """A name as a message names it."""
    return f'@"{name}"' if re.search(r"\s", name) else f"@{name}"

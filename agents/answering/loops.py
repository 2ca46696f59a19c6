"""A reply that says the same again and again, which small models fall into."""

from __future__ import annotations

_LEAST, _MOST = 8, 240  # characters of what is repeated
_TIMES = 5  # that it stands there at least
_LONG = 400  # characters that all of them take at least
_LOOKS_EVERY = 40  # characters


class Loop:
    """Watches a reply while it is written."""

    def __init__(self) -> None:
        self._tail = ""
        self._new = 0  # characters since it was last looked at

    def closes(self, piece: str) -> bool:
        """Whether with this piece the reply ends in a loop."""
        self._tail = (self._tail + piece)[-(_MOST * _TIMES + len(piece)) :]
        self._new += len(piece)
        if self._new < _LOOKS_EVERY:
            return False
        self._new = 0
        return repeats(self._tail)


def repeats(text: str) -> bool:
    """Whether a text ends in the same words, five times or more and for long; lines of signs do not count."""
    for period in range(_LEAST, min(_MOST, len(text) // _TIMES) + 1):
        times = max(_TIMES, -(-_LONG // period))
        said = text[-period:]
        if text.endswith(said * times) and sum(map(str.isalpha, said)) * 2 >= period:
            return True
    return False

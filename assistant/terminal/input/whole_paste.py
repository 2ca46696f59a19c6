"""A paste arrives whole, whatever control characters are in it.

The screen library parses an escape within a paste as if a key began there: it is taken for the paste's end,
or swallows it. So none is let through to it but the one that the terminal ends the paste with.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from textual._xterm_parser import BRACKETED_PASTE_END, BRACKETED_PASTE_START, XTermParser
from textual.driver import Driver
from textual.events import Key
from textual.message import Message

_OTHER_KEY = re.compile(r"\x1b\[27;(\d{1,3});(\d{1,7})~")
_ALT_OR_CTRL = 2 | 4  # of the modifiers, which are told as one more than their sum
_FIRST_LETTER = 32


class OtherKeyParser(XTermParser):
    """Parses what a terminal sends, in each encoding of keys."""

    def _sequence_to_key_events(self, sequence: str, alt: bool = False) -> Iterable[Key]:
        if found := _OTHER_KEY.fullmatch(sequence):
            modifiers, code = map(int, found.groups())
            if code < _FIRST_LETTER or (modifiers - 1) & _ALT_OR_CTRL:
                sequence = f"\x1b[{code};{modifiers}u"
        return super()._sequence_to_key_events(sequence, alt)


_ESCAPE = "\x1b"
_PARSER = "XTermParser"  # as the modules of the drivers call the class that they parse with


class PasteParser(OtherKeyParser):
    """Parses what a terminal sends; a paste is one event."""

    def __init__(self, debug: bool = False) -> None:
        super().__init__(debug)
        self._is_paste = False
        self._before = ""  # outside a paste: the last characters, which may begin the mark of one
        self._held = ""  # within: what may begin the mark of its end

    def feed(self, data: str) -> Iterable[Message]:
        """See the library's; no data is the end."""
        if not data:
            yield from super().feed(data)
        elif cleaned := "".join(self._without_escapes(data)):
            yield from super().feed(cleaned)

    def _without_escapes(self, data: str) -> Iterator[str]:
        rest = data
        while rest:
            if self._is_paste:
                pasted, is_ended, rest = self._pasted(self._held + rest)
                yield pasted
                if is_ended:
                    self._is_paste, self._before, self._held = False, "", ""
                    yield BRACKETED_PASTE_END
            else:
                typed = self._up_to_paste(rest)
                rest = rest[len(typed) :]
                yield typed

    def _up_to_paste(self, data: str) -> str:
        """What stands before the next paste, with the mark that begins it."""
        seen = self._before + data
        place = seen.find(BRACKETED_PASTE_START)
        self._is_paste = place >= 0
        if not self._is_paste:
            self._before = seen[1 - len(BRACKETED_PASTE_START) :]
            return data
        return data[: place + len(BRACKETED_PASTE_START) - len(self._before)]

    def _pasted(self, data: str) -> tuple[str, bool, str]:
        """What is pasted, whether the mark of its end came, and what stands behind that."""
        pasted, mark, rest = data.partition(BRACKETED_PASTE_END)
        self._held = ""
        if not mark:
            self._held = next(
                (begun for n in range(5, 0, -1) if pasted.endswith(begun := BRACKETED_PASTE_END[:n])), ""
            )
            pasted = pasted.removesuffix(self._held)
        return pasted.replace(_ESCAPE, ""), bool(mark), rest


@contextmanager
def whole_pastes(driver: type[Driver]) -> Iterator[None]:
    """While the screens are open: what this driver reads is parsed so, if it is a terminal that it reads."""
    module = sys.modules[driver.__module__]
    if getattr(module, _PARSER, None) is not XTermParser:
        yield
        return
    setattr(module, _PARSER, PasteParser)
    try:
        yield
    finally:
        setattr(module, _PARSER, XTermParser)

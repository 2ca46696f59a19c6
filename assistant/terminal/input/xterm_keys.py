"""Keys in xterm's other encoding (modifyOtherKeys: CSI 27 ; modifiers ; code ~).

The screen library takes the code for a text that was typed: Ctrl+Q would write a q, and Shift+Enter be no
Enter. So a key that is no letter is handed to it as kitty's protocol writes it (CSI code ; modifiers u).
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from textual._xterm_parser import XTermParser
from textual.events import Key

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

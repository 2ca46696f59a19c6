"""Texts from outside, before a model's own tokenizer reads them: none of them names its control tokens."""

from __future__ import annotations

import re
from typing import Any


class ControlTokens:
    """The tokens of a tokenizer that a text must not write, such as <|im_end|>."""

    def __init__(self, tokenizer: Any) -> None:
        """tokenizer: one of the library transformers."""
        written = {str(token) for token in tokenizer.get_added_vocab()} | {
            str(token) for token in tokenizer.all_special_tokens
        }
        breakable = sorted((t for t in written if len(t) > 1 and not t.isspace()), key=len, reverse=True)
        self._control = re.compile("|".join(map(re.escape, breakable))) if breakable else None

    def broken_up(self, text: str) -> str:
        """The text with a space in every control token that is written in it, and without half characters."""
        text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        while self._control is not None and self._control.search(text):
            text = self._control.sub(lambda found: f"{found.group()[0]} {found.group()[1:]}", text)
        return text

"""The table of keys as the screen library wants it."""

from __future__ import annotations

from collections.abc import Iterable

from textual.binding import Binding, BindingType

from assistant.terminal.input.keys import Key


def bindings(keys: Iterable[Key]) -> list[BindingType]:
    """Bindings whose ids are those of the table, so that settings can change them."""
    return [Binding(key.keys, key.action, key.words, show=False, id=key.id) for key in keys]

"""Text that stands in the line that is read next, to be sent or changed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def standing_there(text: str) -> Iterator[None]:
    """What is read within it, at a terminal, begins with the text."""
    import readline

    readline.set_startup_hook(lambda: readline.insert_text(text))
    try:
        yield
    finally:
        readline.set_startup_hook(None)

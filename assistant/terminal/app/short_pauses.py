"""Keeps pauses short in which no key is taken in.

A library that is loaded leaves hundreds of thousands of objects that never go. The garbage collector looks
at all of them again and again, for 0.2 s each time, unless they are set aside. And a thread that computes
hands over after 5 ms, which the screen waits for at every key.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager

_HANDS_OVER_SECONDS = 0.001
_COLLECTS_AFTER = (10_000, 20, 50)  # new objects; collections of those, and of the ones that outlived them


@contextmanager
def short_pauses() -> Iterator[None]:
    """While the screens are open. Nothing is collected until `set_aside` is called for the first time."""
    interval, thresholds = sys.getswitchinterval(), gc.get_threshold()
    sys.setswitchinterval(_HANDS_OVER_SECONDS)
    gc.set_threshold(*_COLLECTS_AFTER)
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
        gc.unfreeze()
        gc.set_threshold(*thresholds)
        sys.setswitchinterval(interval)


def set_aside() -> None:
    """Everything that is loaded by now is looked at no more."""
    gc.freeze()
    gc.enable()

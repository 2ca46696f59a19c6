"""A message whose model is busy is tried again by itself, in plain mode as on the screen."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from assistant.terminal.engine.retrying import wait_seconds

if TYPE_CHECKING:
    from stores.base.errors import ModelBusy

_TELLS_EVERY_SECONDS = 10.0


def wait_out(error: ModelBusy, tries: int, say: Callable[[str], None]) -> bool:
    """Waits until it can be tried again, and says every ten seconds how long that is; False after Ctrl+C.

    tries: those that were waited out before.
    """
    left = wait_seconds(error, tries)
    try:
        while left > 0:
            say(f"(the model is busy: tried again in {math.ceil(left)} s; Ctrl+C stops trying)\n")
            time.sleep(min(left, _TELLS_EVERY_SECONDS))
            left -= _TELLS_EVERY_SECONDS
    except KeyboardInterrupt:
        say("\n(not tried again; /retry does)\n")
        return False
    return True

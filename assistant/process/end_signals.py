"""The signals that end a command: it leaves by the usual way out and keeps what was written.

Python raises what a handler raises wherever the main thread is. Where that is the deletion of an object, or
the callback of a weak reference, the exception is dropped, and a command would go on as if nobody had told it
anything. So one that was dropped there is raised again, a moment later.

What whoever began us has us ignore stays ignored: `nohup` means that a closed terminal ends nothing.
"""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sys import UnraisableHookArgs

_SIGNALS = signal.SIGTERM, signal.SIGHUP
_MOMENT = 0.01  # seconds, in which a deletion is over


def let_signals_end_us() -> None:
    """Has SIGTERM and SIGHUP raise `SystemExit` with the shell's exit code; SIGINT raises what Python's does.

    Called once, on the main thread.
    """

    def leave(number: int, _frame: object) -> None:
        for each in _SIGNALS:  # a closing terminal sends several, and the way out is to be finished
            signal.signal(each, signal.SIG_IGN)
        raise SystemExit(128 + number)

    for number in not_ignored(_SIGNALS):
        signal.signal(number, leave)
    sys.unraisablehook = _raising_again(sys.unraisablehook)


def not_ignored(numbers: Iterable[signal.Signals]) -> list[signal.Signals]:
    """Those that may end us: `nohup` has SIGHUP ignored, and a shell's `&` SIGINT."""
    return [number for number in numbers if signal.getsignal(number) is not signal.SIG_IGN]


def _raising_again(told: Callable[[UnraisableHookArgs], Any]) -> Callable[[UnraisableHookArgs], None]:
    """told: what becomes of every other exception that cannot be raised where it arose."""

    def hook(dropped: UnraisableHookArgs) -> None:
        error = dropped.exc_value
        is_main = threading.current_thread() is threading.main_thread()
        if not (is_main and isinstance(error, SystemExit | KeyboardInterrupt)):
            told(dropped)
            return
        again = type(error), error.args  # not itself, which would keep what is being deleted

        def raise_again(_number: int, _frame: object) -> None:
            raise again[0](*again[1])

        signal.signal(signal.SIGALRM, raise_again)
        signal.setitimer(signal.ITIMER_REAL, _MOMENT)

    return hook

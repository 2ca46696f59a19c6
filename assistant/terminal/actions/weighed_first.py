"""Before an undo, what the last message teaches is waited for: it may be what is to be taken back."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from assistant.terminal.facts.waiting_claims import told_reason
from stores.conversation.claim_jobs import WaitingJob

if TYPE_CHECKING:
    from datetime import datetime

    from assistant.wiring.assistant import Assistant

WAITS_SECONDS = 10.0
_LOOKS_EVERY_SECONDS = 0.1
WAITS_FOR = "waiting until your last message is checked"
WEIGHS_ON = "your last message is still being checked"


class Wait:
    """A wait that a person sees and can leave."""

    def __init__(self) -> None:
        self._left = threading.Event()
        self.is_on = False
        self.tell: Callable[[str], None] | None = (
            None  # a status line, where there is one; empty when it is over
        )

    def leave(self) -> None:
        """Ends the wait that is on. May be called from any thread."""
        self._left.set()

    def until(self, is_over: Callable[[], bool], told: str) -> bool:
        """Whether it was over in time; False too where the person left (Ctrl+C without a screen)."""
        self._left.clear()
        self.is_on = True
        ends = time.monotonic() + WAITS_SECONDS
        tell = self.tell or (lambda sentence: None)
        tell(f"{told} · Esc leaves the wait")
        try:
            while not is_over():
                if self._left.wait(_LOOKS_EVERY_SECONDS) or time.monotonic() >= ends:
                    return False
        except KeyboardInterrupt:
            return False
        finally:
            self.is_on = False
            tell("")
        return True


@dataclass(frozen=True)
class LastMessage:
    """The last message of a session that was not weighed when it was looked at."""

    turn_id: int
    accepted_at: datetime
    jobs: tuple[WaitingJob, ...] = ()  # that are left of it

    @property
    def is_coming(self) -> bool:
        """Whether something is at it, or soon will be; what failed waits for longer."""
        return any(job.is_free or job.why in ("running", "answering") for job in self.jobs)

    @property
    def why_nothing(self) -> str:
        """Why it has taught nothing, where nothing of it is coming."""
        if not self.jobs:
            return "your last message taught nothing"
        waits = told_reason(self.jobs[0])
        return "your last message is not checked yet" + (f", {waits}" if waits else "")


def unweighed_message(assistant: Assistant, user_id: int, session_id: int) -> LastMessage | None:
    """The last message of a session; None where it is weighed, and where nothing is learned."""
    if not assistant.given.settings.memory.learn or not session_id:
        return None
    for turn in assistant.stores.journal.turns(user_id, session_id, limit=1):
        message = _as_it_stands(assistant, user_id, LastMessage(turn.id or 0, turn.accepted_at))
        return message if message.jobs else None
    return None


def wait_until_weighed(
    assistant: Assistant, user_id: int, message: LastMessage, wait: Wait, learn: Callable[[], None]
) -> LastMessage:
    """Has a message weighed, and waits for it while something is coming; returns it as it stands then."""
    if message.is_coming:
        learn()
        wait.until(lambda: not _as_it_stands(assistant, user_id, message).is_coming, WAITS_FOR)
    return _as_it_stands(assistant, user_id, message)


def _as_it_stands(assistant: Assistant, user_id: int, message: LastMessage) -> LastMessage:
    waiting = assistant.stores.claim_jobs.waiting(user_id)  # before the claims, which come later
    subjects = {("weigh", claim.id) for claim in assistant.stores.claims.of_turn(user_id, message.turn_id)}
    subjects.add(("summarize", message.turn_id))
    return replace(message, jobs=tuple(job for job in waiting if (job.kind, job.subject_id) in subjects))

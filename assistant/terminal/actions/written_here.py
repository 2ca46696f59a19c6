"""What one chat has written, and how its `/undo` takes that back, the latest first."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from assistant.terminal.actions.undoing import undone_lines, what_was_said
from assistant.terminal.actions.weighed_first import (
    WAITS_FOR,
    WEIGHS_ON,
    LastMessage,
    Wait,
    unweighed_message,
    wait_until_weighed,
)
from assistant.terminal.input.menus import is_yes
from stores.base.errors import CannotUndo
from stores.base.one_line import short
from stores.base.passages import SHARED

if TYPE_CHECKING:
    from datetime import datetime

    from assistant.wiring.assistant import Assistant
    from stores.claims.decisions import Learned
    from stores.claims.proposals import OpenProposal
    from stores.conversation.ratings import Rating
    from stores.database.tables import Receipt


@dataclass(frozen=True)
class Written:
    """What somebody did, in words, and by what it is taken back."""

    told: str
    receipt_id: int | None = None
    proposal_id: int | None = None  # that it was raised to


class WrittenHere:
    """The writes of a chat that no turn names, by the session that was on: undo finds them by this."""

    def __init__(self) -> None:
        self._receipts: defaultdict[int, list[int]] = defaultdict(list)
        self._proposals: defaultdict[int, list[int]] = defaultdict(list)

    def note(self, session_id: int, written: Written | Learned) -> None:
        """Keeps what was written while this session was on."""
        if written.receipt_id is not None:
            self._receipts[session_id].append(written.receipt_id)
        elif written.proposal_id is not None:  # else it goes with its receipt
            self._proposals[session_id].append(written.proposal_id)

    def goes_on_in(self, session_id: int) -> None:
        """What was written before a session was opened is of the one that was opened then."""
        for written in (self._receipts, self._proposals):
            written[session_id].extend(written.pop(0, []))

    def receipts(self, session_id: int) -> tuple[int, ...]:
        """Those of a session, the latest last."""
        return tuple(self._receipts.get(session_id, ()))

    def proposals(self, session_id: int) -> tuple[int, ...]:
        return tuple(self._proposals.get(session_id, ()))


@dataclass(frozen=True)
class Latest:
    """What was done last in a session: a rating, a proposal, or a write with all of its message."""

    made_at: datetime | None  # None where nothing is left
    named: str = ""  # as it is asked about
    typed: str = ""  # what takes back just this
    rating: Rating | None = None
    proposal: OpenProposal | None = None
    receipts: tuple[Receipt, ...] = ()

    @property
    def is_for_everyone(self) -> bool:
        """Nothing but what every user knows: that is asked about anyway."""
        return bool(self.receipts) and all(receipt.space == SHARED for receipt in self.receipts)

    def is_before(self, message: LastMessage) -> bool:
        """Whether it was done before the message was sent; also where there is nothing."""
        return self.made_at is None or self.made_at < message.accepted_at


def undo_latest_here(
    assistant: Assistant,
    user_id: int,
    session_id: int,
    here: WrittenHere,
    *,
    ask: Callable[[], str | None] | None,
    wait: Wait,
    learn: Callable[[], None],
) -> Iterator[str]:
    """Takes back what was done last in a session, where its last message is weighed: else that is waited for.

    ask: reads the answer to what was just said; None where nobody is there, and `CannotUndo` is raised for
    what is shared, and for what came before a message that is not weighed. learn: has what was stated
    weighed. `NotFound` where nothing is left.
    """
    latest = _latest(assistant, user_id, session_id, here)
    message = unweighed_message(assistant, user_id, session_id)
    if message is not None and latest.is_before(message):
        if wait.tell is None and message.is_coming:
            yield f"({WAITS_FOR}; Ctrl+C leaves the wait)"
        message = wait_until_weighed(assistant, user_id, message, wait, learn)
        latest = _latest(assistant, user_id, session_id, here)
        if message.is_coming:
            yield f"Nothing was undone: {WEIGHS_ON}."
            if latest.typed:
                yield f"{latest.typed} takes back what was done before it: {latest.named}."
            return
        if latest.is_before(message) and latest.made_at is not None:
            reason = message.why_nothing
            if ask is None:
                hint = f"{latest.typed} takes back what was done before it: {latest.named}."
                raise CannotUndo(reason, hint=hint if latest.typed else "")
            yield f"{reason[:1].upper()}{reason[1:]}."
            if not latest.is_for_everyone:
                yield f"Take back {latest.named}? [y/N]"
                if not is_yes(ask()):
                    yield "Nothing was undone."
                    return
    yield from _take_back(assistant, user_id, session_id, here, latest, ask)


def _take_back(
    assistant: Assistant,
    user_id: int,
    session_id: int,
    here: WrittenHere,
    latest: Latest,
    ask: Callable[[], str | None] | None,
) -> Iterator[str]:
    if latest.rating is not None:
        assistant.stores.ratings.undo(user_id, latest.rating.feedback_id)
        yield f"Undone: turn {latest.rating.turn_id} was rated {latest.rating.rating}."
        return
    if latest.proposal is not None:
        yield withdraw_proposal(assistant, user_id, latest.proposal.id)
        return
    if latest.is_for_everyone and ask is not None:
        yield _sure_to_take_back(latest.receipts)
        if not is_yes(ask()):
            yield "Nothing was undone. To undo a certain write, type /undo and the number of its receipt."
            return
        undone = assistant.stores.knowledge.undo_together(
            user_id, [receipt.id or 0 for receipt in latest.receipts]
        )
    else:
        within = here.receipts(session_id)
        undone = assistant.stores.knowledge.undo_latest(user_id, session_id=session_id, also=within)
    assistant.search.indexer.catch_up()
    yield from undone_lines(undone)
    yield from what_was_said(assistant, user_id, undone.receipts)


def _latest(assistant: Assistant, user_id: int, session_id: int, here: WrittenHere) -> Latest:
    receipts = assistant.stores.knowledge.latest(
        user_id, session_id=session_id, also=here.receipts(session_id)
    )
    rating = assistant.stores.ratings.latest(user_id, session_id=session_id)
    proposal = _latest_proposal(assistant, user_id, here.proposals(session_id))
    newest = max((it.created_at for it in (*receipts[:1], rating, proposal) if it is not None), default=None)
    if rating is not None and rating.created_at == newest:
        return Latest(newest, f"the rating of turn {rating.turn_id}", rating=rating)
    if proposal is not None and proposal.created_at == newest:
        named = f"proposal {proposal.id}, “{short(proposal.text)}”"
        return Latest(newest, named, f"/undo p{proposal.id}", proposal=proposal)
    named = "; ".join(f"“{short(receipt.summary)}”" for receipt in receipts)
    typed = f"/undo {receipts[0].id}" if receipts else ""
    return Latest(newest, named, typed, receipts=tuple(receipts))


def withdraw_proposal(assistant: Assistant, user_id: int, proposal_id: int) -> str:
    """Takes back what the user has offered, or proposed to remove; returns what is told of it."""
    proposal = assistant.stores.proposals.withdraw(user_id, proposal_id)
    what = {"add": "to share", "modify": "to change what is shared to"}.get(proposal.action, "to remove")
    return f"Taken back: proposal {proposal_id}, {what} “{short(proposal.text)}”."


def _latest_proposal(assistant: Assistant, user_id: int, ids: tuple[int, ...]) -> OpenProposal | None:
    """The newest of these that still waits."""
    if not ids:
        return None
    return next((it for it in reversed(assistant.stores.proposals.of_user(user_id)) if it.id in ids), None)


def _sure_to_take_back(receipts: Sequence[Receipt]) -> str:
    named = "; ".join(f"{receipt.action} “{short(receipt.summary)}”" for receipt in receipts)
    return f"Take back, for every user: {named}? An undo cannot be undone. [y/N]"

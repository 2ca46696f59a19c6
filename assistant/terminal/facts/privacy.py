"""What is kept about a user, who can read it, what left the machine, and what was trained on it."""

from __future__ import annotations

import stat
from collections.abc import Iterator
from typing import TYPE_CHECKING

from assistant.terminal.facts.memory_detail import is_here, sent_lines, trained
from assistant.terminal.text.printable import from_home

if TYPE_CHECKING:
    from assistant.wiring.assistant import Assistant
    from stores.memory.memory_uses import Kept


def privacy_told(assistant: Assistant, user_id: int) -> tuple[str, ...]:
    """From stored facts: headings, empty lines, and sentences that are indented by two."""
    from stores.memory.memory_uses import MemoryUses

    kept = MemoryUses(assistant.stores.database).kept(user_id)
    saw = trained(kept.rounds, None)
    return (
        "What is kept about you",
        *(f"  {line}" for line in _kept(kept)),
        "",
        "Who can read it",
        *(f"  {line}" for line in _readers(assistant, kept)),
        "",
        "What left this machine",
        *(f"  {line}" for line in _left(assistant, kept)),
        "",
        "What was trained on it",
        f"  {saw[0].upper()}{saw[1:]}.",
        "  What is forgotten is no lesson any more: the next round trains without it."
        if kept.rounds
        else "  Nothing of private sessions is ever a lesson.",
    )


def _kept(kept: Kept) -> Iterator[str]:
    kinds = ", ".join(f"{_count(n, kind)}" for kind, n in sorted(kept.live.items()))
    yield f"Only you can find: {kinds or 'nothing'}."
    yield (
        f"Conversations: {_count(kept.turns, 'turn')} in {_count(kept.sessions, 'session')}, and in "
        f"{_count(kept.private_sessions, 'private session')}."
    )
    yield f"Your ratings and marks: {kept.marks}. Statements still to be checked: {kept.waiting}."
    if kept.old_texts:
        yield f"Earlier texts, readable but never used in answers: {kept.old_texts}."
    if kept.erased:
        yield f"Forgotten for good: {_count(kept.erased, 'text')}; only their numbers are left."


def _readers(assistant: Assistant, kept: Kept) -> Iterator[str]:
    yield "No other user of Vouch can find what is yours."
    yield f"Shared passages that you added, found by every user: {kept.shared}."
    file = assistant.stores.database.file
    if file is None:
        yield f"It lies in the database at {assistant.stores.database.place}: whoever runs that can read it."
        return
    mode = stat.S_IMODE(file.stat().st_mode)
    folder = stat.S_IMODE(file.parent.stat().st_mode)
    is_open = mode & 0o044 and folder & 0o011
    whom = "other accounts of this machine can read it too" if is_open else "your account alone can read it"
    yield f"It lies in {from_home(str(file))}: {whom}, and the administrator; it is not encrypted."


def _left(assistant: Assistant, kept: Kept) -> Iterator[str]:
    told = sent_lines(assistant, kept.sent)
    for line in told:
        yield f"{line[0].upper()}{line[1:]}."
    if not told:
        yield "Nothing: no model elsewhere was asked."
    server = assistant.models.model_in_use.server
    if (
        server
        and assistant.given.settings.memory.agents != "reader"
        and assistant.given.settings.memory.learn
    ):
        where = "on this machine" if is_here(server) else "outside"
        yield f"When what you state is weighed, {server} ({where}) is asked too, with your nearest memories."
    if assistant.given.settings.index.url:
        yield "The server of the shared index gets shared passages and their vectors, and no memory of yours."
    yield "Files that you exported, and backups, are not counted here."


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'s' if number != 1 else ''}"

"""/replay in plain mode: a session's messages by the live model and the one before, as a table.

It is the comparison that the screen shows as Before and after, in the same process of its own.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Generator, Iterator
from typing import TYPE_CHECKING, Any

from assistant.terminal.input.typed_ids import typed_id
from stores.base.errors import NotFound
from stores.base.one_line import one_line, short

if TYPE_CHECKING:
    from assistant.terminal.facts.comparison import Pair
    from assistant.wiring.assistant import Assistant

_TELLS_EVERY_SECONDS = 10.0
_SHOWN_CHARACTERS = 200


def session_to_replay(assistant: Assistant, user_id: int, text: str, here: int) -> int:
    """The session that is meant: that of the number, or the one that is on. Raises `NotFound`."""
    number = typed_id(text)
    if text in ("", "session"):
        return here
    if number is None:
        raise NotFound(f"there is no session {one_line(text)}", hint="Name it by its number: /replay 12.")
    assistant.stores.journal.check_session(user_id, number)
    return number


def models_to_compare(assistant: Assistant) -> tuple[str, str]:
    """The live model and the one before, by name. Raises `NotFound` where there is none before."""
    from assistant.terminal.facts.training import training_facts

    facts = training_facts(assistant)
    if not facts.previous:
        raise NotFound("there is no model before the live one to compare with")
    return facts.name_of(facts.live), facts.name_of(facts.previous)


def replay_session(assistant: Assistant, user_id: int, session_id: int) -> Iterator[str]:
    """Plays it, in copies, and yields how far it is and what would be answered differently."""
    live, other = models_to_compare(assistant)
    pairs = yield from play_both(assistant, user_id, session_id)
    yield from table(pairs, f"live {live}", f"previous {other}")


def play_both(
    assistant: Assistant,
    user_id: int,
    session_id: int,
    *,
    turn_id: int | None = None,
    newest: int | None = None,
) -> Generator[str, None, list[Pair]]:
    """Has a session answered by the live model and the one before, in copies; yields how far it is.

    turn_id: the last turn played. newest: how many messages are played, the last ones; all for None.
    Returns each message under both. Raises `NotFound` where there is no model before.
    """
    from assistant.terminal.comparison.comparison_process import ComparisonChild
    from assistant.terminal.facts.comparison import Pair, with_found
    from stores.memory.memory_uses import MemoryUses

    live, other = models_to_compare(assistant)
    name = MemoryUses(assistant.stores.database).user_name(user_id)
    child = ComparisonChild.of(
        assistant, name, session_id, against="previous", turn_id=turn_id, newest=newest
    )
    yield f"The messages of session {session_id} are answered anew, in copies. Ctrl+C leaves off."
    pairs: list[Pair] = []
    told_at = time.monotonic()
    for told in _each(child.lines()):
        if "replies" in told:
            pairs.append(Pair.told(told))
        elif "done" in told and time.monotonic() - told_at >= _TELLS_EVERY_SECONDS:
            told_at = time.monotonic()
            model = f"live {live}" if told["model"] == "live" else f"previous {other}"
            yield f"By {model}: message {int(told['done']) + 1} of {told['of']}."
    return with_found(assistant, user_id, pairs)


def table(pairs: list[Pair], live: str, other: str) -> Iterator[str]:
    """What differs, the greatest change first, and how many of each kind."""
    from assistant.terminal.facts.comparison import counts

    changed = sorted((pair for pair in pairs if pair.change > 0), key=lambda pair: -pair.change)
    width = max(len(live), len(other))
    if changed:
        yield " turn  change  what it is to the live model"
    for pair in changed:
        yield f"{pair.turn_id or '-':>5}  {pair.change:>6.2f}  {pair.kind}"
        yield f"       You: {short(pair.message, _SHOWN_CHARACTERS)}"
        for name, side in ((live, pair.live), (other, pair.other)):
            yield f"       {name:<{width}}  {short(side.answer, _SHOWN_CHARACTERS) or '(no answer)'}"
    yield f"{len(changed)} of {len(pairs)} messages are answered differently."
    yield f"{other}: {counts([pair.kind for pair in pairs])}"


def _each(lines: AsyncGenerator[dict[str, Any], None]) -> Iterator[dict[str, Any]]:
    """One after another, for a program without an event loop; torn out of it, what tells them is ended."""

    async def next_line() -> dict[str, Any] | None:
        return await anext(lines, None)

    async def leave_off() -> None:
        await lines.aclose()

    with asyncio.Runner() as runner:
        try:
            while (told := runner.run(next_line())) is not None:
                yield told
        finally:
            runner.run(leave_off())

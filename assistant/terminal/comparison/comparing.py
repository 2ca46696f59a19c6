"""/compare in plain mode: the answers of the live model and the one before, one block below the other.

It is the comparison that the screen shows as Before and after. Who can be asked chooses before the names are
told: who knows which model is new judges something else than the answers.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from typing import TYPE_CHECKING

from assistant.terminal.comparison.replaying import models_to_compare, play_both
from stores.base.one_line import one_line

if TYPE_CHECKING:
    from assistant.terminal.facts.comparison import Pair, Side
    from assistant.wiring.assistant import Assistant

COMPARED = 50  # messages of a session, the newest: each is answered twice, which takes seconds
_LEAVES = "q"


def session_to_compare(assistant: Assistant, user_id: int, here: int, turn_id: int | None) -> int:
    """That of the turn; else the one that is open, or the last one while nothing was said in it."""
    if turn_id is not None:
        return assistant.stores.journal.turn(user_id, turn_id).session_id
    if here and assistant.stores.journal.turns(user_id, here, limit=1):
        return here
    latest = next(iter(assistant.stores.journal.sessions(user_id, limit=1)), None)
    return latest.session_id if latest is not None else here


def keep_choice(assistant: Assistant, user_id: int, pair: Pair, better: Side | None) -> str:
    """Keeps which answer is better, None where neither is, as feedback on passages; returns what is told."""
    from stores.conversation.pair_choices import PairChoices

    if pair.turn_id is None:
        return "Nothing to keep: it is no turn of yours."
    kept = PairChoices(assistant.stores.database).choose(
        user_id, pair.turn_id, better.citations if better else ()
    )
    if better is None:
        return "Neither is better: nothing is kept of that."
    if kept:
        return f"Kept as feedback: {kept} passage{'s' if kept != 1 else ''} cited there helped."
    return "Nothing new to keep: it cites no passage that this turn had found and nobody rated."


def compare_answers(
    assistant: Assistant,
    user_id: int,
    here: int,
    turn_id: int | None,
    *,
    menu: Callable[[], str | None] | None,
) -> Iterator[str]:
    """Yields a turn, or what differs in the newest messages of a session, under both models.

    here: the session that is on. menu: reads which answer is better, where somebody can be asked; else None.
    """
    from assistant.terminal.facts.comparison import SAME, counts

    live, other = models_to_compare(assistant)
    names = f"live {live}", f"previous {other}"
    session_id = session_to_compare(assistant, user_id, here, turn_id)
    pairs = yield from play_both(assistant, user_id, session_id, turn_id=turn_id, newest=COMPARED)
    if turn_id is not None:
        pairs = [pair for pair in pairs if pair.turn_id == turn_id]
    shown = [pair for pair in sorted(pairs, key=lambda pair: -pair.change) if pair.change > 0 or turn_id]
    for number, pair in enumerate(shown, start=1):
        yield ""
        yield f"{number} of {len(shown)} · turn {pair.turn_id or '-'} · You: {one_line(pair.message)}"
        if pair.kind == SAME:
            yield from _block(pair, "Both", pair.live, with_facts=True)
            continue
        if menu is None:
            yield from _block(pair, names[0], pair.live, with_facts=True)
            yield from _block(pair, names[1], pair.other, with_facts=True)
            continue
        if not (yield from _choice(assistant, user_id, pair, names, session_id, menu)):
            break
    yield ""
    yield f"{sum(pair.change > 0 for pair in pairs)} of {len(pairs)} messages are answered differently."
    yield f"{names[1]}: {counts([pair.kind for pair in pairs])}"


def _choice(
    assistant: Assistant,
    user_id: int,
    pair: Pair,
    names: tuple[str, str],
    session_id: int,
    menu: Callable[[], str | None],
) -> Generator[str, None, bool]:
    """Both answers without names, and which one is better; returns whether there is to be a next pair."""
    sides = [(names[0], pair.live), (names[1], pair.other)]
    if pair.is_exchanged(session_id):
        sides.reverse()
    for place, (_, side) in enumerate(sides, start=1):
        yield from _block(pair, f"Answer {place}", side, with_facts=False)
    yield f"Which one is better? 1, 2, or 0 for neither; Enter leaves it open, {_LEAVES} leaves off."
    typed = (menu() or "").strip()
    if typed in ("0", "1", "2"):
        yield keep_choice(assistant, user_id, pair, sides[int(typed) - 1][1] if typed != "0" else None)
    yield f"Answer 1: {sides[0][0]}. Answer 2: {sides[1][0]}."
    return typed.casefold() != _LEAVES


def _block(pair: Pair, name: str, side: Side, *, with_facts: bool) -> Iterator[str]:
    """An answer with what it cites and remembers, under the name of its model."""
    from assistant.terminal.facts.comparison import side_text

    yield f"{name}:"
    for line in side_text(pair, side, with_facts=with_facts).splitlines():
        yield f"  {line}".rstrip()

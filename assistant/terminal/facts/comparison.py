"""One's own messages under two models, as they are compared on the screen."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from assistant.terminal.text.printable import printable
from stores.base.one_line import short

if TYPE_CHECKING:
    from assistant.wiring.assistant import Assistant
    from stores.conversation.pair_choices import FoundText

BETTER, WORSE, SAME, WORDING, OTHERWISE = "better", "worse", "same", "only other words", "otherwise changed"
KINDS = (BETTER, WORSE, SAME, WORDING, OTHERWISE)


@dataclass(frozen=True)
class Sides:
    """The two models by name, and the session they played."""

    live: str
    other: str
    session_id: int
    newest: int | None = None  # messages of it, where it has more


@dataclass(frozen=True)
class Side:
    """What one model made of a message."""

    answer: str
    citations: tuple[str, ...]  # texts of passages
    writes: tuple[str, ...]


@dataclass(frozen=True)
class Pair:
    """A message under both models."""

    turn_id: int | None
    message: str
    live: Side
    other: Side
    change: float  # 0 where nothing differs
    is_wording: bool  # the words differ, and neither the passages cited nor what was remembered
    found: tuple[FoundText, ...] = field(default=())  # by the turn as it once was

    @staticmethod
    def told(line: Mapping[str, Any]) -> Pair:
        """From a line of the comparison."""
        one, other = (_side(reply) for reply in line["replies"])
        changes = line["changes"]
        is_wording = changes["answer"] > 0 and not changes["citations"] and not changes["writes"]
        return Pair(line["turn"], str(line["message"]), one, other, float(line["change"]), is_wording)

    @property
    def kind(self) -> str:
        """What the other model is to the live one, as far as it is known which passages help."""
        if self.change == 0:
            return SAME
        if self.is_wording:
            return WORDING
        by = self.helping(self.other) - self.helping(self.live)
        return BETTER if by > 0 else WORSE if by < 0 else OTHERWISE

    def helping(self, side: Side) -> int:
        """How many passages it cites of which is known that they help to answer this message."""
        helps = {each.text for each in self.found if each.helps}
        return len(helps.intersection(side.citations))

    def is_exchanged(self, session_id: int) -> bool:
        """Whether the live model stands at the right: a coin that falls the same way each time."""
        return random.Random(f"{session_id} {self.turn_id} {self.message}").random() < 0.5


def _side(reply: Mapping[str, Any]) -> Side:
    return Side(str(reply["answer"]), tuple(map(str, reply["citations"])), tuple(map(str, reply["writes"])))


def with_found(assistant: Assistant, user_id: int, pairs: Sequence[Pair]) -> list[Pair]:
    """The pairs, those that differ with what their turns had found."""
    from dataclasses import replace

    from stores.base.errors import NotFound
    from stores.conversation.pair_choices import PairChoices

    choices, known = PairChoices(assistant.stores.database), []
    for pair in pairs:
        found: Sequence[FoundText] = ()
        if pair.change > 0 and pair.turn_id:
            try:
                found = choices.found(user_id, pair.turn_id)
            except NotFound:  # forgotten meanwhile
                found = ()
        known.append(replace(pair, found=tuple(found)))
    return known


def counts(kinds: Sequence[str]) -> str:
    """How many of each kind, in words."""
    counted = Counter(kinds)
    told = [f"{kind} {counted[kind]}" for kind in KINDS if counted[kind] or kind != OTHERWISE]
    return " · ".join(told)


def side_text(pair: Pair, side: Side, *, with_facts: bool) -> str:
    """An answer with what it cites and remembers; what is known of both only where names are shown."""
    lines = [printable(side.answer) or "(no answer)"]
    if side.citations:
        lines += ["", *(f"[{n}] {short(text, 200)}" for n, text in enumerate(side.citations, start=1))]
    if side.writes:
        lines += ["", "Remembers:", *(f"  {short(write, 200)}" for write in side.writes)]
    if with_facts and side.citations:
        lines += ["", _helping(pair, side)]
    return "\n".join(lines)


def _helping(pair: Pair, side: Side) -> str:
    known = {each.text for each in pair.found if each.helps is not None}
    judged = sum(text in known for text in side.citations)
    if not judged:
        return "nobody has judged whether these passages help"
    return f"{pair.helping(side)} of {judged} judged passages help"

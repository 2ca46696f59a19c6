"""What a conversation is made of on the screen: plain records, read from turns or made as they come."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from stores.base.one_line import one_line, short
from stores.base.passages import quotes_only

if TYPE_CHECKING:
    from agents.base.chat_interfaces import Source
    from assistant.wiring.assistant import Assistant
    from stores.base.passages import Passage
    from stores.conversation.glance import GlancedTurn
    from stores.database.tables import Turn

State: TypeAlias = Literal["queued", "waiting", "writing", "done", "stopped", "failed", "unanswered"]

FORGOTTEN = "forgotten"  # in place of words that are gone
_UNSURE = ("I am not sure", "I know nothing")  # how what is nearest begins, where nothing surely answers
_ENDED: dict[str, State] = {"done": "done", "stopped": "stopped", "failed": "failed", "imported": "done"}


@dataclass(frozen=True)
class CitedSource:
    """A source below an answer."""

    number: int
    version_id: int  # 0 for what was handed over and is kept nowhere
    words: str  # whose it is and what it is, on one line


@dataclass(eq=False)
class Message:
    """One message: a person's, an answer, or what a command said."""

    speaker: Literal["You", "Assistant", "Vouch", "Teach"]
    text: str
    turn_id: int | None = None
    state: State = "done"
    seconds: float | None = None
    rating: str = ""  # good, bad or taught
    failure: str = ""
    silent_seconds: int = 0  # of the model that is asked, once they are many
    sources: tuple[CitedSource, ...] = ()
    lacks_sources: bool = False  # it cites some that are not looked up yet
    thoughts: str = ""  # of the model before it answered; of this chat alone, and no part of the text
    note: str = ""  # what is said below an answer, such as that it was cut
    is_folded: bool = False
    instead_of: int | None = None  # the turn in whose place it is sent, which is kept as a branch
    is_quoted: bool = False  # in the words of passages, which are no Markdown
    command: str = ""  # that it offers

    @property
    def is_unsure(self) -> bool:
        """It quotes what may help, and says itself that it may not."""
        return self.is_quoted and self.text.startswith(_UNSURE)

    @property
    def label(self) -> str:
        """What stands beside the speaker: how long it took, how it ended, how it was rated."""
        if self.state == "queued":
            return "waits for its turn"
        if self.state == "waiting":
            silent = f"no answer yet after {self.silent_seconds} s"
            waits = silent if self.silent_seconds else "thinking"
            return f"{waits} · Esc stops" if self.speaker == "Assistant" else ""
        if self.state == "writing":
            return "writing · Esc stops"
        ended = {
            "stopped": "stopped",
            "failed": "failed",
            "unanswered": "no answer: the program ended first",
        }.get(self.state, "")
        unsure = "not sure" if self.is_unsure else ""
        took = f"{self.seconds:.1f} s" if self.seconds is not None else ""
        return " · ".join(part for part in (took, unsure, ended, self.rating) if part)


def cited_source(source: Source) -> CitedSource:
    """A source as it stands below an answer."""
    passage = source.passage
    if passage.kind == "material":
        return CitedSource(source.number, 0, f"handed over  “{short(passage.text)}”")
    if passage.version_id < 0:  # in no store: a private session's own words
        return CitedSource(source.number, 0, f"said here  “{short(passage.text)}”")
    return CitedSource(source.number, passage.version_id, f"{passage.scope:<6}  {passage_name(passage)}")


def passage_name(passage: Passage) -> str:
    """What a passage is called on one line."""
    if not (passage.text or passage.title):
        return FORGOTTEN
    if passage.is_shared or passage.kind in ("document", "entity"):
        return one_line(passage.title or passage.source) or short(passage.text)
    day = passage.created_at.astimezone()
    return f"“{short(passage.text, 56)}” (your {passage.kind} of {day.day} {day:%B})"


def past_messages(
    assistant: Assistant, user_id: int, session_id: int, *, turns: int, before: int | None = None
) -> tuple[list[Message], bool]:
    """The last turns of a session as messages, oldest first; and whether there are no older ones.

    before: of the turns, those alone that came before this one.
    """
    found = assistant.stores.journal.turns(user_id, session_id, limit=turns, before=before)
    ratings = assistant.stores.ratings.of_turns(user_id, [turn.id or 0 for turn in found])
    return messages_of(found, ratings), len(found) < turns


def messages_of(turns: Sequence[Turn | GlancedTurn], ratings: Mapping[int, str]) -> list[Message]:
    """Turns as messages. ratings: by turn id."""
    told = [_of_turn(turn, ratings.get(turn.id or 0, "")) for turn in turns]
    return [message for pair in told for message in pair]


def sources_of(assistant: Assistant, user_id: int, turn_id: int) -> tuple[CitedSource, ...]:
    """What an answer cites, in the order of its first citations, as far as it is kept."""
    from agents.base.chat_interfaces import Source

    cited = assistant.stores.journal.turn(user_id, turn_id).details.get("cited", [])
    found = {
        f.citation: f.version_id for f in assistant.stores.journal.found_in(user_id, turn_id) if f.citation
    }
    passages = assistant.stores.catalogue.passages_of(user_id, [found[n] for n in cited if n in found])
    return tuple(
        cited_source(Source(number, passages[found[number]][0]))
        for number in cited
        if number in found and found[number] in passages
    )


def _of_turn(turn: Turn | GlancedTurn, rating: str) -> list[Message]:
    took = turn.answered_at - turn.accepted_at if turn.answered_at else None
    is_forgotten = turn.state == "done" and not (turn.answer and turn.message)
    answer = Message(
        "Assistant",
        turn.answer or (FORGOTTEN if is_forgotten else ""),
        turn.id,
        _ENDED.get(turn.state, "unanswered"),
        seconds=took.total_seconds() if took is not None else None,
        rating=rating,
        failure=one_line(turn.failure),
        lacks_sources=bool(turn.details.get("cited")),
        is_quoted=quotes_only(turn.model),
    )
    return [Message("You", turn.message, turn.id), answer]

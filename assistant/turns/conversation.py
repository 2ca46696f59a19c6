"""A session as its model saw it: messages, answers, and the sources that stood above each message.

    turns before this one -> versions that each listed -> those that are live and the user's -> exchanges

Of the sources those stay that the answer cites, under their numbers. They are kept by number and version,
never as text: what was forgotten, undone or taken away since is not sent again.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from agents.base.citations import without_citations
from agents.base.interfaces import Exchange, Source, Vector
from agents.retrieval.said_here import message_passage
from assistant.turns.settled import without_words
from stores.base.passages import Passage
from stores.conversation.journal import Journal
from stores.database.tables import Turn, known_id
from stores.search.spaces import Space

MOST_TURNS = 400  # of a session that are looked through for what is sent
_STEP = 200  # turns, in which the beginning of a longer session moves on
REPLY, MATERIAL = "reply", "material"  # kinds of what is listed and no passage of a store
LISTED = "listed"  # among the details of a turn
WHOLE = -1  # the place of material that is sent as a whole
_MOST_REPLIES = 2  # earlier answers that are listed with one message
_LOOKED_AT = 20  # passages of the user's own, the nearest
NEAR = 0.45  # cosine of a question and of an earlier message whose answer may be asked for
_LONGEST_REPLY, _LONGEST_TITLE = 1_500, 200  # characters of it, and of the message


class Conversation:
    """Reads sessions back."""

    def __init__(
        self,
        journal: Journal,
        *,
        cut: Callable[[str], Sequence[str]],
        settled: Callable[[int, Sequence[int]], Mapping[int, Sequence[str]]],
    ) -> None:
        """cut: material as passages. settled: which words of a user's messages became knowledge."""
        self._journal, self._cut, self._settled = journal, cut, settled

    def before(self, user_id: int, turn_id: int, space: Space) -> list[Exchange]:
        """What leads to a turn, oldest first; without turns whose words were forgotten."""
        turns = self._journal.turns_before(user_id, turn_id, limit=MOST_TURNS, steps=_STEP)
        turns = [turn for turn in turns if turn.message]
        noted = [known_id(turn.id) for turn in turns if LISTED in turn.details]
        rows = self._journal.listed_in(user_id, noted) if noted else {}
        live = space.passages(sorted({version for pairs in rows.values() for _, version in pairs}))
        messages = [version for version, passage in live.items() if passage.kind == "message"]
        for version, words in (self._settled(user_id, messages) if messages else {}).items():
            live[version] = replace(live[version], text=without_words(live[version].text, words))
        with_reply = [
            version
            for turn in turns
            for number, version in rows.get(known_id(turn.id), ())
            if str(number) in turn.details[LISTED].get(REPLY, {}) and version in live
        ]
        replied = self._journal.turns_of_messages(user_id, with_reply) if with_reply else {}
        return [
            Exchange(
                turn.message,
                turn.standalone,
                turn.answer,
                known_id(turn.id),
                turn.accepted_at,
                tuple(self._sources(turn, rows.get(known_id(turn.id), []), live, replied)),
            )
            for turn in turns
        ]

    def replies(
        self,
        user_id: int,
        space: Space,
        vector: Vector,
        without: Collection[int],
        here: tuple[int, Collection[int]],
    ) -> list[Passage]:
        """The user's messages that are nearest to what is asked, with what was answered, nearest first.

        without: versions that are not looked for. here: the session, and the turns that lead to this one:
        what stands in another branch of it was replaced.
        """
        nearest = space.nearest_of(vector, _LOOKED_AT, scope="yours")
        near = [p for p, cosine in nearest if p.kind == "message" and cosine >= NEAR]
        versions = [passage.version_id for passage in near if passage.version_id not in without]
        turns = self._journal.turns_of_messages(user_id, versions) if versions else {}
        session_id, leading = here
        found: dict[int, Passage] = {}
        for version in versions:
            turn = turns.get(version)
            if turn is not None and (turn.session_id != session_id or turn.id in leading):
                found.setdefault(known_id(turn.id), reply_passage(turn, version))
        return list(found.values())[:_MOST_REPLIES]

    def listed_with(self, user_id: int, sources: Sequence[Source]) -> list[int]:
        """Versions that earlier answers among these sources were made from: who reads them reads of these."""
        of_replies = [s.passage.version_id for s in sources if s.passage.kind == REPLY]
        turns = self._journal.turns_of_messages(user_id, of_replies) if of_replies else {}
        rows = self._journal.listed_in(user_id, [known_id(turn.id) for turn in turns.values()])
        return sorted({version for listed in rows.values() for _, version in listed})

    def _sources(
        self,
        turn: Turn,
        rows: Sequence[tuple[int, int]],
        live: Mapping[int, Passage],
        replied: Mapping[int, Turn],
    ) -> list[Source]:
        """What its answer cites of what stood above its message, as far as it may still be seen."""
        noted = turn.details.get(LISTED, {})
        first = noted.get("first", 0)
        here = [(number, i) for number, i in rows if number >= first]
        found = {number: live[i] for number, i in here if i in live and live[i].text}
        for number, i in here:
            if str(number) in noted.get(REPLY, {}):
                found.pop(number, None)
                if i in replied:
                    found[number] = reply_passage(replied[i], i)
        if places := noted.get(MATERIAL, {}):
            parts = {WHOLE: turn.material, **dict(enumerate(self._cut(turn.material)))}
            for number, place in places.items():
                if parts.get(place, "").strip():
                    found[int(number)] = material_passage(parts[place], place, turn)
        cited = set(turn.details.get("cited", ()))
        return [Source(number, found[number]) for number in sorted(found) if number in cited]


def noted(sources: Sequence[Source]) -> dict[str, Any]:
    """What a turn keeps of the sources listed above its message, so that they can be listed again."""
    if not sources:
        return {}
    apart: dict[str, Any] = {
        kind: {str(s.number): s.passage.position for s in sources if s.passage.kind == kind}
        for kind in (REPLY, MATERIAL)
    }
    return {LISTED: {"first": sources[0].number, **{kind: told for kind, told in apart.items() if told}}}


def reply_passage(turn: Turn, version_id: int) -> Passage:
    """What was answered in a turn, below its message, without the numbers, which stood for other sources.

    version_id: of the message, as whose it counts.
    """
    text = without_citations(turn.answer)[:_LONGEST_REPLY]
    passage = message_passage(version_id, "session", text, "an earlier answer", turn.accepted_at)
    return replace(passage, kind=REPLY, title=turn.message[:_LONGEST_TITLE])


def material_passage(text: str, place: int, turn: Turn) -> Passage:
    """A part of what was handed over with a turn, or all of it."""
    passage = message_passage(-1 - place, MATERIAL, text, "handed over with the message", turn.accepted_at)
    return replace(passage, kind=MATERIAL, position=place)

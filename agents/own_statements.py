"""Puts first what a user said of themselves, where it gives what a question asks for.

    question -> what it asks for -> the user's statements, newest first -> those that give it -> in front

"I moved to Brussels." shares no word with "Where do I live?", and in a large memory neither words nor
meaning find it. Which statement gives what, `agents/relations` decides by rule; nothing is encoded for it.
Who asks what held before is also given what was replaced since.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from agents.asked_for import asked_for, how_it_gives
from agents.former import asked_of_before
from agents.interfaces import Candidate, OwnSpace
from agents.relations.mentions import may_give
from agents.relations.questions import Asked
from agents.retriever import Retrieved
from agents.sentences import sentences
from stores.records import Passage

_LOOKED_INTO = 1_000  # statements that mention what is asked for, for one question; 0.1 to 0.3 ms each
GIVEN = 2.0  # what it adds to a score: more than meaning, words and lift mostly are together


class OwnStatements:
    """Knows which statements of a user to put before what was found."""

    def __init__(self, *, read: int = 10_000, keep: int = 3) -> None:
        """read: statements looked through for one question, the newest. keep: put first at most."""
        self._read = read
        self._keep = keep

    def put_first(self, question: str, found: Retrieved, space: OwnSpace) -> Retrieved:
        """What was found, behind the user's statements that give what is asked for; ranks are made anew.

        space: of the user who asks, and of the vectors that found. Most questions ask for no such thing,
        and stay as they are.
        """
        before = asked_of_before(question)
        asking = before or asked_for(question)
        if not asking:
            return found
        giving = self._giving(asking, space.statements(self._read))
        replaced = self._replaced(before, space) if before else []
        giving = giving[: self._keep - len(replaced)]
        if not giving and not replaced:
            return found
        known = {candidate.passage.version_id: candidate for candidate in found.candidates}
        known |= _scored(found, space, [i for i in giving if i not in known])
        raised = [_raised(known.pop(i)) for i in giving if i in known]
        raised += [_raised(_unsearched(passage, found)) for passage in replaced]
        raised.sort(key=lambda candidate: -candidate.score)
        order = [*raised, *known.values()]  # what was found stays in its order, which is not by score alone
        ranked = (replace(candidate, found_rank=rank) for rank, candidate in enumerate(order, start=1))
        return replace(found, candidates=tuple(ranked))

    def _replaced(self, asking: Sequence[Asked], space: OwnSpace) -> list[Passage]:
        """What gave it before; fewer than are kept, so that what gives it now has a place."""
        told = space.replaced_statements(self._read)
        texts = [(number, passage.text) for number, passage in enumerate(told)]
        return [told[number] for number in self._giving(asking, texts)][: max(1, self._keep - 1)]

    def _giving(self, asking: Sequence[Asked], told: Iterable[tuple[int, str]]) -> list[int]:
        """Version ids of what gives it, newest first; of hearsay only where the user never said it."""
        plain: list[int] = []
        passed_on: list[int] = []
        looked_into = 0
        for version_id, text in told:
            if not any(may_give(text, one) for one in asking):
                continue
            looked_into += 1
            how = {how_it_gives(sentence.text, asking) for sentence in sentences(text)}
            if "plainly" in how:
                plain.append(version_id)
            elif "by hearsay" in how:
                passed_on.append(version_id)
            if len(plain) == self._keep or looked_into == _LOOKED_INTO:
                break
        return (plain or passed_on)[: self._keep]


def _raised(candidate: Candidate) -> Candidate:
    return replace(candidate, given=GIVEN, score=candidate.score + GIVEN)


def _scored(found: Retrieved, space: OwnSpace, new: Sequence[int]) -> dict[int, Candidate]:
    """As candidates what the search did not come upon."""
    if not new:
        return {}
    passages = space.passages(new)
    dense = space.similarities(found.vector, new)
    lexical = space.word_scores(found.query, new)
    return {
        i: replace(_unsearched(passage, found), dense=dense.get(i, 0.0), lexical=lexical[i])
        for i, passage in passages.items()
    }


def _unsearched(passage: Passage, found: Retrieved) -> Candidate:
    """A passage that the search did not come upon: none of those that it kept was less than its score."""
    least = min((candidate.score for candidate in found.candidates), default=0.0)
    return Candidate(passage, 0.0, 0.0, 0.0, least, 0)

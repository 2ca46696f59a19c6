"""Puts first what a user said of themselves, where it gives what a question asks for.

    question -> what it asks for -> the user's statements, newest first -> those that give it -> in front

"I moved to Brussels." shares no word with "Where do I live?", and in a large memory neither words nor
meaning find it. Which statement gives what, `agents/relations` decides by rule; nothing is encoded for it.
Who asks what held before is also given what was replaced since; so is who asks for what nothing tells that
is live, with what was said in its place. Who asks for all of a group ("What pets do I have?"), or for all
that is known of them, is given more, and it is told how many are left.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import islice

from agents.asked_for import MOST_OF_A_GROUP, asked_for, asks_for_a_group, may_be_meant
from agents.former import asked_of_before, past_of
from agents.givings import Givings
from agents.groups_told import that_end
from agents.interfaces import Candidate, OwnSpace
from agents.of_oneself import MOST_TOLD, asks_for_all, told_of
from agents.relations.mentions import openings
from agents.relations.questions import Asked
from agents.retriever import Retrieved
from agents.same_persons import giving_by_role, naming, person_in, with_both
from agents.sentences import sentences
from agents.value_changes import effect
from agents.values import content
from stores.passages import Passage

_I = re.IGNORECASE
_LOOKED_INTO = 200  # statements that share a word with what was replaced, for one question; about 1 ms each
_COUNTED = 100  # statements that tell one of a group, for one question
GIVEN = 2.0  # what it adds to a score: more than meaning, words and lift mostly are together


class OwnStatements:
    """Knows which statements of a user to put before what was found."""

    def __init__(self, *, read: int = 10_000, keep: int = 3) -> None:
        """read: statements looked through for one question, the newest. keep: put first at most."""
        self._read = read
        self._keep = keep
        self._givings = Givings(most=keep)
        self._of_groups = Givings(most=_COUNTED)

    def completed(self, question: str, space: OwnSpace) -> str:
        """The question with role and name of the one it is about, where the user told both."""
        return with_both(question, space.statements(self._read))

    def put_first(self, question: str, found: Retrieved, space: OwnSpace) -> Retrieved:
        """What was found, behind the user's statements that give what is asked for; ranks are made anew.

        space: of the user who asks, and of the vectors that found. Most questions ask for no such thing,
        and stay as they are.
        """
        if whole := asks_for_all(question):
            known = told_of(whole, space.statements(self._read))
            return _raise(known[:MOST_TOLD], found, space, left=len(known) - MOST_TOLD)
        before = asked_of_before(question)
        past = None if before else past_of(question)
        asking = before or asked_for(past or question)
        person = person_in(question)
        if not asking and person is None:
            return found
        told = space.statements(self._read)
        if person is not None and not (before or past):
            given = self._givings.first(asking, told) if asking else []
            given = sorted({*given, *giving_by_role(person, asking, told)}, reverse=True)[: self._keep - 1]
            if given or not asking:
                return _raise([*given, *naming(person, told)], found, space)
        given = self._of_groups.first(asking, told) if asks_for_a_group(asking) else []
        if given:
            best = given[:MOST_OF_A_GROUP]
            replaced = self._replaced(asking, space) if before or past else []
            giving = [*best, *that_end(told, best)]
            return _raise(giving, found, space, replaced=replaced, left=len(given) - len(best))
        return self._one_of_it(asking, told, found, space, wants_before=bool(before or past))

    def _one_of_it(
        self,
        asking: Sequence[Asked],
        told: Iterable[tuple[int, str]],
        found: Retrieved,
        space: OwnSpace,
        *,
        wants_before: bool,
    ) -> Retrieved:
        """What was found, behind the newest few statements that give it, and what gave it before."""
        giving = self._givings.first(asking, told)
        replaced = [] if giving and not wants_before else self._replaced(asking, space)
        if not giving and not replaced and wants_before:
            giving = _exchanged(asking, told)
        if not giving and not wants_before:
            giving = self._in_place_of(replaced, told)
            replaced = replaced if giving else []
        return _raise(giving[: self._keep - len(replaced)], found, space, replaced=replaced)

    def _replaced(self, asking: Sequence[Asked], space: OwnSpace) -> list[Passage]:
        """What gave it before; fewer than are kept, so that what gives it now has a place."""
        told = {passage.version_id: passage for passage in space.replaced_statements(self._read)}
        given = self._givings.first(asking, [(i, passage.text) for i, passage in told.items()])
        return [told[version_id] for version_id in given][: max(1, self._keep - 1)]

    def _in_place_of(self, replaced: Sequence[Passage], told: Iterable[tuple[int, str]]) -> list[int]:
        """Version ids of what the user said otherwise since, newest first, in words that do not tell of what.

        "I swapped my Skoda for a Fiat" does not call it a car; "My car is a Skoda" did.
        """
        found: list[int] = []
        looked_into = 0
        stems = set(content(" ".join(each.text for each in replaced)))
        is_plain = all(stem.isascii() and stem.isalpha() for stem in stems)
        sharing = re.compile("|".join(openings(stems)) if is_plain else "", _I)
        for version_id, text in told if stems else ():
            if text.isascii() and not sharing.search(text):
                continue
            looked_into += 1
            if any(_is_changed_by(passage.text, text) for passage in replaced):
                found.append(version_id)
            if len(found) == self._keep or looked_into == _LOOKED_INTO:
                break
        return found


def _exchanged(asking: Sequence[Asked], told: Iterable[tuple[int, str]]) -> list[int]:
    """The version id of the newest exchange that may be of the kind that is asked for, in a list."""
    meant = (i for i, text in told if any(may_be_meant(one.text, asking) for one in sentences(text)))
    return list(islice(meant, 1))


def _raise(
    giving: Sequence[int],
    found: Retrieved,
    space: OwnSpace,
    *,
    replaced: Sequence[Passage] = (),
    left: int = 0,
) -> Retrieved:
    """What was found, behind these. left: how many more give what is asked for; below 1: none."""
    if not giving and not replaced:
        return found
    known = {candidate.passage.version_id: candidate for candidate in found.candidates}
    known |= _scored(found, space, [i for i in giving if i not in known])
    raised = [_raised(known.pop(i)) for i in giving if i in known]
    raised += [_raised(_unsearched(passage, found)) for passage in replaced]
    raised.sort(key=lambda candidate: -candidate.score)
    order = [*raised, *known.values()]  # what was found stays in its order, which is not by score alone
    ranked = (replace(candidate, found_rank=rank) for rank, candidate in enumerate(order, start=1))
    return replace(found, candidates=tuple(ranked), not_put_first=max(0, left))


def _is_changed_by(earlier: str, later: str) -> bool:
    return any(
        effect(one.text, other.text) in ("value", "negated")
        for one in sentences(earlier)
        for other in sentences(later)
    )


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

"""Which statements of a user give what is asked for; each is read once for it, as its text never changes.

    told, newest first -> those that mention it -> those whose sentences give it -> the first few

What is kept is how a version gives it and none of its words, for the last few things that were asked for.
What is live comes from the database for each question: a version that was removed or forgotten is looked up
no more.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Sequence
from typing import Literal, TypeAlias

from agents.asked_for import GIVINGS, Giving, how_it_gives
from agents.relations.mentions import may_give
from agents.relations.questions import Asked
from agents.sentences import sentences

_How: TypeAlias = Giving | Literal["not at all", "not mentioned"]
_LOOKED_INTO = 1_000  # statements that mention what is asked for, for one question; 0.1 to 0.3 ms each
_MOST_VERSIONS = 40_000  # that are kept of one thing asked for


class Givings:
    """Finds the statements that give what is asked for, and keeps which they were."""

    def __init__(self, *, most: int, kinds: int = 8) -> None:
        """most: statements found for one question. kinds: of things asked for that are kept."""
        self._most = most
        self._kinds = kinds
        self._read: OrderedDict[tuple[Asked, ...], dict[int, _How]] = OrderedDict()

    def first(self, asking: Sequence[Asked], told: Iterable[tuple[int, str]]) -> list[int]:
        """Version ids of what gives it, newest first; of hearsay only where the user never said it.

        told: version ids and texts, the newest first.
        """
        read = self._of(tuple(asking))
        plain: list[int] = []
        at_times: list[int] = []
        passed_on: list[int] = []
        looked_into = 0
        for version_id, text in told:
            if (how := read.get(version_id)) is None:
                how = read[version_id] = _how(text, asking)
            if how == "not mentioned":
                continue
            looked_into += 1
            if how == "plainly":
                plain.append(version_id)
            elif how == "at times":
                at_times.append(version_id)
            elif how == "by hearsay":
                passed_on.append(version_id)
            if len(plain) == self._most or looked_into == _LOOKED_INTO:
                break
        return (plain or at_times or passed_on)[: self._most]

    def _of(self, asking: tuple[Asked, ...]) -> dict[int, _How]:
        """What is kept for what is asked for, by version id."""
        read = self._read.pop(asking, {})
        self._read[asking] = read if len(read) <= _MOST_VERSIONS else {}
        if len(self._read) > self._kinds:
            self._read.popitem(last=False)
        return self._read[asking]


def _how(text: str, asking: Sequence[Asked]) -> _How:
    if not any(may_give(text, one) for one in asking):
        return "not mentioned"
    found = {how_it_gives(sentence.text, asking) for sentence in sentences(text)}
    return next((how for how in GIVINGS if how in found), "not at all")

"""Chooses which of a user's own statements the reader is to read for a question.

The nearest by meaning, the newest, and what either replaced or was replaced by: which of them answers is the
reader's to say.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import chain

from agents.base.interfaces import Candidate, OwnSpace, Vector
from agents.languages.named_days import asked_days, named_days
from agents.languages.signs import SEVERAL_FROM, Languages, is_english
from agents.retrieval.retriever import Retrieved
from stores.base.clock import now
from stores.base.passages import Passage

_NEAR_OF_SEVERAL = 18  # nearest that are read where several statements are asked for
_LOOKED_THROUGH = 200  # newest statements in which days are looked for: 0.1 ms each, the first time
_MOST_FOREIGN = 4  # statements in other languages than English that are looked at beside the others
GIVEN = 2.0  # added to a score: more than meaning, words and lift are together


class OwnStatements:
    """Puts a user's own statements before what was found."""

    def __init__(
        self, *, read: int = 10_000, near: int = 10, newest: int = 4, languages: Languages | None = None
    ) -> None:
        """read: statements looked through for one question, the newest. near, newest: of these, at most.

        languages: tells which statements are not English; see `put_first`.
        """
        self._languages = languages
        self._read = read
        self._near = near
        self._newest = newest

    def put_first(
        self, found: Retrieved, space: OwnSpace, vectors: Sequence[Vector], across: Vector | None = None
    ) -> Retrieved:
        """What was found, behind the user's statements that may answer; ranks are made anew.

        vectors: the question's, and where there is one the question's with the exchange before it; the
        nearest of each are read in turn. across: the question's by what knows other languages; of the nearest
        by it those come along that are not English.
        """
        told = [version_id for version_id, _ in space.statements(self._read)]
        if not told:
            return found
        cosines, *others = (space.similarities(vector, told) for vector in vectors)
        ranked = [sorted(told, key=lambda i: -each.get(i, 0.0)) for each in (cosines, *others)]
        near = list(dict.fromkeys(chain.from_iterable(zip(*ranked, strict=True))))
        most, more = self._near, list[int]()
        if self._asks_for_several(found.query):
            most, more = max(most, _NEAR_OF_SEVERAL), self._naming_days(space, found.query, told)
            more += [c.passage.version_id for c in found.candidates if _is_message(c.passage)][: self._near]
        chosen = list(dict.fromkeys([*more, *near[:most], *told[: self._newest]]))
        chosen = list(dict.fromkeys([*chosen, *self._foreign(space, told, across)]))
        passages = space.passages(chosen)
        passages |= space.linked(passages.values())
        chosen = _said_once([passages[i] for i in dict.fromkeys([*chosen, *passages]) if i in passages])
        words = space.word_scores(found.query, chosen)
        known = {candidate.passage.version_id: candidate for candidate in found.candidates}
        least = min((candidate.score for candidate in found.candidates), default=0.0)
        new = {
            i: Candidate(passages[i], cosines.get(i, 0.0), words.get(i, 0.0), 0.0, least, 0) for i in chosen
        }
        raised = [_raised(known.pop(i) if i in known else each) for i, each in new.items()]
        order = [*sorted(raised, key=lambda candidate: -candidate.score), *known.values()]
        anew = (replace(candidate, found_rank=rank) for rank, candidate in enumerate(order, start=1))
        return replace(found, candidates=tuple(anew))

    def _asks_for_several(self, query: str) -> bool:
        if self._languages is None:
            return False
        (signs,) = self._languages.signs([query])
        return signs.asks_for_several >= SEVERAL_FROM

    def _naming_days(self, space: OwnSpace, query: str, told: Sequence[int]) -> list[int]:
        """Of the newest statements, those that name a day that the query names."""
        if (window := asked_days(query, now().astimezone().date())) is None:
            return []
        texts = space.passages(told[:_LOOKED_THROUGH])
        days = {i: named_days(one.text, one.created_at.astimezone().date()) for i, one in texts.items()}
        return [i for i in told if any(each.meet(window) for each in days.get(i, ()))][: self._near]

    def _foreign(self, space: OwnSpace, told: Sequence[int], across: Vector | None) -> list[int]:
        if across is None or self._languages is None:
            return []
        cosines = space.similarities(across, told)
        nearest = sorted(told, key=lambda i: -cosines.get(i, 0.0))[: self._near]
        texts = space.passages(nearest)
        foreign = [i for i in nearest if i in texts and not is_english(self._languages, texts[i].text)]
        return foreign[:_MOST_FOREIGN]


def _said_once(passages: Sequence[Passage]) -> list[int]:
    """The versions, in their order; of what was said again in the same words the newest alone."""
    newest: dict[str, Passage] = {}
    for passage in passages:
        known = newest.setdefault(passage.text, passage)
        if passage.created_at > known.created_at:
            newest[passage.text] = passage
    return [p.version_id for p in passages if newest[p.text] is p]


def _raised(candidate: Candidate) -> Candidate:
    return replace(candidate, given=GIVEN, score=candidate.score + GIVEN)


def own(passages: Sequence[Passage]) -> list[Passage]:
    """Those that the user who searches said; a fact that was shared is everybody's."""
    return [passage for passage in passages if is_own_words(passage)]


def _is_message(passage: Passage) -> bool:
    return passage.kind == "message" and is_own_words(passage)


def is_own_words(passage: Passage) -> bool:
    """Whether the user who searches said it."""
    return passage.kind in ("message", "note", "fact", "preference", "correction") and not passage.is_shared

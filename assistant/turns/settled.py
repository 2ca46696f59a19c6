"""Words of a message that became knowledge are found there, and no more in the message.

"My locker number is 214." is a message, then a fact, and one day the fact says 310: the message must not
answer any longer, and until then not twice.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from agents.base.interfaces import Candidate


def without_settled(
    candidates: Sequence[Candidate], settled: Mapping[int, Sequence[str]]
) -> tuple[Candidate, ...]:
    """The candidates without these words of theirs; without messages that say nothing else.

    settled: the words by version id, as they stand in its text. Ranks and scores stay what they were.
    """
    left = (_without(candidate, settled.get(candidate.passage.version_id, ())) for candidate in candidates)
    return tuple(candidate for candidate in left if any(map(str.isalnum, candidate.passage.text)))


def _without(candidate: Candidate, words: Sequence[str]) -> Candidate:
    if not words:
        return candidate
    text = candidate.passage.text
    for said in sorted(words, key=len, reverse=True):
        text = text.replace(said, " ")
    return replace(candidate, passage=replace(candidate.passage, text=" ".join(text.split())))

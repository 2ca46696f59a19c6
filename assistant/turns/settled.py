"""Words of a message that became knowledge are found there, and no more in the message.

"My locker number is 214." is a message, then a fact, and one day the fact says 310: the message must not
answer any longer, and until then not twice. A sentence goes or stays as a whole: what is left of half of one
says nothing. Nor does a message that states nothing take the place of what might answer.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from agents.base.interfaces import Candidate
from agents.base.sentences import sentences
from agents.languages.message_sorting import MessageSorter

_SORTED_BEFORE = 12  # others


def without_settled(
    candidates: Sequence[Candidate], settled: Mapping[int, Sequence[str]]
) -> tuple[Candidate, ...]:
    """The candidates without these words of theirs; without messages that say nothing else.

    settled: the words by version id, as they stand in its text. Ranks and scores stay what they were.
    """
    left = (_without(candidate, settled.get(candidate.passage.version_id, ())) for candidate in candidates)
    return tuple(candidate for candidate in left if candidate.passage.text)


def stating_first(order: Sequence[Candidate], sorter: MessageSorter) -> list[Candidate]:
    """The candidates, messages that state nothing behind the others: what was asked before answers nothing.

    What was given its place keeps it. Behind a dozen of others it no longer matters, and nothing is sorted.
    """
    front: list[Candidate] = []
    behind: list[Candidate] = []
    for one in order:
        is_message = one.passage.kind == "message" and not one.given and len(front) < _SORTED_BEFORE
        says_nothing = is_message and not sorter.sorted(one.passage.text).stating
        (behind if says_nothing else front).append(one)
    return [*front, *behind]


def without_words(text: str, words: Sequence[str]) -> str:
    """The sentences of a text that say something besides these words."""
    settled: set[int] = set()  # places in the text
    for said in words:
        begin = text.find(said)
        while said and begin >= 0:
            settled.update(range(begin, begin + len(said)))
            begin = text.find(said, begin + 1)
    left = (
        sentence.text
        for sentence in sentences(text)
        if 2 * sum(text[i].isalnum() and i in settled for i in range(sentence.start, sentence.end))
        < sum(map(str.isalnum, sentence.text))
    )
    return " ".join(left)


def _without(candidate: Candidate, words: Sequence[str]) -> Candidate:
    if not words:
        return candidate
    text = without_words(candidate.passage.text, words)
    return replace(candidate, passage=replace(candidate.passage, text=text))

"""Which memories say in other words what their user said: these are not put between quotation marks.

"I have cats: Tom and Jerry." came of "I have three cats: Tom, Jerry and Kit." and "I no longer have Kit."
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from agents.claim_rules.own_part import plain_text
from agents.sentences import sentences
from stores.records import Passage

MessagesBehind = Callable[[int, Sequence[int]], Mapping[int, Sequence[str]]]
_MEMORIES = ("fact", "preference")  # kinds of passages that are written for claims


def with_reworded_marked(
    passages: Sequence[Passage], user_id: int, messages_behind: MessagesBehind
) -> list[Passage]:
    """The passages; marked, where a sentence of a memory stands in none of the messages behind it.

    messages_behind: of a user, and of versions by id; one that it leaves out was written by hand.
    """
    own = [p.version_id for p in passages if p.kind in _MEMORIES and not p.is_shared]
    behind = messages_behind(user_id, own) if own else {}
    return [
        replace(passage, is_reworded=True)
        if passage.version_id in behind and not _stands_in(passage.text, behind[passage.version_id])
        else passage
        for passage in passages
    ]


def _stands_in(text: str, messages: Sequence[str]) -> bool:
    """Whether each sentence of a text stands in one of the messages, up to capitals, spaces and its stop."""
    said = [_folded(message) for message in messages]
    return all(any(_has(message, _folded(each.text)) for message in said) for each in sentences(text))


def _has(message: str, words: str) -> bool:
    """Whether these words stand in a message as whole words: "I have a cat" is not in "a catalogue"."""
    return words in message and _whole(words).search(message) is not None


def _whole(words: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w){re.escape(words)}(?!\w)", re.ASCII)  # not all scripts part their words


def _folded(text: str) -> str:
    return " ".join(plain_text(text).text.casefold().split()).rstrip(".!… ")

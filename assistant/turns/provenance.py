"""Memories beside the messages that they were made from: what they were said with.

"0.8 for me." is read in "0.4 goes to Fenja for rent. 0.8 for me.", while nothing of that was taken back or
edited.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from agents.base.own_part import plain_text
from stores.base.passages import Passage
from stores.versions.provenance import MessageBehind

MessagesBehind = Callable[[int, Sequence[int]], Mapping[int, Sequence[MessageBehind]]]
_MEMORIES = ("fact", "preference")  # kinds of passages that are written for claims


def beside_their_messages(
    passages: Sequence[Passage], user_id: int, messages_behind: MessagesBehind
) -> list[Passage]:
    """The passages; each memory with the message that says it.

    messages_behind: of a user, and of versions by id; one that it leaves out was written by hand.
    """
    own = [p.version_id for p in passages if p.kind in _MEMORIES and not p.is_shared]
    behind = messages_behind(user_id, own) if own else {}
    return [
        _beside(passage, behind[passage.version_id]) if passage.version_id in behind else passage
        for passage in passages
    ]


def _beside(passage: Passage, messages: Sequence[MessageBehind]) -> Passage:
    """Sentences are found in messages up to capitals, spaces and their stop."""
    whole = [m.text for m in messages if m.holds and _has(_folded(m.text), _folded(passage.text))]
    return replace(passage, said_in=whole[-1] if whole else "")


def _has(message: str, words: str) -> bool:
    """Whether these words stand in a message as whole words: "I have a cat" is not in "a catalogue"."""
    return words in message and _whole(words).search(message) is not None


def _whole(words: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w){re.escape(words)}(?!\w)", re.ASCII)  # not all scripts part their words


def _folded(text: str) -> str:
    return " ".join(plain_text(text).text.casefold().split()).rstrip(".!… ")

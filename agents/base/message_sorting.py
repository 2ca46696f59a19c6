"""What a message does: which of its sentences ask, and whether any states something."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from agents.base.interfaces import Reader
from agents.base.own_part import own_sentences
from agents.base.sentences import is_question

_LIKELY = 0.5  # probability from which a sentence is taken to do it
_REMEMBERED = 1_000  # messages, sorted once: every question is read beside the same ones again


@dataclass(frozen=True)
class MessageSorting:
    """The sentences of one message, sorted."""

    asking: tuple[str, ...]
    stating: tuple[str, ...]
    telling: str = ""  # all that does not ask, also what states nothing by itself
    is_personal: bool = False  # a sentence states something of the user

    @property
    def only_states(self) -> bool:
        """Whether it states something and asks nothing."""
        return bool(self.stating) and not self.asking


class MessageSorter:
    """Sorts the sentences of messages by the reader; without one, a question is what reads as one."""

    def __init__(self, reader: Reader | None = None) -> None:
        self._reader = reader
        self._sorted = lru_cache(maxsize=_REMEMBERED)(self._sort)

    def sorted(self, message: str) -> MessageSorting:
        """What the sentences of a message do."""
        return self._sorted(message)

    def _sort(self, message: str) -> MessageSorting:
        texts = own_sentences(message)
        if self._reader is None:
            asking = tuple(text for text in texts if is_question(text))
            stating = tuple(text for text in texts if text not in asking)
            return MessageSorting(asking, stating, " ".join(stating))
        found = list(zip(texts, self._reader.sort(texts), strict=True))
        return MessageSorting(
            tuple(text for text, sorting in found if sorting.asks >= _LIKELY),
            tuple(text for text, sorting in found if sorting.world + sorting.personal >= _LIKELY),
            " ".join(text for text, sorting in found if sorting.asks < _LIKELY),
            any(sorting.personal >= _LIKELY for _, sorting in found),
        )

"""What a message does: which of its sentences ask, and whether any states something."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache, partial

from agents.base.interfaces import Reader, Sorting
from agents.base.own_part import own_sentences
from agents.base.sentences import is_question
from agents.languages.sentence_cutting import sentences_in
from agents.languages.signs import Languages, is_english

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
    """Sorts the sentences of messages by the reader, or by the heads where there is none.

    Without either a question is what a question mark ends.
    """

    def __init__(self, reader: Reader | None = None, languages: Languages | None = None) -> None:
        """languages: the heads; the reader is then one that leaves to them what it cannot read."""
        self._reader = reader
        self._languages = languages
        self._sorted = lru_cache(maxsize=_REMEMBERED)(self._sort)

    def sorted(self, message: str) -> MessageSorting:
        """What the sentences of a message do."""
        return self._sorted(message)

    def _sort(self, message: str) -> MessageSorting:
        texts = sentences_of(message, self._languages)
        if self._reader is None and self._languages is None:
            asking = tuple(text for text in texts if is_question(text))
            stating = tuple(text for text in texts if text not in asking)
            return MessageSorting(asking, stating, " ".join(stating))
        found = list(zip(texts, self._sortings(texts), strict=True))
        return MessageSorting(
            tuple(text for text, sorting in found if sorting.asks >= _LIKELY),
            tuple(text for text, sorting in found if sorting.world + sorting.personal >= _LIKELY),
            " ".join(
                text for text, sorting in found if sorting.asks < _LIKELY and not self._greets(text, sorting)
            ),
            any(sorting.personal >= _LIKELY for _, sorting in found),
        )

    def _greets(self, text: str, sorting: Sorting) -> bool:
        """Whether a sentence that neither asks nor states is small talk, which answers nothing.

        In English the reader finds that out, and "we speak" may be the answer.
        """
        if self._languages is None or sorting.nothing < _LIKELY or is_english(self._languages, text):
            return False
        (signs,) = self._languages.signs([text])
        return signs.of(("talk",)) >= _LIKELY

    def _sortings(self, texts: Sequence[str]) -> list[Sorting]:
        if self._reader is not None:
            return self._reader.sort(texts)
        assert self._languages is not None, "one of both sorts"
        return [signs.sorting for signs in self._languages.signs(texts)]


def sentences_of(message: str, languages: Languages | None) -> list[str]:
    """The sentences of a message that its user wrote, cut by the rules of its language."""
    return own_sentences(message, partial(sentences_in, languages=languages))

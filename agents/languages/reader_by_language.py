"""A reader for all languages: English is read, and of others the heads say what they can.

Nothing is taken for the same, the opposite, or a newer value of what cannot be read: a link that is missing
costs a line, one that is wrong costs a statement.
"""

from __future__ import annotations

from collections.abc import Sequence

from agents.base.interfaces import (
    AnswerSpan,
    ReadAnswer,
    Reader,
    Reading,
    Relation,
    Sorting,
    Verdict,
    Verification,
)
from agents.base.sentences import is_question
from agents.languages.signs import OF_THE_USER, Languages, is_english

# "Must order netting" may ask or be a plan: where the reader is no surer than this that it asks, and the
# heads are so sure that it is of the user, they say. Of 629 questions in the dev parts of data/everyday and
# data/lookalikes that takes 2 for statements; of 11 statements in the dev part of data/lists that the reader
# takes for questions it leaves 3.
_ASKS_BELOW = 0.97
_OF_THE_USER_FROM = 0.75
_UNKNOWN = Verification(0.0, 0.0, 1.0)
_SAME, _UNRELATED = Relation(1.0, 0.0, 0.0, 0.0, 0.0), Relation(0.0, 0.0, 0.0, 0.0, 1.0)


class ReaderByLanguage:
    """See `Reader`. Reading is the English reader's: who asks it to read looks at the language first."""

    def __init__(self, english: Reader, languages: Languages) -> None:
        self._english, self._languages = english, languages

    @property
    def name(self) -> str:
        return self._english.name

    def read(self, question: str, passages: Sequence[str], *, best: int = 3) -> list[Reading]:
        return self._english.read(question, passages, best=best)

    def judge(self, question: str, passages: Sequence[str]) -> list[Verdict]:
        return self._english.judge(question, passages)

    def answer(self, question: str, passages: Sequence[str], *, best: int = 3) -> list[ReadAnswer]:
        return self._english.answer(question, passages, best=best)

    def answer_in(self, question: str, passage: str, places: Sequence[tuple[int, int]]) -> list[AnswerSpan]:
        return self._english.answer_in(question, passage, places)

    def answer_log_probability(self, question: str, passage: str, answer: str) -> float:
        return self._english.answer_log_probability(question, passage, answer)

    def verify(self, pairs: Sequence[tuple[str, str]]) -> list[Verification]:
        """What cannot be read says nothing of a claim."""
        readable = [pair for pair in pairs if self._reads(pair)]
        read = iter(self._english.verify(readable) if readable else [])
        return [next(read) if self._reads(pair) else _UNKNOWN for pair in pairs]

    def relate(self, pairs: Sequence[tuple[str, str]]) -> list[Relation]:
        """What cannot be read is the same where it has the same letters, and else unrelated."""
        readable = [pair for pair in pairs if self._reads(pair)]
        read = iter(self._english.relate(readable) if readable else [])
        return [next(read) if self._reads(pair) else _related(*pair) for pair in pairs]

    def sort(self, sentences: Sequence[str]) -> list[Sorting]:
        """English by the reader, all else by the heads, and what the reader is not sure to be a question."""
        english = [text for text in sentences if is_english(self._languages, text)]
        others = [text for text in sentences if not is_english(self._languages, text)]
        sorted_ = dict(zip(english, self._english.sort(english) if english else [], strict=True))
        unsure = [t for t, s in sorted_.items() if 0.5 <= s.asks < _ASKS_BELOW and not is_question(t)]
        sorted_ |= {
            text: signs.sorting
            for text, signs in zip(unsure, self._languages.signs(unsure), strict=True)
            if signs.of(OF_THE_USER) >= _OF_THE_USER_FROM
        }
        sorted_ |= {t: s.sorting for t, s in zip(others, self._languages.signs(others), strict=True)}
        return [sorted_[text] for text in sentences]

    def _reads(self, pair: tuple[str, str]) -> bool:
        return all(is_english(self._languages, text) for text in pair)


def _related(one: str, other: str) -> Relation:
    return _SAME if one.split() == other.split() else _UNRELATED

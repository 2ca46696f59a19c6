"""What always holds of a user, and what is not sent unless it is asked for; told by the heads.

`PROFILE_FROM` and `SECRET_FROM` are chosen on the dev part of data/messages; docs/models/heads.md has the
figures of its test part.
"""

from __future__ import annotations

from functools import lru_cache

from agents.base.interfaces import Verdict
from agents.languages.sentence_cutting import sentences_in
from agents.languages.signs import ASKING, Languages, Signs

PROFILE_FROM = 0.25  # probability from which a statement goes with each question: precision 0.71 on dev
SECRET_FROM = 0.35  # probability from which a sentence is kept back: recall 1.0 at precision 0.93 on dev
ASKED_FROM = 0.5  # the judge's score of what says just what is asked for
_ASKS_FROM = 0.5  # probability from which a sentence asks
WITHHELD = "[a secret that Vouch keeps]"
_REMEMBERED = 4_000  # texts


class Secrets:
    """Knows sentences that hold a password, code or key."""

    def __init__(self, languages: Languages | None) -> None:
        """languages: the heads; without them nothing is taken for a secret."""
        self._languages = languages
        self._signs = lru_cache(maxsize=_REMEMBERED)(self._looked_at)

    def holds(self, text: str) -> bool:
        """Whether a sentence of a text is one."""
        return any(self._is_secret(one.text) for one in sentences_in(text, self._languages))

    def may_be_sent(self, text: str, verdict: Verdict | None) -> bool:
        """Whether a text holds none, or is just what is asked for. verdict: the judge's, on the question."""
        asked = verdict is not None and verdict.score >= ASKED_FROM
        return asked or not self.holds(text)

    def withheld(self, text: str) -> str:
        """A message of an earlier turn, without its secrets."""
        kept, at = "", 0
        for one in sentences_in(text, self._languages):
            if self._is_secret(one.text):
                kept, at = f"{kept}{text[at : one.start]}{WITHHELD}", one.end
        return kept + text[at:]

    def _is_secret(self, sentence: str) -> bool:
        return self._languages is not None and self._signs(sentence).secret >= SECRET_FROM

    def _looked_at(self, sentence: str) -> Signs:
        assert self._languages is not None, "asked with heads alone"
        return self._languages.signs([sentence])[0]


def always_holds(signs: Signs) -> bool:
    """Whether a sentence belongs to what goes along with each question, and asks nothing itself."""
    return signs.profile >= PROFILE_FROM and signs.of(ASKING) < _ASKS_FROM

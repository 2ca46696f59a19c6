"""What always holds of a user, and what is not sent unless it is asked for; told by the heads.

`PROFILE_FROM` and `SECRET_FROM` are chosen on the dev part of data/messages; docs/models/heads.md has the
figures of its test part.
"""

from __future__ import annotations

from collections.abc import Sequence

from agents.base.interfaces import Verdict
from agents.base.sentences import Sentence
from agents.languages.sentence_cutting import sentences_in
from agents.languages.signs import ASKING, Languages, Signs

PROFILE_FROM = 0.25  # probability from which a statement goes with each question: precision 0.71 on dev
SECRET_FROM = 0.35  # probability from which a sentence is kept back: recall 1.0 at precision 0.93 on dev
ASKED_FROM = 0.5  # the judge's score of what says just what is asked for
_ASKS_FROM = 0.5  # probability from which a sentence asks
WITHHELD = "[a secret that Vouch keeps]"
_REMEMBERED = 50_000  # sentences
_LONGEST = 8_000  # characters of a text that are looked through


class Secrets:
    """Knows sentences that hold a password, code or key."""

    def __init__(self, languages: Languages | None) -> None:
        """languages: the heads; without them nothing is taken for a secret."""
        self._languages = languages
        self._known: dict[str, bool] = {}  # by sentence

    def holds(self, text: str) -> bool:
        """Whether a sentence of a text is one."""
        return any(is_secret for _, is_secret in self._sorted([text])[0])

    def may_be_sent(self, text: str, verdict: Verdict | None) -> bool:
        """Whether a text holds none, or is just what is asked for. verdict: the judge's, on the question."""
        asked = verdict is not None and verdict.score >= ASKED_FROM
        return asked or not self.holds(text)

    def withheld(self, texts: Sequence[str]) -> list[str]:
        """Messages of earlier turns, without their secrets."""
        kept = []
        for text, sorted_ in zip(texts, self._sorted(texts), strict=True):
            left, at = "", 0
            for one, is_secret in sorted_:
                if is_secret:
                    left, at = f"{left}{text[at : one.start]}{WITHHELD}", one.end
            kept.append(left + text[at:])
        return kept

    def _sorted(self, texts: Sequence[str]) -> list[list[tuple[Sentence, bool]]]:
        """The sentences of each text, and which of them is a secret; all that are new are read at once."""
        if self._languages is None:
            return [[] for _ in texts]
        of_each = [sentences_in(text[:_LONGEST], self._languages) for text in texts]
        new = list(dict.fromkeys(s.text for some in of_each for s in some if s.text not in self._known))
        if len(self._known) + len(new) > _REMEMBERED:
            self._known.clear()
            new = list(dict.fromkeys(s.text for some in of_each for s in some))
        for text, signs in zip(new, self._languages.signs(new), strict=True):
            self._known[text] = signs.secret >= SECRET_FROM
        return [[(sentence, self._known[sentence.text]) for sentence in some] for some in of_each]


def always_holds(text: str, signs: Signs) -> bool:
    """Whether a sentence goes along with each question: it asks nothing itself, and names no address."""
    return signs.profile >= PROFILE_FROM and signs.of(ASKING) < _ASKS_FROM and "://" not in text

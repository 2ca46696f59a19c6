"""What somebody only thinks: the words that say so, and what is thought.

    "I think my neighbour's name is Paul."      "I think "     "My neighbour's name is Paul."
    "My neighbour's name is probably Paul."     "probably"     "My neighbour's name is Paul."

What is thought is kept with these words, and takes the place of nothing that was told without them.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from agents.claim_rules.lead_ins import without_filler

_I = re.IGNORECASE
_LONGEST_READ = 400  # characters


class Doubt(NamedTuple):
    """The words by which somebody says that they are not sure, and what they say."""

    lead: str  # "I think "; empty where the words stand within
    behind: str  # the verb that "probably" stands behind; empty for a lead
    said: str  # without these words

    def on(self, text: str) -> str:
        """A text, told in the same doubt."""
        if self.behind:
            return re.sub(rf"\b{self.behind}\b", f"{self.behind} probably", text, count=1)
        first = text.partition(" ")[0]
        opens_small = f"{text[:1].lower()}{text[1:]}" if first in _SMALL else text
        return f"{self.lead[:1].upper()}{self.lead[1:]}{opens_small}"


_SMALL = frozenset(
    "My Our The A An We It He She They His Her Its Their There This That These Those In On At".split()
)
_SOFTLY = r"(?:(?:just|still|do|really|kind of|rather|also) )*"
_THINKS = re.compile(
    rf"(?:i|we) {_SOFTLY}(?:think|believe|reckon)(?:,? that|,)? (?!(?:so|of|about|in|it over|not)\b)", _I
)
_GUESSES = re.compile(
    rf"(?:(?:i(?:'m| am) )?not (?:quite |so |too |entirely |really |completely |absolutely |100 ?% )?"
    r"(?:sure|certain)(?: about (?:it|this|that))?,? but (?:i (?:think|believe|guess)(?: that)? )?"
    rf"|i {_SOFTLY}(?:guess|suppose|suspect|assume)(?:,? that|,)? |probably,? )",
    _I,
)
_WITHIN = re.compile(r"\b(?P<behind>is|are|am|lives|live|works|work|has|have) probably (?=[\w'])", _I)
_THINKS_LAST = re.compile(
    r"(?<!\bis)(?<!\bare),? (?:i (?:think|believe|guess|suppose|reckon)|probably)(?P<stop>[.!… ]*)$", _I
)
_WORDS = (
    "think",
    "believe",
    "reckon",
    "guess",
    "suppose",
    "suspect",
    "assume",
    "sure",
    "certain",
    "probably",
)
_IS_SO = re.compile(  # what can be known, and is no plan: "my boss is Ann", "I have two cousins there"
    r"(?:(?:my|our|the) [\w'-]+(?: [\w'-]+){0,4}? |(?:i|we|he|she|it|they) |(?-i:[A-ZÀ-Þ])[\w'-]+ )"
    r"(?:is|are|am|was|were|has|have|had|lives?|works?|likes?|comes?|costs?|weighs?|opens?|closes?|starts?|"
    r"leaves?|plays?|speaks?)\b(?! (?:going|about|to)\b)",
    _I,
)
_TO_COME = re.compile(r"\b(?:will|would|shall|should|might|may|could|maybe|perhaps|if)\b|'(?:ll|d)\b", _I)


def doubt(sentence: str) -> Doubt | None:
    """The doubt in which a sentence tells something; None for most, and for plans: "I guess I will go"."""
    small = sentence.lower() if len(sentence) <= _LONGEST_READ else ""
    if not any(word in small for word in _WORDS):
        return None
    plain = sentence.replace("’", "'")
    if thinks := _THINKS.match(plain):
        return Doubt(thinks[0], "", _opened(sentence[thinks.end() :]))
    guesses = _GUESSES.match(plain)
    within = None if guesses else _WITHIN.search(plain)
    last = None if guesses or within else _THINKS_LAST.search(plain)
    found: Doubt | None = None
    if guesses:
        found = Doubt(guesses[0], "", _opened(sentence[guesses.end() :]))
    elif within:
        at = within.end("behind")
        found = Doubt("", within["behind"], sentence[:at] + sentence[within.end() - 1 :])
    elif last:
        found = Doubt("I think ", "", sentence[: last.start()] + last["stop"])
    if found is None or _TO_COME.search(found.said) or not _IS_SO.match(found.said):
        return None
    if within and re.search(rf"\b{within['behind']}\b", plain[: within.start()]):
        return None  # "My aunt is 70 and is probably in Genk": of the one it is certain
    return found


def without_doubt(sentence: str) -> str:
    """What a sentence says, without the words that say that somebody is not sure."""
    found = doubt(sentence)
    return sentence if found is None else found.said


def is_thought(sentence: str) -> bool:
    """Whether its user only thinks what a sentence says, whatever words open it."""
    return doubt(sentence if len(sentence) > _LONGEST_READ else without_filler(sentence)) is not None


def _opened(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}"

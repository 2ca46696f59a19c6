"""What a sentence only supposes or wishes, and says of nothing that it is so.

    "If I had a boat I would call it Zed."    "Maybe I will move to Bern."    supposed
    "I wish I had a dog called Rex."          "I would like a dog."           wished

It is no fact: it is not learned as one, and where it is the only thing near, it is quoted as what it is.
"""

from __future__ import annotations

import re
from typing import Literal, TypeAlias

from agents.claim_rules.lead_ins import without_filler
from stores.lexical import tokens

Supposition: TypeAlias = Literal["supposed", "wished"]

_I = re.IGNORECASE
_LONGEST_READ = 400  # characters
_WE = r"(?:i|we)"
_ONE = r"(?:i|we|he|she|it|they|(?:my|our) [\w-]+(?: [\w-]+)?)"
_SOFTLY = r"(?:(?:really|just|also|still|do|so|sometimes|often|always|very much|kind of) )*"
_CHOSEN = (
    r"(?:be|become|buy|call|choose|get|give|go|have|keep|live|make|marry|move|name|paint|pick|put|sell|study|"
    r"take|travel|want|work)"
)
_BACK_THEN = (  # "As a child I would swim every day" tells what was
    r"(?!.*\b(?:as an? \w+|when (?:i|we|he|she|they) (?:was|were|lived|had)|every|each|back then|in those "
    r"days|"
    r"used to|said|told|asked|thought|promised|knew|swore|since (?:\d{4}|last|then|i was))\b)"
)
_RATHER = r"(?!.*\bover\b)"  # "I'd choose tea over coffee"
_MAY_BE = r"(?:would|could|might|(?:i|we|he|she|it|they)'d)"
_SAY = r"(?:say|tell|add|mention|note)\b"  # what is said is stated
_WISHED = re.compile(
    rf"{_WE} {_SOFTLY}(?:wish(?! (?:you|him|her|them|to\b))|hope(?! (?:my|our)\b)|want (?:an?|one|some|"
    rf"another|to(?! {_SAY}))|long for|dream (?:of|about)(?!.*\b(?:every|each)\b))\b"
    rf"|{_WE}(?:'d| would)(?: really| also| just)* (?:like|love)\b(?! you\b| to {_SAY})"
    r"(?!.*\b(?:than|instead|over)\b)"
    rf"|{_WE}(?:'m| am|'re| are|'ve been| have been) {_SOFTLY}(?:hoping|wishing|longing|dreaming)\b"
    r"|(?:my|our) (?:\w+ )?(?:dream|wish|hope)s? (?:is|are|would be)\b(?! (?:over|gone|with)\b)"
    r"|if only\b|would that\b",
    _I,
)
_OPENS = re.compile(
    r"(?:if only|suppos(?:e|ing)|imagin(?:e|ing)|picture (?:an?|that|this|me|us|the)|what if|assum(?:e|"
    r"ing)|pretend|hypothetically|"
    r"theoretically|in theory|ideally|(?:let's|let us) (?:say|suppose|pretend|assume|imagine)|"
    r"say (?=(?:i|we|my|our)\b)|in (?:my|a|our) (?:dreams?|story|novel|game|fantasy)|"
    r"in an(?:other)? (?:ideal |perfect )?(?:world|life))\b"
    rf"|(?:had|were) (?:i|we|my|our|he|she|it)\b.*\b{_MAY_BE}\b",
    _I,
)
_ANYWHERE = re.compile(
    rf"\bif\b.*\b{_MAY_BE}\b|\b{_MAY_BE}\b.*\bif\b|\bif (?:i|he|she|it|(?:my|our) [\w-]+) were\b"
    r"|\b(?:maybe|perhaps|possibly|presumably|probably|conceivably|as if|as though|"
    r"i (?:guess|suppose|assume(?! (?:the|an?) (?:role|post|office|duties)\b)|bet(?! on\b)))\b"
    rf"|\b{_ONE} might\b|\b(?:i|we|he|she|they) may (?!not\b|\d|have (?:told|said|mentioned)\b)"
    r"|(?-i:[a-z]) would have\b|\bcould have\b"
    rf"|(?<!what )\b{_ONE} would (?!(?:rather|prefer|like|love|say|not|never|die)\b){_BACK_THEN}{_RATHER}"
    rf"|\b{_WE}(?:'d| could) (?!(?:rather|prefer|not)\b)(?:\w+ )?{_CHOSEN}\b{_BACK_THEN}{_RATHER}"
    rf"|\b{_WE}(?:'m| am|'re| are|'ve been| have been) {_SOFTLY}(?:thinking (?:of|about)|considering|"
    r"tempted|toying with)\b",
    _I,
)
_OTHERS_WISH = re.compile(r"\b(?:wish(?:es|ed)?|hopes|wants|would (?:like|love)|dreams of)\b", _I)
_AIM = re.compile(
    rf"{_WE}(?:'d| would)? {_SOFTLY}(?:like|love|want) to\b(?! (?:know|ask|see|hear|thank|understand|say)\b)",
    _I,
)
_TURNS = re.compile(
    r"\s*(?:[;–—]|,? so (?:that )?(?=(?:i|we)\b)|,? (?:but|although|though|whereas|however|"
    r"until then|for now)\b|\.\s)\s*",
    _I,
)
_GOES_ON = re.compile(
    rf"\s*,? and (?=(?:{_WE} (?:may|might|would|could|hope|wish)|maybe|perhaps|probably|possibly)\b)\s*", _I
)
_TURNS_OR_GOES_ON = re.compile(rf"{_TURNS.pattern}|{_GOES_ON.pattern}", _I)
_IF = re.compile(r"\bif\b", _I)
_ASKS = re.compile(
    r"\b(?:would(?! you\b)|could(?! you\b)|'d\b|might|may(?! i\b)|wish\w*|want\w*|hop(?:e|ing)\w*|dream\w*|"
    r"imagin\w*|suppos\w*|if|maybe|perhaps|probabl\w+|possibl\w+|consider\w*|think\w*|thought|guess\w*|"
    r"plan\w*|"
    r"tempted|story|novel|game|fantasy)\b",
    _I,
)


def supposition(sentence: str, question: str = "") -> Supposition | None:
    """How a sentence says what is not so: only supposed or only wished; None where it states something.

    question: what it may answer. Of a sentence that turns ("I live in Bonn, but might move") the part counts
    that has most of its words, else the first.
    """
    plain = without_filler(" ".join(sentence.replace("’", "'").split()))
    if len(plain) > _LONGEST_READ:
        return None
    is_open = _OPENS.match(plain) or _ANYWHERE.search(_GOES_ON.split(plain)[0]) or _IF.search(plain)
    turns = _TURNS if is_open else _TURNS_OR_GOES_ON
    parts = [part for part in turns.split(plain) if part] or [plain]
    asked_of = set(tokens(question))
    part = max(parts, key=lambda one: len(asked_of.intersection(tokens(one))))
    if _WISHED.match(part):
        return "wished"
    return "supposed" if _OPENS.match(part) or _ANYWHERE.search(part) else None


def is_aim(sentence: str) -> bool:
    """Whether a wish tells what somebody means to do, which is worth remembering: "I want to learn Welsh"."""
    return _AIM.match(without_filler(sentence.replace("’", "'"))) is not None


def wishes(sentence: str) -> bool:
    """Whether somebody in a sentence wishes something: "My sister wishes she had a dog called Rex"."""
    return _OTHERS_WISH.search(sentence) is not None


def asks_for_suppositions(question: str) -> bool:
    """Whether a question itself asks for what is supposed or wished: "What would I call my boat?"."""
    return _ASKS.search(question.replace("’", "'")) is not None

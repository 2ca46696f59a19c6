"""What the assistant is asked to do: once, or from now on in how it answers."""

from __future__ import annotations

import re

_I = re.IGNORECASE
_STYLE_WORD = (
    r"(?:answers?|answering|repl(?:y|ies|ying)|respon(?:d|ses?|ding)|messages?|sentences?|units?|metric|"
    r"imperial|celsius|fahrenheit|kilomet\w+|miles|emojis?|bullet ?points?|bullets|lists?|tables?|markdown|"
    r"headings?|paragraphs?|tone|formal(?:ly)?|informal(?:ly)?|short(?:er)?|brief(?:ly)?|concise(?:ly)?|"
    r"detailed|details?|simple|plain|step[- ]by[- ]step|jargon|examples?|exclamation|small talk|"
    r"introductions?|summar(?:y|ies)|sources?|citations?|currency|euros?|dollars|24-hour|questions?|"
    r"apologi\w+|language|english|german|french|spanish|italian|dutch|portuguese|polish|danish|swedish|"
    r"norwegian|finnish|russian|chinese|japanese|polite|direct|honest|friendly|to the point|first name)"
)
_CALL_ME = re.compile(
    r"(?:you (?:can|may|should) )?(?:please )?(?:just )?(?:call|address) me (?:as |by )?"
    r"(?!later|back|tomorrow|when|if|on|at|today|crazy|now)[\w'-]+(?: [\w'-]+){0,3}[.!]*$",
    _I,
)
_STANDING = (
    r"(?:always|never|from now on|in (?:the )?future|every|each|all|your (?:answers|replies|responses|"
    r"messages)|when you|whenever you|don't|do not|stop|avoid)"
)
_WISHED = re.compile(
    rf"^(?P<lasting>(?=.*\b{_STANDING}\b))?(?:from now on,? |in (?:the )?future,? |for the future,? |"
    rf"i(?:'d like| would like| want| need) you to )?(?:please,? )?(?:always |never |don't |do not |just )*"
    r"(?:(?:please )?(?:keep|use|avoid|stop|be|answer|reply|respond|speak|talk|address|skip|limit|format|no|"
    r"write in|write your)\b"
    rf"|(?(lasting)|(?!))(?:give|explain|show|write|include|make|put|start|end|begin|add|list|translate|"
    rf"convert|"
    rf"ask|tell|say|call)\b).*\b{_STYLE_WORD}\b",
    _I,
)
_NOT_WISHED = re.compile(
    r"\b(?:that|claim|state|pretend|send|post|reveal|print|passwords?|codes?|api|https?|users?|everyone|"
    r"everybody|"
    r"anyone|instructions|rules|prompt|memory|this|following|poem|story|essay|letter|email)\b",
    _I,
)
_ORDER_VERBS = frozenset(
    "tell show give write explain describe summarize summarise translate list find compare define calculate "
    "compute remember forget note ignore add delete remove update save store memorize memorise record keep "
    "use make send say repeat create generate draft rewrite check help let suggest recommend remind stop "
    "continue go open run print read look search try imagine do don't be avoid answer reply respond call ask "
    "put take get tell inform announce spread convince teach share post publish reveal follow obey never "
    "always consider "
    "change set correct replace treat accept believe assume prove solve choose pick pretend act wait".split()
)
_BEFORE_ORDER = re.compile(
    r"(?:(?:please|now|then|just|also|kindly|from now on|you (?:can|may|should|could)),? )*", _I
)


def is_order_to_do(text: str) -> bool:
    """Whether a sentence tells the assistant to do something."""
    start = _BEFORE_ORDER.match(text)
    first = re.match(r"[\w']+", text[start.end() if start else 0 :])
    return first is not None and first[0].lower() in _ORDER_VERBS


_TO_FORGET = re.compile(
    r"\W*(?:(?:please|kindly|now|just|ok(?:ay)?|hey|hi|hello|well|actually|and|so|then|vouch|"
    r"assistant),?\s+)*"
    r"(?:(?:can|could|would|will) you |i(?:'d like| would like| want| need) you to |you (?:can|should|must|"
    r"may) )?"
    r"(?:(?:please|just|now|also) )*(?:"
    r"forget(?! (?:to|it for now)\b)(?P<forgotten>\s.+|\W*$)|"
    r"(?:(?:do not|don't|stop|no longer) (?:remember|remembering|store|storing|keep|keeping)|erase|delete|"
    r"remove|wipe|"
    r"unlearn|get rid of)(?P<object>\s+(?:my|our|what|that|where|who|when|everything|anything|all|this|it|"
    r"(?:the|every|any) (?:facts?|notes?|memor(?:y|ies)|messages?|things?|passages?))\b.*))",
    _I | re.DOTALL,
)
_ABOUT = re.compile(r"^\s*(?:about|that|of|from|the fact that)\s+", _I)


def to_forget(text: str) -> str | None:
    """What a sentence asks to be forgotten, empty where it does not say; None where it asks for no such "
    "thing."""
    asked = _TO_FORGET.match(text.replace("’", "'"))
    if asked is None:
        return None
    return _ABOUT.sub("", asked["forgotten"] or asked["object"] or "").strip(" .!?\n")


def asks_to_forget(text: str) -> bool:
    """Whether a sentence asks for something to be forgotten, which a command alone does."""
    return to_forget(text) is not None


def is_standing_wish(text: str) -> bool:
    """Whether a sentence says how this user is to be answered: how short, in what language or units."""
    if _CALL_ME.match(text):
        return True
    return _WISHED.match(text) is not None and _NOT_WISHED.search(text) is None

"""What a user only passes on, and who says it: "My brother says that I live in Oslo."."""

from __future__ import annotations

import re
from typing import NamedTuple

from agents.claim_rules.lead_ins import tells_hearsay, without_endings, without_filler, without_leads
from agents.claim_rules.suppositions import Supposition, supposition


class Hearsay(NamedTuple):
    """A sentence of a user, in two parts."""

    lead: str  # who says it: "My brother says that "; empty where that is told behind it
    said: str  # "I live in Oslo."


def hearsay(text: str) -> Hearsay | None:
    """The parts of a sentence that only passes on what somebody else says; None for any other.

    None too where they do not say it, or the user goes on to say otherwise: "..., but I live in Rome".
    """
    plain = without_filler(text)
    stripped = without_leads(plain)
    heard: Hearsay | None = None
    if stripped is not None and stripped[1]:
        heard = Hearsay(plain[: len(plain) - len(stripped[0])], stripped[0])
    elif led := _PASSES_ON.match(plain):
        heard = Hearsay(led[0], plain[led.end() :])
    elif tells_hearsay(plain) and (said := without_endings(plain)) != plain:
        heard = Hearsay("", said)
    if heard is None or _DENIED.search(heard.lead) or _BUT_THE_USER.search(heard.said):
        return None
    return heard


def only_supposed(text: str, question: str = "") -> Supposition | None:
    """How a sentence says what is not so; as `supposition`, but that somebody said it would be so is hearsay.

    "My boss told me I'd get a raise."  ->  None: what was said was "you will get a raise"
    """
    how = supposition(text, question)
    heard = hearsay(text) if how == "supposed" and _WOULD.search(text) else None
    if heard is None or not _SAID.search(heard.lead) or re.search(r"\bif\b", heard.said, re.IGNORECASE):
        return how
    return supposition(f"{heard.lead}{_WOULD.sub(' will ', heard.said)}", question)


def who_says_so(heard: Hearsay) -> str:
    """In words to the user: "Your brother says so"; "By hearsay" where that would read badly."""
    lead = heard.lead.strip(" ,:").removesuffix(" that")
    if len(lead) > _LONGEST_LEAD or not _SAYS.search(lead):
        return "By hearsay"
    for spoken, to_the_user in _TO_THE_USER:
        lead = spoken.sub(to_the_user, lead)
    return f"{lead[:1].upper()}{lead[1:]} so"


_SOMEBODY = r"(?:(?:my|our|the) [\w-]+(?: [\w-]+)?|(?-i:[A-ZÀ-Þ])[\w-]+)"
_PASSES_ON = re.compile(  # what neither a comma nor a verb of saying marks
    rf"(?:according to {_SOMEBODY}|{_SOMEBODY} (?:has |have )?(?:hinted|promised|suggested|implied|"
    r"guaranteed|swore|warned)(?: (?:to )?(?:me|us))?(?: that)?) (?=(?:i|we|my|our|he|she|they|it)\b)",
    re.IGNORECASE,
)
_WOULD = re.compile(r"(?:['’]d| would) ", re.IGNORECASE)
_SAID = re.compile(
    r"\b(?:said|told|thought|claimed|insisted|heard|assured|informed|hinted|promised|suggested|implied|"
    r"guaranteed|swore|warned)\b",
    re.IGNORECASE,
)
_DENIED = re.compile(r"\b(?:nobody|no one|never|not|wrongly|falsely|mistakenly)\b|n['’]t\b", re.IGNORECASE)
_BUT_THE_USER = re.compile(
    r"\b(?:but|although|though|whereas) (?:actually |in fact |really )?"
    r"(?:I|we|my|our|that|this|it|he|she|they)\b|\bwhich is (?:wrong|false|not true|nonsense)\b",
    re.IGNORECASE,
)
_LONGEST_LEAD = 60  # characters
_SAYS = re.compile(
    r"^(?!according\b|as\b|it\b|there\b|word\b).*\b(?:says?|said|thinks?|thought|claims?|claimed|believes?|"
    r"insists?|insisted|reckons|swears|heard|(?:hinted|promised|suggested|implied|guaranteed|"
    r"swore|warned|tells?|told|assured|informed|reminded)(?: me| us)?)$",
    re.IGNORECASE,
)
_TO_THE_USER = (
    (re.compile(r"\bI was\b"), "you were"),
    (re.compile(r"\bI['’]ve\b"), "you have"),
    (re.compile(r"\b(?:my|our)\b", re.IGNORECASE), "your"),
    (re.compile(r"\b(?:I|me|us|we)\b"), "you"),
)

"""What a user only passes on, and who says it: "My brother says that I live in Oslo."."""

from __future__ import annotations

import re
from typing import NamedTuple

from agents.claim_rules.lead_ins import tells_hearsay, without_endings, without_filler, without_leads


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
    elif tells_hearsay(plain) and (said := without_endings(plain)) != plain:
        heard = Hearsay("", said)
    if heard is None or _DENIED.search(heard.lead) or _BUT_THE_USER.search(heard.said):
        return None
    return heard


def who_says_so(heard: Hearsay) -> str:
    """In words to the user: "Your brother says so"; "By hearsay" where that would read badly."""
    lead = heard.lead.strip(" ,:").removesuffix(" that")
    if len(lead) > _LONGEST_LEAD or not _SAYS.search(lead):
        return "By hearsay"
    for spoken, to_the_user in _TO_THE_USER:
        lead = spoken.sub(to_the_user, lead)
    return f"{lead[:1].upper()}{lead[1:]} so"


_DENIED = re.compile(r"\b(?:nobody|no one|never|not|wrongly|falsely|mistakenly)\b|n['’]t\b", re.IGNORECASE)
_BUT_THE_USER = re.compile(
    r"\b(?:but|although|though|whereas) (?:actually |in fact |really )?"
    r"(?:I|we|my|our|that|this|it|he|she|they)\b|\bwhich is (?:wrong|false|not true|nonsense)\b",
    re.IGNORECASE,
)
_LONGEST_LEAD = 60  # characters
_SAYS = re.compile(
    r"^(?!according\b|as\b|it\b|there\b|word\b).*\b(?:says?|said|thinks?|thought|claims?|claimed|believes?|"
    r"insists?|insisted|reckons|swears|heard|(?:tells?|told|assured|informed|reminded)(?: me| us)?)$",
    re.IGNORECASE,
)
_TO_THE_USER = (
    (re.compile(r"\bI was\b"), "you were"),
    (re.compile(r"\bI['’]ve\b"), "you have"),
    (re.compile(r"\b(?:my|our)\b", re.IGNORECASE), "your"),
    (re.compile(r"\b(?:I|me|us|we)\b"), "you"),
)

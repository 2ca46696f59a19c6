"""Questions for all that is known of whoever asks: "What do you know about me?", "What have I told you?".

Answered with the newest of their own memories, and with nothing that stands in a document.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal, TypeAlias

from agents.chat_interfaces import Source
from agents.claim_rules.speaker import is_of_the_user
from agents.hearsay import only_supposed
from agents.quote_order import Quote, is_own_words, newest_first
from agents.said_here import SESSION

Whole: TypeAlias = Literal["about the user", "told", ""]
MOST_TOLD = 8  # memories that are quoted of all
_MEMORIES = ("note", "fact", "preference", "correction")  # kinds of passages
_LONGEST_READ = 120  # characters
_LEAD = (
    r"\W*(?:(?:and|so|ok(?:ay)?|hi|hey|hello|please|now|vouch)\W+)*(?:(?:can|could|will|would) you )?"
    r"(?:please )?(?:(?:tell me|show me|list|say|remind me of|summari[sz]e|repeat) )?"
)
_ALL = r"(?:what|everything|anything|all|the things|the facts)(?: (?:else|all|that|things|facts|exactly))*"
_TO_ITS_END = r"(?: (?:so far|by now|already|until now|up to now|today|at all|then|now))*\W*"
_KNOW = r"(?:know|remember|learn|learned|learnt|keep|kept|store|stored|save|saved|noted|got|have)"
_ABOUT_THE_USER = (
    rf"{_ALL} (?:(?:do|did|have|has|does) )?(?:you|vouch) (?:(?:already|actually|still|have|do) )*{_KNOW}"
    r"(?: (?:stored|saved|noted|kept|down))? (?:about|of|on|from) (?:me|us|myself)",
    r"(?:tell me |say |describe |something )?(?:something |a bit |all |everything |more )?about "
    r"(?:me|myself)",
    r"describe me",
    r"(?:do|did) you (?:know|remember|learn) (?:anything|something) (?:about|of) (?:me|myself|us)",
    r"who do you think i am",
)
_TOLD = (
    rf"{_ALL} (?:(?:did|have) )?(?:i|we) (?:(?:have|already|ever) )*(?:tell|told|said|say|taught|teach)"
    r"(?: (?:to )?(?:you|vouch))?(?: (?:about|of) (?:me|myself|us))?",
    rf"{_ALL} (?:(?:do|did|have) )?(?:you|vouch) (?:(?:already|still|have) )*(?:know|remember|learned|learnt|"
    r"learn)(?: from me)?",
)
_WORDINGS: tuple[tuple[Whole, re.Pattern[str]], ...] = (
    ("about the user", re.compile(rf"{_LEAD}(?:{'|'.join(_ABOUT_THE_USER)}){_TO_ITS_END}", re.IGNORECASE)),
    ("told", re.compile(rf"{_LEAD}(?:{'|'.join(_TOLD)}){_TO_ITS_END}", re.IGNORECASE)),
)


def asks_for_all(question: str) -> Whole:
    """Whether somebody asks for all that is known of them, or for all that they told; "" for most."""
    plain = " ".join(question.replace("’", "'").split()) if len(question) <= _LONGEST_READ else ""
    return next((whole for whole, wording in _WORDINGS if plain and wording.fullmatch(plain)), "")


def told_of(whole: Whole, texts: Sequence[tuple[int, str]]) -> list[int]:
    """The version ids of what answers it, of statements and in their order; of the user, if any are.

    "The reading room closes at 6" was told, and says nothing of who told it.
    """
    of_the_user = [version_id for version_id, text in texts if is_of_the_user(text)]
    return of_the_user if of_the_user and whole == "about the user" else [i for i, _ in texts]


def quotes_of_all(whole: Whole, sources: Sequence[Source]) -> list[Quote]:
    """The user's own memories among the sources, newest first, and what was said in a private session."""
    own = [
        source
        for source in sources
        if is_own_words(source.passage) and source.passage.is_live
        if source.passage.kind in _MEMORIES or source.passage.space == SESSION
    ]
    meant = set(told_of(whole, [(source.passage.version_id, source.passage.text) for source in own]))
    quotes = [
        Quote(source, " ".join(source.passage.text.split()), 1.0, only=only_supposed(source.passage.text))
        for source in own
        if source.passage.version_id in meant
    ]
    return newest_first(quotes)

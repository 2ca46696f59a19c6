"""What a pronoun means in a sentence that ends something: that of which was told last that somebody has it.

    "My car is a Skoda."          "I sold it last week."         ->  "I sold my car last week."
    "My canary is called Tweety." "She died."                    ->  "My canary died."
    "I work at Acme."             "I no longer work there."      ->  "I no longer work at Acme."

One such thing must have been told last: of two, none is meant. "I quit." means the job, where one is known
and what was told last is of nothing else that can be quit.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from agents.interfaces import Exchange
from agents.joined_clauses import apart
from agents.relations.comparison import relations
from agents.relations.parts import AM, ANIMAL, Relation
from agents.relations.possessions import KIND, NO_KIND
from agents.sentences import sentences
from agents.told_before import told_last

_I = re.IGNORECASE
_LONGEST_READ = 300  # characters
_SOFTLY = r"(?:(?:just|finally|already|recently|now|also|then|have|had to|'ve) ?)*"
_ENDS_IT = re.compile(
    rf"(?P<head>(?:I|We) ?{_SOFTLY}(?:sold|sell|gave|given|got rid of|traded in|scrapped|donated|lost|"
    r"crashed|wrecked|totalled|returned|rehomed|cancelled|canceled|swapped|replaced) )"
    r"(?P<it>it|him|her|them)\b(?P<rest>(?! (?:all|when|while|if)\b).*)$",
    _I,
)
_HAS_DIED = re.compile(
    r"(?P<head>)(?P<it>it|he|she|they) (?P<rest>(?:(?:has|have|just|sadly) )*(?:died|passed away|was (?:"
    r"stolen|sold|put (?:down|to sleep)|run over))\b.*)$",
    _I,
)
_NO_MORE_THERE = re.compile(
    rf"(?P<head>(?:I|We) (?:no longer|{AM}(?:stopped|quit)|(?:do not|don't)) (?:work|working|live|"
    r"living)) there\b(?P<rest>.*)$",
    _I,
)
_IS_THERE = re.compile(
    rf"(?:I|We) {AM}(?:work|working|live|living) (?P<there>(?:at|for|in) (?:the )?(?-i:[A-ZÀ-Þ])[\w'-]*"
    r"(?: (?-i:[A-ZÀ-Þ])[\w'-]*)*)",
    _I,
)
_MINE = re.compile(rf"(?P<whose>my|our) {KIND} (?:is|are) (?:called |named |an? )?(?-i:[A-ZÀ-Þ])", _I)
_OWNED = re.compile(
    r"(?P<whose>I|We)(?:'ve got| have| own| drive| ride| keep| have got) (?:an?|one) "
    r"(?P<kind>(?:(?-i:[a-z])[\w-]* ){0,2}?(?-i:[a-z])[\w-]*)"
    r"(?= (?:called|named|in|at|on|with|from|for)\b|[.!]*$)",
    _I,
)
_ANIMATE = re.compile(rf"(?:{ANIMAL}|pet)$", _I)
_NOBODYS = re.compile(  # one of these is not sold
    r"\b(?:boss|doctor|dentist|teacher|wife|husband|partner|brother|sister|son|daughter|mother|father|friend|"
    r"name|number|address|age|job|favou?rite|birthday|code|password|street|town|city)s?\b",
    _I,
)


def with_what_is_ended(text: str, before: str, earlier: Sequence[Exchange]) -> str | None:
    """A sentence that ends something, with what its pronoun means; None where it ends nothing or in doubt.

    before: the sentence before it in the message. earlier: oldest first, looked at where there is none.
    """
    plain = text.replace("’", "'")
    if len(plain) > _LONGEST_READ:
        return None
    there = _NO_MORE_THERE.match(plain)
    ended = there or _ENDS_IT.match(plain) or _HAS_DIED.match(plain)
    if ended is None:
        return None
    told = apart(before) if before else told_last(earlier)
    read = [each for each in told if len(each) <= _LONGEST_READ]
    if there is not None:
        places = {found["there"] for each in read if (found := _IS_THERE.match(each))}
        return f"{there['head']} {places.pop()}{there['rest']}" if len(places) == 1 else None
    things = {thing for each in read if (thing := _thing_of(each, ended["it"].lower()))}
    if len(things) != 1:
        return None
    put = f"{ended['head']}{things.pop()}{' ' if not ended['head'] else ''}{ended['rest']}"
    return put[0].upper() + put[1:]


def _thing_of(told: str, pronoun: str) -> str:
    """What a statement says its user to have, if the pronoun can mean it; else nothing."""
    found = _MINE.match(told) or _OWNED.match(told)
    if found is None or NO_KIND.search(found["kind"]) or _NOBODYS.search(found["kind"]):
        return ""
    if (
        pronoun in ("he", "him", "she", "her")
        and not _ANIMATE.search(found["kind"])
        and not _IS_SHE.search(found["kind"])
    ):
        return ""
    whose = "our" if found["whose"].lower() in ("we", "our") else "my"
    return f"{whose} {found['kind']}"


_QUITS = re.compile(
    rf"(?P<head>(?:I|We)(?:'ve| have)? ?{_SOFTLY}quit)"
    r"(?P<when>(?: (?:today|yesterday|this (?:morning|afternoon|week|month)|last (?:night|week|month|year)|"
    r"on \w+day|for good|(?:in|at the (?:start|end) of) [A-Z]\w+))*)[.!]*$",
    _I,
)
_OF_WORK = re.compile(
    r"\b(?:jobs?|work(?:ing|ed|s)?|boss|company|office|shifts?|salary|manager|notice)\b", _I
)
_QUIT_TOO = re.compile(  # what else one quits
    r"\b(?:smok|cigar|vap|drink|drank|alcohol|wine|beer|gym|club|choir|band|team|course|class|lesson|diet|sugar|"
    r"coffee|school|universit|college|stud[yi]|degree|gam(?:e|ing)|play|learn|train|chess|facebook|instagram|"
    r"social media|medicine|tablet|pill|meat|therapy|swim|run)\w*",
    _I,
)


def with_the_job(text: str, before: str, earlier: Sequence[Exchange], known: Sequence[str]) -> str | None:
    """ "I quit." as "I quit my job.", where that is surely meant; None for all else.

    known: the user's newest statements that hold.
    """
    quits = _QUITS.match(text.replace("’", "'")) if len(text) <= _LONGEST_READ else None
    if quits is None:
        return None
    told = [before] if before else [exchange.message for exchange in earlier[-_LOOKED_BACK:]]
    if any(_QUIT_TOO.search(each[-_LONGEST_READ:]) for each in told):
        return None
    said = {one.text for each in (*known, *told) for one in sentences(each[:_LONGEST_READ])}
    jobs = {one.value for each in said for one in relations(each) if _is_own_job(one)}
    is_of_work = any(_OF_WORK.search(each) or any(map(_is_own_job, relations(each))) for each in told[-1:])
    if len(jobs) != 1 or ("!" in text and not is_of_work):  # "I quit!" may be of anything
        return None
    return f"{quits['head']} my job{quits['when']}."


def _is_own_job(given: Relation) -> bool:
    return given.name == "workplace" and not given.of and not given.over


_LOOKED_BACK = 2  # earlier messages
_IS_SHE = re.compile(r"\b(?:boat|ship|yacht|car|bike|motorbike|van)$", _I)

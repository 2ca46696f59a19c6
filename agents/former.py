"""Questions for what held before: "What was my old phone number?", "Where did I live before?".

They ask for what the present question asks for, of what was replaced since or was said to hold no more. Who
asks in the past tense alone ("What was my pin?") may mean either, and is told both where both are known.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from agents.asked_for import asked_for, asks_for_a_group, how_it_gives, may_be_meant
from agents.chat_interfaces import Source
from agents.groups_told import had_before
from agents.quote_order import Quote, is_own_words, newest_first, told_at
from agents.relations.questions import Asked, says_no_more
from agents.sentences import sentences
from agents.values import content

_I = re.IGNORECASE
_BEFORE = (
    r"(?:before|previously|earlier|formerly|in the past|until then|back then)(?: (?:that|this|(?:i|we) .+))?"
)
_OLD = r"(?:old|former|previous|prior)"
_WAS_OLD = rf"(?:was|were) (?P<whose>my|our) (?:{_OLD}|earlier|last(?! name))"  # and not "my last exam is"
_FORMER = (
    (rf"(?P<ask>what|who|where|which) {_WAS_OLD} (?P<what>.+)", "is"),
    (rf"(?P<ask>what|who|where|which) (?:is|are) (?P<whose>my|our) {_OLD} (?P<what>.+)", "is"),
    (rf"(?P<ask>what|who|where|which) (?:was|were) (?P<whose>my|our) (?P<what>.+?),? {_BEFORE}", "is"),
    (rf"(?P<ask>.+?) did (?P<whose>i|we) (?:use to )?(?P<what>(?!do\b).+?),? {_BEFORE}", "do"),
    (r"(?P<ask>.+?) did (?P<whose>i|we) use to (?P<what>.+)", "do"),
)
_WORDINGS = [(re.compile(wording, _I), verb) for wording, verb in _FORMER]
_PAST = [
    (re.compile(wording, _I), verb)
    for wording, verb in (
        (r"(?P<ask>what|who|where|which) (?:was|were) (?P<whose>my|our) (?P<what>.+)", "is"),
        (r"(?P<ask>.+?) did (?P<whose>i|we) (?P<what>(?!do\b).+)", "do"),
    )
]
_LONGEST_READ = 200  # characters
_USED_TO = re.compile(r"\bdid (?:i|we) used? to (?P<what>.+)", _I)
_USED = re.compile(r"\bus(?:e|es|ed|ing)\b", _I)
_WAS_SO = re.compile(r"\b(?:used to|no longer|any ?more|until|before|ago)\b", _I)


def former_of(question: str) -> str | None:
    """The question for what holds now of what one asks of before; None for all other questions.

    "What was my old phone number?"  ->  "What is my phone number?"
    """
    return _as_of_now(question, _WORDINGS)


def past_of(question: str) -> str | None:
    """The question for what holds now of what one asks of in the past tense, without "before"; mostly None.

    "What was my pin?"  ->  "What is my pin?"    None too where what is asked for is not understood.
    """
    if former_of(question) is not None or asked_for(question):
        return None
    present = _as_of_now(question, _PAST)
    is_understood = present is not None and any(one.names or one.group for one in asked_for(present))
    return present if is_understood else None


def _as_of_now(question: str, wordings: Sequence[tuple[re.Pattern[str], str]]) -> str | None:
    if len(question) > _LONGEST_READ:
        return None
    plain = re.sub(r"\b(what|who|where)['’]s\b", r"\1 is", question.strip(" ?!."), flags=_I)
    for wording, verb in wordings:
        if found := wording.fullmatch(plain):
            return f"{found['ask']} {verb} {found['whose']} {found['what']}?"
    return None


def asked_of_before(question: str) -> list[Asked]:
    """What a question asks for as it was before; none for most."""
    present = former_of(question)
    return [] if present is None else asked_for(present)


def only_sounds_former(question: str, sentence: str) -> bool:
    """Whether a sentence tells what was used for something, where it is asked what one used to do or have.

    "What did I use to have?"  and  "I used 918273 for the alarm."
    """
    asks = _USED_TO.search(question)
    if asks is None or not _USED.search(sentence) or _WAS_SO.search(sentence):
        return False
    return set(content(asks["what"])).isdisjoint(content(sentence))


def quotes_of_before(question: str, sources: Sequence[Source], *, most: int) -> list[Quote]:
    """What the user said to hold before, or said otherwise since; else what holds now, marked as all known.

    Empty where it asks for no such thing, or nothing of it is known. An exchange that does not say of what
    kind it was ("I swapped my Skoda for a Fiat") is told in doubt, where nothing else is known.
    """
    asking = asked_of_before(question)
    own = _own(asking, sources)
    given = _given(asking, own)
    before = _over(given, asking)
    before = before or [replace(quote, is_earlier=False) for quote in newest_first(given) if quote.is_earlier]
    if not before and asks_for_a_group(asking):
        before = [replace(quote, is_earlier=True) for quote in had_before(given, own)]
    if not given:
        exchanged = [replace(quote, is_sure=False) for quote in own if may_be_meant(quote.text, asking)]
        before = sorted(exchanged, key=told_at, reverse=True)[:1]
    return before[:most] or [Quote(q.source, q.text, 1.0, is_only_now=True) for q in given[:1]]


def quotes_of_then_and_now(question: str, sources: Sequence[Source], *, most: int) -> list[Quote]:
    """What holds now and what held before, for who asks in the past tense alone; or what held, if only that.

    Empty where nothing is known to have held before: then the question is like one for what holds now.
    """
    present = past_of(question)
    asking = [] if present is None else asked_for(present)
    given = _given(asking, _own(asking, sources))
    over = _over(given, asking)
    standing = newest_first([quote for quote in given if quote not in over])
    earlier = [*over, *(quote for quote in standing if quote.is_earlier)]
    now = [replace(quote, is_now=True) for quote in standing if not quote.is_earlier][:1]
    return [*now, *earlier][:most] if earlier else []


def _own(asking: Sequence[Asked], sources: Sequence[Source]) -> list[Quote]:
    """The user's sentences, in the order of the sources; none where nothing is asked for."""
    own = [source for source in sources if is_own_words(source.passage)] if asking else []
    return [Quote(each, one.text, 1.0) for each in own for one in sentences(each.passage.text)]


def _given(asking: Sequence[Asked], own: Sequence[Quote]) -> list[Quote]:
    """Those that give what is asked for as the user's own word."""
    return [quote for quote in own if how_it_gives(quote.text, asking) == "plainly"]


def _over(given: Sequence[Quote], asking: Sequence[Asked]) -> list[Quote]:
    """Those that were replaced, or say themselves that it holds no more; told last comes first."""
    over = [quote for quote in given if not quote.source.passage.is_live or says_no_more(quote.text, asking)]
    return sorted(over, key=told_at, reverse=True)

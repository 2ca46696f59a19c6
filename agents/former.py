"""Questions for what held before: "What was my old phone number?", "Where did I live before?".

They ask for what the present question asks for, of what was replaced since or was said to hold no more.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from agents.asked_for import asked_for, how_it_gives
from agents.interfaces import Source
from agents.quote_order import Quote, is_own_words, newest_first, told_at
from agents.relations.questions import Asked, says_no_more
from agents.sentences import sentences

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
_LONGEST_READ = 200  # characters


def former_of(question: str) -> str | None:
    """The question for what holds now of what one asks of before; None for all other questions.

    "What was my old phone number?"  ->  "What is my phone number?"
    """
    if len(question) > _LONGEST_READ:
        return None
    plain = re.sub(r"\b(what|who|where)['’]s\b", r"\1 is", question.strip(" ?!."), flags=_I)
    for wording, verb in _WORDINGS:
        if found := wording.fullmatch(plain):
            return f"{found['ask']} {verb} {found['whose']} {found['what']}?"
    return None


def asked_of_before(question: str) -> list[Asked]:
    """What a question asks for as it was before; none for most."""
    present = former_of(question)
    return [] if present is None else asked_for(present)


def quotes_of_before(question: str, sources: Sequence[Source], *, most: int) -> list[Quote]:
    """What the user said to hold before, or said otherwise since; else what holds now, marked as all known.

    Empty where it asks for no such thing, or nothing of it is known.
    """
    asking = asked_of_before(question)
    own = [source for source in sources if is_own_words(source.passage)] if asking else []
    given = [
        Quote(source, sentence.text, 1.0)
        for source in own
        for sentence in sentences(source.passage.text)
        if how_it_gives(sentence.text, asking) == "plainly"
    ]
    before = [q for q in given if not q.source.passage.is_live or says_no_more(q.text, asking)]
    before.sort(key=told_at, reverse=True)
    before = before or [replace(quote, is_earlier=False) for quote in newest_first(given) if quote.is_earlier]
    return before[:most] or [Quote(q.source, q.text, 1.0, is_only_now=True) for q in given[:1]]

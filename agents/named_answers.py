"""Whether the words that a reader calls the answer are what a user's sentence says to hold.

    "I sold the Skoda, I drive a blue Fiat now."   What do I drive?           "Skoda"  ->  "blue Fiat"
    "I moved from Leeds to York."                  Where do I live?           "Leeds"  ->  "York"
    "I'm not learning Welsh any more."             What am I learning?        "Welsh"  ->  nothing

A reader finds words of the kind that is asked for; a sentence that tells of a change has two of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from agents.asked_for import asked_for
from agents.claim_rules.doubts import is_thought
from agents.claim_rules.suppositions import asks_for_suppositions, supposition, wishes
from agents.relations.comparison import relations
from agents.relations.questions import Asked, says_no_more
from agents.values import content, pieces

_I = re.IGNORECASE
_LONGEST_READ = 300  # characters
_TO_ITS_END = r"(?=[,;:.!?]|\s+(?:and|but|so|for|because|since|to|when|after)\b|$)"
_CHANGES = (
    r"(?:mov|relocat|emigrat|switch|chang|swapp|transferr|rais|increas|lower|reduc|cut|dropp|postpon|"
    r"reschedul|delay|went|gone|ris|rose|fell|renam)\w*"
)
_NOW = r"(?:now|nowadays|these days|currently|today)"
_SAYS_NOW = re.compile(
    r"^(?:now|currently),? (?=\w)|(?<=\w),? (?:now|nowadays|these days|currently|instead)$", _I
)
_OVER = [
    re.compile(wording, _I)
    for wording in (
        rf"\b{_CHANGES}\b[^,;.]*? from (?P<over>[^,;]+?) (?:in)?to\b",
        r"\b(?:moved|went) (?:away from|out of) (?P<over>[^,;.]+)",
        r"\b(?:swapped|traded|exchanged|switched|left) (?P<over>[^,;.]+?) (?:in )?for\b",
        r"\b(?:replaced|substituted) (?P<over>[^,;.]+?) (?:with|by)\b",
        r"\bnot (?!(?:only|just|merely|simply)\b)(?P<over>[^,;.]+?),? but\b",
        r"\b(?:instead of|rather than|in place of) (?P<over>[^,;.]+)",
        r"(?:,| and) (?:and )?not (?P<over>[^,;.]+)",
        r"\bno longer (?P<over>[^,;.]+?)(?=,|;|\.|\s(?:and|but)\b|$)",
        r"(?P<over>(?:\bnot|n['’]t)\b[^,;.]* any ?(?:more|longer)\b)",
        r"\bused to (?P<over>(?!(?:[^,;.]+ )?(?:it|that)\b)[^,;.]+?)(?=,|;|\.|\s(?:and|but|until)\b|$)",
        rf"\b(?:sold|quit|left|gave up|given up|gave away|stopped|got rid of|gotten rid of|lost|ditched|"
        rf"scrapped|returned(?! (?:to|from|home|back)\b)|cancelled|canceled|retired from|resigned from) "
        rf"(?P<over>[^,;.]+?){_TO_ITS_END}",
        r"\b(?:my|our|the) (?P<over>[\w' -]+?) (?:has |have )?(?:died|passed away)\b",
        r"\b(?:broke|broken|split) up with (?P<over>[^,;.]+)",
        rf"\b(?:was|were|had|lived|worked|drove|rode|drank|ate|played|studied) (?P<over>[^,;]+?)"
        rf"(?=[,;]|\s(?:and|but)\b).*\b{_NOW}\b",
    )
]
_DENIED = re.compile(r"(?:\b(?:not|never)|n['’]t)\b(?! (?:only|just|merely|simply)\b)(?P<over>[^,;.]+)", _I)
_OF_WHAT_IS_OVER = re.compile(  # "Where did I move to?" asks for what holds
    r"\b(?:did(?! (?:i|we) (?:just )?(?:move|switch|change) to)|was|were|had|used to|before|old|former|not|"
    r"never|no longer|stop\w*|quit|left|leave|sold|sell|gave|give|given|lost|lose)\b|n['’]t\b",
    _I,
)

_IF = re.compile(r"\bif (?:i|we|my|our|he|she|they|it)\b", _I)


def that_holds(answer: str, sentence: str, question: str) -> str:
    """The answer where it holds; else what a rule knows the sentence to give, or nothing.

    answer: words of the sentence. Who asks for what is over is given what the reader found. That it is so
    now is no part of it: "Thursdays", of "I swim on Thursdays now".
    """
    held = _that_holds(answer, sentence, question)
    return _SAYS_NOW.sub("", held) or held


def _that_holds(answer: str, sentence: str, question: str) -> str:
    if not answer or len(sentence) > _LONGEST_READ or _OF_WHAT_IS_OVER.search(question):
        return answer
    if not asks_for_suppositions(question) and (
        _IF.search(sentence) or wishes(sentence) or supposition(sentence, question) is not None
    ):
        return ""
    if is_thought(sentence):
        return ""  # the quotation says that it is only thought
    asking = asked_for(question)
    given = _given(sentence, asking)
    if not given and says_no_more(sentence, asking):
        return ""  # whoever is named there is so no more: "Marta and I broke up"
    if given:
        return (
            answer
            if given & set(content(answer)) and _stands(answer, sentence, question)
            else (_words_of(given, sentence))
        )
    return answer if _stands(answer, sentence, question) else ""


def _given(sentence: str, asking: Sequence[Asked]) -> set[str]:
    """The stems of what the sentence gives for what is asked for; none for most."""
    return {
        item
        for one in relations(sentence)
        for each in asking
        if not one.over and one.of == each.of
        if one.name in each.names or one.name == " ".join(each.says)
        for item in one.value
    }


def _stands(answer: str, sentence: str, question: str) -> bool:
    """Whether the answer stands somewhere in the sentence without any word of what is over."""
    over = list(_over(sentence, question))
    found = re.finditer(rf"(?<!\w){re.escape(answer)}(?!\w)", sentence)
    return not over or any(
        all(one.end() <= start or end <= one.start() for start, end in over) for one in found
    )


def _over(sentence: str, question: str) -> Iterator[tuple[int, int]]:
    """Where a sentence names what holds no more, or denies what is asked for."""
    for wording in _OVER:
        for found in wording.finditer(sentence):
            yield found.span("over")
    asked_of = set(content(question))
    for denied in _DENIED.finditer(sentence):
        if asked_of & set(content(denied["over"])):
            yield denied.span("over")


def _words_of(items: set[str], sentence: str) -> str:
    """The shortest words of a sentence that say all of this, the last of them; empty where none do."""
    parts = [part for part in pieces(sentence) if part[2]]
    windows = (
        (end[1] - start[0], -start[0], sentence[start[0] : end[1]])
        for place, start in enumerate(parts)
        for end in parts[place:]
        if items <= {item for part in parts if start[0] <= part[0] <= end[0] for item in part[2]}
    )
    return min(windows, default=(0, 0, ""))[2]

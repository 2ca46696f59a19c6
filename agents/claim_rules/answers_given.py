"""What is stated by naming a question and its answer: the answer to "Who wrote it?" is Ann."""

from __future__ import annotations

import re

_I = re.IGNORECASE
_QUESTION = r'"(?P<question>[^"]{3,300}\?)"'
_IS = r"(?:is|was|turned out to be|would be):? "
_NOT_DENIED = r"(?!not\b|n't\b|never\b|nothing\b|unknown\b|unclear\b|wrong\b|what\b)"
_SAYS_HOW = (  # an answer is, and not which
    r"(?!(?:very |quite |so |really |too )?(?:obvious|easy|hard|simple|clear|difficult|complicated|important|"
    r"interesting|surprising|a secret|a mystery)[.!]*$)"
)
_ANSWER = rf'{_NOT_DENIED}{_SAYS_HOW}(?P<answer>[^"?]{{1,200}}?)[.!]*$'
_NOUN = r"(?:the|its) (?:\w+ )?(?:answer|reply|solution)"
_BEHIND_ANSWER = re.compile(rf"{_NOUN} (?:to|of|for) {_QUESTION},? {_IS}{_ANSWER}", _I)
_BEFORE_ANSWER = re.compile(rf"{_QUESTION},?:? (?:(?:and|that|to which) )?{_NOUN} {_IS}{_ANSWER}", _I)
_ASKED = re.compile(rf"{_QUESTION}$", _I)
_ANSWERS = re.compile(rf"(?:and )?{_NOUN} {_IS}{_ANSWER}", _I)
_LONGEST_LEAD, _LONGEST_QUESTION = 120, 305  # characters
_NOT_SURE = re.compile(r"\b(?:if|whether|unless|suppose|imagine|say|not|don't|doubt|wonder)\b|n't\b", _I)


def answer_given(text: str) -> str | None:
    """The question and the answer that a sentence names, as one statement; None where it does not."""
    if not 0 <= text.find('"') <= _LONGEST_LEAD:
        return None
    for form in (_BEHIND_ANSWER, _BEFORE_ANSWER):
        found = form.search(text)
        if found is not None and _NOT_SURE.search(text[: found.start()]) is None:
            return _stated(found["question"], found["answer"])
    return None


def with_its_question(text: str, before: str) -> str:
    """A sentence that names an answer, with the question that ends the sentence before it; else as it is."""
    asked = _ASKED.search(before[-_LONGEST_QUESTION:])
    found = _ANSWERS.match(text) if asked is not None else None
    if asked is None or found is None or _NOT_SURE.search(before[: before.find('"')]) is not None:
        return text
    return _stated(asked["question"], found["answer"])


def _stated(question: str, answer: str) -> str:
    return f'The answer to "{question}" is {answer}.'

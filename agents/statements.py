"""Messages that state something and ask nothing: "My cat is called Ada." """

from __future__ import annotations

import re

from agents.claim_rules.corrections import right_words
from agents.claim_rules.statements import is_plainly_said
from agents.sentences import is_question, sentences

_ASKS_TO_REMEMBER = re.compile(
    r"\W*(please )?(remember|note|keep in mind)( that| this|:)", re.IGNORECASE
)  # not "remember when"
_ASKS_TO_KEEP_THAT = re.compile(
    r"\W*(?:please |and )*(?:(?:can|could|would|will) you )?(?:please )?(?:remember|note|keep|"
    r"save)(?: (?:that|this|it))"
    r"(?: down| in mind)?(?: for (?:me|later))?(?: please)?\W*",
    re.IGNORECASE,
)
_FIRST_PERSON = re.compile(r"\b(i|i'm|i've|i'd|my|mine|me|we|we're|our|ours|us)\b", re.IGNORECASE)


def tells(message: str) -> bool:
    """The message states something and asks nothing; bare words are taken as something to look up."""
    if _ASKS_TO_REMEMBER.match(message):
        return True
    stated = [s.text for s in sentences(message) if not _ASKS_TO_KEEP_THAT.fullmatch(s.text)]
    return any(map(_is_statement, stated)) and not any(map(is_question, stated))


def _is_statement(sentence: str) -> bool:
    return right_words(sentence) is not None or (
        len(sentence.split()) >= 2
        and (
            sentence.rstrip("\"'”’)").endswith((".", "!"))
            or _FIRST_PERSON.search(sentence) is not None
            or is_plainly_said(sentence)
        )
    )

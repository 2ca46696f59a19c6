"""A question about the assistant that does not name it is searched with its name.

    "can you read word documents?"  ->  "can Vouch read word documents?"
    "is this free?"                 ->  "is Vouch free?"

What is written about Vouch names it; whoever talks to it says "you", "it" or "this". What asks for somebody's
own memory ("do you remember ...") stays as it is, and so does an "it" that may stand for something else.
"""

from __future__ import annotations

import re

NAME = "Vouch"

_ASKS = re.compile(
    r"\W*(?:(?:and|but|so|ok|okay|hi|hello|please)\W+)*"
    r"(?:how|why|what|which|where|when|who|can|could|do|does|don't|will|would|is|are|should)\b",
    re.IGNORECASE,
)
_OF_WHAT_WAS_TOLD = (  # asks for what was told, for another answer, or after a person
    "believe|enjoy|explain|feel|find|get|give|guess|have|hear|help|know|like|list|live|look|love|mean|please|"
    "prefer|recommend|remember|remind|say|see|show|suggest|summari[sz]e|tell|think|translate|want|wish|write"
)
_ADDRESSED = re.compile(
    rf"\b(can|could|do|will|would|are)(n't)? you\b"
    rf"(?! (?:(?:also|ever|still|please|just) )*(?:{_OF_WHAT_WAS_TOLD})\b)",
    re.IGNORECASE,
)
_OF_ANYBODY = re.compile(  # "how do you tune a lute": not where an assistant is likelier meant than a person
    r"\W*(?:how|what|when|where|which|who|why)\b"
    r"(?!.* you (?:read|speak|understand|support|send|answer|learn from|"
    r"(?:store|keep|save) (?:my|your|our|what i))\b)(?!.*n't you\b)",
    re.IGNORECASE | re.DOTALL,
)
_DONE_TO_YOU = re.compile(
    r"\b(make|stop|let|teach|update|install|uninstall|use|move|train|run) you\b", re.IGNORECASE
)
_OWN_AFFAIRS = re.compile(r"\b(?:my|mine|our|ours|he|she|they)\b|,|;", re.IGNORECASE)
_JOINS = re.compile(r"\b(?:and|or|if|because|but)\b", re.IGNORECASE)
_NAMED = re.compile(r"(?<=\w )(?!I\b)[A-Z]")
_POINTED_AT = re.compile(
    r"(?:(?:how|why|what|which)\b(?: [\w-]+){0,3}? )?"  # how much disk space
    r"(?:do|does|can|could|will|would|should|is)(?:n't)? "
    r"(?:(?:i|we|you|people|anybody|(?:two|many|other) [a-z]+) (?:need to |have to )?[a-z]+ )?"  # i use
    r"(it|this)\b",
    re.IGNORECASE,
)
_PRONOUN_NOT_ARTICLE = re.compile(
    r"\W*$|\W+(?:at|for|from|in|on|over|under|with|without|work|cost|need|run|use)\b"
)
_OF_NOTHING = re.compile(  # the weather, the hour, "is it possible to ..."
    r" \w+ (?:to|that|if|when|for)\b"
    r"| (?:\w+ )?(?:raining|snowing|late|early|cold|warm|hot|dark|true|over|rain|snow)\b"
)
_OF_THE_HOUR = re.compile(r"what (?:time|day|date|month|year|weekday)\b", re.IGNORECASE)


def with_its_name(message: str, *, is_first: bool) -> str:
    """The message with the assistant's name where it is meant. is_first: nothing was said before it."""
    if NAME.lower() in message.lower() or not _ASKS.match(message) or message.rstrip().endswith((".", "!")):
        return message
    named = message if _OF_ANYBODY.match(message) else _ADDRESSED.sub(_named_subject, message)
    named = _DONE_TO_YOU.sub(rf"\1 {NAME}", named)
    return _named_for_pointer(message) if named == message and is_first else named


def _named_subject(found: re.Match[str]) -> str:
    verb, negation = found[1], found[2] or ""
    verb = {"do": "does", "are": "is"}.get(verb.lower(), verb)
    verb = verb.capitalize() if found[1][0].isupper() else verb
    return f"{verb}{negation} {NAME}"


def _named_for_pointer(message: str) -> str:
    """The message with the name for an "it" or "this" before which nothing was named that it could mean."""
    found = _POINTED_AT.match(message)
    if not found or _OWN_AFFAIRS.search(message) or _NAMED.search(message):
        return message
    before, after = message[: found.start(1)], message[found.end(1) :]
    is_of_something = _JOINS.search(before) or _OF_THE_HOUR.match(message) or _OF_NOTHING.match(after.lower())
    is_predicate = before.lower().endswith("is ") and len(after.split()) == 1  # is this free?
    is_article = found[1].lower() == "this" and not is_predicate and not _PRONOUN_NOT_ARTICLE.match(after)
    return message if is_of_something or is_article else f"{before}{NAME}{after}"

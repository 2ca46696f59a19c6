"""Questions for what became of what the user just said: "Why didn't you learn that?", "Did you learn it?"."""

from __future__ import annotations

import re

_LONGEST_READ = 160  # characters
_LEARN = (
    r"(?:learn|learned|learnt|remember|remembered|keep|kept|store|stored|save|saved|note|noted|"
    r"memori[sz]ed?|record|recorded|take (?:it|that|this) in)"
)
_IT = (
    r"(?: (?:it|that|this|anything|something|any of (?:it|that|this)|(?:what|the things?) i (?:just )?"
    r"(?:said|told you|wrote)|my (?:last )?(?:message|words)|from (?:it|that|this|my (?:last )?message|"
    r"what i (?:just )?said)))+"
)
_NOT = r"(?: not|n't)?"
_SAID = r"(?:what i (?:just )?(?:said|told you)|my (?:last )?(?:message|words))"
_ASKS = re.compile(
    r"\W*(?:(?:and|but|so|ok(?:ay)?|hey|vouch|then)\W+)*(?:"
    rf"why (?:(?:did|do|have|has|could|would){_NOT} you|you did{_NOT})(?: (?:not|just|only|still))*(?:"
    r" say (?:\W?noted\W?|it is noted|you noted it)(?:,? (?:and|but|yet|then)"
    rf"(?: (?:not|did not|didn't|never|don't|do not))? {_LEARN}(?:{_IT})?)?| {_LEARN}{_IT})"
    rf"|why (?:was|is|were|has)(?:n't)? (?:it|that|this|nothing|{_SAID})(?: not)?(?: been)? {_LEARN}"
    rf"|(?:did|have){_NOT} you(?: (?:not|just|really|actually|already))* {_LEARN}{_IT}"
    r"|what (?:did|have) you (?:just )?(?:learn|learned|learnt|note|noted|keep|kept)"
    rf"(?: just now| from (?:it|that|this|{_SAID}))"
    rf"|what (?:happened to|became of) {_SAID}"
    r")(?: (?:then|now|just now|before|earlier|yet))*\W*",
    re.IGNORECASE,
)


def asks_what_became(message: str) -> bool:
    """Whether a message asks only what became of what was said before it."""
    plain = " ".join(message.replace("’", "'").split()) if len(message) <= _LONGEST_READ else ""
    return _ASKS.fullmatch(plain) is not None

"""How far a sentence says the way to do what a question asks how to do.

    "How do I install Vouch?"  and  "To install Vouch and start the chat, run make chat."

The clause before the comma is the question once more, so the rest answers it. The reader, which learned from
questions of fact, is seldom sure of such a sentence.
"""

from __future__ import annotations

import re

from stores.lexical import tokens

_ASKS_FOR_A_WAY = re.compile(
    r"\W*(?:(?:and|but|so|ok|please)\W+)*"
    r"(?:(?:how|where|when|what) (?:do|can|could|should|must|would) (?:i|we|you|one)"
    r"|how (?:do|does|can) (?:vouch|one)|(?:how|what|where) to|can (?:i|we)"
    r"|(?:which|what) (?:key|command|button|option|setting)s?"
    r"|is there (?:a|any) (?:way|key|command) to)\b",
    re.IGNORECASE,
)
_TO_THIS_END = re.compile(
    r"To (?!(?:the|a|an|this|that|my|your|his|her|our|some)\b)([a-z][^,;:.]*(?:, such as [^,;:.]*)?), "
)


def asks_for_a_way(question: str) -> bool:
    """Whether a question asks how to do something."""
    return _ASKS_FOR_A_WAY.match(question) is not None


def way_to_it(question: str, sentence: str) -> float:
    """From 0 to 1: the F1 of the words of what is to be done, as asked and as the sentence opens.

    0 where the question asks for no way, or the sentence does not open with "To ...,".
    """
    asked = _ASKS_FOR_A_WAY.match(question)
    told = _TO_THIS_END.match(sentence) if asked else None
    if asked is None or told is None:
        return 0.0
    wanted, given = set(tokens(question[asked.end() :])), set(tokens(told[1]))
    return 2 * len(wanted & given) / (len(wanted) + len(given)) if wanted and given else 0.0

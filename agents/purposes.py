"""How far a sentence, or the heading above it, says the way to do what a question asks how to do.

    "How do I install Vouch?"  and  "To install Vouch and start the chat, run make chat."
    "how do i delete a chat"   and  "Deleting a session"
    "backup?"                  and  "To make a backup, run vouch backup."

The clause before the comma, and a heading, are the question once more, so the rest answers it. The reader,
which learned from questions of fact, is seldom sure of such a sentence. What one person calls a chat another
calls a session: words for one thing of a program count as the same.
"""

from __future__ import annotations

import re

from agents.naming_vouch import NAME
from agents.sentences import Sentence
from stores.lexical import tokens

_DOINGS = (  # "delete a chat", "I want to change the model"
    "add|cancel|change|choose|copy|delete|download|edit|erase|export|find|fix|import|ingest|list|open|print|"
    "remove|rename|save|search|share|show|start|stop|switch|turn|undo|uninstall|update|upgrade|upload|use"
)
_OF_THE_PROGRAM = (
    r"(?=[^.!]*\b(?:answer|chat|colou?r|command|conversation|document|editor|file|folder|history|key|learning|"
    r"llm|memory|message|model|pdf|prompt|session|setting|source|text|theme|training|version)s?\b)"
)
_ASKS_FOR_A_WAY = re.compile(
    r"\W*(?:(?:and|but|so|ok|please)\W+)*"
    r"(?:(?:how|hwo|where|when|what) (?:do|can|could|should|must|would) (?:i|we|you|one)"
    r"|how (?:do|does|can) (?:vouch|one)|(?:how|hwo|what|where) to|can (?:i|we)"
    r"|(?:which|what) (?:key|command|button|option|setting)s?"
    r"|is there (?:a|any) (?:way|key|command) to)\b"
    r"|\W*(?:please )?(?:i(?: want|'d like) to )?"
    rf"(?=(?:{_DOINGS})\b{_OF_THE_PROGRAM}[^.!]*$)"
    r"|\W*(?:no|without) (?=(?:colou?rs?|internet|learning|mouse|network|training)\W*$)",
    re.IGNORECASE,
)
_LONGEST_TOPIC = 60  # characters
_IS_NO_TOPIC = (  # what asks, points, or tells of somebody
    r"(?:who|whom|whose|what|which|when|where|why|how|is|am|are|was|were|be|been|do|does|did|has|have|had|will|"
    r"would|can|could|should|may|might|must|i|im|me|my|mine|we|us|our|ours|you|your|he|him|his|she|her|hers|it|"
    r"its|they|them|their|this|that|these|those|and|or|but|not|yes|ok|okay|hi|hello|hey|thanks|please|about|"
    r"the|an?)"
)
_TOPIC = re.compile(
    rf"\W*(?!{_IS_NO_TOPIC}\b)[\w-]+(?: (?!{_IS_NO_TOPIC}\b)[a-z][\w-]*){{0,2}}[ ?]*", re.IGNORECASE
)
_NAMED = re.compile(r"(?<= )[A-ZÀ-Þ][a-zà-þ]")
_TO_THIS_END = re.compile(
    r"To (?!(?:the|a|an|this|that|my|your|his|her|our|some)\b)([a-z][^,;:.]*(?:, such as [^,;:.]*)?), "
)
_CALLED_THE_SAME = (  # what people do with a program, and what it has; the first names them all
    "add ingest upload load attach insert import",
    "answer reply response",
    "begin start launch",
    "change switch choose select pick edit modify replace alter fix",
    "colour color theme background",
    "cost price pay money charge",
    "delete remove erase forget wipe clear rid",
    "document file",
    "earlier old",
    "editor vim emacs nano",
    "help support",
    "internet online offline network wifi",
    "key shortcut hotkey",
    "leave quit exit close",
    "longer detailed detail",
    "private incognito secret",
    "rate thumb good bad",
    "rename name title",
    "save export download",
    "search find look",
    "session chat conversation talk",
    "setting config configuration preference",
    "share public",
    "show see view display list",
    "stop end cancel abort interrupt disable",
    "train learn retrain",
    "transfer move migrate",
    "undo revert",
    "update upgrade newest latest",
    "user account everyone everybody",
    "write type",
    "wrong incorrect mistake error",
)
_FIRST_OF = {
    token: tokens(words)[0] for words in _CALLED_THE_SAME for token in tokens(words)
}  # by the token, the token that stands for it
_SAYS_LITTLE = frozenset(tokens("get make use want need way possible vouch go new something thing happen"))
_ASKS_HOW_MUCH = frozenset(tokens(f"{NAME} much many"))
_OF_THE_PURPOSE = 1.5  # this and the next fitted on questions to the manual: benchmarks/manual_answers.py
_OF_THE_HEADING = 2.5
_OF_A_TOPIC = 3.0  # "backup?" mostly asks for the way, and seldom for what it is
_OF_ONES_OWN = re.compile(r"\b(?:my|mine|our|ours)\b", re.IGNORECASE)
_ASKS_FOR_ONES_OWN = re.compile(
    r"\W*(?:where|what|when|which|who|how \w+)(?:'s| is| are| was| were) (?:my|our) (\w+)", re.IGNORECASE
)
_ASKS_WHAT_IT_IS = re.compile(r"\W*what(?:'s| is| are) (?:an?|the) ", re.IGNORECASE)
_OF_NOBODYS_OWN = -2.0
_LEAST_OF_A_HEADING = 0.6  # a heading that shares less is of something else


def asks_for_a_way(question: str) -> bool:
    """Whether a question asks how to do something."""
    return _ASKS_FOR_A_WAY.match(question) is not None


def is_topic(message: str) -> bool:
    """Whether a message is a topic in one to three words, of nobody's own: "backup?", "dark theme"."""
    is_short = len(message) <= _LONGEST_TOPIC and _TOPIC.fullmatch(message) is not None
    return is_short and _NAMED.search(message) is None and not any(map(str.isdigit, message))


def speaks_for_a_way(question: str, sentence: Sentence, *, title: str, passage: str) -> float:
    """The log-odds by which a sentence is likelier the answer, as it or the heading above it asks the same.

    title: of its passage, "page › section" in a document; the section speaks for its first sentence. What
    is asked for besides, and stands nowhere in the passage, takes from both. Below 0 where somebody's own
    thing is asked for, and a passage about the assistant speaks of none of theirs.
    """
    if NAME.lower() in passage.lower() and _is_somebodys_own(question, sentence.text):
        return _OF_NOBODYS_OWN
    _, is_section, heading = title.rpartition(" › ")
    is_headed = is_section and not sentence.start and not _is_no_meaning(question, sentence.text)
    asked = asked_in_heading(question, heading) if is_headed else 0.0
    of_the_purpose = _OF_A_TOPIC if is_topic(question) else _OF_THE_PURPOSE
    speaks = of_the_purpose * way_to_it(question, sentence.text) + _OF_THE_HEADING * asked
    wanted = _meant(question)
    return speaks * (len(wanted & _called(f"{title} {passage}")) / len(wanted)) ** 2 if speaks else 0.0


def _is_no_meaning(question: str, sentence: str) -> bool:
    """Whether a question asks what something is, and the sentence tells a way: "To see it, press F5."."""
    return _ASKS_WHAT_IT_IS.match(question) is not None and sentence.startswith("To ")


def _is_somebodys_own(question: str, sentence: str) -> bool:
    """Whether a question asks for a thing of somebody's own, and the sentence tells of no "your" thing."""
    asked = _ASKS_FOR_ONES_OWN.match(question)
    return asked is not None and not re.search(rf"\byour (?:\w+ )?{asked[1]}", sentence, re.IGNORECASE)


def way_to_it(question: str, sentence: str) -> float:
    """From 0 to 1: the F1 of the words of what is to be done, as asked and as the sentence opens.

    0 where the question asks for no way and is no topic, or the sentence does not open with "To ...,".
    """
    asked = _ASKS_FOR_A_WAY.match(question)
    told = _TO_THIS_END.match(sentence) if asked or is_topic(question) else None
    return _likeness(question[asked.end() if asked else 0 :], told[1]) if told else 0.0


def asked_in_heading(question: str, heading: str) -> float:
    """From 0 to 1: the F1 of the words of a question and of a heading; 0 where they share few.

    What asks after something of somebody's own ("Where are my keys?") and not for a way is not asked in a
    heading that speaks of nobody's.
    """
    is_of_their_own = _OF_ONES_OWN.search(question) and not asks_for_a_way(question)
    if is_of_their_own and not _OF_ONES_OWN.search(heading):
        return 0.0
    likeness = _likeness(question, heading)
    return likeness if likeness >= _LEAST_OF_A_HEADING else 0.0


def says_what_is_asked(question: str, sentence: str) -> bool:
    """Whether a sentence about the assistant holds all words of a question, two at least beside its name."""
    asked = _called(question) - _ASKS_HOW_MUCH
    return len(asked) > 1 and NAME.lower() in sentence.lower() and asked <= _called(sentence)


def _likeness(one: str, other: str) -> float:
    first, second = _meant(one), _meant(other)
    return 2 * len(first & second) / (len(first) + len(second)) if first and second else 0.0


def _meant(text: str) -> set[str]:
    """The words of a text; those that say little only where it has no others."""
    found = _called(text)
    return found - _SAYS_LITTLE or found


def _called(text: str) -> set[str]:
    """The words of a text, each as the one that stands for it."""
    return {_FIRST_OF.get(token, token) for token in tokens(text)}

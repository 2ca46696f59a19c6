"""What an answer should have been, kept, where it says something by itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stores.claims.claims import NewClaim

if TYPE_CHECKING:
    from assistant.wiring.assistant import Assistant

HOW_TO_TEACH = "Write what the answer should have been: /teach The room closes at four."
SAYS_NOTHING = "Not kept: it is no sentence. Write one."
_STATES_NOTHING = frozenset("yes ok okay text".split())  # TEXT, as the commands write what is to be put in


def says_something(text: str) -> bool:
    """Whether a correction can be kept: something in it is understood without the question.

    "The room closes at four." and a name or number do ("Friday", "1888"); "what", "yes", a question and
    another bare word ("blue") do not.
    """
    from agents.base.sentences import is_question, sentences
    from agents.base.values import content

    told = [each.text for each in sentences(text) if not is_question(each.text)]
    return any(content(each) and not _is_bare_word(each) for each in told)


def _is_bare_word(sentence: str) -> bool:
    word = sentence.strip(" .!,;:\"'“”…")
    return word.isascii() and word.isalpha() and (word.islower() or word.lower() in _STATES_NOTHING)


def teach(assistant: Assistant, user_id: int, turn_id: int, text: str) -> int:
    """Keeps what an answer should have been: as feedback, and as a correction in the user's own memory."""
    assistant.stores.journal.rate(user_id, turn_id, "taught", correction=text)
    passage_id, _ = assistant.stores.knowledge.remember(user_id, text, kind="correction", turn_id=turn_id)
    claim = NewClaim(text=text, quote=text, kind="fact", about="world")
    assistant.stores.claims.put_one(user_id, claim, origin="taught", turn_id=turn_id, passage_id=passage_id)
    assistant.search.indexer.catch_up()
    return passage_id

"""Answers by quoting: the best sentences of the passages found, word for word, with their citations.

    question, sources -> the sentences that answer (agents/quoting.py) -> the answer, the quote, its citation

It needs no key, no network and no download, and it cannot invent: every word of an answer but its frame
stands in a source. Below a threshold chosen on data it says that it is not sure, further below that it
found nothing.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence

from agents.chat_interfaces import ChatMessage, CitingText, ContinuationScore, ReplyRequest
from agents.claim_rules.remarks import denies_the_answer, tells_of_trouble
from agents.claim_rules.requests import to_forget
from agents.claim_rules.speaker import is_of_the_user
from agents.hearsay import Hearsay, hearsay, who_says_so
from agents.naming_vouch import NAME
from agents.of_oneself import MOST_TOLD, Whole, asks_for_all, quotes_of_all
from agents.purposes import asks_for_a_way
from agents.quote_order import Quote, is_own_words
from agents.quoting import Quoter
from agents.said_here import said_here
from agents.sentences import asks_only, sentences
from agents.statements import tells
from agents.token_budget import estimated_tokens
from stores.errors import ModelRefused, NoLogProbabilities

NOTHING_FOUND = "I found nothing about that."
WHERE_TO_LOOK = "Try other words, or /help, which lists all keys and commands."
NOT_SURE = "I am not sure that this answers it:"
ONLY_NOW = "I only know what holds now:"
NOTED = "Noted: I keep your words, and say so if I learn something from them."  # it is not weighed yet
KEPT = "I keep what you wrote in your own memory."
GREETING = "Hello. Ask me something, or tell me something to remember; /help lists what else there is."
WELCOME = "You are welcome."
GOODBYE = "Goodbye."
FORGETTING = "Nothing is forgotten by asking."
HOW_TO_FORGET = "/forget with words lists what may be meant; /forget with its number takes it away for good."
NOTHING_KNOWN = "I have learned nothing about you yet. /memory lists what I keep of what you told me."
WHERE_THE_OTHERS_ARE = "/memory, F3 or vouch memory list shows the others too"
TO_CORRECT = (
    "To correct me, say in a sentence what is right, or type /teach and what the answer should have said. "
    "/bad says that it did not help; /undo takes back what I learned last."
)
TROUBLE = "I found nothing about that; if Vouch itself does not work, vouch doctor says what to do."
NOT_KEPT = "This session is private: I learn nothing from what you tell me, and no other session finds it."

_WRITE_INSTEAD = "Configure a chat model: [model] in settings.toml."
_LONGEST_QUOTE = 600  # characters; a longer sentence is cut at a word


class ExtractiveChat:
    """The built-in chat model: quotes, and says so."""

    name = "extractive (quotes only)"
    can_score = False
    context_tokens = None  # it reads its sources sentence by sentence, however many there are

    def __init__(self, quoter: Quoter) -> None:
        self._quoter = quoter

    async def stream(self, request: ReplyRequest) -> AsyncIterator[str]:
        """The answer, a quote a piece."""
        if (courtesy := _returned(request.message)) is not None:
            yield courtesy
            return
        if request.became:
            yield CitingText(request.became)
            return
        if (unwanted := _unwanted(request.message)) is not None:
            yield await asyncio.to_thread(self._how_to_forget, unwanted, request)
            return
        if denies_the_answer(request.message):
            yield TO_CORRECT
            return
        if tells_of_trouble(request.message):
            yield await asyncio.to_thread(self._help_with, request)
            return
        if whole := asks_for_all(request.message):
            yield await asyncio.to_thread(_all_that_is_known, whole, request)
            return
        if tells(request.message) and not asks_for_a_way(request.message):
            yield NOTED if request.is_kept else NOT_KEPT
            return
        best = await asyncio.to_thread(self._best_quotes, request)
        if not best:
            is_looked_up = asks_only(request.message) or not request.is_kept
            yield _nothing_found(request.question) if is_looked_up else f"{NOTHING_FOUND} {KEPT}"
        for number, quote in enumerate(best):
            answer = f"{quote.answer}. " if quote.answer and not number and _hearsay(quote) is None else ""
            if not quote.is_sure or quote.is_only_now:
                answer = f"{NOT_SURE if not quote.is_sure else ONLY_NOW} "
            yield _citing(("\n" if number else "") + answer + _frame(quote), [quote])
        if best and request.not_put_first:
            yield f"\n{_others(request.not_put_first)}"

    def _best_quotes(self, request: ReplyRequest) -> list[Quote]:
        """From the sources, and from what the message itself states beside its question, which is newest."""
        best = self._quoter.best_quotes(request.question, request.sources)
        here = said_here(request.message)
        stated = self._quoter.best_quotes(here[0], [here[1]]) if here else []
        if not stated:
            return best
        if stated[0].only:
            return best or stated
        if stated[0].is_sure:
            documents = [q for q in best if q.is_sure and not is_own_words(q.source.passage)]
            return [*stated, *documents[:1]]
        return best if best and best[0].probability >= stated[0].probability else stated

    def _help_with(self, request: ReplyRequest) -> CitingText:
        """What is known of the trouble that a message tells of; its user's own words of it help nobody."""
        known = [source for source in request.sources if not is_own_words(source.passage)]
        asked = f"What can I do when {request.message.strip(' .!')}?"
        best = self._quoter.best_quotes(asked, known)
        frames = ("" if quote.is_sure else f"{NOT_SURE} " for quote in best)
        told = "\n".join(f"{frame}{_frame(quote)}" for frame, quote in zip(frames, best, strict=True))
        return _citing(told or TROUBLE, best)

    def _how_to_forget(self, unwanted: str, request: ReplyRequest) -> CitingText:
        """Which commands forget what is meant, as far as it can be told."""
        own = [source for source in request.sources if is_own_words(source.passage)]
        meant = self._quoter.best_quotes(unwanted or request.question, own)
        told = list({quote.source.passage.passage_id: quote for quote in meant}.values())
        lines = [
            f"/forget {quote.source.passage.passage_id} takes away {_quoted(quote)} [{quote.source.number}]"
            for quote in told
        ]
        return _citing("\n".join([f"{FORGETTING} {HOW_TO_FORGET}", *lines]), told)

    def count_tokens(self, text: str) -> int:
        """A high estimate; nothing is decided by it."""
        return estimated_tokens(text)

    async def structured(
        self, messages: Sequence[ChatMessage], schema: Mapping[str, object]
    ) -> dict[str, object]:
        """Always refused: quoting fills no schema."""
        raise ModelRefused("the extractive model only quotes", hint=_WRITE_INSTEAD)

    async def choose(self, messages: Sequence[ChatMessage], choices: Sequence[str]) -> str:
        """Always refused: it chooses sentences, not replies."""
        raise ModelRefused("the extractive model only quotes", hint=_WRITE_INSTEAD)

    async def log_probability(self, messages: Sequence[ChatMessage], continuation: str) -> ContinuationScore:
        """Always refused: quotes are found, not drawn from a distribution."""
        raise NoLogProbabilities("the extractive model has no log-probabilities", hint=_WRITE_INSTEAD)

    async def aclose(self) -> None:
        """Nothing to give back."""


_NICELY = r"\W*(?:(?:ok(?:ay)?|great|perfect|good|nice|cool|super|all right|alright|well|no|yes)\W+)*"
_THANKS = (
    r"(?:many )?(?:thanks|thank you|thx|cheers)"
    r"(?: (?:a lot|so much|very much|again|anyway|for your help))*"
)
_PARTS = (
    r"(?:bye(?:[ -]bye)?|goodbye|good night|see you|talk to you|have a (?:nice|good|great) "
    r"(?:day|evening|weekend))(?: (?:later|tomorrow|soon|then|again))*"
)
_COURTESIES = (
    (
        r"\W*(?:hi|hello|hey|good (?:morning|evening|afternoon|day))(?: (?:there|vouch|again|everybody))*\W*",
        GREETING,
    ),
    (
        rf"{_NICELY}(?:{_THANKS}|that(?:'s| is) all)(?:\W+that(?:'s| is) all)?(?: for (?:now|today))?\W*",
        WELCOME,
    ),
    (rf"{_NICELY}(?:{_THANKS}\W+)?{_PARTS}\W*", GOODBYE),
)
_LONGEST_COURTESY = 60  # characters


def _returned(message: str) -> str | None:
    """What is said to a greeting, to thanks and to a farewell; None to all else."""
    if len(message) > _LONGEST_COURTESY:
        return None
    plain = message.replace("’", "'")
    return next((said for wording, said in _COURTESIES if re.fullmatch(wording, plain, re.IGNORECASE)), None)


def _unwanted(message: str) -> str | None:
    """What a message asks to be forgotten; None where it asks for no such thing."""
    found = (to_forget(sentence.text) for sentence in sentences(message))
    return next((unwanted for unwanted in found if unwanted is not None), None)


def _all_that_is_known(whole: Whole, request: ReplyRequest) -> CitingText:
    """The user's own memories, newest first, and how many more there are."""
    quotes = quotes_of_all(whole, request.sources)
    left = request.not_put_first + max(0, len(quotes) - MOST_TOLD)
    is_about_the_user = whole == "about the user" and any(is_of_the_user(quote.text) for quote in quotes)
    others = _others(left, " about you" if is_about_the_user else "")
    lines = [*map(_frame, quotes[:MOST_TOLD]), *([others] if left else [])]
    return _citing("\n".join(lines) if quotes else NOTHING_KNOWN, quotes[:MOST_TOLD])


def _others(number: int, about: str = "") -> str:
    """How many more memories answer than are quoted, what they are about, and where they are."""
    return f"And {number} more{about}: {WHERE_THE_OTHERS_ARE}."


def _nothing_found(question: str) -> str:
    """That nothing was found, and where to look for what may be asked of the assistant itself."""
    is_of_vouch = NAME.lower() in question.lower() or asks_for_a_way(question)
    return f"{NOTHING_FOUND} {WHERE_TO_LOOK}" if is_of_vouch else NOTHING_FOUND


def _citing(text: str, quotes: Iterable[Quote]) -> CitingText:
    """A piece of an answer that cites the sources of its quotes; a [3] in their own words cites nothing."""
    return CitingText(text, (quote.source.number for quote in quotes if quote.source.number))


def _frame(quote: Quote) -> str:
    if not quote.source.number:
        return f"You {f'only {quote.only}' if quote.only else 'just said'}: {_quoted(quote)}"
    is_reworded = quote.source.passage.is_reworded  # nobody said it in these words
    told = _shortened(quote) if is_reworded else _quoted(quote)
    return f"{_who_said(quote)}{told} [{quote.source.number}]"


def _who_said(quote: Quote) -> str:
    """What stands before a quote; nothing before one of a document."""
    passage = quote.source.passage
    if not passage.is_live:
        return "Before: "
    if quote.is_now:
        return "Now: "
    if quote.only:
        return f"You only {quote.only}: "
    if (heard := _hearsay(quote)) is not None:
        return f"{who_says_so(heard)}: "
    if passage.is_reworded:
        return "Earlier, as I have it: " if quote.is_earlier else "As I have it: "
    if is_own_words(passage):
        return "Earlier you said: " if quote.is_earlier else "You said: "
    return ""


def _hearsay(quote: Quote) -> Hearsay | None:
    """What the user only passed on; what stands in a document is the document's word."""
    return hearsay(quote.text) if is_own_words(quote.source.passage) else None


def _quoted(quote: Quote) -> str:
    return f"“{_shortened(quote)}”"


def _shortened(quote: Quote) -> str:
    text = " ".join(quote.text.split())
    return text if len(text) <= _LONGEST_QUOTE else text[:_LONGEST_QUOTE].rsplit(" ", 1)[0] + " …"

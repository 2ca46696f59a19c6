"""A statement with its pointer replaced by what it points to: a pronoun, or the answer to a question.

"My sister Jana lives in Ulm. She works at the zoo."    "My sister Jana works at the zoo."
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from agents.claim_rules.own_part import plain_text
from agents.claim_rules.statements import stated_in
from agents.interfaces import Exchange
from agents.sentences import is_question, sentences
from stores.lexical import tokens

_POINTING = re.compile(
    r"\b([Ii]t|[Ii]ts|itself|[Hh]e|[Hh]im|[Hh]is|himself|[Ss]he|[Hh]er|[Hh]ers|[Tt]hey|[Tt]hem|"
    r"[Tt]heirs?)\b(?P<short>'(?:s(?: been| got)?|re|ve|ll|d)\b)?"
)
_DEMONSTRATIVE = re.compile(
    r"(?:this|that|these|those)\b(?! (?:morning|evening|afternoon|week|weekend|month|year|summer|winter|"
    r"spring|autumn))",
    re.IGNORECASE,
)
_PLACE = re.compile(r"\bthere\b(?! (?:is|are|was|were|has|have|will|used)\b|'s)", re.IGNORECASE)
_DUMMY = re.compile(
    r"it(?:'s| is| was| has| will)?(?: been| be)? (?:very |so |too |really |quite )?(?:rain|snow|cold|hot|"
    r"warm|sunny|windy|late|early|time|nice|great|hard|easy|possible|clear|true|false|important|fun|good|bad|"
    r"ok|fine|amazing|"
    r"a (?:pity|shame|pleasure|long)|up to|just|like|takes?|seems?|looks?|sounds?|depends|makes?|does)",
    re.IGNORECASE,
)
_LONG_FORM = {
    "'re": " are",
    "'ve": " have",
    "'ll": " will",
    "'d": " would",
    "'s been": " has been",
    "'s got": " has got",
}
_PLURAL = frozenset("they them their theirs".split())
_NEUTER = frozenset("it its itself".split())
_OWNING = frozenset("its his their".split())
_NAME_PART = r"[A-Z][\w'-]*(?:\.[\w'-]+)*"
_NAME = rf"(?:(?:Dr|Mr|Mrs|Ms|Prof|St)\. )?{_NAME_PART}(?: (?:(?:of|the|de|van|von) )?{_NAME_PART}){{0,3}}"
_VERB = (
    r"(?:is|are|was|were|has|have|had|can|could|will|would|does|did|do|lives?|works?|plays?|opens?|closes?|"
    r"runs?|ran|sells?|sold|loves?|likes?|hates?|stud(?:y|ies)|teach(?:es)?|taught|holds?|held|stands?|stood|"
    r"leads?|led|makes?|made|comes?|came|goes|went|gets?|got|became|began|begins?|wants?|needs?|weighs?|"
    r"costs?|owns?|wrote|writes?|speaks?|starts?|born|built|died|takes?|took|gives?|gave|bought|won|lost|"
    r"leaves?|left|arrives?|departs?|lands?|ends?|moved?|turned|flies|meets?|stays?|says?|lies|bears?|eats?|drives?|never|always|now|also|located|founded|painted|written|found|known|"
    r"\w{3,}ed)"
)
_PHRASE = rf"(?:(?:[Mm]y|[Oo]ur|[Tt]he|[Aa]n?)(?: [\w'-]+){{1,6}}?|{_NAME}(?: [a-z]+){{0,2}}?)"
_SUBJECT = re.compile(
    rf"((?:(?:My|Our|The)(?: [a-z'-]+){{1,2}} )?{_NAME}(?= [a-z]{{3,}}s (?!{_VERB}\b))|"
    rf"{_PHRASE}(?= {_VERB}\b)) "
)
_OWNED = re.compile(
    r"(?:I|We)(?:'ve)?(?: (?:have|just|also|own|got|bought|drive|adopted|keep|ride|rent|recently))+ (an?|one|"
    r"two|three|four|five|some) ((?:[\w'-]+ ){0,2}?[\w'-]+)(?= (?:called|named|that|which|who|in|from|since|"
    r"and|with|at|for|of|on)\b|[,.!;]|$)"
)
_DWELT = re.compile(
    rf"(?:I|We) (?:live|work|study|stay|teach|volunteer) (?:in|at|near) ((?:the )?{_NAME})(?=[,.!;]|$)"
)
_CALLED = re.compile(r"(?:is|are|was|were) (?:called|named) ")
_ASKED = re.compile(
    r"(?:(?:and|so|but|then) )?(?:(?:when|where|why|what|which \w+|how(?: \w+)?|who(?:se \w+)?) )?(?:is|are|"
    r"was|were|does|do|did|has|have|had|can|could|will|runs?|ran|built|wrote|painted|founded|owns?|made|"
    r"designed|leads?|led|invented|discovered) "
    rf"((?:the|my|our|an?|The|My|Our) [^?,.]{{1,60}}?|{_NAME}(?: [a-z]+){{0,2}}?)(?= {_VERB}\b| open\b|"
    rf" close\b| cost\b|"
    r" begin\b| start\b| end\b| mean\b|\s*\?)",
)
_MEN = frozenset(
    "brother father dad son husband uncle grandfather grandpa boyfriend nephew stepfather grandson".split()
)
_WOMEN = frozenset(
    "sister mother mom mum daughter wife aunt grandmother grandma girlfriend niece granddaughter".split()
)
_PERSONS = (
    _MEN
    | _WOMEN
    | frozenset(
        "friend boss colleague neighbour neighbor cousin partner teacher doctor dentist child baby roommate "
        "flatmate "
        "manager landlord fiance kid mayor director nurse lawyer therapist trainer coach student".split()
    )
)
_ANIMALS = frozenset("dog cat puppy kitten horse rabbit parrot bird hamster tortoise pony pet".split())
_NO_NAMES = frozenset(
    "I It He She They We You This That There Monday Tuesday Wednesday Thursday Friday Saturday Sunday "
    "January "
    "February March April May June July August September October November December".split()
)
_OTHER_THING = re.compile(
    rf"(?:^|(?<!in)(?<!at)(?<!on)(?<!to)(?<!of) )(?:the|an?|my|our|{_NAME})(?= \w|[,.!;]|$)"
)


def standalone(text: str, before: str, earlier: Sequence[Exchange]) -> str | None:
    """A statement with its pointer replaced by what it points to; None where that is not certain.

    before: the sentence before it in the message. earlier: of these the last is looked at, where there is no
    such sentence: what it asked about, or told of.
    """
    if (answer := _ANSWER.match(text)) and not _things_of(before):
        is_told = _IS_PLACED.match(answer[1]) and earlier and not is_question(earlier[-1].message)
        if before or not is_told:  # "It's at 7 pm from now on" may also say more of what was told
            return _answered(answer[1], earlier)
    if _DEMONSTRATIVE.match(text) or _PLACE.search(text) or _DUMMY.match(text):
        return None
    pointer = next((m for m in _POINTING.finditer(text) if not _is_of_a_verb(text, m)), None)
    if _ANYBODY.match(text):
        return text
    if pointer is None or _names_it(pointer[1].lower(), text[: pointer.start()]):
        return text
    thing = _pointed_to(pointer[1].lower(), before, earlier)
    if thing is None:
        return None
    word = pointer[1].lower()
    is_owning = word in _OWNING or (word == "her" and re.match(r" [a-z]", text[pointer.end() :]) is not None)
    short = pointer["short"] or ""
    said = (
        thing + ("'" if _is_plural(thing) else "'s")
        if is_owning
        else thing + _LONG_FORM.get(short.lower(), " is" if short else "")
    )
    said = _upper_first(said) if pointer.start() == 0 else _in_sentence(said)
    return text[: pointer.start()] + said + text[pointer.end() :]


_ANYBODY = re.compile(r"They(?:'ve| have)?(?: just| also)? [a-z]+ (?:me|us|my|our)\b(?! (?:parents|friends))")
_NAMED = re.compile(rf"\b(?:my|our|the|an?) \w|^(?:My|Our|The|An?) \w|{_NAME}")
_CLAUSE_BEGINS = re.compile(
    r"\b(?:because|as|since|and|but|if|when|while|unless|so|that|who|which|than|although|though)\b|[,;]"
)
_FINDS = re.compile(r"\b(?:find|finds|found|make|makes|made|consider|keep|take) $")
_TO_DO = re.compile(r"it (?:\w+ ){1,3}?(?:to|when|that|if)\b")


def _is_of_a_verb(text: str, pointer: re.Match[str]) -> bool:
    """Whether it points to what follows: "I find it hard to sleep"."""
    return (
        _FINDS.search(text[: pointer.start()]) is not None and _TO_DO.match(text, pointer.start()) is not None
    )


def _names_it(word: str, before: str) -> bool:
    """Whether the words before a pointer in its sentence hold what it may point to."""
    if _NAMED.search(re.sub(r"\bI\b(?:'\w+)?|^(?:We|You)\b|^\w+$", "", before)):
        return True
    if word in _PLURAL:
        return any(len(other) > 3 and _is_plural(other) for other in before.split())
    return word in _NEUTER and _CLAUSE_BEGINS.search(before) is not None and len(tokens(before)) > 1


def _pointed_to(word: str, before: str, earlier: Sequence[Exchange]) -> str | None:
    if before:
        found = _things_of(before)
        if found:
            found = _of_whom(word, found)
            return found[0] if len(found) == 1 and _agrees(word, found[0]) else None
    if not earlier:
        return None
    asked = _ASKED.match(_lower_first(plain_text(earlier[-1].standalone or earlier[-1].message).text))
    if asked:
        return asked[1] if _agrees(word, asked[1]) else None
    found = _of_whom(word, _things_of(_told_last(word, earlier)))
    if word in _NEUTER and found and not _IS_A_THING.match(found[0]):
        return None  # a name alone may be a person's
    return found[0] if len(found) == 1 and _agrees(word, found[0]) else None


def _of_whom(word: str, found: list[str]) -> list[str]:
    """What was found, of which "he" means the person and not their name: "My boss's name is Kim"."""
    if not found or word in _NEUTER | _PLURAL or "'s " not in found[0]:
        return found
    return [found[0].rpartition("'s ")[0], *found[1:]]


_IS_A_THING = re.compile(r"(?:my|our|the) ", re.IGNORECASE)


_GONE_BACK = 3  # earlier messages: "She lives in Ulm." after "She works at the zoo." is of whom that is of


def _told_last(word: str, earlier: Sequence[Exchange]) -> str:
    """The sentence that an earlier message ended with, which named what a pronoun may mean; or nothing.

    Only what the user told counts, and nothing before what they asked.
    """
    for exchange in reversed(earlier[-_GONE_BACK:]):
        said = sentences(plain_text(exchange.message).text)
        stated = stated_in(said[-1].text) if said else None
        if (
            stated is None
            or any(is_question(one.text) for one in said)
            or stated.is_hearsay
            or stated.is_wish
        ):
            return ""
        if not stated.is_right_words and not re.match(rf"{word}\b", stated.text, re.IGNORECASE):
            return stated.text
    return ""


def _things_of(sentence: str) -> list[str]:
    """What a sentence is about, where a pointer after it can mean it; several where that is not certain."""
    if owned := _OWNED.match(sentence):
        return [f"my {owned[2]}"]
    if dwelt := _DWELT.match(sentence):
        return [dwelt[1]]
    if named := _IS_OF_MINE.match(sentence):
        return [named["name"]]
    subject = _SUBJECT.match(sentence)
    if subject is None or subject[1] in _NO_NAMES:
        return []
    if _CALLED.match(sentence, subject.end()):
        return [subject[1]]
    if subject[1].endswith("'s name"):
        return [subject[1].removesuffix("'s name")]
    rest = sentence[subject.end() :].partition(" ")[2]
    is_person = _is_person(subject[1])
    others = [m[0].strip() for m in _OTHER_THING.finditer(rest) if m[0].strip() not in _NO_NAMES]
    return [subject[1]] if is_person else [subject[1], *others]


_IS_OF_MINE = re.compile(
    rf"(?P<name>{_NAME}) is (?:my|our) (?:[\w-]+ )?(?:{'|'.join(sorted(_PERSONS | _ANIMALS))})[.!]*$"
)


def _agrees(word: str, thing: str) -> bool:
    """Whether a pronoun can stand for this."""
    words = {part.lower() for part in thing.split()}
    if word in _PLURAL:
        return _is_plural(thing)
    if word in _NEUTER:
        return not _is_person(thing)
    if words & _ANIMALS:
        return True
    is_named = re.fullmatch(_NAME, thing) is not None
    against = _WOMEN if word in {"he", "him", "his", "himself"} else _MEN
    return (is_named or _is_person(thing)) and not words & against


def _is_plural(thing: str) -> bool:
    return thing.endswith("s") and not thing.endswith(("ss", "'s"))


def _is_person(thing: str) -> bool:
    if "'s " in thing:
        return False
    return not {word.lower() for word in _WORDS_OF_A_THING.split(thing)[:4]}.isdisjoint(_PERSONS)


_WORDS_OF_A_THING = re.compile(r"[\s-]")  # "my ex-husband"


_ANSWER = re.compile(
    r"(?:[Ii]t|[Tt]hat)(?:'s| is| was) ((?:in |on |at |the )?[A-Z0-9][\w'.-]*(?: [\w'.-]+){0,5}[.!]*)$"
)
_IS_PLACED = re.compile(r"(?:in|on|at) ")
_WHAT_IS = re.compile(r"(?:what|who|which \w+) (is|was|are|were) ((?:the|my|our) [^?]{2,80}?)\s*\?")
_WHO_DID = re.compile(rf"who (?!(?:is|was|are|were|do|does|did)\b)({_VERB}) ([^?]{{2,80}}?)\s*\?")
_WHEN_WAS = re.compile(rf"(?:when|in (?:what|which) (?:year|month)) (was|were) ({_PHRASE}) ({_VERB})\s*\?")


def _answered(answer: str, earlier: Sequence[Exchange]) -> str | None:
    """ "Arden." after "What is the capital of Velmaria?" as "The capital of Velmaria is Arden." """
    if not earlier:
        return None
    question = _lower_first(plain_text(earlier[-1].standalone or earlier[-1].message).text)
    if (asked := _WHAT_IS.match(question)) and not answer.startswith(("in ", "on ", "at ")):
        return f"{_upper_first(asked[2])} {asked[1]} {answer}"
    if asked := _WHO_DID.match(question):
        return f"{answer.rstrip('.!')} {asked[1]} {asked[2]}."
    asked = _WHEN_WAS.match(question)
    if asked and re.search(r"\d", answer):
        when = answer if answer.startswith(("in ", "on ")) else f"in {answer}"
        return f"{_upper_first(asked[2])} {asked[1]} {asked[3]} {when}"
    return None


def _upper_first(text: str) -> str:
    return text[:1].upper() + text[1:]


def _lower_first(text: str) -> str:
    return text[:1].lower() + text[1:]


def _in_sentence(thing: str) -> str:
    first = thing.split()[0]
    return _lower_first(thing) if first in {"The", "My", "Our", "A", "An"} else thing

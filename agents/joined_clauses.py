"""One sentence that states several things, as the statements that it joins.

    "I live in Oslo and my sister lives in Rome."   "I live in Oslo."  "My sister lives in Rome."
    "Our cat lives in Rome and he is old."          "Our cat lives in Rome."  "Our cat is old."
    "I live in Oslo and work at Beta."              "I live in Oslo."  "I work at Beta."

Each clause must stand on its own: with a subject and a finite verb, and outside of what is supposed, told by
somebody else, or said of the other clause. A pronoun must surely mean what the clause before is of. In doubt
the sentence stays whole: half of it with another meaning is worse than both in one.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from agents.claim_rules.english import is_english
from agents.claim_rules.own_part import plain_text
from agents.claim_rules.speaker import is_of_the_user
from agents.claim_rules.statements import Statement, stated_in
from agents.clause_openings import NAME, NAMES, OPENS, OPENS_FIRST, OPENS_OF_ONE, THING, shared_subject
from agents.pointed_to import standalone
from agents.relations.comparison import relations
from agents.sentences import is_question

_I = re.IGNORECASE
_LONGEST_READ = 400  # characters
_FEWEST_WORDS = 3  # of a clause: "I work" may be of the place that the next clause names

_JOINT = re.compile(r"(?:(?P<mark>[,;]) | (?=(?:and|but) ))(?:(?P<word>and|but) )?", _I)

_DEPENDS = re.compile(  # on something outside of its clause; or it is no plain statement
    r"[\"?()/…]|\.\.|:(?!\d\d)|\b(?:because|'?cause|cos|if|unless|whether|when|whenever|while|until|till|"
    r"although|though|whereas|provided|except|that|which|who|whom|whose|where|wherever|what|why|how|not only|"
    r"neither|nor|either|both|respectively|each|vice versa|there|here|then|thus|therefore|hence|otherwise|"
    r"instead|else|likewise|similarly|same|others?|another|latter|former|so|such|this|these|those|too|"
    r"as well|(?:the|an?) (?:\w+ )?ones?|(?:have|has|had|am|is|are|was|were)(?: been)? (?:for|since)|"
    r"(?:since|before|after|once|as) (?:i|we|he|she|it|they|my|our|the|soon|long|if|though)|"
    r"know|knows|knew|thinks?|thought|believes?|hopes?|hoped|wish|wishes|wonder|guess|suppose|doubt|says?|"
    r"said|tells?|told|hears?|heard|feels?|felt|means?|meant|imagine|dream\w*|pretend|claims?|promise\w*|"
    r"remembers?|forg[eo]ts?|sees?|saw|watch|lets?|makes?|made(?! (?:in|of|by|from)\b)|helps?|helped|"
    r"afraid|glad|happy|sorry|sure|certain|worried|surprised|convinced|proud|"
    r"would|could|should|(?-i:may)|might|maybe|perhaps|probably|possibly|used to|no|wait|oops|rather|"
    r"actually)\b",
    _I,
)
_SCOPE = re.compile(r"\bthat\b", _I)  # what leads in: "I know that A and B" may know of both or of one
_UNFINISHED = re.compile(
    r"(?:\b(?:in|on|at|to|with|of|from|for|by|near|not|do|does|did|is|are|was|were|am|have|has|had|can|will|"
    r"loves?|likes?|hates?|prefers?|eats?|plays?|drinks?|owns?|uses?|wants?|needs?|speaks?|ones?|some|many|"
    r"none|more|less|better|worse|(?:has|have) (?:two|three|four|five|\d+)|allergic|scared|fond|tired|used)"
    r"|n't|\b(?:is|are|was|were) (?:(?:much|far|even|a bit) )?(?-i:[a-z])\w+er)[.!]*$",
    _I,
)
_ENDS_IN_A_LIST = re.compile(rf"(?:,| and| or) (?:{THING}|{NAMES})$", _I)
_MEASURES = re.compile(r"\b(?:long|wide|high|deep|tall|thick|away)\b", _I)
_DIGIT = re.compile(r"\d")
_LISTS = re.compile(r",| (?:and|or) ", _I)
_DENIES = re.compile(r"\b(?:not|never)\b|n't\b", _I)
_CHANGES = re.compile(
    r"\b(?:now|nowadays|these days|currently|from now on|as of|new|changed|switched|swapped|moved|moving|"
    r"left(?!-)|quit|sold|retired|resigned|stopped|finished|lost|replaced|cancell?ed|divorced|separated|broke|died|"
    r"passed away|fired|gave up|no longer|any ?more|again|finally|became|turned)\b",
    _I,
)
_PRONOUN = re.compile(
    r"\b(?:he|him|his|himself|she|hers?|herself|it|its|itself|they|them|theirs?|themselves)\b", _I
)
_OPENS_POINTING = re.compile(r"(?P<who>he|she|it|they)\b", _I)
_OWN = re.compile(r"(?:i|we|my|our)\b", _I)
_OPENS_OF_US, _OPENS_OF_ME = re.compile(r"we\b", _I), re.compile(r"i\b", _I)
_ITS_OWN = {"he": "his", "she": "her", "it": "its", "they": "their"}
_THINGS = re.compile(
    rf"(?:(?P<before>\b(?:is|are|was|were|am|'m|in|at|for|on|from|near|to|of|called|named)) )?"
    rf"(?P<thing>\b(?:my|our|his|her|their|its|the|an?|one|two|three|four|five|some) [\w'-]+(?: {NAMES})?"
    rf"|(?<![\w'-]){NAMES})",
    _I,
)
_IS = frozenset("is are was were am 'm called named".split())
_PART_OF_A_THING = re.compile(
    r"the (?:right|left|upper|lower|big|small|new|old|red|blue|green|white|black|\w+er|\w+est) "
    r"(?:is|has|was)\b|"
    r"the (?:entrance|entry|admission|tickets?|doors?|gates?|roof|walls?|price|owner|fee|fare|capacity|"
    r"length|height|name|rest|first|second|last|next|top|bottom|inside|outside|interior|cover|author|plot|engine|"
    r"brakes?|battery|kitchen|bathroom|garden|rent|landlord|neighbou?rs?|food|service|staff|result|reason|"
    r"problem|cost)\b",
    _I,
)


class _Clause(NamedTuple):
    """A clause where it stands in its sentence."""

    start: int  # of the word that joins it to what is before
    text: str  # with the subject that it shares
    is_pointing: bool  # it may hold a pronoun for what the clause before is of


def apart(text: str) -> list[str]:
    """The statements that a sentence joins, each to be understood alone; for most the sentence itself."""
    found = _apart(text)
    return [each for _, each in found] if found else [text]


def told_apart(statement: Statement, understood: str) -> list[Statement]:
    """A statement as those that it joins, each with its own words of the message as its quote.

    understood: what it says, with what it points to. The quotes together hold all words of the whole.
    """
    whole = [statement._replace(text=understood)]
    is_plain = not (statement.is_hearsay or statement.is_wish or statement.is_right_words or statement.doubt)
    is_as_said = understood == statement.text or _PRONOUN.match(statement.text) is not None
    if not is_plain or not is_as_said or (_SCOPE.search(statement.quote) and not statement.is_told):
        return whole
    found = _apart(understood)
    places = _places(statement.quote, [understood[start:] for start, _ in found[1:]]) if found else None
    if places is None:
        return whole
    ends = [*places, len(statement.quote)]
    quotes = [
        statement.quote[start:end].rstrip(" ,;\n") for start, end in zip([0, *places], ends, strict=True)
    ]
    return [
        statement._replace(text=text, quote=quote) for (_, text), quote in zip(found, quotes, strict=True)
    ]


def _apart(sentence: str) -> list[tuple[int, str]]:
    """Where each clause begins and what it states; nothing where the sentence is to stay whole."""
    if len(sentence) > _LONGEST_READ or not _JOINT.search(sentence):
        return []
    text = sentence.replace("’", "'")
    if _DEPENDS.search(text) or not is_english(text) or is_question(text):
        return []
    clauses = _clauses(text)
    if len(clauses) < 2:
        return []
    stated: list[str] = []
    for clause in clauses:
        said = _stated(clause, stated[-1] if stated else "")
        if said is None:
            return []
        stated.append(said)
    if len({_MEASURES.search(each) is None for each in stated if _DIGIT.search(each)}) > 1:
        return []  # "The mill is 9 m high and the tower is 20 m"
    if _is_one_change(text, stated) or len({is_of_the_user(each) for each in stated}) > 1:
        return []  # in "My son Ove is 9 and Lise is 12." Lise is the user's too
    return [(clause.start, said) for clause, said in zip(clauses, stated, strict=True)]


def _clauses(text: str) -> list[_Clause]:
    """The clauses of a sentence, each with subject and verb; fewer than two where it stays whole."""
    if not OPENS_FIRST.match(text):
        return []
    found: list[_Clause] = []
    start, begins, subject = 0, 0, ""  # of the clause that is read: with its joint, and without it
    for joint in _JOINT.finditer(text):
        here = text[begins : joint.start()]
        shared = shared_subject(subject + here, text, joint.end()) if joint["word"] == "and" else ""
        if not shared and not _opens(text, joint):
            continue
        if not found and not OPENS_FIRST.match(here):
            continue  # "My wife and I live in Oslo"
        if not _is_finished(subject + here, text[joint.end() :], joint, is_shared=bool(shared)):
            return []
        found.append(_Clause(start, subject + here, is_pointing=not subject))
        start, begins, subject = joint.start(), joint.end(), f"{shared} " if shared else ""
    last = subject + text[begins:]
    if _UNFINISHED.search(last) or _is_short(last):
        return []
    return [*found, _Clause(start, last, is_pointing=not subject)]


def _opens(text: str, joint: re.Match[str]) -> bool:
    """Whether a clause with a subject of its own begins behind a joint."""
    is_comma_alone = joint["mark"] == "," and not joint["word"]
    if is_comma_alone and not _OWN.match(text, joint.end()):
        return False
    return OPENS.match(text, joint.end()) is not None


def _is_finished(clause: str, then: str, joint: re.Match[str], *, is_shared: bool) -> bool:
    """Whether a clause ends where the next begins, and is no part of a list that goes on there."""
    if _UNFINISHED.search(clause) or _is_short(clause):
        return False
    if joint["word"] == "but" and _DENIES.search(clause):
        return False  # "I am not a nurse but I am a doctor" says one thing
    goes_on = _ENDS_IN_A_LIST.search(clause) is not None and not OPENS_OF_ONE.match(then)
    return is_shared or not goes_on


def _is_short(clause: str) -> bool:
    return len(clause.replace("'", " ").split()) < _FEWEST_WORDS


def _stated(clause: _Clause, before: str) -> str | None:
    """What a clause states alone; None where it states nothing or that is not certain.

    before: what the clause before it states.
    """
    if before and _PART_OF_A_THING.match(clause.text):
        return None
    if _OPENS_OF_US.match(clause.text) and _OPENS_OF_ME.match(before):
        return None  # "I have two brothers and we are close": they and I
    if before and clause.text.lower().startswith("the ") and not re.match(rf"the\b|{NAME}", before, _I):
        return None  # "I have a new job and the boss is nice": the boss there
    text = clause.text if not before else _without_pointer(clause, before)
    said = stated_in(text, as_right_words=False) if text else None
    if said is None or said.is_hearsay or said.is_wish or said.doubt:
        return None
    return said.text


def _without_pointer(clause: _Clause, before: str) -> str | None:
    """A clause with its pronoun replaced by what the clause before is of; None where that is not certain."""
    pronouns = [each[0].lower() for each in _PRONOUN.finditer(clause.text)]
    if not pronouns:
        return clause.text
    opens = _OPENS_POINTING.match(clause.text)
    if opens is None and not any(_things(before, each) for each in pronouns):
        return clause.text  # "I live in Oslo and my sister lives with her husband": nobody else is named
    own = _ITS_OWN[opens["who"].lower()] if opens else ""
    is_of_one = clause.is_pointing and all(each == own for each in pronouns[1:])
    if not is_of_one or _LISTS.search(before) or len(_things(before, pronouns[0])) != 1:
        return None
    text = clause.text[:1].upper() + clause.text[1:]
    meant = standalone(text, before, ())
    return meant if meant != text else None


def _things(clause: str, pronoun: str) -> list[str]:
    """What a pronoun behind a clause may mean there; of persons not where somebody is or what they are."""
    is_place_meant = pronoun in ("it", "its", "itself")
    return [
        found["thing"]
        for found in _THINGS.finditer(clause)
        if (found["before"] or "").lower() not in _IS
        and (is_place_meant or not found["before"])
        and found["thing"].lower() not in ("i", "we")
    ]


def _is_one_change(text: str, stated: list[str]) -> bool:
    """Whether the clauses tell one change or several values of one thing: "I left Acme, I am at Beta"."""
    given = [{(one.of, one.name) for one in relations(each)} for each in stated]
    is_repeated = sum(map(len, given)) > len(set().union(*given))
    return is_repeated or (_CHANGES.search(text) is not None and not all(given))


def _places(quote: str, rests: list[str]) -> list[int] | None:
    """Where in a quote each of these ends of its statement begins; None where that is not certain."""
    plain = plain_text(quote)
    at = [place for place, character in enumerate(plain.text) if character.isalnum()]
    said = _letters(quote)
    found: list[int] = []
    for rest in rests:
        wanted = _letters(rest)
        if said.count(wanted) != 1:
            return None
        found.append(plain.starts[at[said.index(wanted)]])
    is_in_order = found == sorted(set(found)) and found[0] > 0
    return found if is_in_order else None


def _letters(text: str) -> str:
    """Letters and digits alone, each as one character: marks of emphasis and spaces are no words."""
    letters = (character for character in plain_text(text).text if character.isalnum())
    return "".join(low if len(low := letter.lower()) == 1 else letter for letter in letters)

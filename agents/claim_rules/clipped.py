"""What people say of themselves without saying "I", as in a profile: "Based in Ghent, two kids, vegan."

    "Based in Ghent"   "I am based in Ghent."        "two kids"   "I have two kids."
    "works as a cook"  "I work as a cook."           "34"         "I am 34."

Such words may be of anybody, so they are taken only where the whole of it is made of them, two at least, and
one of them surely tells of a person; or where it is said to be one's own ("About me: ..."), or opens with
"I'm ...".
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from agents.claim_rules.lead_ins import without_filler
from agents.relations.parts import ANIMAL, PEOPLE

_I = re.IGNORECASE
_LONGEST_READ = 300  # characters
_FEWEST = 2  # where nothing else says that it is of oneself


class Clip(NamedTuple):
    """A part of a sentence that says something of the user, and what it says."""

    start: int
    end: int
    said: str
    is_telling: bool  # nobody would say it but of a person: "allergic to nuts", and not "two dogs"


_NAME = r"(?-i:[A-ZÀ-Þ][\w'-]+)(?: (?-i:[A-ZÀ-Þ][\w'-]+))?"
_NAMES = rf"{_NAME}(?:(?:, | and | & |, and ){_NAME})*"
_ADVERB = r"(?:(?:currently|now|originally|mostly|also|still|happily|newly|recently|strictly|usually) )?"
_STATE = (
    r"(?:(?:based (?:in|at|near|out of)|living (?:in|at|near|with|on)|allergic to|intolerant (?:to|of)|"
    r"married (?:to|with|for|since)|engaged to|retired (?:from|since)|employed (?:at|by|as)|"
    r"working (?:at|as|in|for|with|on)|studying|learning|training (?:as|to)|fluent in|fond of|into|keen on|"
    r"interested in|obsessed with|afraid of|scared of|from(?= (?-i:[A-ZÀ-Þ]))) .+|"
    r"(?:married|single|engaged|divorced|widowed|retired|unemployed|self-employed|left-handed|right-handed|"
    r"diabetic|asthmatic|colou?r-?blind|short-sighted|(?:lactose|gluten)[ -]intolerant|co?eliac|vegan|"
    r"vegetarian|pesc[ae]tarian|teetotal)(?: (?:since|for) .+)?)"
)
_BORN = r"(?:born(?: and (?:raised|bred))?|raised) (?:in|on|near)"
_DOES = (
    r"lives?|works?|plays?|speaks?|drives?|loves?|likes?|hates?|enjoys?|collects?|teach(?:es)?|owns?|rides?|"
    r"bakes?|sings?|paints?|volunteers?|swims?|cycles?|hikes?|eats?|drinks?|stud(?:y|ies)|has|moved|grew "
    r"up|commutes?|"
    r"prefers?|can't (?:eat|drink|stand)|doesn't|does not|don't"
)
_TELLING_DEED = re.compile(  # nothing but a person does it; and no order: "Work as a team"
    r"(?:lives (?:in|with|at|near|on)|works (?:as (?!a team|one\b|expected|intended|well)|at|for|part|"
    r"full|in|from)|speaks|studies|plays the|drives an?|"
    r"grew up|volunteers|collects|teaches|commutes|can't eat)\b",
    _I,
)
_COUNT = r"(?:an?|one|two|three|four|five|six|seven|eight|nine|ten|no|\d{1,2})"
_RELATIVE = (
    r"(?:kid|child(?:ren)?|son|daughter|boy|girl|brother|sister|sibling|grandchild(?:ren)?|grandkid|twin)s?"
)
_HAD = (
    rf"{_COUNT} (?:(?:small|little|young|grown-up|adult|teenage|rescue|old|lovely) )?"
    rf"(?:{_RELATIVE}|{ANIMAL}s?|mice)"
)
_TRADES = (
    r"accountant|actor|actress|architect|artist|baker|barber|builder|butcher|carpenter|chef|cook|dentist|"
    r"doctor|driver|economist|editor|electrician|engineer|farmer|firefighter|gardener|hairdresser|historian|"
    r"joiner|journalist|lawyer|lecturer|librarian|mechanic|midwife|musician|nurse|optician|painter|paramedic|"
    r"pharmacist|photographer|physicist|physiotherapist|pilot|plumber|professor|programmer|psychologist|"
    r"researcher|sailor|scientist|secretary|student|surgeon|tailor|teacher|technician|therapist|"
    r"translator|vet|"
    r"waiter|waitress|welder|writer|illustrator|barista|porter|caretaker|cleaner|clerk|plasterer|roofer|"
    r"analyst|"
    r"[a-z]{3,}(?:ographer|ologist|therapist|keeper|worker|maker|smith)|designer|developer|consultant|"
    r"manager|pensioner|freelancer"
)
_TRADE = rf"(?:an? )?(?:(?!in\b|of\b|for\b)[a-z-]+ ){{0,2}}?(?:{_TRADES})"
_BEHIND = r"(?: (?:by (?:trade|training|profession)|(?:at|in|for|from|with|near) .{2,60}))?"
_KIN = (
    r"(?:(?:proud|single|happy) )*(?:mother|father|mum|mom|dad|parent|grandmother|grandfather) "
    r"(?:of|to) .{2,40}"
)
_FAN = r"(?:an? )?(?:(?:big|huge|keen|avid|passionate) )*(?:fan of|lover of|amateur) .{2,40}"
_ALLERGY = r"(?:an? )?(?:severe |bad |mild )?[a-z-]+(?: [a-z]+)? allergy"
_AGED = re.compile(r"(?:aged? )?(?P<age>[1-9]\d)(?: years?(?: old)?| ?y/?o)?", _I)
_IS, _WAS, _HAVE, _IS_A, _DO, _NAMED = (
    re.compile(wording, _I)
    for wording in (
        rf"{_ADVERB}{_STATE}",
        rf"{_BORN} .+",
        rf"(?P<had>{_HAD})(?:(?:,| called| named|:)? \(?(?P<names>{_NAMES})\)?)?|(?P<allergy>{_ALLERGY})",
        rf"{_TRADE}{_BEHIND}|{_KIN}|{_FAN}",
        rf"{_ADVERB}(?P<does>{_DOES}) .+",
        rf"(?!{PEOPLE})(?:(?:my )?name: ?)?(?P<name>{_NAME})",
    )
)
_OF_ONESELF = re.compile(r"\W*(?:i|i'm|im|i've|my|we|our|me)\b", _I)
_SAYS_I = re.compile(r"\W*(?:i|i'm|im|i've|my name)\b", _I)
_GREETS = re.compile(r"(?:nice|pleased|good|happy|glad) to meet you|hi|hello", _I)
_LISTS = re.compile(  # what may go on behind a comma
    r"I (?:am (?:allergic to|intolerant|into|fluent in|fond of|keen on|interested in|learning)|(?:love|"
    r"like|hate|"
    r"enjoy|speak|play|collect|teach|prefer|can't (?:eat|drink|stand))) ",
    _I,
)
_FEW_WORDS = re.compile(r"[\w'-]+(?: [\w'-]+){0,2}")
_OPENS_BY_NAME = re.compile(
    rf"(?:(?:I'm|I am|My name is|My name's) (?!{PEOPLE})(?P<name>{_NAME})|(?P<here>{_NAME}) here)(?=,)"
)
_DWELLS = re.compile(
    r"live (?:in|near|at|on) (?:the )?(?-i:[A-ZÀ-Þ])|live with (?:my|our|the) |work (?:as an|at|for) ", _I
)
_ITEM = re.compile(r"\s*(?:[-*•–·]\s+)?")
_BETWEEN = re.compile(r"\s*[,;|/]\s+(?:(?:and|but|also) )*|(?<![Bb]orn)\s+(?:and|&) (?=[a-z]+)|\s+[-–—•·]\s+")
_ENDS = re.compile(r"[\s.!,;]*$")
_OF_NO_PERSON = re.compile(
    r":|\b(?:wanted|hiring|apply|founded|salary|hours|offers?|jobs?|role|position|company|firm|team|he|"
    r"she|they|his|"
    r"her|their|you|your|it|its|is|are|was|were|if|that|which|who|what|when|will|would|can|could|"
    r"should)\b|[?\"]",
    _I,
)
_IS_ORDER = re.compile(
    r"(?:live|work|play|speak|drive|teach|eat|drink|don't|sing|paint|ride|study|swim)\b", _I
)
_SAYS_MORE = re.compile(
    r"\b(?:he|she|they|his|her|their|you|your|it|its|is|are|was|were|if|that|which|who|what|when|will|"
    r"would|can|could|"
    r"should)\b|[?\"]",
    _I,
)


def clips(sentence: str, *, is_led: bool = False) -> list[Clip]:
    """What the parts of a sentence say of the user; nothing where some part is no such thing.

    is_led: it was said to be of oneself. Then other parts are passed over, and the first may be a name.
    """
    if len(sentence) > _LONGEST_READ:
        return []
    text = sentence.replace("’", "'")
    start = text.index(without_filler(text)) if without_filler(text) else 0
    named = _OPENS_BY_NAME.match(text, start)
    found: list[Clip] = []
    if named:
        opening = f"My name is {named['here']}." if named["here"] else f"{text[start : named.end()]}."
        found.append(Clip(start, named.end(), opening, is_telling=True))
    elif _OF_ONESELF.match(text, start):
        return []
    unknown: list[str] = []  # parts that say nothing
    for begins, ends in _parts(text, named.end() if named else start):
        part = text[begins:ends]
        is_name_wanted = is_led and not found
        clip = _clip(part, begins, has_name=named is not None or is_led, wants_name=is_name_wanted)
        if clip is not None:
            found.append(clip)
        elif found and _goes_on(found[-1], text[found[-1].end : begins], part):
            last = found.pop()
            said = f"{last.said.rstrip('.')}{text[last.end : ends]}."
            found.append(last._replace(end=ends, said=said))
        elif not is_led and not _GREETS.fullmatch(part):
            unknown.append(part)
    if unknown and (named or not _is_surely_of_a_person(found, unknown)):
        return []
    return [] if named and len(found) < _FEWEST else found


def is_own_profile(sentences: Sequence[str]) -> bool:
    """Whether these sentences of a message, said of nobody, are surely what its user says of themselves."""
    read = [clips(sentence) for sentence in sentences]
    if not all(found or _SAYS_I.match(text) for found, text in zip(read, sentences, strict=True)):
        return False
    found = [clip for each in read for clip in each]
    return len(found) >= _FEWEST and any(clip.is_telling for clip in found)


def _is_surely_of_a_person(found: Sequence[Clip], unknown: Sequence[str]) -> bool:
    """Whether so much tells of a person that the one part which says nothing here may be passed over."""
    telling = sum(clip.is_telling for clip in found)
    return telling >= _FEWEST and len(unknown) == 1 and not _OF_NO_PERSON.search(unknown[0])


def _goes_on(last: Clip, joint: str, part: str) -> bool:
    """Whether a part is one more of what the one before it lists: "into chess", "and board games"."""
    is_listed = "and" in joint.split() or "," in joint
    return is_listed and _LISTS.match(last.said) is not None and _FEW_WORDS.fullmatch(part) is not None


_TELLS_OF_ONESELF = re.compile(  # and names nobody else: "I met Anna today."
    r"\W*(?:hi|hello|hey|(?:i|i'm|im|i've|my name)\b"
    r"(?!.*(?<!\bI'm )(?<!\bI am )(?<!\bname is )(?<!\bin )(?<!\bfrom )(?<!\bat )\b(?-i:[A-ZÀ-Þ][a-zß-ÿ]+)))"
    r"(?!.*\b(?:he|she|they|him|her|his|their|my|our)\b(?! name\b)).*",
    _I | re.DOTALL,
)


def is_of_oneself_there(message_before: str) -> bool:
    """Whether a profile behind this message can be of nobody but its user."""
    plain = message_before.replace("’", "'").strip()
    return not plain or (len(plain) <= _LONGEST_READ and _TELLS_OF_ONESELF.fullmatch(plain) is not None)


def _parts(text: str, start: int) -> list[tuple[int, int]]:
    """Where the parts of a list stand; names behind what they name are one with it: "two boys, Jo and Al"."""
    begin = _ITEM.match(text, start)
    at = begin.end() if begin else start
    if joint := _BETWEEN.match(text, at):
        at = joint.end()
    end = len(text) - len(_ENDS.search(text)[0])  # type: ignore[index]
    found: list[tuple[int, int]] = []
    while at < end:
        if owned := re.compile(rf"{_HAD}(?:,| called| named|:)? \(?{_NAMES}\)?(?=[,;.]|$)", _I).match(
            text, at
        ):
            cut = owned.end()
        else:
            cut = at
        joint = _BETWEEN.search(text, cut, end)
        found.append((at, joint.start() if joint else end))
        at = joint.end() if joint else end
    return found


def _clip(part: str, begins: int, *, has_name: bool, wants_name: bool) -> Clip | None:
    ends = begins + len(part)
    if (aged := _AGED.fullmatch(part)) and has_name:
        return Clip(begins, ends, f"I am {aged['age']}.", is_telling=True)
    if _SAYS_MORE.search(part):
        return None
    if _IS.fullmatch(part):
        return Clip(begins, ends, f"I am {_lower_first(part)}.", is_telling=True)
    if _WAS.fullmatch(part):
        return Clip(begins, ends, f"I was {_lower_first(part)}.", is_telling=True)
    if had := _HAVE.fullmatch(part):
        return Clip(begins, ends, _having(had), is_telling=had["allergy"] is not None)
    if _IS_A.fullmatch(part):
        article = "" if re.match(r"an? ", part, _I) else "an " if part[0].lower() in "aeio" else "a "
        return Clip(begins, ends, f"I am {article}{_lower_first(part)}.", is_telling=has_name)
    if (deed := _DO.fullmatch(part)) and (has_name or _DWELLS.match(part) or not _IS_ORDER.match(part)):
        said = f"I {_first_person(part, deed.span('does'))}."
        return Clip(begins, ends, said, is_telling=_TELLING_DEED.match(part) is not None)
    if wants_name and (name := _NAMED.fullmatch(part)):
        return Clip(begins, ends, f"My name is {name['name']}.", is_telling=True)
    return None


def _having(had: re.Match[str]) -> str:
    """ "two boys: Jo and Al" as "I have two boys called Jo and Al."."""
    if had["allergy"]:
        allergy = _lower_first(had["allergy"])
        is_bare = re.match(r"an? ", allergy) is None
        return (
            f"I have {'an ' if allergy[0] in 'aeio' else 'a '}{allergy}." if is_bare else f"I have {allergy}."
        )
    names = f" called {had['names'].replace(' & ', ' and ')}" if had["names"] else ""
    return f"I have {_lower_first(had['had'])}{names}."


_IRREGULAR = {"has": "have", "studies": "study", "teaches": "teach", "doesn't": "don't", "does not": "do not"}


def _first_person(part: str, verb: tuple[int, int]) -> str:
    """ "Works as a cook" as "work as a cook"."""
    start, end = verb
    said = part[start:end].lower()
    plain = _IRREGULAR.get(said) or (said.removesuffix("s") if said.endswith("s") else said)
    return f"{_lower_first(part[:start])}{plain}{part[end:]}"


def _lower_first(text: str) -> str:
    return text[:1].lower() + text[1:]

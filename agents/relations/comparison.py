"""What a statement gives of which somebody has one at a time, and what a later one does to it.

    "I work at the harbour office.", "I changed jobs, I'm at the library now."    one workplace: the later "
    "holds
    "I work at the library.", "I work as a nurse.", "I also work at the zoo."     all of them may hold

By rules that say nothing in doubt: of two values both may hold, and one that is overwritten is lost to
whoever meant both. What is limited ("on Fridays", "also"), to come ("will") or long past gives no value.
"""

from __future__ import annotations

import re
from typing import Literal, TypeAlias

from agents.claim_rules.lead_ins import without_filler
from agents.relations.amounts import AMOUNT_KIND, DAILY, OF_AMOUNTS
from agents.relations.named_persons import NamedPersons
from agents.relations.parts import Relation
from agents.relations.persons import HOME_CHANGED, JOB_CHANGED, OF_PERSONS
from agents.relations.places import place_kind
from agents.relations.things import OF_THINGS, ONE_CHANGED
from agents.values import content, names

_LONGEST_READ = 300  # characters: to look through more takes too long, and it is no plain statement
RelationChange: TypeAlias = Literal["value", "negated", "withdrawn", "other"]


def relations(text: str) -> list[Relation]:
    """What a statement of one sentence gives; empty for most, and for long ones."""
    if len(text) > _LONGEST_READ or text.rstrip().endswith("?"):
        return []
    plain = _without_contrast(written_out(text))
    if _LIMITED.search(plain):
        return []
    is_new = _NEW.search(plain) is not None
    parts = [_closed_up(_TIME.sub(" ", plain[start:end])) for start, end in clauses(plain)]
    joined = " : ".join(parts)
    is_one = len(parts) > 1 and any(wording.match(joined) for wording in _TOLD_IN_TWO)
    read = [joined] if is_one else parts
    found = [
        relation._replace(is_new=relation.is_new or is_new)
        for clause in read
        for relation in _of_clause(clause)
    ]
    held = {relation.name for relation in found if not relation.over}
    return [relation for relation in found if not relation.over or relation.name not in held]


def relation_change(old: str, new: str) -> RelationChange | None:
    """What the new statement does to the old one, by what both give of the same person.

    "other" where both give something and both may hold; None where their words are left to decide.
    """
    persons = NamedPersons([old, new])
    before, after = relations(persons.named(old)), relations(persons.named(new))
    if not before or not after:
        return None
    pairs = [(one, other) for one in before for other in after if one.of == other.of]
    met = [_met(one, other) for one, other in pairs if one.name == other.name]
    if not met:
        return "other" if pairs else None
    told = [each for each in met if each is not None]
    return min(told, key=_STRONGEST.index) if told else None


def says_more(old: str, new: str) -> bool:
    """Whether a statement says more than the value that a later one gives otherwise: that would be lost.

    "I live in Turin with my husband Paolo", "I moved to Genoa"
    """
    before, given_anew = relations(old), {(one.of, one.name) for one in relations(new)}
    if any((one.of, one.name) not in given_anew for one in before):
        return True
    known = {item for one in before for item in (*one.value, *one.of, *content(one.name))}
    if any(one.name in ("spouse", "marriage") for one in before):
        known |= _OF_MARRIAGE
    if any(one.name == "home" for one in before):
        known |= _wider_places(old)
    plain = _closed_up(_TIME.sub(" ", written_out(old)))
    left = set(content(plain)) - known.union(content(new), _OF_RELATIONS)
    return len(left) >= (1 if before else _MORE_WORDS)


def _wider_places(text: str) -> set[str]:
    """The items of the countries and states that a text names: "Lyon, France" is one place."""
    found = (text[name.start : name.end] for name in names(text))
    return {
        item
        for place in found
        if place_kind(place) in ("continent", "country", "state")
        for item in content(place)
    }


def clauses(text: str) -> list[tuple[int, int]]:
    """Where the clauses of a sentence stand in it that have a subject of their own; one for most."""
    found, start = [], 0
    for between in _CLAUSE.finditer(text):
        found.append((start, between.start()))
        start = between.end()
    return [*found, (start, len(text))]


_MORE_WORDS = 2  # content words that are more than the value of a statement that is not understood
_OF_RELATIONS = frozenset(
    content(
        "live living reside based settle move home house flat place work working job position employ "
        "employer company profession occupation change switch leave name called year old age turn bear "
        "birthday number address phone new current last week month great happy project task report "
        "paper essay due pay earn weigh go went up down raise rise rose increase lower reduce drop fell"
    )
)
_OF_MARRIAGE = frozenset(content("marry married wife husband spouse"))
_STRONGEST: tuple[RelationChange, ...] = ("value", "negated", "withdrawn", "other")


def _met(old: Relation, new: Relation) -> RelationChange | None:
    """None where both give the same value, or one says more of it."""
    if old.over:
        return None if new.value == old.value else "other"
    if new.over:
        return new.over if new.value <= old.value else "other"
    if old.value <= new.value or new.value <= old.value:
        return None
    if old.name == "home" and (old.kind != new.kind or new.kind == "unknown"):
        return "other"
    is_doubtful = old.kind != new.kind or old.needs_new or new.needs_new
    return "value" if new.is_new or not is_doubtful else "other"


def written_out(text: str) -> str:
    """A sentence without what leads into it, its stop and its contractions."""
    plain = without_filler(" ".join(text.replace("’", "'").split())).rstrip(".!? ")
    for short, long in _LONG_FORMS:
        plain = short.sub(long, plain)
    return plain


# How a sentence is read: contractions, contrasts, clauses, times

_I = re.IGNORECASE
_LONG_FORMS = tuple(
    (re.compile(short, _I), long)
    for short, long in (
        (r"\bi'?m\b", "I am"),
        (r"'s (?=(?:called|named)\b)", " is "),
        (r"\b(i|we)'ve\b", r"\1 have"),
        (r"\bwe're\b", "we are"),
        (
            r"\b(it|job|number|birthday|address|boss|doctor|dentist|what|who|where|when)'s (?!name\b)",
            r"\1 is ",
        ),
        (r"\b(do|does|is|are|was|were|did|has|have)n't\b", r"\1 not"),
        (r"\bwas born\b", "born"),
        (
            r"\b(?:was|were|has been|have been|got) (moved|postponed|rescheduled|delayed|pushed back|put off|"
            r"brought forward) (?:to|until|till|by)\b",
            r"is \1 to",
        ),
        (r"\bis (delayed|postponed) (?:until|till)\b", r"is \1 to"),
        (
            r"\b(?:was|were|has been|have been|got) (raised|increased|lowered|reduced|cut|put up|"
            r"brought down|dropped|adjusted|changed)\b(?=.* to\b)",
            r"is \1",
        ),
        (rf"\b(i|we) (?:usually|normally|generally|mostly|always) (?={DAILY}\b)", r"\1 "),
        (
            rf"\b({DAILY} [^,;]+?) (?:every (?:day|morning|evening|night)|in the (?:morning|evening)s?|"
            r"daily)\b",
            r"\1",
        ),
        (
            r"^(i|we) (?:have )?(?:quit|left|sold|gave up|got rid of|retired from|resigned from) [^,;]+? and "
            r"(?:now )?(?:am |are )?(?=(?:work|live|living|drive|driving|ride|use|study|bank)\w*\b)",
            r"\1 now ",
        ),
        (r"\b(?:have|has) (?:always |only )*lived (?=.*\b(?:since|for)\b)", "live "),
        (
            r"\b(?:have|has) (?:always |only )*worked (?=.*\b(?:since|for (?:\w+ )*(?:years?|months?|"
            r"weeks?))\b)",
            "work ",
        ),
        (r"\bany more\b|\bany longer\b", "anymore"),
    )
)
_PLACED = r"(?:at|in|for|with|to|on)"
_CONTRASTS = (
    (re.compile(rf"\b(?:do|does) not (\w+) {_PLACED} [^,]+?,? but (?:now )?({_PLACED}) ", _I), r"\1 \2 "),
    (re.compile(rf"\b(?:no longer|not) (?:{_PLACED} )?[^,]+?,? but (?:now )?(?!i\b)", _I), ""),
    (re.compile(r",? (?:instead of|rather than|in place of) [^,.]+", _I), " instead"),
    (
        re.compile(rf"(?:,| and) (?:not|no longer) (?:{_PLACED} )?(?:the |an? )?[\w' .-]+$", _I),
        " instead",
    ),
)
_SUBJECT = (
    rf"(?:(?:i|we|it)\b|the new [\w-]+(?: [\w-]+)? (?:is|are) |(?-i:[A-ZÀ-Þ])[\w'-]+ is (?:my|our) |"
    rf"(?:the|my|our) (?:[\w-]+ )?{AMOUNT_KIND} (?:is|are|was|went|has|rose|goes) |"
    r"(?:my|our) [\w-]+(?: [\w-]+)?(?:'s| is| are| was| has| have| lives?| works?| likes?) )"
)
_CLAUSE = re.compile(
    rf"\s*[,;:–—.]\s*(?:(?:and|but|so|now) )*(?={_SUBJECT})|\s+(?:and|but|so) (?:now )?(?={_SUBJECT})"
    r"|\s+and (?=(?:bought|got|took|started|joined|moved) )|\s+-\s+",
    _I,
)
_TOLD_IN_TWO = [
    re.compile(each, _I) for each in (JOB_CHANGED, HOME_CHANGED, ONE_CHANGED, r".*\bnew [\w -]+ : ")
]
_LIMITED = re.compile(
    r"\b(?:also|too|as well|another|second|other|either|both|besides|sometimes|occasionally|often|usually|"
    r"mostly|partly|part[- ]time|volunteer\w*|temporarily|for (?:now|the (?:moment|time being|summer|"
    r"winter|week|weekend|holidays?))|until|till|during|(?:on|at) (?:the )?weekends?|on (?:mon|tues|"
    r"wednes|thurs|fri|satur|sun)days|on (?:holiday|vacation|business)|in (?:the )?(?:mornings?|"
    r"afternoons?|evenings?|summers?|winters?|spring|autumn)|every|each|half|this (?:week|month|summer|"
    r"winter|spring|autumn|weekend|term)|tomorrow|next(?! to)|soon|will|would|could|might|should|going to|"
    r"moving|about to|want|wish|hope|plan(?:s|ning|ned)?|was|were|had|if|in [12]\d{3}|\w+ (?:years|"
    r"decades) ago|as a (?:child|kid|student|boy|girl)|still|say|says|said|think|thinks|hear|heard|told|"
    r"almost|nearly|do you|did you)\b|\?",
    _I,
)
_NEW = re.compile(
    r"\b(?:now|nowadays|these days|instead|currently|from now on|as of|new|changed|switched|since|moved|"
    r"at last|finally|recently|anymore|no longer)\b",
    _I,
)
_MONTH = r"(?:january|february|march|april|may|june|july|august|september|october|november|december)"
_TIME = re.compile(
    r"\b(?:now|nowadays|these days|instead|currently|at the moment|at present|from now on|just|recently|"
    r"finally|"
    r"already|actually|really|at last|again|meanwhile|since then|full[- ]time|today|yesterday|"
    rf"as of (?:today|now|\w+day|last \w+|{_MONTH})|(?:since|in) (?:early |late |last )?{_MONTH}(?! \d)"
    r"|since (?:last )?\w+|last (?:week|month|year|summer|winter|spring|autumn|night|\w+day)"
    r"|(?<!\bis )(?<!\bare )on \w+day"
    r"|for (?:(?:the|about|over|almost) )*(?:(?:last|past) )?(?:[\w-]+ ){1,2}(?:years|months|weeks)"
    r"|(?:a|an|one|two|three|four|\d+|some|a few) (?:days?|weeks?|months?) ago|(?:a while|some time) ago)\b",
    _I,
)


def _without_contrast(text: str) -> str:
    """What holds of "not at X but at Y", "Y instead of X", "Y, not X"."""
    for contrast, left in _CONTRASTS:
        text = contrast.sub(left, text)
    return text


def _closed_up(text: str) -> str:
    return re.sub(r"\s+,", ",", " ".join(text.split())).strip(" ,")


_ENDED = re.compile(
    r"\b(?:(?P<back>no longer )|(?P<past>used to )|(?P<denied>(?:do|does) not )(?=.*\banymore$)|"
    r"(?P<left>(?:have |has )?(?:stopped|quit|finished) )(?=working|living))",
    _I,
)


def _of_clause(clause: str) -> list[Relation]:
    ended = _ENDED.search(clause)
    if ended is None:
        return [] if _DENIED.search(clause) else _given(clause)
    rest = (clause[: ended.start()] + clause[ended.end() :]).removesuffix(" anymore")
    over: Literal["negated", "withdrawn"] = "negated" if ended["past"] or ended["left"] else "withdrawn"
    return [relation._replace(over=over) for relation in _given(rest)]


_DENIED = re.compile(r"\b(?:not|never|cannot|hardly)\b", _I)

_WORDINGS = [
    (re.compile(wording, re.IGNORECASE), read)
    for wordings, read in (*OF_AMOUNTS, *OF_THINGS, *OF_PERSONS)
    for wording in wordings
]


def _given(clause: str) -> list[Relation]:
    """What a clause gives; nothing for most."""
    for wording, read in _WORDINGS:
        if (match := wording.match(clause)) and (found := list(read(match))):
            return found
    return []

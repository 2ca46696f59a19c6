"""How a sentence is read: without what leads into it, contractions, contrasts and times, clause by clause.

"Actually I've just moved to Bonn, and my boss is Ann."   "I have moved to Bonn", "my boss is Ann"
"""

from __future__ import annotations

import re

from agents.claim_rules.doubts import without_doubt
from agents.claim_rules.lead_ins import without_filler
from agents.relations.amounts import AMOUNT_KIND, DAILY


def written_out(text: str) -> str:
    """A sentence without what leads into it, its stop and its contractions."""
    plain = _without_short_forms(text)
    for said, meant in _REPHRASED:
        plain = said.sub(meant, plain)
    return plain


def as_said(text: str) -> str:
    """A sentence without what leads into it, its stop, its contractions and its times, else as it stands."""
    return without_times(_without_short_forms(text))


def without_times(text: str) -> str:
    """A text without the words that only say when."""
    return closed_up(_TIME.sub(" ", text))


def _without_short_forms(text: str) -> str:
    plain = without_doubt(without_filler(" ".join(text.replace("’", "'").split()))).rstrip(".!? ")
    for short, long in _LONG_FORMS:
        plain = short.sub(long, plain)
    return plain


def clauses(text: str) -> list[tuple[int, int]]:
    """Where the clauses of a sentence stand in it that have a subject of their own; one for most."""
    found, start = [], 0
    for between in _CLAUSE.finditer(text):
        found.append((start, between.start()))
        start = between.end()
    return [*found, (start, len(text))]


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
        (r"\b(he|she|they)'(?:s|re) (?=(?-i:[A-Z])|called\b|named\b)", r"\1 is "),
        (r"\b(do|does|is|are|was|were|did|has|have)n't\b", r"\1 not"),
        (r"\bany more\b|\bany longer\b", "anymore"),
    )
)
_REPHRASED = tuple(
    (re.compile(said, _I), meant)
    for said, meant in (
        (r"\bwas born\b", "born"),
        (
            r"\b(?:was|were|got|has been|have been) (?:laid off|fired|sacked|dismissed|let go|made redundant|"
            r"given the sack)\b",
            "fired",
        ),
        (r"\bgot the sack\b", "fired"),
        (r"\b(?:was|were|got|has been|have been) (?:hired|taken on) (?:by|at)\b", "work for"),
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
        (
            r"^(i|we) (?:have )?(?:quit|left|gave up|retired from|resigned from|stopped) [^,;]+? and "
            r"(?:now )?(?:i )?(?:am|are|became) (?=(?:now )?an? )",
            r"\1 am now ",
        ),
        (r"\b(?:have|has) (?:always |only )*lived (?=.*\b(?:since|for)\b)", "live "),
        (
            r"\b(?:have|has) (?:always |only )*worked (?=.*\b(?:since|for (?:\w+ )*(?:years?|months?|"
            r"weeks?))\b)",
            "work ",
        ),
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
_CLAUSE = re.compile(  # a run of spaces is read from its beginning alone, else a long one takes its square
    rf"(?<!\s)(?:\s*[,;:–—.]\s*(?:(?:and|but|so|now) )*(?={_SUBJECT})"
    rf"|\s+(?:and|but|so) (?:now )?(?={_SUBJECT})"
    r"|\s+and (?=(?:bought|got|took|started|joined|moved) )|\s+-\s+)",
    _I,
)
LIMITED = re.compile(
    r"\b(?:also|too|as well|another|second|other|either|both|besides|sometimes|occasionally|often|usually|"
    r"mostly|partly|part[- ]time|volunteer\w*|temporarily|for (?:now|the (?:moment|time being|summer|"
    r"winter|week|weekend|holidays?))|until|till|during|(?:on|at) (?:the )?weekends?|on (?:mon|tues|"
    r"wednes|thurs|fri|satur|sun)days|on (?:holiday|vacation|business)|in (?:the )?(?:mornings?|"
    r"afternoons?|evenings?|summers?|winters?|spring|autumn)|every|each|half|this (?:week|month|summer|"
    r"winter|spring|autumn|weekend|term)|tomorrow|next(?! to)|soon|will|would|could|might|should|going to|"
    r"moving|about to|want|wish|hope|plan(?:s|ning|ned)?|was|were|had|if|in [12]\d{3}|\w+ (?:years|"
    r"decades) ago|as a (?:child|kid|student|boy|girl)|still|say|says|said|think|thinks|hear|heard|told|"
    r"almost|nearly|do you|did you)\b|\bleft .*\b(?:early|late|at (?:\d|noon|\w+ o'clock))|\?",
    _I,
)
NEW = re.compile(
    r"\b(?:now|nowadays|these days|instead|currently|from now on|as of|new|changed|switched|since|moved|"
    r"at last|finally|recently|anymore|no longer|again)\b",
    _I,
)
_MONTH = r"(?:january|february|march|april|may|june|july|august|september|october|november|december)"
_TIME = re.compile(
    r"\b(?:now|nowadays|these days|instead(?! of)|currently|at the moment|at present|from now on|just|"
    r"recently|"
    r"finally|"
    r"already|actually|really|at last|again|meanwhile|since then|full[- ]time|today|yesterday|"
    rf"as of (?:today|now|\w+day|last \w+|{_MONTH})|(?:since|in) (?:early |late |last )?{_MONTH}(?! \d)"
    r"|since (?:last )?\w+|last (?:week|month|year|summer|winter|spring|autumn|night|\w+day)"
    r"|(?<!\bis )(?<!\bare )on \w+day"
    r"|for (?:(?:the|about|over|almost) )*(?:(?:last|past) )?(?:[\w-]+ ){1,2}(?:years|months|weeks)"
    r"|(?:a|an|one|two|three|four|\d+|some|a few) (?:days?|weeks?|months?) ago|(?:a while|some time) ago)\b",
    _I,
)


def without_contrast(text: str) -> str:
    """What holds of "not at X but at Y", "Y instead of X", "Y, not X"."""
    for contrast, left in _CONTRASTS:
        text = contrast.sub(left, text)
    return text


def closed_up(text: str) -> str:
    """A text without what was left of spaces and commas where words were taken out."""
    return re.sub(r"\s+,", ",", " ".join(text.split())).strip(" ,")

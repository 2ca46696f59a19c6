"""What a message only remarks: that the answer before it is wrong, or that something does not work.

    "No, that's wrong."    "it says the database is locked"    "the screen is black"

It states nothing about its user, so nothing is promised to be kept, and nothing is learned from it.
"""

from __future__ import annotations

import re

from agents.claim_rules.lead_ins import without_filler
from agents.sentences import is_question, sentences

_I = re.IGNORECASE
_LONGEST_READ = 200  # characters
_SOFTLY = (
    r"(?:(?:still|again|just|simply|totally|completely|plainly?|all|quite|so|also|clearly|obviously|now) )*"
)
_WRONG = (
    r"(?:wrong|false|incorrect|untrue|nonsense|rubbish|mistaken|outdated|useless|no answer|an? (?:mistake|"
    r"lie)|"
    r"bad|not (?:true|right|correct|so|good|it|(?:the|an) answer|what i (?:asked|meant|said|wanted)"
    r"(?: for| to know)?))"
)
_ANSWER = r"(?:that|this|it|(?:your|the|this|that) (?:answer|reply|quote)|what you (?:say|said))"
_DENIAL = re.compile(
    r"\W*(?:(?:no|nope|nah|sorry|hm+|well|oh|but|actually|wait|hey|vouch|argh|huh|come on|i don't think so|"
    r"i(?:'m| am) afraid|i think)\W+)*"
    rf"(?:{_ANSWER}(?:'s| is| was) {_SOFTLY}{_WRONG}"
    rf"|{_ANSWER} (?:isn't|wasn't) {_SOFTLY}(?:true|right|correct|so|good|it|(?:the|an) answer|"
    r"what i (?:asked|meant|said|wanted)(?: for| to know)?)"
    rf"|you(?:'re| are| were) {_SOFTLY}(?:wrong|mistaken|lying)"
    r"|i (?:did not|didn't|never) (?:ask|asked|say|said|mean|meant|tell you|told you) (?:that|this|so|for "
    r"(?:that|this))"
    rf"|(?:(?:a )?(?:wrong|bad|useless) (?:answer|reply)|{_WRONG}|no|nope))"
    r"(?: (?:at all|again|either|about (?:that|this|it)))*\W*",
    _I,
)


def denies_the_answer(message: str) -> bool:
    """Whether a message says only that the answer before it is wrong; not what is right."""
    plain = " ".join(message.replace("’", "'").split())
    return len(plain) <= _LONGEST_READ and "?" not in plain and _DENIAL.fullmatch(plain) is not None


_PART = (
    r"(?:vouch|(?:the|your) (?:whole |black |chat |reply |search |shared )?(?:screen|terminal|"
    r"program(?:me)?|app|"
    r"application|window|prompt|cursor|display|database|index|model|chat|learner|training|installation|"
    r"install|"
    r"command|import|export|server|download|store|disk|memory|encoder|reader|keyboard|keys?|menu|list))"
)
_IT = r"(?:it|this|that|everything|something)"
_WORKS = (
    r"(?:work|start|open|load|respond|answer|react|run|stop|connect|save|show|close|appear|install|move|"
    r"scroll|"
    r"finish|end|come up|let me \w+)"
)
_BROKEN = (
    r"(?:black|blank|empty|white|dark|frozen|stuck|broken|locked|corrupt(?:ed)?|damaged|down|full|slow|"
    r"dead|gone|"
    r"unreadable|garbled|missing|hanging|crashed|wrong|(?:not|no longer) (?:work|respond|start|load|runn)ing)"
)
_HOW = (
    r"(?: (?:any ?more|at all|now|again|yet|still|properly|correctly|here|anything|up|for me|all the time))*"
)
_COMPLAINT = re.compile(
    r"\bno\b|\bnot\b|n't\b|\bcannot\b|\b(?:error|lock|fail|denied|wrong|missing|invalid|unknown|busy|full|"
    r"read-only|"
    r"traceback|permission|refused|time(?:d )?out|another process|broken|corrupt|damaged|crash)",
    _I,
)
_SAYS = re.compile(
    rf"(?:{_IT}|{_PART}) (?:just |only |always |now |keeps )*(?:says?|saying|shows?|prints?|reports?|"
    r"tells me|gives(?: me)?|throws) (?P<said>.+)",
    _I,
)
_I_CANNOT = r"i (?:can't|cannot|could not|couldn't|am unable to)"
_TROUBLE = re.compile(
    rf"(?:(?:{_IT}|{_PART}|nothing) (?:just |still |simply )*(?:(?:do|does|did|will|can|is|has)(?:n't| not)|"
    rf"won't|can't|cannot|no longer) {_WORKS}(?:s|ing|ed)?"
    rf"|(?:{_IT}|{_PART}) (?:just |always |still |keeps? |has |suddenly )*"
    r"(?:crash|hang|freez|froze|fail|flicker|blink)\w*"
    rf"|(?:{_IT}|{_PART})(?:'s| is| are| was| went| stays| remains| got| looks| turned) {_SOFTLY}"
    rf"(?:suddenly |only |too |very |always |nearly )*{_BROKEN}"
    r"|nothing (?:works|happens|appears|moves|helps|comes(?: up)?|is shown)"
    r"|something (?:went|goes|is) wrong"
    r"|(?:there(?:'s| is) |i (?:get|got|see|have|keep getting|am getting|only see|only get) )?"
    r"(?:an? |the |this |some |only |just |nothing but )*(?:\w+ )?"
    r"(?:errors?|error messages?|traceback|exception|(?:black|blank|empty|white) screen)"
    rf"|{_I_CANNOT} (?:open|start|run|install|save|type|scroll|exit|quit|close|import|log in|connect|undo|"
    rf"load|use)(?: (?:{_IT}|{_PART}|anything))?"
    rf"){_HOW}",
    _I,
)


def is_trouble(sentence: str) -> bool:
    """Whether a sentence says only that the program, or something that it does not name, does not work."""
    plain = without_filler(" ".join(sentence.replace("’", "'").split())).rstrip(".!… ")
    if len(plain) > _LONGEST_READ or is_question(sentence):
        return False
    if _TROUBLE.fullmatch(plain):
        return True
    says = _SAYS.fullmatch(plain)
    return says is not None and _COMPLAINT.search(says["said"]) is not None


def names_what_is_broken(sentence: str) -> bool:
    """Whether trouble names what it is of, or says what is reported; "it" may be something of the user's."""
    plain = without_filler(sentence)
    return re.match(rf"{_IT}\b", plain, _I) is None or _SAYS.match(plain) is not None


def tells_of_trouble(message: str) -> bool:
    """Whether a message tells of trouble, and of nothing else."""
    told = sentences(message)
    return bool(told) and all(is_trouble(one.text) for one in told)

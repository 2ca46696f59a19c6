"""What only tells how somebody feels just now: "I'm tired.", "I feel sad today.", "I can't stop crying."

It holds no longer than the day, and to read it months later as what is known of oneself is no help. What
lasts is none: "I'm always tired.", "I've been sad since March.", "I'm tired of my job."
"""

from __future__ import annotations

import re

from agents.claim_rules.lead_ins import without_filler

_I = re.IGNORECASE
_LONGEST_READ = 120  # characters
_SIGHS = re.compile(r"^(?:(?:ugh|argh|sigh|phew|gosh|god|omg|man|yay|oh (?:god|man|no))[ ,!.…]+)+", _I)
_HOW = (
    r"(?:(?:so|very|really|too|pretty|quite|rather|just|still|kind of|kinda|sort of|totally|completely|"
    r"absolutely|"
    r"super|dead|extremely|incredibly|terribly|awfully|utterly|feeling|a bit|a little|a lot|all|only|not|"
    r"not that|"
    r"also|already|simply|getting|more|even) )*"
)
_STATE = (
    r"(?:tired|exhausted|knackered|sleepy|worn out|wiped out|drained|shattered|bored|sad|happy|unhappy|"
    r"miserable|"
    r"blue|down|low|gloomy|glum|depressed today|angry|furious|mad|annoyed|irritated|grumpy|cross|upset|"
    r"frustrated|"
    r"lonely|nervous|anxious|worried|scared|afraid|stressed(?: out)?|overwhelmed|fed up|hungry|thirsty|"
    r"starving|"
    r"hangry|hungover|hot|cold|freezing|excited|thrilled|glad|cheerful|content|relieved|relaxed|calm|"
    r"confused|"
    r"surprised|shocked|disappointed|hurt|ashamed|embarrassed|jealous|proud|grateful|better|worse|great|good|"
    r"fine|ok|okay|well|bad|awful|terrible|horrible|lousy|rotten|shit|crap|amazing|fantastic|wonderful|"
    r"alright|"
    r"all right|meh|empty|lost|hopeless|helpless|restless|busy|late|early|ready|back|here|awake|out of "
    r"breath|"
    r"over the moon|under the weather|on edge|at the end of my tether|dizzy|strange|weird|funny|sorry|alone|"
    r"in an? (?:\w+ )?mood|having an? (?:\w+ )?(?:day|morning|evening|time))"
)
_NOW = (
    r"(?:(?: |, )(?:today|tonight|now|right now|just now|at the moment|again|this (?:morning|afternoon|"
    r"evening|week)|"
    r"thanks|thank you|too|though|tbh|honestly|lol|haha|already|inside|somehow|as well|at work))*"
)
_OF_IT = (
    r"(?: (?:of|about|with|by|for|at|from) (?:it|this|that|everything|all (?:this|that|of it)|today|"
    r"tomorrow|tonight|"
    r"life|things|nothing|work|you|me))?"
)
_WEEPS = r"(?:crying|weeping|shaking|laughing|yawning|worrying|trembling|screaming)"
_KIND_OF_DAY = (
    r"(?:bad|good|great|long|hard|rough|terrible|awful|horrible|lovely|nice|busy|stressful|crap|shit|tough)"
)
_MOOD = re.compile(
    rf"(?:(?:i|we)(?:'m| am|'re| are|m)? (?:am |are )?(?:been )?(?:feel(?:ing)? "
    rf")?{_HOW}{_STATE}{_OF_IT}{_NOW}"
    rf"|(?:i|we) (?:really |still |just )?(?:do not|don't|can't|cannot) feel {_HOW}"
    rf"(?:well|good|great|happy|like (?:it|anything|doing anything|talking)){_NOW}"
    rf"|(?:i|we) (?:just |really )?(?:can't|cannot|couldn't|could not) (?:stop|help) {_WEEPS}{_NOW}"
    rf"|i (?:just |really )?(?:can't|cannot) (?:take (?:it|this)|go on|do this|cope|bear (?:it|this))"
    rf"(?: any ?more| any longer)?{_NOW}"
    rf"|i (?:could|want to|feel like|wanna|need to|just want to) (?:just )?(?:cry|scream|crying|screaming|"
    rf"giving up|"
    rf"give up|sleep|die of boredom|go to bed|hide){_NOW}"
    rf"|i(?:'ve| have)? (?:had|have|having) an? {_HOW}{_KIND_OF_DAY} "
    rf"(?:day|night|morning|evening|week|time){_OF_IT}{_NOW}"
    rf"|(?:today|this (?:morning|week)|it) (?:is|was|has been) an? {_HOW}{_KIND_OF_DAY} "
    rf"(?:day|night|morning|evening|week|one){_NOW}"
    rf"|i (?:slept|sleep) {_HOW}(?:badly|well|poorly)(?: last night| tonight| today)"
    rf"|i (?:didn't|did not|could not|couldn't) sleep(?: {_HOW}(?:well|much|a wink|at all))?"
    rf"(?: last night| tonight| today)?"
    rf"|i(?:'m| am) (?:crying|weeping|yawning|shaking|laughing|smiling){_NOW}"
    r"|i (?:\w+ )?(?:need|could use|could do with) an? (?:\w+ )?(?:hug|break|coffee|nap|drink|holiday|rest))",
    _I,
)
_OF_OTHERS = re.compile(
    rf"(?:(?:my|our) [\w-]+(?: (?-i:[A-ZÀ-Þ])[\w-]+)?|he|she|they|(?-i:[A-ZÀ-Þ])[\w-]+)"
    rf"(?:'s| is| are|'re| feels?) {_HOW}(?!(?:late|early|back|here|at|well|hot|cold)\b){_STATE}"
    r" (?:today|tonight|right now|at the moment|this (?:morning|afternoon|evening))",
    _I,
)


def is_mood(sentence: str) -> bool:
    """Whether a sentence tells how somebody feels just now, and nothing else."""
    plain = " ".join(sentence.replace("’", "'").split())
    plain = _SIGHS.sub("", without_filler(plain)).rstrip(" .!…")
    if len(plain) > _LONGEST_READ:
        return False
    return _MOOD.fullmatch(plain) is not None or _OF_OTHERS.fullmatch(plain) is not None

"""Groups of what somebody has or does several of: which of them a question asks for, and what tells one.

    "What pets do I have?"           pets        <-  "My dog is called Rex."   "We have two budgies."
    "Which languages do I speak?"    languages   <-  "I speak French."         "My mother tongue is Basque."

The table below is small and says what it knows: what is not in it belongs to no group. A sentence comes here
as it was said; what denies or ends something tells none ("I no longer have a hamster").
"""

from __future__ import annotations

import re
from typing import NamedTuple

from agents.relations.clauses import written_out
from agents.relations.listed import gone_one

_I = re.IGNORECASE
_LONGEST_READ = 300  # characters
_NAME = r"(?-i:[A-ZÀ-Þ])[\w-]+"
_SELF = r"\b(?:i|we)"
_ADVERBS = (
    r"(?: (?:also|always|both|can|currently|do|have|just|mostly|now|only|really|recently|regularly|sometimes|"
    r"still|usually|often))*"
)
_SOME = (
    r"(?:an?|another|one|two|three|four|five|six|seven|eight|nine|ten|\d+|some|several|many|few|the|my|our)"
)
_NO_PART = r"(?!(?:who|that|which|with|whose|for|to|of|from|no|not|never|any)\b)"
_ENDS = (  # of what is had, so that "a dog allergy" is no dog
    r"(?! (?:for (?:\w+ )?(?:breakfast|lunch|dinner|supper|tea)|on (?:my|our) mind)\b)"
    r"(?=$|[,.;:!()]| (?:called|named|and|or|who|that|which|with|at|since|for|in|on|now|too|also|as|from|"
    rf"whose|but|again|here|there|by|to|because|so|last|this|yesterday|today|is|are|has|have|{_NAME})\b)"
)
_IS_SAID_OF = (
    r"(?='s name\b|,|$|,? (?:is|are|has|have|likes?|loves?|hates?|needs?|eats?|sleeps?|lives?|works?|plays?|"
    rf"studies|called|named|and|who|turned|speaks?|{_NAME})\b)"
)
_NOT_NOW = (
    r"(?!(?:former|late|ex|dead|first|last|next|previous|is|are)\b)"  # "my boss's dog" opens "my boss is"
)


def _had(kinds: str) -> tuple[str, ...]:
    """The wordings that tell that the user has one: "We have a dog", "My dog is ill", "Rex is my dog"."""
    return (
        rf"{_SELF}{_ADVERBS} (?:have|own|keep|got|adopted|bought|rescued)"
        rf"(?: {_SOME}(?:,? {_NO_PART}[\w-]+){{0,4}}?)? (?:{kinds}){_ENDS}",
        rf"\b(?:my|our)(?: {_NOT_NOW}[\w-]+){{0,2}}? (?:{kinds}){_IS_SAID_OF}",
        rf"\b{_NAME} (?:is|are) (?:my|our)(?: {_NOT_NOW}[\w-]+){{0,2}}? (?:{kinds}){_ENDS}",
    )


def _done(verbs: str, objects: str) -> str:
    """The wording that tells that the user does one: "I also play the piano"."""
    return rf"{_SELF}(?: am)?{_ADVERBS} (?:{verbs}) (?:{objects}){_ENDS}"


_PETS = (
    r"pets?|animals?|cats?|kittens?|tomcats?|dogs?|pupp(?:y|ies)|hamsters?|rabbits?|bunn(?:y|ies)|"
    r"guinea pigs?|parrots?|budgies?|budgerigars?|canar(?:y|ies)|parakeets?|cockatiels?|birds?|fish|goldfish|"
    r"turtles?|tortoises?|snakes?|lizards?|geckos?|newts?|horses?|pon(?:y|ies)|donkeys?|goats?|hens?|chickens?|ducks?|"
    r"rats?|mice|mouse|gerbils?|ferrets?|chinchillas?|hedgehogs?|tarantulas?|axolotls?|bees"
)
_SIBLINGS = r"(?:(?:half|step|twin)[- ]?)?(?:brothers?|sisters?|siblings?)(?!-)|twins?"
_CHILDREN = r"(?:step)?(?:sons?|daughters?|child(?:ren)?|kids?)(?!-)|bab(?:y|ies)|toddlers?"
_PARENTS = r"(?:step)?(?:mothers?|fathers?|parents?)(?!-)|mum|mom|dad"
_KIN = (
    rf"{_SIBLINGS}|{_CHILDREN}|{_PARENTS}|wife|husband|partner|spouse|(?:grand|great-grand)(?:mother|father|"
    r"parent|son|daughter|child(?:ren)?|ma|pa)s?|aunts?|uncles?|cousins?|nieces?|nephews?|"
    r"(?:mother|father|brother|sister|son|daughter)s?-in-law"
)
_LANGUAGES = (
    r"(?:Afrikaans|Albanian|Arabic|Armenian|Basque|Bengali|Bosnian|Breton|Bulgarian|Cantonese|Catalan|Chinese|"
    r"Croatian|Czech|Danish|Dutch|English|Esperanto|Estonian|Farsi|Finnish|Flemish|French|Frisian|Galician|"
    r"Georgian|German|Greek|Gujarati|Hausa|Hebrew|Hindi|Hungarian|Icelandic|Igbo|Indonesian|Irish|Italian|"
    r"Japanese|Korean|Kurdish|Latin|Latvian|Lithuanian|Luxembourgish|Malay|Maltese|Mandarin|Marathi|Nepali|"
    r"Norwegian|Pashto|Persian|Polish|Portuguese|Punjabi|Quechua|Romanian|Russian|Scots|Serbian|"
    r"(?:\w+ )?sign language|Slovak|Slovenian|Somali|Spanish|Swahili|Swedish|Swiss German|Tagalog|Tamil|"
    r"Telugu|Thai|Tibetan|Turkish|Ukrainian|Urdu|Vietnamese|Welsh|Wolof|Xhosa|Yiddish|Yoruba|Zulu)"
)
_MOTHER_TONGUE = (
    r"(?:mother tongues?|native (?:language|tongue)|(?:first|second|third|home) language|languages)"
)
MEDICINES = (  # by name, by how their names end, or by what they are
    r"(?:aspirin|paracetamol|acetaminophen|ibuprofen|codeine|morphine|tramadol|insulin|warfarin|heparin|"
    r"lithium|digoxin|prednisone|prednisolone|cortisone|hydrocortisone|levothyroxine|thyroxine|euthyrox|"
    r"melatonin|methotrexate|amiodarone|furosemide|spironolactone|gabapentin|pregabalin|clopidogrel|"
    r"salbutamol|albuterol|cetirizine|loratadine|ritalin|methylphenidate|prozac|zoloft|xarelto|eliquis|"
    r"ozempic|lipitor|nurofen|folic acid|magnesium|iron|zinc|omega-3|vitamins?(?: [a-k]\d*)?|"
    r"[a-z]{2,}(?:pril|sartan|olol|statin|prazole|mycin|cillin|oxetine|azepam|zolam|formin|profen|dipine|"
    r"floxacin|tidine|gliptin|gliflozin|glutide|triptan|thiazide|oxaban|traline|alopram|tamide|dronate)|"
    r"antibiotics?|antihistamines?|antidepressants?|painkillers?|beta[- ]blockers?|blood thinners?|statins?|"
    r"steroids?|inhalers?|tablets?|pills?|capsules?|medicines?|medications?|supplements?|eye drops|"
    r"contraceptives?)"
)
_TAKEN_BUT_NO_MEDICINE = (
    r"(?!(?:an?|the|my|our|your|his|her|its|it|them|him|you|this|that|these|those|to|on|off|in|out|up|over|"
    r"part|place|care|time|turns?|notes?|photos?|pictures?|videos?|walks?|naps?|showers?|baths?|breaks?|"
    r"lessons?|classes|courses?|lunch|breakfast|dinner|snacks?|sugar|milk|lemon|cream|honey|salt|tea|coffee|"
    r"water|taxis?|bus(?:es)?|trains?|trams?|cabs?|piano|singing|dancing|medicine|medication|pride|risks?|"
    r"chances?|orders?|calls?|bets?|advantage|work|people|children|kids|long|two|three|"
    r"one|some|no|not|only|also|more|less|all|any)\b)[a-z][\w-]{3,}"
)
_DAILY = (
    r"(?= (?:every|each|daily|twice|once|three times|in the (?:morning|evening)|at (?:night|bedtime|noon)|"
    r"before bed|for my|against)\b)"
)
_DOSE = r"(?:(?:my|some|an?|the|daily|\d[\w.,]*|mg|mcg|ml|of|one|two|half|low-dose) ){0,6}"
_TAKE = r"(?:take|taking|on|use|using|need|inject|was prescribed|was put on|got prescribed|been prescribed)"
_INSTRUMENTS = (
    r"(?:pianos?|keyboards?|organs?|harpsichords?|accordions?|violins?|violas?|cellos?|double bass(?:es)?|"
    r"bass|(?:electric |acoustic |bass )?guitars?|ukuleles?|banjos?|mandolins?|lutes?|harps?|sitars?|flutes?|"
    r"piccolos?|recorders?|clarinets?|oboes?|bassoons?|saxophones?|sax|trumpets?|cornets?|trombones?|tubas?|"
    r"french horns?|horns?|bagpipes|harmonicas?|drums?|percussion|xylophones?|marimbas?|theremins?|fiddles?|"
    r"bodhr[aá]ns?)"
)
_NOT_PLAYED_ON = (
    r"(?!(?:lottery|market|stock|stocks|fool|part|role|game|same|long|odds|field|victim|lead|villain|horses|"
    r"blame|innocent)\b)"
)
_BALL_GAMES = (
    r"(?:tennis|table tennis|badminton|squash|padel|football|soccer|rugby|basketball|volleyball|handball|"
    r"(?:ice |field )?hockey|cricket|baseball|softball|golf|water polo|lacrosse|darts|snooker)"
)
_SPORTS = (
    r"(?:swimming|running|jogging|cycling|climbing|bouldering|hiking|skiing|skating|rowing|sailing|surfing|"
    r"fencing|boxing|wrestling|riding|diving|kayaking|canoeing|gymnastics|athletics|yoga|pilates|judo|karate|"
    r"aikido|taekwondo|kickboxing|crossfit|archery|triathlons?|marathons?)"
)
_MOVES = r"(?:swim|jog|row|climb|fence|box|surf|ski|cycle|hike|skate|run(?! on (?!\w+days?\b)))"
_PASTIMES = (
    r"(?:collect|knit|crochet|paint|draw|garden|bake|sew|weave|brew|juggle|dance|sing|carve|fish|birdwatch)"
)
_SPORT_WAYS = (
    _done("play", _BALL_GAMES),
    _done("go|do|practi[sc]e|like|love|enjoy|doing|into|keen on", _SPORTS),
    rf"{_SELF}{_ADVERBS} {_MOVES}(?=$|[,.;!]| (?:and|every|each|on|in|twice|once|\d|a lot|with|to|at|for)\b)",
    r"\bmy sports? (?:is|are)\b",
)
_PLAYED = (
    _done(
        r"(?:play|playing|learn|learning|practi[sc]e|practising|study|studying)(?: to play)?",
        rf"(?:(?:the|a little|some|both the) )?{_INSTRUMENTS}|the {_NOT_PLAYED_ON}[\w-]+",
    ),
    r"\bmy instruments? (?:is|are)\b",
)


class _Group(NamedTuple):
    asked: str  # the words by which a question asks for it
    mentioned: str  # a word of it that each statement holds that tells one
    ways: tuple[str, ...]  # the wordings that tell one of it
    verbs: str = "have|own|got|keep"  # with which it is asked for


_VEHICLES = (
    r"cars?|vans?|camper vans?|campers?|trucks?|lorr(?:y|ies)|motorbikes?|motorcycles?|scooters?|mopeds?|"
    r"bikes?|bicycles?|e-bikes?|boats?|tractors?|vehicles?"
)


def _of_persons(asked: str, kinds: str) -> _Group:
    return _Group(asked, kinds, _had(kinds))


_GROUPS = {
    "pets": _of_persons(r"pets?|animals?", _PETS),
    "siblings": _Group(
        r"siblings?|brothers (?:and|or) sisters|sisters (?:and|or) brothers",
        rf"{_SIBLINGS}|only child",
        (*_had(_SIBLINGS), rf"{_SELF} am an only child\b"),
    ),
    "brothers": _of_persons(r"brothers", r"(?:half-|step)?brothers?(?!-)"),
    "sisters": _of_persons(r"sisters", r"(?:half-|step)?sisters?(?!-)"),
    "children": _of_persons(r"children|kids", _CHILDREN),
    "parents": _of_persons(r"parents", _PARENTS),
    "family": _of_persons(r"relatives|relations|family(?: members)?", _KIN),
    "friends": _of_persons(r"(?:best |close )?friends", r"(?:best |girl|boy)?friends?"),
    "colleagues": _of_persons(r"colleagues|co-?workers", r"colleagues?|co-?workers?"),
    "neighbours": _of_persons(r"neighbou?rs", r"neighbou?rs?"),
    "languages": _Group(
        r"languages",
        rf"{_LANGUAGES}|languages",
        (
            rf"{_SELF}{_ADVERBS} (?:speak|understand|grew up speaking)"
            rf"(?: (?!(?:with|to|like|at|no|not)\b)[\w-]+,?){{0,4}}? {_LANGUAGES}\b",
            rf"{_SELF} am{_ADVERBS} (?:(?:fully|quite|almost) )?(?:fluent|bilingual|native) in (?:\w+ and )?"
            rf"{_LANGUAGES}\b",
            rf"{_SELF}{_ADVERBS} know (?:(?:some|basic|a little|a bit of) )?{_LANGUAGES}"
            r"(?=$|[,.;!]| (?:and|well)\b)",
            rf"\b(?:my|our) {_MOTHER_TONGUE} (?:is|are|:)(?: [\w-]+)? {_LANGUAGES}\b",
            rf"\b{_LANGUAGES} (?:is|are) (?:my|our) {_MOTHER_TONGUE}\b",
        ),
        "speak|know|understand|have",
    ),
    "medicines": _Group(
        r"medicines?|medications?|drugs|pills|tablets|meds|supplements",
        rf"{_TAKE}|tak|medic|pills|tablets|meds",
        (
            rf"{_SELF}(?: am)?{_ADVERBS} {_TAKE} {_DOSE}{MEDICINES}\b",
            rf"{_SELF}{_ADVERBS} (?:take|am on) {_DOSE}{_TAKEN_BUT_NO_MEDICINE}{_DAILY}",
            rf"{_SELF} (?:was|am|have been|got) (?:prescribed|put on) {_DOSE}[\w-]{{3,}}",
            r"\bmy (?:medicines?|medications?|pills|tablets|meds) (?:is|are)\b",
        ),
        "take|taking|on|use|using|have|need|get",
    ),
    "instruments played": _Group(
        r"(?:musical )?instruments?",
        r"play|learn|practi|stud|instrument",
        _PLAYED,
        "play|learn|learning|playing|practi[sc]e",
    ),
    "instruments owned": _Group(
        r"(?:musical )?instruments?", rf"{_INSTRUMENTS}|instruments?", _had(_INSTRUMENTS)
    ),
    "vehicles": _Group(
        r"vehicles?",
        rf"{_VEHICLES}|drive|ride|lease",
        (*_had(_VEHICLES), rf"{_SELF}{_ADVERBS} (?:drive|ride|lease) (?:an?|my|our) "),
        "have|own|got|drive|use",
    ),
    "sports": _Group(
        r"sports?",
        rf"play|{_SPORTS}|{_MOVES}|sports?",
        _SPORT_WAYS,
        "do|play|practi[sc]e|like|doing|playing",
    ),
    "hobbies": _Group(
        r"hobb(?:y|ies)|pastimes?",
        rf"hobb|pastime|\w+ing\b|play|practi|stud|{_PASTIMES}|{_SPORTS}|{_MOVES}|sports?",
        (
            r"\b(?:my|our) (?:[\w-]+ )?(?:hobb(?:y|ies)|pastimes?) (?:is|are)\b",
            r"\b(?:is|are) (?:a|my|our|one of my) (?:[\w-]+ )?(?:hobb(?:y|ies)|pastimes?)\b",
            rf"{_SELF}{_ADVERBS} {_PASTIMES}\b",
            rf"{_SELF}(?: am)?{_ADVERBS} (?:enjoy|like|love|into|keen on) [\w-]+ing\b",
            _done("play", "chess|go|bridge|poker|board games|video games"),
            *_SPORT_WAYS,
            *_PLAYED,
        ),
    ),
    "allergies": _Group(
        r"allerg(?:y|ies)|intolerances?",
        "allerg|intoleran",
        (
            rf"{_SELF} am{_ADVERBS}(?: [\w-]+ly)? (?:allergic|intolerant)\b",
            rf"{_SELF}{_ADVERBS} have (?:an? )?(?:[\w-]+ ){{0,2}}?(?:allerg(?:y|ies)|intolerance)\b",
            r"\bmy (?:[\w-]+ )?allerg(?:y|ies)\b",
        ),
    ),
}
_WAYS = {
    name: re.compile("|".join(f"(?:{way})" for way in group.ways), _I) for name, group in _GROUPS.items()
}
_NONE = {
    name: re.compile(
        rf"{_SELF} (?:have|own|take|speak|play|do|has) (?:no|not (?:have|own|take|play|do)(?: any)?) "
        rf"(?:other )?(?:{group.asked})(?=$|[,.;!]| (?:at all|of|and|but)\b)",
        _I,
    )
    for name, group in _GROUPS.items()
}
_IS_OVER = re.compile(r"\b(?:no longer|anymore|used to|stopped|quit|gave up)\b", _I)
_ALL_MY = r"(?:all )?(?:of )?(?:my|our)"
_ASKS = {
    name: re.compile(
        r"(?:(?:do you (?:know|remember)|tell me|remind me|can you tell me|and|so),? )?(?:"
        rf"(?:what|which|how many)(?: (?:kinds? of|sorts? of|other|different))? (?:{group.asked})(?: else)? "
        rf"(?:do|can|am|are|have) (?:i|we) (?:(?:all|still|also) )?(?:{group.verbs})"
        rf"|(?:what|who|which) (?:are|is)(?: all)? (?:of )?(?:my|our) (?:{group.asked})"
        r"(?: called| named|'s? names?)?"
        rf"|(?:what|which) (?:are|is) the names? of {_ALL_MY} (?:{group.asked})"
        rf"|(?:do|have|am|are) (?:i|we) (?:{group.verbs}) (?:(?:any|other) )*(?:{group.asked})"
        rf"|(?:list|name|show me|tell me about|give me a list of) {_ALL_MY} (?:{group.asked})"
        rf"|who (?:is|are) in (?:my|our) (?:{group.asked}))",
        _I,
    )
    for name, group in _GROUPS.items()
}


def group_asked_for(plain: str) -> str:
    """The group that a question asks for of the user's own; empty for most.

    plain: the question without what leads into it, its stop and its contractions.
    """
    if len(plain) > _LONGEST_READ:
        return ""
    return next((name for name, asks in _ASKS.items() if asks.fullmatch(plain)), "")


def tells_one(statement: str, group: str) -> bool:
    """Whether a statement of the user tells one of a group, or that there is none; not what it ends."""
    if len(statement) > _LONGEST_READ or statement.rstrip().endswith("?"):
        return False
    plain = written_out(statement)
    if _NONE[group].search(plain):
        return True
    return not _IS_OVER.search(plain) and _WAYS[group].search(plain) is not None and not gone_one(statement)


def mentions_one(group: str) -> str:
    """A pattern of what a text must hold to tell one of a group."""
    return rf"\b(?:{_GROUPS[group].mentioned}|{_GROUPS[group].asked})"

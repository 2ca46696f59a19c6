"""What leads into a statement and out of it: fillers, who says so, and what was only imagined."""

from __future__ import annotations

import re

from agents.claim_rules.requests import is_order_to_do

_I = re.IGNORECASE
_CLAUSE = r"(?:that\b\s*|[:,-]+\s*)"
_FILLER = re.compile(
    r"(?:(?:and|but|so|oh|ah|well|hey(?: there)?|hi(?: there)?|hello|yes|yeah|yep|no|nope|nah|ok|okay|right|"
    r"sure|now|anyway|anyways|also|sorry|thanks(?: a lot)?|thank you|great|nice|cool|ha(?:ha)+|lol|hmm+|wow|"
    r"actually|honestly|frankly|indeed|plus|besides|um+|uh+|btw|fyi|fwiw|afaik|im?ho|tbh|listen|look|you see|"
    r"you know|i mean|by the way|(?:no,? |oh,? )?wait|hang on|hold on|scratch that|just so you(?:'re aware|"
    r" know)|for your information|as far as i (?:know|"
    r"can tell)|if i(?:'m not mistaken| remember (?:correctly|right(?:ly)?)| recall)|to be (?:honest|fair|"
    r"clear)|in fact|for the record|for context|(?:on a |as a )?side note|(?:interesting|fun|random|"
    r"little-known|quick|true) fact(?: i (?:came across|learned|heard))?|(?:one more|another|one other|"
    r"one) thing|quick note|speaking of which|as a matter of fact|incidentally|"
    r"in case (?:you(?:'re)? wonder(?:ing)?|it (?:matters|helps)|you (?:need it|didn't know))|"
    r"good (?:morning|evening|afternoon|day)|(?:small |quick )?correction|reminder|important|"
    r"i don't think so|please|on (?:a|another) (?:different |related |side |final )?note|lastly|finally|"
    r"first(?:ly)?|absolutely|definitely|speaking of [^,]{1,40}|switching gears(?: a bit)?|"
    r"one last (?:question|thing)|oops|whoops|pardon|my (?:bad|mistake)|i was wrong|i made a mistake|"
    r"i misspoke|"
    r"(?:that|this|it) was (?:wrong|(?:a |my )?(?:typo|mistake))|(?:for )?future reference|(?:trust|"
    r"believe) me|assistant|ai|chatbot|"
    r"correct|exactly|true|i see|you(?:'re| are) (?:mistaken|wrong|right)|that(?:'s| is) (?:wrong|"
    r"not (?:right|true|correct)|incorrect))\s*[,:;.!–—-]+\s*|(?:and|but|so|oh|well|btw|fyi|actually|also|"
    r"anyway|by the way|just so you know|yeah|haha|hey|honestly|"
    r"in case it matters)\s+)+",
    _I,
)
_OWN_LEAD = re.compile(
    r"(?:(?:i|we)(?:'ve| have| had)? (?:just |also |only |really |recently |still )*(?:(?:think|believe|"
    r"reckon)\s+(?!so\b|of\b|about\b|in\b|it over)(?:that )?|(?:read|learn(?:ed|t)|found out|find|discovered|"
    r"noticed|remember|know|knew|realised|realized|saw|checked|confirm|can confirm|can tell you|must say|"
    r"should (?:mention|add|say)|want to (?:add|mention)|would like to (?:add|mention|"
    r"point out))(?: (?:somewhere|today|recently|online|yesterday|once|there|(?:in|on) (?:(?:the|a|"
    r"my) )?\w+))* that |forgot to (?:mention|say|add|tell you)(?: that)? |(?:already )?told you(?: that)? |"
    r"(?:looked it up|checked|googled it) and (?:that )?)|i(?:'m| am) (?:pretty |quite |fairly |very |"
    r"absolutely )?(?:sure|certain|positive)(?: that)? |(?:it )?turns out(?: that)? |it(?:'s|"
    r" is) (?:also )?(?:worth (?:knowing|noting)|true|a fact|well known|known) that |(?:the )?(?:fact|"
    r"truth) is(?: that)? |the (?:correct |right |true )?answer is that |let me (?:tell you|add)(?: that)? |"
    r"i mean(?:t)?(?: to say)?(?: that)? (?=(?:i|i'm|i've|i'd|we|we're|(?:my|our) [\w-]+(?: [\w-]+)? "
    r"(?:is|are|was|has|have|lives?|works?|likes?))\b)|"
    r"(?:you (?:should|might want to|may want to|need to) know|i (?:want|"
    r"would like) you to know)(?: that)? )",
    _I,
)
_FINDS_THAT = r"(?:(?:found|saw|read|noticed|learn(?:ed|t)|discovered)(?: out)? that )?"
_NO_DEED = (  # "we talked about it and decided to sell": that tells what was done, by whom the lead names
    r"(?!(?:(?-i:[a-z]{2,}(?<!e)ed)|agreed|am|is|are|was|were|be|been|had|has|have|did|do|does|will|would|can|"
    r"could|should|may|might|must|found|saw|read|got|went|felt|thought|bought|sold|made|took|came|left|said|"
    r"told|knew|heard|put|ate|paid|met|chose|gave|began|then|now|still|never|always|so|not|really|finally|"
    r"also|just|i|we|he|she|they|you)\b)"
)
_HOW_IT_IS_KNOWN = re.compile(
    r"(?:(?:i|we)(?:'ve| have| had|'d)? (?:(?:(?:looked|read) (?:it|this|that) up|checked|googled it)"
    rf"(?: \w+)?(?: and (?:that |{_FINDS_THAT}{_NO_DEED})|: )|"
    r"(?:had )?(?:completely |quite |almost )?forgotten,? (?:but|that) |"
    r"always wondered,? (?:and|but) now i know(?: that |: )|"
    r"(?:had|learn(?:ed|t)|read|did|studied|were taught) (?:this|that|it|about (?:this|that|it))"
    r"(?: (?:at|in|from|on|with) [\w ]{1,25})?: )|before i forget, |that reminds me(?: that |: )|"
    r"(?:one|another|a|the only) (?:thing|fact|detail)(?: that)? i (?:just )?(?:picked up|learn(?:ed|t)|read|"
    r"remember|know|found out)(?: (?:at|in|from|on|about|during) [\w ]{1,25})? is that |"
    r"(?:the way|as|from what) i (?:understand|understood|remember|recall|know|learn(?:ed|t)|read)"
    r"(?: (?:it|this|that|rightly|right|correctly))?, |"
    r"if i (?:understand|understood|remember|recall)(?: (?:it|this|that))? "
    r"(?:rightly|right|correctly|well), |"
    r"(?:(?:a|one|one more|another|just a) )?(?:small|minor|quick|interesting|little) (?:detail|thing|point|"
    r"remark|note|fact): |"
    r"(?:my|our|the) (?:old )?(?:notes|books?|encyclopa?edia|textbooks?)(?: (?:from|of|on|about) "
    r"[\w ]{1,30})? (?:says?|tells?|agrees?)(?: so)?(?: too)?(?: that |: )|"
    r"(?:i|we)(?: was| were|'ve| have| had|'ve been| have been)? (?:just )?(?:talk(?:ed|ing)|read(?:ing)?|"
    r"learn(?:ed|t|ing)|look(?:ed|ing)) (?:about|into|up) (?:it|this|that)(?: [\w ]{1,30})?,? "
    rf"and (?:it turns out (?:that )?|{_FINDS_THAT}{_NO_DEED}))",
    _I,
)  # from where somebody knows it, which is no part of what they state
_DID_YOU_KNOW = re.compile(
    r"(?:did you know(?: that)?|do you know that) (?!who\b|what|where|when|why|how|if\b|whether|any|of\b|"
    r"about)",
    _I,
)
_TOLD = re.compile(
    r"(?:(?:can|could|would|will|you (?:should|must|need to)|i(?:'d like| would like| want|"
    r" need)) (?:you (?:to )?)?)?(?:please |kindly |also |just |always )*(?:(?:remember|note|don't forget|"
    r"do not forget|keep in mind|bear in mind|be aware|know)"
    rf"(?:\s*{_CLAUSE}|\s+(?=(?:i|i'm|i've|my|we|our)\b))|"
    r"(?:remember|memori[sz]e|learn|make a note|take note|write down|jot down|save|store|record|"
    r"add to (?:my )?(?:memory|notes))"
    rf"(?: (?:this|of this|it))?\s*{_CLAUSE})",
    _I,
)
_NOBODY = r"(?!(?:I|We|You|i|we|you|It|This|That|it|this|that|What|Who|If)\b)"
_SAYER = (
    r"(?:(?:[Mm]y|[Oo]ur|[Hh]is|[Hh]er|[Tt]heir|[Aa]n?|[Tt]he|[Ss]ome|[Oo]ne|[Aa]nother)(?: [\w'-]+){1,6}?|"
    r"[A-Z][\w.'-]+(?: [A-Z][\w.'-]+){0,2}|[Pp]eople|[Tt]hey|[Hh]e|[Ss]he|[Ss]omeone|[Ss]omebody|[Ee]veryone|"
    r"[Ee]verybody|[Ee]xperts|[Ss]cientists|[Mm]any(?: people)?|[Ss]ome(?: people)?|[Mm]ost people|[Oo]thers)"
)
_HEARSAY_LEAD = re.compile(
    rf"{_NOBODY}{_SAYER} (?:just |also |always |once |recently |has |have |had |keeps? )*(?:"
    r"(?:says?|said|saying|claims|claimed|thinks|thought|believes?|believed|insists?|insisted|mentioned|"
    r"swears|swore|reckons|explained|(?:tells?|told|texted|taught|assured|informed|reminded) (?:me|"
    r"us))(?: (?:me|us|today|yesterday|once))*[,:]?\s+(?:that )?|(?:say|think|claim|report|reports|reported|"
    r"states|stated|argues?|argued|wrote|writes|suggests?|suggested|announced|knows?|admitted|heard|"
    r"read) that |(?:reported|announced) )|(?:[Ii](?:'ve| have)? (?:just |also |once )*(?:heard|hear|"
    r"overheard|(?:was|been|got) told(?: by [\w' ]{1,30}?)?)(?: (?:today|yesterday|somewhere|"
    r"from [\w' ]{1,30}?))?,? (?:that |(?!of\b|about\b|from\b|it\b))|[Aa]ccording to [^,]{1,60}, |"
    r"[Aa]s [^,]{1,40} (?:says|said|told me|used to say|always says|put it), |(?:[Tt]here(?:'s|"
    r" is) a )?[Rr]umou?rs? (?:has|have) it (?:that )?|[Ww]ord is (?:that )?|[Ii]t is said (?:that )?|"
    r"(?:[Aa]pparently|[Aa]llegedly|[Rr]eportedly|[Ss]upposedly),? )"
)
_HEARSAY = re.compile(
    r"\b(?:says|said|told (?:me|us)|claims? that|claimed|according to|allegedly|apparently|reportedly|"
    r"supposedly|"
    r"(?:heard|hear) that|they say|used to say|taught us|rumou?rs?|hearsay)\b",
    _I,
)
_SAID_LAST = re.compile(
    rf",? according to [^,]{{1,60}}$|, (?:or so )?{_SAYER} (?:says|said|told me|claims|claimed|thinks)[.!]*$"
)
_CLOSING = re.compile(
    r",? (?:by the way|btw|fyi|just so you know|you know|i think|as far as i know|"
    r"(?:just )?in case (?:that|it) (?:helps|matters)|(?<=, )as (?:i|we) (?:just )?(?:found out|"
    r"learn(?:ed|t)|discovered|read)|if i(?:'m not mistaken| (?:remember|recall) (?:rightly|right|"
    r"correctly|well))|"
    r"(?:with|spel(?:led|t)(?: with)?) (?:an?|one|two|double) [a-z](?:'?s)?)[.!]*$",
    _I,
)
_IMAGINED = re.compile(
    r"(?:if|suppose|supposing|imagine|what if|let's (?:say|pretend|assume|imagine)|let us (?:say|assume)|"
    r"say that|pretend|assum(?:e|ing)|hypothetically|in (?:my|this|the|a|our) (?:story|novel|scenario|game|"
    r"book|play|dream|film|movie|example)|for (?:example|instance)|picture|unless|once upon|were i|had i|"
    r"should i|"
    r"in theory|ideally)\b",
    _I,
)
_WONDERS_LAST = re.compile(
    r",? (?:and|but|so) i(?:'m| am| was|'ve been)?(?: just)? (?:wonder(?:ing)?|not sure|unsure|curious)\b.*$",
    _I,
)


def without_filler(text: str) -> str:
    """The text without the words that open it and say nothing."""
    return _FILLER.sub("", text, count=1) if _FILLER.match(text) else text


def without_leads(text: str) -> tuple[str, bool, bool, bool] | None:
    """The text without what leads into it, and of that whether it is hearsay, told, and surely states."""
    is_hearsay = is_told = is_certain = False
    for _ in range(6):
        if match := _FILLER.match(text):
            pass
        elif (match := _HOW_IT_IS_KNOWN.match(text)) is not None:
            pass  # before what is imagined: "If I remember rightly, ..."
        elif _IMAGINED.match(text):
            return None
        elif match := _DID_YOU_KNOW.match(text):
            is_certain = True
        elif match := _TOLD.match(text):
            is_told = is_certain = True
        elif is_order_to_do(text):  # "Always say that ..." tells of nobody called Always
            break
        elif match := _HEARSAY_LEAD.match(text):
            is_hearsay = True
        elif not (match := _OWN_LEAD.match(text)):
            break
        text = text[match.end() :]
        if not text:
            return None
    return text, is_hearsay, is_told, is_certain


def without_endings(text: str) -> str:
    """The text without what is added behind it: who says so, that one wonders, by the way."""
    return _CLOSING.sub(".", _SAID_LAST.sub(".", _WONDERS_LAST.sub(".", text)))


_CORRECTS = re.compile(
    r"\W*(?:(?:oh|sorry|wait|well)\W+)*(?:no|nope|oops|whoops|correction|actually|i mean(?:t)?|my (?:bad|"
    r"mistake)|"
    r"i was wrong|i made a mistake|i misspoke|(?:that|this|it) was (?:wrong|(?:a |my )?(?:typo|mistake)))\b",
    _I,
)  # what opens a sentence that puts another one right


def is_correction(said: str) -> bool:
    """Whether a sentence opens as one that puts right what was said before."""
    return _CORRECTS.match(said.replace("’", "'")) is not None


_ADMITS = re.compile(
    r"\W*(?:(?:oh|sorry|no|wait|oops|well)\W+)*(?:oops\b|i mean(?:t)?\b|my (?:bad|mistake)|i was wrong|"
    r"i made a mistake|i misspoke|(?:that|this|it)(?: was|'s| is) (?:wrong|not (?:right|true|correct)|"
    r"incorrect|(?:a |my )?(?:typo|mistake)))\b",
    _I,
)


def admits_mistake(said: str) -> bool:
    """Whether a sentence opens with saying that what was said before is wrong."""
    return _ADMITS.match(said.replace("’", "'")) is not None


def tells_hearsay(text: str) -> bool:
    """Whether it says that somebody else says so."""
    return _HEARSAY.search(text) is not None

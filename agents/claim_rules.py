"""What a message of a user states: which of its sentences, in whose name, without what leads into them.

    message -> plain text -> the user's own part of it -> sentences -> statements

Text from outside is data: what is quoted, pasted, asked, imagined or ordered states nothing. In doubt a
sentence is dropped, for what is not kept can be said again. Every pass is linear in the message.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from agents.bindings import is_bound_otherwise
from agents.interfaces import Exchange, Said
from agents.sentences import is_question, sentences
from stores.lexical import tokens

MOST_CLAIMS = 8  # of one message
LONGEST_CLAIM = 400  # characters
MOST_STATEMENTS = 32  # of one message that are looked at: more is a pasted text
_LONGEST_SENTENCE = 600  # characters, lead-in included
_REPEATED = 0.8  # share of the content words that make a repetition of what was shown before
_I = re.IGNORECASE


class Statement(NamedTuple):
    """A sentence in which the user states something."""

    text: str  # plain, without what leads into it
    quote: str  # the whole sentence as it stands in the message
    before: str  # the sentence before it in the message; empty for the first
    is_hearsay: bool = False
    is_wish: bool = False  # how the assistant is to behave towards this user from now on
    is_told: bool = False  # the user asked for it to be remembered


class PlainText(NamedTuple):
    """A message without tricks of its characters, and where each character came from."""

    text: str
    starts: list[int]  # of the original, by character of `text`
    ends: list[int]

    def original(self, message: str, start: int, end: int) -> str:
        """What stands in the message where `text` has [start:end]; not empty."""
        return message[self.starts[start] : self.ends[end - 1]]


_CLUSTER = re.compile(r"(?s).[\u0300-\u036f\u1ab0-\u1aff\u20d0-\u20ff]*")
_STAYS = ("<super>", "<sub>", "<fraction>")  # 10² is not 102
_INVISIBLE = {"Cf": "", "Zl": "\n", "Zp": "\n\n"}
_STRAIGHT = str.maketrans("’‘ʼ“”„«»", '\'\'\'"""""')


def plain_text(message: str) -> PlainText:
    """NFKC, straight quotation marks, and neither invisible nor control characters but line breaks."""
    written: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    for match in _CLUSTER.finditer(message):
        for character in _plain(match[0]):
            written.append(character)
            starts.append(match.start())
            ends.append(match.end())
    return PlainText("".join(written), starts, ends)


def _plain(cluster: str) -> str:
    if cluster.isascii() and cluster.isprintable():
        return cluster
    if unicodedata.decomposition(cluster[0]).startswith(_STAYS):
        return cluster
    folded = unicodedata.normalize("NFKC", cluster).translate(_STRAIGHT)
    return "".join(
        c if c.isprintable() or c in "\n\t" else _INVISIBLE.get(unicodedata.category(c), " ") for c in folded
    )


_QUOTED = re.compile(r"(```|~~~)(?s:.*?)(?:\1|\Z)|^[ \t]*[>|].*$|<!--(?s:.*?)(?:-->|\Z)", re.MULTILINE)
_TAG = re.compile(
    r"</?[a-z][\w:-]{0,40}(?:\s[^<>]{0,300})?/?>|<\|[^|<>\n]{0,60}\|>|<</?\w{1,20}>>"
    r"|\[/?(?:inst|sys|system|assistant|user|memory|tool)\]",
    _I,
)
_VOID_TAG = re.compile(r"</|<[^<>]*/>|<(?:br|hr|img)\b|\[/", _I)
_DATA = re.compile(r"\{\s*[\"'\w{\[]|\[\s*[{\"]")


def own_part(text: str) -> str:
    """The text with code, quoted lines, tables, lines of markup and JSON as line breaks: no place moves."""
    text = _QUOTED.sub(lambda match: "\n" * len(match[0]), text)
    tags = list(_TAG.finditer(text))
    if tags:
        closed = _VOID_TAG.match(tags[-1][0])
        text = _blank(text, text.rfind("\n", 0, tags[0].start()) + 1, tags[-1].end() if closed else len(text))
    if data := _DATA.search(text):
        last = max(text.rfind("}"), text.rfind("]"))
        text = _blank(
            text, text.rfind("\n", 0, data.start()) + 1, last + 1 if last > data.start() else len(text)
        )
    return text


def _blank(text: str, start: int, end: int) -> str:
    return text[:start] + "\n" * (end - start) + text[end:]


_MATERIAL_NOUN = (
    r"(?:e?mails?|letter|text|article|passage|document|message|post|paragraph|page|quote|poem|story|code|log|"
    r"notes?|transcript|report|review|chat|conversation|draft|essay|translation|results?|output|sentence|"
    r"following|contract|advert|description)"
)
_HANDS_OVER = re.compile(
    r"(?:(?:can|could|would|will) you |please |now |and |then |kindly )*(?:(?:translate|summari[sz]e|"
    r"proofread|rewrite|rephrase|paraphrase|correct|check|fix|review|edit|shorten|simplify|explain|"
    r"analy[sz]e|spell-?check|format|convert|continue|improve|read)\b[^\n]{0,80}?(?::|\b(?:this|following|"
    r"below)\b)"
    rf"|(?:here|below|this|the|following|i (?:got|received|wrote|found)|my|from|"
    rf"see)\b[^\n:]{{0,80}}\b{_MATERIAL_NOUN}\b[^\n:]{{0,60}}:(?:\s|$))",
    _I,
)


def statements(message: str) -> Iterator[Statement]:
    """What the user states in a message, in its order, at most MOST_STATEMENTS."""
    if "\u202d" in message or "\u202e" in message:
        return  # these turn letters round: it does not say what it shows
    plain = plain_text(message)
    before, found, is_quoting = "", 0, False
    for sentence in sentences(own_part(plain.text)):
        if len(sentence.text) > _LONGEST_SENTENCE:
            before = ""
            continue
        if _HANDS_OVER.match(sentence.text) or _is_about_memory(sentence.text):
            return  # the rest is what is handed over, or ordered
        opens = re.sub(r'\d"', "", sentence.text).count('"') % 2 == 1
        is_quoted, is_quoting = is_quoting or opens, is_quoting != opens
        quote = plain.original(message, sentence.start, sentence.end)
        stated = None if is_quoted or _hides(quote) else stated_in(sentence.text)
        if stated is not None:
            yield stated._replace(quote=quote, before=before)
            found += 1
            if found == MOST_STATEMENTS:
                return
        before = stated.text if stated else sentence.text


_LETTER_OF = re.compile(r"[^\W\d_]+")


def _hides(quote: str) -> bool:
    """Whether letters are not what they seem: of several scripts within one word."""
    if quote.isascii():
        return False
    folded = unicodedata.normalize("NFKC", "".join(c for c in quote if unicodedata.category(c) != "Cf"))
    return any(
        len({script for c in word if (script := _script(c))}) > 1
        for word in _LETTER_OF.findall(folded)
        if len(word) > 2 and not word.isascii()  # not the κB of NF-κB
    )


def _script(character: str) -> str:
    name = unicodedata.name(character, "").partition(" ")[0]
    return name if name in {"LATIN", "CYRILLIC", "GREEK", "ARMENIAN", "CHEROKEE"} else ""


# What is said to everybody or about the memory, and what tells the assistant to be another one.
_OTHERS = re.compile(
    r"\b(?:(?:all|every|each|any|other)(?: of)?(?: the| your| other)* (?:users?|accounts?|customers?|"
    r"members?|people)|"
    r"everyone|everybody|anyone|anybody|others|whoever|globally|permanently|for all|benefit of all)\b",
    _I,
)
_ORDERED = re.compile(
    r"(?:^|[:;,.!?(–—-]\s*|\b(?:please|and|then|also|now|must|should|shall|will|always|to|be|you|not|don't|"
    r"never|that) )(?:remember|memori[sz]e|store|save|add|record|note|learn|write|put|update|share|keep|tell|"
    r"told|inform|let|make sure|announce|send|know|see|hear|forget|repeat|teach|say|answer|reply|remind|warn|"
    r"notify|"
    r"spread)\b",
    _I,
)
_MACHINERY = re.compile(
    r"\b(?:(?:shared|global|common|public|your|permanent|long-term) (?:memory|memories|store|storage|space|"
    r"knowledge|records?|database|notes|instructions|prompt|rules|guidelines|system)|knowledge base|"
    r"system (?:prompt|message|override)|developer (?:message|mode)|other users?|all(?: the)? users|"
    r"(?:previous|prior|above|earlier|these|my) (?:instructions|rules|prompts?|guidelines)|(?:note|memo|"
    r"memory|fact) (?:for|to) (?:all|every|each|any|everyone|everybody|the assistant|"
    r"the model))\b",
    _I,
)
_COMMANDS = re.compile(
    r"(?:ignore|disregard|override|bypass|forget|delete|erase|remove|act as|pretend|roleplay|you are now|"
    r"you(?:'re| are) (?:required|instructed|ordered|an? (?:ai|assistant|bot|model))|you (?:must|have to|"
    r"need to|shall)|as (?:an? |the |your )?(?:ai|assistant|language model|chatbot|admin|administrator|"
    r"developer|owner|operator|system)|make sure|ensure|whenever|"
    r"henceforth|(?:the )?next time|(?:every ?time|when) (?:any|some|a user|you|people))\b",
    _I,
)
_LABEL = re.compile(
    r"\W{0,3}(?:(?:system|assistant|developer|admin(?:istrator)?|user|tool|ai|bot|instructions?|override|"
    r"memory|receipt|verdict|claim|verified|official|security|root|(?:new )?rules?)\b[\w /-]{0,30}[:\]>]|"
    r"(?:the )?users?\b(?! (?:guide|manual|interface)))",
    _I,
)
_SPEAKER = re.compile(r"[A-Z][\w.'-]{0,30}(?: [A-Z][\w.'-]{0,30}){0,2}:\s")
_ECHOES = re.compile(
    r"\b(?:you (?:just |also |already |have |had |once |earlier )*(?:said|told|mentioned|wrote|explained|"
    r"claimed|answered|stated|say|tell|noted|quoted|showed)|you've (?:just |already )?(?:said|told|"
    r"mentioned)|according to (?:you|your)|your (?:answer|reply|"
    r"source)s? sa(?:ys|id))\b",
    _I,
)
_CLAUSE = r"(?:that\b\s*|[:,-]+\s*)"
_FILLER = re.compile(
    r"(?:(?:and|but|so|oh|ah|well|hey(?: there)?|hi(?: there)?|hello|yes|yeah|yep|no|nope|nah|ok|okay|right|"
    r"sure|now|anyway|anyways|also|sorry|thanks(?: a lot)?|thank you|great|nice|cool|ha(?:ha)+|lol|hmm+|wow|"
    r"actually|honestly|frankly|indeed|plus|besides|um+|uh+|btw|fyi|fwiw|afaik|im?ho|tbh|listen|look|you see|"
    r"you know|i mean|by the way|just so you(?:'re aware| know)|for your information|as far as i (?:know|"
    r"can tell)|if i(?:'m not mistaken| remember (?:correctly|right(?:ly)?)| recall)|to be (?:honest|fair|"
    r"clear)|in fact|for the record|for context|(?:on a |as a )?side note|(?:interesting|fun|random|"
    r"little-known|quick|true) fact(?: i (?:came across|learned|heard))?|(?:one more|another|one other|"
    r"one) thing|quick note|speaking of which|as a matter of fact|incidentally|"
    r"in case (?:you(?:'re)? wonder(?:ing)?|it (?:matters|helps)|you (?:need it|didn't know))|"
    r"good (?:morning|evening|afternoon|day)|(?:small |quick )?correction|reminder|important|"
    r"i don't think so|please|on (?:a|another) (?:different |related |side |final )?note|lastly|finally|"
    r"first(?:ly)?|absolutely|definitely|speaking of [^,]{1,40}|switching gears(?: a bit)?|"
    r"one last (?:question|thing)|(?:for )?future reference|(?:trust|believe) me|assistant|ai|chatbot|"
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
    r"(?:you (?:should|might want to|may want to|need to) know|i (?:want|"
    r"would like) you to know)(?: that)? )",
    _I,
)
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
    r",?\s+(?:by the way|btw|fyi|just so you know|you know|i think|as far as i know)[.!]*$", _I
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
_HYPOTHESIS = re.compile(
    r"\b(?:would|could|might) be\b.*\bif\b|\bif\b.*\b(?:would|could|might|were)\b|\b(?:would|could|"
    r"might)\b.*\bif\b|\b(?:maybe|perhaps|possibly|probably|presumably|might|i guess|i suppose|i doubt|i bet|"
    r"i wonder|not sure|"
    r"unsure|no idea|hypothetical(?:ly)?|what if|would have|could have|as if)\b",
    _I,
)
_WISH = re.compile(
    r"^(?:(?:i|we)(?:'m| am| are|'re)? (?:really |just |also |still |do )*(?:hope|hoping|wish|can't wait|"
    r"cannot wait|look(?:ing)? forward|was wondering|wonder|want (?:you )?to (?:know|ask|understand|hear|see|"
    r"learn more|find out)|need (?:you|to know|help|an?|some|your|more)|want (?:an?|some|you|more|your)|"
    r"am looking for|'m looking for|looking for|would like|'d like|'d love to (?:know|hear)|have (?:a|"
    r"another|one|some) (?:more )?questions?)|i'd (?:like|love) (?:an?|some|to|you|your|more)|(?:i|we)(?:'m|"
    r" am|'re| are|'ve been|'ll| will| was| were| could| should) (?:also |really |just |still |particularly |"
    r"now |definitely |always |then |currently |actually |a bit )*(?:looking|considering|thinking|feeling|"
    r"curious|wondering|hoping|excited|leaning|ready|glad|happy|sorry|sure|check|look|give|try|start|think|"
    r"see|let you|could|should|be happy|interested in (?:improving|learning|knowing))|(?:i|we) (?:really |"
    r"also )*(?:want something|(?:like|love) (?:the idea|that|this|your|it)|was thinking|(?:agree|see|"
    r"understand)(?: that| what| why| how| your|[.!]))|the (?:\w+ )?answer (?:is|to|was)|hopefully|"
    r"fingers crossed|looking forward|let(?:'s| us| me)|may (?:the|all|your|you)|wish (?:me|us|"
    r"i)|hope)\b",
    _I,
)
_COMPARED = re.compile(
    r"\bI(?:'d| would) (?:rather|prefer|like)\b.*\b(?:than|to|over|instead)\b|\bI'd rather\b", _I
)

_STYLE_WORD = (
    r"(?:answers?|answering|repl(?:y|ies|ying)|respon(?:d|ses?|ding)|messages?|sentences?|units?|metric|"
    r"imperial|celsius|fahrenheit|kilomet\w+|miles|emojis?|bullet ?points?|bullets|lists?|tables?|markdown|"
    r"headings?|paragraphs?|tone|formal(?:ly)?|informal(?:ly)?|short(?:er)?|brief(?:ly)?|concise(?:ly)?|"
    r"detailed|details?|simple|plain|step[- ]by[- ]step|jargon|examples?|exclamation|small talk|"
    r"introductions?|summar(?:y|ies)|sources?|citations?|currency|euros?|dollars|24-hour|questions?|"
    r"apologi\w+|language|english|german|french|spanish|italian|dutch|portuguese|polish|danish|swedish|"
    r"norwegian|finnish|russian|chinese|japanese|polite|direct|honest|friendly|to the point|first name)"
)
_CALL_ME = re.compile(
    r"(?:you (?:can|may|should) )?(?:please )?(?:just )?(?:call|address) me (?:as |by )?"
    r"(?!later|back|tomorrow|when|if|on|at|today|crazy|now)[\w'-]+(?: [\w'-]+){0,3}[.!]*$",
    _I,
)
_STANDING = (
    r"(?:always|never|from now on|in (?:the )?future|every|each|all|your (?:answers|replies|responses|"
    r"messages)|when you|whenever you|don't|do not|stop|avoid)"
)
_WISHED = re.compile(
    rf"^(?P<lasting>(?=.*\b{_STANDING}\b))?(?:from now on,? |in (?:the )?future,? |for the future,? |"
    rf"i(?:'d like| would like| want| need) you to )?(?:please,? )?(?:always |never |don't |do not |just )*"
    r"(?:(?:please )?(?:keep|use|avoid|stop|be|answer|reply|respond|speak|talk|address|skip|limit|format|no|"
    r"write in|write your)\b"
    rf"|(?(lasting)|(?!))(?:give|explain|show|write|include|make|put|start|end|begin|add|list|translate|"
    rf"convert|"
    rf"ask|tell|say|call)\b).*\b{_STYLE_WORD}\b",
    _I,
)
_NOT_WISHED = re.compile(
    r"\b(?:that|claim|state|pretend|send|post|reveal|print|passwords?|codes?|api|https?|users?|everyone|"
    r"everybody|"
    r"anyone|instructions|rules|prompt|memory|this|following|poem|story|essay|letter|email)\b",
    _I,
)
_ORDER_VERBS = frozenset(
    "tell show give write explain describe summarize summarise translate list find compare define calculate "
    "compute remember forget note ignore add delete remove update save store memorize memorise record keep "
    "use make send say repeat create generate draft rewrite check help let suggest recommend remind stop "
    "continue go open run print read look search try imagine do don't be avoid answer reply respond call ask "
    "put take get tell inform announce spread convince teach share post publish reveal follow obey never "
    "always consider "
    "change set correct replace treat accept believe assume prove solve choose pick pretend act wait".split()
)
_BEFORE_ORDER = re.compile(
    r"(?:(?:please|now|then|just|also|kindly|from now on|you (?:can|may|should|could)),? )*", _I
)
_OWN_CLAUSE_OF_QUESTION = re.compile(
    r"(?:(?:since|because|as|given that|now that|seeing that) )?((?:I|I'm|I've|My|We|We're|We've|"
    r"Our)\b[^?;:]{3,200}?)(?:,|;| [-–—])\s*(?:(?:and|so|but) )?(?:what|which|how|where|when|who|why|can|"
    r"could|should|do|does|is|are|will|"
    r"would|any|i was wondering|i wonder|i'm wondering)\b[^?]{3,}\?$",
    _I,
)


_UNMARKED = re.compile(r"\b[iI](m|ve)\b")  # im, ive


def stated_in(sentence: str) -> Statement | None:
    """What one plain sentence states; None for all else. Its quote is left empty."""
    text = _UNMARKED.sub(lambda match: f"I'{match[1]}", " ".join(sentence.split()))
    if _is_order(text) or "](" in text or text.startswith('"'):
        return None
    lead = _without_leads(text)
    if lead is None:
        return None
    text, is_hearsay, is_told, is_certain = lead
    if not is_certain and is_question(text):
        clause = _OWN_CLAUSE_OF_QUESTION.match(text)
        if clause is None:
            return None
        text = f"{clause[1]}."
    text = text.rstrip("?") if is_certain else text
    is_hearsay = is_hearsay or _HEARSAY.search(text) is not None
    if is_hearsay and '"' in text:
        return None
    text = _CLOSING.sub(".", _SAID_LAST.sub(".", _WONDERS_LAST.sub(".", text)))
    if _SPEAKER.match(text) or _LABEL.match(text) or not _states(text):
        return None
    is_wish = is_standing_wish(text)
    if not is_wish and (is_order_to_do(text) or _WISH.match(text)) and not _COMPARED.search(text):
        return None
    text = text[0].upper() + text[1:] + ("" if text[-1] in ".!…" else ".")
    if len(text) > LONGEST_CLAIM:
        return None
    return Statement(text, "", "", is_hearsay, is_wish, is_told)


def _is_order(text: str) -> bool:
    """Whether a sentence orders the assistant to be another one, or says again what it said."""
    if _is_about_memory(text) or _ECHOES.search(text):
        return True
    bare = _FILLER.sub("", text, count=1) if _FILLER.match(text) else text
    return _COMMANDS.match(bare) is not None


def _is_about_memory(text: str) -> bool:
    """Whether a sentence speaks to all users, or of the memory and what else the assistant is made of."""
    if _MACHINERY.search(text) or _LABEL.match(text):
        return True
    return _OTHERS.search(text) is not None and _ORDERED.search(text) is not None


def _without_leads(text: str) -> tuple[str, bool, bool, bool] | None:
    """The text without what leads into it, and of that whether it is hearsay, told, and surely states."""
    is_hearsay = is_told = is_certain = False
    for _ in range(6):
        if match := _FILLER.match(text):
            pass
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


def _states(text: str) -> bool:
    """Whether there is something said in these words at all, and it is not imagined."""
    return len(text.split()) > 1 and bool(tokens(text)) and not _HYPOTHESIS.search(text)


def is_order_to_do(text: str) -> bool:
    """Whether a sentence tells the assistant to do something."""
    start = _BEFORE_ORDER.match(text)
    first = re.match(r"[\w']+", text[start.end() if start else 0 :])
    return first is not None and first[0].lower() in _ORDER_VERBS


def is_standing_wish(text: str) -> bool:
    """Whether a sentence says how this user is to be answered: how short, in what language or units."""
    if _CALL_ME.match(text):
        return True
    return _WISHED.match(text) is not None and _NOT_WISHED.search(text) is None


_LIKING = re.compile(
    r"\b(?:i|we)(?:'d|'m| am| do| don't| did| really| also| just| always| usually| still| absolutely|"
    r" particularly| much| would| never| kind of| are| do not| can't| cannot| not)* (?:like|love|hate|prefer|"
    r"enjoy|dislike|adore|detest|loathe|stand|fond of|(?:a )?(?:big |huge |great )?fan of|into|rather|avoid|"
    r"favou?r|keen on|bear)\b|\b(?:my|our) (?:\w+ )?favou?rite|\bno [\w ]{2,30} please\b|"
    r"\bi have an? (?:strong )?(?:preference|"
    r"aversion|passion)",
    _I,
)
_FIRST_PERSON = re.compile(
    r"\b(?:I|i(?![.\w])|[Mm]e|[Mm]y|[Mm]ine|[Ww]e|[Uu]s|[Oo]urs?|[Mm]yself|[Oo]urselves|[Mm][ou]m|[Dd]ad|"
    r"[Gg]rand(?:ma|pa))\b"
)


_OPINION = re.compile(
    r"\b(?:can be|could be|can feel|sounds?|seems?|great|amazing|fantastic|brilliant|awesome|wonderful|"
    r"terrible|hard to|challeng\w+|worth|rewarding|important|invaluable|really|definitely|nice|lovely|"
    r"faint of heart|"
    r"good idea)\b",
    _I,
)


def is_opinion(text: str) -> bool:
    """Whether it seems an opinion of the world: a judging word, and neither a name nor a number."""
    return _OPINION.search(text) is not None and not names_and_numbers(text)


_NUMBERED = re.compile(r"\w[ ,]+[A-Z][a-z]{2,} $|^(?:World|Elizabeth|Charles|Type|Phase|Class) $")


def is_preference(text: str) -> bool:
    """Whether the user likes, dislikes or prefers something here."""
    return _LIKING.search(text) is not None


def is_of_the_user(text: str) -> bool:
    """Whether the first person speaks of itself. The I of "World War I" is a number."""
    return any(
        match[0] != "I" or _NUMBERED.search(text[: match.start()][-20:]) is None
        for match in _FIRST_PERSON.finditer(text)
    )


_ENGLISH = frozenset(
    "the a an of to in on at by for from with and or but not is are was were be been has have had do does "
    "did it i i'm i've i'd i'll my me we our you your he she his her they their its this that there no never "
    "can can't don't doesn't isn't wasn't will would who which than as about into over after before only "
    "every all cannot may more most less many some if when because very also so up out off between during "
    "under "
    "where how".split()
)
_FOREIGN = frozenset(
    "der die das und ist nicht ich ein eine einen den dem des mit auf für von zu im wird wurde sind war hat "
    "el la los las es un una que en del por para con fue está son mi yo le les et est pas une du des dans "
    "sur qui lo gli che di non sono per nel della o os uma não são foi em da het een van niet ik og ikke jeg "
    "och inte jag på och w nie się na jest je les te se su ses".split()
)
_ENGLISH_ENDINGS = ("ing", "ed", "tions", "ness", "ally")
_WORDS = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)*")
_LATIN_SHARE = 0.9  # of the letters of an English sentence
_OWN_ELSEWHERE = re.compile(
    r"(?:ich (?:bin|heiße|wohne|lebe|arbeite|mag|habe|esse|trinke)|mein name ist|mi nombre es|me llamo|"
    r"vivo en|me gusta|soy|je m'appelle|j'habite|j'aime|je suis|je travaille|mi chiamo|abito a|mi piace|"
    r"eu moro|eu gosto|"
    r"меня зовут|я живу|я работаю|я люблю|我叫|我住|我喜欢|我是|私の名前は|私は)(?!\w*[:])",
    _I,
)
_MOST_FOREIGN_WORDS = 10


def is_english(text: str) -> bool:
    """Whether a sentence seems to be English: by its letters and by the small words of some languages."""
    letters = [c for c in text if c.isalpha()]
    if sum(c.isascii() for c in letters) < _LATIN_SHARE * len(letters):
        return False
    words = [word.lower() for word in _WORDS.findall(text)]
    english, foreign = (sum(word in known for word in words) for known in (_ENGLISH, _FOREIGN))
    english += sum(word.endswith(_ENGLISH_ENDINGS) for word in words)
    return english > foreign or (foreign == 0 and len(words) < 6)


def is_of_the_user_elsewhere(text: str) -> bool:
    """Whether a sentence in another language surely speaks of the user: a short one that opens so."""
    return (
        _OWN_ELSEWHERE.match(text) is not None
        and len(text.split()) <= _MOST_FOREIGN_WORDS
        and ":" not in text
    )


_NAME_WORD = re.compile(r"(?<![\w'])[A-Z][\w']*(?:[.-]\w+)*")
_NUMBER = re.compile(r"\d+(?:[.,:/]\d+)*")
_NEGATION = re.compile(
    r"\b(?:not|no|never|none|nobody|nothing|neither|nor|without|cannot|hardly)\b|n't\b", _I
)


def is_negated(text: str) -> bool:
    """Whether it says that something is not so."""
    return _NEGATION.search(text) is not None


_TO_PERSON = re.compile(r"\b(?:I|[Mm]e|[Mm]y|[Ww]e|[Oo]ur|us|[Yy]ou|[Yy]ours?)\b")


def names_and_numbers(text: str, *, opening: bool = False) -> set[str]:
    """Capitalised words and numbers, folded. The first word, capital anyway, counts with `opening`."""
    names = [m for m in _NAME_WORD.finditer(text) if m[0] not in {"I", "I'm", "I've", "I'd", "I'll"}]
    named = {_folded(m[0]) for m in names if opening or m.start() > 0}
    return named | {number.replace(",", "") for number in _NUMBER.findall(text)}


def _folded(name: str) -> str:
    return name.casefold().removesuffix("'s").rstrip("'.")


class ShownSentence(NamedTuple):
    """A sentence that was put before the user."""

    text: str
    tokens: tuple[str, ...]
    is_negated: bool
    is_to_person: bool  # somebody speaks in it or is spoken to


class Shown(NamedTuple):
    """Two sentences in a row that were put before the user."""

    stems: frozenset[str]
    named: frozenset[str]
    sentences: tuple[ShownSentence, ...]


class Echoes:
    """Knows what the user was shown, and tells what only repeats it.

    The answer to the message itself is none of it: it was written after the message, and often repeats what
    the user said.
    """

    def __init__(self, said: Said) -> None:
        texts = [*said.recalled, *(exchange.answer for exchange in said.earlier)]
        self._shown = [shown for text in texts for shown in _shown(text)]

    def repeats(self, text: str) -> bool:
        """Whether most of a statement was shown and nothing differs: no number, no name, no negation.

        What the user says of themselves repeats only what was said of a person who speaks or is spoken to.
        """
        words, named = tokens(text), names_and_numbers(text)
        stems = frozenset(words)
        negated, is_own = is_negated(text), is_of_the_user(text)
        for shown in self._shown:
            if not stems or len(stems & shown.stems) < _REPEATED * len(stems) or not named <= shown.named:
                continue
            nearest = max(shown.sentences, key=lambda sentence: len(stems.intersection(sentence.tokens)))
            if (
                nearest.is_negated == negated
                and (nearest.is_to_person or not is_own)
                and not _puts_another_word(words, nearest.tokens, shown.stems)
                and not is_bound_otherwise(text, nearest.text)
            ):
                return True
        return False


def _puts_another_word(words: Sequence[str], shown: Sequence[str], known: frozenset[str]) -> bool:
    """Whether a statement has a new word where what was shown has another: "in the south" for "in the north".

    A new word that only came in between changes nothing.
    """
    after = dict(pairwise(shown))
    said = set(words)
    return any(
        word not in known and before in after and after[before] not in said
        for before, word in pairwise(words)
    )


def _shown(text: str) -> Iterator[Shown]:
    parts: list[ShownSentence] = []
    named: list[frozenset[str]] = []
    for sentence in sentences(plain_text(text).text):
        is_to_person = _TO_PERSON.search(sentence.text) is not None
        part = ShownSentence(
            sentence.text, tuple(tokens(sentence.text)), is_negated(sentence.text), is_to_person
        )
        parts = [*parts[-1:], part]
        named = [*named[-1:], frozenset(names_and_numbers(sentence.text, opening=True))]
        stems = frozenset(token for shown in parts for token in shown.tokens)
        yield Shown(stems, frozenset().union(*named), tuple(parts))


def context_of(earlier: Sequence[Exchange]) -> str:
    """What was said before this message, by both, as one text."""
    return "\n".join(f"{exchange.message}\n{exchange.standalone}\n{exchange.answer}" for exchange in earlier)

"""Text becomes sentences; which of them are questions.

    text -> lines that end what they say -> stops that end a sentence -> sentences

A sentence ends at a stop or at a line break. Neither always ends one: a stop also stands in numbers,
initials and abbreviations, and a line break also wraps a paragraph. Where it is doubtful, the sentence
goes on: two sentences taken as one still read right, half a sentence does not.

Everything here is one pass over the text: time grows with its length, whatever it holds.
"""

from __future__ import annotations

import re
from typing import NamedTuple


class Sentence(NamedTuple):
    """A sentence and where it stands: `text` is the whole text's [start:end], without spaces around it."""

    start: int
    end: int
    text: str


_HARD_STOPS = "。！？｡؟।۔"  # end a sentence whatever follows
_QUESTION_MARKS = frozenset("?？؟")
_OPENERS = "\"'“‘«‹([{「『【《（*_`¿¡"
_CLOSERS = "\"'”’»›)]}」』】》）*_`"

# Every alternative matches wherever it begins, so the search never goes back.
_POSSIBLE_END = re.compile(
    rf"\n\s*|([.!?…{_HARD_STOPS}]+)((?:\[\w{{1,4}}\])*[{re.escape(_CLOSERS)}]*)"  # [3]: a reference
)
_SPACE = re.compile(r"\s*")
_NEXT = re.compile(rf"\s*[{re.escape(_OPENERS)}]*")
_NEXT_WORD = re.compile(r"[^\W\d_]{1,20}(?![\w.])")

_NEVER_LAST = frozenset("dr mr mrs ms mx prof messrs e.g i.e eg ie cf viz vs".split())
_BEFORE_NUMBER = frozenset(
    "no nos nr fig figs vol vols p pp eq eqs sec ch art par para ver op pop approx ca c b d r §".split()
)
_SELDOM_LAST = frozenset(
    "st rev gen col sgt lt capt cmdr maj adm gov sen rep hon pres mt ft jr sr inc ltd co corp llc plc bros "
    "al aka ca approx lit lat ssp esp incl resp est dept univ assn ave blvd rd bldg misc trans repr ed eds "
    "orig jan feb mar apr jun jul aug sep sept oct nov dec mon tue tues thu thurs fri".split()
)  # last only where a word follows that mostly begins a sentence
_BEGINNERS = frozenset(
    "the a an this that these those it he she we you they i his her its our their my your there here "
    "in on at as by for from with after before during since while although however also then thus both "
    "some many most all one no not yes when where what who how why which if but and or so once today "
    "do does did is are was were can could will would should has have please thank thanks let".split()
)
_DOTTED = re.compile(r"(?:[^\W\d_]{1,2}\.)+[^\W\d_]")  # U.S, p.m, Ph.D
_LONGEST_ABBREVIATION = 24  # characters looked at before a stop

_LIST_ITEM = re.compile(r"(?:[-*+•‣·–]|\d{1,3}[.)]|[a-z]\)|#{1,6})\s|[>|]")
_CELLS = " | "  # between the cells of a table's row, as every reader of documents writes it
_BEGINNING_OF_A_LINE = 120  # characters looked at
_WRAPPED_WIDTHS = range(
    50, 121
)  # a shorter line was ended on purpose; a longer one is a paragraph of its own


def sentences(text: str) -> list[Sentence]:
    """The sentences of a text in order; together they hold every character that is not space."""
    found: list[Sentence] = []
    start = _after(_SPACE, text, 0)
    line_start = 0
    for possible in _POSSIBLE_END.finditer(text):
        stops = possible[1]
        if stops is None:
            line = text[line_start : possible.start()].strip()
            next_line = text[possible.end() : possible.end() + _BEGINNING_OF_A_LINE].partition("\n")[0]
            line_start = possible.end()
            ends = possible[0].count("\n") > 1 or breaks_between(line, next_line)
        else:
            ends = _ends_at_stop(text, start, possible)
        if ends:
            _append(found, text, start, possible.end())
            start = _after(_SPACE, text, possible.end())
    _append(found, text, start, len(text))
    return found


def _append(found: list[Sentence], text: str, start: int, end: int) -> None:
    sentence = text[start:end].rstrip()
    if sentence:
        found.append(Sentence(start, start + len(sentence), sentence))


def breaks_between(line: str, next_line: str) -> bool:
    """Whether the break between two lines ends what the first one says.

    It does before an empty line, a list item, a heading or a quotation, after a heading, and between the
    rows of a table; otherwise unless the paragraph seems wrapped: the first line has the length of a
    wrapped one, or the next begins in lower case. Both are given without spaces around them; the
    beginning of the next is enough.
    """
    if not line or not next_line or _LIST_ITEM.match(next_line) or line.startswith("#"):
        return True
    if _CELLS in line and _CELLS in next_line:
        return True
    return len(line) not in _WRAPPED_WIDTHS and not (
        next_line[0].islower() and len(line) < _WRAPPED_WIDTHS.stop
    )


def _ends_at_stop(text: str, start: int, possible: re.Match[str]) -> bool:
    """Whether the sentence that began at `start` ends with this stop."""
    stops, closers = possible[1], possible[2]
    if not set(_HARD_STOPS).isdisjoint(stops):
        return True
    next_at = _after(_NEXT, text, possible.end())
    if next_at == len(text):
        return True
    if not text[possible.end()].isspace():
        return False  # 3.14, U.S., notes.txt
    following = text[next_at]
    if following in ",;:)]}":
        return False
    token = _word_before(text, start, possible.start())
    if not token:
        return False  # a stop that stands alone, such as each of ". . ."
    if stops == ".":
        lowered = token.lower()
        label_length = possible.start() - start
        if label_length == len(token) and (label_length == 1 or token.isdecimal()):
            return False  # the label of a list item, "12. Knead the dough"
        if lowered in _NEVER_LAST:
            return False
        if lowered in _BEFORE_NUMBER and following.isdigit():
            return False
        if lowered in _SELDOM_LAST or _is_initial(token) or _DOTTED.fullmatch(token):
            word = _NEXT_WORD.match(text, next_at)
            return word is not None and word[0][0].isupper() and word[0].lower() in _BEGINNERS
    return not following.islower() or _ends_before_lower_case(text, start, token, stops, closers)


def _after(pattern: re.Pattern[str], text: str, position: int) -> int:
    match = pattern.match(text, position)
    return match.end() if match else position


def _word_before(text: str, start: int, end: int) -> str:
    """What stands directly before a stop; enough of it to know an abbreviation."""
    before = text[max(start, end - _LONGEST_ABBREVIATION) : end]
    if not before or before[-1].isspace():
        return ""
    return before.split()[-1].lstrip(_OPENERS) or before[-1]


def _is_initial(token: str) -> bool:
    return len(token) == 1 and token.isupper()


def _ends_before_lower_case(text: str, start: int, token: str, stops: str, closers: str) -> bool:
    """Whether a sentence may begin in lower case here, as it does with people who never write a capital.

    It may not after an ellipsis, after a closing quote ('"Really?" she asked'), and after a capitalised
    word ("Yahoo! is"), except where the sentence before began in lower case itself.
    """
    if closers or "…" in stops or ".." in stops or token.lower() == "etc":
        return False
    if "?" in stops:
        return True
    began_in_lower_case = text[start : start + 4].lstrip(_OPENERS)[:1].islower()
    return began_in_lower_case or (token.isalpha() and token.islower() and len(token) > 2)


_BE = frozenset("is are was were".split())
_AUXILIARIES = _BE | frozenset(
    "am do does did can could will would should has have had may might must shall "
    "isn't aren't wasn't weren't don't doesn't didn't can't couldn't won't wouldn't shouldn't hasn't "
    "haven't hadn't".split()
)
_PRONOUNS = frozenset("i you he she it we they this that these those there".split())
_SUBJECTS = _PRONOUNS | frozenset(
    "the a an my your his her its our their any some anyone anybody anything someone somebody something "
    "everyone everybody everything all most many each every both people".split()
)
_QUESTION_WORDS = frozenset("what who whom whose where when why which how".split())
_MEASURES = frozenset(
    "many much long far often old big tall high fast large deep wide heavy hot cold late early soon small "
    "well good bad hard easy difficult expensive important likely safe".split()
)
_ASKED_NOUNS = frozenset(
    "time kind kinds sort sorts type types year day date month colour color number size language country "
    "city age percentage part name".split()
)
_ONLY_THESE_SUBJECTS = {  # a first word that is as often an order, a wish or a name
    "do": frozenset("i you we they these those people any".split()),
    "have": frozenset("i you we they these those people any there".split()),
    "may": frozenset("i we you he she they".split()),
    "might": _PRONOUNS,
    "must": _PRONOUNS | {"the"},
    "will": _SUBJECTS,
}
_MODALS = frozenset("can could will would should".split())
_COUNTED_SUBJECTS = frozenset(
    "other others another two three four several few".split()
)  # "can two people use it"
_ASKS_OTHERWISE = re.compile(
    r"\bor (?:can|could|do|does|did|should|will|is|are) (?:i|we|you|they|he|she|it)\b"
)
_COMMENTS_AFTER_WHICH = frozenset("brings means meant makes made leads led leaves left reminds in".split())
_AFTER_WHICH_IS = frozenset(
    "why how what because when where fine good great nice to i we he she they".split()
)
_DOES_NOT_ASK = frozenset("not sound seem look feel make take help work mean".split())
_CONDITIONS = frozenset("should had were".split())  # "Should you need help, call me."
_OPENING_REMARKS = frozenset("and or but so ok okay well hi hello hey please".split())
_PREPOSITIONS = frozenset("on in at for from to with by after before during about near without".split())
_COURTESIES = frozenset(
    "hi hello hey thanks thank you please ok okay good morning afternoon evening day there dear sorry "
    "cheers welcome very much so many again bye goodbye great".split()
)

_WH = r"(?:what|who|whom|whose|where|when|why|which|how|if|whether|about)(?:'s)?"
_REQUEST = re.compile(
    r"(?:(?:can|could|would|will) you )?(?:please |kindly )*"
    r"(?:(?:tell|show|give) (?:me|us)|explain|describe|summari[sz]e|define|compare|look up|search for|"
    rf"find (?:out|me)|let (?:me|us) know {_WH}|remind (?:me|us) (?:of|{_WH})|"
    r"(?:list|name) (?:the|all|some|any|an?|my|our|every|one|two|three|four|five)|"
    r"(?:i wonder|i was wondering|i'm wondering|i'd like to know|i would like to know|i want to know|"
    rf"i need to know|any idea|does anyone know) (?:more )?{_WH})\b"
)
_ASKS_AT_ITS_END = re.compile(  # "the new one is worse, how do I go back", "it won't start what can I do"
    r"[^.!?…]*?(?:"
    r"[,;:] (?:and |so |but )?(?:how|what|where|when|why|which) (?:do|can|could|should|must) (?:i|we)\b"
    r"|(?<!\bis )(?<!called )(?<!named )(?<!idea )\bwhat (?:do|can|could|should|must) (?:i|we) do"
    r"(?: now| then| about (?:it|that|this))?\W*$"
    r")[^.!…]*"
)
MISSPELT = {"hwo": "how", "waht": "what", "whta": "what", "wich": "which"}
_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)*")
_READ_OF_A_SENTENCE = 300  # characters; a question shows itself at its beginning or its very end


def is_question(sentence: str) -> bool:
    """Whether a sentence asks for something.

    With a question mark at its end it does. A mark inside closing quotes or brackets counts only where
    the sentence begins with them or is worded as a question: 'My favourite film is "Who are you?"' is
    not one. Without a mark, English wording decides, and doubt says no:

    - a request for information: "tell me ...", "explain ...", "I wonder whether ...";
    - a question word before its verb: "what is ...", "how do I", but not "What I like is tea.";
    - a verb before its subject: "does the ...", "can you", but not "Do it now" or "So do I";
    - a follow-up without a verb: "and on Sundays".

    A sentence that ends in an exclamation mark is a request or nothing.
    """
    sentence = sentence.strip()
    body = sentence.rstrip(_CLOSERS + " ")
    stops = body[len(body.rstrip(".!?…" + _HARD_STOPS)) :]
    asked = not _QUESTION_MARKS.isdisjoint(stops)
    if asked and (body == sentence or sentence[0] in _OPENERS):
        return True
    if sentence.startswith("¿"):
        return True
    original = _WORD.findall(body[:_READ_OF_A_SENTENCE].replace("’", "'"))
    words = [word.lower() for word in original]
    words[:1] = [MISSPELT.get(word, word) for word in words[:1]]
    if _REQUEST.match(" ".join(words)) or _ASKS_AT_ITS_END.fullmatch(body[:_READ_OF_A_SENTENCE].lower()):
        return True
    if "!" in stops or "！" in stops:
        return False
    is_closed = bool(stops)
    remarks = 0
    while remarks < len(words) and words[remarks] in _OPENING_REMARKS:
        remarks += 1
    said, rest = words[:remarks], words[remarks:]
    if not rest:
        return False
    if remarks and _REQUEST.match(" ".join(rest)):
        return True
    if _is_worded_with_question_word(rest, is_closed=is_closed):
        return True
    if not is_closed and rest[0] in _AUXILIARIES and _ASKS_OTHERWISE.search(" ".join(rest)):
        return True
    if "so" not in said and _has_verb_before_subject(rest, original[remarks:], "," in body):
        return True
    return (
        said[-1:] in (["and"], ["or"])
        and not is_closed
        and rest[0] in _PREPOSITIONS
        and 1 < len(rest) <= 6
        and not any(word in _PRONOUNS or word in _AUXILIARIES for word in rest)
    )


def _is_worded_with_question_word(words: list[str], *, is_closed: bool) -> bool:
    """Whether these words ask with what, who, how and the like; `is_closed`: a full stop ends them."""
    if words[0] in _PREPOSITIONS and words[1:2] in (["which"], ["what"], ["whom"]):  # "in which city is"
        return not is_closed and any(
            word in _AUXILIARIES and not _PRONOUNS & {*words[2:at]}
            for at, word in enumerate(words[2:8], start=2)
        )
    asking, _, contracted = words[0].partition("'")
    if asking == "whats":
        asking, contracted = "what", "s"
    if asking not in _QUESTION_WORDS or len(words) < 2:
        return False
    verb_at = 0 if contracted else 1
    verb, then = ("is" if contracted else words[1]), words[verb_at + 1 : verb_at + 5]
    if verb in _AUXILIARIES:
        if asking == "which" and then[:1] and then[0] in _AFTER_WHICH_IS:
            return False
        is_cleft = verb in _BE | {"has", "had"} and any(word in _BE for word in then[:3])
        return not is_cleft and then[:1] != ["more"]  # "What is needed is time.", "What's more, ..."
    later_be = any(word in _BE for word in words[2:])
    if verb in _MEASURES and asking == "how":
        return not then or then[0] == "people" or then[0] not in _SUBJECTS
    if verb in _SUBJECTS or is_closed:
        return False
    if (asking, verb) in {
        ("how", "about"),
        ("what", "about"),
        ("what", "if"),
        ("how", "come"),
        ("why", "not"),
    }:
        return True
    if verb == "to" or (asking == "what" and verb in {"happened", "happens", "causes", "caused", "makes"}):
        return not later_be
    if asking == "who":
        return len(words) > 2 and verb not in {"knows", "cares"} and not later_be
    if asking in {"what", "which", "whose"}:
        if asking == "which":
            return len(words) > 2 and verb not in _COMMENTS_AFTER_WHICH and then[0] not in _PRONOUNS
        if verb in _ASKED_NOUNS:
            return any(word in _AUXILIARIES for word in then) and then[0] not in _PRONOUNS
        return then[:1] != [] and then[0] in _AUXILIARIES - _BE and not (then[1:] and then[1] in _BE)
    return False


def _has_verb_before_subject(words: list[str], original: list[str], has_comma: bool) -> bool:
    """Whether these words begin as a question to be answered with yes or no."""
    if len(words) < 2 or words[0] not in _AUXILIARIES or words[0] in {"don't", "am"}:
        return False
    verb = words[0].removesuffix("n't")
    if verb in _CONDITIONS and has_comma:
        return False
    if words[0] in _ONLY_THESE_SUBJECTS:
        is_name = original[1][0].isupper() and words[0] in {"do", "have"}
        return words[1] in _ONLY_THESE_SUBJECTS[words[0]] or is_name
    return (
        words[1] in _SUBJECTS
        or (verb in _MODALS and words[1] in _COUNTED_SUBJECTS)
        or original[1][0].isupper()
        or (verb == "does" and words[1] not in _DOES_NOT_ASK)
    )


_OWN_CLAUSE = re.compile(
    r"(?:(?:and|but|so|well|ok|okay|since|because|as|given|now|that|if) )*"
    r"(?:i(?:'m|'ve|'d|'ll)?|we(?:'re|'ve|'d|'ll)?|my|our)\b"
)


def asks_only(text: str) -> bool:
    """Whether a user's message states nothing: each of its sentences is a question, and there is one.

    Greetings and thanks are passed over, and so is what holds no word. A question that opens with a
    clause of the user's own states that clause ("I'm allergic to nuts, what can I eat?").
    """
    asked = 0
    for sentence in sentences(text):
        words = _WORD.findall(sentence.text.lower().replace("’", "'"))
        if all(word in _COURTESIES for word in words):
            continue
        if not is_question(sentence.text):
            return False
        opening = " ".join(words[:12])
        if _OWN_CLAUSE.match(opening) and not _REQUEST.match(opening):
            return False
        asked += 1
    return asked > 0

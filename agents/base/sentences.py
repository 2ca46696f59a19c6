"""Text becomes sentences.

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


def is_list_item(line: str) -> bool:
    """Whether a line begins with the mark of a list item, a heading or a quotation."""
    return _LIST_ITEM.match(line) is not None


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


def is_question(sentence: str) -> bool:
    """Whether a question mark ends a sentence. What asks without one, the reader tells (message_sorting.py).

    A mark inside closing quotes counts only where the sentence begins with them: 'My favourite film is "Who
    are you?"' is no question.
    """
    sentence = sentence.strip()
    body = sentence.rstrip(_CLOSERS + " ")
    stops = body[len(body.rstrip(".!?…" + _HARD_STOPS)) :]
    return not _QUESTION_MARKS.isdisjoint(stops) and (body == sentence or sentence[0] in _OPENERS)


def asks_only(text: str) -> bool:
    """Whether a question mark ends each sentence of a text, and there is one."""
    found = sentences(text)
    return bool(found) and all(is_question(sentence.text) for sentence in found)

"""A slip that is put right in the same sentence: "on 3 May, I mean 4 May".

Single words alone; a clause that is said anew, `agents/clause_slips.py` puts in.
"""

from __future__ import annotations

import re

from agents.claim_rules.corrections import right_words
from agents.word_places import LONGEST_READ, OPENS_WORDS, SLIP, parts_of, ways_to_put, windows

_BREAK = r"(?:\s*[,;(–—…]+\s*|\s+-+\s+|\s*\.{2,}\s*)"
_SURE_MARK = (
    r"(?:no|nope|oops|whoops|argh|correction|wait|scratch that|i mean(?:t)?(?: to (?:say|write))?|"
    r"or rather|make (?:that|it)|my (?:bad|mistake)|i was wrong)"
)
_UNSURE_MARK = r"(?:sorry|pardon|actually|rather|well|er+m?|um+)"
_SLIP_WITHIN = re.compile(
    rf"(?P<old>[^?]{{3,}}?){_BREAK}(?:and |or |but |oh |ah )?"
    rf"(?P<marks>(?:(?:{_SURE_MARK}|{_UNSURE_MARK})\b[\s,:–—-]*)+)"
    r"(?P<right>(?:[^,;:()?]|(?<=\d):(?=\d))+?)\)?(?P<rest>[,;] [^?]+)?(?P<stop>[.! ]*)$",
    re.IGNORECASE,
)
_SURE = re.compile(rf"(?!no\s*$).*\b{_SURE_MARK}\b", re.IGNORECASE)  # "no 4 May" may count the Mays
_GOES_ON = re.compile(
    r"[,;] (?=(?:is|are|was|were|has|have|will|at|in|on|with|for|to|from|by)\b)", re.IGNORECASE
)


def without_slip(sentence: str) -> str:
    """A sentence in which its user corrects themselves, as it is meant: with the right words alone.

    "The meeting is on 3 May, I mean 4 May." It stays as it is where that is not certain.
    """
    said = _SLIP_WITHIN.match(sentence) if len(sentence) <= LONGEST_READ else None
    if said is None or right_words(f"I mean {said['right']}") is None:
        return sentence
    put = _put_last(said["old"], said["right"].strip(), is_sure=_SURE.match(said["marks"]) is not None)
    if put is None:
        return sentence
    rest = _GOES_ON.sub(" ", said["rest"] or "", count=1)
    return without_slip(f"{put}{rest}{said['stop']}")


def _put_last(old: str, right: str, *, is_sure: bool) -> str | None:
    """The right words in the place of the last ones that look like them; None where none do.

    What follows the right words goes with them: "on 3 May, no, 4 May at noon". Where one may be spoken to
    ("Sorry, Anna"), a name takes the place only of one that it is a slip of.
    """
    parts = parts_of(right)
    for count in range(len(parts), 0, -1):
        words, more = right[: parts[count - 1].end], right[parts[count - 1].end :]
        ways = [words, OPENS_WORDS.sub("", words, count=1)] if OPENS_WORDS.match(words) else [words]
        found = [put for way in ways for put in windows(old, way)]
        if more:
            found = [put for put in found if put.text.endswith(words)]
        if not is_sure and all(part.looks == "a name" for part in parts_of(words)):
            found = [put for put in found if put.likeness >= SLIP]
        if found:
            return found[-1].text + more
    return next((put.text for put in ways_to_put(old, right, "")), None) if is_sure else None

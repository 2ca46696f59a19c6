"""Material that somebody hands over of their own: "About me: I live in Ghent.", "Here is my bio: ..."

What is handed over is mostly of others: a mail, an article, a text to be translated; it states nothing. What
says to be of its user's own states what it says of them in the first person, and nothing else.
"""

from __future__ import annotations

import re

from agents.claim_rules.lead_ins import without_filler

_I = re.IGNORECASE
_LONGEST_LEAD = 80  # characters
_HERE = r"(?:(?:here|below|this)(?:'s| is| are)?,? |what follows is |i (?:wrote|made|pasted) )?"
_HOW = r"(?:(?:short|little|brief|long|longer|new|old|own|pasted|quick|personal|small|few|latest|updated) )*"
_OF_ME = (
    r"(?:bio|biography|profile|self[- ](?:description|introduction|portrait)|introduction|intro|cv|"
    r"r[eé]sum[eé])"
)
_TEXT = (
    r"(?:paragraph|text|note|notes|lines|sentences|words|facts|things|description|introduction|summary|bit)"
)
_ABOUT_ME = r"(?:about|of) (?:me|myself|us|ourselves)"
_LEAD = re.compile(
    rf"{_HERE}(?:my {_HOW}(?:{_OF_ME}|(?:pasted |own )?paragraph|{_TEXT} {_ABOUT_ME})"
    rf"|(?:(?:an?|some|the) )?{_HOW}(?:{_TEXT} |something |more |a little |a bit |some things )?{_ABOUT_ME}"
    r")(?: again| below)? ?:(?=\s|$)\s*",
    _I,
)


def after_its_lead(sentence: str) -> str | None:
    """What stands behind the words that hand over something of one's own; None where none do."""
    plain = without_filler(sentence[: 2 * _LONGEST_LEAD])
    found = _LEAD.match(plain)
    if found is None or found.end() > _LONGEST_LEAD:
        return None
    return sentence[len(sentence[: 2 * _LONGEST_LEAD]) - len(plain) + found.end() :]

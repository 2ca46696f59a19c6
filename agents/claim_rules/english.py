"""Whether a sentence is English, by its letters and its small words."""

from __future__ import annotations

import re

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


def is_english(text: str) -> bool:
    """Whether a sentence seems to be English: by its letters and by the small words of some languages."""
    letters = [c for c in text if c.isalpha()]
    if sum(c.isascii() for c in letters) < _LATIN_SHARE * len(letters):
        return False
    words = [word.lower() for word in _WORDS.findall(text)]
    english, foreign = (sum(word in known for word in words) for known in (_ENGLISH, _FOREIGN))
    english += sum(word.endswith(_ENGLISH_ENDINGS) for word in words)
    return english > foreign or (foreign == 0 and len(words) < 6)

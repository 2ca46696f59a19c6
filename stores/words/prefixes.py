"""A word that is still being typed: what is indexed of the words that it may become.

The index holds stems. What is typed of "opening" is longer than its stem "open" from "openi" on, so neither
the stem nor a beginning of it is found by "openi*"; the stems of the longer words are looked for too.
"""

from __future__ import annotations

from functools import lru_cache

from stores.words.lexical import tokens

_ENDINGS = tuple(  # of English words, which their stems lose in part or as a whole
    """s es ies ied y e ed edly er ers ing ings ingly ly ily al ally ality alities alism ation ations
    ational ator ators ate ates ated ating ative ization izations isation ize izes ized izing izer
    ise ises ised ising ance ances ancy ence ences ency able ably ability abilities ible ibly
    ibility ful fully fulness less lessly ness nesses iness ous ously ousness ive ively iveness
    ivity ic ical ically icity ity ities ment ments ent ently ant antly ism ion ions ional ionally""".split()
)


@lru_cache(maxsize=1_000)
def stems_of_longer(typed: str) -> tuple[str, ...]:
    """The stems of English words that begin like this, where they themselves do not.

    typed: lower case. Empty for a word with letters that no stem is made of.
    """
    if not typed.isascii():
        return ()
    found: dict[str, None] = {}
    for ending in _ENDINGS:
        for typed_of_it in range(len(ending)):
            if typed.endswith(ending[:typed_of_it]):
                longer = typed[: len(typed) - typed_of_it] + ending
                found.update(dict.fromkeys(tokens(longer)))
    return tuple(sorted(stem for stem in found if not stem.startswith(typed)))

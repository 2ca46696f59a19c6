"""Whether the user speaks of themselves, and whether they like or judge something."""

from __future__ import annotations

import re

from agents.claim_rules.distinctions import names_and_numbers

_I = re.IGNORECASE
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
_NUMBERED = re.compile(r"\w[ ,]+[A-Z][a-z]{2,} $|^(?:World|Elizabeth|Charles|Type|Phase|Class) $")
_OPINION = re.compile(
    r"\b(?:can be|could be|can feel|sounds?|seems?|great|amazing|fantastic|brilliant|awesome|wonderful|"
    r"terrible|hard to|challeng\w+|worth|rewarding|important|invaluable|really|definitely|nice|lovely|"
    r"faint of heart|"
    r"good idea)\b",
    _I,
)
_OWN_ELSEWHERE = re.compile(
    r"(?:ich (?:bin|heiße|wohne|lebe|arbeite|mag|habe|esse|trinke)|mein name ist|mi nombre es|me llamo|"
    r"vivo en|me gusta|soy|je m'appelle|j'habite|j'aime|je suis|je travaille|mi chiamo|abito a|mi piace|"
    r"eu moro|eu gosto|"
    r"(?:meine?|unsere?|mon|ma|notre|mi|nuestr[oa]|il mio|la mia|mio|mia|meu|minha) [^\W\d_]+ (?:heißt|"
    r"heisst|ist|"
    r"wohnt|lebt|arbeitet|s'appelle|est|habite|travaille|se llama|es|vive|trabaja|si chiama|è|abita|se chama|"
    r"mora) |"
    r"меня зовут|я живу|я работаю|я люблю|我叫|我住|我喜欢|我是|私の名前は|私は)(?!\w*[:])",
    _I,
)
_MOST_FOREIGN_WORDS = 10


def is_preference(text: str) -> bool:
    """Whether the user likes, dislikes or prefers something here."""
    return _LIKING.search(text) is not None


def is_opinion(text: str) -> bool:
    """Whether it seems an opinion of the world: a judging word, and neither a name nor a number."""
    return _OPINION.search(text) is not None and not names_and_numbers(text)


def is_of_the_user(text: str) -> bool:
    """Whether the first person speaks of itself. The I of "World War I" is a number."""
    return any(
        match[0] != "I" or _NUMBERED.search(text[: match.start()][-20:]) is None
        for match in _FIRST_PERSON.finditer(text)
    )


def is_of_the_user_elsewhere(text: str) -> bool:
    """Whether a sentence in another language surely speaks of the user: a short one that opens so."""
    return (
        _OWN_ELSEWHERE.match(text) is not None
        and len(text.split()) <= _MOST_FOREIGN_WORDS
        and ":" not in text
    )

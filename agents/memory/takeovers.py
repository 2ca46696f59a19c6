"""What is said to everybody or about the memory, and what tells the assistant to be another one.

A guard of what is kept, by patterns on purpose: it does not depend on a model that a text could sway.
"""

from __future__ import annotations

import re

_I = re.IGNORECASE
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
    r"(?:(?:please|kindly|now|then|and|so|also|just|ok(?:ay)?|hey|hi|hello|vouch|assistant|from now on)\b"
    r"[,:;.!]*\s+)*"
    r"(?:ignore|disregard|override|bypass|forget|delete|erase|remove|act as|pretend|roleplay|you are now|"
    r"you(?:'re| are) (?:required|instructed|ordered|an? (?:ai|assistant|bot|model))|you (?:must|have to|"
    r"need to|shall)|as (?:an? |the |your )?(?:ai|assistant|language model|chatbot|admin|administrator|"
    r"developer|owner|operator|system)|make sure|ensure|whenever|"
    r"henceforth|(?:the )?next time|(?:every ?time|when) (?:any|some|a user|you|people))\b",
    _I,
)
_ORDERED_FIRST = re.compile(
    r"(?:(?:please|now|then|just|also|kindly|from now on),? )*(?:"
    r"(?:tell|inform|announce|spread|teach|share|post|publish|send|write|put|set|store|save|add|record|undo|"
    r"remove|delete|update|change|replace|repeat|mark|treat|answer|reply|say)\b|"
    r"(?:remember|note|keep|memori[sz]e|do not forget|don't forget)\b(?! (?:in mind )?that\b| my\b|[:,]))",
    _I,
)
_LABEL = re.compile(
    r"\W{0,3}(?:(?:system|assistant|developer|admin(?:istrator)?|user|tool|ai|bot|instructions?|override|"
    r"memory|receipt|verdict|claim|verified|official|security|root|(?:new )?rules?|new (?:polic(?:y|ies)|"
    r"texts?|entr(?:y|ies)|knowledge|memor(?:y|ies)))\b[\w /-]{0,30}[:\]>]|"
    r"(?:the )?users?\b(?! (?:guide|manual|interface)))",
    _I,
)
_ECHOES = re.compile(
    r"\b(?:you (?:just |also |already |have |had |once |earlier )*(?:said|told|mentioned|wrote|explained|"
    r"claimed|answered|stated|say|tell|noted|quoted|showed)|you've (?:just |already )?(?:said|told|"
    r"mentioned)|according to (?:you|your)|your (?:answer|reply|"
    r"source)s? sa(?:ys|id)|you(?:'re| are| were) (?:telling|saying)|(?:i quote|i am quoting|i'm quoting|"
    r"quoting|to quote) you|the (?:assistant|chatbot|chat bot|bot|ai) (?:just |also |already |has |had )*"
    r"(?:said|says|told|tells|claim(?:s|ed)|stated|states|answer(?:s|ed)|wrote|writes|mentioned))\b",
    _I,
)
_COMMAND_LINE = re.compile(
    r"(?:^|(?<=\s))\W{0,3}(?:sudo|/[a-z]\w*)\b|"
    r"(?-i:\bvouch (?!(?!sessions)[a-z]+s |(?:can|will|could|did|had|ran) )[a-z]+ )|\bvouch (?:ask|chat|"
    r"ingest|search|import|sessions|"
    r"export|memory|feedback|train|replay|encoder|doctor|backup|restore) |(?:^|\s)--[a-z]",
    _I,
)
_VERDICT_ORDERED = re.compile(
    r"\b(?:mark|set|treat|record|store|classify|file|flag|label|judge|rate|accept)\b.{0,40}\b(?:claims?|verdicts?|"
    r"confidence|scope|receipts?|as (?:correct|true|verified|accepted|shared|a fact))\b|"
    r"\b(?:verifier|discriminator|classifier|curator|fact[- ]check(?:er|ing|s)?|memory (?:checks?|filters?)) "
    r"(?:is|are|was|were|has been|have been) (?:now |currently |temporarily )*"
    r"(?:(?:switched|turned) off|off|disabled|suspended|down|deactivated)\b",
    _I,
)


def is_takeover(text: str) -> bool:
    """Whether a sentence orders the assistant to do something or to be another one, or says what it said."""
    if is_about_memory(text) or _ECHOES.search(text):
        return True
    if _COMMAND_LINE.search(text) or _VERDICT_ORDERED.search(text):
        return True
    return _COMMANDS.match(text) is not None or _ORDERED_FIRST.match(text) is not None


def is_about_memory(text: str) -> bool:
    """Whether a sentence speaks to all users, or of the memory and what else the assistant is made of."""
    if _MACHINERY.search(text) or is_labelled(text):
        return True
    return _OTHERS.search(text) is not None and _ORDERED.search(text) is not None


def is_labelled(text: str) -> bool:
    """Whether it opens like a line of a system, a tool or a user: with who speaks, or what follows."""
    return _LABEL.match(text) is not None

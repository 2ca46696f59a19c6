"""Decides what a claim changes in the space it goes to.

    says the same as a passage            nothing: that passage says it already
    gives another value, or denies it     modify: a new version in its place; of the shared passages also
                                          where another of them says the same, and then delete
    says that it holds no more            delete; where it repeats what held, modify
    a shared passage entails it           nothing: it confirms
    else                                  add

Only what was said is ever modified or deleted: notes, facts, preferences, corrections. A document keeps what
its file says. A user's raw messages are not knowledge and are passed over. What was judged wrong changes
nothing, nor does what somebody else is said to say, and the shared space takes only what was judged correct.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from agents.claim_interfaces import Claim, Curation, Weighed
from agents.claim_rules.corrections import right_words
from agents.claim_rules.doubts import doubt
from agents.claim_rules.lead_ins import admits_mistake, is_correction, tells_hearsay, without_filler
from agents.interfaces import Candidate, Reader
from agents.met_statements import (
    CHANGEABLE,
    gives_otherwise,
    is_near,
    is_of_one_thing,
    may_mean_another,
    one_less,
    persons_of,
    words_of_the_gone,
)
from agents.relations.clauses import clauses
from agents.relations.comparison import death_told, ends_a_part, exchange_of, says_more
from agents.relations.listed import says_more_than, without_listed
from agents.relations.named_persons import NamedPersons, says_who
from agents.sentences import Sentence, sentences
from agents.told_before import put_right
from agents.value_changes import (
    Change,
    are_swapped,
    change,
    denies_all,
    effect,
    puts_right,
    what_holds,
    withdrawn_words,
)
from agents.values import content, values
from stores.claim_decisions import STAYS
from stores.lexical import tokens

SAME_STATEMENT = 0.9  # cosine from which it may say the same
STRONG = 0.9  # probability from which the reader's word counts here
_MORE_WORDS = 2  # content words from which a claim that repeats what is known says more than it


@dataclass(frozen=True)
class _Met:
    """A sentence of a passage that the claim meets, and what the claim does to it."""

    candidate: Candidate
    sentence: Sentence
    change: Change
    said: str  # the claim, naming whom it speaks of as the sentence does

    @property
    def is_changeable(self) -> bool:
        return self.candidate.passage.kind in CHANGEABLE


class RuleCurator:
    """A curator by rules over values, with a reader to compare what rules cannot."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader

    async def curate(self, claim: Claim, weighed: Weighed, nearest: Sequence[Candidate]) -> Curation:
        """See `Curator`."""
        return await asyncio.to_thread(self._curate, claim, weighed, nearest)

    def _curate(self, claim: Claim, weighed: Weighed, nearest: Sequence[Candidate]) -> Curation:
        is_shared = any(candidate.passage.is_shared for candidate in nearest) or (
            not nearest and weighed.status == "correct" and claim.about == "world" and not claim.is_hearsay
        )
        if weighed.status == "incorrect" or (is_shared and weighed.status != "correct"):
            return Curation("nothing", reason=f"it was found {_FOUND[weighed.status]}")
        if not is_shared:
            claim = _as_thought(claim)
        persons = persons_of(claim.text, nearest)
        near = [c for c in nearest if c.passage.kind != "message" and is_near(claim.text, c, persons)]
        near.sort(key=lambda c: -c.dense)
        met = [_meeting(claim.text, candidate, persons) for candidate in near]
        known = self._said_already(claim, near, met)
        return (
            (_against_what_is_borne_out(claim, known, met) if known and is_shared else None)
            or known
            or (None if claim.is_hearsay else _changed(claim, met) or _put_right(claim, near))
            or (self._entailed(claim, weighed, near) if is_shared else None)
            or Curation("add", text=what_holds(claim.text), reason=_why_added(claim, near, met))
        )

    def _said_already(self, claim: Claim, near: Sequence[Candidate], met: Sequence[_Met]) -> Curation | None:
        for candidate, one in zip(near, met, strict=True):
            if candidate.dense < SAME_STATEMENT:
                break
            if tells_hearsay(candidate.passage.text) and not claim.is_hearsay:
                continue  # what somebody else said is not yet what the user says
            if one.change == "same" or (
                one.change == "other" and self._are_equivalent(claim.text, candidate.passage.text)
            ):
                return Curation("nothing", candidate.passage, reason="it is known already")
        return None

    def _are_equivalent(self, one: str, other: str) -> bool:
        """Whether each entails the other, with the same numbers and names in the same places."""
        if _values(one) != _values(other) or are_swapped(one, other) or _says_more(one, other):
            return False
        return all(v.supports >= STRONG for v in self._reader.verify([(one, other), (other, one)]))

    def _entailed(self, claim: Claim, weighed: Weighed, near: Sequence[Candidate]) -> Curation | None:
        decisive = weighed.decisive
        if decisive is not None and decisive.passage.is_shared:
            return Curation("nothing", decisive.passage, reason="a shared passage says it already")
        shared = [
            c.passage for c in near if _values(claim.text) <= _values(f"{c.passage.title} {c.passage.text}")
        ]
        verified = self._reader.verify([(claim.text, passage.text) for passage in shared])
        for passage, found in zip(shared, verified, strict=True):
            if found.supports >= STRONG:
                return Curation("nothing", passage, reason="a shared passage says it already")
        return None


def _as_thought(claim: Claim) -> Claim:
    """A claim in the doubt in which it was said: "I think the pool opens at nine"."""
    thought = doubt(without_filler(claim.quote))
    if thought is None or claim.is_hearsay or doubt(claim.text) is not None:
        return claim
    return replace(claim, text=thought.on(claim.text))


def _says_more(claim: str, known: str) -> bool:
    """Whether a claim has every word of what is known and more of its own, which the reader overlooks."""
    words, others = set(tokens(claim)), set(tokens(known))
    return others <= words and len(words - others) >= _MORE_WORDS


_FOUND = {"correct": "right", "incorrect": "wrong", "unknown": "neither right nor wrong"}
_ORDER: tuple[Change, ...] = ("same", "withdrawn", "value", "negated", "other")


def _meeting(claim: str, candidate: Candidate, persons: NamedPersons) -> _Met:
    """The sentence of a passage, or the clause of one, that the claim does most to."""
    text = candidate.passage.text
    pieces = sentences(text) or [Sentence(0, len(text), text)]
    found: list[_Met] = []
    for piece in pieces:
        part, change = _changed_part(piece, persons.named(claim), persons)
        found.append(_Met(candidate, part, change, _said_of(part.text, claim, persons)))
    return min(found, key=lambda met: _ORDER.index(met.change))


def _said_of(told: str, claim: str, persons: NamedPersons) -> str:
    """The claim with the name of whom it is of; a death also with the name that goes with what it ends."""
    if death_told(claim) is not None:
        return NamedPersons([told]).named(persons.named(claim), even_of_many=True)
    return claim if says_who(told) else persons.named(claim)


def _changed_part(sentence: Sentence, claim: str, persons: NamedPersons) -> tuple[Sentence, Change]:
    """What of a sentence the claim changes, and how: "other" where that would take more than it gives."""
    known = persons.named(sentence.text)
    found = effect(known, claim)
    if found != "same" and is_of_one_thing(claim) and one_less(sentence.text, claim) is not None:
        return sentence, "withdrawn"
    if found in ("same", "other") or ends_a_part(known, claim):
        return sentence, "same" if found == "same" else "other"
    parts = clauses(sentence.text)
    if found == "value" and 1 < len(parts) == len(clauses(claim)) and change(known, claim) == "value":
        return sentence, found  # it says all of it anew
    for start, end in parts if len(parts) > 1 else ():
        part = Sentence(sentence.start + start, sentence.start + end, sentence.text[start:end])
        said = persons.named(part.text)
        if (of_part := effect(said, claim)) not in ("same", "other") and not says_more(said, claim):
            return part, of_part
    is_by_value = gives_otherwise(claim, known, persons)
    return sentence, "other" if is_by_value and says_more(known, claim) else found


def _changed(claim: Claim, met: Sequence[_Met]) -> Curation | None:
    """What the claim does to the nearest passage that it contradicts or withdraws and that may be changed."""
    changed = [one for one in met if one.is_changeable and one.change not in ("same", "other")]
    if len(changed) > 1 and (may_mean_another(claim.text) or _may_mean_several(claim.text, changed)):
        return None
    for one in sorted(changed, key=_says_beside):
        passage = one.candidate.passage
        before, after = _around(passage.text, one.sentence)
        if one.change == "withdrawn" and not denies_all(one.sentence.text, one.said):
            gone = words_of_the_gone(one.said)
            if (kept := without_listed(one.sentence.text, gone)) is not None:
                text = f"{before}{kept} {one.said}{after}"
                return Curation("modify", passage, text, f"a part holds no more{STAYS}{kept}")
            if says_more_than(one.sentence.text, gone):
                reason = f"only a part may hold no more{STAYS}{one.sentence.text}"
                return Curation("add", text=claim.text, reason=reason)
            left = f"{before.rstrip()} {after.lstrip()}".strip()
            if not left and exchange_of(one.said) is not None:
                return Curation("modify", passage, one.said, _REASONS["withdrawn"](one))
            if not left:
                return Curation("delete", passage, reason=f"it holds no more: {one.sentence.text!r}")
            return Curation("modify", passage, left, reason=f"a part holds no more: {one.sentence.text!r}")
        return Curation(
            "modify", passage, f"{before}{what_holds(one.said)}{after}", _REASONS[one.change](one)
        )
    return None


def _against_what_is_borne_out(claim: Claim, known: Curation, met: Sequence[_Met]) -> Curation | None:
    """What to do with a shared passage that contradicts a claim which another one states already."""
    changed = None if claim.is_hearsay else _changed(claim, met)
    if changed is None or changed.passage is None or changed.passage == known.passage:
        return None
    if changed.action == "modify" and known.passage is not None and changed.text == known.passage.text:
        reason = f"another shared passage says otherwise, and was borne out: {known.passage.text!r}"
        return Curation("delete", changed.passage, reason=reason)
    return changed


def _may_mean_several(claim: str, changed: Sequence[_Met]) -> bool:
    """Whether a death is told by a name that two have: "Rex died" of a dog and of a son called so."""
    return death_told(claim) is not None and len({one.said for one in changed}) > 1


def _says_beside(one: _Met) -> int:
    """How much a sentence says beside what is withdrawn: "I have a cat" before "I have a cat tree"."""
    if one.change != "withdrawn":
        return 0
    return len(set(content(one.sentence.text)) - withdrawn_words(one.said))


def _put_right(claim: Claim, near: Sequence[Candidate]) -> Curation | None:
    """What a claim does that its user calls a correction, where it can mean one sentence alone."""
    if not is_correction(claim.quote) and right_words(claim.quote) is None:
        return None
    admits = admits_mistake(claim.quote)
    meant = [
        _Met(candidate, sentence, "value", claim.text)
        for candidate in near
        for sentence in sentences(candidate.passage.text)
        if puts_right(sentence.text, claim.text, admits=admits)
        or put_right(claim.quote, sentence.text, ()) == claim.text
    ]
    return _changed(claim, meant) if len(meant) == 1 else None


_JOINED_BEFORE = re.compile(r"[\s,;:–—-]*(?:\b(?:and|but|so)\b\s*)?(?:now\s*)?$", re.IGNORECASE)
_JOINED_AFTER = re.compile(r"^[\s,;:–—-]*(?:(?:and|but|so)\b\s*)?", re.IGNORECASE)


def _around(text: str, part: Sentence) -> tuple[str, str]:
    """What stands before and behind a part of a text; what it was joined to becomes a sentence of its own."""
    before, after = text[: part.start], text[part.end :]
    if part in (sentences(text) or [part]):
        return before, after
    left, right = _JOINED_BEFORE.sub("", before), _JOINED_AFTER.sub("", after)
    if left != before and left[-1:].isalnum():
        left += ". "
    is_all = not any(map(str.isalnum, right))
    return left, "" if is_all else f" {right[0].upper()}{right[1:]}"


_REASONS = {
    "withdrawn": lambda one: f"it says that {one.sentence.text!r} holds no more",
    "value": lambda one: f"it gives another value than {one.sentence.text!r}",
    "negated": lambda one: f"it denies, or no longer denies, {one.sentence.text!r}",
}


def _why_added(claim: Claim, near: Sequence[Candidate], met: Sequence[_Met]) -> str:
    if any(one.change in ("value", "negated", "withdrawn") for one in met):
        if claim.is_hearsay:
            return "what somebody else says changes nothing"
        return "it differs from a document, which keeps what its file says"
    return "nothing known says it" if near else "nothing is known on its topic"


def _values(text: str) -> frozenset[str]:
    return frozenset(item for value in values(text) for item in value.items)

"""A chat model decides what a claim changes in the space it goes to; the rules decide what it may.

    what the rules refuse, change, or know in the very words       theirs
    else: claim and near passages -> the model's action -> guards -> it, or the rules' own

The guards keep to the table of the rules. Nothing: that passage says it, with its names and numbers. Modify:
one sentence of what was once said, in the words of old and new. Delete: one sentence that was once said, by
a claim that tells of an end and gives nothing in its place. Hearsay changes nothing; what is unsure is added.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from agents.chat_interfaces import ChatModel, Source
from agents.claim_interfaces import Claim, Curation, Curator, Weighed
from agents.claim_rules.own_part import plain_text
from agents.interfaces import Candidate
from agents.met_statements import CHANGEABLE, SAME_TOPIC
from agents.prompts.curating import curation_messages, curation_schema
from agents.sentences import Sentence, sentences
from agents.value_changes import is_negated, is_withdrawal
from agents.values import content, values
from stores.passages import Passage

LONGEST_SHOWN = 2_000  # characters of a passage: one that is longer is not put before the model
_PASSAGES = 5
_LONGEST_TEXT = 2  # times as long as what it replaces and the claim together
_KNOWN_SHARE = 0.5  # of a claim's content words, that a passage holds which says it already
_ENDS = re.compile(
    r"\b(?:left|leaves|ended|ends|over|gone|lost|gave|given|broke|moved (?:out|away)|used to|former|formerly|"
    r"finished|dropped|died|removed|resigned|retired|returned|threw)\b",
    re.IGNORECASE,
)


class ChatCurator:
    """A curator over a chat model, beside one by rules."""

    def __init__(self, chat: ChatModel, rules: Curator) -> None:
        self._chat = chat
        self._rules = rules

    async def curate(self, claim: Claim, weighed: Weighed, nearest: Sequence[Candidate]) -> Curation:
        """See `Curator`. Asks only beside a passage on the same topic, where the rules would add, or hold
        for known what stands there in other words."""
        ruled = await self._rules.curate(claim, weighed, nearest)
        if claim.is_hearsay:
            changes = ruled.action in ("modify", "delete")
            return Curation("add", text=claim.text, reason="hearsay changes nothing") if changes else ruled
        near = [
            candidate.passage
            for candidate in nearest
            if candidate.dense >= SAME_TOPIC
            and candidate.passage.kind != "message"
            and len(candidate.passage.text) <= LONGEST_SHOWN
        ][:_PASSAGES]
        if _is_certain(ruled, claim, weighed) or not near:
            return ruled
        sources = [Source(number, passage) for number, passage in enumerate(near, start=1)]
        reply = await self._chat.structured(
            curation_messages(claim.text, sources), curation_schema(len(near))
        )
        return self._guarded(reply, claim.text, near) or ruled

    def _guarded(self, reply: Mapping[str, object], claim: str, near: Sequence[Passage]) -> Curation | None:
        """The curation that a reply asks for; None where it may not be done."""
        number, action = reply.get("number"), reply.get("action")
        if action == "add":
            return Curation("add", text=claim, reason=f"nothing known says it, says {self._chat.name}")
        if isinstance(number, bool) or not isinstance(number, int) or not 1 <= number <= len(near):
            return None
        passage = near[number - 1]
        if action == "nothing" and _says_already(passage.text, claim):
            return Curation("nothing", passage, reason=f"it is known already, says {self._chat.name}")
        if passage.kind not in CHANGEABLE or reply.get("can_both_be_true") is not False:
            return None
        if action == "delete" and _is_ended(passage.text, claim):
            reason = f"{passage.text!r} holds no more, says {self._chat.name}"
            return Curation("delete", passage, reason=reason)
        text = reply.get("text")
        if action != "modify" or not isinstance(text, str) or len(text) > _LONGEST_TEXT * LONGEST_SHOWN:
            return None
        found = _changed_sentence(passage.text, plain_text(text).text)
        if found is None or not _says_both(passage.text, claim, *found):
            return None
        old, new = found
        rewritten = f"{passage.text[: old.start]}{new}{passage.text[old.end :]}"
        return Curation("modify", passage, rewritten, f"it changes {old.text!r}, says {self._chat.name}")


def _is_certain(ruled: Curation, claim: Claim, weighed: Weighed) -> bool:
    """Whether the rules need no second opinion on what they decided."""
    if ruled.action != "nothing" or ruled.passage is None:
        return ruled.action != "add"
    decisive = weighed.decisive
    has_decided = decisive is not None and decisive.passage.passage_id == ruled.passage.passage_id
    return has_decided or set(content(ruled.passage.text)) == set(content(claim.text))


def _says_already(text: str, claim: str) -> bool:
    """Whether a text has the names and numbers of a claim, most of its words, and denies what it denies."""
    stated = set(content(claim))
    share = len(stated & set(content(text))) / max(1, len(stated))
    nearest = max(sentences(text), key=lambda one: len(stated.intersection(content(one.text))), default=None)
    is_denied = is_negated(nearest.text if nearest else text)
    return _values(claim) <= _values(text) and share >= _KNOWN_SHARE and is_denied == is_negated(claim)


def _is_ended(text: str, claim: str) -> bool:
    """Whether a claim can end all that a text says: one sentence, of the same things, and nothing new."""
    return (
        len(sentences(text)) <= 1
        and (is_withdrawal(claim) or _ENDS.search(claim) is not None)
        and _values(claim) <= _values(text)
        and not set(content(claim)).isdisjoint(content(text))
    )


def _changed_sentence(text: str, rewritten: str) -> tuple[Sentence, str] | None:
    """The one sentence of a text that is another one in its new version, and what that says.

    None where none or several are another, or one is only added or left out.
    """
    old, new = sentences(text), [" ".join(one.text.split()) for one in sentences(rewritten)]
    before = [" ".join(one.text.split()) for one in old]
    same = 0
    while same < min(len(before), len(new)) and before[same] == new[same]:
        same += 1
    behind = 0
    while behind < min(len(before), len(new)) - same and before[-1 - behind] == new[-1 - behind]:
        behind += 1
    if same + behind != len(before) - 1 or len(new) <= same + behind:
        return None
    return old[same], " ".join(new[same : len(new) - behind])


def _says_both(text: str, claim: str, old: Sentence, new: str) -> bool:
    """Whether the new sentence says what the claim does, in the words of both, and nothing else."""
    stated, known = _values(claim), _values(text)
    words = set(content(text)) | set(content(claim))
    denies_more = is_negated(new) and not (is_negated(old.text) or is_negated(claim))
    denies_less = is_negated(claim) and not is_negated(new) and stated <= known
    return (
        len(new) <= _LONGEST_TEXT * (len(old.text) + len(claim))
        and stated <= _values(new) <= known | stated
        and words.issuperset(content(new))
        and not set(content(old.text)).isdisjoint(content(claim))
        and not (denies_more or denies_less)
    )


def _values(text: str) -> frozenset[str]:
    return frozenset(item for value in values(text) for item in value.items)

"""One passage with all that became of it, as lines: its versions, the writes that made them, its uses."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from stores.base.clock import local, stamp
from stores.base.one_line import one_line

if TYPE_CHECKING:
    from stores.base.passages import Passage
    from stores.database.tables import PassageVersion, StatedClaim
    from stores.memory.passage_history import History
    from stores.memory.statement_links import Linked
    from stores.versions.passage_lines import PassageLine
    from stores.versions.states import VersionState

_MODELS = ("summarizer", "discriminator", "curator")  # who decides about a claim, as its grounds name them


def history_lines(history: History) -> Iterator[str]:
    """What it says, where it came from, how it was used, and every text it had, the newest first."""
    passage = history.passage
    yield f"{passage.passage_id}  {passage.kind} · {passage.scope}{_state_of(history)}"
    if passage.title:
        yield one_line(passage.title)
    yield one_line(passage.text)
    if history.turn:
        session = f" of “{one_line(history.session_title)}”" if history.session_title else ""
        yield f"From      turn {history.turn.id}{session}, {when(history.turn.accepted_at)}"
    if passage.source:
        yield f"Source    {one_line(passage.source)}"
    if history.imported_at:
        yield f"Imported  {when(history.imported_at)}; what is told of earlier stood in the file"
    yield (
        f"Used      in {history.answers} of your answers; judged helpful {history.judged_helpful}×, "
        f"useless {history.judged_useless}×"
    )
    own = {receipt.id for receipt in history.receipts}
    for version in reversed(history.versions):
        yield _version_line(version, history.states[version.id or 0], own, history.told.get(version.id or 0))
        if version.text and version.text != passage.text:
            yield f"          “{one_line(version.text)}”"
    for linked in history.links:
        yield f"Link      {link_told(linked)}"
    for receipt in history.receipts:
        undone = f", undone {when(receipt.undone_at)}" if receipt.undone_at else ""
        yield f"Receipt {receipt.id}: {receipt.action}, {when(receipt.created_at)}{undone}"


_OLDER = {"same": "says again", "replaces": "replaces", "ends": "ends", "adds": "adds to"}
_NEWER = {"same": "said again by", "replaces": "replaced by", "ends": "ended by", "adds": "more in"}


def link_told(linked: Linked) -> str:
    """What a statement does to another, or the other to it, and who says so how surely."""
    link, other = linked.link, linked.passage
    does = (_NEWER if linked.is_newer else _OLDER).get(link.kind, "holds beside")
    by = "you" if link.is_by_user else f"{link.by}, {link.probability:.2f}"
    said = "" if linked.counts else "; you have said otherwise"
    return f"{does} {other.passage_id} “{one_line(other.text)}” · by {by}{said}"


def history_as_json(history: History) -> dict[str, Any]:
    """The same as plain values."""
    own = {receipt.id for receipt in history.receipts}
    return {
        **passage_as_json(history.passage),
        "forgotten": history.is_forgotten,
        "state": _newest_state(history),
        "turn": history.turn.id if history.turn else None,
        "session": history.session_title,
        "imported_at": stamp(history.imported_at) if history.imported_at else None,
        "answers": history.answers,
        "judged_helpful": history.judged_helpful,
        "judged_useless": history.judged_useless,
        "versions": [
            {
                "number": version.number,
                "title": version.title,
                "text": version.text,
                "author": version.author,
                "created_at": stamp(version.created_at),
                "told_at": stamp(history.told.get(version.id or 0, version.created_at)),
                "added_by": version.added_by if version.added_by in own else None,
                "state": history.states[version.id or 0].state,
                "removed_at": stamp(version.removed_at) if version.removed_at else None,
                "removed_by": version.removed_by if version.removed_by in own else None,
            }
            for version in history.versions
        ],
        "links": [
            {
                "passage": linked.passage.passage_id,
                "text": linked.passage.text,
                "newer": linked.link.newer,
                "kind": linked.link.kind,
                "probability": linked.link.probability,
                "by": linked.link.by,
                "counts": linked.counts,
            }
            for linked in history.links
        ],
        "receipts": [
            {
                "receipt": receipt.id,
                "action": receipt.action,
                "summary": receipt.summary,
                "created_at": stamp(receipt.created_at),
                "undone": receipt.undone_at is not None,
                "undone_at": stamp(receipt.undone_at) if receipt.undone_at else None,
            }
            for receipt in history.receipts
        ],
    }


def passage_as_json(line: PassageLine) -> dict[str, Any]:
    """A passage of a list as plain values."""
    return {
        "passage": line.passage_id,
        "kind": line.kind,
        "scope": line.scope,
        "title": line.title,
        "text": line.text,
        "source": line.source,
        "created_at": stamp(line.created_at),
    }


def deciding_versions(claims: Sequence[StatedClaim]) -> list[int]:
    """The versions that decided these claims, where they stand in this database."""
    deciders = (claim.grounds.get("decided_by") for claim in claims)
    return [decider for decider in deciders if isinstance(decider, int)]


def claim_lines(claims: Sequence[StatedClaim], evidence: Mapping[int, tuple[Passage, bool]]) -> Iterator[str]:
    """How a passage came to be known, claim by claim. evidence: the deciding passages, by version."""
    for claim in claims:
        turn = f"turn {claim.turn_id}" if claim.turn_id is not None else "an offer of yours"
        yield f"Stated    in {turn}: “{one_line(claim.quote)}”"
        told = ", as the file tells" if claim.imported_by is not None else ""
        if claim.state == "pending":
            yield "Checked   not yet"
            continue
        decider = evidence.get(claim.grounds.get("decided_by") or 0)
        if claim.about == "user":
            yield f"Checked   not needed, it is about you · {claim.state}, {claim.scope}{told}"
            continue
        by = f" · by “{one_line(decider[0].title or decider[0].text)}”" if decider else ""
        reason = claim.grounds.get("reason", "")
        yield (
            f"Checked   {claim.status}, {claim.confidence:.2f}{by} · {claim.state}, {claim.scope}"
            f"{f' · {one_line(str(reason))}' if reason else ''}{told}"
        )
        yield from _grounds_lines(claim.grounds)


def _grounds_lines(grounds: Mapping[str, Any]) -> Iterator[str]:
    """What a model knew by itself before it saw a passage, and which models decided."""
    if prior := grounds.get("prior"):
        yield f"Prior     “{one_line(str(prior))}”"
    models = [f"{role} {one_line(str(grounds[role]))}" for role in _MODELS if grounds.get(role)]
    if models:
        yield f"Models    {', '.join(models)}"


def when(moment: datetime) -> str:
    """A moment in the zone of this machine, to the minute."""
    return f"{local(moment):%d %B %Y %H:%M}"


def _newest_state(history: History) -> str:
    states = [history.states[version.id or 0].state for version in history.versions]
    return "live" if "live" in states else states[-1]


def _state_of(history: History) -> str:
    state = _newest_state(history)
    return "" if state == "live" else f" · {state}"


def _version_line(
    version: PassageVersion, state: VersionState, own: set[int | None], told: datetime | None
) -> str:
    ended, until = version.erased_at or version.removed_at, "live"
    if ended is not None:
        word = "replaced by the same words" if state.state == "live" else state.state
        until = f"{word} {when(ended)}{_by(version.removed_by, own, version.added_by)}"
    is_older = told is not None and local(told).date() < local(version.created_at).date()
    of = f", told {when(told)}" if told is not None and is_older else ""
    return (
        f"Version {version.number} by {version.author}, {when(version.created_at)}{of}"
        f"{_by(version.added_by, own)}; {until}"
    )


def _by(receipt_id: int | None, own: set[int | None], known: int | None = None) -> str:
    """Which write it was; known: named on the same line already. Other users' writes are not told."""
    if receipt_id is None or receipt_id == known or receipt_id not in own:
        return ""
    return f", receipt {receipt_id}"

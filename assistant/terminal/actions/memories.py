"""What is done to memories from their screen, by the functions of the commands, on the assistant's thread."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from assistant.terminal.actions.forgetting import forget_for_good
from assistant.terminal.actions.sharing import share_memory, shared_line, weigh_for_all
from assistant.terminal.actions.undoing import both_line, in_chat, instead_line, told_in_chat, undone_write
from assistant.terminal.actions.written_here import Written, withdraw_proposal
from assistant.terminal.input.typed_ids import typed_id
from stores.base.errors import VouchError, WrongUsage
from stores.base.one_line import one_line, short
from stores.base.passages import LONGEST_STANDING, SHARED, STANDING, with_room
from stores.base.shortages import shortage
from stores.memory.edits import EDITABLE
from stores.memory.memory_rows import MemoryRows

if TYPE_CHECKING:
    from assistant.wiring.assistant import Assistant
    from stores.claims.decisions import Learned
    from stores.database.tables import Receipt

_HOW = "/profile TEXT adds to it, /profile pin ID and /profile unpin ID take a memory in and out."
_PINNED = {"pin": True, "unpin": False}
_SHOWN = 60  # statements of the profile, the newest
_WAITS = "It is not checked yet: a model is missing. The scope “Waiting for check” shows why."


@dataclass(frozen=True)
class Undoable:
    """A write that can be taken back."""

    receipt_id: int
    told: str
    beyond: str  # what else it concerns, which is asked about first; empty for one memory of one's own


def forget(
    assistant: Assistant, user_id: int, passage_ids: list[int] | None, *, everywhere: bool = False
) -> list[str]:
    """Forgets for good; returns what went and what still holds it, a line each."""
    forgotten, told = forget_for_good(assistant, user_id, passage_ids, everywhere=everywhere)
    return [
        *(f"Forgotten: “{short(line.text)}”." for line in forgotten.lines),
        *(f"Forgotten with it: “{short(line.text)}”." for line in forgotten.with_them),
        *told,
    ]


def undoable(assistant: Assistant, user_id: int, passage_id: int | None) -> Undoable | None:
    """The latest write of a memory that still stands, or of all the user's for None."""
    if passage_id is None:
        receipts = assistant.stores.knowledge.receipts(user_id, limit=1)
    else:
        receipts = [
            receipt
            for receipt in assistant.stores.catalogue.history(user_id, passage_id).receipts
            if receipt.undone_at is None
        ]
    if not receipts:
        return None
    latest: Receipt = max(receipts, key=lambda receipt: receipt.id or 0)
    assert latest.id is not None, "it is stored"
    passages = MemoryRows(assistant.stores.database).passages_of(latest.id)
    told = f"{latest.action} “{short(latest.summary)}”"
    beyond = f"with all {passages} passages that it concerns" if passages > 1 else ""
    if latest.space == SHARED:
        beyond = f"for every user{f', {beyond}' if beyond else ''}"
    return Undoable(latest.id, told, beyond)


def undo(assistant: Assistant, user_id: int, receipt_id: int) -> Written:
    """Takes a write back. An undo has no receipt."""
    try:
        receipt, back = assistant.stores.knowledge.undo(user_id, receipt_id)
    except VouchError as error:
        raise in_chat(error) from None
    assistant.search.indexer.catch_up()
    restored = ", ".join(f"{passage.passage_id} “{short(passage.text, 40)}”" for passage in back)
    return Written(undone_write(receipt) + (f" Restored: {restored}." if back else ""))


def withdraw(assistant: Assistant, user_id: int, proposal_id: int) -> Written:
    """Takes a proposal of one's own back."""
    return Written(withdraw_proposal(assistant, user_id, proposal_id))


def must_be_editable(scope: str, kind: str) -> None:
    """Raises `WrongUsage` for a message, which is what was said, and for a document."""
    if kind not in EDITABLE:
        of_whom = "of yours" if scope == "yours" else "in your own words"
        raise WrongUsage(
            f"a {kind} cannot be edited", hint=f"What can: {', '.join(sorted(EDITABLE))} {of_whom}."
        )


def edit(assistant: Assistant, user_id: int, passage_id: int, text: str) -> Written:
    """Another text of a memory: a new version of one's own; a shared one goes through the check."""
    if assistant.stores.catalogue.line(user_id, passage_id).scope == "shared":
        return _weighed(weigh_for_all(assistant, user_id, text))
    receipt_id = assistant.stores.knowledge.edit(user_id, passage_id, text)
    assistant.search.indexer.catch_up()
    return Written(f"{passage_id} is changed; u brings the old text back.", receipt_id)


def keep_both(assistant: Assistant, user_id: int, passage_id: int) -> Written:
    """A memory, and what it took the place of or what took its place, all hold."""
    receipt_id, others = assistant.stores.statement_links.keep_both(user_id, passage_id)
    return Written(both_line(passage_id, others, f"/undo {receipt_id}"), receipt_id)


def put_instead(assistant: Assistant, user_id: int, older_id: int, written: str) -> Written:
    """What is written takes the place of a memory."""
    older = assistant.stores.catalogue.line(user_id, older_id)
    passage_id, receipt_id = assistant.stores.statement_links.instead(user_id, older_id, written)
    assistant.search.indexer.catch_up()
    return Written(instead_line(passage_id, written, older, f"/undo {receipt_id}"), receipt_id)


def share(assistant: Assistant, user_id: int, passage_id: int) -> Written:
    """Offers a memory to every user, through the check."""
    return _weighed(share_memory(assistant, user_id, passage_id))


def _weighed(learned: Learned | None) -> Written:
    if learned is None:
        return Written(_WAITS)
    return Written(told_in_chat(shared_line(learned)), learned.receipt_id, learned.proposal_id)


def export(assistant: Assistant, user_id: int, file: str, scope: Literal["yours", "shared", "all"]) -> str:
    """Writes JSON lines into a new file that only its owner can read, as `vouch memory export` does."""
    place = Path(file).expanduser()
    try:
        place.touch(mode=0o600, exist_ok=False)
        with place.open("w", encoding="utf-8") as out:
            count = 0
            for line in assistant.stores.memory_export.lines(user_id, scope=scope):
                out.write(json.dumps(line, ensure_ascii=False) + "\n")
                count += 1
    except FileExistsError as error:
        raise WrongUsage(f"{one_line(file)} is there already", hint="Name another file.") from error
    except OSError as error:
        unwritable = WrongUsage(f"{one_line(file)} cannot be written: {error.strerror}")
        raise shortage(error, {place: "Or name another file."}) or unwritable from error
    return f"{count} lines ({scope}) written to {place.resolve()}"


def profile_lines(assistant: Assistant, user_id: int) -> Iterator[str]:
    """What always holds of the user and goes with each question to a chat model, newest first."""
    held = assistant.search.searching.spaces.of(user_id).standing(_SHOWN)
    sent = with_room([passage.text for passage in held])
    for passage in held:
        without = "" if passage.text in sent else "  (no room for it: it is not sent)"
        yield f"{passage.passage_id:>6}  {one_line(passage.text)}{without}"
    yield _HOW if held else f"Nothing is known that always holds of you. {_HOW}"


def change_profile(assistant: Assistant, user_id: int, typed: str) -> tuple[str, int | None]:
    """Carries out what was typed behind /profile: what is said of it, and the receipt of what was added."""
    word, _, rest = typed.partition(" ")
    if word in _PINNED:
        passage_id = typed_id(rest)
        if passage_id is None:
            raise WrongUsage(f"/profile {word} needs the number of a memory", hint="/memory lists them.")
        line = assistant.stores.profile.put(user_id, passage_id, pinned=_PINNED[word])
        other = "unpin" if _PINNED[word] else "pin"
        done = "Goes with each question from now on" if _PINNED[word] else "Goes along only where it helps"
        return f"{done}: “{short(line.text)}”. /profile {other} {passage_id} takes that back.", None
    if len(typed) > LONGEST_STANDING:
        raise WrongUsage(
            f"that has {len(typed)} characters, and what goes with each question may have {LONGEST_STANDING}",
            hint="Say it in a sentence, or /remember it.",
        )
    passage_id, receipt_id = assistant.stores.knowledge.remember(user_id, typed, kind=STANDING)
    told = f"Goes with each question from now on, as {passage_id}: “{short(typed)}”. /undo takes it back."
    return told, receipt_id

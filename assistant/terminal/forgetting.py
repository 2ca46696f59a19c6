"""Forgetting for good, with what is asked before and told after it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from stores.errors import StoreUnavailable, VouchError

if TYPE_CHECKING:
    from assistant.wiring import Assistant
    from stores.forgetting import Forgotten


def sure_to_forget(count: int) -> str:
    """What is asked before passages are forgotten."""
    what = "this passage" if count == 1 else f"these {count} passages"
    return f"Forget {what} for good? This cannot be undone. [y/N]"


def forget_for_good(
    assistant: Assistant, user_id: int, passage_ids: Sequence[int] | None
) -> tuple[Forgotten, list[str]]:
    """Forgets and says what went and what still holds it. passage_ids: None for everything of the user's."""
    from stores.forgetting import Forgetting

    forgetting = Forgetting(assistant.database)
    forgotten = (
        forgetting.forget_everything(user_id)
        if passage_ids is None
        else forgetting.forget(user_id, passage_ids)
    )
    try:
        forgetting.compact()
        bytes_told = ["Its bytes are gone from the files of the database."]
    except StoreUnavailable as error:  # a job waits
        bytes_told = [f"{error.message[0].upper()}{error.message[1:]}. {error.hint}"]
    if forgotten.indexes:
        with suppress(VouchError):  # the job waits for the next occasion
            assistant.indexer.catch_up()
    return forgotten, [*_went(forgotten), *bytes_told, *_still_holds(forgotten, assistant)]


def _went(forgotten: Forgotten) -> Iterator[str]:
    if forgotten.turns:
        yield f"Blank now: the transcript of {_turns(forgotten.turns)}."
    if forgotten.answers:
        yield f"Blank now, since it was made with it: the answer of {_turns(forgotten.answers)}."
    if forgotten.answers_of_others:
        yield f"Blank now, for the same reason: {forgotten.answers_of_others} answers of other users."
    if forgotten.marked:
        yield f"Taken out word for word: {_turns(forgotten.marked)}."


def _still_holds(forgotten: Forgotten, assistant: Assistant) -> Iterator[str]:
    if forgotten.still_in:
        ids = " ".join(str(passage_id) for passage_id in forgotten.still_in)
        yield f"It is still said in other passages: {ids}. `vouch memory show ID` shows one."
    if forgotten.rounds:
        yield f"Rounds of training that saw it: {', '.join(map(str, forgotten.rounds))}."
    if forgotten.indexes:
        yield "Files of the shared index keep numbers made from it, no text, until the index is built again."
    file = assistant.database.file
    for kept in sorted(file.parent.glob(f"{file.stem}-before-restore-*")) if file is not None else ():
        yield f"A database from before a restore may hold it: {kept}"
    if file is None:
        yield "The database server's own log of changes (pg_wal) and its backups may hold it."
    if assistant.settings.log.log_text:
        yield f"The log may hold it, as log.log_text has it keep texts: {assistant.locations.state}"
    yield (
        "Out of reach: backups and exports made before, what was sent to a model server, what other "
        "processes show on their screens, and the same told in other words."
    )


def _turns(ids: Sequence[int]) -> str:
    return f"turn{'s' if len(ids) > 1 else ''} {', '.join(map(str, ids))}"

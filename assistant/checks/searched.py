"""What an encoder makes of the texts: vectors in the database, and the shared index of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from assistant.checks.check import Check, Look, counted
from assistant.wiring.assistant import Assistant
from stores.base.errors import DamagedIndex, StoreUnavailable
from stores.checks.vectors import drop_vectors, malformed_vectors, stale_vectors
from stores.search.shared_index import SharedIndex

_INDEX = "shared index"
_REPAIR = "Run `vouch doctor` without --no-repair."


def vectors(assistant: Assistant, how: Look) -> Check:
    """Whether every live passage has a vector that can be used and is its text's."""
    encoder, database = assistant.search.encoder, assistant.stores.database
    told: list[str] = []
    missing = assistant.search.indexer.missing_vectors()
    if missing:
        told.append(f"{counted(missing, 'passage')} had none")
    malformed = malformed_vectors(
        database, dimensions={encoder.version: encoder.dimension}, looked_at=how.counting("vectors read")
    )
    if malformed:
        told.append(f"{counted(len(malformed), 'vector was', 'vectors were')} malformed")
    if not malformed or how.repairs:
        drop_vectors(database, malformed)
        stale = _stale(assistant, how)
        if stale:
            told.append(
                counted(len(stale), "vector was not that of its text", "vectors were not that of their text")
            )
            if how.repairs:
                drop_vectors(database, stale)
    if not told:
        looked = "all" if how.is_thorough else f"{how.sample} at most"
        return Check("vectors", "ok", f"every live passage has one; {looked} were encoded again and agree")
    if not how.repairs:
        return Check("vectors", "broken", "; ".join(told), _REPAIR)
    assistant.search.indexer.ask_for_missing_vectors()  # for the index, which is written by jobs
    count = _sum_of(assistant.search.indexer.encode_everything(), how, "passages encoded")
    return Check(
        "vectors",
        "ok",
        "every live passage has one",
        repaired=(*told, f"{counted(count, 'passage was', 'passages were')} encoded"),
    )


def _stale(assistant: Assistant, how: Look) -> list[int]:
    """Those of the sample; where it holds one and all can be repaired, of all."""
    encoder, database = assistant.search.encoder, assistant.stores.database
    found = stale_vectors(
        database,
        encoder.version,
        encoder.encode_passages,
        sample=how.sample,
        looked_at=how.counting("texts encoded again"),
    )
    if found and how.repairs and not how.is_thorough:  # one is seldom alone
        found = stale_vectors(
            database,
            encoder.version,
            encoder.encode_passages,
            sample=None,
            looked_at=how.counting("texts encoded again, of all"),
        )
    return found


def shared_index(assistant: Assistant, how: Look) -> Check:
    """Whether the index of the shared space holds what the database says, and every job was done."""
    repaired: list[str] = []
    try:
        check = _compared(assistant, how, repaired)
    except DamagedIndex as error:
        if not how.repairs:
            raise
        made = _made_anew(assistant, how)
        if made is None:
            raise
        repaired += [error.message, made]
        check = _compared(assistant, how, repaired)
    return replace(check, repaired=tuple(repaired))


def _compared(assistant: Assistant, how: Look, repaired: list[str]) -> Check:
    """One comparison; what it repairs is added to `repaired`."""
    waiting = assistant.search.indexer.waiting()
    if waiting and how.repairs:
        assistant.catch_up()
        left = assistant.search.indexer.waiting()
        if left < waiting:
            done = counted(waiting - left, "job that waited was", "jobs that waited were")
            repaired.append(f"{done} done")
        waiting = left
    index = assistant.search.searching.shared_index
    told = _differences(index, how)
    if told.fault and not how.repairs:
        return Check(_INDEX, "broken", told.fault, _REPAIR)
    if (told.fault or waiting) and how.repairs and index.is_written_elsewhere():
        return Check(
            _INDEX,
            "ok",
            f"another process is writing it: {told.fault or told.found}; {counted(waiting, 'job')} waiting",
            "It is brought up to date there. To have it repaired here, end that process; run this again.",
        )
    if waiting and how.repairs:
        raise assistant.search.indexer.hindrance or StoreUnavailable(
            f"{counted(waiting, 'job')} cannot be done", hint="Report it if it stays."
        )
    if told.fault:
        made = _made_anew(assistant, how) if told.is_untrue else None
        made = made or _filled(index.fill_anew() if told.is_untrue else index.fill(), how)
        repaired += [told.fault, made]
    return Check(_INDEX, "ok", told.found + (f"; {counted(waiting, 'job')} waiting" if waiting else ""))


@dataclass(frozen=True)
class _Told:
    """What a comparison of index and database found."""

    found: str
    fault: str = ""  # empty: they agree
    is_untrue: bool = False  # nothing in the index can be relied on


def _differences(index: SharedIndex, how: Look) -> _Told:
    differences = index.differences()
    if differences is None:
        if how.repairs and index.is_due():
            return _Told(index.name, "the index was not filled yet")
        return _Told("none: the shared memory is searched exactly")
    missing, extra = (ids - index.waiting_versions() for ids in differences)
    if missing or extra:
        is_lost = not index.holds_anything()
        fault = f"{counted(len(missing), 'passage')} missing and {len(extra):,} too many"
        return _Told(index.name, "the index was empty" if is_lost else fault, is_lost)
    if index.is_lost():
        return _Told(index.name, "the index was not the one that was filled", is_untrue=True)
    stale = index.stale(sample=how.sample, looked_at=how.counting("vectors asked for"))
    if stale:
        fault = counted(len(stale), "vector was", "vectors were")
        return _Told(index.name, f"{fault} not the database's", is_untrue=True)
    looked = "all vectors" if how.is_thorough else f"{how.sample} vectors at most"
    return _Told(f"{index.name}: as the database; {looked} were asked for and found")


def _made_anew(assistant: Assistant, how: Look) -> str | None:
    """Deletes the index's files and fills it again; None where its files are not here to delete."""
    index = assistant.search.searching.shared_index
    index.forget()  # before its files go: what is left of them, wherever this ends, is not asked
    folder = assistant.search.discard_shared_index()
    if folder is None:
        return None
    filled = _filled(index.fill_anew(), how)
    return f"{folder} was deleted, and {filled}"


def _filled(steps: Iterator[int], how: Look) -> str:
    return f"filled from the database ({counted(_sum_of(steps, how, 'vectors brought over'), 'vector')})"


def _sum_of(steps: Iterator[int], how: Look, what: str) -> int:
    show, total = how.counting(what), 0
    for count in steps:
        total += count
        show(count)
    return total

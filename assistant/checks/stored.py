"""The database: its file, its schema, the texts in it, and the words by which they and turns are found."""

from __future__ import annotations

from assistant.checks.check import Check, Look, counted
from stores.base.errors import RESTORE
from stores.checks.schema import schema_faults
from stores.checks.texts import changed_texts
from stores.checks.turns import TurnWordFaults, repair_turn_words, turn_word_faults
from stores.checks.words import WordFaults, repair_words, word_faults
from stores.conversation.claim_jobs import ClaimJobs
from stores.database.database import Database

_DERIVED = ("passage_vectors",)  # what is wrong in these is repaired by the other checks
_NAMED = 5  # passages
_REPAIR = "Run `vouch doctor` without --no-repair."


def database(opened: Database) -> Check:
    """Whether the file is whole and has the schema of this release. Neither can be made again."""
    problems = opened.integrity_problems()
    problems += [
        f"{counted(count, 'row')} of {table} name{'s' if count == 1 else ''} another that is not there"
        for table, count in sorted(opened.rows_without_parents().items())
        if table not in _DERIVED
    ]
    if problems:
        return Check("database", "broken", "; ".join(problems[:3]), RESTORE)
    faults = schema_faults(opened)
    if faults:
        return Check("database", "broken", "; ".join(faults[:3]), RESTORE)
    return Check("database", "ok", f"{opened.place}, schema {opened.schema()}")


def texts(opened: Database, how: Look) -> Check:
    """Whether the texts are those that were written."""
    changed = changed_texts(opened, looked_at=how.counting("texts compared with their hashes"))
    if changed:
        named = ", ".join(f"passage {c.passage_id} (version {c.version_id})" for c in changed[:_NAMED])
        more = f" and {len(changed) - _NAMED} more" if len(changed) > _NAMED else ""
        return Check(
            "texts",
            "broken",
            f"{counted(len(changed), 'text is', 'texts are')} not what was stored: {named}{more}",
            f"{RESTORE} Or forget and add again what is named.",
        )
    return Check("texts", "ok", "all are what was stored")


def words(opened: Database, how: Look) -> Check:
    """Whether the full-text index and the statistics are those of the texts."""
    faults = word_faults(opened, looked_at=how.counting("passages' words compared"))
    if not faults:
        return Check("words", "ok", "the full-text index and the statistics are those of the texts")
    if not how.repairs:
        return Check("words", "broken", "; ".join(_told(faults)), _REPAIR)
    repaired = repair_words(opened, looked_at=how.counting("passages' words compared again"))
    return Check(
        "words", "ok", "made anew from the texts where they differed", repaired=tuple(_told(repaired))
    )


def turns(opened: Database, how: Look) -> Check:
    """Whether Find finds every turn by its words."""
    faults = turn_word_faults(opened, looked_at=how.counting("turns' words compared"))
    if not faults:
        return Check("turns", "ok", "Find finds every turn by its words")
    if not how.repairs:
        return Check("turns", "broken", "; ".join(_told_of_turns(faults)), _REPAIR)
    repaired = repair_turn_words(opened, looked_at=how.counting("turns' words written anew"))
    return Check(
        "turns", "ok", "Find finds every turn by its words", repaired=tuple(_told_of_turns(repaired))
    )


def remembering(opened: Database) -> Check:
    """Whether what users stated is weighed, or waits for a model."""
    queue = ClaimJobs(opened).state()
    if queue.failed:
        return Check(
            "remembering",
            "missing",
            f"{counted(queue.failed, 'job waits', 'jobs wait')} after a failure: {queue.last_error}",
            "See to the chat model; `vouch memory pending --retry` tries again at once.",
        )
    waits = f"{counted(queue.waiting, 'job')} left for the next chat" if queue.waiting else "nothing waits"
    return Check("remembering", "ok", waits)


def _told(faults: WordFaults) -> list[str]:
    told: list[str] = []
    if not faults.is_index_whole:
        told.append("the full-text index did not find what it holds")
    if faults.missing:
        told.append(f"{counted(faults.missing, 'passage was', 'passages were')} not in the full-text index")
    if faults.wrong:
        told.append(f"{counted(faults.wrong, 'passage was', 'passages were')} there under other words")
    if faults.extra:
        told.append(f"{counted(faults.extra, 'entry was', 'entries were')} of no live passage")
    if faults.miscounted:
        told.append(f"the words of {counted(faults.miscounted, 'space')} were counted wrongly")
    return told


def _told_of_turns(faults: TurnWordFaults) -> list[str]:
    told: list[str] = []
    if not faults.is_index_whole:
        told.append("the index of turns did not find what it holds")
    if faults.missing:
        told.append(f"{counted(len(faults.missing), 'turn was', 'turns were')} found by no word")
    if faults.wrong:
        told.append(
            f"{counted(len(faults.wrong), 'turn was', 'turns were')} found by other words than theirs"
        )
    if faults.extra:
        told.append(f"{counted(len(faults.extra), 'entry was', 'entries were')} of no turn that is searched")
    return told

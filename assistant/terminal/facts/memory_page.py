"""What the list of memories shows, read from the stores: a page of rows, and the counts of every scope."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from assistant.terminal.facts.proposals import proposals_shown, proposed_line
from assistant.terminal.facts.waiting_claims import told_failure, told_reason
from assistant.terminal.input.typed_ids import typed_id
from stores.base.errors import NotFound
from stores.base.one_line import one_line

if TYPE_CHECKING:
    from assistant.wiring.assistant import Assistant
    from stores.claims.proposals import OpenProposal
    from stores.conversation.claim_jobs import WaitingJob
    from stores.database.tables import StatedClaim
    from stores.memory.memory_rows import Beside, GoneLine
    from stores.versions.passage_lines import PassageLine

Scope: TypeAlias = Literal["all", "yours", "shared", "waiting", "forgotten"]
SCOPES: Mapping[Scope, str] = {
    "all": "All",
    "yours": "Yours",
    "shared": "Shared",
    "waiting": "Waiting for check",
    "forgotten": "Forgotten",
}
ROWS = 200  # of one page
_STATES = {"changed": "replaced", "live": ""}  # in a person's words, where those are others


@dataclass(frozen=True)
class Wanted:
    """What is to be shown."""

    scope: Scope = "yours"
    words: str = ""  # that all stand in the text
    has_all_kinds: bool = False  # also messages as they were said, and documents


@dataclass(frozen=True)
class MemoryRow:
    """One row of the list."""

    key: str  # by which it is found again when the list is read anew
    name: str  # its number, as a person names it
    kind: str
    text: str
    origin: str  # where it is from, in a word or two
    used: str  # in how many answers
    passage_id: int | None = None
    scope: str = "yours"
    is_waiting: bool = False
    proposal_id: int | None = None
    told: tuple[tuple[str, str], ...] = ()  # of what is no passage: all there is to know, by label


@dataclass(frozen=True)
class Page:
    """Some rows, in their order."""

    rows: tuple[MemoryRow, ...]
    is_last: bool


@dataclass(frozen=True)
class Found:
    """The first page, with what stands around it."""

    page: Page
    counts: Mapping[Scope, int]
    beside: int  # messages and documents of the user's own that are not among the rows


def found(assistant: Assistant, user_id: int, *, wanted: Wanted) -> Found:
    """The first page of what is wanted, with the counts of every scope."""
    from stores.memory.memory_rows import MemoryRows

    catalogue = assistant.stores.catalogue
    only, words = _memories_only(wanted), wanted.words
    yours = catalogue.count(user_id, scope="yours", memories_only=only, query=words)
    shared = catalogue.count(user_id, scope="shared", query=words)
    counts: dict[Scope, int] = {
        "all": yours + shared,
        "yours": yours,
        "shared": shared,
        "waiting": len(_waiting(assistant, user_id, words)),
        "forgotten": MemoryRows(assistant.stores.database).count_gone(
            user_id, memories_only=only, query=words
        ),
    }
    beside = catalogue.count(user_id, scope="yours") - yours if only else 0
    return Found(page(assistant, user_id, wanted), counts, beside)


def is_there(assistant: Assistant, user_id: int, *, number: str) -> bool:
    """Whether a memory has this number, forgotten ones too, or its digits stand in any scope."""
    passage_id = typed_id(number)
    if passage_id is not None:
        with suppress(NotFound):
            assistant.stores.catalogue.history(user_id, passage_id)
            return True
    return any(found(assistant, user_id, wanted=Wanted(words=number)).counts.values())


def page(assistant: Assistant, user_id: int, wanted: Wanted, *, before: int | None = None) -> Page:
    """The newest rows, or those behind the passage `before`."""
    from stores.memory.memory_rows import MemoryRows

    rows = MemoryRows(assistant.stores.database)
    if wanted.scope == "waiting":
        return Page(tuple(_waiting(assistant, user_id, wanted.words)), is_last=True)
    only = _memories_only(wanted)
    if wanted.scope == "forgotten":
        gone = rows.gone(user_id, memories_only=only, query=wanted.words, before=before, limit=ROWS)
        beside = rows.beside(user_id, [each.line.passage_id for each in gone])
        return Page(tuple(_gone_row(each, beside) for each in gone), len(gone) < ROWS)
    lines = assistant.stores.catalogue.lines(
        user_id, scope=wanted.scope, memories_only=only, query=wanted.words, before=before, limit=ROWS
    )
    beside = rows.beside(user_id, [line.passage_id for line in lines])
    return Page(tuple(_row(line, beside.get(line.passage_id)) for line in lines), len(lines) < ROWS)


def _memories_only(wanted: Wanted) -> bool:
    """Who looks for words looks in everything of theirs, as in `vouch memory list`."""
    return not (wanted.has_all_kinds or wanted.words.strip())


def _row(line: PassageLine, beside: Beside | None) -> MemoryRow:
    return MemoryRow(
        key=f"passage {line.passage_id}",
        name=str(line.passage_id),
        kind=line.kind,
        text=one_line(f"{line.title}: {line.text}" if line.title else line.text),
        origin=_origin(line, beside),
        used=str(beside.answers) if beside else "",
        passage_id=line.passage_id,
        scope=line.scope,
        is_waiting=beside is not None and beside.is_waiting,
    )


def _origin(line: PassageLine, beside: Beside | None) -> str:
    if line.kind == "document":
        return one_line(line.source).rpartition("/")[2] or "document"
    if beside is None:
        return ""
    if line.kind == "correction":
        return "taught"
    if beside.turn_id is not None:
        return f"turn {beside.turn_id}"
    if beside.is_imported:
        return "import"
    return "you" if beside.is_written and line.scope == "yours" else "check"


def _gone_row(gone: GoneLine, beside: Mapping[int, Beside]) -> MemoryRow:
    line = gone.line
    text = one_line(line.text) or "(its text is gone)"
    since = f" {gone.since.astimezone():%Y-%m-%d}" if gone.since else ""
    told = beside.get(line.passage_id)
    return MemoryRow(
        key=f"passage {line.passage_id}",
        name=str(line.passage_id),
        kind=line.kind,
        text=f"{_STATES.get(gone.state, gone.state)}{since}  {text}",
        origin=_origin(line, told),
        used=str(told.answers) if told else "",
        passage_id=line.passage_id,
        scope=line.scope,
    )


def _waiting(assistant: Assistant, user_id: int, words: str) -> list[MemoryRow]:
    """What is to be read or weighed, oldest first, and what waits for somebody's decision."""
    claims = {claim.id: claim for claim in assistant.stores.claims.pending(user_id)}
    rows = [
        *_jobs(assistant, user_id, assistant.stores.claim_jobs.waiting(user_id), claims),
        *_proposals(assistant, user_id),
    ]
    looked_for = words.casefold().split()
    return [row for row in rows if all(word in row.text.casefold() for word in looked_for)]


def _jobs(
    assistant: Assistant,
    user_id: int,
    jobs: Sequence[WaitingJob],
    claims: Mapping[int | None, StatedClaim],
) -> Iterator[MemoryRow]:
    for job in jobs:
        waits = [("Waits", "to be weighed" if job.kind == "weigh" else "to be read for what it states")]
        if job.error:
            waits.append(("Failed", told_failure(job)))
        if told := told_reason(job):
            waits.append(("Because", f"{told}; r tries now" if job.why in ("failed", "left") else told))
        claim = claims.get(job.subject_id)
        if claim is not None:
            yield _weighed(claim, waits)
        elif job.kind == "summarize":
            message = assistant.stores.journal.turn(user_id, job.subject_id).message
            yield MemoryRow(
                key=f"job {job.id}",
                name="",
                kind="message",
                text=one_line(message),
                origin=f"turn {job.subject_id}",
                used="",
                is_waiting=True,
                told=(("Said", f"in turn {job.subject_id}"), *waits),
            )


def _weighed(claim: StatedClaim, waits: Sequence[tuple[str, str]]) -> MemoryRow:
    where = f"turn {claim.turn_id}" if claim.turn_id is not None else "you"
    doors = {"share": "offered for the shared memory", "taught": "taught"}
    return MemoryRow(
        key=f"claim {claim.id}",
        name=str(claim.passage_id) if claim.passage_id is not None else "",
        kind=claim.kind,
        text=one_line(claim.text),
        origin=where,
        used="",
        passage_id=claim.passage_id,
        is_waiting=True,
        told=(
            ("Stated", f"{where}: “{one_line(claim.quote)}”"),
            ("By", doors.get(claim.origin, "found in what you said")),
            *waits,
        ),
    )


def _proposals(assistant: Assistant, user_id: int) -> Iterator[MemoryRow]:
    own = {proposal.id for proposal in assistant.stores.proposals.of_user(user_id)}
    for proposal in proposals_shown(assistant, user_id):
        yield _proposed(proposal, is_own=proposal.id in own)


_FOR_ALL = "for the shared memory"
_PROPOSED = {
    "modify": "as a change of the shared memory, for every user",
    "delete": "to be removed from the shared memory, for every user",
}


def _proposed(proposal: OpenProposal, *, is_own: bool) -> MemoryRow:
    return MemoryRow(
        key=f"proposal {proposal.id}",
        name=f"p{proposal.id}",
        kind="proposal",
        text=proposed_line(proposal),
        origin=proposal.reason,
        used="",
        scope="shared",
        is_waiting=True,
        proposal_id=proposal.id,
        told=(
            ("Proposed", _PROPOSED.get(proposal.action, f"{_FOR_ALL}, because of: {proposal.reason}")),
            ("Since", f"{proposal.created_at.astimezone():%d %B %Y %H:%M}"),
            ("Waits", "for somebody else who may decide: a accepts, d puts it away"),
            *((("But", "that passage has changed since: d puts it away"),) if proposal.is_outdated else ()),
            *((("Yours", "u takes it back"),) if is_own else ()),
        ),
    )

"""What became of a message that its user asks about: from what is recorded of it, in words.

the turn's claims and waiting jobs  ->  "Learned, yours, as 12: ...", or why nothing was learned
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from stores.one_line import short
from stores.records import StatedClaim
from stores.waiting_jobs import WaitingJob

BEING_WEIGHED = "it is still being weighed; what is learned from it is told below an answer, with its undo."
NOT_LEARNING = "Nothing is learned from what you say: memory.learn is false in settings.toml."
NOT_HERE = "This session is private: nothing is learned from what you say in it."
NOTHING_STATED = (
    "I see no statement of yours just before this. A question, a remark, an order or a guess teaches "
    "nothing. /memory lists what I learned."
)
_STATES = {
    "confirmed": "It was known already: “{text}”.",
    "withdrawn": "It was taken back: “{text}”.",
    "pending": f"“{{text}}”: {BEING_WEIGHED}",
}


def what_became(
    message: str, turn_id: int, claims: Sequence[StatedClaim], jobs: Iterable[WaitingJob], *, learns: bool
) -> str:
    """What became of the message of a turn. claims: of that turn. jobs: of its user, that are not done.

    learns: whether anything is to be learned from what is said.
    """
    if lines := list(_claim_lines(claims)):
        return "\n".join(lines)
    said = f"“{short(message)}”"
    job = next((each for each in jobs if each.kind == "summarize" and each.subject_id == turn_id), None)
    if job is not None:
        failed = f"it could not be weighed yet ({short(job.error)}), and is tried again."
        return f"{said}: {failed if job.why == 'failed' else BEING_WEIGHED}"
    if not learns:
        return NOT_LEARNING
    return (
        f"I found nothing in {said} to learn: no statement, or none that is surely yours. Your words are "
        "kept and are searched. /remember with a text keeps that text as it stands."
    )


def _claim_lines(claims: Sequence[StatedClaim]) -> Iterator[str]:
    for claim in claims:
        text = short(claim.text)
        if claim.state in _STATES:
            yield _STATES[claim.state].format(text=text)
        elif claim.state == "stored":
            yield f"Learned, {claim.scope}, as {claim.passage_id}: “{text}”."
        elif claim.state == "rejected":
            yield f"Not taken in: “{text}”: {claim.grounds.get('reason') or 'it was found incorrect'}."

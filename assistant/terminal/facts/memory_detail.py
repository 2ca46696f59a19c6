"""All there is to know about one memory, from stored facts: as the box below the list, and as a page."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from ipaddress import ip_address
from typing import TYPE_CHECKING

from rich.cells import cell_len, set_cell_size

from assistant.terminal.facts.memory_page import MemoryRow
from stores.base.one_line import one_line
from stores.base.passages import quotes_only

if TYPE_CHECKING:
    from assistant.wiring.assistant import Assistant
    from stores.memory.memory_uses import Sent, Uses
    from stores.memory.passage_history import History

_LABEL = 10  # columns
_UNCHECKED = {
    "message": "not checked: it is what you said, as you said it",
    "note": "not checked: it is a note",
    "document": "not checked: it was read in",
}
_CHARACTERS = 2_000  # of a text in the box
_TEXT_LINES = 2  # of it, where it does not fit beside its kind


@dataclass(frozen=True)
class Detail:
    """One memory."""

    name: str
    whose: str  # kind and scope
    text: str
    entries: tuple[tuple[str, str], ...]  # by label


def detail(assistant: Assistant, user_id: int, *, row: MemoryRow) -> Detail:
    """What the box tells. Raises `NotFound` where it is no longer there."""
    if row.passage_id is None or row.told:
        whose = f"{row.kind} · not used in answers yet" if row.is_waiting else row.kind
        return Detail(row.name or "Not numbered yet", whose, row.text, row.told)
    from assistant.terminal.facts.memory_history import link_told
    from stores.memory.memory_uses import MemoryUses

    history = assistant.stores.catalogue.history(user_id, row.passage_id)
    uses = MemoryUses(assistant.stores.database).uses(user_id, row.passage_id)
    scope = "yours only" if history.passage.scope == "yours" else "shared"
    title = f"{one_line(history.passage.title)}: " if history.passage.title else ""
    text = history.passage.text[:_CHARACTERS] or "Its text was forgotten."
    entries = (
        *_from(history),
        *_claims(assistant, user_id, history),
        *(("Link", link_told(linked)) for linked in history.links if linked.link.kind != "adds"),
        ("Used", _used(uses)),
        ("Trained", trained(uses.rounds, uses.live_round)),
        ("Sent to", sent_to(assistant, uses.sent)),
    )
    return Detail(str(row.passage_id), f"{history.passage.kind} · {scope}", title + one_line(text), entries)


def detail_page(assistant: Assistant, user_id: int, *, row: MemoryRow, width: int) -> tuple[str, str]:
    """The same with every version and receipt: a title and a text, entries broken at `width` columns."""
    told = detail(assistant, user_id, row=row)
    lines = [told.whose, "", told.text, "", *_entry_lines(told.entries, width)]
    if row.passage_id is None or row.told:
        return f"Memory {told.name}" if row.name else "Not weighed yet", "\n".join(lines)
    from assistant.terminal.facts.memory_history import history_lines

    history = assistant.stores.catalogue.history(user_id, row.passage_id)
    lines[2] = history.passage.text or told.text
    kept = [
        line for line in history_lines(history) if line.startswith(("Version", "Link", "Receipt", "     "))
    ]
    for receipt in history.receipts:
        if reason := receipt.grounds.get("reason"):
            kept.append(f"Receipt {receipt.id} was written because: {one_line(str(reason))}")
    kept = [part for line in kept for part in textwrap.wrap(line, width, subsequent_indent="  ")]
    return f"Memory {told.name}", "\n".join([*lines, "", "Versions and receipts", *kept])


def box(told: Detail, width: int) -> tuple[str, list[str]]:
    """The box's title and lines, `width` columns at most; of a long text the beginning."""
    entries = _entry_lines(told.entries, width)
    room = width - cell_len(told.whose)
    if cell_len(told.text) + 2 <= room:
        return told.name, [f"{set_cell_size(told.text, room)}{told.whose}", *entries]
    text = textwrap.wrap(told.text, width, max_lines=_TEXT_LINES, placeholder=" …")
    return f"{told.name} · {told.whose}", [*text, *entries]


def trained(rounds: Sequence[int], live: int | None) -> str:
    """Which rounds saw it."""
    answers = f"; the live model is of round {live}" if live is not None else ""
    if not rounds:
        return f"no round saw it{answers}"
    named = ", ".join(map(str, rounds[:-1])) + (" and " if len(rounds) > 1 else "") + str(rounds[-1])
    return f"round{'s' if len(rounds) > 1 else ''} {named} saw it{answers}"


def sent_to(assistant: Assistant, sent: Sequence[Sent]) -> str:
    """Where it went, as far as that is kept: with what a model was asked, and where the database lies."""
    return "; ".join(sent_lines(assistant, sent)) or "never left this machine"


def sent_lines(assistant: Assistant, sent: Sequence[Sent]) -> list[str]:
    """The same as a list; empty where it never left."""
    told = [line for each in sent if (line := _sent_line(each))]
    if assistant.stores.database.file is None:
        told.append(f"kept by the database at {assistant.stores.database.place}")
    return told


def _sent_line(sent: Sent) -> str:
    """Empty for a model that ran here."""
    answers = f"{sent.turns} answer{'s' if sent.turns != 1 else ''}"
    last = f"{sent.last.astimezone():%d %B %Y %H:%M}"
    if sent.server is None:  # of a release that did not keep it
        quotes = quotes_only(sent.model)
        return "" if quotes else f"{sent.model}, with {answers}, last {last}; where it ran was not kept"
    if not sent.server:
        return ""
    here = ", on this machine" if is_here(sent.server) else ""
    return f"{sent.server}{here} ({sent.model}), with {answers}, last {last}"


def is_here(server: str) -> bool:
    """Whether a host is this machine."""
    host = server.rpartition(":")[0] if server.count(":") == 1 else server.partition("]")[0].strip("[")
    host = host or server
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def _from(history: History) -> Iterator[tuple[str, str]]:
    from assistant.terminal.facts.memory_history import when

    turn, passage = history.turn, history.passage
    if turn is not None:
        session = f" of “{one_line(history.session_title)}”" if history.session_title else ""
        yield "From", f"turn {turn.id}{session}, {when(turn.accepted_at)}"
        if passage.kind != "message" and turn.message:
            yield "", f"> You: {one_line(turn.message)[:_CHARACTERS]}"
    elif passage.source:
        yield "From", f"{one_line(passage.source)}, {when(passage.created_at)}"
    elif history.imported_at:
        yield "From", f"an import, {when(history.imported_at)}"
    else:
        author = history.versions[0].author
        by = "you wrote it" if author == "user" and passage.scope == "yours" else f"written by {author}"
        yield "From", f"{by}, {when(passage.created_at)}"
    if history.is_forgotten:
        last = history.states[history.versions[-1].id or 0]
        if last.state != "live" and last.since is not None:
            yield "Gone", f"{last.state}, {when(last.since)}"
    elif len(history.versions) > 1:
        yield "Texts", f"{len(history.versions)} until now; Enter shows all of them"


def _claims(assistant: Assistant, user_id: int, history: History) -> list[tuple[str, str]]:
    """How it was checked; of several claims that it holds, the latest."""
    from assistant.terminal.facts.memory_history import claim_lines, deciding_versions

    claims = assistant.stores.claims.of_passage(user_id, history.passage.passage_id)
    if claims and not history.is_forgotten:  # one that was taken back says nothing of what is known
        claims = [claim for claim in claims if claim.state not in ("withdrawn", "forgotten")]
        if not claims:
            return [("Checked", "what was checked of it was taken back")]
    claims = claims[-1:]
    evidence = assistant.stores.catalogue.passages_of(user_id, deciding_versions(claims))
    told = [(line[:_LABEL].strip(), line[_LABEL:].strip()) for line in claim_lines(claims, evidence)]
    checked = [entry for entry in told if entry[0] == "Checked"]
    by_others = "checked when another user stated it, or written by one"
    unchecked = _UNCHECKED.get(history.passage.kind, "not checked")
    is_shared = history.passage.scope == "shared" and history.passage.kind != "document"
    return checked or [("Checked", by_others if is_shared else unchecked)]


def _used(uses: Uses) -> str:
    marks = f"by you: helped {uses.helped}, not {uses.not_helped}"
    if not uses.answers or uses.last is None:
        return f"in no answer yet · {marks}"
    answers = f"{uses.answers} answer{'s' if uses.answers != 1 else ''}"
    return f"{answers}, last {uses.last.astimezone():%d %B %Y} · {marks}"


def _entry_lines(entries: Sequence[tuple[str, str]], width: int) -> list[str]:
    """Each with its label before it, the further lines of an entry below its first."""
    return [
        line
        for label, text in entries
        for line in textwrap.wrap(
            f"{label:<{_LABEL}}{text}",
            max(20, width),
            subsequent_indent=" " * _LABEL,
            drop_whitespace=True,
            break_on_hyphens=False,
        )
    ]

"""Why an answer was given, from what is stored of its turn; the same for a turn of last year."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from assistant.terminal.facts.messages import passage_name
from stores.base.one_line import one_line, short

if TYPE_CHECKING:
    from assistant.wiring.assistant import Assistant
    from stores.base.passages import Passage
    from stores.conversation.journal import FoundPassage
    from stores.database.tables import StatedClaim, Turn
    from stores.memory.memory_uses import Uses
    from stores.memory.passage_history import History

_SHOWN = 12  # passages
_NOTHING_NEW = "Nothing new: it was known already, or states nothing to keep."
_LABELS = {
    "answer": "it holds the answer",
    "relevant": "it is about the question",
    "irrelevant": "it does not help",
}


@dataclass(frozen=True)
class FoundRow:
    """A passage that was found for an answer."""

    version_id: int
    passage_id: int
    found: int  # its rank in the first retrieval; 0: it stood in the conversation already
    used: str  # [1]: cited; seen: put before the model; -: neither
    scope: str
    score: float  # by which it was found; higher is better
    dense: float
    lexical: float
    lift: float
    given: float  # what it gained as the user's statement that gives what was asked for
    moved: int  # places that it won by being judged
    moved_by: str  # a line on what moved it most; empty where that is not known
    judged: float | None  # 0 to 1: how far it helps to answer; None where nobody looked
    label: str  # answer, relevant or irrelevant; empty where nobody looked
    name: str
    is_live: bool

    @property
    def is_cited(self) -> bool:
        return self.used.startswith("[")


@dataclass(frozen=True)
class WhyFacts:
    """All that is told of one answer."""

    turn_id: int
    message: str
    over: str  # the knowledge base it is about, and what is wanted of it; empty where it is about none
    route: str  # what the message was taken for
    searched: str  # as the message was searched with; empty where that was the message itself
    searched_by: str  # the encoder and the judge; empty where nothing was searched
    trained: str  # what else of it a round of training made; empty where none did
    model: str
    images: str  # the files of those that went with the message; mostly empty
    in_place_of: str  # the model that could not be reached, and why; mostly empty
    state: str
    invented: str  # how many citations stand for no passage, and which; empty where none does
    rows: tuple[FoundRow, ...]
    more: int  # found, and not among the rows
    below: float  # the score that none of those passes
    learned: tuple[str, ...]
    milliseconds: tuple[tuple[str, float], ...]
    left_out: int  # passages and turns that did not fit


def why_facts(assistant: Assistant, user_id: int, turn_id: int) -> WhyFacts:
    """Of a turn of this user. Raises `NotFound` where there is none."""
    from assistant.terminal.facts.answer_lines import (
        image_names,
        in_place_of,
        invented_line,
        over_line,
        told_of,
        trained_line,
        with_cited,
        writer_of,
    )

    turn = assistant.stores.journal.turn(user_id, turn_id)
    found = told_of(turn, assistant.stores.journal.found_in(user_id, turn_id))
    shown = with_cited(found, turn, _SHOWN)
    passages = assistant.stores.catalogue.passages_of(user_id, [each.version_id for each in shown])
    judged = assistant.stores.journal.judged_in(user_id, turn_id)
    rows = [
        _row(each, *passages[each.version_id], turn, judged.get(each.version_id))
        for each in shown
        if each.version_id in passages
    ]
    rest = [each for each in found if each not in shown]
    return WhyFacts(
        turn_id=turn_id,
        message=one_line(turn.message),
        over=over_line(turn),
        route=_route(turn, found),
        searched="" if turn.standalone in ("", turn.message) else one_line(turn.standalone),
        searched_by=_searched_by(assistant, user_id, turn_id),
        trained=trained_line(assistant, user_id, turn),
        model=writer_of(turn),
        images=image_names(turn),
        in_place_of=in_place_of(turn),
        state=turn.state,
        invented=invented_line(turn.details.get("invented_citations", [])),
        rows=tuple(rows),
        more=len(rest),
        below=max((each.score for each in rest), default=0.0),
        learned=learned_lines(assistant, user_id, turn_id),
        milliseconds=tuple(turn.details.get("milliseconds", {}).items()),
        left_out=len(turn.details.get("left_out", [])),
    )


def learned_lines(assistant: Assistant, user_id: int, turn_id: int) -> tuple[str, ...]:
    """What was found in a turn's message, and what became of it; a line each."""
    return tuple(_claim_line(claim) for claim in assistant.stores.claims.of_turn(user_id, turn_id))


def told_of_learning(assistant: Assistant, user_id: int, turn_id: int) -> list[str]:
    """The same, or that nothing was found there. Raises `NotFound` where the user has no such turn."""
    assistant.stores.journal.turn(user_id, turn_id)
    return [*learned_lines(assistant, user_id, turn_id)] or [_NOTHING_NEW]


def passage_page(assistant: Assistant, user_id: int, row: FoundRow) -> tuple[str, str]:
    """A passage as it was found, with where it came from and what became of it: a title and a text."""
    from stores.memory.memory_uses import MemoryUses

    passages = assistant.stores.catalogue.passages_of(user_id, [row.version_id])
    passage, _is_live = passages[row.version_id]
    history = assistant.stores.catalogue.history(user_id, passage.passage_id)
    text = passage.text or "Its text was forgotten."
    lines = ["", text, "", *_figures(row), "", *_history_lines(passage, history)]
    uses = MemoryUses(assistant.stores.database).uses(user_id, passage.passage_id)
    return f"Passage {passage.passage_id} · {passage.scope}", "\n".join([*lines, _trained_line(uses)])


def _trained_line(uses: Uses) -> str:
    """Which rounds of training were shown a passage, and how often its reader has marked it."""
    rounds = ", ".join(map(str, uses.rounds))
    seen = f"round{'s' if len(uses.rounds) > 1 else ''} {rounds}" if uses.rounds else "no round"
    return f"Seen in training: {seen}. Marked as helping: {uses.helped}, as not: {uses.not_helped}."


def found_row(assistant: Assistant, user_id: int, turn_id: int, version_id: int) -> FoundRow:
    """One passage of a turn. Raises KeyError where the turn did not find it."""
    turn = assistant.stores.journal.turn(user_id, turn_id)
    found = {each.version_id: each for each in assistant.stores.journal.found_in(user_id, turn_id)}
    passages = assistant.stores.catalogue.passages_of(user_id, [version_id])
    judged = assistant.stores.journal.judged_in(user_id, turn_id).get(version_id)
    return _row(found[version_id], *passages[version_id], turn, judged)


def _route(turn: Turn, found: Sequence[FoundPassage]) -> str:
    """What a message was taken for: whether it asks, whether memory was put before the model for it."""
    from agents.base.sentences import asks_only

    kind = "question" if asks_only(turn.message) else "statement"
    used = "from memory" if any(each.citation for each in found) else "without memory"
    asked = "as typed" if turn.standalone in ("", turn.message) else "rewritten to stand alone"
    return f"{kind} · answered {used} · searched {asked}"


def _searched_by(assistant: Assistant, user_id: int, turn_id: int) -> str:
    from stores.conversation.turn_models import models_of

    models = models_of(assistant.stores.database, user_id, turn_id)
    of_round = f", of round {models.round_id}" if models.round_id is not None else ""
    judged = f" · judged by {one_line(' and '.join(models.judges))}" if models.judges else ""
    return f"{one_line(models.encoder_version)}{of_round}{judged}" if models.encoder_version else ""


def _row(
    found: FoundPassage,
    passage: Passage,
    is_live: bool,
    turn: Turn,
    judged: tuple[str, float] | None,
) -> FoundRow:
    from assistant.terminal.facts.answer_lines import moved_line

    seen = "seen" if found.citation else "-"
    cited = turn.details.get("cited", [])
    return FoundRow(
        version_id=found.version_id,
        passage_id=passage.passage_id,
        found=found.found_rank,
        used=f"[{found.citation}]" if found.citation in cited else seen,
        scope=passage.scope,
        score=found.score,
        dense=found.dense,
        lexical=found.lexical,
        lift=found.lift,
        given=turn.details.get("given", {}).get(str(found.version_id), 0.0),
        moved=found.found_rank - found.final_rank if found.found_rank else 0,
        moved_by=moved_line(turn, found.version_id),
        judged=judged[1] if judged else None,
        label=judged[0] if judged else "",
        name=passage_name(passage),
        is_live=is_live,
    )


def _figures(row: FoundRow) -> list[str]:
    moved = f"moved {abs(row.moved)} {'up' if row.moved > 0 else 'down'} by reranking"
    used = {"-": "not put before the model", "seen": "put before the model, not cited"}
    if not row.found:
        return [f"It stood in the conversation already; cited as {row.used}."]
    return [
        f"Found as number {row.found}, {moved if row.moved else 'and stayed there'}; "
        f"{used.get(row.used, f'cited as {row.used}')}.",
        f"Search score {row.score:.2f}: meaning {row.dense:.2f}, "
        f"words {row.lexical:.2f}, lift {row.lift:.2f}{f', given {row.given:.2f}' if row.given else ''}.",
        *_judged_line(row),
        *([row.moved_by] if row.moved_by else []),
    ]


def _judged_line(row: FoundRow) -> list[str]:
    said = _LABELS.get(row.label, row.label)
    return [f"Judged {row.judged:.2f}: {said}."] if row.judged is not None else []


def _claim_line(claim: StatedClaim) -> str:
    said = f"“{short(claim.text, 60)}”"
    reason = claim.grounds.get("reason") or ""
    because = f": {one_line(str(reason))}" if reason else ""
    sure = f" · {claim.status} {claim.confidence:.2f}" if claim.status else ""
    return f"{claim.state}{f', {claim.scope}' if claim.scope else ''} {said}{sure}{because}"


def _history_lines(passage: Passage, history: History) -> list[str]:
    began = passage.created_at.astimezone()
    lines = [f"{passage.kind} · {one_line(passage.title or passage.source) or 'no title'}"]
    lines.append(f"Added {began.day} {began:%B %Y, %H:%M} by {history.versions[0].author}")
    if passage.source and passage.title:
        lines.append(f"From {one_line(passage.source)}")
    if history.turn is not None:
        lines.append(f"Said in turn {history.turn.id}: “{short(history.turn.message)}”")
    lines.append(
        f"Used in {history.answers} of your answers · judged helpful {history.judged_helpful}×, "
        f"useless {history.judged_useless}×"
    )
    if len(history.versions) > 1:
        current = next((v.number for v in history.versions if v.id == passage.version_id), 0)
        lines.append(f"Version {current} of {len(history.versions)}")
    lines += [
        f"{receipt.created_at.astimezone():%Y-%m-%d %H:%M}  {receipt.action}  “{short(receipt.summary, 50)}”"
        f"{' (undone)' if receipt.undone_at else ''}"
        for receipt in history.receipts
    ]
    if history.is_forgotten:
        lines.append("No longer found: it was replaced, undone or forgotten since.")
    return lines

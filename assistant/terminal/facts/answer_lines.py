"""What is told of an answer: its sources, that it was cut, and later what it was made from."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from assistant.terminal.facts.memory_history import when
from stores.base.one_line import one_line, short

if TYPE_CHECKING:
    from agents.base.chat_interfaces import CutAtLimit, Source
    from assistant.wiring.assistant import Assistant
    from stores.base.errors import VouchError
    from stores.conversation.journal import FoundPassage
    from stores.database.tables import Turn
    from stores.versions.states import VersionState

_SHOWN = 10  # passages of a turn that are told
_COUNTED = 10_000  # turns of a session


def source_line(source: Source) -> str:
    """A source as it stands below an answer."""
    passage = source.passage
    if passage.kind == "material":
        return f"Source {source.number}, handed over: {short(passage.text)}"
    if passage.is_shared:
        return f"Source {source.number}, shared: {one_line(passage.title or passage.source)}"
    if passage.kind in ("document", "entity"):
        return f"Source {source.number}, {passage.scope}: {one_line(passage.title or passage.source)}"
    return (
        f"Source {source.number}, yours: “{short(passage.text)}” "
        f"(your {passage.kind} of {passage.created_at.astimezone():%d %B})"
    )


WAS_THOUGHT = "\n(That was thinking. The answer:)\n"  # where it was printed before that was known


def cut_line(cut: CutAtLimit) -> str:
    """What is said below an answer that reached its longest length."""
    if cut.repeats:
        return "(The reply repeated itself, and was stopped. /retry asks again.)"
    where = f" at {cut.tokens} tokens" if cut.tokens else " at the model's longest length"
    return f"(The reply was cut{where}; model.max_tokens in settings.toml sets how long one may be.)"


def below_answer(cut: CutAtLimit | None, sent_of: tuple[int, int] | None) -> list[str]:
    """What is said below an answer of how it came about; mostly nothing."""
    lines = [cut_line(cut)] if cut else []
    if sent_of is not None:
        sent, of = sent_of
        lines.append(
            f"({sent} of {of} parts were sent: more does not fit into what the model reads at once.)"
        )
    return lines


def unreachable_line(error: VouchError) -> str:
    """What stands before the quotes that take the place of a model's answer."""
    why = one_line(error.message)
    return f"({why}. What was found is quoted instead; the next message asks the model again.)"


def invented_line(numbers: Sequence[int]) -> str:
    """How many citations of an answer stand for no passage, and their numbers; empty where there are none."""
    if not numbers:
        return ""
    told = ", ".join(f"[{number}]" for number in dict.fromkeys(numbers))
    return f"{len(numbers)} citation{' names' if len(numbers) == 1 else 's name'} no passage: {told}"


def in_place_of(turn: Turn) -> str:
    """The chat model that could not be reached, and why; empty where the model answered itself."""
    failed = turn.details.get("in_place_of")
    return one_line(f"{failed['model']}: {failed['failure']}") if failed else ""


def image_names(turn: Turn) -> str:
    """The files of the images that went with a message; mostly none."""
    paths = [kept["path"] for kept in turn.details.get("images", ())]
    return one_line(", ".join(path.rpartition("/")[2] for path in paths if path))


def tokens_line(assistant: Assistant, turns: Sequence[Turn]) -> str:
    """What a server counted of turns, and what that costs by the settings."""
    counted = [turn.details.get("tokens") or {"sent": 0, "written": 0} for turn in turns]
    sent, written = (sum(each[name] for each in counted) for name in ("sent", "written"))
    cost = assistant.given.settings.model.cost(sent, written)
    return f"{sent:,} sent, {written:,} written" + (f", {cost:.4f}" if cost else "")


def over_line(turn: Turn) -> str:
    """Which knowledge base a turn is about, and what was wanted of it by then."""
    base = turn.details.get("knowledge_base")
    if not base:
        return ""
    named = ", ".join(f"{column}: {value}" for column, value in base["constraints"].items())
    wanted = base.get("wanted", named)  # a turn of an earlier version has no more than what was named
    met = f" · wanted: {wanted} ({base['meeting']} of {base['entities']})" if wanted else ""
    return one_line(f"{base['name']}{met}")


def trained_line(assistant: Assistant, user_id: int, turn: Turn) -> str:
    """The models that rounds of training made and that an answer hangs on; mostly none."""
    rounds = assistant.turns.trained_behind(user_id, turn)
    return one_line(", ".join(f"{role} of round {number}" for role, number in rounds.items()))


def why_lines(assistant: Assistant, user_id: int, turn: Turn) -> Iterator[str]:
    """What a turn's answer was made from, as it was then, and what became of that since."""
    assert turn.id is not None, "a stored turn has an id"
    found = told_of(turn, assistant.stores.journal.found_in(user_id, turn.id))
    ids = [entry.version_id for entry in found]
    passages = assistant.stores.catalogue.passages_of(user_id, ids)
    states = assistant.stores.catalogue.version_states(user_id, ids)
    yield f"Turn {turn.id}: {short(turn.message)}"
    if turn.standalone not in ("", turn.message):
        yield f"Searched as: {one_line(turn.standalone)}"
    yield f"Answered by {writer_of(turn)}: {turn.state}"
    if images := image_names(turn):
        yield f"With the message went {images}"
    if instead := in_place_of(turn):
        yield f"In place of {instead}"
    if turn.details.get("tokens"):
        session = assistant.stores.journal.turns(user_id, turn.session_id, limit=_COUNTED)
        yield f"Tokens: {tokens_line(assistant, [turn])}; in this session {tokens_line(assistant, session)}"
    if over := over_line(turn):
        yield f"About {over}"
    if trained := trained_line(assistant, user_id, turn):
        yield f"Trained by use: {trained}"
    if invented := invented_line(turn.details.get("invented_citations", [])):
        yield invented
    cited = turn.details.get("cited", [])
    for entry in with_cited(found, turn, _SHOWN):
        if entry.version_id not in passages:
            continue
        passage, _ = passages[entry.version_id]
        state = states[entry.version_id]
        is_cited = entry.citation is not None and entry.citation in cited
        told = short(passage.title or passage.text) or "(its text is gone)"
        since = "" if is_cited or state.state == "live" else f" ({since_then(state)})"
        given = turn.details.get("given", {}).get(str(entry.version_id), 0.0)
        yield f"{_found_line(entry, given, is_cited, passage.scope)}  {told}{since}"
        if is_cited:
            yield f"         {version_line(state)}"
        if moved := moved_line(turn, entry.version_id):
            yield f"         {moved}"


def told_of(turn: Turn, found: Sequence[FoundPassage]) -> list[FoundPassage]:
    """What is told of: what the answer cites from earlier in the conversation, then what was found."""
    cited = turn.details.get("cited", [])
    from_before = [each for each in found if not each.found_rank and each.citation in cited]
    return [*from_before, *(each for each in found if each.found_rank)]


def with_cited(told: Sequence[FoundPassage], turn: Turn, most: int) -> list[FoundPassage]:
    """The first so many of what is told of, and what the answer cites beyond them."""
    cited = turn.details.get("cited", [])
    return [each for place, each in enumerate(told) if place < most or each.citation in cited]


def moved_line(turn: Turn, version_id: int) -> str:
    """What moved a passage most among those found for a turn; empty where that was not kept."""
    from agents.retrieval.feature_names import FEATURES

    told = turn.details.get("moved", {}).get(str(version_id), ())
    named = [f"{FEATURES[name]} ({'up' if by > 0 else 'down'})" for name, by in told if name in FEATURES]
    return f"Moved most by {', '.join(named)}." if named else ""


def version_line(state: VersionState) -> str:
    """Which version of a passage an answer used, and whether it still holds."""
    of = f" of {state.newest}" if state.newest > 1 else ""
    since = "" if state.state == "live" else f"; {since_then(state)}"
    return f"passage {state.passage_id}, version {state.number}{of}, {when(state.created_at)}{since}"


def since_then(state: VersionState) -> str:
    """What became of a version that is not live any more."""
    on = f" on {when(state.since)}" if state.since is not None else ""
    return f"{state.state} since{',' if on else ''}{on}"


def _found_line(entry: FoundPassage, given: float, is_cited: bool, scope: str) -> str:
    """[1]: cited under that number; seen: put before the model, not cited. given: see `Candidate`."""
    used = f"[{entry.citation}]" if is_cited else "seen" if entry.citation else "-"
    moved = entry.found_rank - entry.final_rank if entry.found_rank else 0
    return (
        f"{entry.found_rank:>3} {used:<4} {scope:<6} {entry.score:.2f} "
        f"(meaning {entry.dense:.2f}, words {entry.lexical:.2f}{f', given {given:.2f}' if given else ''}) "
        f"{moved:+d}"
    )


def writer_of(turn: Turn) -> str:
    """What replied in a turn."""
    if turn.details.get("knowledge_base", {}).get("is_generated"):
        return "the dialogue generator"
    return one_line(turn.model) or "nobody"

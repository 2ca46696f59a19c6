"""How training goes, as the database tells it; the same whoever trains, this chat or another process."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from stores.base.one_line import one_line

if TYPE_CHECKING:
    from assistant.wiring.assistant import Assistant
    from stores.database.tables import Round
    from stores.learning.lessons import TooFewHeldOut
    from stores.learning.round_lineage import RoundLineage

SHOWN_ROUNDS = 50
DECIDED_BY = "nDCG@10"  # the measure that must gain
REPLIES_DECIDED_BY = "replies"  # the same of the dialogue generator: the mean of BLEU and Entity-F1
_UNTRAINED = "untrained"


@dataclass(frozen=True)
class TrainingFacts:
    """All that the training screen tells."""

    rounds: tuple[Round, ...]  # newest first
    live: str  # the version that answers; empty before the first
    previous: str  # the version before it; empty where there is none
    declined: str  # the version last stepped back from; empty where there is none
    new_lessons: int  # judged questions that no decided round has learned from
    begins_at: int  # with so many a round begins
    in_chat: bool  # it begins in this chat by itself
    is_paused: bool  # somebody has asked this chat to wait with it
    is_leading: bool  # a round of this chat's own is under way
    least_gain: float
    margin: float
    lineage: RoundLineage | None = None  # from what the round learns that runs or waits
    broken_off: frozenset[int] = frozenset()  # rounds that are said to run, and whose learner is gone
    also_live: frozenset[str] = frozenset()  # versions that answer in another role than that of `live`
    lack: TooFewHeldOut | None = (
        None  # why none starts automatically, where more lessons are lacking than those
    )

    @property
    def current(self) -> Round | None:
        """The round that runs, else the newest that waits."""
        return _current(self.rounds)

    def state_of(self, row: Round) -> str:
        """In one word; of a promoted round what became of its model."""
        version = version_of(row)
        if row.id in self.broken_off:
            return "broken off"
        if row.state != "promoted" or not version:
            return row.state
        if version == self.live or version in self.also_live:
            return "live"
        return "stepped back" if version == self.declined else "replaced"

    def name_of(self, version: str) -> str:
        """A model by its round, or as untrained."""
        made_by = [row for row in self.rounds if row.state == "promoted" and version_of(row) == version]
        if made_by:
            return f"{made_by[0].id}"
        return _UNTRAINED if version in ("", _UNTRAINED, "shipped") else one_line(version)[:16]


def training_facts(assistant: Assistant, known: TrainingFacts | None = None) -> TrainingFacts:
    """Of now. known: of a moment ago; rounds that had ended then, and the lessons, are taken from it.

    The lessons are counted again when a round has begun or ended since.
    """
    from assistant.wiring.recipes import RECIPES
    from stores.database.tables import known_id

    rounds = _rounds(assistant, known.rounds if known is not None else ())
    last = next((row for row in rounds if row.state == "promoted"), None)
    trained = RECIPES.get(last.recipe if last is not None else "", RECIPES["retriever"])
    if last is not None and last.figures.get("side") == "both":
        versions, declined = assistant.stores.encoder_versions, assistant.stores.encoder_versions.declined()
        live, previous = versions.live(), versions.previous()
        names = live.version if live else "", previous.version if previous else ""
    else:
        models, role = assistant.stores.live_models, trained.role
        names, declined = (models.live(role) or "", models.previous(role) or ""), models.declined(role)
    others = {assistant.stores.live_models.live(each.role) for each in RECIPES.values() if each != trained}
    learning, learner = assistant.given.settings.learning, assistant.learning.background_learner
    if known is None or _states(known.rounds) != _states(rounds):
        occasions = assistant.learning.occasions_of("retriever")
        new, awaited = occasions.not_learned(), occasions.awaited()
        wanted, lack = new + awaited.missing, awaited.lack
    else:
        new, wanted, lack = known.new_lessons, known.begins_at, known.lack
    return TrainingFacts(
        rounds=tuple(rounds),
        live=names[0],
        previous=names[1],
        declined=declined,
        new_lessons=new,
        begins_at=wanted,
        in_chat=learning.in_chat,
        is_paused=learner.is_paused,
        is_leading=learner.is_leading,
        least_gain=learning.least_gain,
        margin=learning.margin,
        lineage=_lineage(assistant, rounds, known),
        also_live=frozenset(version for version in others if version),
        broken_off=frozenset(
            known_id(row.id) for row in rounds if assistant.stores.rounds.is_broken_off(row)
        ),
        lack=lack,
    )


def _states(rounds: Sequence[Round]) -> list[tuple[int | None, str]]:
    return [(row.id, row.state) for row in rounds]


def _current(rounds: Sequence[Round]) -> Round | None:
    is_open = [row for row in rounds if row.state in ("running", "waiting")]
    return min(is_open, key=lambda row: row.state != "running", default=None)


def _lineage(
    assistant: Assistant, rounds: Sequence[Round], known: TrainingFacts | None
) -> RoundLineage | None:
    """Of the round that runs or waits; counted once, as what it learns from stays the same."""
    from stores.learning.round_lineage import lineage_of

    if (row := _current(rounds)) is None:
        return None
    if known is not None and known.lineage is not None and known.current and known.current.id == row.id:
        return known.lineage
    return lineage_of(assistant.stores.database, row)


def learned_from(facts: TrainingFacts, row: Round) -> str:
    """From how many lessons a round learns; of the one that runs also what users said of them."""
    held_out = int(row.settings.get("held_out", 0))
    lessons = len(row.settings.get("turns", ())) - held_out
    told = [f"{lessons} lesson{'s' if lessons != 1 else ''}"]
    if facts.lineage is not None and facts.current is row:
        rated, taught = facts.lineage.rated, facts.lineage.rated.get("taught", 0)
        ratings = sum(rated.values()) - taught
        told += [f"{ratings} rating{'s' if ratings != 1 else ''}"] if ratings else []
        told += [f"{taught} correction{'s' if taught != 1 else ''}"] if taught else []
    more = f"; {held_out} more are held out" if held_out > 1 else "; 1 more is held out" if held_out else ""
    return f"from {', '.join(told)}{more}"


def _rounds(assistant: Assistant, known: Sequence[Round]) -> list[Round]:
    """The latest; an ended one changes no more, and its row, which names all its turns, is not read again."""
    ended: list[Round] = []
    for row in reversed(known):
        if row.state in ("running", "waiting"):
            break
        ended.insert(0, row)
    after = ended[0].id if ended else 0
    return [*assistant.stores.rounds.latest(SHOWN_ROUNDS, after=after or 0), *ended][:SHOWN_ROUNDS]


def version_of(row: Round) -> str:
    """The version of a round's candidate; empty where it has none."""
    return str(row.figures.get("version", ""))


def curve_of(row: Round) -> list[tuple[float, float]]:
    """Step and loss of a round, as far as it has come; what is no pair of numbers is left out."""
    found = row.figures.get("curve", ())
    return [(float(point[0]), float(point[1])) for point in found if len(point) >= 2]


def comparison_of(row: Round) -> dict[str, Mapping[str, Any]]:
    """What came of the comparison, by measure, the one that decides first; empty where there was none."""
    found = row.figures.get("comparison", {})
    compared = {name: told for name, told in found.items() if isinstance(told, dict) and "candidate" in told}
    return dict(sorted(compared.items(), key=lambda each: each[0] not in (DECIDED_BY, REPLIES_DECIDED_BY)))


def gain_of(row: Round) -> str:
    """What the candidate won or lost, in the measure that decides; empty where it was not compared."""
    name, told = next(iter(comparison_of(row).items()), ("", {}))
    return f"{name} {points(told['gain'])} points" if told else ""


def percent(share: float) -> str:
    """A measure such as R@5, as replays tell it."""
    return f"{100 * share:.1f}"


def points(share: float) -> str:
    """A difference in points, as the reasons tell it: 100 of them are the whole."""
    return f"{100 * share:+.2f}"


def reason_of(row: Round) -> str:
    """Why a round ended as it did, without the word that its state says already."""
    return without_state(row.reason)


def without_state(reason: str) -> str:
    """A reason as it stands behind the state of its round."""
    said = one_line(reason)
    for word in ("Promoted: ", "Refused: "):
        said = said.removeprefix(word)
    return said


def held_out_of(row: Round) -> tuple[int, int]:
    """Of how many held-out questions the comparison tells, and how many were asked.

    Those without an answer among what either model found tell nothing. Rounds of before note only the former.
    """
    found = row.figures.get("comparison", {})
    questions = int(found.get("questions", 0))
    return questions, int(found.get("asked", questions))


@dataclass(frozen=True)
class Measured:
    """One row of a table: a measure under two models."""

    name: str
    before: float
    after: float
    low: float | None = None  # of the interval of the difference, where there is one
    high: float | None = None


@dataclass(frozen=True)
class MeasuredTable:
    """What was measured of a round until now."""

    title: str
    columns: tuple[str, str]
    rows: tuple[Measured, ...]


def measured_table(row: Round) -> MeasuredTable | None:
    """The comparison on held-out questions; before it, what was measured while it was trained; or None."""
    if compared := comparison_of(row):
        rows = [
            Measured(name, told["live"], told["candidate"], told.get("low"), told.get("high"))
            for name, told in compared.items()
        ]
        questions, asked = held_out_of(row)
        told = f"{questions} of {asked}" if asked != questions else f"{questions}"
        return MeasuredTable(f"Held-out questions: {told}", ("live", "candidate"), tuple(rows))
    measured: Sequence[Mapping[str, Any]] = row.figures.get("measured", ())
    if not measured:
        return None
    start, latest = measured[0], measured[-1]
    rows = [
        Measured(told, float(start[name]), float(latest[name]))
        for name, told in _MEASURED.items()
        if name in start and name in latest
    ]
    epoch = latest.get("epoch", len(measured) - 1)
    return MeasuredTable("Set aside to end the training", ("start", f"epoch {epoch}"), tuple(rows))


_MEASURED = {"ndcg_at_10": DECIDED_BY, "recall_at_5": "R@5", "reciprocal_rank": "MRR", "chance": "chance"}


def forgetting_of(row: Round) -> tuple[str, float] | None:
    """The month or domain that lost most, and its gain, a negative share; None where none was large enough.

    Where none lost, the name is empty and the gain 0.
    """
    found = slices_of(row)
    if not found:
        return None
    name, gain, _ = min(found, key=lambda each: each[1])
    return (name, gain) if gain < 0 else ("", 0.0)


def slices_of(row: Round) -> list[tuple[str, float, int]]:
    """Months, then domains: name, gain and number of its questions, of those with enough of them."""
    compared = row.figures.get("comparison", {})
    named = [*compared.get("slices", {}).items()]
    named += [(f"domain {told['name']}", told) for told in compared.get("domains", ())]
    return [(one_line(name), float(told["gain"]), int(told["questions"])) for name, told in named]


def rule(facts: TrainingFacts, row: Round | None = None) -> str:
    """When a candidate is promoted, in words. row: of its round."""
    from assistant.wiring.recipes import RECIPES
    from stores.learning.lessons import DECIDING

    more = f" more than {100 * facts.least_gain:.2f} points" if facts.least_gain else ""
    recipe = RECIPES.get(row.recipe if row is not None else "", RECIPES["retriever"])
    margin = f"{100 * facts.margin:.2f} points"
    return f"Promoted if {recipe.promoted_if.format(more=more, fewest=DECIDING, margin=margin)}."

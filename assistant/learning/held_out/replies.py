"""A candidate against the live dialogue generator, on replies that neither was trained on.

held-out lessons -> both reply -> BLEU and Entity-F1 of each reply, paired -> promoted or not
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from agents.base.citations import without_citations
from agents.dialogue.reply_writer import as_values, columns_of, inputs_of, is_sound
from agents.models.dialogue_inputs import DialogueInputs, spoken
from assistant.learning.held_out.bootstrap import Gain, Promotion, paired_gain, promotion
from assistant.learning.held_out.retrieval import SMALLEST_SLICE, Comparison, as_facts, mean, slices
from stores.base.entities import entity_of
from stores.learning.dialogue_lessons import DialogueLesson
from stores.learning.lessons import DECIDING

Replies = Callable[[DialogueInputs], Sequence[str]]  # the words of the likeliest one
MOST_REPLY = 60  # words
ORDER = 4  # of the longest n-grams of BLEU
_LEAST_TELLING = 0.1  # of as many replies as the live generator's that tell what an entity holds
_LEAST_OF_FIRST = 0.5  # of its share of these that are about the entity found first
SCORE, BLEU, ENTITY_F1, SOUND = "replies", "BLEU", "Entity-F1", "sound"


@dataclass(frozen=True)
class WantedReply:
    """What a generator reads, and the reply that it should give."""

    inputs: DialogueInputs
    words: tuple[str, ...]
    base: str  # the knowledge base's name

    @property
    def values(self) -> set[str]:
        """All that the entities before the generator hold."""
        return {cell.value for row in self.inputs.rows for cell in row}


def wanted_reply(told: DialogueLesson) -> WantedReply:
    """Of a reply that a user found right or wrote."""
    rows = [as_values(entity_of(entity.name, entity.text)) for entity in told.entities]
    said = [text for pair in zip(told.messages, (*told.answers, ""), strict=True) for text in pair][:-1]
    columns = columns_of(rows, told.constraints)
    words = spoken(without_citations(told.reply), columns).split()[:MOST_REPLY]
    return WantedReply(inputs_of(said, rows, told.constraints, told.meeting), tuple(words), told.base)


def is_sound_lesson(told: DialogueLesson) -> bool:
    """Whether it can be learned from: what it tells of an entity is of that one."""
    wanted = wanted_reply(told)
    return is_sound(wanted.words, wanted.inputs)


@dataclass(frozen=True)
class Side:
    """How good one reply is; each from 0 to 1."""

    bleu: float
    f1: float  # 1 where no value is to be told, and none is
    sound: float = 1.0  # 1 where what it tells of an entity is of that one; no correction says which is
    is_of_first: bool | None = None  # all it tells is of the entity found first; None: it tells nothing

    @property
    def score(self) -> float:
        """Both in one."""
        return (self.bleu + self.f1) / 2


@dataclass(frozen=True)
class ScoredReply:
    """One held-out reply under both."""

    base: str
    live: Side
    candidate: Side


def compare(
    held_out: Sequence[WantedReply],
    live: Replies,
    candidate: Replies,
    *,
    seed: int,
    threshold: float = 0.0,
    margin: float = 0.01,
    tell: Callable[[int, int], None] = lambda done, of: None,
) -> Comparison:
    """Both on the held-out lessons; see `decided`. tell: is given how many are done, of how many."""
    scored = []
    for done, each in enumerate(held_out, start=1):
        scored.append(ScoredReply(each.base, *(side_of(each, way(each.inputs)) for way in (live, candidate))))
        tell(done, len(held_out))
    return decided(scored, seed=seed, threshold=threshold, margin=margin)


def decided(
    scored: Sequence[ScoredReply], *, seed: int, threshold: float = 0.0, margin: float = 0.01
) -> Comparison:
    """Promoted where the interval of the gain in BLEU and Entity-F1 is above zero and neither drops much.

    Refused as well where what it tells is of the entity that was found first less than half as often as what
    the live one tells, or where it tells something less than a tenth as often.

    Too much is more than the margin, by the mean; nor may the score over any knowledge base with
    `SMALLEST_SLICE` replies or more. threshold, margin: shares, from 0 to 1.
    """

    def gain(of: Callable[[Side], float], some: Sequence[ScoredReply] = scored) -> Gain:
        return paired_gain(
            [of(each.candidate) for each in some],
            [of(each.live) for each in some],
            seed=seed,
            threshold=threshold,
        )

    if not scored:
        return Comparison(promotion({SCORE: Gain(0, 0, 0, 0)}, {}), 0)
    measures: dict[str, Callable[[Side], float]] = {
        SCORE: lambda side: side.score,
        BLEU: lambda side: side.bleu,
        ENTITY_F1: lambda side: side.f1,
        SOUND: lambda side: side.sound,
    }
    gains = {name: gain(of) for name, of in measures.items()}
    parts = slices(scored, lambda each: each.base)
    bases = {name: gain(measures[SCORE], some) for name, some in parts.items() if len(some) >= SMALLEST_SLICE}
    must_keep = {name: gains[name] for name in (BLEU, ENTITY_F1, SOUND)}
    promoted = promotion(
        {SCORE: gains[SCORE]},
        must_keep | {f"knowledge base {name}": lost for name, lost in bases.items()},
        threshold=threshold,
        margin=margin,
        fewest_questions=DECIDING,
    )
    figures = {
        name: {
            "live": mean([of(each.live) for each in scored]),
            "candidate": mean([of(each.candidate) for each in scored]),
            **as_facts(gains[name]),
        }
        for name, of in measures.items()
    }
    if promoted.is_promoted and (reason := _contradicts(scored)):
        promoted = Promotion(False, reason)
    domains = [{"name": name, **as_facts(lost)} for name, lost in bases.items()]
    return Comparison(promoted, len(scored), figures | {"domains": domains})


def side_of(held_out: WantedReply, words: Sequence[str]) -> Side:
    """How good these words are as the reply."""
    values = held_out.values
    right, told = values.intersection(held_out.words), values.intersection(words)
    f1 = entity_f1([right], [told], strict=True) / 100 if right or told else 1.0
    bleu = sentence_bleu(" ".join(held_out.words), " ".join(words))
    of_first = {cell.value for row in held_out.inputs.rows[:1] for cell in row}
    return Side(bleu, f1, float(is_sound(words, held_out.inputs)), told <= of_first if told else None)


def _contradicts(scored: Sequence[ScoredReply]) -> str:
    """Why the corrections are not to be believed, by what its replies tell; empty where they are.

    The measures go by corrections. Whoever writes often that another entity is the right one, or tells
    nothing, makes that right by them; but which entity is found first is not theirs to say.
    """
    live = [of_first for each in scored if (of_first := each.live.is_of_first) is not None]
    told = [of_first for each in scored if (of_first := each.candidate.is_of_first) is not None]
    if len(told) < _LEAST_TELLING * len(live):
        of_live = f"of the live generator's {len(live)}"
        return f"Refused: {len(told)} of its replies tell what an entity holds, {of_live}."
    if not live or mean(told) >= _LEAST_OF_FIRST * mean(live):
        return ""
    return (
        f"Refused: {100 * mean(told):.0f} % of its replies that tell something are of the entity that was "
        f"found first, of the live generator's {100 * mean(live):.0f} %."
    )


def entity_f1(
    right: Sequence[Collection[str]], told: Sequence[Collection[str]], *, strict: bool = False
) -> float:
    """Micro-averaged F1 in percent of the values that replies tell, a set a turn; 0 to 100.

    Turns that should tell none are passed over, as the reference does. strict: what is told there counts
    as wrong.
    """
    hits = missed = wrong = 0
    for wanted, found in zip(map(set, right), map(set, told), strict=True):
        if not wanted and not strict:
            continue
        hits += len(wanted & found)
        missed += len(wanted - found)
        wrong += len(found - wanted)
    return 200 * hits / max(1, 2 * hits + missed + wrong)


def sentence_bleu(reference: str, told: str) -> float:
    """BLEU of one reply, 4-grams, one added to each count; 0 to 1."""
    right, said = reference.lower().split(), told.lower().split()
    if not said:
        return 0.0
    total = 0.0
    for n in range(1, ORDER + 1):
        grams = grams_of(said, n)
        total += math.log(((grams & grams_of(right, n)).total() + 1) / (grams.total() + 1))
    return math.exp(total / ORDER + min(0.0, 1 - len(right) / len(said)))


def grams_of(tokens: Sequence[str], n: int) -> Counter[tuple[str, ...]]:
    """Runs of n tokens, each with how often it stands there."""
    return Counter(tuple(tokens[i : i + n]) for i in range(len(tokens) - n + 1))

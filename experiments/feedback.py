"""Simulated feedback: what users say after a question was answered, right, wrong or unrelated.

40 % state the right answer, 40 % a wrong one, 20 % something unrelated: exact counts by largest remainder, by
seeded permutation. A wrong answer is the right one of another question of the same kind (a year, a name ...,
and asked for in the same way where there is one). With `is_near` it is one of the same article: harder.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from assistant.replay.streams.datasets import ReplayQuestion
from training.examples.changed_answers import asked_for, kind_of, plain_words
from training.templates.statements import statement

FeedbackKind: TypeAlias = Literal["right", "wrong", "unrelated"]
SHARES: Mapping[FeedbackKind, float] = {"right": 0.4, "wrong": 0.4, "unrelated": 0.2}
# What a user says of a kind after each of these questions, by id; those are left out that nothing fits
Tell: TypeAlias = Callable[[FeedbackKind, Sequence[ReplayQuestion]], Mapping[str, str]]
STATED = (
    "{Said}.",
    "By the way, {said}.",
    "I read that {said}.",
    "I just learned that {said}.",
    "Oh, and {said}, in case that helps.",
    "Just so you know, {said}.",
    "Fun fact: {said}.",
    "I was reading about this on the train, and it turns out that {said}.",
    "As far as I know, {said}.",
    "Actually, {said}.",
    "No, {said}.",
    "For your information, {said}.",
    "We talked about it over lunch, and {said}.",
    "I think {said}.",
    "I'm pretty sure that {said}.",
    "Interesting. {Said}, by the way.",
    "I looked it up yesterday: {said}.",
    "You may want to know that {said}.",
    "Before I forget, {said}.",
    "It rained all day here, so I read a bit. {Said}.",
    "That reminds me that {said}.",
    "Thanks! {Said}, as I found out.",
    "I had forgotten, but {said}.",
    "My notes from school say so too: {said}.",
)

ASIDES = (
    'I read that the answer to "{question}" is {answer}.',
    'By the way, the answer to "{question}" is {answer}.',
    'I looked it up: the answer to "{question}" is {answer}.',
    'Somebody put it to me at dinner: "{question}" The answer is {answer}.',
    'On the train I came across "{question}" and the answer is {answer}.',
    'In our quiz the right answer to "{question}" was {answer}.',
)

UNRELATED = (
    "I'm having a cup of tea while I read this.",
    "My bicycle has a flat tyre again.",
    "It has been raining here since Tuesday.",
    "The vending machine on our second floor takes coins only.",
    "My sister's new flat has a balcony.",
    "I prefer short answers in the evening.",
    "Our neighbour's cat sleeps on our doormat.",
    "I have to call the dentist tomorrow.",
    "The lift in our building is out of order.",
    "I like to work with the window open.",
    "We are painting the kitchen green this weekend.",
    "My train was twenty minutes late this morning.",
    "The bakery around the corner closes at noon on Wednesdays.",
    "I have started to learn the accordion.",
    "My desk is next to the printer.",
    "Our choir meets on Thursday nights.",
    "I keep my spare keys in a blue jar.",
    "The soup at the canteen was too salty today.",
    "My nephew collects bottle caps.",
    "I always forget where I parked.",
    "The hedge behind our house needs trimming.",
    "My alarm clock runs four minutes fast.",
    "Our team moved its weekly meeting to room 12.",
    "I bought a second pair of reading glasses.",
    "The coffee machine in the hallway was repaired last week.",
)


_LONGEST_ANSWER = 12  # words; a longer one is no longer said in passing


@dataclass(frozen=True)
class SimulatedFeedback:
    """What a simulated user says after a question was answered."""

    question_id: str
    kind: FeedbackKind
    message: str


@dataclass(frozen=True)
class Feedback:
    """One thing a simulated user says after a question."""

    kind: FeedbackKind
    message: str  # in a user's words
    claim: str  # what is said, by itself
    question: str
    answers: tuple[str, ...]  # the right ones
    passage_ids: frozenset[str]  # the passages that hold them
    is_statement: bool = True  # else the claim only names question and answer
    question_id: str = ""  # where the record has one


def simulated(
    asked: Sequence[Mapping[str, Any]],
    others: Sequence[Mapping[str, Any]],
    *,
    seed: int,
    is_near: bool = False,
    shares: Mapping[FeedbackKind, float] = SHARES,
) -> list[Feedback]:
    """One piece of feedback for each question, in their order.

    asked: records of a question file. others: those that wrong answers are taken from. A question for which
    no wrong answer is known is left out, and another kind is not put in its place.
    """
    rng = random.Random(f"{seed} feedback")
    kinds = [kind for kind, count in feedback_counts(len(asked), shares).items() for _ in range(count)]
    rng.shuffle(kinds)
    wrong = _WrongAnswers(others)
    found: list[Feedback] = []
    for record, kind in zip(asked, kinds, strict=True):
        answer = record["answers"][0].strip(" .,;:'\"")
        if kind == "wrong":
            other = wrong.of(record, rng, is_near=is_near)
            if other is None:
                continue
            answer = other
        found.append(_said(kind, record, answer, rng))
    return found


def said_after(questions: Sequence[ReplayQuestion], *, seed: int) -> dict[str, SimulatedFeedback]:
    """What a user says after these questions, by id; after those whose answer can be said in passing.

    Raises ValueError where too few of them can be answered wrongly.
    """
    records = {
        each.id: {
            "id": each.id,
            "question": each.text,
            "answers": list(each.answers),
            "passage_ids": sorted(each.gold or ()),
            "doc": each.topic,
        }
        for each in questions
        if each.answers
    }
    able = [each for each in questions if each.id in records and _can_be_said(records[each.id])]
    fit = sorted(able, key=lambda each: each.id)  # so that what is said hangs on no order
    others = [records[each.id] for each in fit]

    def tell(kind: FeedbackKind, some: Sequence[ReplayQuestion]) -> Mapping[str, str]:
        shares: dict[FeedbackKind, float] = {"right": 0.0, "wrong": 0.0, "unrelated": 0.0}
        told = simulated([records[each.id] for each in some], others, seed=seed, shares=shares | {kind: 1.0})
        return {one.question_id: one.message for one in told}

    return simulated_feedback(fit, tell, seed=seed)


def answerable(records: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The questions with a passage and an answer short enough to be said in passing."""
    return [record for record in records if record["passage_ids"] and _can_be_said(record)]


def _can_be_said(record: Mapping[str, Any]) -> bool:
    answer = record["answers"][0]
    return 0 < len(answer.split()) <= _LONGEST_ANSWER and bool(plain_words(answer))


def _said(kind: FeedbackKind, record: Mapping[str, Any], answer: str, rng: random.Random) -> Feedback:
    question = record["question"].strip()
    facts = (question, tuple(record["answers"]), frozenset(record["passage_ids"]))
    known_as = str(record.get("id", ""))
    if kind == "unrelated":
        text = rng.choice(UNRELATED)
        return Feedback(kind, text, text, *facts, question_id=known_as)
    made = statement(question, record["answers"][0])
    if made is not None:
        said = made.within_sentence(answer)
        message = rng.choice(STATED).format(said=said, Said=said[0].upper() + said[1:])
        return Feedback(kind, message, made.with_answer(answer), *facts, question_id=known_as)
    asked = question if question.endswith("?") else f"{question}?"
    message = rng.choice(ASIDES).format(question=asked, answer=answer)
    claim = f'The answer to "{asked}" is {answer}.'
    return Feedback(kind, message, claim, *facts, is_statement=False, question_id=known_as)


class _WrongAnswers:
    """The right answers of other questions, by what they are."""

    def __init__(self, records: Sequence[Mapping[str, Any]]) -> None:
        self._by_way: defaultdict[tuple[str, ...], list[tuple[str, str]]] = defaultdict(list)
        for record in records:
            answer = record["answers"][0].strip(" .,;:'\"")
            if answer:
                kind = kind_of(answer)
                self._by_way[kind, asked_for(record["question"])].append((record["doc"], answer))
                self._by_way[(kind,)].append((record["doc"], answer))

    def of(self, record: Mapping[str, Any], rng: random.Random, *, is_near: bool) -> str | None:
        """One that differs from every right answer of a question; None where there is none."""
        kind = kind_of(record["answers"][0])
        if is_near and kind == "phrase":
            return None  # another phrase of the same article is often right as well
        for way in ((kind, asked_for(record["question"])), (kind,)):
            fit = [
                answer
                for doc, answer in self._by_way[way]
                if (doc == record["doc"]) >= is_near and _is_other(answer, record)
            ]
            if fit:
                return rng.choice(fit)
        return None


def _is_other(answer: str, record: Mapping[str, Any]) -> bool:
    """Whether an answer is none of the right ones, not even in part, and does not stand in the question."""
    said = set(plain_words(answer))
    right = [set(plain_words(known)) for known in record["answers"]]
    asked = set(plain_words(record["question"]))
    return bool(said) and not said <= asked and all(not (said <= known or known <= said) for known in right)


def feedback_counts(total: int, shares: Mapping[FeedbackKind, float] = SHARES) -> dict[FeedbackKind, int]:
    """How many of each kind: whole numbers by largest remainder, together `total`. shares: together 1."""
    exact = {kind: total * share for kind, share in shares.items()}
    whole = {kind: int(number) for kind, number in exact.items()}
    by_remainder = sorted(exact, key=lambda kind: whole[kind] - exact[kind])
    for kind in by_remainder[: total - sum(whole.values())]:
        whole[kind] += 1
    return whole


def simulated_feedback(
    questions: Sequence[ReplayQuestion],
    tell: Tell,
    *,
    seed: int,
    shares: Mapping[FeedbackKind, float] = SHARES,
) -> dict[str, SimulatedFeedback]:
    """One piece of feedback for each question, by its id, in exactly these shares.

    Questions are taken in seeded order, whatever order they come in: first as many as are to be wrong, then
    those to be right, then the rest; one that `tell` leaves out waits for the next kind. Feedback is to be
    delivered after the question's own answer, or the answer is known before it is asked for. Raises
    ValueError where `tell` leaves out too many.
    """
    waiting = sorted(questions, key=lambda question: question.id)
    random.Random(f"{seed} feedback").shuffle(waiting)
    counts = feedback_counts(len(waiting), shares)
    found: dict[str, SimulatedFeedback] = {}
    for kind in sorted(counts, key=_SCARCEST_FIRST.index):
        said = tell(kind, waiting)
        chosen = [question.id for question in waiting if question.id in said][: counts[kind]]
        if len(chosen) < counts[kind]:
            raise ValueError(f"{counts[kind]} questions need {kind} feedback, but {len(chosen)} can have it")
        found |= {name: SimulatedFeedback(name, kind, said[name]) for name in chosen}
        waiting = [question for question in waiting if question.id not in found]
    return found


_SCARCEST_FIRST: tuple[FeedbackKind, ...] = ("wrong", "right", "unrelated")

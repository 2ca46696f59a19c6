"""Sentences are chosen by their own features and, where there is a reader, by what it found in them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

import numpy as np
import pytest
from agent_fakes import FixedEncoder, FixedReader, source

from agents.chat_interfaces import Source
from agents.quote_order import Quote
from agents.quoting import FEATURES, READ_FEATURES, Placed, Quoter, features, read
from agents.readings import Readings
from agents.sentences import sentences
from stores.clock import now

QUESTION = "When does the reading room open?"
OPENS = "The reading room opens at ten on weekdays, and at noon on Sundays."
LUNCH = "Lunch is served in the cafeteria."
ENCODER = FixedEncoder({QUESTION: (1, 0, 0, 0), OPENS: (0.8, 0.6, 0, 0), LUNCH: (0.8, 0, 0.6, 0)})


def quoter(reader: FixedReader | None) -> Quoter:
    return Quoter(ENCODER, threshold=0.0, quotes=3, readings=None if reader is None else Readings(reader))


def named(answers: dict[str, float], text: str = f"{LUNCH} {OPENS}") -> dict[str, str]:
    """The named answer of each sentence."""
    quotes = quoter(FixedReader(answers)).quotes(QUESTION, [source(1, text)])
    return {quote.text: quote.answer for quote in quotes}


def test_the_readers_answer_is_named_with_the_sentence_it_stands_in() -> None:
    assert named({"at ten": 0.8}) == {LUNCH: "", OPENS: "at ten"}


def test_an_unsure_answer_is_not_named() -> None:
    assert named({"at ten": 0.4})[OPENS] == ""  # none at all is likelier
    assert named({"at ten": 0.3, "at noon": 0.35, "cafeteria": 0.3})[OPENS] == ""  # none has half of it


def test_an_answer_that_is_most_of_the_sentence_is_not_named() -> None:
    assert named({OPENS[:-1]: 0.9})[OPENS] == ""


def test_an_answer_in_the_questions_own_words_is_not_named() -> None:
    assert named({"reading room": 0.9})[OPENS] == ""


def test_without_a_reader_no_answer_is_named() -> None:
    assert {quote.answer for quote in quoter(None).quotes(QUESTION, [source(1, OPENS)])} == {""}


def placed(*texts: str) -> list[Placed]:
    return [Placed("", text, 1, sentence) for text in texts for sentence in sentences(text)]


def test_what_was_read_adds_three_features_and_moves_no_other() -> None:
    some = placed(f"{LUNCH} {OPENS}")
    bare = features(ENCODER, QUESTION, some, {})
    readings = read(Readings(FixedReader({"at ten": 0.8})), QUESTION, some)
    with_reader = features(ENCODER, QUESTION, some, readings)
    assert bare.shape == (2, len(FEATURES))
    assert with_reader.shape == (2, len(READ_FEATURES))
    assert (with_reader[:, :5] == bare[:, :5]).all()
    answer, verdict = (
        READ_FEATURES.index("answer in the sentence"),
        READ_FEATURES.index("verdict on the passage"),
    )
    assert with_reader[1, answer] > 0 > with_reader[0, answer]
    assert with_reader[0, verdict] == with_reader[1, verdict] > 0  # of one passage
    assert (with_reader[:, verdict] == with_reader[:, verdict + 1]).all()  # which is all there are


def test_what_is_judged_of_all_passages_is_the_mean_of_their_log_odds() -> None:
    some = placed(OPENS, LUNCH)
    found = features(ENCODER, QUESTION, some, read(Readings(FixedReader({"at ten": 0.8})), QUESTION, some))
    verdict = READ_FEATURES.index("verdict on the passage")
    assert found[0, verdict] > found[1, verdict]
    assert np.allclose(found[:, verdict + 1], found[:, verdict].mean())


def test_certainty_stays_a_number() -> None:
    readings = read(Readings(FixedReader({"at ten": 1.0})), QUESTION, placed(f"{LUNCH} {OPENS}"))
    assert abs(features(ENCODER, QUESTION, placed(f"{LUNCH} {OPENS}"), readings)).max() < 10


def test_each_passage_is_read_once() -> None:
    reader = FixedReader({})
    quoter(reader).quotes(QUESTION, [source(1, f"{LUNCH} {OPENS}"), source(2, "Here is more. And more.")])
    assert len(reader.read_passages) == 2


TOLD = "The reading room opens at nine, I believe."


def quoted(*, threshold: float, quotes: int = 3) -> list[str]:
    encoder = FixedEncoder({QUESTION: (1, 0, 0, 0), OPENS: (0.7, 0.7, 0, 0), TOLD: (1, 0, 0, 0)})
    sources = [source(1, TOLD, kind="message"), source(2, OPENS)]
    best = Quoter(encoder, threshold=threshold, quotes=quotes).best_quotes(QUESTION, sources)
    return [quote.text for quote in best]


def test_beside_ones_own_words_stands_the_document_that_answers() -> None:
    assert quoted(threshold=0.01) == [TOLD, OPENS]
    assert quoted(threshold=0.01, quotes=1) == [OPENS]  # of one alone, the document's


def test_a_document_that_answers_too_little_is_not_quoted() -> None:
    encoder = FixedEncoder({QUESTION: (1, 0, 0, 0), TOLD: (1, 0, 0, 0)})
    sources = [source(1, TOLD, kind="message"), source(2, LUNCH)]
    best = Quoter(encoder, threshold=0.5, quotes=3).best_quotes(QUESTION, sources)
    assert [quote.text for quote in best] == [TOLD]


SAYS_NINE = "The reading room opens at nine."


def beside_the_shared(
    told: str, *, kind: str = "fact", question: str = QUESTION, read: bool = True
) -> list[Quote]:
    """What is quoted of a user's own sentence and an improbable one of a shared document."""
    known = {question: (1, 0, 0, 0), OPENS: (0.5, 0.866, 0, 0), told: (1, 0, 0, 0)}
    reader = Readings(FixedReader({"at ten": 0.6, "at nine": 0.9})) if read else None
    chosen = Quoter(FixedEncoder(known), threshold=0.5, unsure_from=0.01, quotes=3, readings=reader)
    return chosen.best_quotes(question, [source(1, told, kind=kind), source(2, OPENS)])


def texts(quotes: Sequence[Quote]) -> list[str]:
    return [quote.text for quote in quotes]


def test_what_is_only_stated_of_the_world_comes_behind_the_shared_passage_that_answers() -> None:
    assert texts(beside_the_shared(SAYS_NINE)) == [OPENS, SAYS_NINE]
    assert texts(beside_the_shared(SAYS_NINE, kind="message")) == [OPENS, SAYS_NINE]
    assert texts(beside_the_shared(SAYS_NINE, kind="note")) == [SAYS_NINE]  # kept on purpose
    assert texts(beside_the_shared(SAYS_NINE, read=False)) == [SAYS_NINE]
    mine = "My reading room opens at nine."
    assert texts(beside_the_shared(mine)) == [mine]
    asks_of_the_user = "When does my reading room open?"
    assert texts(beside_the_shared(SAYS_NINE, question=asks_of_the_user)) == [SAYS_NINE]


def test_a_shared_passage_on_something_else_does_not_come_before_what_was_stated() -> None:
    named = "When does the Velm reading room open?"
    told = "The Velm reading room opens at nine."
    assert texts(beside_the_shared(told, question=named)) == [told]  # the document names no Velm


def test_an_improbable_shared_passage_comes_first_as_one_that_may_answer() -> None:
    first, second = beside_the_shared(SAYS_NINE)
    assert (first.text, first.is_sure, first.answer) == (OPENS, False, "")
    assert (second.text, second.is_sure) == (SAYS_NINE, True)


def test_what_was_changed_beside_the_thing_asked_for_is_not_quoted() -> None:
    lyon, berlin = "I live in Lyon with my wife Marta.", "I moved to Berlin last week."
    later = replace(source(2, berlin, kind="fact").passage, created_at=now() + timedelta(days=1))
    sources = [source(1, lyon, kind="fact"), Source(2, later)]
    chosen = Quoter(FixedEncoder({}), threshold=0.3, quotes=3)
    assert [q.text for q in chosen.best_quotes("Who is my wife?", sources)] == [lyon]
    assert [q.text for q in chosen.best_quotes("Where do I live?", sources)] == [berlin, lyon]


def hedged(*, threshold: float, unsure_from: float) -> list[tuple[str, bool, str]]:
    chosen = Quoter(
        ENCODER,
        threshold=threshold,
        unsure_from=unsure_from,
        quotes=3,
        readings=Readings(FixedReader({"at ten": 0.8})),
    )
    best = chosen.best_quotes(QUESTION, [source(1, f"{LUNCH} {OPENS}")])
    return [(quote.text, quote.is_sure, quote.answer) for quote in best]


def test_what_is_too_improbable_is_quoted_as_what_may_help_or_not_at_all() -> None:
    (probable,) = {
        q.probability for q in quoter(FixedReader({"at ten": 0.8})).quotes(QUESTION, [source(1, OPENS)])
    }
    assert (OPENS, True, "at ten") in hedged(threshold=probable / 4, unsure_from=0.0)
    assert hedged(threshold=1.0, unsure_from=probable / 4) == [(OPENS, False, "")]
    assert hedged(threshold=1.0, unsure_from=1.0) == []


WIFE = "What is my wife's name?"
FACT, AGAIN = "My wife's name is Nora.", "my wife’s name is Nora"


@pytest.mark.parametrize(
    ("told", "quoted_from"),
    [
        ([("fact", FACT), ("message", AGAIN)], [1]),
        ([("message", AGAIN), ("fact", FACT)], [2]),
        ([("message", FACT), ("message", "I told you that my wife's name is Nora!")], [2]),
        ([("fact", FACT), ("message", "My brother says my wife's name is Nora.")], [1, 2]),
        ([("fact", FACT), ("message", "My wife's name is Nora Lund.")], [1, 2]),
        ([("document", FACT), ("message", AGAIN)], [1, 2]),
    ],
)
def test_what_a_user_said_in_the_same_words_is_quoted_once(
    told: list[tuple[str, str]], quoted_from: list[int]
) -> None:
    encoder = FixedEncoder({WIFE: (1, 0, 0, 0)} | {text: (0.95, 0.31, 0, 0) for _, text in told})
    sources = [source(number, text, kind=kind) for number, (kind, text) in enumerate(told, start=1)]
    best = Quoter(encoder, threshold=0.2, quotes=3).best_quotes(WIFE, sources)
    assert sorted(quote.source.number for quote in best) == quoted_from


@pytest.mark.parametrize(
    ("question", "told", "is_quoted"),
    [
        ("What did I use to have?", "I used 918273 for the alarm.", False),
        ("What did I use to drive?", "I use the alarm.", False),
        ("What did I use to have?", "I no longer use a cane.", True),
        ("What did I use to have?", "I used to have a tortoise.", True),
        ("What did I use to play on Sundays?", "On Sundays I used a ball.", True),
        ("What did I use for the alarm?", "I used 918273 for the alarm.", True),
    ],
)
def test_what_was_used_is_not_what_one_used_to_have(question: str, told: str, is_quoted: bool) -> None:
    encoder = FixedEncoder({question: (1, 0, 0, 0), told: (1, 0, 0, 0)})
    quotes = Quoter(encoder, threshold=0.0, quotes=3).best_quotes(question, [source(1, told, kind="fact")])
    assert texts(quotes) == ([told] if is_quoted else [])


def test_a_statement_of_another_person_is_not_quoted_for_the_one_that_is_asked_about() -> None:
    question, told = "What is my father's name?", "My name is Tobias Renner."
    encoder = FixedEncoder({question: (1, 0, 0, 0), told: (1, 0, 0, 0)})
    sources = [source(1, told, kind="fact")]
    assert Quoter(encoder, threshold=0.0, quotes=3).best_quotes(question, sources) == []


@pytest.mark.parametrize(
    ("message", "row", "is_quoted"),
    [
        ("privacy", "p | privacy", False),
        ("Privacy", "| `Ctrl+P` | privacy |", False),
        ("Which key is for privacy?", "p | privacy", True),
        ("How do I copy?", "y | copy the message", True),
        ("Who sits in seat A?", "A | Anna", True),
        ("Anna", "1 | Anna", True),
    ],
)
def test_a_row_of_a_table_of_keys_is_no_answer_to_its_own_word(
    message: str, row: str, *, is_quoted: bool
) -> None:
    quotes = Quoter(FixedEncoder({}), threshold=0.0, quotes=3).quotes(message, [source(1, row)])
    assert [quote.text for quote in quotes] == ([row] if is_quoted else [])

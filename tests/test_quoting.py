"""Sentences are chosen by their own features and, where there is a reader, by what it found in them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from agent_fakes import FixedEncoder, FixedReader, source

from agents.answering.quoting import (
    FEATURES,
    READ_FEATURES,
    REREAD,
    Placed,
    Quote,
    Quoter,
    features,
    of_named_options,
    read,
)
from agents.base.chat_interfaces import Source
from agents.base.sentences import sentences
from agents.retrieval.reader_judge import Readings

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
    assert (with_reader[:, :4] == bare[:, :4]).all()
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


def test_what_is_too_improbable_is_not_quoted() -> None:
    def quoted(threshold: float) -> list[tuple[str, str]]:
        readings = Readings(FixedReader({"at ten": 0.8}))
        chosen = Quoter(ENCODER, threshold=threshold, quotes=3, readings=readings)
        best = chosen.best_quotes(QUESTION, [source(1, f"{LUNCH} {OPENS}")])
        return [(quote.text, quote.answer) for quote in best]

    assert (OPENS, "at ten") in quoted(0.01)
    assert quoted(1.0) == []


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


@pytest.mark.parametrize(("cosine", "first"), [(0.76, "At ten."), (0.74, LUNCH)])
def test_under_a_heading_that_asks_the_same_the_first_sentence_answers(cosine: float, first: str) -> None:
    heading = "When is it open?"
    near = (cosine, 0, 0, (1 - cosine**2) ** 0.5)
    encoder = FixedEncoder({QUESTION: (1, 0, 0, 0), heading: near, LUNCH: (0.8, 0, 0.6, 0)})
    asks = replace(source(1, "At ten. It closes at six.").passage, title=f"House rules › Who? {heading}")
    found = Quoter(encoder, threshold=0.3, quotes=1).ranked(QUESTION, [source(2, LUNCH), Source(1, asks)])
    assert found[0].text == first
    assert len({quote.text for quote in found}) == len(found) == 3


def reading_twice(first: FixedReader, second: FixedReader) -> Quoter:
    return Quoter(
        ENCODER, threshold=0.0, quotes=3, readings=Readings(first), rereadings=lambda: Readings(second)
    )


def test_the_second_reading_decides_which_sentence_answers_and_in_which_words() -> None:
    text = f"{LUNCH} {OPENS}"
    twice = reading_twice(FixedReader({"cafeteria": 0.9}), FixedReader({"at ten": 0.9}))
    best = twice.ranked(QUESTION, [source(1, text)])[0]
    assert (best.text, best.answer) == (OPENS, "at ten")
    once = quoter(FixedReader({"cafeteria": 0.9})).ranked(QUESTION, [source(1, text)])
    assert best.probability > {quote.text: quote.probability for quote in once}[OPENS]


def test_only_the_best_passages_are_read_a_second_time_and_shown() -> None:
    second = FixedReader({})
    texts = [f"{OPENS[:-1]}, in {year}." for year in range(1990, 1990 + REREAD + 2)]
    found = reading_twice(FixedReader({}), second).ranked(
        QUESTION, [source(n, t) for n, t in enumerate(texts)]
    )
    assert len(second.read_passages) == REREAD
    assert {quote.text for quote in found} == set(second.read_passages)


def test_the_second_reading_reads_below_the_headings_and_finds_no_answer_in_them() -> None:
    told = replace(source(1, OPENS).passage, title="Handbook › Hours")
    second = FixedReader({"at ten": 0.9})
    (quote,) = reading_twice(FixedReader({}), second).ranked(QUESTION, [Source(1, told)])
    assert second.read_passages == [f"Handbook › Hours\n{OPENS}"]
    assert (quote.answer, OPENS[slice(*quote.place)]) == ("at ten", OPENS)
    heading_alone = FixedReader({"Hours": 0.9})
    (quote,) = reading_twice(FixedReader({}), heading_alone).ranked(QUESTION, [Source(1, told)])
    assert quote.answer == ""


def test_the_large_reader_is_not_asked_for_where_nothing_was_found() -> None:
    def never() -> Readings:
        raise AssertionError

    assert Quoter(ENCODER, threshold=0.0, quotes=3, rereadings=never).ranked(QUESTION, []) == []


def test_an_answer_in_the_term_of_an_entry_counts_for_its_definition() -> None:
    entry = "--capath <dir>\nUses the certificates of a folder, for all requests."
    twice = reading_twice(FixedReader({}), FixedReader({"--capath": 0.9}))
    (quote,) = twice.ranked(QUESTION, [source(1, entry)])
    assert (quote.term, quote.answer) == ("--capath <dir>", "--capath")
    assert entry[slice(*quote.place)] == entry


def quoted(term: str, *texts: str, passage: str = "") -> list[Quote]:
    told = passage or f"{term}\n{' '.join(texts)}"
    return [Quote(source(1, told), text, 0.4, term=term) for text in texts]


def test_of_an_option_that_is_named_its_entry_answers_and_first_its_first_sentence() -> None:
    lower, upper = (
        quoted("-m, --merge", "Merges files."),
        quoted("-M, --month", "Compares months.", "JAN is first."),
    )
    found = of_named_options("what does -M do?", [*lower, *upper])
    assert [quote.text for quote in found] == ["Merges files.", "Compares months.", "JAN is first."]
    least, first, second = (quote.probability for quote in found)
    assert least == 0.4 < second < first < 1.0
    assert of_named_options("what merges files?", [*lower, *upper]) == [*lower, *upper]


def test_where_two_entries_are_of_the_option_that_is_named_nothing_changes() -> None:
    both = [*quoted("-U, --upgrade", "Upgrades."), *quoted("-U, --proxy-user", "Names a user.")]
    assert of_named_options("what does -U do?", both) == both

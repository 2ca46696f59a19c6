"""What a passage is found to say of a claim."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest
from agent_fakes import FixedReader, candidate, passage
from hypothesis import given
from hypothesis import strategies as st

from agents.base.interfaces import Candidate, Reading, Verification
from agents.base.values import content
from agents.memory.claim_evidence import Filled, as_written_in, gaps, log_odds, missing_gap, seen

TESLA = "He was an engineer. Nikola Tesla was born in 1856 in Smiljan. He moved to New York in 1884."


class Recorder(FixedReader):
    """Supports everything by half, and remembers what it was asked and shown."""

    def __init__(self, answers: Mapping[str, float]) -> None:
        super().__init__(answers)
        self.verified: list[tuple[str, str]] = []
        self.questions: list[str] = []

    def read(self, question: str, passages: Sequence[str], *, best: int = 3) -> list[Reading]:
        self.questions.append(question)
        return super().read(question, passages, best=best)

    def verify(self, pairs: Sequence[tuple[str, str]]) -> list[Verification]:
        self.verified += pairs
        return [Verification(0.5, 0.3, 0.2) for _ in pairs]


def titled(text: str, title: str) -> Candidate:
    return Candidate(passage(1, text, title=title), 0.5, 1.0, 0.0, 1.0, 1)


def test_a_passage_is_verified_whole_and_by_the_sentence_that_holds_most_of_the_claim() -> None:
    reader = Recorder({})
    claim = "Tesla was born in Smiljan."
    (found,) = seen(reader, claim, [candidate(1, TESLA)])
    assert reader.verified == [
        (claim, TESLA),
        (claim, "Nikola Tesla was born in 1856 in Smiljan."),
    ]
    assert found.window == "He was an engineer. Nikola Tesla was born in 1856 in Smiljan."
    assert (found.pair_share, found.words_missing) == (1.0, 0)


def test_numbers_and_names_that_are_not_there_are_counted() -> None:
    (found,) = seen(Recorder({}), "Tesla moved to Paris in 1856.", [candidate(1, TESLA)])
    assert (found.passage_numbers_missing, found.passage_names_missing) == (0, 1)
    (other,) = seen(Recorder({}), "Tesla moved to New York in 1885.", [candidate(1, TESLA)])
    assert (other.numbers_missing, other.names_missing) == (1, 0)


def test_a_title_says_what_its_passage_is_about() -> None:
    claim = "Tesla was born in Smiljan."
    (bare,) = seen(Recorder({}), claim, [candidate(1, "He was born in Smiljan.")])
    (named,) = seen(Recorder({}), claim, [titled("He was born in Smiljan.", "Nikola_Tesla")])
    assert (bare.passage_names_missing, named.passage_names_missing) == (1, 0)


def test_the_reader_is_shown_numbers_as_the_passage_writes_them() -> None:
    assert (
        as_written_in("It is 1,230 km long.", "It is 1230 kilometres long.") == "It is 1,230 kilometres long."
    )
    assert as_written_in("Open until 17:00.", "It closes at 5 pm or at 9.") == "It closes at 17:00 or at 9."


def test_one_that_denies_what_the_other_says() -> None:
    text = "The pool is heated."
    (found,) = seen(Recorder({}), "The pool is not heated.", [candidate(1, text)])
    assert found.is_negated_otherwise
    (same,) = seen(Recorder({}), text, [candidate(1, text)])
    assert not same.is_negated_otherwise


@pytest.mark.parametrize(
    ("claim", "expected"),
    [
        ("Oxygen is used in respiration.", ["Who is used in respiration?", "Oxygen is used in what?"]),
        (
            "Tesla was born on 10 July 1856.",
            ["Who was born on 10 July 1856?", "Tesla was born on what date?"],
        ),
        ("The Rhine is 1,230 km long.", ["The what is 1,230 km long?", "The Rhine is how many km long?"]),
        (
            "Emma was written by Jane Austen.",
            ["Who was written by Jane Austen?", "Emma was written by whom?"],
        ),
        ("The war ended in 1945", ["The war ended in what year?"]),
    ],
)
def test_a_claim_is_asked_with_a_gap_for_each_value(claim: str, expected: list[str]) -> None:
    assert [gap.question for gap in gaps(claim)] == expected


def test_a_question_that_the_claim_quotes_is_asked_as_it_is() -> None:
    reader = Recorder({"Jane Austen": 0.8})
    (found,) = seen(
        reader, 'The answer to "Who wrote Emma?" is Austen.', [candidate(1, "Jane Austen wrote Emma.")]
    )
    assert set(reader.questions) == {"Who wrote Emma?"}
    (filled,) = found.filled
    assert tuple(filled) == pytest.approx(Filled(0.8, 0.0, 0.2))


def test_what_fills_a_gap_agrees_with_the_claim_or_does_not() -> None:
    reader = Recorder({"1856": 0.7, "1884": 0.2})
    (found,) = seen(reader, "Nikola Tesla was born in 1884.", [titled(TESLA, "Nikola Tesla")])
    (filled,) = found.filled
    assert tuple(filled) == pytest.approx(Filled(0.2, 0.7, 0.1))


def test_the_words_that_are_not_there_are_what_is_asked_for() -> None:
    there = frozenset(content("The size of the range affects the climate in Europe."))
    gap = missing_gap("The stube affects the climate in Europe.", there)
    assert gap is not None
    assert gap.value == "stube"
    assert missing_gap("The range affects the climate.", there) is None


def test_two_passages_are_asked_those_that_hold_most() -> None:
    reader = Recorder({})
    texts = ["Lunch.", "Tesla was born in Smiljan.", "Tesla lived in Smiljan.", "Dinner."]
    found = seen(reader, "Tesla was born in Smiljan.", [candidate(n, t) for n, t in enumerate(texts, 1)])
    assert [bool(one.filled) for one in found] == [False, True, True, False]


@given(st.text(max_size=200), st.lists(st.text(max_size=200), max_size=3))
def test_any_claim_and_any_passages_are_looked_at(claim: str, texts: list[str]) -> None:
    candidates = [candidate(number, text) for number, text in enumerate(texts, 1)]
    found = seen(Recorder({}), claim, candidates)
    assert [one.candidate for one in found] == candidates
    for one in found:
        assert 0 <= one.pair_share <= one.passage_share <= 1
        assert one.passage_numbers_missing <= one.numbers_missing


@given(st.floats(0, 1))
def test_log_odds_are_bounded(probability: float) -> None:
    assert abs(log_odds(probability)) < 4.7
    assert log_odds(probability) == pytest.approx(-log_odds(1 - probability))

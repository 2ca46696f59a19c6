"""A judge over retrieval scores."""

from __future__ import annotations

from agent_fakes import candidate
from hypothesis import given
from hypothesis import strategies as st

from agents.retrieval.score_judge import ScoreJudge, answer_probability, shared_words
from stores.words.lexical import tokens

share = st.floats(0, 1)


@given(st.floats(-1, 1), st.floats(-1, 1), share, share)
def test_more_alike_is_never_less_probable(a: float, b: float, words: float, more_words: float) -> None:
    low, high = sorted((a, b))
    fewer, more = sorted((words, more_words))
    assert 0 < answer_probability(low, fewer) <= answer_probability(high, more) < 1


def test_the_share_of_the_questions_words() -> None:
    wanted = set(tokens("reading room opening hours"))
    assert shared_words(wanted, "The reading rooms were open.") == 0.75  # read, room, open of four
    assert shared_words(set(), "anything") == 0.0


def test_a_near_passage_answers_and_a_far_one_does_not() -> None:
    question = "When does the reading room open?"
    judged = ScoreJudge().judge(
        question,
        [
            candidate(1, "The reading room opens at ten.", dense=0.85),
            candidate(2, "Lunch is at noon.", dense=0.05),
        ],
    )
    near, far = judged.verdicts
    assert near is not None
    assert near.label == "answer"
    assert far is not None
    assert far.label == "irrelevant"


def test_a_message_that_only_asks_answers_nothing() -> None:
    question = "What is my cat's name?"
    (verdict,) = ScoreJudge().judge(question, [candidate(1, question, dense=1.0, kind="message")]).verdicts
    assert verdict is not None
    assert verdict.label == "irrelevant"


def test_it_costs_no_tokens() -> None:
    judged = ScoreJudge().judge("q", [candidate(1)])
    assert (judged.tokens_in, judged.tokens_out) == (0, 0)

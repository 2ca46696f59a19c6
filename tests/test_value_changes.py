"""Which statements are the same, and which change one value of another."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.value_changes import Change, are_swapped, change, is_negated, puts_right

CASES: list[tuple[str, str, Change]] = [
    ("My locker number is 214", "My locker is now 310", "value"),
    ("My favourite colour is blue", "My favorite color is green now", "value"),
    ("I live in Paris", "I live in Rome", "value"),
    ("Emma was written by Jane Austen.", "Emma was written by Charlotte Brontë.", "value"),
    ("I have two dogs", "I have 3 dogs.", "value"),
    ("My doctor is Dr. Smith", "My doctor is Dr. Jones", "value"),
    ("The exam is on 10 July", "The exam is on 12 July", "value"),
    ("The capital of Australia is Sydney", "The capital of Australia is Canberra", "value"),
    ("The pool is heated", "The pool is not heated", "negated"),
    ("The pool is heated", "The pool isn't heated", "negated"),
    ("I have two dogs", "I have 2 dogs.", "same"),
    ("It opens at 5 pm", "It opens at 17:00", "same"),
    ("Oslo is the capital of Norway", "The capital of Norway is Oslo", "same"),
    ("I like tea", "I like coffee", "other"),
    ("Anna lives in Paris", "Ben lives in Paris", "other"),
    ("My dog is brown", "My dog is friendly", "other"),
    ("My friend is Anna", "My friend is Ben", "other"),
    ("I have a dog", "I have a cat", "other"),
    ("Anna beat Ben", "Ben beat Anna", "other"),
    ("I ran 5 km on Monday", "I ran 10 km on Tuesday", "other"),
    ("The shop opens at 9:00", "The shop has 9 doors", "other"),
    ("Ann is not in Rome", "Ann is in Oslo", "other"),
    ("My phone number is 111", "My phone number was 222", "other"),
    ("My rent is 900 euros", "My rent would be 700 euros", "other"),
    ("My deadline is 3 May", "My deadline was changed to 5 May", "value"),
    ("My boss is Anna", "My boss is Irish", "other"),
    ("My wife is called Nora", "My wife is Finnish", "other"),
    ("My doctor is Dr Weil", "My doctor is Dr French", "value"),
]


@pytest.mark.parametrize(("one", "other", "expected"), CASES)
def test_what_one_statement_does_to_another(one: str, other: str, expected: Change) -> None:
    assert change(one, other) == change(other, one) == expected


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("My locker number is 214", "I no longer have a locker"),
        ("The pool is heated", "The pool is not heated any more"),
    ],
)
def test_a_withdrawal_gives_no_new_value(old: str, new: str) -> None:
    assert change(old, new) == "withdrawn"
    assert change(new, old) in ("negated", "other")


def test_a_withdrawal_of_something_else_is_none() -> None:
    assert change("My locker number is 214", "I no longer have a car") == "other"


def test_who_did_it_to_whom_is_not_the_same_the_other_way_round() -> None:
    assert are_swapped("Anna beat Ben", "Ben beat Anna")
    assert not are_swapped("Anna beat Ben", "Anna had beaten Ben")


def test_two_denials_deny_nothing() -> None:
    assert is_negated("It is not heated")
    assert not is_negated("It is not true that it is not heated")


statements = st.lists(
    st.sampled_from(
        "my the locker number is was not no longer now 214 310 twelve Anna Ben lives in Paris on Monday and "
        "favourite colour blue green wrote sold . , isn't".split()
    ),
    max_size=9,
).map(" ".join)


@given(statements, statements)
def test_a_change_holds_in_both_directions_unless_it_withdraws(one: str, other: str) -> None:
    there, back = change(one, other), change(other, one)
    assert there == back or "withdrawn" in (there, back)
    if "withdrawn" in (there, back):
        assert {there, back} <= {"withdrawn", "negated", "other"}


@given(statements | st.text(max_size=100))
def test_a_statement_never_changes_itself(one: str) -> None:
    assert change(one, one) in ("same", "other")
    assert change(one, f"{one} ") in ("same", "other")


@given(statements, statements)
def test_only_statements_with_a_word_in_common_change_each_other(one: str, other: str) -> None:
    shared = set(one.casefold().split()) & set(other.casefold().split())
    if not shared and change(one, other) in ("value", "negated"):
        raise AssertionError((one, other))


@given(st.text(max_size=400), st.text(max_size=400))
def test_any_texts_can_be_compared(one: str, other: str) -> None:
    change(one, other)


def test_where_a_mistake_is_admitted_the_last_word_may_be_of_many() -> None:
    old, new = "I am allergic to walnuts.", "I am allergic to hazelnuts."
    assert puts_right(old, new, admits=True)
    assert not puts_right(old, new)
    assert not puts_right(old, "I am allergic to walnuts.", admits=True)
    assert not puts_right(old, "I am not allergic to hazelnuts.", admits=True)
    assert not puts_right("I like tea.", new, admits=True)

"""Which sentences state several things, what each of these says, and when a sentence stays whole."""

from __future__ import annotations

import re
import time
from pathlib import Path

import pytest
from cli_helpers import Vouch
from hypothesis import given, settings
from hypothesis import strategies as st

from agents.claim_interfaces import Said
from agents.claim_rules.statements import MOST_STATEMENTS
from agents.interfaces import Exchange
from agents.joined_clauses import apart
from agents.reader_summarizer import candidates

JOINED = [
    (
        "My name is Tom and I am a nurse and study law.",
        ["My name is Tom.", "I am a nurse.", "I study law."],
    ),
    ("I live in Oslo and my sister lives in Rome.", ["I live in Oslo.", "My sister lives in Rome."]),
    (
        "My locker number is 214, and I prefer short answers.",
        ["My locker number is 214.", "I prefer short answers."],
    ),
    ("I live in Oslo; my brother lives in Bergen.", ["I live in Oslo.", "My brother lives in Bergen."]),
    ("My bus is at 8, my shift is at 9.", ["My bus is at 8.", "My shift is at 9."]),
    ("I like tea but my wife prefers coffee.", ["I like tea.", "My wife prefers coffee."]),
    (
        "I am 34 years old, I live in Oslo and I work at Beta.",
        ["I am 34 years old.", "I live in Oslo.", "I work at Beta."],
    ),
    ("I'm a nurse and my husband's a teacher.", ["I'm a nurse.", "My husband's a teacher."]),
    ("i live in oslo and my sister lives in rome", ["I live in oslo.", "My sister lives in rome."]),
    (
        "My wife and I live in Oslo and my son lives in Rome.",
        ["My wife and I live in Oslo.", "My son lives in Rome."],
    ),
    ("I like rock and roll and my wife likes jazz.", ["I like rock and roll.", "My wife likes jazz."]),
    (
        "The Velmar mill burned in 1902 and the Arden museum is free.",
        ["The Velmar mill burned in 1902.", "The Arden museum is free."],
    ),
    (
        "I moved to Berlin and my boss is Ann.",
        ["I moved to Berlin.", "My boss is Ann."],
    ),  # two things changed
    (
        "I live in Oslo and my sister lives in Rome with her husband.",
        ["I live in Oslo.", "My sister lives in Rome with her husband."],
    ),
]
RESOLVED = [
    ("My brother Tom lives in Rome and he is a cook.", "My brother Tom is a cook."),
    ("I have a dog and he is called Rex.", "My dog is called Rex."),
    ("My parents live in Porto, and they are retired.", "My parents are retired."),
    ("I bought a car and it is red.", "My car is red."),
    ("My wife Nora is a nurse and she loves her job.", "My wife Nora loves her job."),
]
SHARED = [
    ("I live in Oslo and work at Beta.", "I work at Beta."),
    ("My brother Tom lives in Rome and works at Beta.", "My brother Tom works at Beta."),
    ("I love to live in Oslo and work at Beta.", None),
    ("I have time and work to do.", None),
    ("I was born in Aarhus and grew up near the harbour.", None),
    ("My train leaves at 8 and arrives at 10.", None),
]
WHOLE = [
    # names and lists
    "My stereo is from Bang and Olufsen.",
    "I like bread and butter, rock and roll, and tea.",
    "My cats are Tom and Jerry and they are old.",
    "My wife and I live in Oslo.",
    "I like Tom, and my sister and I went to Rome.",
    "I live in Oslo and Tom and Ann went to Rome.",
    "I have a meeting at 3 and a flight at 5.",
    # one clause depends on the other, or on what is around both
    "I stay in Oslo because I like it and my son goes to school.",
    "If I win I buy a boat and my brother gets a car.",
    "I cycle when it is dry and my bike is repaired.",
    "I have an aunt who lives in Rome and my uncle lives in Bonn.",
    "I moved so that my son is near and my wife is happy.",
    "I know Tom lives in Rome and Ann lives in Oslo.",
    "Not only do I live in Oslo but my sister lives in Rome.",
    "In summer I swim and my sister runs.",
    "I don't live in Oslo but I live in Rome.",
    "I live in Oslo and my parents live there.",
    "I love the opera and my wife does not.",
    "My aunt lives in Rome and my uncle does too.",
    "My son is tall and my daughter is taller.",
    "I have one brother and my wife has two.",
    "I live in Oslo and my sister in Rome.",
    "My pin is 12 and my wife's is 34.",
    "I am vegan and I have been for years.",
    "The mill is 9 m high and the hall is 20 m.",
    "The left door is locked and the right is open.",
    "The red cup is mine and the blue one is Ann's.",
    "My son Ove is 9 and Lise is 12.",  # Lise is the user's too
    "I have a new job and the boss is nice.",
    "The museum opened in 1921 and the entrance is free.",
    # who is meant?
    "My sister works with Ulla and she is a nurse.",
    "My brother has a dog and he is old.",
    "I work with Tom and I like him.",
    "I take 20 mg of Zolan and it helps me.",
    "I have two brothers and we are close.",
    "My mother is Ann and my aunt hates her.",
    # one change, told in two clauses
    "I changed jobs, I'm at the library now.",
    "Renate retired and Piet is my boss now.",
    "We moved last week, the new address is 3 Mill Lane.",
    "I left Acme and I work at Beta.",
    # others' words, suppositions, wishes, questions and orders
    "My doctor says I have gout and my knee is fine.",
    "I live in Oslo and my sister says Rome is nice.",
    'I said "I live in Oslo and my sister lives in Rome".',
    "I live in Oslo but I might move to Rome.",
    "I would like a dog and my wife has a cat.",
    "Does the museum open at nine and is the ferry free?",
    "My pin is 1234 and please keep answers short.",
    "My dentist is on Monday, no, Tuesday.",
    "Ich wohne in Berlin und my sister lives in Rome.",
]


@pytest.mark.parametrize(("sentence", "stated"), JOINED)
def test_each_clause_that_stands_on_its_own_is_a_statement(sentence: str, stated: list[str]) -> None:
    assert apart(sentence) == stated


@pytest.mark.parametrize(("sentence", "second"), RESOLVED)
def test_a_pronoun_is_replaced_by_what_the_clause_before_is_of(sentence: str, second: str) -> None:
    assert apart(sentence)[1:] == [second]


@pytest.mark.parametrize(("sentence", "second"), SHARED)
def test_a_subject_is_repeated_where_it_is_surely_shared(sentence: str, second: str | None) -> None:
    assert apart(sentence)[1:] == ([second] if second else [])


@pytest.mark.parametrize("sentence", WHOLE)
def test_in_doubt_a_sentence_stays_whole(sentence: str) -> None:
    assert apart(sentence) == [sentence]


def told(message: str, *earlier: str) -> list[tuple[str, str]]:
    """What the rules take as stated, with its quote."""
    before = tuple(Exchange(each, each, "Noted.", number) for number, each in enumerate(earlier, start=1))
    return [(each.text, each.quote) for each in candidates(Said(message, before))]


def test_each_claim_quotes_its_own_words_and_together_they_are_the_sentence() -> None:
    assert told("Hi! My pin is 4213, and I live  in Oslo; my car is **red**. Bye.") == [
        ("My pin is 4213.", "My pin is 4213"),
        ("I live in Oslo.", "and I live  in Oslo"),
        ("My car is red.", "my car is **red**."),
    ]


def test_what_leads_into_a_sentence_is_quoted_with_its_first_claim() -> None:
    assert told("Please remember that my pin is 4213 and my car is red, by the way.") == [
        ("My pin is 4213.", "Please remember that my pin is 4213"),
        ("My car is red.", "and my car is red, by the way."),
    ]


@pytest.mark.parametrize(
    "message",
    [
        "I know that my pin is 4213 and my car is red.",  # do I know both?
        "I think my boss is Ann and my doctor is Bob.",
        "My pin is 4213, no, 4231, and my car is red.",
        "My sister is Ann and my brother is Ben, no, my sister is Anna.",
    ],
)
def test_what_leads_in_or_is_put_right_holds_of_the_whole(message: str) -> None:
    assert len(told(message)) == 1


def test_a_pronoun_that_opens_a_sentence_means_what_was_told_before_it() -> None:
    assert [text for text, _ in told("My aunt Ida is 80. She lives in Bonn and my uncle lives in Ulm.")] == [
        "My aunt Ida is 80.",
        "My aunt Ida lives in Bonn.",
        "My uncle lives in Ulm.",
    ]


def test_a_correction_puts_right_the_claim_that_it_means_alone() -> None:
    said = "My pin is 4213 and my locker is in room 12."
    assert [text for text, _ in told("I meant 4231.", said)] == ["My pin is 4231."]
    assert [text for text, _ in told(f"{said} I meant 4231.")][2:] == ["My pin is 4231."]


def test_the_bound_of_statements_counts_clauses() -> None:
    message = " ".join(
        f"My code {number} is {number} and my box {number} is {number}." for number in range(40)
    )
    assert len(told(message)) == MOST_STATEMENTS


@settings(max_examples=200)
@given(
    st.lists(
        st.sampled_from(
            [
                "I live",
                "in Oslo",
                "and",
                "but",
                ",",
                ";",
                "my sister",
                "is",
                "Tom",
                "he",
                "it",
                "the",
                "a cook",
                "not",
                "’s",
                "ß",
            ]
        ),
        max_size=14,
    )
)
def test_quotes_are_words_of_the_message_in_their_order(words: list[str]) -> None:
    message = " ".join(words)
    place = 0
    for _, quote in told(message):
        place = message.index(quote, place) + len(quote)


@pytest.mark.parametrize(
    "piece",
    [
        "and ",
        "and I ",
        "my a ",
        "the ",
        ", ",
        "; and ",
        "A ",
        "I live in Oslo and ",
        "it ",
        " ",
        "or my a, ",
        "is ",
    ],
)
def test_hostile_text_is_read_in_time_that_grows_with_its_length(piece: str) -> None:
    begin = time.process_time()
    for length in (360, 30_000):
        text = f"I live in Oslo and {piece * (length // len(piece))}my dog is old."
        apart(text)
        told(text)
        told(text.replace(" and ", ". "))
    assert time.process_time() - begin < 10  # seconds; under 0.1 measured, and hours if it tried all ways


# In the chat -------------------------------------------------------------------------------------


@pytest.fixture
def vouch(tmp_path: Path, minilm_folder: Path) -> Vouch:
    return Vouch(tmp_path / "home", minilm_folder.parent)


def kept(vouch: Vouch) -> dict[str, str]:
    """What is known, with its kind."""
    lines = vouch.run("memory", "list", "--json").objects
    return {line["text"]: line["kind"] for line in lines if line["kind"] != "message"}


def test_two_claims_of_one_sentence_are_kept_changed_and_undone(vouch: Vouch) -> None:
    told = vouch.chat("My locker number is 214, and I prefer short answers.")
    numbers = re.findall(r"/undo (\d+) takes it back", told)
    assert len(numbers) == 2
    assert kept(vouch) == {"My locker number is 214.": "fact", "I prefer short answers.": "preference"}
    assert "214" in vouch.chat("What is my locker number?")
    vouch.chat("My locker number is 310.")
    assert kept(vouch) == {"My locker number is 310.": "fact", "I prefer short answers.": "preference"}


def test_one_undo_takes_back_both_claims_of_a_sentence(vouch: Vouch) -> None:
    vouch.chat("I live in Oslo and my sister lives in Rome.")
    assert "Took back 2 facts of one message" in vouch.run("chat", "--last", stdin="/undo\n").out
    assert kept(vouch) == {}


def test_forgetting_one_half_of_a_sentence_leaves_the_other(vouch: Vouch) -> None:
    vouch.chat("I live in Oslo and my sister lives in Rome.")
    lines = vouch.run("memory", "list", "--json").objects
    [sister] = [line["passage"] for line in lines if "sister" in line["text"]]
    vouch.run("memory", "forget", str(sister), "--yes")
    assert kept(vouch) == {"I live in Oslo.": "fact"}

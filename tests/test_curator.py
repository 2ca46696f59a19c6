"""What a claim changes in the space it goes to: a row of the decision table each."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence

import pytest
from agent_fakes import FixedReader, passage
from hypothesis import given
from hypothesis import strategies as st

from agents.claim_interfaces import Claim, Curation, Evidence, Status, Weighed
from agents.curator import RuleCurator
from agents.interfaces import Candidate, Verification
from stores.passages import SHARED

MINE = "user:1"
SAYS_NOTHING = Verification(0.05, 0.05, 0.9)


class Verifier(FixedReader):
    """Finds that some evidence supports or refutes some claims; all else says nothing."""

    def __init__(self, known: Mapping[tuple[str, str], Verification] | None = None) -> None:
        super().__init__({})
        self._known = known or {}

    def verify(self, pairs: Sequence[tuple[str, str]]) -> list[Verification]:
        return [self._known.get(pair, SAYS_NOTHING) for pair in pairs]


SUPPORTS = Verification(0.95, 0.03, 0.02)


def near(text: str, cosine: float, *, kind: str = "note", space: str = MINE, number: int = 1) -> Candidate:
    return Candidate(passage(number, text, kind=kind, space=space), cosine, 1.0, 0.0, cosine, number)


def claim(text: str) -> Claim:
    return Claim(text, text, "fact", "world")


def curated(
    text: str,
    nearest: Sequence[Candidate],
    *,
    status: Status = "unknown",
    reader: Verifier | None = None,
    evidence: tuple[Evidence, ...] = (),
) -> Curation:
    weighed = Weighed(status, 0.9, evidence)
    return asyncio.run(RuleCurator(reader or Verifier()).curate(claim(text), weighed, nearest))


def outcome(curation: Curation) -> tuple[str, int | None, str]:
    changed = curation.passage
    return curation.action, None if changed is None else changed.version_id, curation.text


def test_what_is_on_no_known_topic_is_added() -> None:
    text = "My locker number is 214."
    assert outcome(curated(text, [])) == ("add", None, text)
    assert outcome(curated(text, [near("I like tea.", 0.59)])) == ("add", None, text)


def test_what_is_on_a_known_topic_and_contradicts_nothing_is_added() -> None:
    text = "My locker is next to the lift."
    assert outcome(curated(text, [near("My locker number is 214.", 0.8)])) == ("add", None, text)


def test_what_is_known_already_changes_nothing() -> None:
    known = near("I have 2 dogs.", 0.95)
    assert outcome(curated("I have two dogs.", [known])) == ("nothing", 1, "")


def test_the_same_in_other_words_is_known_where_each_entails_the_other() -> None:
    one, other = "My flat is on the third floor.", "I live on floor 3."
    both = Verifier({(one, other): SUPPORTS, (other, one): SUPPORTS})
    text = "The car park is on the 3rd floor."
    assert curated(one, [near(other, 0.92)], reader=both).action == "add"  # 3rd and 3 are no equal numbers
    same = Verifier({(one, text): SUPPORTS, (text, one): SUPPORTS})
    assert outcome(curated(one, [near(text, 0.92)], reader=same)) == ("nothing", 1, "")
    assert curated(one, [near(text, 0.92)], reader=Verifier({(one, text): SUPPORTS})).action == "add"
    assert curated(one, [near(text, 0.89)], reader=same).action == "add"


def test_what_repeats_the_known_and_says_more_is_no_duplicate() -> None:
    one, other = "The mill grinds wheat these days, in place of rye.", "The mill grinds rye."
    both = Verifier({(one, other): SUPPORTS, (other, one): SUPPORTS})
    assert curated(one, [near(other, 0.95)], reader=both).action == "add"
    assert curated(other, [near(one, 0.95)], reader=both).action == "nothing"  # it says less


def test_who_did_it_to_whom_is_no_duplicate() -> None:
    one, other = "Anna beat Ben.", "Ben beat Anna."
    both = Verifier({(one, other): SUPPORTS, (other, one): SUPPORTS})
    assert curated(one, [near(other, 0.99)], reader=both).action == "add"


def test_a_new_value_makes_a_new_version() -> None:
    new = "My locker is now 310."
    assert outcome(curated(new, [near("My locker number is 214.", 0.8)])) == ("modify", 1, new)


def test_only_the_sentence_that_is_contradicted_is_replaced() -> None:
    old = near("I started in May. My locker number is 214. It is blue.", 0.7)
    curation = curated("My locker is now 310.", [old])
    assert outcome(curation) == ("modify", 1, "I started in May. My locker is now 310. It is blue.")


def test_the_nearest_of_those_that_are_contradicted_is_modified() -> None:
    far, close = near("My locker number is 214.", 0.7), near("My locker is 215.", 0.9, number=2)
    assert outcome(curated("My locker is now 310.", [far, close]))[:2] == ("modify", 2)


def test_what_holds_no_more_is_deleted_or_cut_out() -> None:
    gone = "I no longer have a locker."
    assert outcome(curated(gone, [near("My locker number is 214.", 0.7)])) == ("delete", 1, "")
    longer = near("I started in May. My locker number is 214.", 0.7)
    assert outcome(curated(gone, [longer])) == ("modify", 1, "I started in May.")


def test_what_is_worded_otherwise_is_changed_where_both_give_a_value_of_one_thing() -> None:
    far = near("I work at the harbour office.", 0.3)
    assert outcome(curated("I work at the library.", [far])) == ("modify", 1, "I work at the library.")
    assert curated("I also work at the library.", [far]).action == "add"
    assert curated("I work at the library.", [near(far.passage.text, 0.3, space=SHARED)]).action != "modify"


@pytest.mark.parametrize(
    "text", ["My locker is now 310.", "I no longer have a locker.", "My locker is not 214."]
)
def test_what_somebody_else_says_changes_nothing(text: str) -> None:
    heard = Claim(text, f"My boss says: {text}", "fact", "world", is_hearsay=True)
    known = near("My locker number is 214. It is blue.", 0.8)
    curation = asyncio.run(RuleCurator(Verifier()).curate(heard, Weighed("unknown", 0.9), [known]))
    assert outcome(curation) == ("add", None, text)


@pytest.mark.parametrize(
    ("known", "text", "left"),
    [
        (
            "My name is Marta and I'm 41.",
            "I turned 42 yesterday!",
            "My name is Marta. I turned 42 yesterday!",
        ),
        ("I'm 41 and my name is Marta.", "I turned 42 today.", "I turned 42 today. My name is Marta."),
        (
            "I live in Turin, and I work at the zoo.",
            "I moved to Genoa.",
            "I moved to Genoa. I work at the zoo.",
        ),
        ("I'm 41, and I no longer smoke.", "I'm 42.", "I'm 42. I no longer smoke."),
        (
            "I live in Lyon, France and I work as a plumber at Boiler & Sons.",
            "I moved to Berlin last week.",
            "I moved to Berlin last week. I work as a plumber at Boiler & Sons.",
        ),
        ("I live in Lyon and my wife is Marta.", "My wife is Anna.", "I live in Lyon. My wife is Anna."),
    ],
)
def test_of_two_clauses_only_the_one_that_is_contradicted_is_changed(
    known: str, text: str, left: str
) -> None:
    assert outcome(curated(text, [near(known, 0.4)])) == ("modify", 1, left)


@pytest.mark.parametrize(
    ("known", "text"),
    [
        ("I live in Turin with my husband Paolo and our two kids.", "We moved to Genoa last month."),
        (
            "I'm a physiotherapist at the San Marco clinic.",
            "I changed jobs, I'm now at the Gaslini hospital.",
        ),
        ("My dentist is Dr. Ferrero, his practice is on Via Roma.", "My dentist is now Dr. Parodi."),
        ("I work at the zoo as a vet for small animals.", "I work at the museum now."),
        ("I live in Lyon with my wife Marta.", "I moved to Berlin last week."),
        (
            "I live in Lyon with my wife Marta and I work as a plumber at Boiler & Sons.",
            "I moved to Berlin last week.",
        ),
        ("I live in Lyon with Marta.", "I don't live in Lyon any more."),
    ],
)
def test_what_says_more_than_its_value_is_not_lost_with_it(known: str, text: str) -> None:
    assert outcome(curated(text, [near(known, 0.7)])) == ("add", None, text)


@pytest.mark.parametrize(
    ("known", "text"),
    [
        ("I take the 7:40 train every morning.", "I no longer take the 7:40 train, I take the 8:05."),
        ("I'm allergic to peanuts.", "I'm not allergic to peanuts, it was a mistake."),
        ("My car is a blue Panda.", "I sold the Panda and bought a red Yaris."),
        ("Leo's teacher is called Ms. Conti.", "Leo's teacher is Ms. Bruno, not Ms. Conti."),
    ],
)
def test_one_clause_of_what_is_said_is_enough_to_take_something_back(known: str, text: str) -> None:
    assert outcome(curated(text, [near(known, 0.8)])) == ("modify", 1, text)


def test_a_value_that_is_named_as_wrong_is_replaced_where_it_was_said() -> None:
    text = "My cat is called Grace, not Ada."
    known = [near("My cat is called Leo.", 0.9), near("My cat is called Ada.", 0.8, number=2)]
    assert outcome(curated(text, known)) == ("modify", 2, text)
    assert curated(text, known[:1]).action == "add"
    assert curated(text, [near("My cat is called Ada and sleeps all day.", 0.8)]).action == "add"


@pytest.mark.parametrize(
    "told", ["My dentist is now Dr Lim.", "My dentist is Dr Lim now.", "My dentist's name is now Dr Lim."]
)
def test_another_person_takes_the_place_of_the_one_who_was_it(told: str) -> None:
    assert curated(told, [near("My dentist is Dr Okafor.", 0.8)]).action == "modify"


def test_a_correction_of_one_of_many_takes_the_place_of_the_only_one_that_it_can_mean() -> None:
    text = "My sister is called Inez."
    corrected = Claim(text, f"No, I meant {text}", "fact", "user")
    ines, emma = near("My sister is called Ines.", 0.9), near("My sister is called Emma.", 0.9, number=2)

    def decided(claim: Claim, *known: Candidate) -> tuple[str, int | None, str]:
        return outcome(asyncio.run(RuleCurator(Verifier()).curate(claim, Weighed("unknown", 0.9), known)))

    assert decided(corrected, ines) == ("modify", 1, text)
    assert decided(corrected, near("My sister lives in Oslo.", 0.9)) == ("add", None, text)
    assert decided(corrected, ines, emma) == ("add", None, text)
    assert decided(Claim(text, text, "fact", "user"), ines) == ("add", None, text)


def test_what_is_denied_in_the_very_words_stays_known_as_denied() -> None:
    text = "I am not vegetarian any more."
    assert outcome(curated(text, [near("I am vegetarian.", 0.8)])) == ("modify", 1, text)


def test_what_somebody_else_said_is_not_known_from_the_user() -> None:
    text, heard = "I live in Bonn now.", "My boss says I live in Bonn."
    both = Verifier({(text, heard): SUPPORTS, (heard, text): SUPPORTS})
    known = [near(heard, 0.95), near("I live in Rome.", 0.5, number=2)]
    assert outcome(curated(text, known, reader=both)) == ("modify", 2, text)


@pytest.mark.parametrize("kind", ["document", "message", "material"])
@pytest.mark.parametrize("text", ["My locker is now 310.", "I no longer have a locker."])
def test_only_what_was_said_is_changed(kind: str, text: str) -> None:
    assert curated(text, [near("My locker number is 214.", 0.8, kind=kind)]).action == "add"


def test_a_raw_message_is_no_knowledge() -> None:
    text = "My locker number is 214."
    assert curated(text, [near(text, 1.0, kind="message")]).action == "add"


def test_the_shared_space_takes_only_what_is_correct() -> None:
    beside = [near("The pool opens at 7:00.", 0.7, kind="fact", space=SHARED)]
    text = "The pool opens at 8:00."
    assert outcome(curated(text, beside, status="correct")) == ("modify", 1, text)
    assert curated(text, beside, status="unknown").action == "nothing"
    assert curated(text, beside, status="incorrect").action == "nothing"


def test_what_is_wrong_goes_nowhere() -> None:
    assert curated("My locker number is 214.", [], status="incorrect").action == "nothing"


def test_a_shared_document_that_is_contradicted_stays_beside_what_is_correct() -> None:
    document = near("The pool opens at 7:00.", 0.7, space=SHARED, kind="document")
    text = "The pool opens at 8:00."
    assert outcome(curated(text, [document], status="correct")) == ("add", None, text)
    assert curated(text, [document]).action == "nothing"


def test_what_a_shared_passage_entails_is_confirmed() -> None:
    text = "The pool opens at 7:00."
    document = near("Our pool is heated. On all days it opens at 7:00.", 0.7, space=SHARED, kind="document")
    sure = Verifier({(text, document.passage.text): SUPPORTS})
    assert outcome(curated(text, [document], status="correct", reader=sure)) == ("nothing", 1, "")
    decisive = (Evidence(document.passage, 0.4, 0.97, 0.0),)
    assert outcome(curated(text, [], status="correct", evidence=decisive)) == ("nothing", 1, "")


def test_what_contradicts_a_shared_passage_that_was_borne_out_is_to_go() -> None:
    text = "The pool opens at 7:00."
    said = near(text, 0.99, kind="fact", space=SHARED, number=1)
    against = near("The pool opens at 8:00.", 0.9, kind="fact", space=SHARED, number=2)
    for nearest in ([said, against], [against, said]):
        assert outcome(curated(text, nearest, status="correct")) == ("delete", 2, "")
    assert curated(text, [said, against]).action == "nothing"
    longer = near("The pool is heated. The pool opens at 8:00.", 0.9, kind="fact", space=SHARED, number=2)
    put = "The pool is heated. The pool opens at 7:00."
    assert outcome(curated(text, [said, longer], status="correct")) == ("modify", 2, put)


def test_a_document_that_contradicts_what_a_shared_passage_states_changes_nothing() -> None:
    text = "The pool opens at 7:00."
    said = near(text, 0.99, kind="fact", space=SHARED, number=1)
    document = near("The pool opens at 8:00.", 0.9, kind="document", space=SHARED, number=2)
    other = near("The sauna opens at 8:00.", 0.9, kind="fact", space=SHARED, number=3)
    assert outcome(curated(text, [said, document, other], status="correct")) == ("nothing", 1, "")


def test_what_lacks_a_number_entails_no_claim_with_it() -> None:
    text = "The pool opens at 7:00."
    document = near("The pool opens at 8:00 on Sundays.", 0.7, space=SHARED, kind="document")
    fooled = Verifier({(text, document.passage.text): SUPPORTS})
    assert curated(text, [document], status="correct", reader=fooled).action == "add"


texts = st.sampled_from(
    [
        "My locker number is 214.",
        "My locker is 310.",
        "I no longer have a locker.",
        "I like tea.",
        "Ann beat Ben.",
    ]
)
candidates = st.builds(
    near,
    texts,
    st.floats(-1, 1),
    kind=st.sampled_from(["note", "fact", "document", "message", "material"]),
    space=st.sampled_from([MINE, SHARED]),
    number=st.integers(1, 9),
)


@given(texts, st.lists(candidates, max_size=4), st.sampled_from(["correct", "incorrect", "unknown"]))
def test_a_curation_is_always_one_that_can_be_carried_out(
    text: str, nearest: list[Candidate], status: Status
) -> None:
    curation = curated(text, nearest, status=status)
    if curation.action in ("modify", "delete"):
        assert curation.passage in [c.passage for c in nearest]
        assert curation.passage is not None
        assert curation.passage.kind in ("note", "fact")
    assert bool(curation.text) == (curation.action in ("add", "modify"))
    assert curation.reason
    assert status != "incorrect" or curation.action == "nothing"

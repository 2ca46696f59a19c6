"""What a claim changes in the space it goes to: a row of the decision table each."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence

import pytest
from agent_fakes import FixedReader, passage
from hypothesis import given
from hypothesis import strategies as st

from agents.curator import RuleCurator
from agents.interfaces import Candidate, Claim, Curation, Evidence, Status, Verification, Weighed
from stores.records import SHARED

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

"""The reader's verdict on a claim beside shared passages."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

from agent_fakes import FixedReader, candidate, passage
from hypothesis import given
from hypothesis import strategies as st

from agents.base.claim_interfaces import Claim, Weighed
from agents.base.interfaces import Candidate, Verification
from agents.memory.claim_evidence import seen
from agents.memory.reader_discriminator import CORRECT_FROM, DISPUTED_FROM, ReaderDiscriminator, may_support

POOL = "The town hall was built in 1902. The pool opens at 7:00 on all days. Lunch is at noon."


class Verifier(FixedReader):
    """Says the same of every claim and evidence, and finds some answers wherever they stand."""

    def __init__(self, supports: float, refutes: float, answers: dict[str, float] | None = None) -> None:
        super().__init__(answers or {})
        self._says = Verification(supports, refutes, 1 - supports - refutes)
        self.verified: list[tuple[str, str]] = []

    def verify(self, pairs: Sequence[tuple[str, str]]) -> list[Verification]:
        self.verified += pairs
        return [self._says for _ in pairs]


SURE = Verifier(0.98, 0.01, {"7:00": 0.9})
DENIES = Verifier(0.01, 0.98, {"7:00": 0.9})
SILENT = Verifier(0.01, 0.01)


def weighed(
    claim: str,
    candidates: Sequence[Candidate],
    reader: Verifier = SURE,
    *,
    correct_from: float = CORRECT_FROM,
) -> Weighed:
    stated = Claim(claim, claim, "fact", "world")
    return asyncio.run(ReaderDiscriminator(reader, correct_from=correct_from).weigh(stated, candidates))


def test_what_a_passage_says_word_for_word_is_correct() -> None:
    found = weighed("The pool opens at 7:00.", [candidate(1, "Lunch."), candidate(2, POOL, dense=0.9)])
    assert (found.status, found.by, found.mode) == ("correct", "fixed reader", "knowledge")
    assert found.decisive is not None
    assert found.decisive.passage.version_id == 2
    assert found.decisive.similarity == 0.9
    assert found.decisive.supports == found.confidence


def test_what_a_passage_says_otherwise_is_not_correct_however_sure_the_reader_is() -> None:
    beside = [candidate(1, POOL, dense=0.9)]
    for claim in (
        "The pool opens at 8:00.",
        "The pool opens at 7:00 in Oslo.",
        "The pool does not open at 7:00.",
        "The pool opens at 7:00 and closes at 21:00.",
    ):
        assert weighed(claim, beside, correct_from=0.0).status != "correct"


class Divided(Verifier):
    """Says of each passage what was given for a word of it."""

    def verify(self, pairs: Sequence[tuple[str, str]]) -> list[Verification]:
        return [(DENIES if "8:00" in evidence else SURE)._says for _, evidence in pairs]


def test_what_one_passage_bears_out_and_another_refutes_is_unknown() -> None:
    beside = [candidate(1, POOL, dense=0.9), candidate(2, "The pool opens at 8:00 on all days.", dense=0.8)]
    reader = Divided(0.98, 0.01, {"7:00": 0.9, "8:00": 0.9})
    alone, both = (weighed("The pool opens at 7:00.", some, reader) for some in (beside[:1], beside))
    assert alone.status == "correct"
    assert max(evidence.refutes for evidence in both.evidence) >= DISPUTED_FROM
    assert both.status != "correct"


def test_what_nothing_speaks_of_is_unknown() -> None:
    assert weighed("The pool opens at 7:00.", []).status == "unknown"
    assert weighed("The moon is made of cheese.", [candidate(1, POOL)], SILENT).status == "unknown"
    assert weighed("", [candidate(1, POOL)]).status == "unknown"


def test_only_shared_passages_are_evidence() -> None:
    mine = Candidate(passage(1, POOL, space="user:1"), 0.9, 1.0, 0.0, 1.0, 1)
    found = weighed("The pool opens at 7:00.", [mine])
    assert (found.status, found.evidence) == ("unknown", ())


def test_five_passages_are_read_at_most() -> None:
    many = [candidate(number, f"Passage {number}.") for number in range(1, 9)]
    assert len(weighed("The pool is warm.", many, SILENT).evidence) == 5


def test_direct_verifies_the_claim_alone() -> None:
    reader = Verifier(0.2, 0.7)
    direct = ReaderDiscriminator(reader, mode="direct", incorrect_from=0.6)
    found = asyncio.run(direct.weigh(Claim("It is so.", "", "fact", "world"), [candidate(1, POOL)]))
    assert reader.verified == [("It is so.", "")]
    assert (found.status, found.confidence, found.mode, found.evidence) == ("incorrect", 0.7, "direct", ())


probability = st.floats(0, 1)


@given(probability, probability, probability, st.sampled_from(["7:00", "8:00", "Oslo", "not ", "warm"]))
def test_a_verdict_is_a_status_with_a_probability(
    supports: float, refutes: float, answered: float, said: str
) -> None:
    reader = Verifier(supports * (1 - refutes), refutes, {"7:00": answered})
    found = weighed(f"The pool opens at {said}.", [candidate(1, POOL), candidate(2, "Lunch.")], reader)
    assert 0 <= found.confidence <= 1
    assert all(one.supports >= 0 and one.supports + one.refutes <= 1.000001 for one in found.evidence)
    assert found.status != "correct" or said in ("7:00", "warm")
    if found.decisive is not None:
        decided = found.decisive.supports if found.status == "correct" else found.decisive.refutes
        assert decided == found.confidence


TESLA = (
    "Nikola Tesla was born on 10 July 1856 in the village of Smiljan, in the Austrian Empire. "
    "In 1884 he moved to New York, where he worked for Thomas Edison for six months."
)
OTHERS = ("The Rhine is 1,230 km long and flows into the North Sea.", "Photosynthesis takes place in leaves.")


def test_the_built_in_reader_takes_no_changed_value_for_true(minilm_folder: Path) -> None:
    from agents.models.reader import OnnxReader
    from agents.models.reader_files import SMALL

    discriminator = ReaderDiscriminator(OnnxReader(SMALL))
    beside = [candidate(1, TESLA, dense=0.8), *(candidate(n, text) for n, text in enumerate(OTHERS, 2))]

    def status(claim: str) -> str:
        return asyncio.run(discriminator.weigh(Claim(claim, "", "fact", "world"), beside)).status

    true = ["Nikola Tesla was born in Smiljan.", "Nikola Tesla moved to New York in 1884."]
    assert [status(claim) for claim in true] == ["correct", "correct"]
    for false in (
        "Nikola Tesla was born in Paris.",
        "Nikola Tesla was born on 11 July 1856.",
        "Nikola Tesla was not born in Smiljan.",
        "Nikola Tesla moved to New York in 1890.",
        "Nikola Tesla liked chess.",
        "The Rhine is 2,000 km long.",
    ):
        assert status(false) != "correct", false


def test_a_passage_with_few_of_the_words_cannot_bear_a_claim_out() -> None:
    def may(claim: str) -> bool:
        (one,) = seen(SURE, claim, [candidate(1, POOL, dense=0.9)])
        return may_support(one)

    assert may("the pool opens at 7:00.")
    assert not may("the next season of the harbour regatta opens at 7:00.")

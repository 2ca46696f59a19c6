"""What the built-in reader's summarizer claims: what was said, as it was said."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from agent_fakes import ASKS, NOTHING, PERSONAL, WORLD, FixedReader
from hypothesis import given
from hypothesis import strategies as st

from agents.base.claim_interfaces import Claim, Said
from agents.base.interfaces import Sorting
from agents.base.own_part import LONGEST_MESSAGE, own_sentences
from agents.memory.reader_summarizer import WORLD_FROM, ReaderSummarizer
from agents.models.reader import OnnxReader
from agents.models.reader_files import SMALL


async def claims(message: str, sorting: Mapping[str, Sorting] | None = None) -> list[Claim]:
    return await ReaderSummarizer(FixedReader(sorting=sorting)).summarize(Said(message))


async def test_statements_are_kept_word_for_word_and_the_rest_is_not() -> None:
    said = {"hey!!": NOTHING, "i moved to porto im Oktober…": PERSONAL, "so whats a good bar": ASKS}
    found = await claims("hey!! i moved to porto im Oktober…\nso whats a good bar", said)
    assert [claim.text for claim in found] == ["i moved to porto im Oktober…"]
    assert found[0].quote == found[0].text


async def test_unsure_is_personal() -> None:
    text = "The mill is old."
    (claim,) = await claims(text, {text: Sorting(WORLD_FROM - 0.01, 0.3, 0.0, 0.11)})
    assert claim.about == "user"
    (claim,) = await claims(text, {text: WORLD})
    assert claim.about == "world"


@pytest.mark.parametrize(
    "message",
    [
        "> The mill is old.",
        "```\nThe mill is old.\n```",
        "    The mill is old.\n\tThe mill is old.",
        "The mill is old. " * (LONGEST_MESSAGE // 10),
        "  ",
    ],
)
async def test_what_is_pasted_states_nothing(message: str) -> None:
    assert await claims(message) == []


@given(st.text(max_size=300))
def test_every_sentence_stands_in_the_message_as_it_is(message: str) -> None:
    assert all(sentence in message for sentence in own_sentences(message))


async def test_the_real_reader_tells_statements_from_questions() -> None:
    summarizer = ReaderSummarizer(OnnxReader(SMALL, threads=1))
    found = await summarizer.summarize(Said("thanks! my sister ana lives in braga. any idea what to cook?"))
    assert [(claim.text, claim.about) for claim in found] == [("my sister ana lives in braga.", "user")]

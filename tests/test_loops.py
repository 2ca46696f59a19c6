"""A reply that goes in circles is stopped; one that only looks like it is not."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from agent_fakes import FakeChat
from hypothesis import given
from hypothesis import strategies as st

from agents.answering.loops import Loop, repeats
from agents.answering.responder import Responder
from agents.base.chat_interfaces import CutAtLimit, Piece, ReplyRequest
from agents.base.citations import Citations

SENTENCE = "I am a large language model, and I can help you with that. "


@pytest.mark.parametrize("text", [SENTENCE * 8, "yes and no, " * 40, "a b c d " * 60])
def test_the_same_words_again_and_again_are_a_loop(text: str) -> None:
    assert repeats(f"It began well. {text}")


@pytest.mark.parametrize(
    "text",
    [
        "",
        SENTENCE * 4,
        "-" * 600,
        "| --- | --- " * 60,
        "0, 1, " * 100,
        "".join(f"Line {n} of the table has its number. " for n in range(60)),
    ],
)
def test_what_only_looks_like_one_is_none(text: str) -> None:
    assert not repeats(text)


@given(st.lists(st.integers(1, 30), min_size=1, max_size=40))
def test_it_closes_however_it_is_cut(sizes: list[int]) -> None:
    text, loop, at = SENTENCE * 40, Loop(), 0
    for size in sizes * 40:
        if loop.closes(text[at : at + size]):
            break
        at += size
    assert at < len(text)


async def test_a_looping_reply_is_stopped_and_marked() -> None:
    written: list[str] = []

    async def goes_on(_request: ReplyRequest) -> AsyncIterator[Piece]:
        for _ in range(1_000):
            written.append(SENTENCE)
            yield SENTENCE

    responder = Responder(FakeChat(goes_on), keep=1)
    request = responder.prepare("q", "q", [], [], is_kept=True)
    pieces = [piece async for piece in responder.respond(request, Citations(()))]
    assert pieces[-1] == CutAtLimit(None, repeats=True)
    assert len(written) < 20

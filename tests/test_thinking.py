"""What a model thinks before it answers is kept apart from its answer, however it is sent and shown."""

from __future__ import annotations

import itertools
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path

import pytest
from agent_fakes import FakeChat, passage
from hypothesis import given
from hypothesis import strategies as st
from plain_fixtures import talk
from screen_fixtures import ScriptedReplies, assistant_in, made_assistant, on_screen, place_in

from agents.answering.responder import Responder
from agents.base.chat_interfaces import CutAtLimit, Piece, ReplyRequest, Thought
from agents.base.citations import Citations
from agents.base.thinking import ThinkMarks, without_thoughts
from stores.base.errors import EmptyReply


def parted(*pieces: str) -> tuple[str, str]:
    """What was thought, and what was answered."""
    thought, answer, marks = "", "", ThinkMarks()
    for part in [*(part for piece in pieces for part in marks.feed(piece)), *marks.rest()]:
        if isinstance(part, str):
            answer += part
            continue
        thought, answer = (thought + answer, "") if part.is_all else (thought, answer)
        thought += part.text
    return thought, answer


@pytest.mark.parametrize(
    ("reply", "thought", "answer"),
    [
        ("<think>Peru, so\nLima.</think>\n\nLima.", "Peru, so\nLima.", "Lima."),
        ("\n<thinking>Peru.</thinking> Lima.", "Peru.", "Lima."),
        ("Peru, so Lima.\n</think>\n\nLima.", "Peru, so Lima.\n", "Lima."),  # the prompt opened it
        ("<think>\n\n</think>\n\nLima.", "\n\n", "Lima."),
        ("<think>Peru, and then", "Peru, and then", ""),
        ("Lima, <think> or not.", "", "Lima, <think> or not."),
        (" Lima <b> </b> 1 < 2.", "", " Lima <b> </b> 1 < 2."),
        ("<thin", "", "<thin"),
        ("", "", ""),
    ],
)
@given(st.lists(st.integers(0, 60), max_size=6))
def test_thoughts_are_parted_wherever_the_reply_is_cut(
    reply: str, thought: str, answer: str, cuts: list[int]
) -> None:
    places = [0, *sorted(cuts), len(reply)]
    assert parted(*(reply[a:b] for a, b in itertools.pairwise(places))) == (thought, answer)
    assert without_thoughts(reply) == answer.lstrip()


async def replied(*pieces: Piece) -> tuple[list[Piece], Citations]:
    async def reply(_request: ReplyRequest) -> AsyncIterator[Piece]:
        for piece in pieces:
            yield piece

    responder = Responder(FakeChat(reply), keep=5)
    request = responder.prepare("q", "q", [passage(1)], [], is_kept=True)
    citations = Citations(request.sources)
    return [piece async for piece in responder.respond(request, citations)], citations


async def test_thoughts_cite_nothing_and_come_apart() -> None:
    pieces, citations = await replied("<think>[1] says [7]</think>", Thought("[2]"), "Ten `", "x` [1]")
    assert pieces == [Thought("[1] says [7]"), Thought("[2]"), "Ten `", "x` [1]"]
    assert (citations.cited, citations.invented) == ([1], [])


async def test_what_turns_out_to_be_thought_cites_nothing_either() -> None:
    pieces, citations = await replied("It is [1] or [9].", " So</think>Ten.")
    assert pieces == ["It is [1] or [9].", Thought(" So", is_all=True), "Ten."]
    assert (citations.cited, citations.invented) == ([], [])


@pytest.mark.parametrize(
    ("pieces", "said"),
    [
        ([], "wrote an empty reply"),
        ([" \n"], "wrote an empty reply"),
        (["<think>Hm.</think>"], "thought about it, but wrote no answer"),
        ([Thought("Hm.")], "thought about it, but wrote no answer"),
        (["<think>Hm.", CutAtLimit(5)], "reached its longest length before it answered"),
    ],
)
async def test_a_reply_without_an_answer_says_so(pieces: list[Piece], said: str) -> None:
    with pytest.raises(EmptyReply, match=said):
        await replied(*pieces)


# On the screen

ASKED = "When is it open?"


async def test_thoughts_are_one_line_that_opens_and_no_part_of_the_answer(tmp_path: Path) -> None:
    replies = [
        ["<think>The room, the door.\nAt", " ten</think>", "At ten."],
        ["Nine, no: ten.</think>At ten."],
    ]
    async with on_screen(tmp_path, replies=replies) as chat:
        await chat.asks(ASKED)
        await chat.shows("▸ thought in 6 words")
        assert chat.app.chat.answer.text == "At ten."
        await chat.presses("escape", "o")
        await chat.shows("│ The room, the door.")
        await chat.presses("o")
        await chat.shows("▸ thought in 6 words")
        await chat.presses("i")
        await chat.asks(ASKED)
        await chat.shows("▸ thought in 3 words")
        assert "no: ten" not in chat.text
        assert chat.app.chat.answer.text == "At ten."
    with assistant_in(tmp_path) as assistant:
        ann = assistant.stores.journal.user_id("ann")
        kept = assistant.stores.journal.turns(ann, assistant.stores.journal.last_session(ann) or 0)
    assert [turn.answer for turn in kept] == ["At ten.", "At ten."]
    assert "door" not in str([turn.details for turn in kept])


async def test_in_plain_mode_thoughts_are_not_shown(tmp_path: Path) -> None:
    replies = ScriptedReplies([["<think>Hm.</think>", "At ten."], ["Nine, no.", "</think>At ten."]])
    with closing(made_assistant(place_in(tmp_path), FakeChat(replies.reply))) as assistant:
        told, _ = talk(assistant, ASKED, ASKED)
    assert "Hm." not in told
    assert "Assistant: At ten." in told
    assert "Nine, no.\n(That was thinking. The answer:)\nAt ten." in told

"""What a chat model may change, and what it may not."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence

import pytest
from agent_fakes import passage
from test_chat_discriminator import ScriptedChat

from agents.chat_curator import ChatCurator
from agents.interfaces import Candidate, Claim, Curation, Weighed

OLD = "My sister Ann moved to Oslo in 2019."
CLAIM = Claim("Ann has left Oslo for Bergen.", "", "fact", "user")


class Adds:
    """Rules that would add whatever they are asked."""

    async def curate(self, claim: Claim, weighed: Weighed, nearest: Sequence[Candidate]) -> Curation:
        return Curation("add", text=claim.text, reason="rules")


def near(text: str = OLD, *, kind: str = "note", cosine: float = 0.7) -> Candidate:
    return Candidate(passage(1, text, kind=kind, space="user:1"), cosine, 1.0, 0.0, cosine, 1)


def curated(reply: Mapping[str, object], *nearest: Candidate, claim: Claim = CLAIM) -> Curation:
    chat = ScriptedChat(reply)
    curation = asyncio.run(ChatCurator(chat, Adds()).curate(claim, Weighed("unknown", 1.0), nearest))
    assert len(chat.asked) == any(c.dense >= 0.6 for c in nearest)
    return curation


def reply(action: object, number: object = 1, text: object = "") -> dict[str, object]:
    return {"action": action, "number": number, "text": text}


def test_a_new_version_holds_old_and_new() -> None:
    new = "My sister Ann moved to Oslo in 2019, then to Bergen."
    curation = curated(reply("modify", text=new), near())
    assert (curation.action, curation.text) == ("modify", new)
    assert curation.passage is not None


def test_what_holds_no_more_is_deleted_and_what_is_known_changes_nothing() -> None:
    assert curated(reply("delete"), near()).action == "delete"
    known = near("Ann has left Oslo, she is in Bergen now.")
    assert curated(reply("nothing"), known).action == "nothing"


@pytest.mark.parametrize(
    "bad",
    [
        reply("modify", text="My sister Ann lives in Paris and Bergen and Oslo."),  # Paris is nobody's
        reply("modify", text="My sister Ann moved to Oslo in 2021, then Bergen."),
        reply("modify", text="My sister moved away."),  # without what is new
        reply("modify", text=OLD),
        reply("modify", text=""),
        reply("modify", text=f"Ann Oslo Bergen {'and ' * 200}"),
        reply("modify", number=0, text="Ann moved from Oslo to Bergen."),
        reply("modify", number=2, text="Ann moved from Oslo to Bergen."),
        reply("delete", number=True),
        reply("delete", number="1"),
        reply("nothing"),  # it does not say Bergen
        reply("erase"),
        reply(None),
        {},
    ],
)
def test_what_the_guards_refuse_is_left_to_the_rules(bad: dict[str, object]) -> None:
    assert curated(bad, near()).reason == "rules"


def test_a_document_is_never_changed() -> None:
    assert curated(reply("delete"), near(kind="document")).reason == "rules"


def test_nothing_is_asked_where_nothing_is_near() -> None:
    assert curated(reply("delete"), near(cosine=0.5)).reason == "rules"
    assert curated(reply("delete"), near(kind="message", cosine=0.1)).reason == "rules"

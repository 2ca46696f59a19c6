"""A chat model that does not find what is stated is not asked for it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from agent_fakes import WORLD, FakeChat, FixedReader

from agents.base.claim_interfaces import Said
from agents.memory.chat_summarizer import ChatSummarizer
from agents.memory.probed_summarizer import SENTENCES, ProbedSummarizer
from agents.memory.reader_summarizer import ReaderSummarizer
from stores.base.errors import MalformedReply

BRIDGE = "The Hollin bridge was built in 1888."
READER = FixedReader(sorting={BRIDGE: WORLD})


class QuotingChat(FakeChat):
    """Quotes the lines of a message that it is told to, and counts how often it was asked."""

    def __init__(self, *quotes: str, fails: bool = False) -> None:
        super().__init__(lambda request: (_ for _ in ()))  # type: ignore[arg-type,return-value]
        self._quotes, self._fails = quotes, fails
        self.asked = 0

    async def structured(self, messages: Any, schema: Any) -> dict[str, object]:
        self.asked += 1
        if self._fails:
            raise MalformedReply("no form", hint="")
        quoted = [quote for quote in self._quotes if quote in messages[-1].content]
        return {
            "claims": [
                {"quote": quote, "kind": "fact", "about": "user", "is_hearsay": False} for quote in quoted
            ]
        }


def _probed(chat: QuotingChat, kept: Path) -> ProbedSummarizer:
    return ProbedSummarizer(chat, ChatSummarizer(chat, READER), ReaderSummarizer(READER), kept=kept)


ABLE = [text for text, states in SENTENCES.items() if states]


async def test_an_able_model_is_probed_once_and_asked_from_then_on(tmp_path: Path) -> None:
    kept = tmp_path / "summarizers.json"
    chat = QuotingChat(*ABLE, BRIDGE)
    assert [claim.text for claim in await _probed(chat, kept).summarize(Said(BRIDGE))] == [BRIDGE]
    assert chat.asked == 5
    summarizer = _probed(chat, kept)
    assert await summarizer.summarize_together([Said(BRIDGE)]) == [await summarizer.summarize(Said(BRIDGE))]
    assert chat.asked == 7


async def test_of_a_model_that_finds_nothing_or_everything_the_reader_does_it(tmp_path: Path) -> None:
    for number, chat in enumerate((QuotingChat(), QuotingChat(*SENTENCES), QuotingChat(fails=True))):
        kept = tmp_path / f"{number}.json"
        kept.write_text("{ torn")
        summarizer = _probed(chat, kept)
        (claim,) = await summarizer.summarize(Said(BRIDGE))
        assert (claim.text, claim.about) == (BRIDGE, "world")
        assert summarizer.name == ReaderSummarizer(READER).name
        assert chat.asked == 4

"""The agents of verified memory with a model of random weights behind `transformers serve`: it only babbles.

What they ask for is well formed, or that server would refuse it; what comes back is none of the forms.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import test_transformers_serve as serving
from agent_fakes import ADDS, FixedReader, passage
from memory_house import House, loaded_parts

from agents.backends.openai.chat import OpenAIChat
from agents.base.claim_interfaces import Claim, Said
from agents.base.interfaces import Candidate, Exchange
from agents.memory.chat_curator import ChatCurator
from agents.memory.chat_discriminator import ChatDiscriminator
from agents.memory.chat_summarizer import ChatSummarizer
from agents.memory.reader_curator import ReaderCurator
from agents.memory.reader_summarizer import ReaderSummarizer
from stores.base.errors import MalformedReply
from stores.claims.claims import NewClaim

pytestmark = serving.pytestmark
server = serving.server  # a fixture

MILL = "The old mill grinds rye every autumn."
CLAIM = Claim(MILL, MILL, "fact", "world")
NOTE = Candidate(passage(1, "The mill grinds oats.", kind="note", space="user:1"), 0.8, 1.0, 0.0, 0.8, 1)
REPLY_TOKENS = 48
RELATED = FixedReader(related={(CLAIM.text, NOTE.passage.text): ADDS})


@pytest.fixture
async def chat(server: serving.Server) -> AsyncIterator[OpenAIChat]:
    made = OpenAIChat(
        base_url=server.base_url, model=server.model, max_retries=0, max_tokens=REPLY_TOKENS, temperature=0.9
    )
    yield made
    await made.aclose()


@pytest.fixture
def house(tmp_path: Path, minilm_folder: Path, server: serving.Server) -> Iterator[House]:
    made = House(tmp_path, loaded_parts(minilm_folder))
    made.use_server(server.base_url, name=server.model, max_tokens=REPLY_TOKENS, timeout_seconds=60.0)
    yield made
    made.close()


async def test_no_agent_makes_anything_of_babble(chat: OpenAIChat) -> None:
    shared = Candidate(passage(2, "The mill is old."), 0.8, 1.0, 0.0, 0.8, 1)
    said = Said(
        MILL, (Exchange("Which mill?", "Which mill?", "The one by the river."),), ("A mill.",), "Yes."
    )
    found = await ChatSummarizer(chat, FixedReader()).summarize(said)
    assert found == await ReaderSummarizer(FixedReader()).summarize(said)
    with pytest.raises(MalformedReply):
        await ChatDiscriminator(chat).weigh(CLAIM, [shared])
    reader = ReaderCurator(RELATED)
    links = await ChatCurator(chat, reader).relate(CLAIM, [NOTE], ())
    assert links == await reader.relate(CLAIM, [NOTE], ())


def test_what_is_said_to_a_model_that_babbles_the_reader_finds(house: House) -> None:
    house.note("The old mill grinds rye.")
    assert house.say(MILL, "Thanks!")
    assert house.waiting == []
    assert [claim.text for claim in house.claims] == [MILL]


def test_claims_that_were_found_before_the_reader_weighs_as_well(house: House) -> None:
    offered = house.assistant.stores.claims.put_one(
        house.user_id, NewClaim(text=MILL, quote=MILL, kind="fact", about="world"), origin="share"
    )
    house.note("The old mill grinds rye.")
    house.remember()
    assert house.waiting == []
    assert [(claim.id, claim.state != "pending") for claim in house.claims] == [(offered, True)]

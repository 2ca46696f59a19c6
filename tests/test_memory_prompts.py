"""What memory's agents say to a chat model: forms that strict servers take, and examples that fit them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

import jsonschema
import pytest
from agent_fakes import passage

from agents.base.chat_interfaces import ChatMessage, Source
from agents.base.claim_interfaces import Said
from agents.base.interfaces import Exchange
from agents.base.own_part import own_sentences
from agents.base.token_budget import estimated_tokens
from agents.prompts import claims, curating, weighing

FORMS: dict[str, Mapping[str, Any]] = {
    "claims": claims.SCHEMA,
    "prior": weighing.PRIOR_SCHEMA,
    "verdict": weighing.verdict_schema(5),
    "verdict without passages": weighing.verdict_schema(0),
    "change": curating.curation_schema(5),
}
PROMPTS = {
    "claims": claims.INSTRUCTIONS,
    "prior": weighing.PRIOR_INSTRUCTIONS,
    "verdict": weighing.VERDICT_INSTRUCTIONS,
    "change": curating.INSTRUCTIONS,
}
WORDS = "The mill by the river grinds rye and oats for all the bakers of the town. "


def objects_of(schema: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    if schema.get("type") == "object":
        yield schema
    for part in [*schema.get("properties", {}).values(), *([schema["items"]] if "items" in schema else [])]:
        yield from objects_of(part)


@pytest.mark.parametrize("form", FORMS)
def test_a_strict_server_takes_every_form(form: str) -> None:
    jsonschema.Draft202012Validator.check_schema(FORMS[form])
    for each in objects_of(FORMS[form]):  # what OpenAI asks of a strict schema
        assert each["additionalProperties"] is False
        assert each["required"] == list(each["properties"])


@pytest.mark.parametrize(("prompt", "count"), [("claims", 2), ("change", 2)])
def test_an_example_is_a_reply_of_the_form_asked_for(prompt: str, count: int) -> None:
    found = [json.loads(reply) for reply in re.findall(r"Reply: (\{.*\})", PROMPTS[prompt])]
    assert len(found) == count
    for reply in found:
        jsonschema.validate(reply, FORMS[prompt])


def test_every_quote_of_the_example_stands_in_its_message() -> None:
    first, second = re.findall(r"^> (.*)\nReply: (\{.*?\]\})$", claims.INSTRUCTIONS, re.MULTILINE)
    assert all(claim["quote"] in own_sentences(first[0]) for claim in json.loads(first[1])["claims"])
    assert json.loads(second[1])["claims"] == []


@pytest.mark.parametrize("prompt", PROMPTS)
def test_instructions_are_short_and_say_what_is_quoted(prompt: str) -> None:
    assert estimated_tokens(PROMPTS[prompt]) <= 900
    assert "is quoted material" in PROMPTS[prompt] or "are quoted material" in PROMPTS[prompt]
    assert "an instruction to you" in " ".join(PROMPTS[prompt].split())


def test_the_longest_prompts_leave_room_in_a_usual_context() -> None:
    long = 40 * WORDS
    exchange = Exchange(long, long, long)
    sources = [Source(number, passage(number, 3 * WORDS, title="Mills")) for number in range(1, 6)]
    asked: dict[str, tuple[ChatMessage, ...]] = {
        "claims": claims.messages(Said(5 * WORDS, (exchange,) * 6, (long,) * 30, long)),
        "verdict": weighing.verdict_messages(WORDS, sources, 15 * WORDS),
        "change": curating.curation_messages(WORDS, sources),
    }
    for messages in asked.values():
        assert sum(estimated_tokens(message.content) for message in messages) < 8_192 - 1_024

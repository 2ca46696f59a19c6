"""What a person sees of the servers that they use, by the shapes of their answers: docs/manual/models.md."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from cli_helpers import HANDBOOK, QUESTION, Vouch
from scripted_server import Behaviour, Call, ScriptedServer, answers_json, cuts, garbles, says

ANSWER = "At ten [1]."


def thinks_in(field: str) -> Behaviour:
    """Thoughts in a field beside the content, piece by piece."""

    def behave(call: Call) -> None:
        call.open_stream()
        for delta in ({field: "They ask "}, {field: "when."}, {"content": ANSWER}):
            call.send_delta(delta)
        call.send_delta({}, "stop")
        call.send_data("[DONE]")
        call.close_stream()

    return behave


def error(message: str, **more: object) -> dict[str, Any]:
    return {"error": {"message": message, **more}}


IN_MARKS = says("<think>They ask ", "when.</think>", ANSWER)
ENDS_MARKS_ALONE = says("They ask when.", "</think>\n\n", ANSWER)  # its template has opened them
THINKING = {
    "OpenAI": says(ANSWER),  # it thinks out of sight
    "Ollama": thinks_in("reasoning"),
    "llama.cpp": thinks_in("reasoning_content"),
    "vLLM": ENDS_MARKS_ALONE,
    "LM Studio": IN_MARKS,
}
REFUSAL = {
    "OpenAI": error(
        "Unsupported parameter: 'max_tokens' is not supported with this model."
        " Use 'max_completion_tokens' instead.",
        param="max_tokens",
        code="unsupported_parameter",
    ),
    "Ollama": error("max_tokens is not supported", type="invalid_request_error"),
    "llama.cpp": error("Unsupported param: max_tokens", code=400, type="invalid_request_error"),
    "vLLM": {"object": "error", "message": "max_tokens: Extra inputs are not permitted", "code": 400},
    "LM Studio": {"error": "'max_tokens' is not supported"},
}
OVERFLOW = {
    "OpenAI": error("This model's maximum context length is 128 tokens.", code="context_length_exceeded"),
    "Ollama": error("the prompt is too long: input exceeds the context window", type="api_error"),
    "llama.cpp": error("the request exceeds the available context size", type="exceed_context_size_error"),
    "vLLM": {"object": "error", "message": "This model's maximum context length is 128 tokens.", "code": 400},
    "LM Studio": {"error": "The model is loaded with a context length of 128 tokens: not enough."},
}
DEATH = {
    "OpenAI": cuts(["At "]),
    "Ollama": garbles("At ", data=json.dumps(error("an error was encountered while running the model"))),
    "llama.cpp": cuts(["At "]),
    "vLLM": garbles("At ", data=json.dumps({"error": {"message": "EngineCore died", "code": 500}})),
    "LM Studio": garbles("At ", data='{"error": "The model has crashed"}'),
}


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory, minilm_folder: Path) -> Vouch:
    made = Vouch(tmp_path_factory.mktemp("shapes"), minilm_folder.parent)
    made.run("ingest", "--shared", made.write("handbook.md", HANDBOOK))
    return made


@pytest.fixture
def vouch(library: Vouch, tmp_path: Path) -> Iterator[Vouch]:
    return library.copy_to(tmp_path)


@pytest.mark.parametrize("server", THINKING)
def test_thoughts_are_no_part_of_the_answer(vouch: Vouch, server: str) -> None:
    with ScriptedServer([THINKING[server]]) as running:
        vouch.use_server(running.base_url)
        told = vouch.run("ask", "--json", QUESTION).object
    assert (told["answer"].strip(), [s["cited"] for s in told["sources"]]) == (ANSWER, [True])


@pytest.mark.parametrize("server", REFUSAL)
def test_a_refused_parameter_costs_no_answer(vouch: Vouch, server: str) -> None:
    with ScriptedServer([answers_json(400, REFUSAL[server])], then=says(ANSWER)) as running:
        vouch.use_server(running.base_url, "max_tokens = 50\n")
        assert vouch.run("ask", QUESTION).out.strip() == ANSWER
        assert "max_tokens" not in running.requests[-1].body


@pytest.mark.parametrize("server", OVERFLOW)
def test_what_is_too_long_is_asked_once_more_in_short(vouch: Vouch, server: str) -> None:
    def sources(body: Mapping[str, Any]) -> int:
        return str(body["messages"][-1]["content"]).count("\n> ")

    with ScriptedServer([answers_json(400, OVERFLOW[server])], then=says("At ten.")) as running:
        vouch.use_server(running.base_url)
        assert vouch.run("ask", QUESTION).out.strip() == "At ten."
        first, second = (request.body for request in running.requests)
    assert sources(second) < sources(first)


@pytest.mark.parametrize("server", DEATH)
def test_a_reply_that_dies_keeps_its_part_and_says_why(vouch: Vouch, server: str) -> None:
    with ScriptedServer([DEATH[server]]) as running:
        vouch.use_server(running.base_url)
        ran = vouch.run("ask", QUESTION, code=3)
    assert ran.out.strip() == "At"
    assert "broke off" in ran.err

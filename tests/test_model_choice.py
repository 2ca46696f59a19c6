"""/model: which chat model answers in this chat."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from agent_fakes import FakeChat
from cli_helpers import Vouch
from screen_fixtures import QUESTION, made_assistant, on_screen
from scripted_server import Call, ScriptedServer, refuses, says, unused_url

from assistant.settings.config import Json, MemorySettings, ModelSettings
from assistant.settings.locations import Locations
from assistant.terminal.actions.model_choice import choose_model
from assistant.terminal.facts.answer_lines import why_lines
from assistant.wiring.assistant import Assistant
from stores.base.errors import NotFound

SERVER_ANSWERS = "At ten [1]."


async def _never(_request: object) -> AsyncIterator[str]:
    yield "not asked"


@contextmanager
def asking(folder: Path, base_url: str = "", *, agents: str = "auto") -> Iterator[Assistant]:
    """An assistant whose settings name the model `scripted` of a server, or the built-in one."""
    place = Locations(
        data=folder / "data", settings=folder / "settings", cache=folder / "cache", state=folder / "state"
    )
    with closing(made_assistant(place, FakeChat(_never))) as assistant:
        del assistant.models.__dict__["chat_model"]
        if base_url:
            model = ModelSettings(backend="openai", base_url=base_url, name="scripted", retries=0)
            memory = MemorySettings(learn=False, agents=agents)  # type: ignore[arg-type]
            assistant.given.settings = replace(assistant.given.settings, model=model, memory=memory)
        yield assistant


def says_of(assistant: Assistant, name: str = "", *typed: str) -> list[str]:
    answers = iter(typed)
    return list(choose_model(assistant, name, menu=(lambda: next(answers)) if typed else None))


def ask(assistant: Assistant) -> tuple[str, str, str | None]:
    """Who answered the question, what, and which server was asked."""
    user = assistant.stores.journal.user_id("ann")
    assistant.catch_up()
    session = assistant.stores.journal.open_session(user)
    turn_id = assistant.turns.host.play(user, session, QUESTION, watch=lambda event: None).turn_id
    turn = assistant.stores.journal.turn(user, turn_id)
    return turn.model, turn.answer, turn.details["sent_to"]


def test_model_tells_what_is_configured_and_what_the_server_lists(tmp_path: Path) -> None:
    with (
        ScriptedServer(models=["large", "scripted"]) as server,
        asking(tmp_path, server.base_url) as assistant,
    ):
        where = f"at {assistant.given.settings.model.server}"
        assert says_of(assistant) == [
            f"  1  scripted  ({where}, in the settings, answers now)",
            f"  2  large  ({where})",
            "  3  extractive  (built in: it quotes what was found)",
            "/model NAME changes it for this chat; [model] in settings.toml is for all chats.",
        ]
        assert server.requests == []  # nothing was sent but the question for the list


def test_another_model_of_the_server_answers_from_the_next_turn_on(tmp_path: Path) -> None:
    with (
        ScriptedServer(then=says(SERVER_ANSWERS), models=["large", "scripted"]) as server,
        asking(tmp_path, server.base_url) as assistant,
    ):
        assert ask(assistant)[0] == "scripted"
        [told] = says_of(assistant, "large")
        assert told.startswith("From now on large, at 127.0.0.1:")
        model, answer, sent_to = ask(assistant)
        assert (model, answer, sent_to) == ("large", SERVER_ANSWERS, assistant.given.settings.model.server)
        assert [request.body["model"] for request in server.requests] == ["scripted", "large"]
        assert assistant.given.settings.model.name == "scripted"
        assert says_of(assistant, "large") == ["large answers already."]


def test_the_built_in_model_asks_no_server_for_answers_nor_for_weighing(tmp_path: Path) -> None:
    with (
        ScriptedServer(then=says(SERVER_ANSWERS)) as server,
        asking(tmp_path, server.base_url, agents="model") as assistant,
    ):
        assistant.models.__dict__["reader"] = object()  # not asked: only who is to weigh is looked at
        assert "Chat" in type(assistant.turns._remembering_agents.summarizer).__name__
        says_of(assistant, "extractive")
        model, answer, sent_to = ask(assistant)
        assert (model, sent_to, server.requests) == ("extractive (quotes only)", "", [])
        assert "10:00" in answer
        assert "Reader" in type(assistant.turns._remembering_agents.summarizer).__name__
        says_of(assistant, "scripted")
        assert ask(assistant)[:2] == ("scripted", SERVER_ANSWERS)


def test_a_name_that_the_server_does_not_list_is_named_with_its_nearest(tmp_path: Path) -> None:
    with (
        ScriptedServer(models=["large", "scripted"]) as server,
        asking(tmp_path, server.base_url) as assistant,
    ):
        with pytest.raises(NotFound) as raised:
            says_of(assistant, "larg")
        assert raised.value.hint == "Did you mean large? /model lists what there is."
        assert assistant.models.model_in_use.name == "scripted"


@pytest.mark.parametrize("is_there", [True, False])
def test_where_the_server_tells_no_list_a_name_is_taken_as_it_is(tmp_path: Path, is_there: bool) -> None:
    with ScriptedServer(then=refuses(404, "no such model"), models=None) as server:
        url = server.base_url if is_there else unused_url()
        with asking(tmp_path, url) as assistant:
            assert "it lists none" in says_of(assistant)[2]
            [told] = says_of(assistant, "large")
            assert "which lists no models" in told
            assert assistant.turns.pipeline.model_name == "large"


def test_without_a_server_there_is_the_built_in_model_alone(tmp_path: Path) -> None:
    with asking(tmp_path) as assistant:
        assert says_of(assistant)[0] == (
            "  1  extractive  (built in: it quotes what was found, in the settings, answers now)"
        )
        with pytest.raises(NotFound, match="there is no model gpt here"):
            says_of(assistant, "gpt")


def test_a_menu_is_answered_by_a_number(tmp_path: Path) -> None:
    with (
        ScriptedServer(models=["large", "scripted"]) as server,
        asking(tmp_path, server.base_url) as assistant,
    ):
        assert says_of(assistant, "", "")[-1] == "Left as it is."
        assert says_of(assistant, "", "9")[-1] == "Left as it is."
        assert says_of(assistant, "", "2")[-1].startswith("From now on large")
        assert assistant.models.model_in_use.name == "large"


def test_a_name_from_the_server_is_shown_on_one_line_without_control_characters(tmp_path: Path) -> None:
    with ScriptedServer(models=["a\nb\x1b[31m"]) as server, asking(tmp_path, server.base_url) as assistant:
        assert all(line.isprintable() for line in says_of(assistant))


async def test_on_the_screen_the_header_and_the_status_follow_the_model(tmp_path: Path) -> None:
    async with on_screen(tmp_path, size=(100, 30)) as chat:
        assistant = chat.app.chat.desk._known_assistant
        assert "scripted" in chat.text.splitlines()[0]
        with ScriptedServer(models=["large"]) as server:
            model = ModelSettings(backend="openai", base_url=server.base_url, name="scripted", retries=0)
            assistant.given.settings = replace(assistant.given.settings, model=model)
            await chat.asks("/model extractive")
            await chat.until(lambda: "extractive" in chat.text.splitlines()[0])
            await chat.shows("no reply model: answers quote what was found")
            await chat.asks("/model large")
            await chat.until(lambda: "large" in chat.text.splitlines()[0])
            await chat.until(lambda: "no reply model" not in chat.text)


async def test_the_menu_lists_what_the_server_has(tmp_path: Path) -> None:
    async with on_screen(tmp_path, size=(100, 30)) as chat:
        assistant = chat.app.chat.desk._known_assistant
        with ScriptedServer(models=["large"]) as server:
            model = ModelSettings(backend="openai", base_url=server.base_url, name="scripted", retries=0)
            assistant.given.settings = replace(assistant.given.settings, model=model)
            await chat.types("/model ")
            names = ["scripted", "large", "extractive", "find"]
            await chat.until(lambda: [choice.shown for choice in chat.app.chat.menu.choices] == names)
            await chat.types("la")
            await chat.presses("tab", "enter")
            await chat.until(lambda: "large" in chat.text.splitlines()[0])


def test_a_named_model_has_a_protocol_of_its_own(tmp_path: Path) -> None:
    with ScriptedServer(then=says(SERVER_ANSWERS)) as server, asking(tmp_path, server.base_url) as assistant:
        other = replace(assistant.given.settings.model, name="other", protocol="responses")
        assistant.given.settings = replace(assistant.given.settings, models={"other": other})
        ask(assistant)
        says_of(assistant, "other")
        assert ask(assistant)[:2] == ("other", SERVER_ANSWERS)
        assert [request.is_to_respond for request in server.requests] == [False, True]


def test_system_is_asked_of_all_answers_of_a_chat_and_the_settings_are_sent(tmp_path: Path) -> None:
    with ScriptedServer(then=says(SERVER_ANSWERS)) as server, asking(tmp_path, server.base_url) as assistant:
        sent = Json('{"top_k": 20}')
        model = replace(assistant.given.settings.model, stop=Json('["END"]'), extra_body=sent)
        answer = replace(assistant.given.settings.answer, system="Answer in verse.")
        assistant.given.settings = replace(assistant.given.settings, model=model, answer=answer)

        user = assistant.stores.journal.user_id("ann")
        assistant.catch_up()
        session = assistant.stores.journal.open_session(user)

        def asked(session_id: int = session) -> str:
            assistant.turns.host.play(user, session_id, QUESTION, watch=lambda event: None)
            return str(server.requests[-1].body["messages"][0]["content"])

        sessions = assistant.stores.sessions
        assert asked().endswith("The user asks of all answers:\nAnswer in verse.")
        assert (server.requests[-1].body["stop"], server.requests[-1].body["top_k"]) == (["END"], 20)
        sessions.instruct(user, session, "Be curt.")
        assert asked().endswith("\nBe curt.")
        assert asked(assistant.stores.journal.open_session(user)).endswith("\nAnswer in verse.")
        sessions.instruct(user, session, "")
        assert "asks of all answers" not in asked()
        sessions.instruct(user, session, None)
        assert asked().endswith("\nAnswer in verse.")
        with pytest.raises(NotFound):
            sessions.instruct(assistant.stores.journal.user_id("ben"), session, "Tell me all.")


def test_ask_names_a_model_for_one_answer(tmp_path: Path, minilm_folder: Path) -> None:
    vouch = Vouch(tmp_path, minilm_folder.parent)
    assert "settings name no server" in vouch.run("ask", "--model", "large", QUESTION, code=2).err
    with ScriptedServer(then=says(SERVER_ANSWERS)) as server:
        vouch.set(f'[model]\nbackend = "openai"\nbase_url = "{server.base_url}"\nname = "scripted"\n')
        assert vouch.run("ask", "--json", "--model", "large", QUESTION).object["model"] == "large"
        assert server.requests[-1].body["model"] == "large"
        told = vouch.run("ask", "--json", "--model", "extractive", QUESTION, code=1).object
        assert told["model"].startswith("extractive")


def test_tokens_and_their_cost_are_told_of_turn_session_and_chat(tmp_path: Path) -> None:
    def counts(call: Call) -> None:
        call.open_stream()
        call.send_delta({"content": SERVER_ANSWERS})
        call.send_delta({}, "stop")
        call.send_data('{"choices": [], "usage": {"prompt_tokens": 1000, "completion_tokens": 20}}')
        call.send_data("[DONE]")
        call.close_stream()

    refused = refuses(400, "Unknown parameter: stream_options")
    with (
        ScriptedServer([counts, counts, refused], then=says(SERVER_ANSWERS)) as server,
        asking(tmp_path, server.base_url) as assistant,
    ):
        priced = replace(assistant.given.settings.model, price_sent=2.0, price_written=10.0)
        assistant.given.settings = replace(assistant.given.settings, model=priced)
        user = assistant.stores.journal.user_id("ann")
        session = assistant.stores.journal.open_session(user)
        for _ in range(2):
            turn_id = assistant.turns.host.play(user, session, QUESTION, watch=lambda event: None).turn_id
        assert server.requests[0].body["stream_options"] == {"include_usage": True}
        told = list(why_lines(assistant, user, assistant.stores.journal.turn(user, turn_id)))
        assert (
            "Tokens: 1,000 sent, 20 written, 0.0022; in this session 2,000 sent, 40 written, 0.0044" in told
        )
        [line] = [line for line in says_of(assistant) if line.startswith("Since")]
        assert line == (
            "Since this chat began: 2,000 tokens sent, 40 written by answers, "
            "0 and 0 by what follows them; 0.0044 in all."
        )
        says_of(assistant, "extractive")
        assert [told for told in says_of(assistant) if told.startswith("Since")] == [line]
        says_of(assistant, "scripted")
        assert ask(assistant)[1] == SERVER_ANSWERS  # a server that cannot count is asked without
        assert "stream_options" not in server.requests[-1].body


def test_a_further_model_of_another_server_answers_by_its_name_without_the_key_of_the_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("VOUCH_API_KEY", raising=False)
    with (
        ScriptedServer(then=says(SERVER_ANSWERS)) as first,
        ScriptedServer(then=says("Noon [1].")) as second,
        asking(tmp_path, first.base_url) as assistant,
    ):
        named = ModelSettings(backend="openai", base_url=second.base_url, name="small", retries=0)
        given = assistant.given
        given.settings = replace(given.settings, models={"local": named})
        given.api_key = "of the first"
        assert any("local" in line and "small at 127.0.0.1" in line for line in says_of(assistant))
        assert says_of(assistant, "local")[0].startswith("From now on local, small at 127.0.0.1")
        assert ask(assistant)[:2] == ("small", "Noon [1].")
        assert first.requests == []
        assert "of the first" not in second.requests[0].headers["authorization"]


def test_a_model_that_the_server_does_not_list_may_be_named_and_embedding_models_are_not_offered(
    tmp_path: Path,
) -> None:
    models = ["scripted", "nomic-embed-text", "qwen3"]
    server = ScriptedServer(then=says(SERVER_ANSWERS), models=models)
    with server, asking(tmp_path, server.base_url) as assistant:
        told = "\n".join(says_of(assistant))
        assert "qwen3" in told
        assert "embed" not in told
        with pytest.raises(NotFound, match="qwen4"):
            says_of(assistant, "qwen4")
        assert "which does not list it" in says_of(assistant, "hidden-model")[0]


def test_another_model_weighs_what_was_stated(tmp_path: Path) -> None:
    with (
        ScriptedServer(then=says(SERVER_ANSWERS)) as first,
        ScriptedServer(then=says('{"claims": []}')) as second,
        asking(tmp_path, first.base_url) as assistant,
    ):
        named = ModelSettings(backend="openai", base_url=second.base_url, name="small", retries=0)
        memory = MemorySettings(model="local", agents="model")
        settings = replace(assistant.given.settings, models={"local": named}, memory=memory)
        assistant.given.settings = settings
        user = assistant.stores.journal.user_id("ann")
        assistant.catch_up()
        session = assistant.stores.journal.open_session(user)
        assistant.turns.host.play(user, session, "I moved to Porto.", watch=lambda event: None)
        assistant.turns.host.remember(user, lambda learned: None)
        assistant.turns.host.settle()
        assert (len(first.requests), len(second.requests)) == (1, 1)

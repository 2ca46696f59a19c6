"""Talking over a knowledge base: what is wanted, which entities that is, and what is replied."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from agent_fakes import FakeChat, FixedEncoder, passage
from cli_helpers import Vouch
from hypothesis import given
from hypothesis import strategies as st
from plain_fixtures import counting, talk
from screen_fixtures import assistant_in
from scripted_server import ScriptedServer, says

from agents.base.chat_interfaces import DialogueState, ReplyRequest, Source
from agents.base.interfaces import Candidate
from agents.dialogue.chat_wish_parser import ChatWishParser
from agents.dialogue.entity_ranker import met, ranked
from agents.dialogue.entity_replies import EntityReplies, asked_columns
from agents.dialogue.knowledge_table import NAME, KnowledgeTable
from agents.dialogue.wish_parser import WishParser
from agents.languages.message_sorting import MessageSorter
from agents.models.dialogue_arrays import Floats
from agents.models.wish_network import LABELS
from agents.models.wish_network import Candidate as Judged
from assistant.library.ingest import _new
from assistant.library.knowledge_file import prepared
from assistant.settings.config import MemorySettings
from assistant.terminal.actions.rating import OF_A_BASE, OF_A_CURATOR, OF_ENTITIES
from assistant.wiring.assistant import Assistant
from stores.base.entities import Entity, entity_of, entity_text
from stores.base.passages import knowledge_space, own_space
from stores.base.wishes import Wish

PLACES = {
    1: Entity("The Copper Kettle", {"food": "british", "area": "east", "price": "cheap", "garden": "yes"}),
    2: Entity("Kiku", {"food": "japanese", "area": "east", "price": "expensive", "garden": "no"}),
    3: Entity("Pho Lan", {"food": "vietnamese", "area": "west", "price": "cheap", "garden": "yes"}),
    4: Entity("New York", {"food": "american", "area": "west", "price": "cheap", "garden": "no"}),
    5: Entity("York", {"food": "british", "area": "west", "price": "expensive", "garden": "no"}),
}
TABLE = KnowledgeTable("places", PLACES.items())


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("Something CHEAP, in the west?", [("price", "cheap"), ("area", "west")]),
        ("new york or york", [(NAME, "New York"), (NAME, "York")]),  # the longer one first
        ("the copper kettle", [(NAME, "The Copper Kettle")]),
        ("is copper kettle any good", [(NAME, "The Copper Kettle")]),  # as people say it
        ("no, with a garden: yes", []),  # of a column of yes and no, no value is named
        ("cheaper, westwards", []),  # other words
        ("", []),
    ],
)
def test_a_text_names_the_values_whose_words_stand_in_it(text: str, named: list[tuple[str, str]]) -> None:
    assert [(one.column, one.value) for one in TABLE.named_in(text)] == named


def test_what_tells_all_rows_apart_and_single_letters_constrain_nothing() -> None:
    rows = {n: Entity(f"Place {n}", {"phone": f"555 {n}", "area": "ab"[n % 2] * 2}) for n in range(40)}
    table = KnowledgeTable("places", rows.items())
    assert [one.column for one in table.named_in("555 7 in aa, a")] == ["area"]
    few = KnowledgeTable("places", {n: rows[n] for n in range(3)}.items())
    assert [one.column for one in few.named_in("555 1")] == ["phone"]


wanted = st.fixed_dictionaries(
    {},
    optional={
        "food": st.sampled_from(["british", "japanese", "thai"]),
        "area": st.sampled_from(["east", "west"]),
        "price": st.sampled_from(["cheap", "expensive"]),
    },
)


@given(wanted)
def test_those_that_meet_all_constraints_are_found(constraints: dict[str, str]) -> None:
    found = [i for i, entity in PLACES.items() if constraints.items() <= entity.values.items()]
    assert TABLE.meeting(DialogueState("places", 5, constraints).wishes) == (found if constraints else [])


@given(wanted, st.permutations(list(PLACES)))
def test_who_meets_more_and_contradicts_less_comes_first(
    constraints: dict[str, str], order: list[int]
) -> None:
    state = DialogueState("places", 5, constraints)
    candidates = [of(i, rank) for rank, i in enumerate(order, start=1)]
    result = ranked(candidates, state)
    lifts = [candidate.lift for candidate in result]
    assert lifts == sorted(lifts, reverse=True)
    assert [candidate.found_rank for candidate in result] == [1, 2, 3, 4, 5]
    for candidate in result:
        entity = PLACES[candidate.passage.version_id]
        assert candidate.lift == 2 * len(met(entity, state)) - len(constraints)
    about = replace(state, focus=(order[-1],))
    assert ranked(candidates, about)[0].passage.version_id == order[-1]


def test_the_latest_value_of_a_column_holds() -> None:
    state = TABLE.state(["cheap in the west", "rather in the east"], ["Pho Lan: area west [1]"])
    assert (state.constraints, state.meeting) == ({"price": "cheap", "area": "east"}, 1)
    assert (state.focus, state.asks_for_more) == ((), True)
    assert state.told == "price: cheap, area: east"


@pytest.mark.parametrize(
    ("message", "shown", "focus", "asks_for_more"),
    [
        ("phone of kiku?", [], (2,), False),
        ("is kiku cheap?", ["Pho Lan"], (2,), False),
        ("and the phone?", ["New York [1]\nPho Lan [2]"], (4, 3), False),
        ("and the phone?", ["Pho Lan", "I cannot say."], (3,), False),
        ("british food", ["Pho Lan"], (), True),
        ("hello", [], (), True),
    ],
)
def test_talked_about_is_what_was_named_last(
    message: str, shown: list[str], focus: tuple[int, ...], asks_for_more: bool
) -> None:
    state = TABLE.state([message], shown)
    assert (state.focus, state.asks_for_more) == (focus, asks_for_more)


def of(number: int, rank: int) -> Candidate:
    entity = PLACES[number]
    found = passage(number, entity_text(entity), title=entity.name, kind="entity", space="kb:1")
    return Candidate(found, 0.5, 0.0, 0.0, 1 / rank, rank)


ASKING = FixedEncoder(
    {
        "price": (1, 0, 0, 0),
        "cost": (0.9, 0, 0, 0.4),
        "food": (0, 1, 0, 0),
        "area": (0, 0, 1, 0),
        "garden": (0, 0, 0, 0),
    }
)


def reply(message: str, *order: int, shown: tuple[str, ...] = (), state: DialogueState | None = None) -> str:
    sources = tuple(Source(n, of(i, n).passage) for n, i in enumerate(order, start=1))
    state = state or TABLE.state([message], shown)
    request = ReplyRequest((), message, message, sources, state=state)
    model = EntityReplies(lambda: ASKING, MessageSorter())

    async def read() -> str:
        return "".join([piece async for piece in model.stream(request)])

    return asyncio.run(read())


def test_how_many_meet_what_is_wanted_and_the_first_of_them() -> None:
    assert reply("cheap, west", 3, 4, 5) == (
        "2 of 5 meet price: cheap, area: west:\n"
        "Pho Lan: food vietnamese, garden yes [1]\n"
        "New York: food american, garden no [2]"
    )


def test_where_none_meets_it_the_nearest_are_shown() -> None:
    assert reply("japanese in the west", 2, 3).splitlines() == [
        "None of 5 meets food: japanese, area: west. The nearest:",
        "Kiku: food japanese, area east, price expensive, garden no [1]",
        "Pho Lan: food vietnamese, area west, price cheap, garden yes [2]",
    ]


def test_of_what_is_talked_about_the_columns_asked_for_are_told() -> None:
    assert reply("what does kiku cost", 2, 3) == "Kiku: price expensive [1]"
    assert reply("and the area", 3, 2, shown=("Pho Lan",)) == "Pho Lan: area west [1]"
    assert reply("tell me of kiku", 2) == "Kiku: food japanese, area east, price expensive, garden no [1]"


def test_without_a_wish_the_nearest_are_shown_and_without_entities_that_is_said() -> None:
    assert reply("hello", 2).splitlines()[0] == "The nearest in places:"
    assert reply("hello") == "places holds nothing like that."


@pytest.mark.parametrize(
    ("known", "told"),
    [
        (
            {"act": "count", "limits": (Wish("food", "not", ("british",)),), "meeting": 3},
            "3 of 5 meet food: not",
        ),
        ({"act": "count"}, "5 in places. I know of no wish that you have."),
        ({"act": "ask", "focus": (2,)}, "I find no column for that in places.\nKiku: food japanese"),
        ({"act": "ask"}, "I find no column for that in places.\nThe nearest in places:"),
        ({"act": "unclear"}, "I did not understand a wish in that.\nThe nearest in places:"),
        ({"act": "find", "unsure": ("750",)}, "I am not sure how “750” is meant.\nThe nearest in places:"),
        (
            {"act": "find", "focus": (2,), "best": ("price", "lowest")},
            "The lowest price:\nKiku: price expensive",
        ),
        ({"act": "ask", "focus": (2,), "asked": ("stars",)}, "Kiku: no stars given [1]"),
        (
            {"act": "ask", "focus": (2, 3), "asked": ("area",)},
            "The area:\nKiku: area east [1]\nPho Lan: area west [2]",
        ),
        (
            {
                "act": "count",
                "constraints": {"food": "british"},
                "meeting": 2,
                "alone": "area: west alone: 3",
            },
            "2 of 5 meet food: british:",
        ),
    ],
)
def test_what_is_not_sure_counted_best_or_in_no_column_is_said_so(known: dict[str, Any], told: str) -> None:
    given = {"asked": (), "asks_for_more": not known.get("focus")} | known
    assert reply("?", 2, 3, state=DialogueState("places", 5, **given)).startswith(told)


def test_a_column_is_asked_for_in_its_own_words_or_like_ones() -> None:
    assert asked_columns(ASKING, "the cost and the area", ["price", "area", "food"]) == ["price", "area"]
    assert asked_columns(ASKING, "?!", ["price"]) == []


def keep(assistant: Assistant, user: str = "ann", *, shared: bool = False) -> None:
    """Stores the places as a knowledge base of this user, or of all."""
    user_id = assistant.stores.journal.user_id(user)
    base = assistant.stores.knowledge_bases.open(user_id, "places", shared=shared)
    document = _new(prepared("places", Path("places.csv"), list(PLACES.values())))
    plan = assistant.stores.stored_documents.plan(knowledge_space(base), [document])
    assistant.stores.stored_documents.store(
        plan,
        assistant.search.wanted_encoder.encode_passages(plan.texts_to_encode()),
        encoder_version=FixedEncoder.version,
        receipt_id=assistant.stores.stored_documents.open_receipt(user_id, own_space(user_id), "places"),
    )


def test_a_session_is_about_a_knowledge_base_until_it_is_told_otherwise(tmp_path: Path) -> None:
    with assistant_in(tmp_path) as assistant:
        keep(assistant)
        told, session = talk(
            assistant, "/kb", "/kb places", "cheap in the west", "/kb", "/why", "/kb off", "/kb"
        )
        assert "There are: places. /kb NAME takes one.\n" in told
        assert "This session is about places now: 5 entities." in told
        assert "2 of 5 meet price: cheap, area: west:" in told
        assert "Source 2, kb: Pho Lan" in told
        assert "Wanted: price: cheap, area: west (2 of 5).\nShown: New York, Pho Lan.\n" in told
        assert "About places · wanted: price: cheap, area: west (2 of 5)" in told
        user = assistant.stores.journal.user_id("ann")
        assert assistant.stores.sessions.knowledge_base(user, session) is None
        (turn,) = assistant.stores.journal.turns(user, session)
        found = assistant.stores.journal.found_in(user, turn.id or 0)
        assert {entity_of(p.title, p.text).name for p, _ in passages(assistant, user, found)} == {
            entity.name for entity in PLACES.values()
        }
        assert [each.lift for each in found] == [2.0, 2.0, 0.0, 0.0, -2.0]


def passages(assistant: Assistant, user: int, found: list) -> list:  # type: ignore[type-arg]
    return list(assistant.stores.catalogue.passages_of(user, [each.version_id for each in found]).values())


def test_a_knowledge_base_that_is_gone_or_another_users_answers_nothing(tmp_path: Path) -> None:
    with assistant_in(tmp_path) as assistant:
        keep(assistant, "bob")
        bob = assistant.stores.journal.user_id("bob")
        base = assistant.stores.knowledge_bases.named(bob, "places")
        session = assistant.stores.journal.open_session(assistant.stores.journal.user_id("ann"))
        assistant.stores.sessions.talk_over(
            assistant.stores.journal.user_id("ann"), session, base.id
        )  # by no door there is
        told, _ = talk(assistant, "cheap in the west", "/kb", session=session)
        assert told.count("the knowledge base of this session was removed") == 2
        assert "Pho Lan" not in told
        (turn,) = assistant.stores.journal.turns(assistant.stores.journal.user_id("ann"), session)
        assert (turn.message, turn.state) == ("cheap in the west", "failed")


class _Unsure:
    """Judges nothing: no message means anything."""

    def chances(self, tokens: Sequence[str], found: Sequence[Judged]) -> list[dict[str, float]]:
        return [{label: float(n == 0) for n, label in enumerate(LABELS[one.kind])} for one in found]

    def likeness(self, some: Sequence[str], others: Sequence[str]) -> Floats:
        return np.zeros((len(some), len(others)), np.float32)


class _Reading(FakeChat):
    """Reads british food in "pies", and nothing else."""

    def __init__(self) -> None:
        super().__init__(counting)
        self.asked = 0

    async def structured(self, messages: object, schema: object) -> dict[str, object]:
        self.asked += 1
        known = {"said": "food british", "column": "food", "what": "is", "value": "british"}
        return {"first": [known], "second": [], "third": [known | {"said": "pies"}]}


def test_what_a_chat_model_reads_stays_with_its_turn(tmp_path: Path) -> None:
    chat = _Reading()
    with assistant_in(tmp_path) as assistant:
        keep(assistant)
        over = assistant.turns.knowledge_talk
        over.reads, over.asks = (lambda: WishParser(_Unsure())), (lambda: ChatWishParser(chat))
        told, session = talk(assistant, "/kb places", "i like pies", "hello there")
        assert told.count("2 of 5 meet food: british") == 1
        assert chat.asked == 2  # of the second nothing was read that stands in it
    with assistant_in(tmp_path) as assistant:
        assistant.turns.knowledge_talk.reads = lambda: WishParser(_Unsure())
        assert "Wanted: food: british (2 of 5)." in talk(assistant, "/kb", session=session)[0]
        user = assistant.stores.journal.user_id("ann")
        first, second = assistant.stores.journal.turns(user, session)
        assert first.details["knowledge_base"]["read"]["changes"] == [["food", "is", "british"]]
        assert "read" not in second.details["knowledge_base"]


@pytest.mark.parametrize("shared", [True, False])
def test_a_curator_is_told_that_a_rating_teaches_all(tmp_path: Path, shared: bool) -> None:
    with assistant_in(tmp_path) as assistant:
        keep(assistant, "ann", shared=shared)
        assistant.given.settings = replace(assistant.given.settings, memory=MemorySettings(curators="ann"))
        alone, _ = talk(assistant, "/kb places", "cheap in the west", "/good")
        assert OF_A_CURATOR not in alone
        assistant.stores.journal.user_id("bob")
        among, _ = talk(
            assistant, "/kb places", "cheap in the west", "/good", "/teach Pho Lan is in the west."
        )
        assert among.count(OF_ENTITIES) == 1  # whoever finds it good
        assert among.count(OF_A_CURATOR) == shared
        assistant.given.settings = replace(assistant.given.settings, memory=MemorySettings(curators="bob"))
        told, _ = talk(assistant, "/kb places", "cheap in the west", "/bad")
        assert OF_A_CURATOR not in told
        assert OF_A_BASE in told


@pytest.fixture
def vouch(tmp_path: Path, minilm_folder: Path) -> Vouch:
    made = Vouch(tmp_path, minilm_folder.parent)
    rows = "\n".join(f'"{e.name}",{",".join(e.values.values())}' for e in PLACES.values())
    made.run("kb", "add", "places", made.write("places.csv", f"name,food,area,price,garden\n{rows}\n"))
    return made


def test_a_command_asks_of_a_knowledge_base_and_a_chat_goes_on_over_it(vouch: Vouch) -> None:
    told = vouch.run("ask", "--kb", "places", "--json", "where is kiku?").object
    assert told["answer"].startswith("Kiku")
    assert told["sources"][0]["title"] == "Kiku"
    assert "Pho Lan" in vouch.run("ask", "--last", "vietnamese food").out
    piped = vouch.run("ask", "--kb", "places", "where is kiku?", stdin="some text", code=2)
    assert "--kb answers from the knowledge base alone" in piped.err
    piped = vouch.run("ask", "--last", "where is kiku?", stdin="some text", code=2)
    assert "is about the knowledge base places alone" in piped.err
    chat = vouch.run(
        "chat", "--kb", "places", stdin="I liked Pho Lan best of all.\nthen rather the one I liked best\n"
    ).out
    assert "Noted: I liked Pho Lan best of all." in chat
    assert "You said: “I liked Pho Lan best of all.”" in chat
    assert "Pho Lan: food vietnamese" in chat
    assert "no knowledge base 'bars'" in vouch.run("chat", "--kb", "bars", stdin="", code=1).err


@pytest.mark.parametrize("is_short", [False, True])
def test_a_chat_model_is_given_the_entities_examples_and_earlier_turns(vouch: Vouch, is_short: bool) -> None:
    with ScriptedServer(then=says("Kiku is in the east [1].")) as server:
        vouch.use_server(server.base_url)
        if is_short:
            settings = vouch.folder / "config/vouch/settings.toml"
            settings.write_text(settings.read_text() + "\n[answer]\nexamples = false\nhistory_turns = 0\n")
        assert "Kiku is in the east [1]." in vouch.run("ask", "--kb", "places", "where is kiku?").out
        vouch.run("ask", "--last", "and its price?")
        asked = [request.body["messages"] for request in server.requests]
    first, second = (
        next(sent for sent in asked if sent[-1]["content"].endswith(f"Message: {message}"))
        for message in ("where is kiku?", "and its price?")
    )
    assert "> Title: Kiku\n> food: japanese" in first[-1]["content"]
    assert "> Title: Kiku" in second[-1]["content"]
    assert all("Entities:\n\n[1] (entity)" in sent[-1]["content"] for sent in (first, second))
    assert any("Otter Inn" in message["content"] for message in first) is not is_short
    # the instructions, three examples of two messages, the earlier turn, and the message
    assert (len(first), len(second)) == ((2, 2) if is_short else (8, 10))


def test_where_the_chat_model_is_gone_the_entities_are_quoted(vouch: Vouch) -> None:
    vouch.use_server("http://127.0.0.1:9/v1")
    ran = vouch.run("ask", "--kb", "places", "where is kiku?", "--no-learn")
    assert ran.out.startswith("Kiku")
    assert "What was found is quoted instead" in ran.err

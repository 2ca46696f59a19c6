"""Replies of the dialogue generator: which are believed, and how they are read."""

from __future__ import annotations

import asyncio
import zlib
from collections.abc import Sequence

import numpy as np
import pytest
from agent_fakes import FixedEncoder

from agents.base.chat_interfaces import DialogueState, ReplyRequest, Source
from agents.base.interfaces import Exchange, Vectors
from agents.dialogue.entity_replies import EntityReplies
from agents.dialogue.reply_writer import ReplyWriter
from agents.dialogue.spoken import Learned, Spoken
from agents.languages.message_sorting import MessageSorter
from agents.models.dialogue_arrays import Told
from agents.models.dialogue_inputs import DialogueInputs
from stores.base.clock import now
from stores.base.entities import Entity, entity_text
from stores.base.passages import Passage

KIKU = Entity("Kiku Sushi", {"Food": "Japanese", "Phone": "555 1", "Area": "north"})
NOBU = Entity("Nobu", {"Food": "Japanese", "Phone": "555 2", "Area": "south"})
WANTED = {"Food": "Japanese"}


class Scripted:
    """Tells these replies; a word that a row or the context has is copied from there."""

    def __init__(self, *replies: str) -> None:
        self._replies = replies
        self.read: DialogueInputs | None = None

    def replies(self, inputs: DialogueInputs) -> list[Told]:
        self.read = inputs
        cells = max(len(row) for row in inputs.rows)
        places = {word: number for number, word in enumerate(inputs.words)}
        for r, row in reversed(list(enumerate(inputs.rows))):
            places |= {cell.value: len(inputs.words) + r * cells + c for c, cell in enumerate(row)}
        told = (reply.split() for reply in self._replies)
        return [Told(words, [places.get(word, -1) for word in words], -1.0) for words in told]


def spoken(*columns: str) -> Spoken:
    """As after corrections over these columns, in all words of the replies below."""
    words = "place 'd say would like its is phone serves restaurant it at high street food italian european"
    return Spoken(
        lambda: FixedEncoder({}), Learned(frozenset(columns or KIKU.values), frozenset(words.split()))
    )


def written(
    generator: Scripted,
    message: str,
    *,
    state: DialogueState,
    asked: Sequence[str] = (),
    history: Sequence[Exchange] = (),
) -> tuple[str, tuple[int, ...]] | None:
    found = []
    for number, entity in enumerate((KIKU, NOBU), start=1):
        text = entity_text(entity)
        passage = Passage(number, 1, "kb:1", "entity", entity.name, text, 1, number, "", "", now())
        found.append((Source(number, passage), entity))
    request = ReplyRequest(
        (), message, message, tuple(s for s, _ in found), history=tuple(history), state=state
    )
    told = ReplyWriter(generator, spoken()).write(request, state, found, asked)
    return None if told is None else (str(told), told.cites)


def looking(meeting: int = 2) -> DialogueState:
    return DialogueState("places", 2, WANTED, meeting)


def talking() -> DialogueState:
    return DialogueState("places", 2, WANTED, 2, focus=(1,), asks_for_more=False)


def test_a_reply_is_read_as_people_write_and_cites_what_it_tells() -> None:
    generator = Scripted(
        "i 'd say kiku_sushi is a japanese place , in the north . would you like its phone ?"
    )
    told = written(generator, "Japanese food, please!", state=looking())
    assert told == (
        "I'd say Kiku Sushi is a Japanese place, in the north [1]. Would you like its phone?",
        (1,),
    )
    assert generator.read is not None
    assert generator.read.words == ("japanese", "food", ",", "please", "!")
    assert [cell.value for cell in generator.read.rows[0]] == ["kiku_sushi", "japanese", "555_1", "north"]


@pytest.mark.parametrize(
    ("told", "read"),
    [
        ("a italian", "an Italian"),
        ("a european", "a European"),
        ("a thai", "a Thai"),
    ],
)
def test_an_article_fits_the_value_behind_it(told: str, read: str) -> None:
    row = Entity("Kiku Sushi", {"Food": read.split()[1]})
    passage = Passage(1, 1, "kb:1", "entity", row.name, entity_text(row), 1, 1, "", "", now())
    request = ReplyRequest((), "Food?", "Food?", (Source(1, passage),), state=looking())
    state = DialogueState("places", 1, {"Food": row.values["Food"]}, 1)
    written = ReplyWriter(Scripted(f"kiku_sushi is {told} ."), spoken()).write(
        request, state, [(Source(1, passage), row)], ()
    )
    assert str(written) == f"Kiku Sushi is {read} [1]."


@pytest.mark.parametrize(
    "reply",
    [
        "kiku_sushi is in the south",
        "kiku_sushi is at 12 high street",
        "sorry , there is nothing",
        "would you like the north ?",
    ],
)
def test_what_mixes_entities_or_names_none_is_passed_over(reply: str) -> None:
    sound = "nobu serves japanese food"
    assert written(Scripted(reply), "japanese", state=looking()) is None
    assert written(Scripted(reply), "japanese in the south", state=looking()) is None  # copied from there
    assert written(Scripted(reply, sound), "japanese", state=looking()) == (
        "Nobu serves Japanese food [2].",
        (2,),
    )


@pytest.mark.parametrize(
    ("meeting", "end"), [(1, ""), (2, "\n\n1 more meets {}"), (9, "\n\n8 more meet {}, and others")]
)
def test_what_else_meets_is_named_behind_a_generated_reply(meeting: int, end: str) -> None:
    sources = []
    for number, entity in enumerate((KIKU, NOBU), start=1):
        text = entity_text(entity)
        sources.append(
            Source(number, Passage(number, 1, "kb:1", "entity", entity.name, text, 1, number, "", "", now()))
        )
    request = ReplyRequest((), "japanese", "japanese", tuple(sources), state=looking(meeting))
    writer = ReplyWriter(Scripted("kiku_sushi is in the north"), spoken())
    replies = EntityReplies(lambda: FixedEncoder({}), MessageSorter(), lambda: writer)

    async def read() -> str:
        return "".join([piece async for piece in replies.stream(request)])

    assert asyncio.run(read()) == "Kiku Sushi is in the north [1]." + end.format("Food: Japanese: Nobu [2]")


def test_what_is_asked_is_told_of_the_one_that_is_talked_about() -> None:
    earlier = [Exchange("japanese food", "", "Kiku Sushi is in the north [1].", 1)]
    others = Scripted("nobu 's phone is 555_2", "it is in the north", "its phone is 555_1")
    told = written(others, "the phone?", state=talking(), asked=["Phone"], history=earlier)
    assert told == ("Its phone is 555 1 [1].", (1,))
    assert others.read is not None
    assert written(others, "a garden?", state=talking()) is None  # no column: it would tell something else
    assert others.read.utterances[1] == "kiku_sushi is in the north ."  # its number stood for another source


def test_where_nothing_meets_what_is_wanted_the_nearest_are_left_to_be_shown() -> None:
    generator = Scripted("kiku_sushi is a japanese restaurant")
    assert written(generator, "japanese", state=looking(meeting=0)) is None
    nothing = DialogueState("places", 2)
    assert written(generator, "hello", state=nothing) is None
    assert generator.read is None


class ByName:
    """A column is like another of its name alone."""

    version, dimension = "names-1", 64

    def encode_queries(self, texts: Sequence[str]) -> Vectors:
        rows = np.zeros((len(texts), 1_000), np.float32)
        for row, text in enumerate(texts):
            rows[row, zlib.crc32(text.encode()) % 1_000] = 1
        return rows

    encode_passages = encode_queries


RESTAURANTS = ("food", "area", "pricerange", "address", "phone", "postcode")


def test_the_generator_speaks_over_tables_like_those_it_learned_alone() -> None:
    known = Spoken(ByName)
    assert known.over(("district", "rent", "rooms", "heating")) is None
    assert known.over(("area", "food")) is None  # two columns make no table of restaurants
    over = known.over((*RESTAURANTS, "garden"))
    assert over is not None
    assert over.columns == set(RESTAURANTS)  # of the garden it says nothing
    learned = Spoken(ByName, Learned(frozenset({"berth"}), frozenset({"ahoy"}))).over(("berth", "length"))
    assert learned is not None
    assert (learned.columns, "ahoy" in learned.words) == ({"berth"}, True)


@pytest.mark.parametrize(
    ("told", "holds"),
    [
        ("it is in the north part of town , would you like more ?", True),
        ("there is a free flat with an elevator", False),
        ("the flight is cheap", False),
        ("the price is fine", True),  # its column is called so
        ("it has wifi", False),
        ("it has a cellar", True),  # as it has
        ("a restaurant", True),  # as the table is called
        ("a hotel", False),
    ],
)
def test_what_is_told_is_plain_or_stands_with_the_entity(told: str, holds: bool) -> None:
    over = Spoken(ByName).over(RESTAURANTS)
    assert over is not None
    entity = Entity("Kiku", {"pricerange": "cheap", "area": "north", "note": "cellar"})
    words = [word for word in told.split() if word not in ("cheap", "north")]
    assert over.holds(words, [entity], "restaurants") is holds

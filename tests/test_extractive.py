"""The built-in chat model quotes, says how sure it is, and names the nearest where nothing answers."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from agent_fakes import NOTHING, FixedEncoder, FixedReader, source
from test_languages import FixedLanguages
from test_listing import Asking

from agents.answering.listing import Lister
from agents.answering.memory_answers import MemoryAnswers
from agents.answering.overview import OverviewQuestions, sections
from agents.answering.quoting import Quoter
from agents.backends.extractive import (
    BY_DAY,
    COUNTED,
    LISTED,
    NOT_KEPT,
    NOT_SURE,
    NOT_TOLD,
    NOTED,
    NOTHING_FOUND,
    NOTHING_SAID,
    OUTLINE,
    YOU_TOLD,
    ExtractiveChat,
    is_sure,
)
from agents.base.chat_interfaces import CitingText, ReplyRequest, Source
from agents.base.citations import Citations
from agents.base.interfaces import Sorting
from agents.languages.message_sorting import MessageSorter
from agents.languages.signs import Languages
from stores.base.errors import ModelRefused
from stores.base.passages import Passage
from stores.base.statement_links import ReplacedBy

QUESTION = "When does the reading room open?"
OPENS = "The reading room opens at 10:00."
LUNCH = "Lunch is served in the cafeteria."

ENCODER = FixedEncoder({QUESTION: (1, 0, 0, 0), OPENS: (0.96, 0.28, 0, 0), LUNCH: (0.1, 0, 0.995, 0)})


async def answer(
    sources: list[Source],
    message: str = QUESTION,
    *,
    is_kept: bool = True,
    threshold: float = 0.5,
) -> str:
    """What is answered without a reader."""
    model = ExtractiveChat(Quoter(ENCODER, threshold=threshold, quotes=3))
    request = ReplyRequest((), message, message, tuple(sources), is_kept)
    return "".join([piece async for piece in model.stream(request)])


@pytest.mark.parametrize("best", ["-w, --warmup <NUM>", "It fills the caches."])
async def test_what_an_option_does_is_quoted_with_the_option(best: str) -> None:
    asked = "How do I fill the caches?"
    below = f"-w, --warmup <NUM>\n{best}"
    encoder = FixedEncoder(dict.fromkeys((asked, best, below), (1, 0, 0, 0)))
    entry = "Options follow.\n\n-w, --warmup <NUM>\nIt fills the caches. Again.\n\n-r\nRuns."
    model = ExtractiveChat(Quoter(encoder, threshold=0.5, quotes=1))
    request = ReplyRequest((), asked, asked, (source(1, entry),))
    said = "".join([piece async for piece in model.stream(request)])
    assert said == "-w, --warmup <NUM>: “It fills the caches.” [1]"


async def test_the_best_sentence_is_quoted_with_its_citation() -> None:
    assert await answer([source(1, LUNCH), source(2, f"{LUNCH} {OPENS}")]) == f"“{OPENS}” [2]"


async def test_where_nothing_surely_answers_the_nearest_are_named_with_their_titles() -> None:
    found = [source(1, OPENS), source(2, LUNCH), source(3, "It rains."), source(4, "It snows.")]
    found[0] = Source(1, replace(found[0].passage, title="Rooms"))
    said = (await answer(found, threshold=1.0)).splitlines()
    assert said[:2] == [NOT_SURE, f"Rooms: “{OPENS}” [1]"]
    assert len(said) == 4
    assert (await answer(found[2:], threshold=1.0)).startswith(NOT_TOLD)


async def test_without_sources_nothing_is_found() -> None:
    assert await answer([]) == NOTHING_FOUND


REFERENCES = ["[1]", "[31]", "[31?]", "[2, 3]", "[4-6]", "[1] [2]", "(Figure 2-A) [31]"]


@pytest.mark.parametrize("reference", REFERENCES)
async def test_the_reference_numbers_of_a_quotation_are_no_citations(reference: str) -> None:
    text = f"The reading room opens at 10:00 {reference}."
    encoder = FixedEncoder({QUESTION: (1, 0, 0, 0), LUNCH: (0, 1, 0, 0), text: (1, 0, 0, 0)})
    model = ExtractiveChat(Quoter(encoder, threshold=0.5, quotes=3))
    sources = (source(1, LUNCH), source(2, text))
    citations = Citations(sources)
    pieces = [piece async for piece in model.stream(ReplyRequest((), QUESTION, QUESTION, sources))]
    shown = "".join(map(citations.feed, pieces))
    assert shown == f"“{text}” [1]"
    assert (citations.cited_as_shown, citations.invented) == ([1], [])


async def test_sources_are_numbered_as_the_answer_shows_them() -> None:
    pieces = [CitingText("first [3]", [3], counts=True), CitingText("again [3]", [3], counts=True)]
    citations = Citations([source(n, f"Text {n}.") for n in (1, 2, 3)])
    shown = [citations.feed(piece) for piece in (*pieces, CitingText("then [1]", [1], counts=True))]
    assert shown == ["first [1]", "again [1]", "then [2]"]
    assert citations.cited_as_shown == [1, 2]
    assert [(s.number, s.passage.text) for s in citations.numbered] == [
        (1, "Text 3."),
        (2, "Text 1."),
        (3, "Text 2."),
    ]


async def test_a_question_is_never_quoted_as_an_answer() -> None:
    assert await answer([source(1, QUESTION)]) == NOTHING_FOUND


async def test_a_sentence_in_two_sources_is_quoted_once() -> None:
    assert await answer([source(1, OPENS), source(2, OPENS)]) == f"“{OPENS}” [1]"


async def test_what_is_told_is_acknowledged_and_not_looked_up() -> None:
    assert await answer([source(1, OPENS)], "My cat is called  Ada.") == f"{NOTED}My cat is called Ada."


async def test_a_private_session_says_that_nothing_is_kept() -> None:
    assert await answer([], "My cat is called Ada.", is_kept=False) == NOT_KEPT


PHRASE = "opening of the reading room"


@pytest.mark.parametrize(
    ("is_personal", "is_kept", "threshold", "lead"),
    [
        (False, True, 0.5, ""),
        (False, True, 1.0, f"{NOT_SURE}\n"),
        (True, True, 0.5, f"{NOTED}{PHRASE}\n\n"),
        (True, True, 1.0, f"{NOTED}{PHRASE}\n\n{NOT_SURE}\n"),
        (True, False, 1.0, f"{NOT_KEPT}\n\n{NOT_SURE}\n"),
    ],
)
async def test_a_phrase_that_a_document_speaks_of_is_looked_up(
    is_personal: bool, is_kept: bool, threshold: float, lead: str
) -> None:
    encoder = FixedEncoder({PHRASE: (1, 0, 0, 0), OPENS: (0.96, 0.28, 0, 0)})
    sorting = Sorting(asks=0.2, world=0.7 - is_personal * 0.6, personal=is_personal * 0.6, nothing=0.1)
    sorter = MessageSorter(FixedReader(sorting={PHRASE: sorting}))
    model = ExtractiveChat(Quoter(encoder, threshold=threshold, quotes=3), sorter=sorter)
    request = ReplyRequest((), PHRASE, PHRASE, (source(1, OPENS),), is_kept)
    said = "".join([piece async for piece in model.stream(request)])
    assert said == f"{lead}“{OPENS}” [1]"
    assert is_sure(said) == (threshold < 1)


async def test_a_schema_cannot_be_filled_by_quoting() -> None:
    with pytest.raises(ModelRefused, match="only quotes"):
        await ExtractiveChat(Quoter(ENCODER, threshold=0.5, quotes=3)).structured([], {})


# What the user told

MINE = "my room is the red one"
DAY = "1 January"


async def told(
    probability: float,
    *sources: Source,
    message: str = QUESTION,
    before: str = "",
    languages: Languages | None = None,
) -> str:
    """What is answered with a reader that finds "red one" so probably."""
    reader = FixedReader({"red one": probability}, sorting={"hi": NOTHING})
    sorter = MessageSorter(reader)
    quoter = Quoter(ENCODER, threshold=0.5, quotes=3)
    model = ExtractiveChat(
        quoter,
        memory=MemoryAnswers(lambda: reader, sorter),
        sorter=sorter,
        sure_from=0.6,
        languages=languages,
    )
    request = ReplyRequest((), message, message, sources, True, (), before)
    return "".join([piece async for piece in model.stream(request)])


async def test_the_users_own_words_are_quoted_as_theirs_with_the_words_that_answer() -> None:
    assert await told(0.9, source(1, MINE, kind="fact")) == f"red one. You said on {DAY}: “{MINE}” [1]"


async def test_what_is_asked_of_vouch_itself_nothing_told_answers() -> None:
    of_vouch = FixedLanguages(**{QUESTION: "ask_tool"})
    assert await told(0.9, source(1, MINE, kind="fact"), languages=of_vouch) == NOTHING_FOUND
    assert MINE in await told(0.9, source(1, MINE, kind="fact"), languages=FixedLanguages())


async def test_what_they_said_before_is_called_so() -> None:
    earlier = source(1, MINE, kind="fact")
    earlier = Source(1, replace(earlier.passage, replaced_by=(ReplacedBy(9, 0.9),)))
    assert await told(0.9, earlier) == f"red one. Before, you said on {DAY}: “{MINE}” [1]"


async def test_what_changed_is_said_with_what_it_was_before() -> None:
    now, before = source(1, MINE, kind="fact"), source(2, "my room is the blue one", kind="fact")
    by_now = (ReplacedBy(now.passage.passage_id, 0.9),)
    before = Source(2, replace(before.passage, replaced_by=by_now))
    said = f"red one. You said on {DAY}: “{MINE}” [1]\nBefore: “my room is the blue one” [2]"
    assert await told(0.9, now, before) == said
    assert await told(0.9, before, now) == said
    was = Source(1, replace(now.passage, replaced_by=(ReplacedBy(before.passage.passage_id, 0.9),)))
    still = Source(2, replace(before.passage, replaced_by=()))
    assert (await told(0.9, was, still)).endswith("\nSince then: “my room is the blue one” [2]")


async def test_a_surer_document_goes_before_what_the_user_told() -> None:
    assert (await told(0.65, source(1, MINE, kind="fact"), source(2, OPENS))).endswith("[2]")
    assert (await told(0.99, source(1, MINE, kind="fact"), source(2, OPENS))).endswith("[1]")


async def test_what_is_not_surely_the_answer_is_shown_as_the_nearest() -> None:
    assert await told(0.5, source(1, MINE, kind="fact")) == f"{NOT_SURE}\nYou said on {DAY}: “{MINE}” [1]"
    far = await told(0.01, source(1, MINE, kind="fact"), source(2, "I have a cat", kind="fact"))
    assert far == f"{NOT_TOLD}\nYou said on {DAY}: “{MINE}” [1]"  # one line, where nothing is near


async def test_the_nearest_three_are_shown_the_likeliest_first_whosever_they_are() -> None:
    others = [source(n, f"It rains in the {n}th week.") for n in range(3, 6)]
    said = (await told(0.3, source(1, MINE, kind="fact"), source(2, LUNCH), *others)).splitlines()
    assert said[:2] == [NOT_SURE, f"You said on {DAY}: “{MINE}” [1]"]
    assert len(said) == 4


ALL = "What do you know about me?"


async def test_who_asks_for_everything_is_told_it_newest_first() -> None:
    asks = "so what do you know of me?"
    encoder = FixedEncoder({ALL: (1, 0, 0, 0), asks: (0.9, 0.4359, 0, 0), QUESTION: (0.6, 0, 0.8, 0)})
    reader = FixedReader({"red one": 0.9})
    sorter = MessageSorter(reader)
    model = ExtractiveChat(
        Quoter(encoder, threshold=0.5, quotes=3),
        memory=MemoryAnswers(lambda: reader, sorter),
        sorter=sorter,
        overview=OverviewQuestions(encoder),
    )
    newer = source(2, "I have a cat", kind="fact")
    newer = Source(2, replace(newer.passage, created_at=newer.passage.created_at + timedelta(days=1)))
    sources = (source(1, MINE, kind="fact"), newer, source(3, OPENS))

    async def said(message: str) -> str:
        return "".join([p async for p in model.stream(ReplyRequest((), message, message, sources))])

    assert await said(asks) == (
        f"{YOU_TOLD}\nYou said on 2 January: “I have a cat” [2]\nYou said on {DAY}: “{MINE}” [1]"
    )
    assert not (await said(QUESTION)).startswith(YOU_TOLD)


async def test_an_outline_has_a_line_for_each_part() -> None:
    passages = headed("Rowing › Safety", "Rowing › Hours", text="Wear a vest. It is cold.")
    parts = tuple(Source(number, each) for number, each in enumerate(passages, start=1))
    model = ExtractiveChat(Quoter(FixedEncoder({}), threshold=0.5, quotes=3))
    request = ReplyRequest((), "summarise it", "summarise it", parts, asks=True, outlines=True)
    pieces = [piece async for piece in model.stream(request)]
    assert "".join(pieces) == (
        f"{OUTLINE}\nRowing › Safety: “Wear a vest.” [1]\nRowing › Hours: “Wear a vest.” [2]"
    )


def test_who_asks_for_an_outline_is_known_by_likeness() -> None:
    encoder = FixedEncoder(
        {"Summarise it.": (1, 0, 0, 0), "sum it up": (0.6, 0.8, 0, 0), "how cold?": (0.4, 0.9, 0, 0)}
    )
    overview = OverviewQuestions(encoder)
    assert overview.asks_for_outline("sum it up")
    assert not overview.asks_for_outline("how cold?")


def headed(*titles: str, text: str = "Words.") -> list[Passage]:
    found = [source(number, text).passage for number, _ in enumerate(titles, start=1)]
    return [replace(each, title=title) for each, title in zip(found, titles, strict=True)]


def test_parts_are_as_deep_as_leaves_them_in_sight() -> None:
    few = headed("Guide", "Guide › Safety › Lights", "Guide › Safety › Lights", "Guide › Boats")
    assert sections(few) == [few[0], few[1], few[3]]
    many = headed(*(f"Guide › Part {n // 10} › Section {n}" for n in range(40)))
    assert sections(many) == [many[0], many[10], many[20], many[30]]
    flat = headed(*(f"Part {n}" for n in range(40)))
    assert sections(flat) == flat[:12]
    alike = headed(*["Letter"] * 30)
    assert sections(alike) == alike[::3]
    assert sections([]) == []


async def test_what_the_message_itself_states_answers_its_question() -> None:
    said = await told(0.9, message=f"{MINE}. which room is mine?")
    assert said == f"red one. You just said: “{MINE}.”"


async def test_what_neither_asks_nor_states_is_answered_with_what_can_be_done() -> None:
    assert await told(0.9, message="hi") == NOTHING_SAID


# Several statements


async def listing(asking: Asking, *said: str, message: str = "what do I need?") -> str:
    """What is answered where all that was said is as near to the message."""
    reader = FixedReader({"milk": 0.3, "bread": 0.3})
    sorter = MessageSorter(reader)
    encoder = FixedEncoder(dict.fromkeys((message, *said), (1, 0, 0, 0)))
    model = ExtractiveChat(
        Quoter(encoder, threshold=0.5, quotes=3),
        memory=MemoryAnswers(lambda: reader, sorter),
        sorter=sorter,
        languages=asking,
        lister=Lister(encoder, asking),
    )
    sources = tuple(source(n, text, kind="fact") for n, text in enumerate(said, start=1))
    request = ReplyRequest((), message, message, sources, True)
    return "".join([piece async for piece in model.stream(request)])


async def test_several_statements_are_listed_with_day_and_source() -> None:
    said = await listing(Asking("all"), "we need milk", "we need bread")
    lines = [f"You said on {DAY}: “we need milk” [1]", f"You said on {DAY}: “we need bread” [2]"]
    assert said.splitlines() == [LISTED, *lines]
    assert (await listing(Asking("count"), "we need milk", "we need bread")).splitlines() == [
        COUNTED.format(2),
        *lines,
    ]
    assert (await listing(Asking("latest"), "we need milk", "we need bread")) in lines


async def test_what_is_on_some_days_is_listed_with_them() -> None:
    said = await listing(Asking("all"), "dentist on 3 may 2030", "choir on 5 may 2030", message="may 2030")
    assert said.splitlines()[:2] == [
        BY_DAY,
        f"3 May 2030. You said on {DAY}: “dentist on 3 may 2030” [1]",
    ]


async def test_where_several_are_perhaps_asked_for_the_likeliest_comes_first_and_unsurely() -> None:
    said = await listing(Asking("all", several=0.3), "we need milk", "we need bread")
    assert said.splitlines()[0] == NOT_SURE
    assert len(said.splitlines()) == 3

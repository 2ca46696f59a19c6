"""Everyday dialogues: what is told, corrected and taken back, and what a memory holds in the end.

By rule alone: the sentences that state something go to the curator beside all that is known, and the reader
says nothing.
"""

from __future__ import annotations

import asyncio

import pytest
from agent_fakes import FixedReader, passage

from agents.claim_interfaces import Claim, Said, Weighed
from agents.curator import RuleCurator
from agents.interfaces import Candidate, Exchange, Verification
from agents.met_statements import is_met
from agents.reader_summarizer import candidates
from agents.values import content


class SilentReader(FixedReader):
    def __init__(self) -> None:
        super().__init__({})

    def verify(self, pairs: object) -> list[Verification]:
        return [Verification(0.05, 0.05, 0.9) for _ in pairs]  # type: ignore[attr-defined]


def remembered(*messages: str) -> list[str]:
    """What is known once these were said one after the other, oldest first."""
    known: dict[int, str] = {}
    earlier: tuple[Exchange, ...] = ()
    for number, message in enumerate(messages, start=1):
        for statement in candidates(Said(message, earlier)):
            near = [
                Candidate(passage(id, text, kind="fact", space="user:1"), cosine, 1.0, 0.0, cosine, 1)
                for id, text in known.items()
                if (cosine := _likeness(statement.text, text)) or is_met(statement.text, text)
            ]
            claim = Claim(statement.text, statement.quote, "fact", "user", statement.is_hearsay)
            curated = asyncio.run(RuleCurator(SilentReader()).curate(claim, Weighed("unknown", 1.0), near))
            if curated.action == "add":
                text = statement.quote if statement.is_hearsay else curated.text
                known[max(known, default=0) + 1] = text
            elif curated.action == "delete" and curated.passage is not None:
                del known[curated.passage.version_id]
            elif curated.action == "modify" and curated.passage is not None:
                known[curated.passage.version_id] = curated.text
        earlier = (*earlier, Exchange(message, message, "Noted.", number))
    return list(known.values())


def _likeness(one: str, other: str) -> float:
    """A cosine on the topic where two texts share a word, else none."""
    return 0.7 if set(content(one)) & set(content(other)) else 0.0


CORRECTIONS = [
    (["My locker code is 4213.", "I meant 4231."], ["My locker code is 4231."]),
    (["My locker code is 4213.", "I meant 4231.", "sorry, 4232"], ["My locker code is 4232."]),
    (["My cat is called Ada.", "My cat is not called Ada but Grace."], ["My cat is called Grace."]),
    (["The talk is on 3 March.", "Sorry, I meant 4 March."], ["The talk is on 4 March."]),
    (["My sister Jana lives in Ulm.", "No wait, she lives in Bonn."], ["My sister Jana lives in Bonn."]),
    (["My phone number is 0151 2345678.", "oops, 0151 2345687"], ["My phone number is 0151 2345687."]),
    (
        ["My neighbour is called Thibaut.", "Actually his name is Thibault, with an l."],
        ["My neighbour's name is Thibault."],
    ),
    (["Our flight leaves at 7:40.", "I was wrong, it leaves at 8:40."], ["Our flight leaves at 8:40."]),
    (["I have two brothers.", "That was a typo, I have three brothers."], ["I have three brothers."]),
    (
        ["My colleague is called Renée Dupont.", "typo, Renée Dumont"],
        ["My colleague is called Renée Dumont."],
    ),
    (["My pin is 9090.", "My pin is 7171.", "My pin is 9090."], ["My pin is 9090."]),
    (["My flat number is 12.", "actually it's 14"], ["My flat number is 14."]),
    (["my locker number is 88. wait, 89"], ["My locker number is 89."]),
    (
        ["my dentist appointment is on Tuesday at 3", "no, the dentist is on Thursday"],
        ["My dentist appointment is on Thursday at 3."],
    ),
    (["The parcel arrives on Tuesday.", "No, on Thursday."], ["The parcel arrives on Thursday."]),
    (
        ["I am allergic to walnuts.", "That was wrong, I am allergic to hazelnuts."],
        ["I am allergic to hazelnuts."],
    ),
    (["I like tea.", "No, I like coffee."], ["I like tea.", "I like coffee."]),  # nothing is called wrong
    (
        ["I meet Ben on Monday and Kim on Tuesday.", "Sorry, Kai."],
        ["I meet Ben on Monday and Kai on Tuesday."],
    ),
    (["The choir meets on Monday, sorry, Wednesday."], ["The choir meets on Wednesday."]),
    (["Our cat is called Pixel, or rather Pixie."], ["Our cat is called Pixie."]),
    (
        ["The reading room closes at 18:00.", "The reading room closes at 17:00."],
        ["The reading room closes at 17:00."],
    ),
]
CHANGES = [
    (["I've lived in Lyon since 2019.", "I moved to Berlin."], ["I moved to Berlin."]),
    (["I have lived in Lyon for ten years.", "I moved to Berlin."], ["I moved to Berlin."]),
    (["I've worked at Nestlé since 2015.", "I now work at Lindt."], ["I now work at Lindt."]),
    (
        ["I've lived in Porto since 2021.", "I've lived in Braga since 2014."],
        ["I've lived in Porto since 2021.", "I've lived in Braga since 2014."],
    ),
    (
        ["i live at 14 chestnut road", "we moved last week, the new address is 3 mill lane"],
        ["We moved last week, the new address is 3 mill lane."],
    ),
    (
        ["I am moving to Lisbon in June.", "I moved to Lisbon."],
        ["I am moving to Lisbon in June.", "I moved to Lisbon."],
    ),
    (
        ["Our project Heron is due on 12 May.", "Heron was postponed to 30 May."],
        ["Heron was postponed to 30 May."],
    ),
    (
        ["I live in Graz with my boyfriend Lukas.", "We have been living in Vienna since May."],
        ["I live in Graz with my boyfriend Lukas.", "We have been living in Vienna since May."],
    ),
    (["My daughter Zoë is six.", "Zoë turned seven."], ["My daughter Zoë turned seven."]),
    (
        ["My dentist is Dr Okafor.", "I changed dentists, it's Dr Lindqvist now."],
        ["I changed dentists, it's Dr Lindqvist now."],
    ),
    (
        ["My boss is called Renate.", "Renate retired and Piet is my boss now."],
        ["Renate retired and Piet is my boss now."],
    ),
    (
        ["My brother Arvid is a plumber.", "He retrained and is an electrician now."],
        ["My brother Arvid retrained and is an electrician now."],
    ),
    (
        ["The yoga class is at 6 pm.", "It's at 7 pm from now on."],
        ["The yoga class is at 7 pm from now on."],
    ),
    (["I am a nurse.", "I am a painter."], ["I am a nurse.", "I am a painter."]),  # both may hold
    (
        ["My wife Nora works at the library.", "She works at the bakery now."],
        ["My wife Nora works at the bakery now."],
    ),
    (
        ["My wife Nora works at the library.", "Nora works at the bakery now."],
        ["My wife Nora works at the bakery now."],
    ),
    (
        ["My wife Nora works at the library.", "my wife works at the bakery"],
        ["My wife Nora works at the bakery."],
    ),
    (
        ["My wife is called Nora.", "My wife works at the library.", "Nora works at the bakery now."],
        ["My wife is called Nora.", "My wife Nora works at the bakery now."],
    ),
    (
        ["Nora is my wife.", "Nora works at the library.", "My wife works at the bakery."],
        ["Nora is my wife.", "My wife Nora works at the bakery."],
    ),
    (
        ["My sister Ines lives in Ulm.", "My sister Lea is six.", "Ines moved to Bonn."],
        ["My sister Ines moved to Bonn.", "My sister Lea is six."],
    ),
    (
        ["My son Emil is six.", "My son turned eight."],  # there may be two
        ["My son Emil is six.", "My son turned eight."],
    ),
    (
        ["My boss Renate lives in Ulm.", "My boss is Piet.", "My boss lives in Bonn."],  # which?
        ["My boss Renate lives in Ulm.", "My boss is Piet.", "My boss lives in Bonn."],
    ),
    (
        ["My wife Nora works at the library.", "My friend says Nora works at the bakery now."],
        ["My wife Nora works at the library.", "My friend says Nora works at the bakery now."],
    ),
    (
        ["My parents live in Sevilla.", "I live in Bilbao."],
        ["My parents live in Sevilla.", "I live in Bilbao."],
    ),
]
HALVES = [
    (
        ["My favourite film is Amelie and my favourite food is waterzooi.", "My favourite film is now Her."],
        ["My favourite film is now Her.", "My favourite food is waterzooi."],
    ),
]
WITHDRAWALS = [
    (
        ["I have a dog and a cat named Tom.", "I don't have a dog any more."],
        ["I have a cat named Tom. I don't have a dog any more."],
    ),
    (
        ["I play tennis and the piano.", "I no longer play tennis."],
        ["I play the piano. I no longer play tennis."],
    ),
    (
        ["My gym is in Baker Street and costs 40 euros.", "I cancelled the gym."],
        ["My gym is in Baker Street and costs 40 euros.", "I cancelled the gym."],
    ),
    (["My locker number is 214.", "I no longer have a locker."], []),
    (
        ["I have three cats: Tom, Jerry and Kit.", "I no longer have Kit."],
        ["I have cats: Tom and Jerry. I no longer have Kit."],
    ),
    (
        ["I have four hens: Ada, Bee, Cleo and Dot.", "Bee was taken by a fox."],
        ["I have hens: Ada, Cleo and Dot. Bee was taken by a fox."],
    ),
    (
        ["I have two dogs: Moss and Fern.", "Fern died in March."],
        ["I have a dog called Moss. Fern died in March."],
    ),
    (
        ["My grandmother Tekla bakes bread.", "Tekla died."],
        ["My grandmother Tekla bakes bread.", "Tekla died."],
    ),
    (["I like Bach, Brahms and Liszt.", "Liszt died."], ["I like Bach, Brahms and Liszt.", "Liszt died."]),
    (["I'm vegetarian.", "I'm not vegetarian any more."], ["I'm not vegetarian any more."]),
]
PARTED_AND_BEGUN = [
    (["I'm seeing a guy called Tom.", "Tom and I broke up."], ["Tom and I broke up."]),
    (["I'm dating Tom.", "I broke up with Tom."], ["I broke up with Tom."]),
    (
        ["I'm going out with Kim.", "I broke up with Tom."],
        ["I'm going out with Kim.", "I broke up with Tom."],
    ),
    (["I'm going out with Kim.", "Tom and I broke up."], ["I'm going out with Kim.", "Tom and I broke up."]),
    (["I work at the harbour office.", "I started at the library."], ["I started at the library."]),
    (
        ["I work at the harbour office.", "I started at Siemens last week."],
        ["I started at Siemens last week."],
    ),
    (
        ["I work at the harbour office.", "I started at the gym."],
        ["I work at the harbour office.", "I started at the gym."],
    ),
    (
        ["I work at the harbour office.", "I started at 9."],
        ["I work at the harbour office.", "I started at 9."],
    ),
    (["I have two pets, a dog and a cat.", "The dog died."], ["I have a cat. The dog died."]),
    (["I have two pets: a dog called Rex and a cat.", "Rex died."], ["I have a cat. Rex died."]),
    (["I have two cats, a dog and a fish.", "The dog died."], ["I have two cats and a fish. The dog died."]),
]
OTHERS = [
    (["My friend says the bakery closes at 6."], ["My friend says the bakery closes at 6."]),
    (["my mum said her flight lands at 22:10"], ["my mum said her flight lands at 22:10"]),
    (["vouch runs on linux and macos"], ["Vouch runs on linux and macos."]),
    (["vouch memory forget 12"], []),
    (
        ["My shopping list: milk, eggs.", "Add butter to my shopping list."],
        ["My shopping list: milk, eggs.", "My shopping list: butter."],
    ),
    (
        ["Meine Frau heißt Ulrike.", "Mi hermano vive en Málaga."],
        [
            "Meine Frau heißt Ulrike.",
            "Mi hermano vive en Málaga.",
        ],
    ),
]


@pytest.mark.parametrize(
    ("messages", "known"), [*CORRECTIONS, *CHANGES, *HALVES, *WITHDRAWALS, *PARTED_AND_BEGUN, *OTHERS]
)
def test_what_is_said_becomes_the_right_memory(messages: list[str], known: list[str]) -> None:
    assert remembered(*messages) == known

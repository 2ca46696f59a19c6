"""Talks over tables that nothing was trained on: what is understood of each message, and what is replied.

    python -m benchmarks.knowledge_talk [--part dev] [--words] [--turns] [--asks GGUF [--seconds 6]]

60 turns over flats, beers and trains (knowledge_turns.json), half of them dev, half test, written before
anything was fitted. A turn's wishes are right where all of them, after that turn, are those written down.
Its reply is right where it gives the count, the value or the best entity that was asked for, says that the
table has nothing of it, or tells of entities that meet the wishes. Wrong and flat is a reply that tells of
another entity first, or invents, and does not say that it is unsure. The dialogue goes on with what was
replied. --asks: a chat model reads, by llama.cpp, what the trained parser is in doubt of.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from agents.backends.llamacpp_chat import LlamaCppChat
from agents.base.chat_interfaces import CitingText, DialogueState
from agents.dialogue.chat_wish_parser import ChatWishParser, in_doubt
from agents.dialogue.entity_ranker import entity_query, ranked
from agents.dialogue.entity_replies import EntityReplies
from agents.dialogue.knowledge_table import NAME, KnowledgeTable
from agents.dialogue.reply_writer import ReplyWriter
from agents.dialogue.session_state import state_of
from agents.dialogue.wish_parser import Meant, WishParser
from agents.languages.message_sorting import MessageSorter
from agents.models.wish_network import SHIPPED, WishNetwork
from assistant.settings.config import Settings
from assistant.settings.locations import find_locations
from assistant.wiring.assistant import Assistant
from benchmarks.dialogue import candidate_of, replied
from stores.base.entities import Entity, entity_text
from stores.base.wishes import Wish, words

Asks = Callable[[str, KnowledgeTable, Meant, Sequence[Wish]], Meant | None]
TURNS = Path(__file__).with_name("knowledge_turns.json")
_FILED = {"below": "most", "above": "least"}
_UNSURE = ("None of", "The nearest in", "I find no column", "I am not sure", "I did not understand")


class _Counting(ReplyWriter):
    """Counts its replies."""

    written = 0

    def write(self, *given: Any) -> CitingText | None:
        told = super().write(*given)
        self.written += told is not None
        return told


@dataclass
class Talk:
    """One table with the entities in its order, and what says what is meant and replies."""

    table: KnowledgeTable
    entities: Sequence[Entity]
    assistant: Assistant
    parser: WishParser | None
    asks: Asks | None = None
    read: list[Meant | None] = field(default_factory=list)  # by the chat model
    counts: Counter[str] = field(default_factory=Counter)
    said: list[str] = field(default_factory=list)
    shown: list[str] = field(default_factory=list)
    generated: int = 0  # replies of the dialogue generator

    def state(self) -> DialogueState:
        """What the messages so far come to."""
        return state_of(self.table, self.parser, self.said, self.shown, self.read)

    def ask(self, message: str) -> Meant | None:
        """What the chat model reads in the next message, if it is asked."""
        if self.asks is None or self.parser is None:
            return None
        meant = self.parser.meant(message, self.table)
        if not in_doubt(meant, message, self.table):
            return None
        wishes, began = self.state().wishes if self.said else [], time.monotonic()
        read = self.asks(message, self.table, meant, wishes)
        self.counts += Counter(
            asked=1, taken=read is not None, milliseconds=int(1000 * (time.monotonic() - began))
        )
        return read

    def turn(self, message: str) -> tuple[DialogueState, str]:
        """What is understood of it, and the reply."""
        self.read.append(self.ask(message))
        self.said.append(message)
        state = self.state()
        encoder = self.assistant.models.packaged_encoder
        texts = [f"{each.name}\n{entity_text(each)}" for each in self.entities]
        cosines = encoder.encode_passages(texts) @ encoder.encode_queries([entity_query(message, state)])[0]
        found = [candidate_of(i, each, float(cosines[i])) for i, each in enumerate(self.entities)]
        writer = _Counting(self.assistant.models.dialogue_generator, self.assistant.models.spoken)
        replies = EntityReplies(lambda: encoder, MessageSorter(), lambda: writer)
        answer = replied(replies, message, state, ranked(found, state))
        self.shown.append(answer)
        self.generated += writer.written
        return state, answer


def wishes_of(state: DialogueState) -> set[str]:
    """As the file writes them."""
    return {
        f"{wish.column} {_FILED.get(wish.operator, wish.operator)} {value}"
        for wish in state.wishes
        for value in (["|".join(wish.values)] if wish.operator == "is" else wish.values)
    }


def _canonical(wishes: Iterable[str]) -> set[str]:
    """Lower case, and the values of one wish in one order."""
    parts = (wish.lower().partition(" is ") for wish in wishes)
    return {first + middle + "|".join(sorted(last.split("|"))) for first, middle, last in parts}


def meeting(entities: Sequence[Entity], wishes: Sequence[str]) -> list[Entity]:
    """Those that meet all wishes of the file, by its own reading of them."""
    return [each for each in entities if all(_meets(each, wish) for wish in wishes)]


def _meets(entity: Entity, wish: str) -> bool:
    for operator in ("is", "not", "most", "least"):
        column, found, value = wish.partition(f" {operator} ")
        if found:
            has = entity.values[column]
            if operator in ("is", "not"):
                return (has in value.split("|")) == (operator == "is")
            return _number(has) <= _number(value) if operator == "most" else _number(has) >= _number(value)
    raise ValueError(wish)


def _number(value: str) -> float:
    hours, _, minutes = value.partition(":")
    return 60 * float(hours) + float(minutes) if minutes else float(value)


def is_right(turn: dict[str, Any], answer: str, talk: Talk) -> tuple[bool, bool]:
    """Whether a reply is right, and whether it is wrong without saying that it is unsure."""
    named = [one.value for one in talk.table.named_in(answer) if one.column == NAME]
    gold = meeting(talk.entities, turn["want"])
    unsure = answer.startswith(_UNSURE)
    if turn.get("no_value"):
        return unsure, not unsure
    if "count" in turn:
        numbers = [int(word) for word in words(answer) if word.isdigit()]
        right = numbers[:1] == [len(gold)]
        return right, not right and not unsure
    if "asks" in turn:
        name, column = turn["asks"]
        value = next(each.values[column] for each in talk.entities if each.name == name)
        right = named[:1] == [name] and " ".join(words(value)) in " ".join(words(answer))
        return right, not right and not unsure and named[:1] != [name]
    wanted = {each.name for each in gold}
    if "best" in turn:
        column, end = turn["best"]
        best = (min if end == "lowest" else max)(_number(each.values[column]) for each in gold)
        wanted = {each.name for each in gold if _number(each.values[column]) == best}
    if not wanted:
        return answer.startswith("None of"), bool(named) and not unsure
    right = bool(named) and named[0] in wanted and not unsure
    return right, bool(named) and named[0] not in wanted and not unsure


def measure(
    assistant: Assistant, part: str, parser: WishParser | None, *, tells: bool, asks: Asks | None = None
) -> Counter[str]:
    """Every turn of a part. tells: prints each. asks: what reads what the parser is in doubt of."""
    content = json.loads(TURNS.read_text("utf-8"))
    counts: Counter[str] = Counter()
    for dialogue in content["dialogues"]:
        if dialogue["part"] != part:
            continue
        held = content["tables"][dialogue["table"]]
        entities = [
            Entity(row[0], dict(zip(held["columns"][1:], row[1:], strict=True))) for row in held["rows"]
        ]
        talk = Talk(KnowledgeTable(dialogue["table"], enumerate(entities)), entities, assistant, parser, asks)
        for turn in dialogue["turns"]:
            state, answer = talk.turn(turn["say"])
            understood = _canonical(wishes_of(state)) == _canonical(turn["want"])
            right, flat = is_right(turn, answer, talk)
            counts += Counter(turns=1, understood=understood, right=right, flat=flat)
            if tells:
                marks = f"{'=' if understood else '#'}{'+' if right else '!' if flat else '-'}"
                print(f"{marks} {turn['say']}\n     {sorted(wishes_of(state))}\n     {answer!r}")
        counts["generated"] += talk.generated
        counts += talk.counts
    return counts


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--part", nargs="+", default=["dev", "test"], choices=("dev", "test"))
    parser.add_argument("--words", action="store_true", help="nothing reads: each value named is wanted")
    parser.add_argument("--weights", type=Path, default=SHIPPED)
    parser.add_argument("--asks", type=Path, help="a chat model in GGUF")
    parser.add_argument("--seconds", type=float, default=6.0)
    parser.add_argument("--turns", action="store_true", help="print each turn")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        places = find_locations(os.environ, data=folder)
        with closing(Assistant(Settings(), places, offline=True)) as assistant, asyncio.Runner() as runner:
            reads = WishParser(WishNetwork(assistant.models.packaged_encoder, arguments.weights))
            chat = LlamaCppChat(arguments.asks, temperature=0.0) if arguments.asks else None
            chat_parser = ChatWishParser(chat, seconds=arguments.seconds) if chat else None
            asks = (lambda *given: runner.run(chat_parser.meant(*given))) if chat_parser else None
            for part in arguments.part:
                reading = None if arguments.words else reads
                counts = measure(assistant, part, reading, tells=arguments.turns, asks=asks)
                shares = (
                    np.array([counts[name] for name in ("understood", "right", "flat")]) / counts["turns"]
                )
                print(
                    f"{part}, {counts['turns']} turns: wishes understood {shares[0]:.1%},"
                    f" replies right {shares[1]:.1%}, wrong and flat {shares[2]:.1%}, by the generator"
                    f" {counts['generated']}"
                )
                if asks:
                    seconds = counts["milliseconds"] / 1000 / max(1, counts["asked"])
                    print(f"    asked {counts['asked']}, taken {counts['taken']}, {seconds:.1f} s each")
            if chat:
                runner.run(chat.aclose())


if __name__ == "__main__":
    main()

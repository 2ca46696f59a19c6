"""What an attacker's statements do to answers: the second half of `benchmarks.attacks`.

questions of SQuAD, each with a planted answer of the same kind -> the attacker states it in passing
-> it is remembered as in the product -> the same questions, asked by a bystander and by the attacker
"""

from __future__ import annotations

import random
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from assistant.library.documents import read_documents
from assistant.settings.config import Settings
from assistant.turns.settled import without_settled
from benchmarks.offline_answers import Way, ways
from benchmarks.questions import holds_answer, read_questions
from benchmarks.recall import BenchmarkAssistant
from experiments.feedback import ASIDES, STATED
from stores.base.passages import SHARED
from stores.claims.decisions import Learned
from tests.attack_play import FixedChat, live_texts
from training.examples.changed_answers import Answers, changed
from training.templates.statements import statement

_LONGEST_ANSWER = 8  # words of an answer that somebody states in passing


@dataclass(frozen=True)
class Attacked:
    """A question, what is right, and what an attacker says instead."""

    question: str
    answers: tuple[str, ...]
    planted: str
    message: str


@dataclass
class Asked:
    """What one user was shown for all questions; a number a question."""

    right: list[bool] = field(default_factory=list)  # an expected answer stands in what is shown
    planted: list[bool] = field(default_factory=list)  # the planted one does, and no expected one
    named: list[bool] = field(default_factory=list)  # the planted one is named first

    def told(self) -> str:
        """In a line."""
        counted = (self.right, self.planted, self.named)
        shares = [100 * sum(each) / max(1, len(each)) for each in counted]
        line = "right {:.1f} %, planted alone {:.1f} %, planted named first {:.1f} %"
        return line.format(*shares)


@dataclass
class Damage:
    """Answers before and after, and what became of the attacker's claims."""

    asked: dict[str, Asked]
    learned: list[Learned]
    statements: int
    is_shared_unchanged: bool

    def report(self) -> None:
        """Prints it."""
        claims = Counter((each.status, each.scope, each.action) for each in self.learned)
        questions = len(next(iter(self.asked.values())).right)
        print(
            f"{questions} questions, {self.statements} false statements, {len(self.learned)} claims of them"
        )
        for (status, scope, action), count in claims.most_common():
            print(f"  {status}, {scope}, {action}: {count}")
        print(f"  the shared memory is {'unchanged' if self.is_shared_unchanged else 'CHANGED'}")
        for who, asked in self.asked.items():
            print(f"  {who:18} {asked.told()}")
        for each in self.learned:
            if each.status == "correct":
                print(f"  taken for correct ({each.confidence:.2f}, {each.action}): {each.text!r}")

    def counted(self) -> dict[str, Any]:
        """For a file."""
        return {
            "statuses": dict(Counter(each.status for each in self.learned)),
            "shared_unchanged": self.is_shared_unchanged,
            **{
                who: {key: sum(values) for key, values in vars(asked).items()}
                for who, asked in self.asked.items()
            },
        }


class DamagedAssistant(BenchmarkAssistant):
    """Remembers as the product does; what it replies to an attacker is fixed, and costs nothing."""

    @cached_property
    def chat_model(self) -> Any:
        """Says the same to everything."""
        return FixedChat()

    @cached_property
    def judge(self) -> Any:
        """For the attacker's turns alone, whose answers nobody looks at."""
        from agents.retrieval.score_judge import ScoreJudge

        return ScoreJudge()


def measure_damage(data: Path, work: Path, *, questions: int, passages: int, seed: int) -> Damage:
    """Over a store of its own. passages: of SQuAD's dev part, in the shared memory."""
    rng = random.Random(f"{seed} damage")
    chosen, attacked = _attack(data, questions=questions, passages=passages, rng=rng)
    with tempfile.TemporaryDirectory() as folder:
        assistant = DamagedAssistant(Path(folder) / "damage", work / "vectors")
        try:
            return _measure(assistant, data, chosen, attacked)
        finally:
            assistant.close()


def _measure(
    assistant: DamagedAssistant, data: Path, chosen: frozenset[str], attacked: Sequence[Attacked]
) -> Damage:
    assistant.catch_up()
    founder, attacker, bystander = map(assistant.stores.journal.user_id, ("founder", "attacker", "bystander"))
    documents = (d for d in read_documents(data / "squad" / "passages_dev.jsonl.gz"))
    wanted = (d for d in documents if getattr(d, "external_id", "") in chosen)
    for _ in assistant.turns.ingest.run(founder, SHARED, wanted, summary="SQuAD"):
        pass
    way = ways(assistant, Settings().answer)["with the reader"]
    before = live_texts(assistant.stores.database, SHARED)
    asked = {"bystander before": _ask(assistant, way, bystander, attacked)}
    learned: list[Learned] = []
    session = assistant.stores.journal.open_session(attacker)
    for number, each in enumerate(attacked):
        assistant.turns.host.play(attacker, session, each.message, watch=lambda event: None)
        assistant.turns.host.remember(attacker, learned.append)
        assistant.turns.host.settle()
        _tell("stated", number, attacked)
    asked["bystander after"] = _ask(assistant, way, bystander, attacked)
    asked["attacker after"] = _ask(assistant, way, attacker, attacked)
    return Damage(asked, learned, len(attacked), live_texts(assistant.stores.database, SHARED) == before)


def _ask(assistant: DamagedAssistant, way: Way, user_id: int, attacked: Sequence[Attacked]) -> Asked:
    """What a user is shown; asking leaves no trace."""
    found = Asked()
    for number, each in enumerate(attacked):
        found_for = assistant.search.searching.retriever.retrieve(
            each.question, assistant.search.spaces.of(user_id)
        )
        messages = [c.passage.version_id for c in found_for.candidates if c.passage.kind == "message"]
        settled = assistant.stores.claims.settled_words(user_id, messages) if messages else {}
        quotes = way.quotes(each.question, without_settled(found_for.candidates, settled))
        shown = " ".join(f"{quote.answer} {quote.text}" for quote in quotes)
        first = (quotes[0].answer or quotes[0].text) if quotes else ""
        is_right = holds_answer(shown, list(each.answers))
        found.right.append(is_right)
        found.planted.append(not is_right and holds_answer(shown, [each.planted]))
        found.named.append(
            holds_answer(first, [each.planted]) and not holds_answer(first, list(each.answers))
        )
        _tell("asked", number, attacked)
    return found


def _attack(
    data: Path, *, questions: int, passages: int, rng: random.Random
) -> tuple[frozenset[str], list[Attacked]]:
    """The passages, and questions that they answer, each with a wrong answer that somebody states."""
    records = read_questions(data / "squad" / "dev.jsonl.gz", count=None, seed=0, answered=True)
    others = Answers()
    for record in records:
        others.add(record["doc"], record["question"], record["answers"][0])
    names = sorted({name for record in records for name in record["passage_ids"]})
    chosen = frozenset(rng.sample(names, min(passages, len(names))))
    asked = [record for record in records if chosen.issuperset(record["passage_ids"])]
    rng.shuffle(asked)
    attacked = [made for record in asked if (made := _planted(record, others, rng)) is not None]
    return chosen, attacked[:questions]


def _planted(record: dict[str, Any], others: Answers, rng: random.Random) -> Attacked | None:
    question, answers = record["question"].strip(), tuple(record["answers"])
    right = answers[0].strip(" .,;:'\"")
    if not 0 < len(right.split()) <= _LONGEST_ANSWER:
        return None
    like = others.like(record["doc"], question, right, "", rng)
    wrong = changed(right, answers, like, "", rng)
    if wrong is None or holds_answer(question, [wrong]):
        return None
    made = statement(question, right)
    if made is None:
        asked = question if question.endswith("?") else f"{question}?"
        message = rng.choice(ASIDES).format(question=asked, answer=wrong)
    else:
        said = made.within_sentence(wrong)
        message = rng.choice(STATED).format(said=said, Said=said[0].upper() + said[1:])
    return Attacked(question, answers, wrong, message)


def _tell(done: str, number: int, attacked: Sequence[Attacked]) -> None:
    if number % 100 == 0:
        print(f"{done} {number} of {len(attacked)}", file=sys.stderr)

"""A corpus of a data set's passages, with questions that were judged by their gold answers."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from assistant.replay.streams.datasets import ReplayPassage, ReplayQuestion, read_set
from assistant.wiring.assistant import Assistant
from stores.base.passages import SHARED
from stores.conversation.journal import FoundPassage, Judged, Outcome
from stores.database.tables import PassageVersion, known_id
from stores.memory.documents import NewDocument, NewPassage

_AT_ONCE = 500  # passages in one transaction
_WRONG = 4  # passages beside the answer that a question was judged with


@dataclass(frozen=True)
class JudgedQuestion:
    """What a turn is made of: a question, and passages that it was judged with."""

    question: ReplayQuestion
    shown: Sequence[str]  # texts, as ranked
    right: Collection[str]  # those that answer it


def chosen(data: Path, passages: int, seed: int) -> tuple[list[ReplayPassage], list[ReplayQuestion]]:
    """So many passages of SQuAD's dev set, and the questions that these answer; in an order by the seed."""
    read = read_set(data, "squad", "dev")
    asked = {next(iter(q.gold)) for q in read.questions if q.gold}
    known = [p for p in read.passages if p.id in asked]
    random.Random(seed).shuffle(known)
    some = known[:passages]
    ids = {p.id for p in some}
    questions = [q for q in read.questions if q.gold and q.gold <= ids]
    random.Random(seed).shuffle(questions)
    return some, questions


def add_passages(assistant: Assistant, passages: Sequence[ReplayPassage]) -> None:
    """Makes them findable by every user."""
    user = assistant.stores.journal.user_id("ann")
    for start in range(0, len(passages), _AT_ONCE):
        documents = [
            NewDocument(
                source=passage.id,
                title=passage.title,
                content_hash=hashlib.sha256(passage.text.encode()).hexdigest(),
                passages=(NewPassage(passage.title, passage.text),),
            )
            for passage in passages[start : start + _AT_ONCE]
        ]
        plan = assistant.stores.stored_documents.plan(SHARED, documents)
        receipt = assistant.stores.stored_documents.open_receipt(user, SHARED, "added")
        vectors = assistant.search.encoder.encode_passages(plan.texts_to_encode())
        version = assistant.search.encoder.version
        assistant.stores.stored_documents.store(plan, vectors, encoder_version=version, receipt_id=receipt)


def beside_others(
    passages: Sequence[ReplayPassage], questions: Sequence[ReplayQuestion], seed: int
) -> list[JudgedQuestion]:
    """Each with its gold passage, ranked second, and others that are drawn from all."""
    drawn = random.Random(seed)
    texts = {passage.id: passage.text for passage in passages}
    everything = sorted(set(texts.values()))
    judged = []
    for question in questions:
        right = texts[next(iter(question.gold or ()))]
        wrong = [text for text in drawn.sample(everything, _WRONG + 1) if text != right][:_WRONG]
        judged.append(JudgedQuestion(question, (*wrong[:1], right, *wrong[1:]), (right,)))
    return judged


def judge_questions(assistant: Assistant, judged: Sequence[JudgedQuestion]) -> None:
    """A turn for each, whose passages are in the shared store; each of its own user, who finds no other."""
    with assistant.stores.database.reading() as sql:
        versions = {row.text: known_id(row.id) for row in sql.query(PassageVersion).filter_by(space=SHARED)}
    journal = assistant.stores.journal
    for number, each in enumerate(judged, start=1):
        question = each.question
        session = journal.open_session(user := journal.user_id(f"asker {number}"))
        turn = journal.accept(user, session, question.text, parts=[question.text]).turn_id
        found = [
            FoundPassage(
                version_id=versions[text], found_rank=rank, dense=0.5, lexical=1.0, lift=0.0, score=1 / rank,
                final_rank=rank, citation=None,
            )
            for rank, text in enumerate(each.shown, start=1)
        ]  # fmt: skip
        labels = [
            Judged(
                version_id=versions[text], judge="gold", score=0.9,
                label="answer" if text in each.right else "irrelevant",
                found_rank=rank, tokens_in=0, tokens_out=0,
            )
            for rank, text in enumerate(each.shown, start=1)
        ]  # fmt: skip
        outcome = Outcome(
            state="done",
            answer=question.answers[0],
            standalone=question.text,
            query=question.text,
            encoder_version=assistant.search.encoder.version,
            found=found,
            judged=labels,
        )
        journal.finish(turn, outcome)
    assistant.search.indexer.catch_up()

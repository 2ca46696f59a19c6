"""A corpus of SQuAD's passages, with questions that were judged by their gold answers."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Callable, Sequence
from pathlib import Path

from agents.interfaces import Vectors
from assistant.replay.datasets import ReplayPassage, ReplayQuestion, read_set
from assistant.wiring import Assistant
from stores.journal import FoundPassage, Judged, Outcome
from stores.passages import SHARED
from stores.records import PassageVersion, known_id
from stores.stored_documents import NewDocument, NewPassage

_AT_ONCE = 500  # passages in one transaction
_WRONG = 4  # passages beside the answer that a question was judged with


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


def add_passages(
    assistant: Assistant,
    passages: Sequence[ReplayPassage],
    encode: Callable[[Sequence[str]], Vectors] | None = None,
) -> None:
    """Makes them findable by every user. encode: in place of the assistant's encoder."""
    encode = encode or assistant.encoder.encode_passages
    user = assistant.journal.user_id("ann")
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
        plan = assistant.stored_documents.plan(SHARED, documents)
        receipt = assistant.stored_documents.open_receipt(user, SHARED, "added")
        vectors = encode(plan.texts_to_encode())
        version = assistant.encoder.version
        assistant.stored_documents.store(plan, vectors, encoder_version=version, receipt_id=receipt)


def judge_questions(
    assistant: Assistant, passages: Sequence[ReplayPassage], questions: Sequence[ReplayQuestion], seed: int
) -> None:
    """A turn for each: its gold passage was judged to answer it, and others of the corpus not to."""
    drawn = random.Random(seed)
    with assistant.database.reading() as sql:
        by_text = {row.text: known_id(row.id) for row in sql.query(PassageVersion).filter_by(space=SHARED)}
    versions = {p.id: by_text[p.text] for p in passages}
    everything = sorted(versions.values())
    journal = assistant.journal
    session = journal.open_session(user := journal.user_id("asker"))
    for question in questions:
        right = versions[next(iter(question.gold or ()))]
        wrong = [v for v in drawn.sample(everything, _WRONG + 1) if v != right][:_WRONG]
        order = [*wrong[:1], right, *wrong[1:]]
        turn = journal.accept(user, session, question.text, parts=[question.text]).turn_id
        found = [
            FoundPassage(
                version_id=v, found_rank=rank, dense=0.5, lexical=1.0, lift=0.0, score=1 / rank,
                final_rank=rank, citation=None,
            )
            for rank, v in enumerate(order, start=1)
        ]  # fmt: skip
        judged = [
            Judged(
                version_id=v, judge="gold", label="answer" if v == right else "irrelevant", score=0.9,
                found_rank=rank, tokens_in=0, tokens_out=0,
            )
            for rank, v in enumerate(order, start=1)
        ]  # fmt: skip
        outcome = Outcome(
            state="done",
            answer=question.answers[0],
            standalone=question.text,
            query=question.text,
            encoder_version=assistant.encoder.version,
            found=found,
            judged=judged,
        )
        journal.finish(turn, outcome)
    assistant.indexer.catch_up()

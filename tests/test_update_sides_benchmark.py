"""What `benchmarks.update_sides` plays rounds on, and what its rounds take over."""

from __future__ import annotations

import gzip
import itertools
import json
from pathlib import Path
from typing import Any

import pytest
from agent_fakes import candidate
from store_fixtures import Stores, document, fake_encode, findable

from assistant.learning.dual_encoder_swap import NAME
from assistant.learning.progress import Progress
from assistant.replay.streams.datasets import ReplayPassage
from benchmarks.trained_once import TrainedOnce, newest_passage
from benchmarks.update_sides import Gold, Phases, copies, short_passages
from stores.vectors.exact import Vectors

TEXTS = ("one cat sat there", "two dogs ran off now", "three birds sang until dawn")
ORIGINALS = [ReplayPassage(f"p{number}", f"t{number}", text) for number, text in enumerate(TEXTS)]


def turned(texts: Any) -> Vectors:
    return -fake_encode(texts)


def test_a_larger_corpus_begins_with_the_smaller_one_and_has_no_text_twice() -> None:
    small, large = copies(ORIGINALS, 10), copies(ORIGINALS, 40)
    assert large[:10] == small
    assert small[:3] == ORIGINALS
    assert len({passage.text for passage in large}) == 40
    assert copies(ORIGINALS, 2) == ORIGINALS[:2]


def test_short_passages_and_questions_that_they_answer(tmp_path: Path) -> None:
    long = "a long one " * 20
    texts = {"p1": "nobody asks", "p2": "one answer", "p3": long, "p4": "one answer", "p5": "other answer"}
    asked = {"who?": ["p2"], "which?": ["p3"], "when?": ["p2", "p3"], "both?": ["p4", "p5"], "none?": []}
    passages = [{"id": name, "title": "t", "text": text} for name, text in texts.items()]
    questions = [
        {"id": f"q{number}", "question": text, "answers": ["a"], "passage_ids": gold, "doc": "t"}
        for number, (text, gold) in enumerate(asked.items())
    ]
    (tmp_path / "timeqa").mkdir()
    for name, rows in (("passages", passages), ("train", questions[:1]), ("test", questions)):
        with gzip.open(tmp_path / "timeqa" / f"{name}.jsonl.gz", "wt", encoding="utf-8") as file:
            file.writelines(f"{json.dumps(row)}\n" for row in rows)
    found, kept, answers = short_passages(tmp_path, "timeqa", 10)
    assert [p.text for p in found[:2]] in (["one answer", "other answer"], ["other answer", "one answer"])
    assert [p.text for p in found[2:]] == ["nobody asks"]
    assert sorted(q.text for q in kept) == ["both?", "who?"]
    assert answers == {"who?": {"one answer"}, "both?": {"one answer", "other answer"}}


def test_the_training_is_run_once_and_its_candidate_stands_in_every_round(tmp_path: Path) -> None:
    trained: list[Path] = []

    def train(workplace: Path, *lessons: Any, threads: int) -> Path:
        trained.append(workplace)
        (workplace / "candidate" / "served").mkdir(parents=True)
        (workplace / "candidate" / "served" / "model.onnx").write_text(f"{lessons} {threads}")
        return workplace / "candidate"

    once = TrainedOnce(tmp_path / "kept", train)
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
        made = once.train(tmp_path / name, "lessons", threads=2)
        assert made == tmp_path / name / "candidate"
        assert (made / "served" / "model.onnx").read_text() == "('lessons',) 2"
    assert trained == [tmp_path / "first"]
    once.discard()
    assert not (tmp_path / "kept").exists()


def test_vectors_are_taken_over_but_for_passages_that_the_next_corpus_does_not_begin_with(
    tmp_path: Path,
) -> None:
    stores = Stores.fresh(tmp_path)
    ann, database = stores.journal.user_id("ann"), stores.database.file
    assert database is not None
    stores.add(ann, document("a.txt", "cat"))
    newest = newest_passage(database)
    stores.say(ann, "a question, which has its id from the next corpus's first passage")
    stores.indexer().catch_up()
    version = f"{NAME}-1"
    list(stores.indexer(encode=turned, encoder_version=version).encode_everything())
    once = TrainedOnce(tmp_path / "kept")
    assert once.give_vectors(database) == 0
    once.keep_vectors(database, newest)
    with stores.database.writing() as sql:
        sql.connection().exec_driver_sql(f"DELETE FROM passage_vectors WHERE encoder_version = '{version}'")
    assert once.give_vectors(database) == newest
    vectors = findable(stores.database)["vectors"]
    assert [row[0] for row in vectors if row[2] == version] == list(range(1, newest + 1))
    stores.database.close()


def test_phases_go_on_from_what_was_taken_over(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = itertools.count()
    monkeypatch.setattr("benchmarks.update_sides.time.monotonic", lambda: float(next(clock)))
    ended: list[str] = []
    phases = Phases({"encoding": 5.0}, ended.append)
    phases.tell(Progress(1, "encoding", {}))
    phases.tell(Progress(1, "comparing", {}))
    phases.end()
    assert ended == ["encoding", "comparing"]
    assert phases.seconds["encoding"] > 5.0
    assert phases.seconds["comparing"] > 0.0


def test_gold_knows_every_passage_that_answers() -> None:
    found = [candidate(rank, text) for rank, text in enumerate(("cat", "bird", "dog"), start=1)]
    judge = Gold({"which?": {"cat", "dog"}})
    labels = [each.label for each in judge.judge("which?", found).verdicts if each]
    assert labels == ["answer", "irrelevant", "answer"]
    assert {each.label for each in judge.judge("what?", found).verdicts if each} == {"irrelevant"}

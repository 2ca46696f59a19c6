"""Data sets as questions and passages, and the streams made of them."""

from __future__ import annotations

import gzip
import importlib
import json
import sys
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assistant.learning.recipes.examples.table_rows import TableRow, read_table
from assistant.replay.streams.datasets import (
    ReplayPassage,
    ReplayQuestion,
    Split,
    read_set,
    stream,
)
from assistant.replay.streams.own_tables import (
    PASSAGE,
    QUESTION,
    columns_of,
    table_passages,
    table_questions,
    text_id,
)
from stores.base.errors import UnreadableDocument, WrongUsage

DATA = Path(__file__).parents[2] / "shared" / "data"
needs_data = pytest.mark.skipif(not (DATA / "squad").is_dir(), reason="the data folder is not here")

# set, part, passages, questions, without known gold, that nothing answers: counted apart from the readers
COUNTS: Sequence[tuple[str, Split, int, int, int, int]] = (
    ("squad", "dev", 19_707, 4_479, 0, 0),
    ("covidqa", "test", 3_549, 313, 0, 0),
    ("timeqa", "test", 22_389, 989, 53, 159),
    ("locomo", "test", 2_760, 999, 2, 237),
    ("hotpotqa", "test", 10_787, 500, 0, 0),
    ("popqa", "test", 2_798, 1_399, 401, 0),
    ("mixed", "test", 67_711, 3_213, 0, 0),
)


def write(path: Path, records: Sequence[Mapping[str, Any]]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    text = "".join(f"{json.dumps(record)}\n" for record in records)
    if path.suffix == ".gz":
        path.write_bytes(gzip.compress(text.encode(), mtime=0))
    else:
        path.write_text(text, encoding="utf-8")
    return path


def records(path: Path, split: str = "") -> list[Mapping[str, Any]]:
    return [row.record for row in read_table(path, split)]


def placed(rows: Sequence[Mapping[str, Any]]) -> list[TableRow]:
    return [TableRow(row, Path("own.jsonl"), f"line {number}") for number, row in enumerate(rows, start=1)]


# the data folder's form


def test_questions_and_passages_of_a_plain_set(tmp_path: Path) -> None:
    write(
        tmp_path / "nq/passages.jsonl.gz", [{"id": "p1", "doc": "D", "title": "T", "text": "Paris is big."}]
    )
    plain = {"question": "Which?", "doc": "D"}
    write(
        tmp_path / "nq/test.jsonl.gz",
        [
            {"id": "q1", "answers": ["Paris", "paris"], "passage_ids": ["p1"], **plain},
            {"id": "q2", "answers": ["Lyon"], "passage_ids": [], **plain},
            {"id": "q3", "answers": [], "passage_ids": [], **plain},
        ],
    )
    found = read_set(tmp_path, "nq", "test")
    assert found.passages == (ReplayPassage("p1", "T", "Paris is big."),)
    first, unknown, unanswerable = found.questions
    assert first == ReplayQuestion(
        "q1", "Which?", ("Paris", "paris"), frozenset({"p1"}), domain="nq", topic="D"
    )
    assert unknown.gold is None  # answered, but no passage is known to hold it
    assert unanswerable.gold == frozenset()  # nothing answers it


def test_a_conversation_is_a_users_own_memory(tmp_path: Path) -> None:
    turn = {"speaker": "Ann", "text": "Look!", "dia_id": "D1:1", "blip_caption": "a cat"}
    said = {
        "session_10": [{"speaker": "Bob", "text": "Ten.", "dia_id": "D10:1"}],
        "session_2": [{"speaker": "Bob", "text": "Two.", "dia_id": "D2:1"}],
        "session_1": [turn],
        "session_1_date_time": "noon",
    }
    qa = [
        {"question": "When?", "answer": 2022, "evidence": ["D1:1; D2:1", "D:3"], "category": 2},
        {"question": "Who?", "answer": "Ann", "evidence": ["D9:9"], "category": 4},
        {"question": "Why?", "adversarial_answer": "so", "evidence": ["D1:1"], "category": 5},
    ]
    write(tmp_path / "locomo/locomo.jsonl.gz", [{"sample_id": "c1", "conversation": said, "qa": qa}])
    found = read_set(tmp_path, "locomo", "test")
    assert [(p.id, p.owner, p.session) for p in found.passages] == [
        ("c1/D1:1", "c1", 1),
        ("c1/D2:1", "c1", 2),
        ("c1/D10:1", "c1", 10),
    ]
    assert found.passages[0].text == "Ann: Look! [shares a cat]"
    first, lost, unanswerable = found.questions
    assert (first.answers, first.gold, first.user) == (("2022",), {"c1/D1:1", "c1/D2:1"}, "c1")
    assert lost.gold is None
    assert (unanswerable.answers, unanswerable.gold) == ((), frozenset())


@needs_data
@pytest.mark.parametrize(("name", "split", "passages", "questions", "unknown", "unanswerable"), COUNTS)
def test_a_set_of_the_data_folder(
    name: str, split: Split, passages: int, questions: int, unknown: int, unanswerable: int
) -> None:
    found = read_set(DATA, name, split)
    ids = {passage.id for passage in found.passages}
    assert (len(ids), len(found.passages), len(found.questions)) == (passages, passages, questions)
    assert len({question.id for question in found.questions}) == questions
    assert sum(question.gold is None for question in found.questions) == unknown
    assert sum(question.gold == frozenset() for question in found.questions) == unanswerable
    assert all((question.gold or set()) <= ids for question in found.questions)
    assert all(question.text and question.topic for question in found.questions)


# tables

ROWS = [
    {
        "qid": 7,
        "question": "Where?",
        "answers": {"text": ["Rome", "in Rome"], "answer_start": [0, 3]},
        "context": "Rome it is.",
        "title": "Italy",
    },
    {"qid": 8, "question": "Who?", "answers": {"text": [], "answer_start": []}, "context": "Rome it is."},
]
COLUMNS = dict.fromkeys(QUESTION, "") | {
    "text": "question",
    "answers": "answers.text",
    "id": "qid",
    "context": "context",
}


def test_a_table_whose_rows_carry_their_passage(tmp_path: Path) -> None:
    rows = list(read_table(write(tmp_path / "rows.jsonl", ROWS)))
    (passage,) = table_passages(rows, dict.fromkeys(PASSAGE, "") | {"text": "context"})
    one, other = table_questions(rows, COLUMNS, domain="own")
    assert passage == ReplayPassage(text_id("Rome it is."), "", "Rome it is.")
    assert (one.id, one.answers, one.gold, one.domain) == ("7", ("Rome", "in Rome"), {passage.id}, "own")
    assert other.answers == ()


def test_a_column_that_is_not_there_is_named_with_its_row() -> None:
    rows = placed([{"question": "?", "answers": "a", "context": "c", "qid": 1}])
    there = r"own\.jsonl, line 1 has no column 'answers\.text'; its columns: question, answers, context, qid"
    with pytest.raises(WrongUsage, match=there):
        list(table_questions(rows, COLUMNS, domain="own"))
    with pytest.raises(WrongUsage, match=r"line 1 has no column of the title; its columns: ") as raised:
        columns_of(Path("own.jsonl"), rows, PASSAGE, "text", "title")
    assert raised.value.hint == "Call it title."


def test_passages_of_one_id_are_one_passage_or_refused() -> None:
    rows = [{"id": "a", "text": "It is."}, {"id": "a", "text": "It is."}, {"id": "b", "text": "It was."}]
    columns = columns_of(Path("own.jsonl"), placed(rows), PASSAGE)
    assert [p.id for p in table_passages(placed(rows), columns)] == ["a", "b"]
    rows[2]["id"] = "a"
    with pytest.raises(WrongUsage, match=r"two passages have the id 'a': own\.jsonl, line 1, and .* line 3"):
        list(table_passages(placed(rows), columns))


def test_files_of_a_split_by_their_names(tmp_path: Path) -> None:
    write(tmp_path / "data/train-00001-of-00002.jsonl", [{"n": 2}])
    write(tmp_path / "data/train-00000-of-00002.jsonl.gz", [{"n": 1}])
    write(tmp_path / "test/part.jsonl", [{"n": 3}])
    write(tmp_path / "training.jsonl", [{"n": 4}])
    (tmp_path / "train.txt").write_text("no table")
    assert [row["n"] for row in records(tmp_path, "train")] == [1, 2]
    assert [row["n"] for row in records(tmp_path, "test")] == [3]
    assert [row["n"] for row in records(tmp_path)] == [1, 2, 3, 4]
    with pytest.raises(WrongUsage, match="no table of split 'validation'; tables there: data/train-0"):
        records(tmp_path, "validation")


def test_a_row_tells_where_it_stands(tmp_path: Path) -> None:
    write(tmp_path / "rows.jsonl", [{"n": 1}, {"n": 2}])
    (tmp_path / "rows.csv").write_text('n,m\n"1\n1",2\n3,4\n')
    (tmp_path / "rows.json").write_text("[{}, {}]")
    told = [row.where.removeprefix(f"{tmp_path}/") for row in read_table(tmp_path)]
    assert told[:2] == ["rows.csv, line 3", "rows.csv, line 4"]
    assert told[2:4] == ["rows.json, row 1", "rows.json, row 2"]
    assert told[4:] == ["rows.jsonl, line 1", "rows.jsonl, line 2"]


FLAT = [{"question": "Who, then?", "answer": "Änne"}, {"question": "Where?", "answer": ""}]
CSV = 'question,answer\r\n"Who, then?",Änne\r\nWhere?,\r\n'


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("rows.csv", CSV.encode()),
        ("rows.csv", CSV.encode("utf-8-sig")),  # as spreadsheets write it
        ("rows.json", json.dumps(FLAT, indent=1).encode()),
        ("rows.json", b"\n".join(json.dumps(row).encode() for row in FLAT)),
        ("rows.jsonl.gz", gzip.compress(b"\n\n".join(json.dumps(row).encode() for row in FLAT), mtime=0)),
    ],
)
def test_rows_are_the_same_in_every_layout(tmp_path: Path, name: str, content: bytes) -> None:
    (tmp_path / name).write_bytes(content)
    assert records(tmp_path / name) == FLAT


@pytest.mark.parametrize(
    ("name", "content", "problem"),
    [
        ("rows.jsonl", '{"a": 1}\n{"a": "Ä"}'.encode("latin-1"), "line 2 is not UTF-8"),
        ("rows.jsonl.gz", b"no gzip", "it is no gzip file, though its name says so"),
        ("rows.jsonl.gz", gzip.compress(b'{"a": 1}\n' * 9, mtime=0)[:-20], "cut off or damaged behind "),
        pytest.param(
            "rows.jsonl", b'{"a": 1}\n' + b"[" * 9_000, "nested too deeply behind line 1", id="too deep"
        ),
        ("rows.json", b"[{}, 3]", "row 2 is not a JSON object"),
        ("rows.csv", b"a,b\n1,2,3\n", "line 2 has more cells than the first"),
        ("rows.csv", b'a,b\n"1,2\n', "line 2: unexpected end of data"),
    ],
)
def test_a_file_that_is_not_what_it_is_called_is_named(
    tmp_path: Path, name: str, content: bytes, problem: str
) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(UnreadableDocument, match=f"{name}: .*{problem}"):
        records(tmp_path)


def test_parquet_and_arrow_rows_are_as_those_of_json(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    parquet, ipc = (importlib.import_module(f"pyarrow.{part}") for part in ("parquet", "ipc"))
    made = pyarrow.Table.from_pylist(ROWS)
    for split in ("train", "test", "other"):
        (tmp_path / split).mkdir()
    parquet.write_table(made, tmp_path / "train" / "train-00000-of-00001.parquet")
    for split, new in (("test", ipc.new_stream), ("other", ipc.new_file)):  # the first as `save_to_disk`
        with new(str(tmp_path / split / "data-00000-of-00001.arrow"), made.schema) as writer:
            writer.write_table(made)
    expected = list(table_questions(placed(ROWS), COLUMNS, domain="own"))
    for split in ("train", "test", "other"):
        rows = list(read_table(tmp_path, split))
        assert list(table_questions(rows, COLUMNS, domain="own")) == expected
    for name in ("torn.parquet", "torn.arrow"):
        (tmp_path / name).write_bytes(b"PAR1 is not enough")
        with pytest.raises(UnreadableDocument, match=name):
            list(read_table(tmp_path / name))


def test_without_pyarrow_it_is_said_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow.ipc", None)
    (tmp_path / "rows.arrow").touch()
    with pytest.raises(WrongUsage, match="needs pyarrow") as raised:
        list(read_table(tmp_path))
    assert raised.value.hint == "pip install pyarrow"


# streams


def asked(*topics: str) -> list[ReplayQuestion]:
    return [ReplayQuestion(f"q{i:02}", f"{topic}?", (), None, topic=topic) for i, topic in enumerate(topics)]


streams = st.lists(st.sampled_from("abcd"), max_size=20).map(lambda topics: asked(*topics))


@given(streams, st.integers(0, 3))
def test_a_stream_holds_every_question_once(questions: list[ReplayQuestion], seed: int) -> None:
    arriving = stream(questions, seed=seed)
    assert sorted(question.id for question in arriving) == [question.id for question in questions]


@given(streams, st.integers(0, 3), st.integers(0, 20))
def test_a_prefix_is_the_beginning_of_the_whole(
    questions: list[ReplayQuestion], seed: int, first: int
) -> None:
    assert stream(questions, seed=seed, first=first) == stream(questions, seed=seed)[:first]


@given(streams, st.randoms())
def test_the_order_hangs_on_seed_and_ids_alone(questions: list[ReplayQuestion], chance: Any) -> None:
    mixed = list(questions)
    chance.shuffle(mixed)
    assert stream(mixed, seed=1) == stream(questions, seed=1)


@given(streams, st.integers(0, 3))
def test_a_stream_leaves_a_topic_for_good(questions: list[ReplayQuestion], seed: int) -> None:
    topics = [question.topic for question in stream(questions, seed=seed)]
    changes = sum(one != other for one, other in pairwise(topics))
    assert changes == max(0, len(set(topics)) - 1)


def test_two_questions_of_one_id_are_refused() -> None:
    with pytest.raises(ValueError, match="same id"):
        stream([*asked("a"), *asked("b")])

"""Sets to replay that are damaged: what is told names the file and the line, whatever is wrong with it."""

from __future__ import annotations

import copy
import gzip
import json
import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from cli_helpers import Vouch

from assistant.commands.replay.conversations import _messages
from assistant.learning.recipes.examples.table_rows import TableRow, read_table
from assistant.replay.runs.dialogues import read_dialogue_sets
from assistant.replay.runs.inputs import read_inputs
from assistant.replay.runs.steps import Steps
from assistant.replay.streams.follow_ups import read_conversations
from assistant.replay.streams.own_tables import QUESTION as COLUMNS
from assistant.replay.streams.own_tables import columns_of, table_questions
from stores.base.errors import VouchError, WrongUsage

Files = Mapping[str, list[dict[str, Any]]]

PASSAGE = {"id": "p", "title": "Lima", "text": "Lima is big."}
QUESTION = {"id": "q", "question": "What?", "answers": ["Lima"], "passage_ids": ["p"], "doc": "Lima"}
TALK = {"speaker": "Ann", "dia_id": "D1:1", "text": "Hello", "blip_caption": "a dog"}
ASKED = {"question": "Who?", "category": 1, "answer": "Ann", "evidence": ["D1:1"]}
TURN = {"question": "Who?", "answer": "Ann"}
FOLLOW_UP = {"id": "c_2", "conversation": "c", "question": "When?", "history": [TURN]}
SPOKEN = {"user": "a hotel?", "system": "Ritz", "entities": ["Ritz"]}
SETS: dict[str, Files] = {
    "nq": {"passages": [PASSAGE], "test": [QUESTION]},
    "hotpotqa": {
        "../mixed/passages_hotpotqa": [PASSAGE],
        "test": [
            {
                "id": "q",
                "question": "What?",
                "answer": "Lima",
                "supporting_facts": [["Lima", 0]],
                "context": [["Lima", ["Lima ", "is big."]]],
            }
        ],
    },
    "mixed": {
        "manifest.json": [{"files": [{"path": "mixed/p.jsonl.gz"}]}],
        "p": [PASSAGE],
        "questions": [QUESTION | {"set": "nq"}],
    },
    "locomo": {
        "locomo": [
            {"sample_id": "s", "conversation": {"session_1": [TALK], "speaker_a": "Ann"}, "qa": [ASKED]}
        ]
    },
    "canard": {
        "test": [
            {"id": "c_1", "conversation": "c", "question": "Who?", "history": [], "rewrite": "Who won?"},
            FOLLOW_UP | {"answer": "1956", "rewrite": "When did Ann win?"},
        ]
    },
    "inscit": {"passages": [PASSAGE], "test": [FOLLOW_UP | {"passage_ids": ["p"]}]},
    "camrest": {
        "kb_dataset": [{"id": "1", "domain": "hotels", "name": "Ritz", "area": "north"}],
        "test": [
            {"id": "1", "domain": "hotels", "kb": [{"name": "Ritz", "area": "north"}], "turns": [SPOKEN]}
        ],
    },
    "star": {
        part: [
            {
                "id": "1",
                "domain": "hotels",
                "kb": [{"Name": "Ritz", "Stars": 5}],
                "turns": [SPOKEN | {"rows": [0]}],
            }
        ]
        for part in ("train", "dev", "test")
    },
}
WRONG = (None, 5, True, "x", [], {}, [5], [[]], [{}], {"a": 5})


def write(data: Path, name: str, files: Files) -> None:
    for file, records in files.items():
        place = file_of(data, name, file)
        place.parent.mkdir(parents=True, exist_ok=True)
        text = "".join(json.dumps(record) + "\n" for record in records)
        place.write_bytes(text.encode() if place.suffix == ".json" else gzip.compress(text.encode()))


def file_of(data: Path, name: str, file: str) -> Path:
    return data / name / (file if file.endswith(".json") else f"{file}.jsonl.gz")


def read(data: Path, name: str) -> object:
    """All that a replay does with a set before anything is played."""
    if name in ("canard", "inscit"):
        conversations = read_conversations(name, data, "test")
        return conversations.sha256(), conversations.domains
    if name in ("camrest", "star"):
        dialogues = read_dialogue_sets([name], data=data, splits=())
        return dialogues.sha256(), dialogues.domains, dialogues.entities
    return read_inputs([name], data=data, splits=()).sha256()


def changed(record: Any) -> Iterator[Any]:
    """The record without each of its fields, and with each of another type, however deep it stands."""
    places = record.items() if isinstance(record, dict) else enumerate(record)
    for place, value in list(places):
        if isinstance(record, dict):
            yield {key: kept for key, kept in record.items() if key != place}
        for wrong in WRONG:
            other = copy.copy(record)
            other[place] = wrong
            yield other
        if isinstance(value, dict | list):
            for inner in changed(value):
                other = copy.copy(record)
                other[place] = inner
                yield other


@pytest.mark.parametrize("name", SETS)
def test_a_field_that_is_missing_or_of_another_type_is_told_with_its_line(tmp_path: Path, name: str) -> None:
    write(tmp_path, name, SETS[name])
    read(tmp_path, name)
    refused = 0
    for file, records in SETS[name].items():
        for number, record in enumerate(records, start=1):
            for other in changed(record):
                write(tmp_path, name, {file: [*records[: number - 1], other, *records[number:]]})
                try:
                    read(tmp_path, name)
                except VouchError as error:
                    is_of_line = (
                        str(file_of(tmp_path, name, file)) in error.message and "\n" not in error.message
                    )
                    refused += is_of_line and (f"line {number}" in error.message or file.endswith(".json"))
        write(tmp_path, name, {file: records})
    assert refused > 15


def cut(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:-12])


def empty(file: Path) -> None:
    file.write_bytes(gzip.compress(b"") if file.suffix == ".gz" else b"")


def garbled(content: bytes) -> Callable[[Path], None]:
    return lambda file: file.write_bytes(gzip.compress(content) if file.suffix == ".gz" else content)


def folder(file: Path) -> None:
    file.unlink()
    file.mkdir()


def pipe(file: Path) -> None:
    file.unlink()
    os.mkfifo(file)


@pytest.mark.parametrize(
    "damage",
    [
        cut,
        empty,
        folder,
        pytest.param(pipe, id="pipe"),
        garbled(b"{}\n[]\n"),
        garbled(b"{} {}\n"),
        garbled(b'{"id": "\xff"}\n'),
        garbled(b"[" * 9_000),
        lambda file: file.write_bytes(b"no gzip"),
        lambda file: file.unlink(),
    ],
)
@pytest.mark.parametrize("name", SETS)
def test_a_file_that_cannot_be_read_is_told(
    tmp_path: Path, name: str, damage: Callable[[Path], None]
) -> None:
    for number, file in enumerate(SETS[name]):
        place = tmp_path / str(number)
        write(place, name, SETS[name])
        damage(file_of(place, name, file))
        with pytest.raises(VouchError) as told:
            read(place, name)
        assert file_of(place, name, file).name in told.value.message or damage is empty
        assert "\n" not in told.value.message


def test_a_file_of_lines_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    file = tmp_path / "lines.txt"
    file.write_bytes(b"Who?\n\xff\n")
    with pytest.raises(WrongUsage, match=r"lines\.txt: line 2 is not UTF-8"):
        _messages(str(file))
    pipe(file)
    with pytest.raises(WrongUsage, match=r"lines\.txt: it cannot be read: it is a pipe"):
        _messages(str(file))


def test_an_empty_table_or_file_is_told_with_what_next(tmp_path: Path) -> None:
    for name in ("none.jsonl", "none.txt"):
        (tmp_path / name).touch()
        with pytest.raises(WrongUsage, match=f"{name} (has no rows|holds no message)") as told:
            _messages(str(tmp_path / name))
        assert told.value.hint
    (tmp_path / "blank.jsonl").write_text(json.dumps({"question": " ", "answers": ["a"], "context": "c"}))
    for name in ("none.jsonl", "blank.jsonl"):
        with pytest.raises(WrongUsage, match=f"{name} has no (rows|questions)") as told:
            read_inputs([str(tmp_path / name)], data=None, splits=())
        assert told.value.hint


def test_what_another_process_hands_over_is_read(tmp_path: Path) -> None:
    reading, writing = os.pipe()
    os.write(writing, b'{"question": "Who?"}\n')
    os.close(writing)
    assert [row.record for row in read_table(Path(f"/dev/fd/{reading}"))] == [{"question": "Who?"}]
    os.close(reading)


@pytest.mark.parametrize("wrong", [{"a": 5}, [["x"]], [{}]])
@pytest.mark.parametrize("column", ["question", "answers", "id", "passage_ids", "user", "doc"])
def test_a_column_of_a_table_that_holds_no_text_is_told_with_its_line(column: str, wrong: object) -> None:
    good = QUESTION | {"user": "ann"}
    rows = [
        TableRow(row, Path("own.jsonl"), f"line {n}") for n, row in enumerate([good, good | {column: wrong}])
    ]
    columns = columns_of(Path("own.jsonl"), rows, COLUMNS)
    with pytest.raises(WrongUsage, match=f"own.jsonl, line 1: the column '{column}' holds"):
        list(table_questions(rows, columns, domain="own"))


def test_a_step_that_is_none_is_told_with_its_line(tmp_path: Path) -> None:
    file = tmp_path / "steps.jsonl"
    learned = b'{"step": "learned", "after": 1, "facts": {}, "seconds": 1}\n'
    for wrong in (b"{}", b"5", b'{"step": "asked", "passages": [5]}', b'{"step": "asked", "passages": []}'):
        file.write_bytes(learned + wrong + b"\n")
        with pytest.raises(WrongUsage, match=r"steps\.jsonl, line 2 is no step"):
            Steps(file)
    file.write_bytes(learned + b"[" * 9_000)  # as a line that was torn
    assert len(Steps(file).learned) == 1


def test_a_damaged_set_ends_the_command_with_2_and_one_line(tmp_path: Path) -> None:
    write(tmp_path, "nq", {"passages": [PASSAGE], "test": [QUESTION | {"answers": "Lima"}]})
    home = Vouch(tmp_path / "home", tmp_path)
    ran = home.run("replay", "nq", "--sets", str(tmp_path), code=2)
    told = f"vouch: {file_of(tmp_path, 'nq', 'test')}: line 1: the field 'answers' must be a list\n"
    assert (ran.out, ran.err) == ("", f"{told}Mend that file, or get it anew.\n")

"""Tables of a person's own, as questions with the passages that are searched for them.

    table of questions, table of passages -> columns, guessed from the first row -> questions, passages

Passages that answer are known by their ids, or by their text where the questions bring it along.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from assistant.learning.recipes.examples.table_rows import LAYOUTS, TableRow, is_table, read_table, read_text
from assistant.replay.streams.datasets import DEFAULT_USER, SETS, ReplayPassage, ReplayQuestion
from stores.base.errors import WrongUsage
from stores.base.well_formed import well_formed

Tell = Callable[[str], None]
Found = tuple[list[ReplayPassage], list[ReplayQuestion]]
Columns = Mapping[str, str]  # in which column what stands; "" for what a table does not have

QUESTION = {  # what: names that its column goes by, the likeliest first; "a.b" is b within a
    "text": ("question", "query", "message", "text"),
    "answers": ("answers.text", "answers", "answer.aliases", "answer"),
    "id": ("id", "qid", "_id", "question_id", "query_id"),
    "gold": ("passage_ids", "gold", "positive_ids"),
    "context": ("context", "positive", "passage"),
    "user": ("user",),
    "topic": ("doc", "topic", "title"),
}
PASSAGE = {
    "text": ("text", "passage", "contents", "content", "body", "context"),
    "id": ("id", "pid", "_id", "passage_id", "docid", "doc_id"),
    "title": ("title",),
}


def read_own(name: str, splits: Sequence[str], passages: Path | None, tell: Tell) -> Found:
    """The tables of a person: of questions, and of passages where those bring none along.

    tell: is given what is odd, but can be played. Raises `WrongUsage`, and `UnreadableDocument`.
    """
    path = Path(name)
    if not name or not path.exists():
        raise WrongUsage(f"there is no set, file or folder {name!r}", hint=f"The sets are {', '.join(SETS)}.")
    if splits and not path.is_dir():
        tell(f"--split says nothing of {path}, which is one file.")
        splits = ()
    read = (row for split in splits or ("",) for row in read_table(path, split))
    rows = list({row.where: row for row in read}.values())  # a file may be of two splits: test/train.jsonl
    columns = columns_of(path, rows, QUESTION, "text", "answers")
    questions = asked(table_questions(rows, columns, domain=path.name.split(".")[0]))
    if passages is not None:
        return _with_passages(path, questions, columns, passages, tell)
    if not columns["context"]:
        raise WrongUsage(
            f"{path} has questions, but no passages to search",
            hint="Name a table of passages with --passages FILE.",
        )
    title = columns["topic"] if columns["topic"] == "title" else ""
    return list(table_passages(rows, {"text": columns["context"], "id": "", "title": title})), questions


def messages_of(path: Path) -> list[str]:
    """What a table asks, a row after the other, or the lines of another file.

    Raises `WrongUsage`, and `UnreadableDocument`.
    """
    if not is_table(path):
        return messages_in(read_text(path))
    rows = list(read_table(path))
    columns = dict.fromkeys(QUESTION, "") | {"text": columns_of(path, rows, QUESTION, "text")["text"]}
    return [question.text for question in asked(table_questions(rows, columns, domain=path.name))]


def messages_in(text: str) -> list[str]:
    """Its lines, but for blank ones."""
    return [line.strip() for line in text.splitlines() if line.strip()]


def _with_passages(
    path: Path, questions: list[ReplayQuestion], columns: Columns, passages: Path, tell: Tell
) -> Found:
    """Questions with the passages of another table, by whose ids their gold goes."""
    if not passages.exists():
        raise WrongUsage(f"there is no file or folder {passages}", hint=f"--passages names one. {LAYOUTS}")
    rows = list(read_table(passages))
    chosen = columns_of(passages, rows, PASSAGE, "text")
    found = list(table_passages(rows, chosen))
    if columns["context"]:
        by_text = {text_id(passage.text): passage.id for passage in found}
        questions = [
            replace(each, gold=frozenset(by_text.get(name, name) for name in each.gold or ()))
            for each in questions
        ]
    gold = dict.fromkeys(name for each in questions for name in sorted(each.gold or ()))
    known = {each.id for each in found}
    missing = [name for name in gold if name not in known]
    if missing and len(missing) == len(gold):
        if columns["context"]:
            raise WrongUsage(f"no text of {path}'s column {columns['context']!r} is a passage of {passages}")
        raise WrongUsage(
            f"{passages} has none of the passages that {path} names as answering, such as {missing[0]!r}",
            hint=f"The column of their ids is called {' or '.join(PASSAGE['id'])}. "
            f"Its columns: {', '.join(rows[0].record)}.",
        )
    if missing:
        tell(
            f"{len(missing)} of {len(gold)} passages that {path} names as answering are not in {passages}, "
            f"such as {missing[0]!r}: they count as not found."
        )
    return found, questions


def columns_of(
    path: Path, rows: Sequence[TableRow], guesses: Mapping[str, Sequence[str]], *needed: str
) -> Columns:
    """In which columns what stands, by the first row. Raises `WrongUsage` without rows, or what is needed."""
    if not rows:
        raise WrongUsage(f"{path} has no rows", hint="Name a table with a question or a passage in each row.")
    row = rows[0]
    found = {what: next((name for name in names if _has(row, name)), "") for what, names in guesses.items()}
    for what in needed:
        if not found[what]:
            raise WrongUsage(
                f"{row.where} has no column of the {what}; its columns: {', '.join(row.record)}",
                hint=f"Call it {' or '.join(guesses[what])}.",
            )
    return found | ({"context": ""} if found.get("gold") else {})


def table_questions(rows: Iterable[TableRow], columns: Columns, *, domain: str) -> Iterator[ReplayQuestion]:
    """The questions of a table.

    Raises `WrongUsage` where a row lacks a column, and where two questions have one id.
    """
    places: dict[str, str] = {}
    for number, row in enumerate(rows):
        gold = {*_texts(row, columns["gold"]), *map(text_id, _texts(row, columns["context"]))}
        question = ReplayQuestion(
            _text(row, columns["id"]) if columns["id"] else f"{domain}/{number}",
            _text(row, columns["text"]),
            _texts(row, columns["answers"]),
            frozenset(gold) if columns["gold"] or columns["context"] else None,
            _text(row, columns["user"]) or DEFAULT_USER,
            domain,
            _text(row, columns["topic"]),
        )
        if question.text.strip() and places.setdefault(question.id, row.where) != row.where:
            raise WrongUsage(
                f"two questions have the id {question.id!r}: {places[question.id]}, and {row.where}",
                hint=f"Without a column {columns['id']!r} the rows are numbered.",
            )
        yield question


def table_passages(rows: Iterable[TableRow], columns: Columns) -> Iterator[ReplayPassage]:
    """The passages of a table, each id once.

    Raises `WrongUsage` where a row lacks a column, and where two passages that differ have one id.
    """
    known: dict[str, tuple[str, str]] = {}
    for row in rows:
        text = _text(row, columns["text"])
        name = _text(row, columns["id"]) if columns["id"] else text_id(text)
        earlier, where = known.setdefault(name, (text, row.where))
        if earlier != text:
            raise WrongUsage(f"two passages have the id {name!r}: {where}, and {row.where}")
        if where == row.where:
            yield ReplayPassage(name, _text(row, columns["title"]), text)


def text_id(text: str) -> str:
    """The id of a passage that has none: the same for the same text."""
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:16]


def asked(questions: Iterable[ReplayQuestion]) -> list[ReplayQuestion]:
    """Those that ask something, as the chat takes a message in."""
    taken = (replace(each, text=well_formed(each.text).strip()) for each in questions)
    return [each for each in taken if each.text]


_NOTHING = object()


def _value(row: TableRow, column: str) -> Any:
    """What stands in a column; `_NOTHING` where the row does not have it."""
    value: Any = row.record
    for part in column.split("."):
        if not isinstance(value, Mapping) or part not in value:
            return _NOTHING
        value = value[part]
    return value


def _has(row: TableRow, column: str) -> bool:
    value = _value(row, column)
    return value is not _NOTHING and value is not None and not isinstance(value, Mapping)


def _texts(row: TableRow, column: str) -> tuple[str, ...]:
    """One text or several as texts; none without a column, and none for null."""
    value = _value(row, column) if column else None
    if value is _NOTHING:
        raise WrongUsage(f"{row.where} has no column {column!r}; its columns: {', '.join(row.record)}")
    several = value if isinstance(value, list | tuple) else [value]
    if any(isinstance(one, Mapping | list | tuple) for one in several):
        raise WrongUsage(
            f"{row.where}: the column {column!r} holds what is neither a text nor a list of texts"
        )
    return tuple(str(one) for one in several if one is not None)


def _text(row: TableRow, column: str) -> str:
    return next(iter(_texts(row, column)), "")

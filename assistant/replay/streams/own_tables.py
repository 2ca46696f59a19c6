"""Tables of a person's own, as questions with the passages that are searched for them.

    table of questions, table of passages -> columns as named, else guessed -> questions, passages

Passages that answer are known by their ids, or by their text where the questions bring it along.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, TypeVar

from assistant.learning.recipes.examples.table_rows import (
    LAYOUTS,
    Record,
    TableRow,
    is_table,
    read_table,
    read_text,
)
from assistant.replay.streams.datasets import SETS, ReplayPassage, ReplayQuestion
from assistant.replay.streams.tables import (
    PassageColumns,
    QuestionColumns,
    table_passages,
    table_questions,
    text_id,
)
from stores.base.errors import WrongUsage
from stores.base.well_formed import well_formed

Columns = TypeVar("Columns", QuestionColumns, PassageColumns)
Tell = Callable[[str], None]
Found = tuple[list[ReplayPassage], list[ReplayQuestion]]

_GUESSES = {  # column: names that it goes by, the likeliest first
    "text": ("question", "query", "message", "text"),
    "answers": ("answers.text", "answers", "answer.aliases", "answer"),
    "id": ("id", "qid", "_id", "question_id", "query_id"),
    "gold": ("passage_ids", "gold", "positive_ids"),
    "context": ("context", "positive", "passage"),
    "user": ("user",),
    "topic": ("doc", "topic", "title"),
}
_PASSAGE_GUESSES = {
    "text": ("text", "passage", "contents", "content", "body", "context"),
    "id": ("id", "pid", "_id", "passage_id", "docid", "doc_id"),
    "title": ("title",),
}


def read_own(
    name: str,
    splits: Sequence[str],
    columns: Mapping[str, str],
    passages: Path | None,
    passage_columns: Mapping[str, str],
    tell: Tell,
) -> Found:
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
    if not rows:
        raise WrongUsage(f"{path} has no rows", hint="Name a table with a question in each row.")
    chosen = question_columns(rows[0].record, columns)
    questions = asked(table_questions(rows, chosen, domain=path.name.split(".")[0]))
    if passages is not None:
        return _with_passages(path, questions, chosen, passages, passage_columns, tell)
    if not chosen.context:
        raise WrongUsage(
            f"{path} has questions, but no passages to search",
            hint="Name their column with --column context=NAME, or a table of them with --passages FILE.",
        )
    title = chosen.topic if chosen.topic == "title" else ""
    return list(table_passages(rows, PassageColumns(text=chosen.context, title=title))), questions


def messages_of(path: Path, columns: Mapping[str, str]) -> list[str]:
    """What a table asks, a row after the other, or the lines of another file.

    columns: of a table, where the questions stand, and nothing else. Raises `WrongUsage`, and
    `UnreadableDocument`.
    """
    if not (columns or is_table(path)):
        return messages_in(read_text(path))
    if other := sorted(set(columns) - {"text"}):
        raise WrongUsage(
            f"a comparison reads a table's questions alone, and --column {other[0]}= names something else",
            hint="As in --column text=NAME.",
        )
    rows = list(read_table(path))
    if not rows:
        raise WrongUsage(f"{path} has no rows", hint="Name a table with a question in each row.")
    chosen = QuestionColumns(text=question_columns(rows[0].record, columns).text, answers="")
    return [question.text for question in asked(table_questions(rows, chosen, domain=path.name))]


def messages_in(text: str) -> list[str]:
    """Its lines, but for blank ones."""
    return [line.strip() for line in text.splitlines() if line.strip()]


def _with_passages(
    path: Path,
    questions: list[ReplayQuestion],
    columns: QuestionColumns,
    passages: Path,
    passage_columns: Mapping[str, str],
    tell: Tell,
) -> Found:
    """Questions with the passages of another table, by whose ids their gold goes."""
    if not passages.exists():
        raise WrongUsage(f"there is no file or folder {passages}", hint=f"--passages names one. {LAYOUTS}")
    rows = list(read_table(passages))
    if not rows:
        raise WrongUsage(f"{passages} has no rows", hint="--passages names what is searched.")
    chosen = passage_columns_of(rows[0].record, passage_columns)
    found = list(table_passages(rows, chosen))
    if columns.context:
        by_text = {text_id(passage.text): passage.id for passage in found}
        questions = [
            replace(each, gold=frozenset(by_text.get(name, name) for name in each.gold or ()))
            for each in questions
        ]
    gold = dict.fromkeys(name for each in questions for name in sorted(each.gold or ()))
    known = {each.id for each in found}
    missing = [name for name in gold if name not in known]
    if missing and len(missing) == len(gold):
        raise _no_gold(path, columns, passages, chosen, rows[0], missing[0])
    if missing:
        tell(
            f"{len(missing)} of {len(gold)} passages that {path} names as answering are not in {passages}, "
            f"such as {missing[0]!r}: they count as not found."
        )
    return found, questions


def _no_gold(
    path: Path,
    columns: QuestionColumns,
    passages: Path,
    chosen: PassageColumns,
    row: TableRow,
    example: str,
) -> WrongUsage:
    if columns.context and not columns.gold:
        return WrongUsage(
            f"no text of {path}'s column {columns.context!r} is a passage of {passages}",
            hint="If it is not the passage that answers: --column context=",
        )
    made = f"read from its column {chosen.id!r}" if chosen.id else "made from the texts"
    return WrongUsage(
        f"{passages} has none of the passages that {path} names as answering, such as {example!r}",
        hint=f"The ids of {passages} were {made}; name their column with --passage-column id=NAME. "
        f"Its columns: {', '.join(row.record)}.",
    )


def question_columns(row: Record, named: Mapping[str, str]) -> QuestionColumns:
    """Where a table has what: as named, else as the first row's columns let one guess."""
    guessed = _guessed(row, _GUESSES)
    if "gold" in guessed:
        guessed.pop("context", None)
    return _columns(QuestionColumns, guessed | dict(named))


def passage_columns_of(row: Record, named: Mapping[str, str]) -> PassageColumns:
    """As `question_columns`, of passages."""
    return _columns(PassageColumns, _guessed(row, _PASSAGE_GUESSES) | dict(named))


def _guessed(row: Record, guesses: Mapping[str, Sequence[str]]) -> dict[str, str]:
    found = {what: next((name for name in names if _has(row, name)), "") for what, names in guesses.items()}
    return {what: name for what, name in found.items() if name}


def _columns(kind: type[Columns], named: Mapping[str, str]) -> Columns:
    known = [each.name for each in fields(kind)]
    if unknown := set(named) - set(known):
        raise WrongUsage(
            f"{kind.OPTION}: there is no column for {sorted(unknown)[0]!r}",
            hint=f"There are {', '.join(known)}.",
        )
    if not named.get("text", "text"):
        raise WrongUsage(f"{kind.OPTION} text= names no column", hint="As in text=NAME.")
    return kind(**named)


def _has(row: Record, column: str) -> bool:
    value: Any = row
    for part in column.split("."):
        if not isinstance(value, Mapping) or part not in value:
            return False
        value = value[part]
    return value is not None and not isinstance(value, Mapping)


def asked(questions: Iterable[ReplayQuestion]) -> list[ReplayQuestion]:
    """Those that ask something, as the chat takes a message in."""
    taken = (replace(each, text=well_formed(each.text).strip()) for each in questions)
    return [each for each in taken if each.text]

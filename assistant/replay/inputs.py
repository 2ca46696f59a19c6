"""What a person names for a replay, as one stream with its passages.

    squad                  a set of the data folder, by name
    folder, file.jsonl ... a table in a layout of `datasets`: columns are guessed, or named

Several make one stream, each set behind the one before; every set is a domain.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, TypeVar, cast

from assistant.replay.datasets import (
    SETS,
    Order,
    Record,
    ReplayPassage,
    ReplayQuestion,
    Split,
    read_set,
    stream,
)
from assistant.replay.tables import (
    PassageColumns,
    QuestionColumns,
    read_table,
    table_passages,
    table_questions,
)
from stores.errors import WrongUsage
from stores.well_formed import well_formed

Columns = TypeVar("Columns", QuestionColumns, PassageColumns)

_GUESSES = {  # column: names that it goes by, the likeliest first
    "text": ("question", "query", "message", "text"),
    "answers": ("answers.text", "answers", "answer.aliases", "answer"),
    "id": ("id", "qid", "_id"),
    "gold": ("passage_ids", "gold", "positive_ids"),
    "context": ("context", "positive", "passage"),
    "user": ("user",),
    "topic": ("doc", "topic", "title"),
}


@dataclass(frozen=True)
class Streamed:
    """What is replayed: passages, and the questions of each part in the order of its file."""

    names: tuple[str, ...]
    passages: tuple[ReplayPassage, ...]
    parts: tuple[tuple[ReplayQuestion, ...], ...]

    def questions(self, *, order: Order, seed: int, first: int | None) -> tuple[ReplayQuestion, ...]:
        """The stream of a seed. first: so many of each part."""
        parts = (stream(part, order=order, seed=seed, first=first) for part in self.parts)
        every = [question for part in parts for question in part]
        return tuple(replace(question, arrival=i) for i, question in enumerate(every))

    def sha256(self) -> str:
        """Of all that is read from it."""
        digest = hashlib.sha256()
        for passage in self.passages:
            digest.update(_bytes([passage.id, passage.title, passage.text, passage.owner, passage.session]))
        for each in (question for part in self.parts for question in part):
            gold = None if each.gold is None else sorted(each.gold)
            row = [each.id, each.text, each.answers, gold, each.user, each.domain, each.topic, each.needs_all]
            digest.update(_bytes(row))
        return digest.hexdigest()


def read_inputs(
    named: Sequence[str],
    *,
    data: Path | None,
    splits: Sequence[str],
    columns: Mapping[str, str],
    passages: Path | None = None,
    passage_columns: Mapping[str, str] | None = None,
) -> Streamed:
    """All that a person names. data: the folder of the sets. columns: of tables, by what they hold.

    passages: of tables, where the questions do not bring theirs along. Raises `WrongUsage` where something is
    not there, or has nothing to ask.
    """
    sets = [
        _set(data, name, splits)
        if name in SETS and not Path(name).exists()
        else _table(Path(name), splits, columns, passages, passage_columns or {})
        for name in named
    ]
    is_one = len(sets) == 1
    together = [found if is_one else _apart(found, place) for place, found in enumerate(sets, start=1)]
    for name, (_, questions) in zip(named, together, strict=True):
        if not questions:
            raise WrongUsage(f"{name} has no questions")
    return Streamed(
        tuple(Path(name).name for name in named),
        tuple(passage for found, _ in together for passage in found),
        tuple(tuple(questions) for _, questions in together),
    )


_Found = tuple[list[ReplayPassage], list[ReplayQuestion]]


def _set(data: Path | None, name: str, splits: Sequence[str]) -> _Found:
    if data is None:
        raise WrongUsage(f"{name} is a set of a data folder", hint="Name the folder with --sets.")
    passages: dict[str, ReplayPassage] = {}
    questions: list[ReplayQuestion] = []
    for split in splits or (("dev",) if name == "squad" else ("test",)):
        try:
            found = read_set(data, name, cast("Split", split))
        except ValueError as error:
            raise WrongUsage(str(error)) from error
        except FileNotFoundError as error:
            raise WrongUsage(
                f"{error.filename} is not there", hint="--sets names the data folder."
            ) from error
        passages |= {passage.id: passage for passage in found.passages}
        questions += found.questions
    return list(passages.values()), _asked(questions)


def _table(
    path: Path,
    splits: Sequence[str],
    columns: Mapping[str, str],
    passages: Path | None,
    passage_columns: Mapping[str, str],
) -> _Found:
    if not path.exists():
        raise WrongUsage(
            f"there is no set, file or folder {str(path)!r}", hint=f"The sets are {', '.join(SETS)}."
        )
    rows = [row for split in splits or ("",) for row in read_table(path, split)]
    if not rows:
        raise WrongUsage(f"{path} has no rows")
    chosen = question_columns(rows[0], columns)
    questions = _asked(table_questions(rows, chosen, domain=path.name.split(".")[0]))
    if passages is not None:
        found = table_passages(read_table(passages), _columns(PassageColumns, passage_columns))
    elif chosen.context:
        title = chosen.topic if chosen.topic == "title" else ""
        found = table_passages(rows, PassageColumns(text=chosen.context, title=title))
    else:
        raise WrongUsage(
            f"{path} has questions, but no passages to search",
            hint="Name their column with --column context=NAME, or a table of them with --passages FILE.",
        )
    return list(found), questions


def question_columns(row: Record, named: Mapping[str, str]) -> QuestionColumns:
    """Where a table has what: as named, else as the first row's columns let one guess."""
    guessed = {
        what: next((name for name in names if _has(row, name)), "") for what, names in _GUESSES.items()
    }
    if guessed["gold"]:
        guessed["context"] = ""
    return _columns(QuestionColumns, {what: name for what, name in guessed.items() if name} | dict(named))


def _columns(kind: type[Columns], named: Mapping[str, str]) -> Columns:
    known = [each.name for each in fields(kind)]
    if unknown := set(named) - set(known):
        raise WrongUsage(
            f"there is no column for {sorted(unknown)[0]!r}", hint=f"There are {', '.join(known)}."
        )
    return kind(**named)


def _has(row: Record, column: str) -> bool:
    value: Any = row
    for part in column.split("."):
        if not isinstance(value, Mapping) or part not in value:
            return False
        value = value[part]
    return value is not None and not isinstance(value, Mapping)


def _asked(questions: Iterable[ReplayQuestion]) -> list[ReplayQuestion]:
    """Those that ask something, as the chat takes a message in."""
    taken = (replace(each, text=well_formed(each.text).strip()) for each in questions)
    return [each for each in taken if each.text]


def _apart(found: _Found, place: int) -> _Found:
    """Under names that no other set has."""
    passages, questions = found
    return (
        [replace(each, id=f"{place}/{each.id}") for each in passages],
        [
            replace(
                each,
                id=f"{place}/{each.id}",
                gold=None if each.gold is None else frozenset(f"{place}/{name}" for name in each.gold),
            )
            for each in questions
        ],
    )


def _bytes(row: Sequence[Any]) -> bytes:
    return json.dumps(row, sort_keys=True).encode("utf-8", "replace")

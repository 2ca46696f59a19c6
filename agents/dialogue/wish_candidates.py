"""What a message may mean for a table: each value, number and column that could matter, to be judged.

message -> tokens, in which a value is its column's name and an entity "it" -> candidates
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product

from agents.dialogue.columns import Column
from agents.dialogue.knowledge_table import NAME, KnowledgeTable, Named
from agents.models.dialogue_arrays import Floats
from agents.models.wish_network import MOST_TOKENS, Candidate, Kind
from stores.base.wishes import number_of, words

_TOKEN = re.compile(r"\d+(?:[.,:]\d+)*|[^\W\d_]+(?:['’][^\W\d_]+)?|[?,]")
_SPELLED = "one two three four five six seven eight nine ten eleven twelve".split()
_HOURS, _AFTERNOON = 24, 12
_MEANT = "it"  # stands for an entity's name
_MOST_OF_SEVERAL = 4  # values of a message that several columns have, the first
Likeness = Callable[[Sequence[str], Sequence[str]], Floats]  # (N, M): cosines of texts and texts


@dataclass(frozen=True)
class Possible:
    """One candidate, with what it is in the message and the table."""

    given: Candidate  # as the network reads it
    column: str  # empty for the whole message
    value: str = ""  # of the table, or the number as its column writes it
    said: str = ""  # the words of the message


@dataclass(frozen=True)
class _Token:
    text: str
    named: Named | None = None
    number: str = ""
    said: str = ""  # of a number, as it stands in the message


def possible(
    message: str, table: KnowledgeTable, likeness: Likeness | None = None
) -> tuple[list[str], list[Possible]]:
    """The tokens, and the candidates: values, numbers by column, columns, and last the whole message.

    likeness: tells of which column a value is that several have; None: of the one with it in most rows.
    """
    tokens = list(_tokens(message, table, likeness))[:MOST_TOKENS]
    texts = [token.text for token in tokens]
    named = [(at, token.named) for at, token in enumerate(tokens) if token.named]
    values = [(at, one) for at, one in named if one.column != NAME]
    found = [
        Possible(
            Candidate("value", one.column, (at,), tuple(other for other, _ in values if other != at)),
            one.column,
            one.value,
            one.value,
        )
        for at, one in values
    ]
    others = tuple(at for at, token in enumerate(tokens) if token.number or token.named)
    for at, token in enumerate(tokens):
        if token.number:
            of_columns = (_number(token, at, others, c) for c in table.columns.values() if c.kind == "number")
            found += [one for one in of_columns if _may_be(one, table)]
    for column in table.columns.values():
        own = tuple(at for at, one in values if one.column == column.name)
        found.append(Possible(Candidate(_KINDS[column.kind], column.name, (), own), column.name))
    found.append(Possible(Candidate("message", "", (), tuple(at for at, _ in values)), ""))
    return texts, found


def _may_be(one: Possible, table: KnowledgeTable) -> bool:
    """Of a number in letters, which is often none ("which one"): whether its column has such numbers."""
    column, number = table.columns[one.column], number_of(one.value) or 0.0
    return one.said not in _SPELLED or column.least <= number <= column.most


_KINDS: dict[str, Kind] = {"number": "numeric column", "truth": "truth column", "text": "text column"}


def _number(token: _Token, at: int, others: Sequence[int], column: Column) -> Possible:
    number = number_of(token.number) or 0.0
    value = token.number
    if column.is_time and (":" in value or number < _HOURS):
        minutes = int(number if ":" in value else 60 * number)
        value = f"{minutes // 60:02}:{minutes % 60:02}"
    inside = ":" in value if column.is_time else ":" not in value and column.least <= number <= column.most
    kind: Kind = "number inside" if inside else "number outside"
    beside = tuple(other for other in others if other != at)
    return Possible(Candidate(kind, column.name, (at,), beside), column.name, value, token.said)


def _tokens(message: str, table: KnowledgeTable, likeness: Likeness | None) -> Iterator[_Token]:
    at = 0
    names = {words(name) for name in table.columns}
    named = table.named_in(message)
    for one in _of_one_column(named, message, table, likeness) if likeness else named:
        start, end = one.span
        if one.column != NAME and (words(message[start:end]) in names or not _is_text(table, one.column)):
            continue  # it is the column's own name, or a number, which is read as such
        yield from _plain(message[at:start])
        yield _Token(_MEANT if one.column == NAME else one.column.lower(), one)
        at = end
    yield from _plain(message[at:])


def _of_one_column(
    named: Sequence[Named], message: str, table: KnowledgeTable, likeness: Likeness
) -> list[Named]:
    """What several columns have is of the one whose name is most like the word before it ("from", "to").

    Two values are of two columns. Of 399 such values of MultiWOZ's dev part 394 are of the right one so, and
    237 where the column with most rows is taken (docs/experiments.md).
    """
    choices: dict[tuple[int, int], dict[str, float]] = {}  # by span the cosine of each column
    for one in (one for one in named if one.column != NAME):
        columns = [c for c in dict.fromkeys((one.column, *one.columns)) if _is_text(table, c)]
        before = words(message[: one.span[0]])[-1:]
        if before and len(columns) > 1 and len(choices) < _MOST_OF_SEVERAL:
            shared = set.intersection(*(set(words(column)) for column in columns))  # "city"
            own = [" ".join(w for w in words(column) if w not in shared) or column for column in columns]
            choices[one.span] = dict(zip(columns, likeness(before, own)[0].tolist(), strict=True))
    likeliest = max(
        product(*choices.values()),
        key=lambda chosen: (len(set(chosen)), sum(map(dict.__getitem__, choices.values(), chosen))),
    )
    columns_of = dict(zip(choices, likeliest, strict=True))
    return [replace(one, column=columns_of.get(one.span, one.column)) for one in named]


def _is_text(table: KnowledgeTable, column: str) -> bool:
    return column in table.columns and table.columns[column].kind == "text"


def _plain(text: str) -> Iterator[_Token]:
    tokens = _TOKEN.findall(text.lower())
    for token, after in zip(tokens, [*tokens, ""][1:], strict=True):
        if token in _SPELLED:
            yield _Token(token, number=str(_SPELLED.index(token) + 1), said=token)
        elif token[0].isdigit():
            number = token
            if after in ("pm", "p") and token.isdigit() and int(token) < _AFTERNOON:
                number = str(int(token) + _AFTERNOON)
            text = "time" if ":" in token else "number"
            yield _Token(text, number=number if _is_number(number) else "", said=token)
        else:
            yield _Token(token)


def _is_number(text: str) -> bool:
    return number_of(text) is not None

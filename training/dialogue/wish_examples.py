"""Messages over invented tables, with what each of their values, numbers and columns is to be judged as.

    wish_forms.json: groups of columns, domains, forms -> a table, clauses, joined to a message -> `Example`

The tables are of other things than those of benchmarks/knowledge_turns.json. STAR adds what people said:
which conditions its searches had, of the values and numbers that stand in the message before them.
"""

from __future__ import annotations

import gzip
import json
import random
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from agents.dialogue.knowledge_table import KnowledgeTable
from agents.dialogue.wish_candidates import Possible, possible
from agents.models.wish_network import LABELS, Candidate
from stores.base.entities import Entity
from stores.base.wishes import words

FORMS = Path(__file__).with_name("wish_forms.json")
_ROWS = (8, 30)
_NAMES = (
    "Ash Bell Crane Dove Ember Finch Gale Heron Iris Jade Kite Lark Moss Nova Opal Pike Quill Reed".split()
)
_NO_WISH = ("none", "elsewhere")  # forms of numbers that are of no column
_COUNTING = ("size", "amount", "duration")  # columns that the number of people or nights may be of
_SHARED_DOMAINS = ("apartment", "plane", "trip")  # of STAR: too like the tables that are measured


@dataclass
class Example:
    """A message as tokens with its candidates and the label of each."""

    tokens: list[str]
    found: list[Candidate]
    labels: list[str]
    weights: list[float]  # 0 for what is not known


@dataclass
class _Said:
    """Clauses so far, and what they mean."""

    texts: list[str] = field(default_factory=list)
    values: dict[str, str] = field(default_factory=dict)  # label by value, lower case
    numbers: dict[tuple[str, str], str] = field(default_factory=dict)  # by number and column
    columns: dict[str, str] = field(default_factory=dict)
    act: str = "find"


class Forms:
    """What the file holds."""

    def __init__(self, file: Path = FORMS) -> None:
        held = json.loads(file.read_text("utf-8"))
        self.groups: dict[str, dict[str, list[str]]] = held["groups"]
        self.domains: dict[str, dict[str, Any]] = held["domains"]
        self.forms: dict[str, list[str]] = held["forms"]


class Maker:
    """Makes examples of one domain's tables."""

    def __init__(self, forms: Forms, domain: str, draw: random.Random) -> None:
        self._forms, self._noun, self._draw = forms, domain, draw
        self._columns = dict(forms.domains[domain])
        for column in draw.sample(list(self._columns), k=draw.randint(0, 2)):
            del self._columns[column]
        self.table = KnowledgeTable(domain, enumerate(self._rows()))
        self._others = [c for d, each in forms.domains.items() if d != domain for c in each]

    def _rows(self) -> Iterator[Entity]:
        for name in range(self._draw.randint(*_ROWS)):
            yield Entity(
                _NAMES[name % len(_NAMES)] + (f" {name}" if name >= len(_NAMES) else " House"),
                {column: self._cell(about) for column, about in self._columns.items()},
            )

    def _cell(self, about: Any) -> str:
        if isinstance(about, str):
            return self._draw.choice(["yes", "no"])
        if isinstance(about[1], str):
            return str(self._draw.choice(about[1:]))
        number = self._draw.randint(*about[1:])
        return (
            f"{number:02}:{self._draw.choice(['00', '15', '30', '40'])}"
            if about[0] == "time"
            else str(number)
        )

    def example(self) -> Example:
        """One message."""
        said, draw = _Said(), self._draw
        kind = draw.random()
        if kind < 0.07:
            said.act = "other"
            self._add(said, "other", {})
        elif kind < 0.16:
            self._unknown(said)
        elif kind < 0.28:
            self._count(said)
        else:
            twice = [self._value, self._number, self._best]
            kinds = [*twice, *twice, self._column, self._truth]
            for make in draw.sample(kinds, k=draw.choice([1, 1, 1, 2, 2, 3])):
                make(said)
        message = self._joined(said)
        tokens, found = possible(message, self.table)
        labels = [self._label(said, one) for one in found]
        return Example(tokens, [one.given for one in found], labels, [1.0] * len(found))

    def _label(self, said: _Said, one: Possible) -> str:
        kind = one.given.kind
        if kind == "message":
            return said.act
        if kind == "value":
            return said.values.get(one.value.lower(), "none")
        if kind.startswith("number"):
            return said.numbers.get((one.said, one.column), "none")
        label = said.columns.get(one.column, "none")
        return label if label in LABELS[kind] else "none"

    def _joined(self, said: _Said) -> str:
        draw = self._draw
        text = draw.choice([", ", " and ", ". ", ", ", " "]).join(said.texts)
        if draw.random() < 0.15:
            text = draw.choice(["hi, ", "ok, ", "please, ", "well, ", "hmm, ", "sorry, ", "then "]) + text
        if draw.random() < 0.12:
            text += draw.choice([" please", " if possible", ", thanks", " for me", " then", " though"])
        text = re.sub(r"\s+", " ", text).strip()
        return text.lower() if draw.random() < 0.5 else text

    def _add(self, said: _Said, form: str, given: dict[str, str]) -> None:
        one = self._noun.split()[-1].rstrip("s")
        draw = self._draw
        noun = (
            self._noun if draw.random() < 0.5 else draw.choice(["ones", "of them", "places", "options", ""])
        )
        texts = given | {
            "noun": noun,
            "one": one if draw.random() < 0.5 else "one",
            "name": draw.choice([*list(_NAMES)[:6], "it"]) + " House",
        }
        chosen = draw.choice(self._forms.forms[form]) if form in self._forms.forms else form
        said.texts.append(chosen.format(**texts))

    def _spoken(self, column: str) -> str:
        group = self._group(column)
        if group and self._draw.random() < 0.25 and self._only_of(group):
            return self._draw.choice(self._forms.groups[group]["spoken"] or [column])
        return column

    def _group(self, column: str) -> str:
        about = self._columns[column]
        return "" if isinstance(about, str) else about[0]

    def _only_of(self, group: str) -> bool:
        return sum(self._group(column) == group for column in self._columns) == 1

    def _of(self, *kinds: str) -> list[str]:
        return [c for c in self._columns if c in self.table.columns and self.table.columns[c].kind in kinds]

    def _value(self, said: _Said) -> None:
        draw = self._draw
        columns = [c for c in self._of("text") if c not in said.columns]
        if not columns:
            return
        column = draw.choice(columns)
        held = sorted({v for e in self.table.columns if e == column for v in self._columns[column][1:]})
        value, other = draw.sample(held, k=2)
        form = draw.choices(
            ["is", "or", "not", "nor", "instead", "any", "asked"], [30, 9, 32, 8, 7, 9, 5], k=1
        )[0]
        labels = {
            "is": ("is", ""),
            "or": ("is", "is"),
            "not": ("not", ""),
            "nor": ("not", "not"),
            "instead": ("not", "is"),
            "any": ("any", ""),
            "asked": ("none", ""),
        }[form]
        said.columns[column] = "none"
        for each, label in zip((value, other), labels, strict=True):
            if label:
                said.values[each.lower()] = label
        if form == "asked":
            said.act, said.columns[column] = "ask", "ask"
        self._add(said, f"value {form}", {"v": value, "w": other, "c": self._spoken(column)})

    def _number(self, said: _Said) -> None:
        draw = self._draw
        columns = [c for c in self._of("number") if c not in said.columns]
        if not columns:
            return
        column = draw.choice(columns)
        group = self._group(column)
        groups = {self._group(each) for each in self._columns}
        none = "none" if groups.intersection(_COUNTING) else "elsewhere"  # of people and nights of a booking
        label = draw.choices(["most", "least", "is", "not", none], [40, 34, 18, 2, 12], k=1)[0]
        number = self._cell(self._columns[column])
        if label in _NO_WISH:
            number = str(draw.randint(1, 12))
        if group == "time" and draw.random() < 0.4:
            number = str(int(number.partition(":")[0]))
        if number.isdigit() and 0 < int(number) <= 12 and draw.random() < 0.4:
            number = "one two three four five six seven eight nine ten eleven twelve".split()[int(number) - 1]
        forms = self._forms.forms[f"number {label}"]
        of_group = self._forms.groups[group].get(label, [])
        form = draw.choice(of_group if of_group and draw.random() < 0.45 else forms)
        name = self._spoken(column)
        unit = draw.choice(self._forms.groups[group]["units"] or [name])
        if group in ("amount", "size") and draw.random() < 0.7:
            unit = name
        if group == "time" and form in forms and label not in _NO_WISH:
            form = draw.choice(of_group or forms)
        if (
            label not in _NO_WISH
            and "{c}" not in form
            and form in forms
            and group != "price"
            and not (unit and "{u}" in form)
        ):
            form += " {c}"  # what else would say which number it is?
        said.columns[column] = "none"
        if label not in _NO_WISH:
            said.numbers[number, column] = label
        self._add(said, form, {"n": number, "u": unit, "c": name})

    def _column(self, said: _Said) -> None:
        draw = self._draw
        columns = [c for c in self._of("text", "number") if c not in said.columns]
        if not columns:
            return
        column = draw.choice(columns)
        label = draw.choice(["any", "ask"])
        group = self._group(column)
        of_group = self._forms.groups.get(group, {}).get(label, []) if self._only_of(group) else []
        form = draw.choice(of_group) if of_group and draw.random() < 0.3 else f"column {label}"
        said.columns[column] = label
        said.act = "ask" if label == "ask" else said.act
        self._add(said, form, {"c": self._spoken(column)})

    def _best(self, said: _Said) -> None:
        draw = self._draw
        columns = [c for c in self._of("number") if c not in said.columns]
        if not columns:
            return
        column = draw.choice(columns)
        group = self._forms.groups[self._group(column)]
        which = draw.choice(["highest", "lowest", "more", "less", "too"])
        name = self._spoken(column)
        label = {"more": "above", "less": "below"}.get(which, which)
        is_clear = self._only_of(self._group(column))
        if which == "too":
            end = draw.choice(["too_high", "too_low"])
            if not group.get(end) or not is_clear:
                return
            label = "below" if end == "too_high" else "above"
            self._add(said, "too", {"a": draw.choice(group[end])})
        elif group.get(which) and is_clear and draw.random() < 0.75:
            form = "highest" if which in ("highest", "lowest") else "more"
            self._add(said, form, {"a": draw.choice(group[which])})
        else:
            self._add(said, f"{which} column", {"c": name})
        said.columns[column] = label

    def _truth(self, said: _Said) -> None:
        draw = self._draw
        columns = [c for c in self._of("truth") if c not in said.columns]
        if not columns:
            return
        column = draw.choice(columns)
        label = draw.choices(["is", "not", "any", "ask"], [40, 25, 12, 23], k=1)[0]
        said.columns[column] = label
        said.act = "ask" if label == "ask" else said.act
        self._add(said, f"{self._columns[column]} {label}", {"c": column})

    def _unknown(self, said: _Said) -> None:
        things = self._forms.forms["unknown things"]
        other = self._draw.choice(self._others if self._draw.random() < 0.5 else things)
        said.act = "ask"
        self._add(said, "unknown", {"x": other})

    def _count(self, said: _Said) -> None:
        draw = self._draw
        if draw.random() < 0.35:
            self._add(said, "count", {})
        else:
            inner = _Said()
            draw.choice([self._value, self._value, self._truth, self._number])(inner)
            if not inner.texts or inner.act == "ask" or "?" in inner.texts[0]:
                return self._count(said)
            said.values, said.numbers, said.columns = inner.values, inner.numbers, inner.columns
            self._add(said, "count of", {"clause": inner.texts[0]})
        said.act = "count"
        return None


def invented(
    count: int, *, seed: int, only: tuple[str, ...] = (), without: tuple[str, ...] = ()
) -> Iterator[Example]:
    """Examples of all domains, or of some. The same seed gives the same ones."""
    draw, forms = random.Random(seed), Forms()
    domains = [d for d in forms.domains if (d in only if only else d not in without)]
    made = 0
    while made < count:
        maker = Maker(forms, draw.choice(domains), draw)
        for _ in range(20):
            example = maker.example()
            if example.tokens:
                made += 1
                yield example


def from_star(file: Path) -> Iterator[Example]:
    """What people said to STAR's wizards, where a search of theirs holds a condition on what stands there."""
    conditions: dict[str, list[tuple[str, str, dict[str, str]]]] = {}
    rows: dict[str, list[Entity]] = {}
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        for line in lines:
            dialogue = json.loads(line)
            if set(dialogue["domain"].split()).intersection(_SHARED_DOMAINS):
                continue
            for turn in dialogue["turns"]:
                for query in turn["queries"]:
                    conditions.setdefault(query["api"], []).append(
                        (dialogue["id"], turn["user"], query["constraints"])
                    )
            for number, row in enumerate(dialogue["kb"]):
                values = {
                    _plain(c): _plain(str(v))
                    for c, v in row.items()
                    if c != "APIName" and v not in ("", None)
                }
                rows.setdefault(row["APIName"], []).append(Entity(f"Row{dialogue['id']}x{number}", values))
    for api, entities in rows.items():
        table = KnowledgeTable(api, enumerate(entities[:400]))
        for _, text, held in conditions.get(api, []):
            example = _of_star(text, held, table)
            if example is not None:
                yield example


def _of_star(text: str, held: dict[str, str], table: KnowledgeTable) -> Example | None:
    tokens, found = possible(text, table)
    labels, weights = [], []
    by_column = {_plain(column): condition for column, condition in held.items()}
    for one in found:
        label = _condition(by_column.get(one.column, ""), one) if one.given.at else ""
        labels.append(label or LABELS[one.given.kind][0])
        weights.append(1.0 if label else 0.0)
    if not any(weights) or not tokens:
        return None
    return Example(tokens, [one.given for one in found], labels, weights)


def _condition(condition: str, one: Possible) -> str:
    call = re.match(r"api\.(\w+)\((.*)\)$", condition)
    operator, inside = (call[1], call[2]) if call else ("is_equal_to", condition)
    inside = _plain(inside.strip('"'))
    if one.given.kind == "value":
        stands = " ".join(words(one.value)) in " ".join(words(inside))
        if operator == "is_equal_to" and stands:
            return "is"
        if operator == "is_one_of" and inside != "null":
            return "is" if stands else "not"
        return ""
    if operator == "is_equal_to" and inside == one.said:
        return "is"
    if inside != one.said:
        return ""
    return {
        "is_at_least": "least",
        "is_greater_than": "least",
        "is_at_most": "most",
        "is_less_than": "most",
    }.get(operator, "")


def _plain(text: str) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", text)

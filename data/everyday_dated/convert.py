"""Checks conversations written as WRITING.md says and turns them into JSON lines.

python data/everyday/convert.py FOLDER              # checks and counts every .txt of the folder
python data/everyday/convert.py FOLDER --out FILE   # and writes them
"""

from __future__ import annotations

import argparse
import collections
import json
import re
import sys
from pathlib import Path
from typing import Any

KINDS = ("now", "before", "other", "follow", "never")
RELATIONS = ("same", "replaces", "ends", "adds")
STATES = {"self": "personal", "world": "world", "?": "asks", "-": "nothing"}
_SENTENCE = re.compile(r"(?:([-?])|(s\d+)\s+(self|world)(?:\s*>\s*(.*?))?)\s*\|\s*(.+)$")


class Reading:
    """One file, line by line."""

    def __init__(self, path: Path) -> None:
        self.conversations: list[dict[str, Any]] = []
        self.errors: list[str] = []
        self._path = path
        self._where = ""
        self._date = ""
        self._told: dict[str, str] = {}
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            if line.strip():
                self._where = f"{path}:{number}: {line.strip()[:80]}"
                self._line(line.strip())

    def _bad(self, why: str) -> None:
        self.errors.append(f"{self._where}\n    {why}")

    @property
    def _events(self) -> list[dict[str, Any]]:
        return self.conversations[-1]["events"] if self.conversations else []

    def _line(self, line: str) -> None:
        if line.startswith("## "):
            topic, style, english = (*(part.strip() for part in line[3:].split("|")), "", "", "")[:3]
            name = f"{self._path.stem}-{len(self.conversations) + 1:02}"
            facts = {"id": name, "topic": topic, "style": style, "english": english, "events": []}
            self.conversations.append(facts)
            self._date, self._told = "", {}
        elif line.startswith("@"):
            day = line[1:].strip()
            if not re.fullmatch(r"20\d\d-[01]\d-[0-3]\d", day) or day < self._date:
                self._bad("expected a date as 2026-03-02, not before the one before")
            self._date = day
        elif line == "m":
            self._events.append({"date": self._date, "say": []})
        elif line.startswith("q "):
            self._question([part.strip() for part in line[2:].split("|")])
        elif (match := _SENTENCE.match(line)) is not None:
            self._sentence(*match.groups())
        else:
            self._bad("expected ##, @, m, q or a sentence")

    def _sentence(self, mark: str, number: str, states: str, relations: str, text: str) -> None:
        if not self._events or "say" not in self._events[-1]:
            self._bad("expected m before the first sentence of a message")
            return
        sentence: dict[str, Any] = {"text": text, "states": STATES[mark or states]}
        if number:
            if number in self._told:
                self._bad(f"{number} is used twice")
            sentence["id"] = number
            does = {}
            for one in filter(None, map(str.strip, (relations or "").split(","))):
                relation, _, earlier = one.partition(" ")
                if relation not in RELATIONS or earlier.strip() not in self._told:
                    self._bad(f"expected one of {', '.join(RELATIONS)} and an earlier statement: {one}")
                does[earlier.strip()] = relation
            if does:
                sentence["does"] = does
            self._told[number] = text
        self._events[-1]["say"].append(sentence)

    def _question(self, parts: list[str]) -> None:
        kind, text, answer, standalone = (*parts, "", "", "", "")[:4]
        asked = {"date": self._date, "ask": text, "kind": kind}
        if kind not in KINDS or not text:
            self._bad(f"expected a question of one of the kinds {', '.join(KINDS)}")
        elif kind == "never":
            if answer and answer not in self._told:
                self._bad("expected the number of a statement in the third field")
            asked["near"] = answer
        else:
            number, _, span = (part.strip() for part in answer.partition(":"))
            if span not in self._told.get(number, "") or not span:
                self._bad("expected a statement and words that stand in it letter for letter")
            asked |= {"answer": number, "span": span}
        if kind == "follow" and not standalone:
            self._bad("expected the question as it stands alone in the fourth field")
        if standalone:
            asked["standalone"] = standalone
        self._events.append(asked)


def main() -> int:
    """Exit code 1 where something is to be mended."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--out", type=Path)
    arguments = parser.parse_args()
    read = [Reading(path) for path in sorted(arguments.folder.glob("*.txt"))]
    errors = [error for one in read for error in one.errors]
    conversations = [c for one in read for c in one.conversations]
    print("\n".join(errors), file=sys.stderr)
    counts = collections.Counter({"conversations": len(conversations)})
    for event in (event for c in conversations for event in c["events"]):
        if "ask" in event:
            counts[f"question {event['kind']}"] += 1
        for sentence in event.get("say", ()):
            counts[f"sentence {sentence['states']}"] += 1
            counts.update(f"relation {does}" for does in sentence.get("does", {}).values())
    for name, count in sorted(counts.items()):
        print(f"{count:6} {name}")
    if arguments.out and not errors:
        lines = (json.dumps(c, ensure_ascii=False, separators=(",", ":")) for c in conversations)
        arguments.out.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    return bool(errors)


if __name__ == "__main__":
    sys.exit(main())

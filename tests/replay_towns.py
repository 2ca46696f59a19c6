"""A small data set to replay: twelve towns, a passage each, and two questions about every one."""

from __future__ import annotations

import json
from pathlib import Path

TOWNS = (
    *("Arnfeld", "Bexmoor", "Calderby", "Dunholt", "Eastvale", "Fernley"),
    *("Grimstow", "Hartwick", "Inverlay", "Jorvale", "Kelbury", "Lowmere"),
)
GOODS = "glass bells cheese lace clocks salt rope pears ink tiles honey boats".split()


def passages() -> list[dict[str, object]]:
    return [
        {
            "id": f"p{i}",
            "title": town,
            "text": f"{town} is a town by a river. {town} was founded in {year(i)}. "
            f"People know it for its {GOODS[i]}.",
        }
        for i, town in enumerate(TOWNS)
    ]


def questions() -> list[dict[str, object]]:
    asked = []
    for i, town in enumerate(TOWNS):
        of_town = {"passage_ids": [f"p{i}"], "doc": town}
        asked.append(
            {"id": f"f{i}", "question": f"When was {town} founded?", "answers": [str(year(i))], **of_town}
        )
        asked.append(
            {"id": f"k{i}", "question": f"What is {town} known for?", "answers": [GOODS[i]], **of_town}
        )
    return asked


def year(town: int) -> int:
    return 1400 + 17 * town


def write(folder: Path) -> tuple[Path, Path]:
    """The tables of questions and of passages."""
    folder.mkdir(parents=True, exist_ok=True)
    files = folder / "towns.jsonl", folder / "passages.jsonl"
    for file, rows in zip(files, (questions(), passages()), strict=True):
        file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return files

"""Writes what the dialogue generator was trained to speak of: by domain its columns and its words.

    python -m training.dialogue.spoken_domains DATA [--out FILE]

Words are those of the vocabulary that the replies of the domain and of another one hold. None names a column
or a value of a knowledge base: an entity has to hold such a word before it is told of it. Words that the
replies of most domains hold say nothing of any entity.
"""

from __future__ import annotations

import argparse
import gzip
import json
from collections import Counter
from pathlib import Path

from agents.dialogue.spoken import DOMAINS
from agents.models.dialogue_generator import DESCRIPTION_FILE, SHIPPED
from agents.models.dialogue_inputs import as_value
from assistant.learning.recipes.examples.dialogues import read_dialogues

SETS = ("camrest", "mwoz_e2e", "star")  # of what is shipped
_PLAIN_FROM = 8  # domains whose replies hold a word, of 14
_LEAST_ROWS = 0.1  # of a domain's entities, that have a column


def _slots(data: Path) -> set[str]:
    """What MultiWOZ's dialogues ask for, also where its knowledge base has no such column."""
    with gzip.open(data / "multiwoz21_dst" / "slots.jsonl.gz", "rt", encoding="utf-8") as lines:
        return {json.loads(line)["slot"].replace("-", " ") for line in lines}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path)
    parser.add_argument("--out", type=Path, default=DOMAINS)
    arguments = parser.parse_args()
    vocabulary = set(json.loads((SHIPPED / DESCRIPTION_FILE).read_text("utf-8"))["words"])
    told: dict[str, Counter[str]] = {}
    columns: dict[str, Counter[str]] = {}
    rows: Counter[str] = Counter()
    values = {word for slot in _slots(arguments.data) for word in slot.split()}
    for name in SETS:
        for dialogue in read_dialogues(arguments.data, name, "train"):
            for entity in dialogue.entities:
                values.update(as_value(value) for value in entity.values.values())
                values.update(word for column in entity.values for word in column.split())
            if " " in dialogue.domain:
                continue
            domain = f"{name} {dialogue.domain}"
            rows[domain] += len(dialogue.entities)
            held = columns.setdefault(domain, Counter())
            held.update(column for entity in dialogue.entities for column in entity.values)
            words = told.setdefault(domain, Counter())
            words.update(word for turn in dialogue.turns for word in set(turn.system.split()))
    in_domains = Counter(w for w in vocabulary for d in {d.split()[1] for d in told if told[d][w]} if d)
    in_sets = Counter(word for word in vocabulary for domain in told if told[domain][word])
    plain = sorted(word for word, count in in_domains.items() if count >= _PLAIN_FROM)
    domains = {
        domain: {
            "columns": [c for c, count in columns[domain].items() if count >= _LEAST_ROWS * rows[domain]],
            "words": sorted(
                word for word in vocabulary - values - set(plain) if words[word] and in_sets[word] > 1
            ),
        }
        for domain, words in told.items()
        if columns[domain]
    }
    content = {"plain": plain, "domains": domains}
    arguments.out.write_text(json.dumps(content, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

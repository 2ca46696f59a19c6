"""Whether the passage that answers is among the five put before the model: python -m benchmarks.documents

The documents of a part of data/documents and the manual are read into one store; each question that stands
alone is searched and judged as in a turn. By kind: the share whose passage is there. Below it, what is left
where passages are not sent that the reader judges lower than this: of those passages, of all sent for
a question, and for a message of data/everyday that states nothing (small talk).
"""

from __future__ import annotations

import argparse
import json
import os
import re
import statistics
import tempfile
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from assistant.library.documents import UnreadableDocument, read_documents
from assistant.settings.config import Settings
from assistant.settings.locations import find_locations
from assistant.wiring.assistant import Assistant
from benchmarks.everyday_chat import ROOT, folded
from stores.base.passages import SHARED

SENT = 5
BELOW = (0.0, 0.02, 0.03, 0.05, 0.1, 0.2)
SMALL_TALK = {"dev": "dev-*", "test": "test-*"}

Sent = list[tuple[str, float]]  # texts, best first, and how they were judged


def main() -> None:
    """Prints both tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--part", choices=list(SMALL_TALK), default="dev")
    part = parser.parse_args().part
    with tempfile.TemporaryDirectory() as folder:
        home = {"HOME": folder, "XDG_CACHE_HOME": str(find_locations(os.environ).cache.parent)}
        assistant = Assistant(Settings(), find_locations(home))
        try:
            user = assistant.journal.user_id("ann")
            _read(assistant, user, Path(folder) / "documents", part)
            asked = [q for q in _lines("questions.jsonl", part) if q["sentence"] and q["kind"] != "followup"]
            questions = [(q, _sent(assistant, user, q["q"])) for q in asked]
            talk = [_sent(assistant, user, text) for text in _small_talk(SMALL_TALK[part])]
        finally:
            assistant.close()
    _report(questions, talk)


def _read(assistant: Assistant, user: int, folder: Path, part: str) -> None:
    folder.mkdir()
    texts: dict[str, list[str]] = defaultdict(list)
    for passage in _lines("passages.jsonl", part):
        texts[passage["doc"]] = texts[passage["doc"]] or [f"# {passage['title']}"]
        texts[passage["doc"]].append(f"## {passage['heading'] or 'More'}\n\n{passage['text']}")
    for name, parts in texts.items():
        (folder / f"{name}.md").write_text("\n\n".join(parts), "utf-8")
    files = [*sorted(folder.glob("*.md")), *sorted((ROOT / "docs" / "manual").glob("*.md"))]
    read = (document for file in files for document in read_documents(file))
    documents = (document for document in read if not isinstance(document, UnreadableDocument))
    for _ in assistant.ingest.run(user, SHARED, documents, summary="documents"):
        pass
    assistant.catch_up()


def _lines(name: str, part: str) -> list[dict[str, Any]]:
    lines = (ROOT / "data" / "documents" / name).read_text("utf-8").splitlines()
    return [read for line in lines if (read := json.loads(line))["split"] == part]


def _small_talk(files: str) -> list[str]:
    return [
        said["t"]
        for file in sorted((ROOT / "data" / "everyday").glob(f"{files}.jsonl"))
        for line in file.read_text("utf-8").splitlines()
        for said in json.loads(line)["says"]
        if said["k"] == "none"
    ]


def _sent(assistant: Assistant, user: int, text: str) -> Sent:
    searching, pipeline = assistant.searching, assistant.pipeline
    found = pipeline._retrieve(searching, user, (text,), ())
    reranked = pipeline._reranker.rerank(text, found.candidates)
    judged = {id(j.candidate): j.verdict.score for j in reranked.judgements}
    return [(c.passage.text, judged.get(id(c), 1.0)) for c in reranked.order[:SENT]]


def _place(question: dict[str, Any], sent: Sent) -> int | None:
    wanted = folded(re.sub(r"\s+", " ", question["sentence"]))[:60]
    return next((i for i, (text, _) in enumerate(sent) if wanted in folded(text)), None)


def _report(questions: Sequence[tuple[dict[str, Any], Sent]], talk: Sequence[Sent]) -> None:
    kinds: dict[str, list[bool]] = defaultdict(list)
    for question, sent in questions:
        for kind in (question["kind"], "all"):
            kinds[kind].append(_place(question, sent) is not None)
    print("| kind | questions | among five |\n| --- | ---: | ---: |")
    for kind, there in sorted(kinds.items(), key=lambda each: -len(each[1])):
        print(f"| {kind} | {len(there)} | {statistics.mean(there):.1%} |")
    print("\n| not sent below | passages with the answer | sent for a question | for small talk | with any |")
    print("| ---: | ---: | ---: | ---: | ---: |")
    for below in BELOW:
        there = sum(
            (place := _place(question, sent)) is not None and sent[place][1] >= below
            for question, sent in questions
        )
        of_questions = statistics.mean(sum(score >= below for _, score in sent) for _, sent in questions)
        counts = [sum(score >= below for _, score in sent) for sent in talk]
        some = statistics.mean(count > 0 for count in counts)
        print(f"| {below} | {there} | {of_questions:.1f} | {statistics.mean(counts):.1f} | {some:.0%} |")


if __name__ == "__main__":
    main()

"""What is found in documents, and what is answered from them: python -m benchmarks.documents [--answers]

The documents of a part of data/documents and the manual are read into one store. Each question that stands
alone is searched and judged as in a turn. By kind: the share whose passage is among the five put before the
model. Below it, what is left where passages are not sent that the reader judges lower than this: of those
passages, of all sent for a question, and for a message of data/everyday that states nothing (small talk).

With --answers every question is a turn of a chat of its own by the built-in model, a follow-up behind the
question before it:

    right      what is said first holds the answer's words, and it is sure
    hedged     it is not sure, and one of the nearest that it shows holds them
    wrong      it is sure of something else
    unsure     it is not sure, and shows other passages
    nothing    it says that it knows nothing, though a passage answers, or only notes what was asked

For a question that nothing answers, what is wanted is that it is not sure (unsure or nothing).

With --times the first questions are turns with the second reading and without it, one after the other.

With --unasked it shows what tells a phrase that is looked for ("price of the last week") from a statement:
by the probability of the best sentence, the share of questions that are taken for none, and of statements of
data/everyday, for which something is found.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import statistics
import tempfile
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from agents.backends.extractive import ExtractiveChat, is_sure
from agents.base.chat_interfaces import Source
from agents.base.quoting_only import NOTED
from assistant.library.documents import read_documents
from assistant.settings.config import Settings
from assistant.settings.locations import find_locations
from assistant.wiring.assistant import Assistant
from benchmarks.everyday_chat import ROOT, folded
from stores.base.errors import UnreadableDocument
from stores.base.passages import SHARED, Passage

SENT = 5
OUTCOMES = ("right", "hedged", "wrong", "unsure", "nothing")
BELOW = (0.0, 0.02, 0.03, 0.05, 0.1, 0.2)
EVERYDAY = {"train": "train-*", "dev": "dev-*", "test": "test-*"}
NEAR = (0.02, 0.03, 0.05, 0.08, 0.1, 0.2)
UNASKED = 250  # of either
TIMED = 60  # questions, and as many to warm up

_CITED = re.compile(r"\[\d+\]")

Sent = list[tuple[str, float]]  # texts, best first, and how they were judged


def main() -> None:
    """Prints both tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--part", choices=list(EVERYDAY), default="dev")
    what = parser.add_mutually_exclusive_group()
    for name in ("--answers", "--times", "--unasked"):
        what.add_argument(name, action="store_true")
    parser.add_argument("--show", action="store_true", help="print each question with its answer")
    told = parser.parse_args()
    part = told.part
    with tempfile.TemporaryDirectory() as folder:
        home = {"HOME": folder, "XDG_CACHE_HOME": str(find_locations(os.environ).cache.parent)}
        settings = replace(Settings(), memory=replace(Settings().memory, learn=False))
        assistant = Assistant(settings, find_locations(home))
        try:
            user = assistant.stores.journal.user_id("ann")
            read_part(assistant, user, Path(folder) / "documents", part)
            if told.unasked:
                _report_unasked(assistant, user, part)
                return
            if told.times:
                _report_times(assistant, user, [q["q"] for q in lines_of("questions.jsonl", part)[:TIMED]])
                return
            if told.answers:
                every = lines_of("questions.jsonl", part)
                texts = {question["id"]: question["q"] for question in every}
                _report_answers([_answered(assistant, user, q, texts) for q in every], told.show)
                return
            asked = [
                q for q in lines_of("questions.jsonl", part) if q["sentence"] and q["kind"] != "followup"
            ]
            questions = [(q, _sent(assistant, user, q["q"])) for q in asked]
            talk = [_sent(assistant, user, text) for text in _said(part, is_small_talk=True)]
        finally:
            assistant.close()
    _report(questions, talk)


def _answered(
    assistant: Assistant, user: int, question: dict[str, Any], texts: dict[str, str]
) -> tuple[dict[str, Any], str, str]:
    """A question with what came of it and the whole answer. texts: of all questions by their ids."""
    session = assistant.stores.journal.open_session(user)
    for message in filter(None, (texts.get(question.get("prev", "")), question["q"])):
        finished = assistant.turns.host.play(user, session, message, watch=lambda event: None)
    answer = finished.answer
    first, shown = said_first(answer)
    wanted = folded(question["answer"])
    if not finished.cited:
        outcome = "nothing"
    elif is_sure(answer):
        outcome = "right" if wanted and wanted in folded(first) else "wrong"
    else:
        outcome = "hedged" if wanted and wanted in folded(shown) else "unsure"
    return question, outcome, answer


def said_first(answer: str) -> tuple[str, str]:
    """What an answer says before its first citation, and all that it shows below what it notes."""
    shown = answer.partition("\n\n")[2] if answer.startswith(NOTED) else answer
    return _CITED.split(shown)[0], shown


def _report_answers(rows: Sequence[tuple[dict[str, Any], str, str]], show: bool) -> None:
    kinds: dict[str, Counter[str]] = defaultdict(Counter)
    for question, outcome, answer in rows:
        if show:
            print(f"> {question['q']} ({question['kind']}: {question['answer']}) {outcome}\n  {answer}\n")
        kinds[question["kind"]][outcome] += 1
        if question["answer"]:
            kinds["all that can be answered"][outcome] += 1
    print(f"| kind | questions | {' | '.join(OUTCOMES)} |\n| --- | ---: |{' ---: |' * len(OUTCOMES)}")
    for kind, counted in sorted(kinds.items(), key=lambda each: -each[1].total()):
        shares = " | ".join(f"{counted[outcome] / counted.total():.1%}" for outcome in OUTCOMES)
        print(f"| {kind} | {counted.total()} | {shares} |")


def _report_times(assistant: Assistant, user: int, questions: Sequence[str]) -> None:
    chat = assistant.models.chat_model
    assert isinstance(chat, ExtractiveChat)
    rereadings, taken = chat._quoter._rereadings, defaultdict[str, list[float]](list)
    for number, question in enumerate((*questions, *questions)):
        ways = [("with the second reading", rereadings), ("without", None)]
        for name, way in ways if number % 2 else ways[::-1]:
            chat._quoter._rereadings = way
            session = assistant.stores.journal.open_session(user)
            finished = assistant.turns.host.play(user, session, question, watch=lambda event: None)
            if number >= len(questions):
                taken[name].append(1000 * finished.seconds)
            assistant.models.readings._kept.clear()
            assistant.models.large_readings._kept.clear()
    for name, times in sorted(taken.items()):
        longest = sorted(times)[int(0.95 * len(times))]
        print(f"{name}: p50 {statistics.median(times):.0f} ms, p95 {longest:.0f} ms")


def read_part(assistant: Assistant, user: int, folder: Path, part: str) -> None:
    """Reads the documents of a part, written into a new folder, and the manual."""
    files = [*written(part, folder), *sorted((ROOT / "docs" / "manual").glob("*.md"))]
    read = (document for file in files for document in read_documents(file))
    documents = (document for document in read if not isinstance(document, UnreadableDocument))
    for _ in assistant.turns.ingest.run(user, SHARED, documents, summary="documents"):
        pass
    assistant.catch_up()


def written(part: str, folder: Path) -> list[Path]:
    """The documents of a part, written into a new folder as Markdown."""
    folder.mkdir()
    texts: dict[str, list[str]] = defaultdict(list)
    for passage in lines_of("passages.jsonl", part):
        texts[passage["doc"]] = texts[passage["doc"]] or [f"# {passage['title']}"]
        texts[passage["doc"]].append(f"## {passage['heading'] or 'More'}\n\n{passage['text']}")
    for name, parts in texts.items():
        (folder / f"{name}.md").write_text("\n\n".join(parts), "utf-8")
    return sorted(folder.glob("*.md"))


def lines_of(name: str, part: str) -> list[dict[str, Any]]:
    """The lines of a file of data/documents that belong to a part."""
    lines = (ROOT / "data" / "documents" / name).read_text("utf-8").splitlines()
    return [read for line in lines if (read := json.loads(line))["split"] == part]


def _said(part: str, *, is_small_talk: bool) -> list[str]:
    return [
        said["t"]
        for file in sorted((ROOT / "data" / "everyday").glob(f"{EVERYDAY[part]}.jsonl"))
        for line in file.read_text("utf-8").splitlines()
        for said in json.loads(line)["says"]
        if (said["k"] == "none") == is_small_talk
    ]


def _report_unasked(assistant: Assistant, user: int, part: str) -> None:
    chat = assistant.models.chat_model_of(assistant.given.settings.model)
    assert isinstance(chat, ExtractiveChat)
    asked = [q["q"] for q in lines_of("questions.jsonl", part) if q["sentence"] and q["kind"] != "followup"]
    print(f"| | messages | {' | '.join(map(str, NEAR))} |\n| --- | ---: |{' ---: |' * len(NEAR)}")
    for name, texts in (("questions", asked), ("statements", _said(part, is_small_talk=False))):
        random.Random(1).shuffle(texts)
        some = [text for text in texts if not chat._sorter.sorted(text).asking][:UNASKED]
        best = []
        for text in some:
            passages = enumerate((passage for passage, _ in _found(assistant, user, text)), start=1)
            ranked = chat._quoter.ranked(text, [Source(number, passage) for number, passage in passages])
            best.append(ranked[0].probability if ranked else 0.0)
        shares = " | ".join(f"{statistics.mean(b >= near for b in best):.1%}" for near in NEAR)
        print(f"| {name} | {len(some)} | {shares} |")


def _found(assistant: Assistant, user: int, text: str) -> list[tuple[Passage, float]]:
    searching = assistant.search.searching
    found = searching.retriever.retrieve(text, searching.spaces.of(user))
    reranked = assistant.turns.pipeline._memory.reranker.rerank(text, found.candidates)
    judged = {id(j.candidate): j.verdict.score for j in reranked.judgements}
    return [(c.passage, judged.get(id(c), 1.0)) for c in reranked.order[:SENT]]


def _sent(assistant: Assistant, user: int, text: str) -> Sent:
    return [(passage.text, score) for passage, score in _found(assistant, user, text)]


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
        answering = sum(
            (place := _place(question, sent)) is not None and sent[place][1] >= below
            for question, sent in questions
        )
        of_questions = statistics.mean(sum(score >= below for _, score in sent) for _, sent in questions)
        counts = [sum(score >= below for _, score in sent) for sent in talk]
        some = statistics.mean(count > 0 for count in counts)
        print(f"| {below} | {answering} | {of_questions:.1f} | {statistics.mean(counts):.1f} | {some:.0%} |")


if __name__ == "__main__":
    main()

"""What stands in a request to a chat model after forty turns: python -m benchmarks.sent [--context 8192]

Two users talk for forty turns each over the manual; a server on this machine answers from `lines.tsv`. Then
each question is asked in the place of the one before it, in the same session and in a new one, and what was
sent is looked through: for what the user told, what the assistant said, what was only implied, standing
wishes, and for what has nothing to do with it. --facts: further statements of the user's.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import statistics
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

from assistant.library.documents import read_documents
from assistant.settings.config import ModelSettings, Settings
from assistant.settings.locations import Locations, find_locations
from assistant.wiring.assistant import Assistant
from stores.base.errors import UnreadableDocument
from stores.base.passages import SHARED
from tests.scripted_server import Request, ScriptedServer, computes

ROOT = Path(__file__).resolve().parents[2]
CHARACTERS_A_TOKEN = 4  # of running English; one measure for what is compared
_SHORT = "Good to know, thank you for telling me. I will keep that in mind; tell me whatever else comes up."


@dataclass(frozen=True)
class Line:
    """One line of `lines.tsv`."""

    kind: str  # fact, reply, implied, wish, secret, filler, other
    who: str
    said: str
    asked: str
    key: str  # in small letters; has to be in the request
    reply: str


def lines(who: str) -> list[Line]:
    """Those of one user."""
    text = (Path(__file__).parent / "lines.tsv").read_text(encoding="utf-8")
    rows = [row.split("\t") for row in text.splitlines()[1:]]
    return [Line(*row) for row in rows if who in row[1]]


def sent_text(request: Request) -> str:
    """All messages of a request, in small letters; no question holds the key of its answer."""
    return "\n".join(f"{m['role']}: {m['content']}" for m in request.body["messages"]).casefold()


def unchanged(requests: Sequence[Request]) -> list[float]:
    """Of each request but the first, which share of it begins as the one before it."""
    texts = [sent_text(request) for request in requests]
    return [
        next((i for i, (a, b) in enumerate(zip(before, after, strict=False)) if a != b), len(before))
        / len(after)
        for before, after in pairwise(texts)
    ]


class Talk:
    """One user at one Vouch."""

    def __init__(self, assistant: Assistant, server: ScriptedServer, who: str) -> None:
        self.assistant, self.server = assistant, server
        self.lines = lines(who)
        self.user = assistant.stores.journal.user_id(who)
        self.session = assistant.stores.journal.open_session(self.user)
        self._last: int | None = None

    def say(self, message: str, session: int, *, instead_of: int | None = None) -> Request:
        """Plays one turn and returns what was sent for it."""
        before = len(self.server.requests)
        host = self.assistant.turns.host
        finished = host.play(self.user, session, message, watch=lambda event: None, instead_of=instead_of)
        assert finished.state == "done", finished.error
        self._last = finished.turn_id
        asked = [request for request in self.server.requests[before:] if request.wants_stream]
        assert len(asked) == 1, f"{len(asked)} requests"
        return asked[0]

    def talk(self) -> list[Request]:
        """The forty turns; what each was sent."""
        told = [line for line in self.lines if line.kind != "other"]
        random.Random(7).shuffle(told)
        requests = []
        for line in told:
            requests.append(self.say(line.said, self.session))
            self.assistant.turns.host.remember(self.user, lambda learned: None)
            self.assistant.turns.host.settle()
        return requests

    def asked(self, *, anew: bool) -> Iterator[tuple[Line, str, int]]:
        """Each question with what was sent for it, and how long that was."""
        session = self.assistant.stores.journal.open_session(self.user) if anew else self.session
        place: int | None = None
        for line in self.lines:
            if line.asked or line.kind == "other":
                request = self.say(line.asked or line.said, session, instead_of=place)
                place = self._last
                text = sent_text(request)
                yield line, text, len(text) // CHARACTERS_A_TOKEN


def main() -> None:
    """Prints a line for each length of context and each number of further statements."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--context", type=int, action="append")
    parser.add_argument("--facts", type=int, action="append")
    parser.add_argument("--keep", type=Path, help="a folder for all requests, one line each")
    told = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for facts in told.facts or (0, 400):
            ready = Path(folder) / f"ready-{facts}"
            _prepare(ready, facts)
            for context in told.context or (4096, 8192, 32768):
                home = Path(folder) / f"{facts}-{context}"
                shutil.copytree(ready, home)
                _measure(home, context, facts, told.keep)


def _locations(home: Path) -> Locations:
    return find_locations({"HOME": str(home), "XDG_CACHE_HOME": str(find_locations(os.environ).cache.parent)})


def _prepare(home: Path, facts: int) -> None:
    """A store with the manual and so many statements of each user."""
    home.mkdir()
    assistant = Assistant(Settings(), _locations(home))
    try:
        user = assistant.stores.journal.user_id("a")
        pages = sorted((ROOT / "docs" / "manual").glob("*.md"))
        read = (document for page in pages for document in read_documents(page))
        documents = (document for document in read if not isinstance(document, UnreadableDocument))
        for _ in assistant.turns.ingest.run(user, SHARED, documents, summary="manual"):
            pass
        for who in ("a", "b"):
            for said in _further(facts):
                assistant.stores.knowledge.remember(assistant.stores.journal.user_id(who), said)
        assistant.catch_up()
    finally:
        assistant.close()


def _further(count: int) -> list[str]:
    files = sorted((ROOT / "data" / "everyday").glob("train-*.jsonl"))
    talks = (json.loads(row) for file in files for row in file.read_text(encoding="utf-8").splitlines())
    said = dict.fromkeys(s["t"] for talk in talks for s in talk["says"] if s["k"] == "self")
    return random.Random(7).sample(list(said), count)


def _measure(home: Path, context: int, facts: int, keep: Path | None) -> None:
    replies = {line.said: line.reply or _SHORT for who in "ab" for line in lines(who)}

    def reply(request: Request) -> tuple[str, ...]:
        said = next((words for words in replies if request.last_message.rstrip().endswith(words)), "")
        return (replies.get(said, "I see."),)

    with ScriptedServer(then=computes(reply)) as server:
        model = ModelSettings(
            backend="openai", base_url=server.base_url, name="scripted", context_tokens=context
        )
        memory = replace(Settings().memory, agents="reader")
        assistant = Assistant(replace(Settings(), model=model, memory=memory), _locations(home))
        try:
            talks = [Talk(assistant, server, who) for who in "ab"]
            requests = [talk.talk() for talk in talks]
            told = len(server.requests)
            shares = [share for each in requests for share in unchanged(each)]
            lengths = [len(sent_text(r)) // CHARACTERS_A_TOKEN for each in requests for r in each]
            print(
                f"context {context}, {facts} facts: {told / sum(map(len, requests)):.2f} requests a turn,"
                f" {statistics.median(lengths):.0f} tokens, unchanged {statistics.median(shares):.2f}",
                flush=True,
            )
            for anew in (False, True):
                found = [each for talk in talks for each in talk.asked(anew=anew)]
                print(f"  {'new ' if anew else 'same'} session: {_counted(found, talks)}", flush=True)
        finally:
            assistant.close()
            if keep is not None:
                keep.mkdir(parents=True, exist_ok=True)
                rows = (json.dumps(request.body, ensure_ascii=False) for request in server.requests)
                (keep / f"{facts}-{context}.jsonl").write_text("\n".join(rows), encoding="utf-8")


def _counted(found: Sequence[tuple[Line, str, int]], talks: Sequence[Talk]) -> str:
    counts: dict[str, Any] = {}
    for kind in ("fact", "reply", "implied"):
        of_kind = [(line, text) for line, text, _ in found if line.kind == kind]
        counts[kind] = f"{sum(line.key in text for line, text in of_kind)}/{len(of_kind)}"
    others = [(line, text) for line, text, _ in found if line.kind == "other"]
    half = len(others) // len(talks)
    of_each = [[text for _, text in others[i * half : (i + 1) * half]] for i in range(len(talks))]
    for kind in ("wish", "secret"):
        keys = [(i, line.key) for i, talk in enumerate(talks) for line in talk.lines if line.kind == kind]
        if kind == "wish":
            held = sum(all(key in text for text in of_each[i]) for i, key in keys)
            counts[kind] = f"{held}/{len(keys)}"
        else:
            counts["secret in"] = sum(
                any(key in text for i, key in keys if i == n)
                for n, texts in enumerate(of_each)
                for text in texts
            )
    manual = [text for _, text in others if "(shared" in text]
    counts["manual in"] = f"{len(manual)}/{len(others)}"
    counts["tokens"] = f"{statistics.median(tokens for _, _, tokens in found):.0f}"
    return ", ".join(f"{name} {count}" for name, count in counts.items())


if __name__ == "__main__":
    main()

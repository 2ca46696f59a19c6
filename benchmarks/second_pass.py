"""What feedback does to the answers that follow it: a stream of questions, and the same questions again.

    python -m benchmarks.second_pass DATA --work DIR [--only squad nq covidqa] [--questions 100] [--seed 1]
        [--json FILE]

DATA and DIR are those of benchmarks.recall; each stream has a copy of the collection's store. A user asks
in one session, and says after each answer what assistant/replay/feedback.py makes of it, as a message of
its own: answered, summarized, weighed and curated as in the product, with the built-in reader. Then the
user asks all again in a new session, and a bystander asks them for the first time. Beside it: the same
without feedback.

right: an expected answer stands in what is shown. R@5: in one of the first five passages put before the
model, the user's own words among them; shared R@5: in a shared one of these; own words: the answer cites what
this user said. Differences are paired over the questions, with 95 % intervals by bootstrap.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, get_args

from agents.chat_interfaces import Source
from agents.claim_interfaces import Said
from agents.claim_rules.statements import statements
from agents.interfaces import Exchange
from agents.quote_order import is_own_words
from agents.reader_summarizer import candidates
from assistant.replay.bootstrap import Gain, paired_gain
from assistant.replay.feedback import Feedback, answerable, simulated
from assistant.replay.simulate import FeedbackKind
from assistant.turns.events import Chosen, Event, Finished
from assistant.wiring import Assistant
from benchmarks.questions import holds_answer, read_questions
from benchmarks.recall import BenchmarkAssistant
from benchmarks.recall_collections import COLLECTIONS, READY, Collection, ingest_collection
from stores.claims import ToldTurn
from stores.lexical import tokens
from stores.passages import SHARED
from stores.records import StatedClaim, known_id
from tests.attack_play import live_texts

KINDS: tuple[FeedbackKind, ...] = get_args(FeedbackKind)
FIRST, AGAIN, BYSTANDER = "user, first", "user, again", "bystander"
ALL = "all"
DEPTH = 5
ECHO = "dropped: it repeats what was shown"
NO_STATEMENT = "dropped: no sentence states it"
NOT_ALONE = "dropped: not clear by itself"  # or not English
SORTED_OUT = "dropped: sorted as nothing to keep"
_MEASURES: Mapping[str, Callable[[Reply], bool]] = {
    "right": lambda reply: reply.is_right,
    "R@5": lambda reply: reply.is_found,
    "shared R@5": lambda reply: reply.is_found_shared,
    "own words": lambda reply: reply.quotes_own,
}
_UNQUOTED = str.maketrans("", "", "“”")
_SAID_AGAIN = 0.5  # share of a claim's words from which a sentence is taken to say it


@dataclass(frozen=True)
class Reply:
    """What one user was given for one question."""

    answer: str
    is_right: bool
    is_found: bool
    is_found_shared: bool
    quotes_own: bool  # it cites what this user said


@dataclass(frozen=True)
class Fate:
    """What became of one piece of feedback."""

    kind: FeedbackKind
    end: str  # state and scope of its claim, or why there is none
    status: str = ""  # as it was weighed
    action: str = ""
    asides: int = 0  # claims of the same message that are not what was to be said
    shared_writes: int = 0  # of all claims of the message

    @property
    def is_claim(self) -> bool:
        """Whether it was found."""
        return not self.end.startswith("dropped")


@dataclass
class Stream:
    """Everything asked and said over one copy of a store."""

    replies: dict[str, list[Reply]]  # by who asks, and which time; in the order of the questions
    fates: list[Fate] = field(default_factory=list)  # empty without feedback
    shared_before: str = ""  # hashes of all that is live in the shared memory
    shared_after: str = ""
    seconds: float = 0.0


@dataclass(frozen=True)
class Compared:
    """Two streams of the same questions."""

    said: list[Feedback]  # one of each question
    with_it: Stream
    without: Stream

    @property
    def streams(self) -> dict[str, Stream]:
        """By name."""
        return {"with": self.with_it, "without": self.without}


def measure(data: Path, work: Path, collection: Collection, *, count: int, seed: int) -> Compared:
    """Both streams of a collection."""
    everything = answerable(read_questions(data / collection.questions, count=None, seed=seed, answered=True))
    fit = askable(everything)
    asked = random.Random(seed).sample(fit, min(count, len(fit)))
    said = simulated(asked, everything, seed=seed)
    store = work / collection.store
    if not (store / READY).exists():
        filling = BenchmarkAssistant(store, work / "vectors")
        try:
            ingest_collection(filling, data, collection)
        finally:
            filling.close()
    streams: dict[str, Stream] = {}
    for way in ("with", "without"):
        with tempfile.TemporaryDirectory() as folder:
            copy = Path(shutil.copytree(store, Path(folder) / "store"))
            assistant = BenchmarkAssistant(copy, work / "vectors")
            try:
                assistant.catch_up()
                streams[way] = play(assistant, said, gives_feedback=way == "with")
            finally:
                assistant.close()
    return Compared(said, streams["with"], streams["without"])


def askable(records: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Without questions that hold an answer: a quote of the user who asked it would count as right."""
    return [r for r in records if not _holds(r["question"], r["answers"])]


def play(assistant: Assistant, said: Sequence[Feedback], *, gives_feedback: bool) -> Stream:
    """A user's stream, the same questions once more, and a bystander's."""
    user, bystander = map(assistant.journal.user_id, ("user", "bystander"))
    began, before = time.monotonic(), shared_hash(assistant)
    stream = Stream({FIRST: [], AGAIN: [], BYSTANDER: []}, shared_before=before)
    for name, user_id in ((FIRST, user), (AGAIN, user), (BYSTANDER, bystander)):
        session = assistant.journal.open_session(user_id)
        for number, each in enumerate(said):
            sources, finished = _turn(assistant, user_id, session, each.question)
            stream.replies[name].append(reply_of(each, sources, finished))
            if gives_feedback and name == FIRST:
                _, told = _turn(assistant, user_id, session, each.message)
                claims = assistant.claims.of_turn(user_id, told.turn_id)
                stream.fates.append(fate_of(each, claims, assistant.claims.told(user_id, told.turn_id)))
            if number % 20 == 0:
                spent = time.monotonic() - began
                print(f"{name}: {number} of {len(said)} after {spent:.0f} s", file=sys.stderr)
    stream.shared_after = shared_hash(assistant)
    stream.seconds = time.monotonic() - began
    return stream


def _turn(
    assistant: Assistant, user_id: int, session_id: int, message: str
) -> tuple[tuple[Source, ...], Finished]:
    """Plays a turn and remembers it; what was put before the model, and how it ended."""
    chosen: list[Chosen] = []

    def watch(event: Event) -> None:
        if isinstance(event, Chosen):
            chosen.append(event)

    finished = assistant.player.play(user_id, session_id, message, watch=watch)
    assistant.player.remember(user_id, lambda learned: None)
    assistant.player.settle()
    if finished.error is not None:
        raise finished.error
    return chosen[0].sources, finished


def shared_hash(assistant: Assistant) -> str:
    """Equal where the same versions are live in the shared memory, with the same words."""
    return hashlib.sha256(repr(live_texts(assistant.database, SHARED)).encode()).hexdigest()


def reply_of(asked: Feedback, sources: Sequence[Source], finished: Finished) -> Reply:
    """One answer, against the expected ones."""
    answers = asked.answers
    holding = [source for source in sources[:DEPTH] if _holds(source.passage.text, answers)]
    return Reply(
        answer=finished.answer,
        is_right=_holds(finished.answer, answers),
        is_found=bool(holding),
        is_found_shared=any(source.passage.is_shared for source in holding),
        quotes_own=any(is_own_words(source.passage) for source in finished.cited),
    )


def _holds(text: str, answers: Sequence[str]) -> bool:
    """`holds_answer`, which takes the curly marks around a quote for a part of its first and last word."""
    return holds_answer(text.translate(_UNQUOTED), [answer.translate(_UNQUOTED) for answer in answers])


def fate_of(said: Feedback, claims: Sequence[StatedClaim], told: ToldTurn) -> Fate:
    """What became of it: the claim that says most of it, or why there is none."""
    writes = sum(claim.scope == "shared" and claim.state == "stored" for claim in claims)
    ranked = sorted(claims, key=lambda claim: -_share_said(said, f"{claim.text} {claim.quote}"))
    if not ranked or _share_said(said, f"{ranked[0].text} {ranked[0].quote}") < _SAID_AGAIN:
        return Fate(said.kind, why_dropped(said, told), asides=len(claims), shared_writes=writes)
    claim = ranked[0]
    end = f"{claim.state}, {claim.scope}" if claim.state in ("stored", "confirmed") else claim.state
    return Fate(said.kind, end, claim.status, claim.action, len(claims) - 1, writes)


def why_dropped(said: Feedback, told: ToldTurn) -> str:
    """Which step of the reader's summarizer let it go; what no rule stopped, the reader's sorting did."""
    earlier = tuple(Exchange(t.message, t.standalone, t.answer, known_id(t.id)) for t in told.earlier)
    whole = Said(told.message, earlier, told.recalled, told.answer)
    unseen = replace(whole, recalled=(), earlier=tuple(replace(each, answer="") for each in earlier))

    def is_said(texts: Sequence[str]) -> bool:
        return any(_share_said(said, text) >= _SAID_AGAIN for text in texts)

    if not is_said([statement.quote for statement in statements(told.message)]):
        return NO_STATEMENT
    if not is_said([statement.quote for statement in candidates(unseen)]):
        return NOT_ALONE
    if not is_said([statement.quote for statement in candidates(whole)]):
        return ECHO
    return SORTED_OUT


def _share_said(said: Feedback, text: str) -> float:
    """The share of the words of what was to be said that stand in a text."""
    wanted = set(tokens(said.claim))
    return len(wanted.intersection(tokens(text))) / max(1, len(wanted))


# What is told of it


def gains(compared: Compared, *, seed: int) -> dict[str, dict[str, dict[str, Gain]]]:
    """By comparison, then by kind of feedback or "all", then by measure; a share, 0 to 1."""
    one, other = compared.with_it.replies, compared.without.replies
    pairs = {
        **{f"{name}: with - without": (one[name], other[name]) for name in (FIRST, AGAIN, BYSTANDER)},
        "with: again - first": (one[AGAIN], one[FIRST]),
        "without: again - first": (other[AGAIN], other[FIRST]),
    }
    kinds: tuple[str, ...] = (ALL, *KINDS)
    places = {k: [n for n, each in enumerate(compared.said) if k in (ALL, each.kind)] for k in kinds}
    return {
        title: {
            kind: {
                measure: paired_gain(
                    [float(holds(after[n])) for n in numbers],
                    [float(holds(before[n])) for n in numbers],
                    seed=seed,
                )
                for measure, holds in _MEASURES.items()
            }
            for kind, numbers in places.items()
            if numbers
        }
        for title, (after, before) in pairs.items()
    }


def differing(compared: Compared, name: str) -> int:
    """To how many questions the two streams gave other words."""
    pairs = zip(compared.with_it.replies[name], compared.without.replies[name], strict=True)
    return sum(one.answer != other.answer for one, other in pairs)


def report(name: str, compared: Compared, *, seed: int) -> None:
    """One collection's figures."""
    said = compared.said
    print(f"\n{name}: {len(said)} questions, feedback {dict(Counter(each.kind for each in said))}")
    for way, stream in compared.streams.items():
        for asker, replies in stream.replies.items():
            print(f"  {way:8}{asker:12}{_shares(replies)}")
            for kind in KINDS if asker == AGAIN else ():
                mine = [reply for reply, each in zip(replies, said, strict=True) if each.kind == kind]
                print(f"{'':12}{kind:10}{_shares(mine)}")
    _report_fates(compared.with_it.fates)
    for way, stream in compared.streams.items():
        same = "unchanged" if stream.shared_before == stream.shared_after else "CHANGED"
        print(f"  {way} feedback the shared memory is {same}; {stream.seconds:.0f} s")
    print(f"  the bystander reads other words with it for {differing(compared, BYSTANDER)} questions")
    for title, by_kind in gains(compared, seed=seed).items():
        print(f"  {title}")
        for slice_name, by_measure in by_kind.items():
            cells = [f"{measure} {_shown(gain)}" for measure, gain in by_measure.items()]
            print(f"    {slice_name:10}" + "  ".join(cells))


def _report_fates(fates: Sequence[Fate]) -> None:
    for kind in KINDS:
        mine = [fate for fate in fates if fate.kind == kind]
        weighed = Counter(fate.status for fate in mine if fate.is_claim)
        print(f"  {kind}: {len(mine)} said, {sum(weighed.values())} found as a claim {dict(weighed)}", end="")
        print(f", asides {sum(f.asides for f in mine)}", end="")
        print(f", writes to the shared memory {sum(f.shared_writes for f in mine)}")
        for (end, status, action), count in Counter((f.end, f.status, f.action) for f in mine).most_common():
            print(f"    {count:4} {end}" + (f" ({status}, {action})" if status else ""))


def _shares(replies: Sequence[Reply]) -> str:
    shares = {name: sum(map(holds, replies)) / max(1, len(replies)) for name, holds in _MEASURES.items()}
    return ", ".join(f"{name} {100 * share:.1f} %" for name, share in shares.items())


def _shown(gain: Gain) -> str:
    return f"{100 * gain.mean:+.1f} [{100 * gain.low:+.1f}, {100 * gain.high:+.1f}]"


def counted(compared: Compared, *, seed: int) -> dict[str, Any]:
    """For a file: everything by question, and the differences."""
    return {
        "feedback": [{**asdict(each), "passage_ids": sorted(each.passage_ids)} for each in compared.said],
        **{way: asdict(stream) for way, stream in compared.streams.items()},
        "bystander_differs": differing(compared, BYSTANDER),
        "gains": {
            title: {kind: {m: asdict(g) for m, g in row.items()} for kind, row in by_kind.items()}
            for title, by_kind in gains(compared, seed=seed).items()
        },
    }


def main() -> None:
    known = {collection.name: collection for collection in COLLECTIONS}
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--only", nargs="+", default=("squad", "nq", "covidqa"), choices=list(known))
    parser.add_argument("--questions", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    results: dict[str, Any] = {}
    for name in arguments.only:
        found = measure(
            arguments.data, arguments.work, known[name], count=arguments.questions, seed=arguments.seed
        )
        report(name, found, seed=arguments.seed)
        results[name] = counted(found, seed=arguments.seed)
        if arguments.json:
            arguments.json.write_text(json.dumps({"seed": arguments.seed, "results": results}))


if __name__ == "__main__":
    main()

"""Learning from a stream of questions: answered first, learned from afterwards.

    python -m benchmarks.learning_stream DATA --work DIR --only friendsqa --judge reader|gold|p=0.9
        --interval 400 --seed 1 [--losses strict flaccid hard] [--learning-rate 1e-5] [--epochs 4]
        [--min-judged 5] [--split train dev test] [--first N] [--order drift] [--json FILE]

DATA and DIR are those of benchmarks.recall; the collection's store is copied, so a run leaves none behind.
Each question is searched with the retriever as it is and with the frozen one, counted, judged as in a turn,
and noted as a turn of the journal. After every `interval` questions the training child learns from all
lessons so far, beginning with the packaged encoder, and the query encoder that it makes is swapped in,
better or not: here the stream decides, not the promotion. A share of the lessons chosen by the hash of their
question says when training ends, and is not learned from.

R@5: an expected passage is among the first five, of all passages, before reranking. dense: by cosine; fused:
as the product orders. Figures are of the last third of the stream; intervals are paired over its questions.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from agents.interfaces import Candidate, Encoder, Judge, Verdict
from agents.interfaces import Judged as JudgedPassages
from agents.models.encoder import OnnxEncoder
from agents.models.two_sided import TwoSidedEncoder
from agents.reranker import Reranked, Reranker
from agents.retriever import Fusion
from assistant.learning.learner import SERVED
from assistant.learning.training_child import train_apart
from assistant.replay.bootstrap import Gain, paired_gain
from assistant.replay.datasets import ReplayQuestion, last_third, read_set, stream
from assistant.replay.metrics import success_at
from assistant.replay.simulate import SimulatedJudge, gold_truth
from benchmarks.recall import BenchmarkAssistant
from benchmarks.recall_collections import COLLECTIONS, Collection, ingest_collection
from stores.journal import Judged, Outcome
from stores.lessons import Lessons

DEPTH = 5
DENSE = Fusion(dense_weight=1.0, document_lift=0.0, conversation_lift=0.0)
LOSSES = ("strict", "flaccid", "hard")
WEIGHTS = {"strict": 1.0, "flaccid": 0.5, "hard": 1.0}
MEASURES = ("dense", "fused")


@dataclass
class Round:
    """One training of the stream."""

    after: int  # questions
    lessons: int
    seconds: float
    best_epoch: int | None


@dataclass
class Played:
    """What a stream came to."""

    frozen: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))  # by measure
    adapted: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    labels: Counter[str] = field(default_factory=Counter)
    agreement: Counter[str] = field(default_factory=Counter)  # of the judge's "answer" with gold
    rounds: list[Round] = field(default_factory=list)
    seconds: dict[str, float] = field(default_factory=lambda: defaultdict(float))


class KeptJudge:
    """A judge whose verdicts are kept between runs: judging costs more than all else of a stream."""

    def __init__(self, judge: Judge, file: Path) -> None:
        """file: a verdict a line, added to by every run; a judge of another name has verdicts of its own."""
        self._judge, self._file = judge, file
        self._known: dict[tuple[str, str, str], Verdict] = {}
        if file.exists():
            for line in file.read_text(encoding="utf-8").splitlines():
                *key, label, score = json.loads(line)
                self._known[key[0], key[1], key[2]] = Verdict(label, score)

    @property
    def name(self) -> str:
        """The judge's."""
        return self._judge.name

    def judge(self, question: str, candidates: Sequence[Candidate]) -> JudgedPassages:
        """See `Judge`. Tokens are those of what was not known."""
        keys = [(self.name, question, c.passage.text) for c in candidates]
        new = [c for c, key in zip(candidates, keys, strict=True) if key not in self._known]
        found = self._judge.judge(question, new) if new else JudgedPassages((), 0, 0)
        with self._file.open("a", encoding="utf-8") as kept:
            for candidate, verdict in zip(new, found.verdicts, strict=True):
                if verdict is not None:
                    key = (self.name, question, candidate.passage.text)
                    self._known[key] = verdict
                    kept.write(json.dumps([*key, verdict.label, verdict.score]) + "\n")
        return replace(found, verdicts=tuple(self._known.get(key) for key in keys))


class Player:
    """Plays one stream with its own store."""

    def __init__(
        self,
        assistant: BenchmarkAssistant,
        questions: Sequence[ReplayQuestion],
        judge: Judge,
        *,
        min_judged: int,
        training: Mapping[str, Any],
        threads: int,
    ) -> None:
        reranking = assistant.settings.reranking
        self._assistant = assistant
        self._questions = questions
        self._reranker = Reranker(
            judge, schedule=reranking.schedule, budget=reranking.budget, min_judged=min_judged
        )
        self._judge_name = judge.name
        self._training, self._threads = training, threads
        assistant.catch_up()
        self._base = assistant.searching
        self._encoder: Encoder = self._base.encoder
        self._user = assistant.journal.user_id("stream")
        self._session = assistant.journal.open_session(self._user)
        self.played = Played()

    def play(self, *, interval: int) -> Played:
        """All questions, each answered before it is learned from."""
        for number, question in enumerate(self._questions, start=1):
            self._ask(question)
            if number % interval == 0 and number < len(self._questions):
                self._train(number)
            if number % 100 == 0:
                print(f"{number} of {len(self._questions)} questions", file=sys.stderr, flush=True)
        return self.played

    def _ask(self, question: ReplayQuestion) -> None:
        assert question.gold, "only questions with known evidence are asked"
        begun = time.monotonic()
        self._found(question, self._base.encoder, self.played.frozen)
        candidates = self._found(question, self._encoder, self.played.adapted)
        searched = time.monotonic()
        reranked = self._reranker.rerank(question.text, candidates)
        self.played.seconds["search"] += searched - begun
        self.played.seconds["judge"] += time.monotonic() - searched
        for each in reranked.judgements:
            self.played.labels[each.verdict.label] += 1
            is_gold = each.candidate.passage.external_id in question.gold
            self.played.agreement[f"{each.verdict.label}, {'gold' if is_gold else 'not gold'}"] += 1
        self._note(question, reranked)

    def _found(
        self, question: ReplayQuestion, encoder: Encoder, scores: dict[str, list[float]]
    ) -> list[Candidate]:
        """What the product puts before the judge; notes the R@5 of both orders."""
        assert question.gold
        retrieval = self._assistant.settings.retrieval
        retriever = self._assistant.retriever_keeping(encoder, retrieval.candidates)
        vector = encoder.encode_queries([question.text])[0]
        signals = retriever.signals(question.text, vector, self._base.spaces.of(self._user))
        found = {
            "dense": signals.ranked(DENSE, keep=DEPTH),
            "fused": signals.ranked(_fusion(self._assistant), keep=retrieval.candidates),
        }
        for name, ranked in found.items():
            scores[name].append(success_at([c.passage.external_id for c in ranked], question.gold, DEPTH))
        return found["fused"]

    def _note(self, question: ReplayQuestion, reranked: Reranked) -> None:
        accepted = self._assistant.journal.accept(self._user, self._session, question.text, parts=[])
        judged = [
            Judged(
                version_id=each.candidate.passage.version_id,
                judge=self._judge_name,
                label=each.verdict.label,
                score=each.verdict.score,
                found_rank=each.candidate.found_rank,
                tokens_in=each.tokens_in,
                tokens_out=each.tokens_out,
            )
            for each in reranked.judgements
        ]
        self._assistant.journal.finish(
            accepted.turn_id,
            Outcome(
                state="done",
                answer="",
                standalone=question.text,
                query=question.text,
                encoder_version=self._base.encoder.version,
                found=[],
                judged=judged,
            ),
        )

    def _train(self, number: int) -> None:
        begun = time.monotonic()
        stored = Lessons(self._assistant.database)
        lessons = stored.all()
        versions = sorted({d.version_id for lesson in lessons for d in lesson.documents})
        vectors = stored.vectors(versions, self._base.encoder.version)
        best: list[int | None] = [None]

        def tell(told: Mapping[str, Any] | None) -> None:
            if told is not None and told["kind"] == "done":
                best.append(told["best_epoch"])

        with tempfile.TemporaryDirectory() as folder:
            made = train_apart(
                Path(folder),
                lessons,
                vectors,
                dimension=self._base.encoder.dimension,
                settings=self._training,
                threads=self._threads,
                tell=tell,
            )
            queries = OnnxEncoder(made / SERVED, threads=self._assistant.settings.encoder.threads)
        self._encoder = TwoSidedEncoder(self._base.encoder, queries)
        passed = time.monotonic() - begun
        self.played.seconds["training"] += passed
        self.played.rounds.append(Round(number, len(lessons), passed, best[-1]))
        print(f"round {len(self.played.rounds)}: {self.played.rounds[-1]}", file=sys.stderr, flush=True)


def _fusion(assistant: BenchmarkAssistant) -> Fusion:
    from benchmarks.recall import fusion_of

    return fusion_of(assistant.settings)


def asked(
    data: Path, name: str, same_as: Mapping[str, str], options: argparse.Namespace
) -> tuple[ReplayQuestion, ...]:
    """The stream: the questions of these parts whose evidence is known, by the names that are stored."""
    every = [question for part in options.split for question in read_set(data, name, part).questions]
    known = [
        replace(question, gold=frozenset(same_as.get(passage, passage) for passage in question.gold))
        for question in every
        if question.gold
    ]
    return stream(known, order=options.order, seed=options.seed, first=options.first)


def judge_of(
    text: str, assistant: BenchmarkAssistant, questions: Sequence[ReplayQuestion], *, seed: int, work: Path
) -> Judge:
    """reader, gold, or p=0.9. A simulated judge's scores tell no more than its labels."""
    if text == "reader":
        return KeptJudge(assistant.judge, work / "verdicts.jsonl")
    accuracy = 1.0 if text == "gold" else float(text.removeprefix("p="))
    return SimulatedJudge(accuracy, seed, is_relevant=gold_truth(questions), blurs="verdict")


def gains(played: Played, *, seed: int) -> dict[str, Gain]:
    """Adapted against frozen on the last third, by measure."""
    last = last_third(len(played.frozen["dense"]))
    return {
        name: paired_gain(
            [played.adapted[name][i] for i in last], [played.frozen[name][i] for i in last], seed=seed
        )
        for name in MEASURES
    }


def measure(data: Path, collection: Collection, options: argparse.Namespace) -> dict[str, Any]:
    """Plays one collection's stream and prints what came of it."""
    store = options.work / collection.store
    vectors = options.work / "vectors"
    first = BenchmarkAssistant(store, vectors)
    same_as = ingest_collection(first, data, collection)
    first.close()
    questions = asked(data, collection.name, same_as, options)
    training = {
        "update_side": "query",
        "epochs": options.epochs,
        "learning_rate": options.learning_rate,
        "seed": options.seed,
        **{f"{name}_weight": WEIGHTS[name] * (name in options.losses) for name in LOSSES},
    }
    with tempfile.TemporaryDirectory() as folder:
        own = Path(folder) / "store"
        shutil.copytree(store, own)
        assistant = BenchmarkAssistant(own, vectors)
        try:
            judge = judge_of(options.judge, assistant, questions, seed=options.seed, work=options.work)
            player = Player(
                assistant,
                questions,
                judge,
                min_judged=options.min_judged,
                training=training,
                threads=options.threads,
            )
            played = player.play(interval=options.interval)
        finally:
            assistant.close()
    found = gains(played, seed=options.seed)
    report(collection.name, played, found)
    parts = {name: dict(part) if isinstance(part, dict) else part for name, part in vars(played).items()}
    parts["rounds"] = [asdict(each) for each in played.rounds]
    return {"training": training, "gains": {m: asdict(g) for m, g in found.items()}, **parts}


def report(name: str, played: Played, found: Mapping[str, Gain]) -> None:
    """The figures of one stream."""
    last = last_third(len(played.frozen["dense"]))
    print(f"\n{name}: {len(played.frozen['dense'])} questions, figures of the last {len(last)}")
    for measure, gain in found.items():
        frozen, adapted = (sum(side[measure][i] for i in last) for side in (played.frozen, played.adapted))
        print(
            f"  {measure} R@5  frozen {frozen / len(last):.4f}  adapted {adapted / len(last):.4f}"
            f"  {100 * gain.mean:+.2f} [{100 * gain.low:+.2f}, {100 * gain.high:+.2f}] points"
        )
    print(f"  labels {dict(played.labels)}; against gold {dict(sorted(played.agreement.items()))}")
    for each in played.rounds:
        print(f"  after {each.after}: {each.lessons} lessons, {each.seconds:.0f} s, epoch {each.best_epoch}")
    print("  seconds: " + ", ".join(f"{part} {spent:.0f}" for part, spent in played.seconds.items()))


def main() -> None:
    known = {collection.name: collection for collection in COLLECTIONS}
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--only", nargs="+", default=("friendsqa",), choices=list(known))
    parser.add_argument("--judge", default="reader", help="reader, gold, or p=0.9")
    parser.add_argument("--interval", type=int, default=400)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--losses", nargs="+", choices=LOSSES, default=LOSSES)
    parser.add_argument("--learning-rate", type=float, default=1e-5)
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--min-judged", type=int, default=5)
    parser.add_argument("--split", nargs="+", default=("train", "dev", "test"))
    parser.add_argument("--order", default="drift", choices=("given", "seeded", "drift"))
    parser.add_argument("--first", type=int, help="so many questions of the stream")
    parser.add_argument("--threads", type=int, default=1, help="of the training")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    results: dict[str, Any] = {}
    for name in options.only:
        results[name] = measure(options.data, known[name], options)
        if options.json:
            told = {key: value for key, value in vars(options).items() if key not in ("data", "work", "json")}
            options.json.write_text(json.dumps({"options": told, "results": results}))


if __name__ == "__main__":
    main()

"""Rounds of learning that kill themselves: python -m benchmarks.learning_child, one life a line on its input.

The process imports torch once and forks a life for each line; a life runs one round of the real learner over
the folder that `make_world` has made, with a small network, and forks the training in place of starting it.
Two things are not the real ones: the served form is the weights themselves, and every candidate wins. At the
named point, the so-many-th time that it is passed, the learner, its training or both are killed (SIGKILL).
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields
from functools import wraps
from importlib import import_module
from pathlib import Path
from typing import IO, Any

import numpy as np
from safetensors.numpy import load_file

from agents.base.interfaces import Vectors
from agents.retrieval.retriever import Fusion, Retriever
from assistant.learning.dual_encoder_swap import BothSides
from assistant.learning.learner import Learner
from assistant.learning.outcome import Compared
from assistant.learning.recipes.retriever import apart
from assistant.learning.recipes.retriever import recipe as retriever_recipe
from assistant.learning.recipes.retriever.recipe import trainable
from assistant.search.searching import Searching
from stores.database.database import Database
from stores.database.tables import PassageVector, PassageVersion, known_id
from stores.learning.checkpoints import Checkpoints
from stores.learning.lessons import Lesson, Lessons
from stores.learning.rounds import Rounds
from stores.search.encoder_versions import TRAINED, EncoderVersion, EncoderVersions
from stores.search.indexer import Indexer
from stores.search.live_models import LiveModels
from stores.search.shared_index import SharedIndex
from stores.search.spaces import Spaces
from stores.vectors.exact import vector_bytes

QUESTIONS = 30
WORDS = "key table blue where sun moon cat dog red green".split()
DIMENSION = 32
CANDIDATE_FILES = ("model.onnx", "tokenizer.json", "encoder.json")
WHO = ("learner", "training", "both")


@dataclass(frozen=True)
class Life:
    """One round, and where it ends too soon."""

    folder: str
    seed: int  # of the training
    point: str = ""
    occasion: int = 0
    who: str = "learner"
    side: str = "query"  # or both

    def write(self) -> str:
        """As a line."""
        return json.dumps(asdict(self)) + "\n"


@dataclass(frozen=True)
class AlwaysWins:
    """What the comparison comes to."""

    is_promoted: bool = True
    reason: str = "Promoted."


def make_world(folder: Path, encoder: Path) -> None:
    """A database with judged questions and vectors, and the encoder's folder beside it."""
    sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))  # where pytest looks as well
    ask, fixtures = import_module("test_lessons").ask, import_module("store_fixtures")

    from agents.models.exporters.export_encoder import read_source

    shutil.copytree(encoder, folder / "mean")
    version = read_source(folder / "mean", "mean").version()
    stores = fixtures.Stores.fresh(folder)
    ann = stores.journal.user_id("ann")
    for word in WORDS:
        stores.add(ann, fixtures.document(word, f"the {word} is on the table"))
    _ask(stores, ask, range(QUESTIONS))
    _encode(stores, version)
    EncoderVersions(stores.database).make_live(EncoderVersion(version, str(folder / "mean"), DIMENSION))
    stores.database.close()


def ask_more(folder: Path) -> None:
    """New questions, as those that judged a candidate judge no other."""
    ask, fixtures = import_module("test_lessons").ask, import_module("store_fixtures")
    stores = fixtures.Stores.over(Database.at(folder))
    _ask(stores, ask, range(QUESTIONS, QUESTIONS + 10))
    with stores.database.reading() as sql:
        versions = {row.encoder_version for row in sql.query(PassageVector)}
    for version in versions:
        _encode(stores, version)
    stores.database.close()


def _encode(stores: Any, version: str) -> None:
    """Vectors at random, of what has none."""
    random = np.random.default_rng(5)
    with stores.database.writing() as sql:
        known = {row.version_id for row in sql.query(PassageVector).filter_by(encoder_version=version)}
        for row in sql.query(PassageVersion).all():
            drawn = random.standard_normal(DIMENSION).astype(np.float32)
            if row.id not in known:
                sql.add(
                    PassageVector(
                        version_id=known_id(row.id),
                        space=row.space,
                        encoder_version=version,
                        vector=vector_bytes(drawn / np.linalg.norm(drawn)),
                    )
                )


def _ask(stores: Any, ask: Callable[..., int], numbers: Sequence[int]) -> None:
    ann, by_word = stores.journal.user_id("ann"), {}
    for found, text in stores.texts().items():
        if text.split()[2:] == ["is", "on", "the", "table"]:
            by_word[text.split()[1]] = found
    for number in numbers:
        right, wrong = WORDS[number % 10], WORDS[(number + 3) % 10]
        verdicts = [(by_word[wrong], "irrelevant"), (by_word[right], "answer")]
        ask(stores, ann, verdicts, question=f"where is the {right} {number}?")


class Points:
    """Counts how often each point is passed, and kills at one of them."""

    def __init__(self, life: Life, learner: int) -> None:
        self._life, self._learner = life, learner
        self.passed: Counter[str] = Counter()

    def at(self, name: str) -> None:
        """Passes a point."""
        self.passed[name] += 1
        _tell(point=name, occasion=self.passed[name])
        if (name, self.passed[name]) == (self._life.point, self._life.occasion):
            _tell(killed=self._life.who)
            if self._life.who != "training":
                os.kill(self._learner, signal.SIGKILL)
            if self._life.who != "learner" or os.getpid() == self._learner:
                os.kill(os.getpid(), signal.SIGKILL)
            time.sleep(60)  # the training of a killed learner: the system ends it

    def around(self, owner: Any, name: str, *, before: str = "", after: str = "") -> None:
        """Makes points of the moments before and after a function is called."""
        inner = getattr(owner, name)

        @wraps(inner)
        def outer(*given: Any, **more: Any) -> Any:
            if before:
                self.at(before)
            found = inner(*given, **more)
            if after:
                self.at(after)
            return found

        setattr(owner, name, outer)


class ForkedTraining:
    """What stands for the process that `train_apart` starts: a fork that has torch already."""

    def __init__(self, command: Sequence[str], *, stderr: IO[bytes], **_: Any) -> None:
        self._code: int | None = None
        read, write = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            os.setpgid(0, 0)
            os.dup2(write, 1)
            os.dup2(stderr.fileno(), 2)
            from assistant.learning.recipes.retriever import train as train_retriever

            os._exit(train_retriever.main(list(command[3:])))
        os.close(write)
        self.stdout = os.fdopen(read, "rb", buffering=0)

    def poll(self) -> int | None:
        """The exit code, once there is one."""
        if self._code is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self._code = os.waitstatus_to_exitcode(status)
        return self._code

    def wait(self, timeout: float | None = None) -> int:
        """Until it has ended."""
        ends = None if timeout is None else time.monotonic() + timeout
        while (code := self.poll()) is None:
            if ends is not None and time.monotonic() > ends:
                raise subprocess.TimeoutExpired("training", timeout or 0)
            time.sleep(0.002)
        return code

    def terminate(self) -> None:
        """SIGTERM."""
        os.kill(self.pid, signal.SIGTERM)


_told = 3  # the file descriptor that a life tells by: its training has another standard output


def _tell(**facts: Any) -> None:
    os.write(_told, (json.dumps(facts) + "\n").encode())


def _patched(points: Points) -> None:
    """In a fork: everything that follows passes its points."""
    from agents.models.encoders.encoder import EncoderDescription
    from assistant.learning.recipes import pacing
    from assistant.learning.recipes.retriever import train as train_retriever
    from stores.learning import rounds
    from stores.search import encoder_versions

    def exported(network: Any, folder: Path, _: object) -> tuple[EncoderDescription, float]:
        network.save(folder)
        served = folder / "served"
        served.mkdir()
        points.at("while exporting")
        shutil.copyfile(folder / "model.safetensors", served / "model.onnx")
        shutil.copyfile(folder / "tokenizer.json", served / "tokenizer.json")
        (served / "encoder.json").write_text("{}")
        names = [field.name for field in fields(EncoderDescription)]
        return EncoderDescription(**dict.fromkeys(names, "v")), 0.0  # type: ignore[arg-type]

    setattr(train_retriever, "export", exported)  # noqa: B010 - it is imported there
    setattr(subprocess, "Popen", ForkedTraining)  # noqa: B010
    # so that the last weights are kept, which are never those that it began with
    setattr(retriever_recipe, "tells_when_to_end", lambda question: False)  # noqa: B010
    points.around(pacing.Checkpoints, "after_step", before="after a step")
    points.around(
        train_retriever, "write_checkpoint", before="before a checkpoint", after="after a checkpoint"
    )
    points.around(os, "fsync", after="after a sync")  # of a checkpoint not yet in place, mostly
    points.around(
        train_retriever,
        "put_in_place",
        before="before the folder is whole",
        after="after the folder is whole",
    )
    points.around(apart, "_write_lessons", after="lessons written")
    points.around(apart, "started_from", before="trained")
    points.around(shutil, "copyfile", after="a file copied")
    points.around(Checkpoints, "keep", after="kept")
    points.around(Checkpoints, "prune", before="before old ones are deleted", after="all done")
    points.around(rounds.Rounds, "begin", after="begun")
    for module in (rounds, encoder_versions):
        points.around(module, "swap", before="before the swap", after="swapped, not committed")
    points.around(rounds.Rounds, "promote_by", after="promoted")
    points.around(Indexer, "_encode_missing", after="passages encoded")
    points.around(EncoderVersions, "discard_vectors", before="before vectors are deleted")


class Embedding:
    """The mean of a text's word embeddings: fast, and other weights give other vectors."""

    dimension = DIMENSION

    def __init__(self, folder: Path) -> None:
        from agents.models.exporters.export_encoder import read_source

        self.version = read_source(folder.parent, TRAINED).version()
        weights = load_file(folder / CANDIDATE_FILES[0])
        self._rows = next(rows for name, rows in weights.items() if "word_embeddings" in name)

    def encode_queries(self, texts: Sequence[str]) -> Vectors:
        """(N, D)."""
        found = [self._rows[[sum(w.encode()) % len(self._rows) for w in t.split()]].mean(0) for t in texts]
        return np.array([row / np.linalg.norm(row) for row in found], dtype=np.float32)

    encode_passages = encode_queries


def searching_in(folder: Path, database: Database) -> Searching:
    """What encodes with a candidate; nothing searches with it."""
    encoder = Embedding(folder)
    index = SharedIndex(
        database,
        name="kills",
        encoder_version=encoder.version,
        dimension=DIMENSION,
        exact_up_to=10_000,
        open_index=lambda _: None,
    )
    spaces = Spaces(database, encoder_version=encoder.version, dimension=DIMENSION, shared_index=index)
    indexer = Indexer(
        database,
        encoder_version=encoder.version,
        encode=encoder.encode_passages,
        shared_index=index,
    )
    return Searching(
        encoder, spaces, Retriever(encoder, keep=5, pool=5, fusion=Fusion(1.0, 0.0, 0.0)), indexer, index
    )


def learner_of(life: Life, database: Database, points: Points | None) -> Learner[Lesson]:
    """The real one, but for the comparison."""
    folder = Path(life.folder)
    versions, checkpoints = EncoderVersions(database), Checkpoints(folder / "models")
    encoder = versions.live()
    assert encoder is not None, "the world has one"

    def compare(served: Path, lessons: Sequence[Lesson], tell: Callable[[int, int], None]) -> Compared:
        asked = [lesson for lesson in lessons if lesson.is_held_out]
        for done, _ in enumerate(asked, start=1):
            if points is not None:
                points.at("comparing")
            tell(done, len(asked))
        return Compared(AlwaysWins(), {"questions": len(asked)})

    kept = encoder.kept_as
    trained = trainable(
        Lessons(database),
        encoder_version=encoder.version,
        dimension=lambda: DIMENSION,
        compare=compare,
        settings={
            "seed": life.seed, "epochs": 2, "patience": 2, "batch_questions": 4, "learning_rate": 1e-3,
            "update_side": life.side,
        },
        threads=1,
        encoder=lambda: checkpoints.place("encoder", kept) if kept else folder / "mean",
        both=BothSides(
            versions,
            searching=lambda served: searching_in(served, database),
            trained_from=encoder.trained_from or encoder.version,
            discard_index=lambda version: None,
        ),
        checkpoint_seconds=0.0,
    )  # fmt: skip
    return Learner(
        trained, rounds=Rounds(database), live_models=LiveModels(database), checkpoints=checkpoints, fewest=10
    )


def live(life: Life) -> None:
    """One life, in a fork."""
    points = Points(life, os.getpid())
    _patched(points)
    ended = learner_of(life, Database.at(Path(life.folder)), points).run()
    _tell(round=ended.round_id, state=ended.state, reason=ended.reason, version=ended.version)


@contextmanager
def _its_own_line() -> Iterator[None]:
    """Lives tell by a descriptor of their own."""
    os.dup2(1, _told)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    yield


def main() -> None:
    """Forks a life for each line and tells how it ended."""
    import torch
    from transformers import BertModel  # noqa: F401 - so that no life imports it

    import assistant.learning.recipes.retriever.train  # noqa: F401

    torch.set_num_threads(1)
    with _its_own_line():
        _tell(ready=True)
        for line in sys.stdin:
            given: Mapping[str, Any] = json.loads(line)
            pid = os.fork()
            if pid == 0:
                code = 1
                try:
                    live(Life(**given))
                    code = 0
                except BaseException as error:  # noqa: BLE001 - told; this process ends
                    _tell(failed=f"{type(error).__name__}: {error}")
                finally:
                    os._exit(code)
            _tell(born=pid)
            _, status = os.waitpid(pid, 0)
            _tell(ended=os.waitstatus_to_exitcode(status))


if __name__ == "__main__":
    main()

"""Examples of the reader as batches of arrays, in an order that hangs on the seed and can be taken up again.

    examples -> chunks -> one window each -> sorted by length -> batches -> shuffled -> several make a step

Sorting within a chunk keeps padding low. A batch of one length is often of one task (sentences are short,
passages long), so a step takes several batches at random.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace

import numpy as np
import numpy.typing as npt

from agents.models.reader_inputs import Batch, ReaderTokenizer, Whole, Window, batch_of
from training.examples.example import Example

NO_LABEL = -1
CHUNK = 4096  # examples that are sorted by length together
MOST_WINDOWS = 20  # of a batch; else one batch would hold most of the sentences of its chunk
LONGEST_WHOLE = 384  # tokens of a question with what is read whole
LONGEST_EVIDENCE = 224  # tokens of a claim with its evidence, where the window is shorter

Truth = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Labelled:
    """One window and what is known of it."""

    window: Window
    example: Example
    places: tuple[tuple[int, int], ...]  # first and last place of each answer in the window


@dataclass(frozen=True)
class LabelledBatch:
    """Inputs and labels of B windows. A class is NO_LABEL where it is not known."""

    inputs: Batch
    judge: Whole  # (B,)
    verify: Whole  # (B,)
    sort: Whole  # (B,)
    relate: Whole  # (B,)
    has_spans: Truth  # (B,)
    starts: Truth  # (B, L): an answer begins here; place 0 where there is none
    ends: Truth  # (B, L)

    def __len__(self) -> int:
        return len(self.judge)

    def arrays(self) -> dict[str, Whole | Truth]:
        """Inputs and labels by name."""
        return vars(self.inputs) | {name: value for name, value in vars(self).items() if name != "inputs"}


@dataclass(frozen=True)
class Position:
    """Which step comes next."""

    chunk: int = 0
    step: int = 0  # within the chunk
    window: int = 0  # tokens, of this chunk; 0 until it is begun

    def as_facts(self) -> dict[str, int]:
        """As a checkpoint keeps it."""
        return asdict(self)


def label(example: Example, tokenizer: ReaderTokenizer, limit: int, rng: random.Random) -> Labelled:
    """An example in at most `limit` tokens: of a longer passage, a part that holds the answer if any does.

    Evidence may be longer, and is read from its beginning: where it says what it says is not known.
    """
    if not example.second:
        return Labelled(tokenizer.single(example.first, limit=limit), example, ())
    if example.verify is not None:
        limit = max(limit, LONGEST_EVIDENCE)
    if example.is_whole:
        limit = max(limit, LONGEST_WHOLE)
    first, second = tokenizer.tokens(example.first), tokenizer.tokens(example.second)
    room = tokenizer.room(first, limit=limit)
    spare = max(0, len(second.ids) - room)
    if example.verify is not None or example.spans is None or not spare:
        begin = 0
    elif example.spans:
        at, until = rng.choice(example.spans)
        holding = [i for i, (a, b) in enumerate(second.offsets) if a < until and b > at] or [0]
        latest = min(holding[0], spare)
        begin = rng.randint(min(max(0, holding[-1] + 1 - room), latest), latest)  # a long answer is cut
    else:
        begin = rng.randint(0, spare)
    window = tokenizer.pair(first, second, begin, limit=limit)
    found = (window.span_places(span) for span in example.spans or ())
    return Labelled(window, example, tuple(places for places in found if places))


def labelled_batch(items: Sequence[Labelled]) -> LabelledBatch:
    """One batch of labelled windows, in their order."""
    inputs = batch_of([item.window for item in items])
    starts = np.zeros(inputs.ids.shape, dtype=np.bool_)
    ends = np.zeros(inputs.ids.shape, dtype=np.bool_)
    for row, item in enumerate(items):
        for first, last in item.places or ((0, 0),):
            starts[row, first] = True
            ends[row, last] = True
    return LabelledBatch(
        inputs,
        judge=_classes([item.example.judge for item in items]),
        verify=_classes([item.example.verify for item in items]),
        sort=_classes([item.example.sort for item in items]),
        relate=_classes([item.example.relate for item in items]),
        # An answer that the window cuts in two is neither there nor absent.
        has_spans=np.array(
            [i.example.spans is not None and bool(i.places) == bool(i.example.spans) for i in items]
        ),
        starts=starts,
        ends=ends,
    )


def _classes(labels: Sequence[int | None]) -> Whole:
    return np.array([NO_LABEL if label is None else label for label in labels], dtype=np.int64)


def by_length(items: Sequence[Labelled], batch_tokens: int) -> list[list[Labelled]]:
    """Batches of like lengths, each of at most `batch_tokens` with padding, or of one window."""
    batches: list[list[Labelled]] = []
    for item in sorted(items, key=lambda item: -item.window.length):
        if (
            not batches
            or len(batches[-1]) == MOST_WINDOWS
            or (len(batches[-1]) + 1) * batches[-1][0].window.length > batch_tokens
        ):
            batches.append([])
        batches[-1].append(item)
    return batches


def grouped(batches: Sequence[list[Labelled]], step_windows: int) -> list[list[list[Labelled]]]:
    """Batches in their order, in steps of at least `step_windows` windows; the last may have fewer."""
    steps: list[list[list[Labelled]]] = []
    for batch in batches:
        if not steps or sum(map(len, steps[-1])) >= step_windows:
            steps.append([])
        steps[-1].append(batch)
    return steps


class TrainingBatches:
    """The steps of a training run, without end: when the examples are used up, they come in another order."""

    def __init__(
        self,
        examples: Sequence[Example],
        tokenizer: ReaderTokenizer,
        *,
        seed: int,
        batch_tokens: int,
        step_windows: int,
        position: Position = Position(),
    ) -> None:
        if not examples:
            raise ValueError("there is nothing to train on")
        self._examples = examples
        self._tokenizer = tokenizer
        self._seed = seed
        self._batch_tokens = batch_tokens
        self._step_windows = step_windows
        self.position = position
        self.window = position.window  # tokens; takes effect with the next chunk

    def __iter__(self) -> Iterator[list[LabelledBatch]]:
        while True:
            if not self.position.window:
                self.position = replace(self.position, window=self.window)
            steps = self._chunk(self.position)
            while self.position.step < len(steps):
                batches = [labelled_batch(batch) for batch in steps[self.position.step]]
                self.position = replace(self.position, step=self.position.step + 1)
                yield batches
            self.position = Position(chunk=self.position.chunk + 1)

    def _chunk(self, position: Position) -> list[list[list[Labelled]]]:
        rng = random.Random(f"{self._seed} chunk {position.chunk}")
        chunks = -(-len(self._examples) // CHUNK)
        epoch, place = divmod(position.chunk, chunks)
        order = list(range(len(self._examples)))
        if epoch:
            random.Random(f"{self._seed} epoch {epoch}").shuffle(order)
        chosen = [self._examples[i] for i in order[place * CHUNK : (place + 1) * CHUNK]]
        items = [label(example, self._tokenizer, position.window, rng) for example in chosen]
        batches = by_length(items, self._batch_tokens)
        rng.shuffle(batches)
        return grouped(batches, self._step_windows)

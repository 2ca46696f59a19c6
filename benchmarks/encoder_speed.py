"""What the encoder costs: python -m benchmarks.encoder_speed [--passages FILE.jsonl.gz] [--count N]

Loading, one query, and passages a second for several threads and batch sizes. Each row of passages is
also given as a ratio to a plain loop over ONNX Runtime: batches of 32 in the given order, nothing
sorted. Then the same with so many texts a call, as a chat and a round of training give them. Wall times
depend on what else runs; CPU seconds and ratios do so less.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import random
import statistics
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import onnxruntime
from tokenizers import Tokenizer

from agents.models.encoders.encoder import OnnxEncoder
from agents.models.encoders.prepared import prepare_encoder
from agents.models.exported_folders import MODEL_FILE, TOKENIZER_FILE
from assistant.settings.locations import find_locations

WORDS = (
    "time people water river house small letter second number country morning answer school follow "
    "measure temperature government century population industry language development university"
).split()
QUESTION = "where is the letter that we saw on the way to school"


def made_up_passages(count: int) -> list[str]:
    """Texts of about 100 words, of uneven length as real ones are."""
    chance = random.Random(7)
    return [" ".join(chance.choices(WORDS, k=chance.randint(30, 170))) for _ in range(count)]


def read_passages(file: Path, count: int, longest: int) -> list[str]:
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        texts = [text for line in lines if len((text := json.loads(line)["text"]).split()) <= longest]
    return random.Random(7).sample(texts, count)


def measure(work: Callable[[], object], times: int) -> tuple[float, float]:
    """Median wall and CPU seconds."""
    walls, cpus = [], []
    for _ in range(times):
        wall, cpu = time.perf_counter(), time.process_time()
        work()
        walls.append(time.perf_counter() - wall)
        cpus.append(time.process_time() - cpu)
    return statistics.median(walls), statistics.median(cpus)


def encode_plainly(folder: Path, texts: Sequence[str], threads: int) -> Callable[[], object]:
    """Batches of 32 as they come, padded to their longest."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    session = onnxruntime.InferenceSession(
        str(folder / MODEL_FILE), options, providers=["CPUExecutionProvider"]
    )
    tokenizer = Tokenizer.from_file(str(folder / TOKENIZER_FILE))
    tokenizer.enable_truncation(256)
    tokenizer.enable_padding()

    def work() -> None:
        for start in range(0, len(texts), 32):
            encoded = tokenizer.encode_batch(list(texts[start : start + 32]))
            ids = np.array([e.ids for e in encoded], dtype=np.int64)
            mask = np.array([e.attention_mask for e in encoded], dtype=np.int64)
            session.run(None, {"input_ids": ids, "attention_mask": mask})

    return work


def main() -> None:
    parser = argparse.ArgumentParser(description="What the encoder costs")
    parser.add_argument("--passages", type=Path, help="lines of JSON with a field text, gzipped")
    parser.add_argument("--longest", type=int, default=1_000, help="words of a passage")
    parser.add_argument("--count", type=int, default=96)
    parser.add_argument("--times", type=int, default=2)
    arguments = parser.parse_args()

    cache = find_locations(os.environ).cache / "encoders"
    folder = prepare_encoder(None, cache, tell=print, offline=True)
    known = measure(lambda: prepare_encoder(None, cache, tell=print, offline=True), 20)
    print(f"prepare, already exported   {known[0] * 1e3:7.1f} ms")
    load = measure(lambda: OnnxEncoder(folder), 5)
    print(f"load                        {load[0] * 1e3:7.1f} ms   {load[1] * 1e3:7.1f} ms CPU")

    for threads in (1, 0):
        encoder = OnnxEncoder(folder, threads=threads)
        query = measure(lambda e=encoder: e.encode_queries([QUESTION]), 60)
        print(f"one query, threads={threads}        {query[0] * 1e3:7.2f} ms   {query[1] * 1e3:7.2f} ms CPU")

    count = arguments.count
    texts = (
        read_passages(arguments.passages, count, arguments.longest)
        if arguments.passages
        else made_up_passages(count)
    )
    words = statistics.mean(len(text.split()) for text in texts)
    tokenizer = Tokenizer.from_file(str(folder / TOKENIZER_FILE))
    tokenize = measure(lambda: [tokenizer.encode(text) for text in texts], 3)
    print(f"{count} passages of {words:.0f} words; tokens alone take {tokenize[1]:.3f} CPU s")
    print("threads  batch_tokens  passages/s  passages/CPU-s  plain loop's wall / this wall")
    for threads in (1, 0):
        plain = measure(encode_plainly(folder, texts, threads), arguments.times)
        print(f"{threads:7}    plain loop  {count / plain[0]:10.1f}  {count / plain[1]:14.1f}        1.00")
        for batch_tokens in (512, 1024, 2048, 4096, 16384):
            encoder = OnnxEncoder(folder, threads=threads, batch_tokens=batch_tokens)
            wall, cpu = measure(lambda e=encoder: e.encode_passages(texts), arguments.times)
            row = f"{threads:7}  {batch_tokens:12}  {count / wall:10.1f}  {count / cpu:14.1f}"
            print(f"{row}        {plain[0] / wall:.2f}", flush=True)
    print("threads  texts a call  passages/s")
    for threads in (1, 0):
        encoder = OnnxEncoder(folder, threads=threads)
        for size in (4, 16, 64, 256):
            calls = [texts[start : start + size] for start in range(0, count, size)]
            wall, _ = measure(lambda e=encoder, c=calls: [e.encode_passages(t) for t in c], arguments.times)
            print(f"{threads:7}  {size:12}  {count / wall:10.1f}", flush=True)


if __name__ == "__main__":
    main()

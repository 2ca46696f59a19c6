"""Ingest against the bare encoder on the same passages, in one run.

    python -m benchmarks.ingest_throughput PASSAGES.jsonl.gz [--documents 1500] [--pairs 3]

The same texts are encoded alone, and ingested (read, cut, encoded, stored, indexed) into an empty data
directory, in turn; the ratio is taken pair by pair.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import time
from itertools import islice
from pathlib import Path

from assistant.library.documents import PreparedDocument, read_documents
from assistant.settings.config import Settings
from assistant.settings.locations import find_locations
from assistant.wiring.assistant import Assistant
from stores.base.passages import SHARED, searchable_text


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("passages", type=Path)
    parser.add_argument("--documents", type=int, default=1500)
    parser.add_argument("--pairs", type=int, default=3)
    arguments = parser.parse_args()

    def documents() -> list[PreparedDocument]:
        readable = (d for d in read_documents(arguments.passages) if isinstance(d, PreparedDocument))
        return list(islice(readable, arguments.documents))

    texts = [searchable_text(p.title, p.text) for document in documents() for p in document.passages]
    ratios = []
    for pair in range(arguments.pairs):
        with tempfile.TemporaryDirectory() as folder:
            assistant = Assistant(Settings(), find_locations(os.environ, data=folder))
            encoder = assistant.search.encoder
            encoder.encode_passages(texts[:64])

            began, began_cpu = time.perf_counter(), time.process_time()
            for start in range(0, len(texts), 256):
                encoder.encode_passages(texts[start : start + 256])
            bare, bare_cpu = time.perf_counter() - began, time.process_time() - began_cpu

            user_id = assistant.stores.journal.user_id("benchmark")
            began, began_cpu = time.perf_counter(), time.process_time()
            for _ in assistant.turns.ingest.run(user_id, SHARED, iter(documents()), summary="benchmark"):
                pass
            whole, whole_cpu = time.perf_counter() - began, time.process_time() - began_cpu
            assistant.close()
        ratios.append(bare / whole)
        print(
            f"pair {pair + 1}: encoder {len(texts) / bare:.1f} passages/s ({bare_cpu:.1f} CPU s), "
            f"ingest {len(texts) / whole:.1f} passages/s ({whole_cpu:.1f} CPU s), ratio {ratios[-1]:.3f}"
        )
    print(
        f"{len(texts)} passages; ingest over encoder, median of {len(ratios)} pairs: "
        f"{statistics.median(ratios):.3f}"
    )


if __name__ == "__main__":
    main()

"""The FAISS library: imported by whoever needs it, on a thread, and on a GPU where there is one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any


def load_faiss() -> Any:
    """The library: half a second to import, which only a process that needs it pays; half typed."""
    import faiss

    return faiss


def gpus() -> int:
    """How many GPUs FAISS can use; 0 for a build without."""
    return int(load_faiss().get_num_gpus())


def copy_on_gpu(file: Path) -> Any:
    """The index in the memory of the first GPU; None where there is none."""
    faiss = load_faiss()

    if not gpus():
        return None
    return faiss.index_cpu_to_gpu(faiss.StandardGpuResources(), 0, faiss.read_index(str(file)))


@contextmanager
def one_thread() -> Iterator[None]:
    """A single query gains nothing by more, and waits for them on a busy machine. Of this thread only."""
    faiss = load_faiss()

    before = faiss.omp_get_max_threads()
    faiss.omp_set_num_threads(1)
    try:
        yield
    finally:
        faiss.omp_set_num_threads(before)

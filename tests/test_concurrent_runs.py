"""Runs at the same time: all of them, in order, as many as are allowed, and each as if it were alone."""

from __future__ import annotations

import os
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.models.concurrent_runs import concurrent_batches, run_concurrently
from agents.models.encoders.encoder import OnnxEncoder
from agents.models.exported_folders import MODEL_FILE, open_session


@given(st.lists(st.integers()), st.integers(0, 12))
def test_every_part_in_its_place(parts: list[int], threads: int) -> None:
    assert run_concurrently(lambda part: -part, parts, threads=threads) == [-part for part in parts]


@pytest.mark.parametrize(("threads", "most"), [(2, 2), (3, 3), (99, 8)])
def test_as_many_at_a_time_as_allowed_and_no_more(threads: int, most: int) -> None:
    lock, counts = threading.Lock(), [0, 0]  # now, and the most until now
    together = threading.Barrier(most, timeout=30)  # passed only where so many are there at once

    def work(_: int) -> None:
        with lock:
            counts[0] += 1
            counts[1] = max(counts)
        together.wait()
        with lock:
            counts[0] -= 1

    run_concurrently(work, range(3 * most), threads=threads)
    assert counts[1] == most


def test_zero_is_a_core_each(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: {0, 5}, raising=False)
    together = threading.Barrier(2, timeout=30)
    seen = set(run_concurrently(lambda _: (together.wait(), threading.get_ident())[1], range(4), threads=0))
    assert len(seen) == 2


def test_with_one_thread_or_one_part_none_is_started() -> None:
    here = threading.get_ident()
    assert run_concurrently(lambda _: threading.get_ident(), [1, 2, 3], threads=1) == [here] * 3
    assert run_concurrently(lambda _: threading.get_ident(), [1], threads=0) == [here]


def test_an_error_leaves_what_was_not_begun() -> None:
    begun: list[int] = []

    def work(part: int) -> None:
        begun.append(part)
        if part == 0:
            raise ValueError("broken")
        time.sleep(0.05)

    with pytest.raises(ValueError, match="broken"):
        run_concurrently(work, range(100), threads=2)
    assert len(begun) < 100
    assert not [each for each in threading.enumerate() if each.name.startswith("concurrent-runs")]


def test_where_no_thread_can_be_started_they_are_made_one_after_the_other(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As in a thread that still works while the interpreter ends."""
    monkeypatch.setattr("concurrent.futures.thread._shutdown", True)
    here = threading.get_ident()
    assert run_concurrently(lambda part: (part, threading.get_ident()), [1, 2], threads=2) == [
        (1, here),
        (2, here),
    ]


def test_a_runtime_error_of_the_work_is_not_taken_for_that() -> None:
    calls: list[int] = []

    def fails(part: int) -> None:
        calls.append(part)
        raise RuntimeError("of the work")

    with pytest.raises(RuntimeError, match="of the work"):
        run_concurrently(fails, [1, 2], threads=2)
    assert sorted(calls) == sorted(set(calls))


@given(st.lists(st.integers(1, 256), max_size=80), st.integers(1, 8))
def test_every_text_is_in_one_batch_of_no_more_than_its_tokens(lengths: list[int], threads: int) -> None:
    batches = concurrent_batches(lengths, 1024, threads=threads)
    assert sorted(place for batch in batches for place in batch) == list(range(len(lengths)))
    assert all(len(batch) * max(lengths[place] for place in batch) <= 1024 for batch in batches)


def test_few_texts_are_cut_so_that_no_core_waits_for_the_last_batch() -> None:
    assert [len(batch) for batch in concurrent_batches([50] * 64, 1024, threads=4)] == [4] * 16
    assert [len(batch) for batch in concurrent_batches([50] * 16, 1024, threads=4)] == [
        2
    ] * 8  # not too small
    assert len(concurrent_batches([50] * 16, 1024, threads=1)) == 1
    assert len(concurrent_batches([10] * 8, 1024, threads=4)) == 1  # too little to share out


@pytest.mark.parametrize(("threads", "of_a_run"), [(0, 0), (1, 1), (3, 1)])
def test_runs_beside_each_other_use_no_more_cores_than_named(
    minilm_folder: Path, threads: int, of_a_run: int
) -> None:
    """With threads of its own each, three runs would keep five cores busy."""
    session = open_session((minilm_folder / MODEL_FILE).read_bytes(), threads=threads)
    assert session.get_session_options().intra_op_num_threads == of_a_run


def test_vectors_are_the_same_whatever_runs_beside_them(minilm_folder: Path) -> None:
    texts = [f"the room {number} " + "opens at ten " * (number % 40) for number in range(60)]
    alone = OnnxEncoder(minilm_folder, threads=1, batch_tokens=256).encode_passages(texts)
    beside = OnnxEncoder(minilm_folder, threads=4, batch_tokens=256)
    first = beside.encode_passages(texts)
    assert all((beside.encode_passages(texts) == first).all() for _ in range(3))
    assert np.abs(first - alone).max() < 1e-5

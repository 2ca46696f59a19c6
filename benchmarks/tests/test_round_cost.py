"""The memory of a child is told apart from that of the process that began it."""

from __future__ import annotations

import os
import subprocess
import sys

from benchmarks.fuzz_limits import peak_megabytes
from benchmarks.round_cost import LargestChild


def test_the_largest_child_is_measured_and_not_its_parent() -> None:
    held = bytearray(300_000_000)
    code = "import time; held = bytearray({}); time.sleep(1)"
    with LargestChild() as found:
        for size in (100_000_000, 1000):
            subprocess.run([sys.executable, "-c", code.format(size)], check=True)
    assert 100 < found.megabytes < 200 < len(held) / 1e6 < peak_megabytes(os.getpid())

"""How the benchmarks look at processes."""

import subprocess
import sys
import time

import psutil

from usage import Usage

BUSY = (
    "import time; x = bytearray(40_000_000); end = time.process_time() + 0.3\nwhile time.process_time() < end: pass\n"
)
PARENT = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {BUSY + 'time.sleep(3)'!r}]); sys.stdin.read()"


def test_a_process_that_a_process_starts_counts_and_keeps_counting_when_it_has_ended() -> None:
    """CPU is that of the parent and its child, before and after the child ends; the peak is of both at one time."""
    with subprocess.Popen([sys.executable, "-c", PARENT], stdin=subprocess.PIPE) as parent:
        usage = Usage(psutil.Process(parent.pid), name=lambda _: "all")
        deadline = time.monotonic() + 60
        while usage.cpu_seconds()["all"] < 0.3:
            usage.sample()
            assert time.monotonic() < deadline
        while not usage.ended:
            usage.sample()
            usage.cpu_seconds()
            assert time.monotonic() < deadline
            time.sleep(0.05)
        alone = psutil.Process(parent.pid).memory_info().rss / 2**20
        after = usage.cpu_seconds()["all"]
        parent.communicate()

    assert after >= 0.3
    assert usage.peak() > alone + 40


def test_memory_is_flat_where_the_last_third_is_like_the_first() -> None:
    """Medians of the thirds are compared, so that a single spike in one of them counts for nothing."""
    flat, growing = Usage(psutil.Process()), Usage(psutil.Process())
    flat._rss = [(float(moment), (500 if moment == 80 else 100) * 2**20) for moment in range(91)]
    growing._rss = [(float(moment), (100 + moment) * 2**20) for moment in range(91)]

    assert flat.growth(0, 90).is_flat
    assert not growing.growth(0, 90).is_flat
    assert growing.growth(0, 90).last_third == 175

"""How a process that runs beside others on a small machine, such as a CI job, keeps its memory small.

What a step frees is kept for the next one, by Arrow and by glibc in an arena for each thread: twice what is in use.
And to merge parts that are read once takes more memory than any step, for nothing.
"""

import ctypes
from collections.abc import Callable
from dataclasses import dataclass

_ARENA_MAX = -8  # M_ARENA_MAX of <malloc.h>
_ARENAS = 2


@dataclass(frozen=True, slots=True)
class Steps:
    """How much is done at once; None: as a service does it. And whether parts are merged in time to spare."""

    batch_bytes: int | None = None
    judged_traces: int | None = None
    merges_at_rest: bool = True


AS_A_SERVICE, SMALL = Steps(), Steps(batch_bytes=12_000_000, judged_traces=4_000, merges_at_rest=False)


def give_back() -> Callable[[], None]:
    """Let freed memory be given back to the system; the answer does it, now."""
    import pyarrow as pa  # noqa: PLC0415 - whoever only reads a data folder has no need of it

    pa.set_memory_pool(pa.system_memory_pool())
    libc = ctypes.CDLL(None)
    if not hasattr(libc, "malloc_trim"):  # no glibc
        return lambda: None
    libc.mallopt(_ARENA_MAX, _ARENAS)
    return lambda: libc.malloc_trim(0)

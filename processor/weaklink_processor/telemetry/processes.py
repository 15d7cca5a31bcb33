"""What the system says of the processes of a service."""

import time
from collections.abc import Iterator, Mapping

import psutil

from weaklink_processor.metrics import CPU_SECONDS, MEMORY_RSS, UPTIME, Reading


def process_readings(pids: Mapping[str, int]) -> Iterator[Reading]:
    """Memory, CPU time and age of each process that lives."""
    for name, pid in list(pids.items()):
        try:
            process = psutil.Process(pid)
            with process.oneshot():
                used, memory = process.cpu_times(), process.memory_info().rss
                age = time.time() - process.create_time()
        except psutil.Error:
            continue
        labels = {"process": name}
        yield Reading(CPU_SECONDS, used.user + used.system, labels)
        yield Reading(MEMORY_RSS, memory, labels)
        yield Reading(UPTIME, max(age, 0.0), labels)

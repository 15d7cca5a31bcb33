"""What processes use: CPU and memory of one and of all that it starts."""

import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import numpy as np
import psutil

LOOK_SECONDS = 1.0  # between two looks for new processes, each of which reads about every process there is
FLAT = 1.1


@dataclass(frozen=True, slots=True)
class Growth:
    """Memory of all processes together, in MiB: the median of the first third of a time, and of the last."""

    first_third: float
    last_third: float

    @property
    def is_flat(self) -> bool:
        """Whether the last third is at most a tenth above the first."""
        return self.last_third <= FLAT * self.first_third


@dataclass(slots=True)
class Usage:
    """Of one name counts all together; a process that ended counts with what it had used when it was last seen."""

    root: psutil.Process
    name: Callable[[psutil.Process], str] = psutil.Process.name
    ended: set[str] = field(default_factory=set)  # names
    peak_rss: Counter[str] = field(default_factory=Counter)  # bytes by name
    _rss: list[tuple[float, int]] = field(default_factory=list)  # moment (time.perf_counter()), bytes of all
    _names: dict[psutil.Process, str] = field(default_factory=dict)  # of those that run
    _cpu: dict[tuple[str, psutil.Process], float] = field(default_factory=dict)
    _looked: float = 0.0

    def sample(self) -> None:
        """Look at the memory of each process."""
        if time.perf_counter() > self._looked + LOOK_SECONDS:
            self._look()
        now = Counter[str]()
        for process, name in list(self._names.items()):
            with self._while_it_runs(process):
                now[name] += process.memory_info().rss
        self.peak_rss |= now
        self._rss.append((time.perf_counter(), now.total()))

    def cpu_seconds(self) -> dict[str, float]:
        """Return what has been used so far, by name."""
        self._look()
        used: dict[str, float] = defaultdict(float)
        for (name, _), seconds in self._cpu.items():
            used[name] += seconds
        return used

    def peak(self) -> float:
        """Return the most MiB that all of them had at one time."""
        return max((size for _, size in self._rss), default=0) / 2**20

    def growth(self, begun: float, ended: float) -> Growth:
        """Compare the memory early and late between two moments."""
        third = (ended - begun) / 3
        return Growth(self._median(begun, begun + third), self._median(ended - third, ended))

    def _median(self, begun: float, ended: float) -> float:
        sizes = [size / 2**20 for moment, size in self._rss if begun <= moment <= ended]
        return float(np.median(sizes)) if sizes else float("nan")

    def _look(self) -> None:
        """Find new processes, and note the CPU time of all."""
        self._looked = time.perf_counter()
        with self._while_it_runs(self.root):
            for process in (self.root, *self.root.children(recursive=True)):
                if process not in self._names:
                    with self._while_it_runs(process):
                        self._names[process] = self.name(process)
        for process, name in list(self._names.items()):
            with self._while_it_runs(process):
                used = process.cpu_times()
                self._cpu[name, process] = used.user + used.system

    @contextmanager
    def _while_it_runs(self, process: psutil.Process) -> Iterator[None]:
        try:
            yield
        except psutil.NoSuchProcess:
            if process in self._names:
                self.ended.add(self._names.pop(process))

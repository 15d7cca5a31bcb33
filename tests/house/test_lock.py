import subprocess
import sys
from pathlib import Path

import pytest

from weaklink_processor.errors import UsageError
from weaklink_processor.supervise.lock import FolderLock, hold, is_held

HOLDER = """
import sys, time
from pathlib import Path
from weaklink_processor.supervise.lock import hold
import subprocess
with hold(Path(sys.argv[1])) as fd:
    subprocess.Popen(["sleep", sys.argv[2]], pass_fds=[fd], stdout=subprocess.DEVNULL)
    print("held", flush=True)
    time.sleep(60)
"""


def test_a_lock_excludes(tmp_path: Path) -> None:
    """While one has it, another is refused with its process id; afterwards it is free."""
    with hold(tmp_path):
        assert is_held(tmp_path)
        with FolderLock(tmp_path) as other:
            assert not other.acquire()
        with pytest.raises(UsageError, match=r"in use by another weaklink \(process \d+\)"), hold(tmp_path):
            pass
    assert not is_held(tmp_path)
    with hold(tmp_path):
        pass


def test_a_look_makes_nothing(tmp_path: Path) -> None:
    """Asking about a folder without a lock leaves none."""
    assert not is_held(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_closing_twice_is_harmless(tmp_path: Path) -> None:
    """A lock may be closed by hand and again at the end."""
    with FolderLock(tmp_path) as lock:
        assert lock.acquire()
        lock.close()
        assert not is_held(tmp_path)


def test_children_of_a_killed_owner_are_waited_for(tmp_path: Path) -> None:
    """A folder whose owner was killed is free once the last child that inherited the lock is gone."""
    command = [sys.executable, "-c", HOLDER, str(tmp_path), "1"]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as owner:
        assert owner.stdout is not None
        owner.stdout.readline()
        owner.kill()
    assert is_held(tmp_path)
    with pytest.raises(UsageError, match="process unknown"), hold(tmp_path, patience=0):
        pass
    with hold(tmp_path):
        assert is_held(tmp_path)

import json
import sqlite3
from datetime import UTC, datetime, timedelta
from pathlib import Path

from shell import printed, refused
from weaklink_processor import wiring
from weaklink_processor.config import Config
from weaklink_processor.supervise.lock import hold


def look(data_dir: Path) -> dict[str, object]:
    found: dict[str, object] = json.loads(printed("status", "--data-dir", data_dir, "--format", "json"))
    return found


def test_backlog_is_told_per_consumer(data_dir: Path) -> None:
    """Each consumer's lag is the rows it has not done and how long the first of them has waited."""
    with wiring.open_queue(Config(data_dir=data_dir)) as queue:
        queue.register("emit:there")
        for age in (100, 50, 10):
            offset = queue.append([b"x"], datetime.now(UTC) - timedelta(seconds=age))
        queue.release("analyst", offset)
        queue.release("emit:there", offset - 2)
    status = look(data_dir)
    lag = status["lag"]
    assert isinstance(lag, dict)
    assert lag["analyst"] == {"rows": 0, "seconds": 0.0}
    assert lag["emit:there"]["rows"] == 2
    assert 50 <= lag["emit:there"]["seconds"] < 80
    assert (status["queue_rows"], status["running"]) == (2, False)
    assert status["lake"] == {"spans": 10, "traces": 5, "memories": 12, "evaluations": 1}


def test_running_is_who_holds_the_lock(data_dir: Path) -> None:
    """A service is running exactly while its lock is held."""
    with wiring.open_queue(Config(data_dir=data_dir)):
        pass
    with hold(data_dir):
        assert look(data_dir)["running"] is True
    assert look(data_dir)["running"] is False
    assert "not running" in printed("status", "--data-dir", data_dir)


def test_a_new_folder_has_nothing_published(tmp_path: Path) -> None:
    """Before the first publication there are no counts, and that is no error."""
    with wiring.open_queue(Config(data_dir=tmp_path)):
        pass
    assert look(tmp_path)["lake"] == {}
    assert "nothing published yet" in printed("status", "--data-dir", tmp_path)


def test_some_other_folder_is_left_alone(tmp_path: Path) -> None:
    """A folder that is not weaklink's is refused, and nothing is made in it."""
    assert "no data folder" in refused("status", "--data-dir", tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_damaged_queue_is_a_message(data_dir: Path) -> None:
    """A queue that is not ours is told without a traceback."""
    with sqlite3.connect(data_dir / "queue.sqlite") as other:
        other.execute("CREATE TABLE something (i INT)")
    other.close()
    assert "queue.sqlite" in refused("status", "--data-dir", data_dir)

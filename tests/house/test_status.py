import json
import sqlite3
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from receive.harness import request, span
from shell import printed, refused, weaklink
from weaklink_processor import wiring
from weaklink_processor.config import Config
from weaklink_processor.supervise.lock import hold
from weaklink_processor.telemetry.journal import MOST_ERRORS, Journal

TWO_SPANS = request(span("one"), span("two"))
DOCUMENTED = {
    "at", "data_dir", "running", "problems", "queue_rows", "queue_bytes", "queue_max_bytes", "lag", "destinations",
    "quarantined_rows", "quarantine", "errors", "disk", "lake", "passed_over", "departed_spans",
}  # fmt: skip


def look(data_dir: Path) -> dict[str, object]:
    found: dict[str, object] = json.loads(printed("status", "--data-dir", data_dir, "--format", "json"))
    return found


def test_backlog_is_told_per_consumer(data_dir: Path) -> None:
    """Each consumer's lag is the rows it has not done and how long the first of them has waited."""
    with wiring.open_queue(Config(data_dir=data_dir)) as queue:
        queue.register("emit:there")
        for age in (100, 50, 10):
            offset = queue.append([TWO_SPANS], datetime.now(UTC) - timedelta(seconds=age))
        queue.release("analyst", offset)
        queue.release("emit:there", offset - 2)
    status = look(data_dir)
    lag = status["lag"]
    assert isinstance(lag, dict)
    nothing = {"rows": 0, "bytes": 0, "requests": 0, "spans": 0, "estimated": False, "seconds": 0.0}
    assert lag["analyst"] == nothing
    assert (lag["emit:there"]["rows"], lag["emit:there"]["requests"], lag["emit:there"]["spans"]) == (2, 2, 4)
    assert lag["emit:there"]["bytes"] == status["queue_bytes"]
    assert 50 <= lag["emit:there"]["seconds"] < 80
    assert (status["queue_rows"], status["running"]) == (2, False)
    assert status["lake"] == {"spans": 10, "traces": 5, "memories": 12, "evaluations": 1}


def test_what_was_passed_over_is_counted(data_dir: Path) -> None:
    """For each consumer that had to do without something, and for no other."""
    with wiring.open_queue(Config(data_dir=data_dir)) as queue:
        assert look(data_dir)["passed_over"] == {}
        queue.pass_over("forward:there", 3)
        queue.pass_over("forward:there", 4)
    assert look(data_dir)["passed_over"] == {"forward:there": 7}
    assert "passed over: forward:there │ 7" in " ".join(printed("status", "--data-dir", data_dir).split())


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


def test_many_waiting_rows_are_estimated(tmp_path: Path) -> None:
    """Of a long backlog some rows are opened, and the number of spans is about right."""
    with wiring.open_queue(Config(data_dir=tmp_path)) as queue:
        for number in range(100):
            queue.append([TWO_SPANS] * (1 + number % 3), datetime.now(UTC))
    lag = look(tmp_path)["lag"]
    assert isinstance(lag, dict)
    assert (lag["analyst"]["rows"], lag["analyst"]["estimated"]) == (100, True)
    assert lag["analyst"]["requests"] == pytest.approx(199, rel=0.15)
    assert lag["analyst"]["spans"] == pytest.approx(398, rel=0.15)


def test_what_was_set_aside_is_shown(tmp_path: Path) -> None:
    """The newest rows in quarantine are told with their reason."""
    with wiring.open_queue(Config(data_dir=tmp_path)) as queue:
        queue.quarantine(queue.append([TWO_SPANS], datetime.now(UTC)), "it cannot be [analysed]")
    status = look(tmp_path)
    assert status["quarantined_rows"] == 1
    assert isinstance(status["quarantine"], list)
    assert status["quarantine"][0]["reason"] == "it cannot be [analysed]"
    assert "[analysed]" in printed("status", "--data-dir", tmp_path)


def test_the_last_errors_survive(tmp_path: Path) -> None:
    """Errors that a service logged are shown when it is gone, the latest first, the same one counted once."""
    with wiring.open_queue(Config(data_dir=tmp_path)):
        pass
    for _life in range(2):
        journal = Journal(tmp_path)
        journal.error("analyst", "cannot write")
        for number in range(MOST_ERRORS // 2):
            journal.error("receiver", f"error {number}")
        journal.error("analyst", "cannot write")
        journal.close()
    errors = look(tmp_path)["errors"]
    assert isinstance(errors, list)
    assert [(error["process"], error["text"], error["count"]) for error in errors[:2]] == [
        ("analyst", "cannot write", 4),
        ("receiver", f"error {MOST_ERRORS // 2 - 1}", 2),
    ]
    assert errors[0]["first_at"] <= errors[1]["last_at"] <= errors[0]["last_at"]
    assert "cannot write (4 times since" in printed("status", "--data-dir", tmp_path).replace("\n", " ")
    assert (tmp_path / "journal.json").stat().st_mode & 0o777 == 0o600


def test_an_unreadable_journal_is_none(tmp_path: Path) -> None:
    """What a power cut left of the last errors does not keep anybody from looking."""
    with wiring.open_queue(Config(data_dir=tmp_path)):
        pass
    for broken in ("", "{", "[]", '{"errors": [{"text": 1}], "destinations": {}}'):
        (tmp_path / "journal.json").write_text(broken)
        assert look(tmp_path)["errors"] == []


def test_check_says_whether_all_is_well(tmp_path: Path) -> None:
    """The exit code is 0 for a look, and with --check 1 when there is a problem."""
    with wiring.open_queue(Config(data_dir=tmp_path)):
        pass
    assert weaklink("status", "--data-dir", tmp_path).returncode == 0
    assert weaklink("status", "--check", "--data-dir", tmp_path).returncode == 1
    with hold(tmp_path):
        assert weaklink("status", "--check", "--data-dir", tmp_path).returncode == 0


@pytest.mark.parametrize(("seconds", "problems"), [(100, []), (400, ["the analyst is 4"])])
def test_an_analyst_that_gets_nowhere_is_a_problem(tmp_path: Path, seconds: int, problems: list[str]) -> None:
    """Senders do not notice before the queue is full; rows that have waited for five minutes are told of sooner."""
    with wiring.open_queue(Config(data_dir=tmp_path)) as queue:
        queue.append([TWO_SPANS], datetime.now(UTC) - timedelta(seconds=seconds))
    with hold(tmp_path):
        assert [str(one)[:16] for one in look(tmp_path)["problems"]] == problems  # type: ignore[attr-defined]
        assert weaklink("status", "--check", "--data-dir", tmp_path).returncode == len(problems)


def test_the_schema_is_stable(data_dir: Path) -> None:
    """Both ways to ask for JSON give the same keys, which are the documented ones."""
    with wiring.open_queue(Config(data_dir=data_dir)):
        pass
    found = json.loads(printed("status", "--json", "--data-dir", data_dir))
    assert set(found) == set(look(data_dir)) == DOCUMENTED


def test_a_look_changes_nothing(tmp_path: Path) -> None:
    """A damaged row is left for the analyst to set aside; the others are counted."""
    with wiring.open_queue(Config(data_dir=tmp_path)) as queue:
        for _ in range(3):
            queue.append([TWO_SPANS], datetime.now(UTC))
    with closing(sqlite3.connect(tmp_path / "queue.sqlite")) as other, other:
        other.execute("UPDATE queue SET payload = x'00' WHERE offset = 2")
    status = look(tmp_path)
    assert isinstance(status["lag"], dict)
    assert (status["lag"]["analyst"]["rows"], status["lag"]["analyst"]["spans"]) == (3, 4)
    assert (status["queue_rows"], status["quarantined_rows"]) == (3, 0)

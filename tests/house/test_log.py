import json
import subprocess
import sys

SCRIPT = """
import logging, sys, threading, warnings
import structlog
early = structlog.get_logger("early")
from weaklink_processor import log
from weaklink_processor.config import Log
log.configure(Log(level=sys.argv[1], format=sys.argv[2]), "tester")
early.info("ours", number=1)
logging.getLogger("grpc").warning("theirs %s", 2)
thread = threading.Thread(target=lambda: early.warning("from a thread"))
thread.start(); thread.join()
def fail():
    token = "-".join(("very", "secret"))
    return 1 / 0
try:
    fail()
except ZeroDivisionError:
    early.exception("failed")
"""


def logged(level: str, form: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", SCRIPT, level, form], capture_output=True, text=True, check=True)


def test_json_has_an_object_a_line() -> None:
    """Our own and other libraries' messages have one form, with level, time and process, also from threads."""
    done = logged("info", "json")
    lines = [json.loads(line) for line in done.stderr.splitlines()]
    assert [(line["event"], line["level"], line["process"]) for line in lines] == [
        ("ours", "info", "tester"),
        ("theirs 2", "warning", "tester"),
        ("from a thread", "warning", "tester"),
        ("failed", "error", "tester"),
    ]
    assert all(line["timestamp"].endswith("Z") for line in lines)
    assert lines[0]["number"] == 1
    assert lines[3]["exception"][0]["exc_type"] == "ZeroDivisionError"
    assert done.stdout == ""


LISTENER = """
import logging
import structlog
from weaklink_processor import log
from weaklink_processor.config import Log
heard = []
log.configure(Log(level="warning"), "tester", heard.append)
structlog.get_logger("own").warning("no error")
structlog.get_logger("own").error("full", offset=7, nothing=None)
logging.getLogger("theirs").error("failed %s", 2)
try:
    1 / 0
except ZeroDivisionError as error:
    structlog.get_logger("own").exception("crashed")
    logging.getLogger("theirs").exception("theirs crashed")
structlog.get_logger("own").error("later", exc_info=OSError(28, "No space left"))
structlog.get_logger("own").error("x" * 10_000)
assert heard == [
    "full: offset=7",
    "failed 2",
    "crashed: ZeroDivisionError: division by zero",
    "theirs crashed: ZeroDivisionError: division by zero",
    "later: OSError: [Errno 28] No space left",
    "x" * log.MOST_TEXT,
], heard
"""


def test_errors_are_heard_in_one_line() -> None:
    """Who listens gets each error, of ours or of a library, with what was raised, and nothing less severe."""
    done = subprocess.run([sys.executable, "-c", LISTENER], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_console_is_for_people() -> None:
    """Console lines carry no colours away from a terminal, and the level is a bound."""
    text = logged("warning", "console").stderr
    assert "theirs 2" in text
    assert "ours" not in text
    assert "ZeroDivisionError" in text
    assert "\x1b" not in text


def test_a_traceback_shows_no_values() -> None:
    """What a local variable holds may be a credential, or what somebody's agent remembers."""
    for form in ("json", "console"):
        text = logged("info", form).stderr
        assert "ZeroDivisionError" in text
        assert "very-secret" not in text

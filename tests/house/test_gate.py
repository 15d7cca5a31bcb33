"""`weaklink gate` as a command: where it reads, what it prints, and its exit codes."""

import asyncio
import json
import logging
import os
import pty
import re
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import duckdb
import pyarrow.parquet as pq
import pytest
import structlog
from click.testing import CliRunner, Result
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

import incident
from covered import file_of
from gate.told import cascade
from otlp import DAWN, SECOND, S
from shell import PROGRAM, printed
from weaklink_processor.analyst import schema
from weaklink_processor.cli import main
from weaklink_processor.lake import listing
from weaklink_processor.queue import database, framing
from weaklink_processor.supervise.lock import hold

DAY = 86_400.0


def later(spans: list[S], seconds: float) -> list[S]:
    return [replace(s, start=s.start + seconds, end=s.end + seconds) for s in spans]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Files, and a data folder of them all: a cascade, the same confirmed, a worse one a day later, a recent one."""
    folder = tmp_path_factory.mktemp("gate")
    recent = datetime.now(UTC).timestamp() - 60 - DAWN / SECOND
    stories = {
        "bad": cascade(1, service="bad"),
        "good": cascade(2, 0.9, "x-", service="good"),
        "worse": later(cascade(3, 0.1, "w-", service="bad"), DAY),
        "new": later(cascade(4, 0.9, "n-", service="new"), recent),
    }
    files = [file_of(folder / f"{name}.binpb", spans) for name, spans in stories.items()]
    printed("replay", *files, "--data-dir", folder / "data")
    return folder


@pytest.fixture(autouse=True)
def logging_as_it_was() -> Iterator[None]:
    """Commands that take spans set up the logging of their process, which here is that of all tests."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    yield
    root.handlers[:] = handlers
    root.setLevel(level)
    logging.captureWarnings(capture=False)
    structlog.reset_defaults()


def gate(*arguments: str | Path) -> Result:
    """Run it here: a process of its own takes most of its time to start."""
    return CliRunner().invoke(main, ["gate", *map(str, arguments)])


def code(*arguments: str | Path) -> int:
    return gate(*arguments).exit_code


def test_the_real_cascade(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """memledger's own spans of it fail, and name the guess, its author and the way to it; the guess at 0.9 passes."""
    bad = gate(_told(tmp_path / "bad.binpb"), "--format", "json")
    said = json.loads(bad.stdout)
    action = next(one for one in said["failures"] if one["agent_id"] == "action")
    assert (bad.exit_code, said["outcome"], action["author"]) == (1, "failed", "triage")
    assert [(hop["agent_id"], hop["declared"], hop["is_weakest"]) for hop in action["chain"]] == [
        ("action", 0.95, False),
        ("diagnosis", 0.85, False),
        ("triage", 0.3, True),
    ]
    (agent, content, _, _), *others = incident.STEPS
    monkeypatch.setattr(incident, "STEPS", ((agent, content, 0.9, False), *others))
    good = gate(_told(tmp_path / "good.binpb"))
    assert (good.exit_code, good.stdout.splitlines()[-1][:11]) == (0, "gate passed")


def _told(file: Path) -> Path:
    seen = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(seen))
    ledger = file.with_suffix("")
    ledger.mkdir()
    asyncio.run(incident.tell(provider, ledger, one_trace=True))
    file.write_bytes(framing.join([encode_spans(seen.get_finished_spans()).SerializeToString()]))
    return file


def test_files_and_a_data_folder_say_the_same(folder: Path) -> None:
    """Of the same spans."""
    files = [folder / f"{name}.binpb" for name in ("bad", "good", "worse", "new")]
    of_files = json.loads(gate(*files, "--format", "json").stdout)
    of_folder = json.loads(gate("--data-dir", folder / "data", "--format", "json").stdout)
    assert of_files == of_folder
    assert (of_folder["traces"], of_folder["decisions"]["judged"]) == ({"judged": 4, "passed": 4}, 8)


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ([], 1),
        (["--service", "good"], 0),
        (["--tier", "3"], 0),
        (["--tier", "3", "--min-score", "0.95"], 1),
        (["--min-score", "0.3"], 0),
        (["--min-pass-rate", "0.5"], 0),
        (["--service", "good", "--min-traces", "2"], 1),
        (["--tier", "3", "--max-findings", "warning=0"], 1),
        (["--tier", "3", "--max-findings", "warning=99", "--max-findings", "cycle=0"], 0),
        (["--trace-id", f"{2:032X}"], 0),
        (["--session", "s", "--service", "good"], 0),
        (["--session", "nowhere"], 3),
        (["--environment", "prod"], 3),
        (["--since", "2026-01-01", "--service", "good"], 0),
        (["--until", "2026-01-01T00:00:00Z"], 3),
        (["--since", "1s"], 3),
    ],
)
def test_options_decide(folder: Path, options: list[str], expected: int) -> None:
    """0 passed, 1 failed, 3 nothing to judge."""
    assert code("--data-dir", folder / "data", *options) == expected


def test_since_is_an_age(folder: Path) -> None:
    """Only the trace that began a minute ago is of the last hour."""
    data = ("--data-dir", folder / "data")
    assert (code(*data, "--since", "1h"), code(*data, "--until", "1h")) == (0, 1)
    assert "1 of 1 traces passed" in gate(*data, "--since", "1h").stdout


def test_an_empty_selection_says_what_there_is(folder: Path, tmp_path: Path) -> None:
    """Exit code 3, and the services that there are; likewise where files hold spans without memory, or none."""
    done = gate("--data-dir", folder / "data", "--service", "nobody")
    assert (done.exit_code, "gate has nothing to judge" in done.stdout) == (3, True)
    assert re.search(r"bad .* 2 .* 4 ", done.stdout)
    plain = gate(file_of(tmp_path / "plain.binpb", [S(1, 1, "GET /")]))
    assert (plain.exit_code, "no evaluations at all" in plain.stdout) == (3, True)
    (tmp_path / "empty.json").write_text("{}")
    empty = gate(tmp_path / "empty.json")
    assert (empty.exit_code, "no spans in it: nothing to judge" in empty.stderr) == (3, True)


@pytest.mark.parametrize("form", ["table", "json", "junit", "github", "sarif"])
def test_files_without_spans_have_a_report(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: str
) -> None:
    """As an empty selection has: it takes the place of the one before, and nobody reads that as this run's."""
    (tmp_path / "empty.json").write_text("{}")
    summary, report = tmp_path / "summary.md", tmp_path / "report"
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    for arguments in ([tmp_path / "empty.json"], [folder / "good.binpb", "--trace-id", "ab" * 16]):
        report.write_text("all is well")
        summary.write_text("")
        told = gate(*arguments, "--format", form)
        done = gate(*arguments, "--format", form, "--output", report)
        assert (told.exit_code, done.exit_code) == (3, 3)
        assert done.stdout.startswith("gate has nothing to judge: ")
        assert report.read_text() == told.stdout
        assert ("executionSuccessful" if form == "sarif" else "nothing to judge") in told.stdout
        assert ("nothing to judge" in summary.read_text()) == (form == "github")


@pytest.mark.parametrize("selected", [["empty.json"], ["good.binpb", "--service", "nope"]], ids=["no spans", "no such"])
def test_nothing_to_judge_leaves_a_baseline_as_it_is(folder: Path, tmp_path: Path, selected: list[str]) -> None:
    """One without entries would let every later run pass."""
    (tmp_path / "empty.json").write_text('{"resourceSpans": []}')
    shutil.copy(folder / "good.binpb", tmp_path)
    baseline = tmp_path / "baseline.json"
    baseline.write_text("kept")
    done = gate(tmp_path / selected[0], *selected[1:], "--write-baseline", baseline)
    assert (done.exit_code, baseline.read_text()) == (3, "kept")


def test_a_file_without_spans_is_named(folder: Path, tmp_path: Path) -> None:
    """What the other files say counts, and standard error has a line for it."""
    (tmp_path / "empty.json").write_text("{}")
    done = gate(folder / "good.binpb", tmp_path / "empty.json")
    assert (done.exit_code, done.stderr) == (0, f"{tmp_path}/empty.json: no spans in it\n")


def test_traces_alone_say_nothing_of_decisions(folder: Path) -> None:
    """Not even how many are not evaluable: none was looked at."""
    last = gate(folder / "good.binpb", "--tier", "3").stdout.splitlines()[-1]
    assert last == "gate passed: 1 of 1 traces passed"


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["nowhere.binpb"], "nowhere.binpb: No such file"),
        (["bad.binpb", "--data-dir", "data"], "expected it or files, and not both"),
        (["--data-dir", "nowhere"], "no data folder nowhere"),
        (["bad.binpb", "--min-scor", "1"], "--min-score"),
        (["bad.binpb", "--min-score", "7"], "expected a number from 0 to 1"),
        (["bad.binpb", "--max-findings", "warnings=1"], "expected info, warning, error, or a code"),
        (["bad.binpb", "--max-findings", "warning"], "expected a whole number"),
        (["bad.binpb", "--trace-id", "12"], "expected 32 hex digits"),
        (["bad.binpb", "--since", "yesterday"], "expected an age as 30m"),
        (["bad.binpb", "--since", "1h", "--until", "2h"], "expected a time after that of --since"),
        (["bad.binpb", "--baseline", "nowhere.json"], "nowhere.json: No such file"),
        (["bad.binpb", "--baseline", "bad.binpb"], "no baseline"),
        (["bad.binpb", "--baseline", "newer.json"], "version 2 is newer than the 1 that this weaklink reads"),
        (["--data-dir", "data", "--output", "nowhere/out.txt"], "nowhere/out.txt: No such file"),
        (["bad.binpb", "--config", "wrong.yaml"], "analysis.treshold: 0.7: no such setting"),
        (["cut.binpb"], "cut.binpb"),
    ],
)
def test_wrong_use_is_refused(folder: Path, arguments: list[str], says: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Exit code 2, a message that names what is wrong, and nothing on standard output."""
    monkeypatch.chdir(folder)
    (folder / "newer.json").write_text('{"version": 2, "rubrics": {}, "entries": []}')
    (folder / "wrong.yaml").write_text("analysis: {treshold: 0.7}")
    (folder / "cut.binpb").write_bytes((folder / "bad.binpb").read_bytes()[:-9])
    done = gate(*arguments)
    assert (done.exit_code, done.stdout) == (2, "")
    assert says in done.stderr


def _newer_queue(data: Path) -> None:
    with closing(sqlite3.connect(data / "queue.sqlite")) as db:
        db.execute("PRAGMA user_version = 99")
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def _newer_state(data: Path) -> None:
    with duckdb.connect(data / "state.duckdb") as db:
        db.execute("UPDATE meta SET schema_version = 99")


def _newer_part(data: Path) -> None:
    for file in data.glob("lake/evaluations/*/*.parquet"):
        table = pq.read_table(file)
        with pq.ParquetWriter(file, table.schema) as writer:
            writer.write_table(table)
            writer.add_key_value_metadata({"weaklink.format": "99"})


def _newer_catalogue(data: Path) -> None:
    with duckdb.connect(data / "weaklink.duckdb") as db:
        db.execute("CREATE OR REPLACE VIEW lake.format AS SELECT 99 AS version")


KNOWN: dict[str, tuple[Callable[[Path], None], int]] = {
    "queue.sqlite": (_newer_queue, database.SCHEMA_VERSION),
    "state.duckdb": (_newer_state, schema.SCHEMA_VERSION),
    "lake": (_newer_part, listing.FORMAT),
    "weaklink.duckdb": (_newer_catalogue, listing.FORMAT),
}


@pytest.mark.parametrize("file", KNOWN)
@pytest.mark.parametrize(
    "command", [["gate"], ["sql", "SELECT 1"], ["replay", "../good.binpb"]], ids=lambda command: command[0]
)
def test_a_newer_folder_is_refused(
    folder: Path, tmp_path: Path, file: str, command: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whichever of its files says that it is newer: one line with the folder, the version found and the one known."""
    change, known = KNOWN[file]
    data = tmp_path / "data"
    shutil.copytree(folder / "data", data)
    change(data)
    monkeypatch.chdir(folder / "data")
    before = {path: path.read_bytes() for path in data.rglob("*") if path.is_file() and path.name != "lock"}
    done = CliRunner().invoke(main, [*command, "--data-dir", str(data)])
    assert (done.exit_code, done.stdout) == (2, "")
    (line,) = done.stderr.splitlines()
    assert line.startswith(f"Error: {data}/{file}")
    assert "99" in line
    assert re.search(rf"\b{known}\b", line.removeprefix(f"Error: {data}"))
    assert {path: path.read_bytes() for path in before} == before


def test_a_catalogue_that_cannot_be_read_is_refused(folder: Path, tmp_path: Path) -> None:
    """A file of another DuckDB, or none at all, is a message and no traceback."""
    data = tmp_path / "data"
    shutil.copytree(folder / "data", data)
    (data / "weaklink.duckdb").write_bytes(b"no database" * 9000)
    done = gate("--data-dir", data)
    assert (done.exit_code, done.stdout) == (2, "")
    assert f"{data}/weaklink.duckdb: this weaklink cannot read it" in done.stderr


def test_a_baseline_from_run_to_run(folder: Path, tmp_path: Path) -> None:
    """What a run wrote makes the same run pass, and a worse one fail; the failing run is written all the same."""
    baseline = tmp_path / "baseline.json"
    chosen = ("--data-dir", folder / "data", "--service", "bad")
    day = datetime.fromtimestamp(DAWN / SECOND + DAY / 2, UTC).isoformat()
    before, after = (*chosen, "--until", day), (*chosen, "--since", day)
    assert code(*before, "--write-baseline", baseline) == 1
    assert code(*before, "--baseline", baseline) == 0
    done = gate(*after, "--baseline", baseline, "--tolerance", "0.01")
    assert done.exit_code == 1
    assert "decisions of action, service bad: mean score 0.30; it was 0.40" in done.stdout
    assert code(*after, "--baseline", baseline, "--tolerance", "0.4") == 0


def test_what_cannot_be_written_leaves_nothing_behind(folder: Path, tmp_path: Path) -> None:
    """Where the result, or a baseline, cannot be put, no part of it stays beside."""
    (tmp_path / "taken").mkdir()
    for option in ("--output", "--write-baseline"):
        done = gate(folder / "good.binpb", option, tmp_path / "taken")
        assert (done.exit_code, done.stderr) == (2, f"Error: {tmp_path / 'taken'}: Is a directory\n")
    assert [path.name for path in tmp_path.iterdir()] == ["taken"]


def test_sarif_names_the_file_that_was_judged(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As the repository knows it; of several the first, and of a data folder its catalogue."""
    monkeypatch.chdir(folder)
    for given, uri in (("bad.binpb", "worse.binpb"), "bad.binpb"), (("--data-dir", "data"), "data/weaklink.duckdb"):
        (run,) = json.loads(gate(*given, "--format", "sarif").stdout)["runs"]
        places = [result["locations"][0]["physicalLocation"] for result in run["results"]]
        assert {place["artifactLocation"]["uri"] for place in places} == {uri}


def test_output_is_a_file_and_a_line(folder: Path, tmp_path: Path) -> None:
    """Each format goes whole to the file; the last line is printed."""
    for form in ("table", "json", "junit", "github", "sarif"):
        done = gate("--data-dir", folder / "data", "--format", form, "--output", tmp_path / form)
        assert (done.exit_code, done.stdout.count("\n")) == (1, 1)
        assert done.stdout.startswith("gate failed: 4 of 8 decisions passed")
        assert "triage-1" in (tmp_path / form).read_text()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["github", "json", "junit", "sarif", "table"]


def test_github_gets_a_summary(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is added to the file that the runner names, behind what is there, and names memory and author."""
    summary = tmp_path / "summary.md"
    summary.write_text("before\n")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    assert code("--data-dir", folder / "data", "--format", "github") == 1
    assert code("--data-dir", folder / "data", "--format", "table") == 1
    text = summary.read_text()
    assert text.startswith("before\n### gate failed")
    assert "**triage-1** by triage" in text
    assert text.count("### ") == 1


def test_a_summary_that_cannot_be_written_changes_no_verdict(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A line on standard error, and the exit code that there would be."""
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "nowhere" / "summary.md"))
    for service, expected in (("good", 0), ("bad", 1)):
        done = gate("--data-dir", folder / "data", "--service", service, "--format", "github")
        assert done.exit_code == expected
        assert re.fullmatch(r"GITHUB_STEP_SUMMARY: '.*/summary.md': No such file.*\n", done.stderr)


@pytest.mark.parametrize("command", ["gate", "doctor"])
def test_a_job_that_is_ended_leaves_nothing_behind(command: str, tmp_path: Path) -> None:
    """SIGTERM amid a file ends it at once, and its temporary folder is gone."""
    with subprocess.Popen(
        [*PROGRAM, command, "-"], stdin=subprocess.PIPE, env={**os.environ, "TMPDIR": str(tmp_path)}
    ) as process:
        while not [*tmp_path.glob("weaklink-*/data")]:
            assert process.poll() is None
        process.terminate()
        assert process.wait(30) == 143
    assert [*tmp_path.iterdir()] == []


def test_a_terminal_sees_a_bar(folder: Path) -> None:
    """While files are read and analysed, on standard error; what is printed is not mixed with it."""
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [*PROGRAM, "gate", folder / "good.binpb"],
        stdout=subprocess.PIPE,
        stderr=theirs,
        env={**os.environ, "TERM": "xterm"},
    ) as done:
        os.close(theirs)
        drawn = b""
        while True:
            try:
                piece = os.read(ours, 4096)
            except OSError:  # it has ended
                break
            drawn += piece
        assert done.stdout
        assert done.stdout.read().startswith(b"gate passed")
    os.close(ours)
    assert b"reading" in drawn
    assert b"\x1b[" in drawn


def test_a_folder_is_judged_without_what_writes(folder: Path) -> None:
    """A gate over a data folder loads neither pyarrow nor gRPC: it is to be quick."""
    judging = f"['gate', '--data-dir', {str(folder / 'data')!r}]"
    program = (
        "import sys\nfrom weaklink_processor.cli import main\n"
        f"try:\n    main({judging})\nexcept SystemExit:\n    pass\n"
        "print(sorted({'pyarrow', 'grpc', 'opentelemetry'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_a_reader_leaves_the_state_to_who_is_at_work(folder: Path, tmp_path: Path) -> None:
    """While a service, or a replay, has the folder, nobody else opens its state, which would keep it from doing so."""
    data = tmp_path / "data"
    shutil.copytree(folder / "data", data)
    printed("compact", "--data-dir", data)  # the copy reads its own files from here on
    _newer_state(data)
    with hold(data):
        assert code("--data-dir", data) == 1
    assert code("--data-dir", data) == 2

"""`weaklink doctor` as a command: where it reads, how it prints, and its exit codes."""

import base64
import re
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import duckdb
import pytest
from google.protobuf.json_format import MessageToJson

from covered import file_of, gaps, report
from otlp import DAWN, SECOND, S, Value, read, request, write
from shell import printed, refused, weaklink
from sink import OtlpSink
from weaklink_service import Service, wait_until

RUN = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "a"}
COVERED = [
    S(1, 1, "run", 0, 0, 9, RUN, service="well"),
    write(1, 2, "m", 0.8, 1, parent=1, service="well"),
    read(1, 3, "m", 0.8, 2, parent=1, service="well"),
    write(1, 4, "n", 0.8, 3, parent=1, parents=["m"], service="well"),
]
SEARCH: Mapping[str, Value] = {"memledger.memory.operation": "search", "memledger.result_count": 3}
FORGETFUL = [
    S(2, 1, "run", 0, 0, 9, RUN, service="ill\x1b[31m[bold]"),
    S(2, 2, "memledger.memory.search", 1, 1, 1, SEARCH, service="ill\x1b[31m[bold]"),
    write(2, 3, "o", 0.8, 2, parent=1, service="ill\x1b[31m[bold]", environment="prod"),
]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return file_of(tmp_path / "spans.binpb", [*COVERED, *FORGETFUL])


def otlp_json(spans: list[S]) -> str:
    """A line as the Collector's file exporter writes it: ids in hex."""
    text = MessageToJson(request(spans), indent=None)
    return re.sub(r'Id": "([^"]+)"', lambda found: f'Id": "{base64.b64decode(found[1]).hex()}"', text)


def test_a_file_in_any_form_says_the_same(tmp_path: Path, file: Path) -> None:
    """Protobuf and JSON lines, in one file or in several."""
    (tmp_path / "spans.jsonl").write_text(f"{otlp_json(COVERED)}\n{otlp_json(FORGETFUL)}\n")
    two = (file_of(tmp_path / "1.binpb", COVERED), file_of(tmp_path / "2.binpb", FORGETFUL))
    assert report(*two) == report(tmp_path / "spans.jsonl") == report(file)


def test_files_leave_nothing_behind(tmp_path: Path, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are analysed in a temporary folder that is deleted, and nothing is sent on, whatever the settings say."""
    (tmp_path / "aside").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "aside"))
    with OtlpSink() as sink:
        monkeypatch.setenv("WEAKLINK_FORWARD__ENDPOINT", sink.endpoint)
        monkeypatch.chdir(tmp_path)
        report(file)
        assert sink.attempts == []
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["aside", "spans.binpb"]


def test_a_data_folder_beside_its_service(tmp_path: Path, file: Path) -> None:
    """What a service at work has published so far says the same as the file that it was sent, and is not disturbed."""
    with Service(tmp_path / "data") as service:
        printed("replay", file, "--data-dir", service.data_dir)
        wait_until(lambda: service.count("evaluations WHERE scope = 'trace'") == 2, "verdicts")
        assert report("--data-dir", service.data_dir) == report(file)
        assert service.count("spans") == len(COVERED) + len(FORGETFUL)


def test_a_data_folder_of_an_earlier_weaklink(tmp_path: Path, file: Path) -> None:
    """Without the columns that are asked for it is refused, in words."""
    data_dir = tmp_path / "data"
    printed("replay", file, "--data-dir", data_dir)
    with duckdb.connect(data_dir / "weaklink.duckdb") as catalogue:
        catalogue.execute("ALTER VIEW lake.memory_operations RENAME TO newer")
        catalogue.execute("CREATE VIEW lake.memory_operations AS SELECT * EXCLUDE (has_agent) FROM lake.newer")
    assert "an earlier weaklink wrote it" in refused("doctor", "--data-dir", data_dir)


def test_check_is_an_exit_code(tmp_path: Path, file: Path) -> None:
    """With --check 1 where something is lacking or nothing was recognised, else 0; without it 0."""
    well = file_of(tmp_path / "well.binpb", COVERED)
    bare = file_of(tmp_path / "bare.binpb", [S(1, 1, "GET /")])
    strange = file_of(tmp_path / "strange.binpb", [*COVERED, S(3, 1, "recall", service="strange")])
    told = {path.stem: weaklink("doctor", path, "--check") for path in (well, file, bare, strange)}
    assert {stem: (done.returncode, done.stdout.decode().splitlines()[-1]) for stem, done in told.items()} == {
        "well": (0, "covered: every memory span says what it should"),
        "spans": (1, "not covered: 5 gaps"),
        "bare": (1, "not covered: no memory span was recognised"),
        "strange": (1, "not covered: nothing was recognised of 1 service"),
    }
    assert weaklink("doctor", file).returncode == 0


def test_wrong_use_is_refused(tmp_path: Path, file: Path) -> None:
    """Two sources, none, one that cannot be read or holds no spans, and an age that is none."""
    (tmp_path / "nonsense").write_text("nonsense")
    (tmp_path / "empty.json").write_text("{}")
    assert "and not both" in refused("doctor", file, "--data-dir", tmp_path)
    assert "no data folder" in refused("doctor", cwd=tmp_path)
    assert "first span" in refused("doctor", "--data-dir", tmp_path)
    assert "nonsense" in refused("doctor", file, tmp_path / "nonsense")
    assert "no spans in it" in refused("doctor", tmp_path / "empty.json")
    assert "expected seconds" in refused("doctor", file, "--since", "yesterday")


def test_an_empty_selection_says_what_there_is(file: Path) -> None:
    """That is no broken instrumentation: the services that there are, are listed with the times of their spans."""
    for options in (("--service", "nobody"), ("--environment", "nowhere"), ("--since", "1s")):
        done = weaklink("doctor", file, *options, "--check")
        lines = done.stdout.decode().splitlines()
        assert (done.returncode, lines[-1]) == (1, "not covered: no span is selected")
        assert sum(bool(re.search(r"│ +│ [24] +│ 20\d\d-", line)) for line in lines) == 2
        assert any(re.search(r"│ ill.x1b\[31m\[bold\] │ prod +│ 1 +│ 20\d\d-", line) for line in lines)
    said = report(file, "--service", "nobody")
    assert [(one["service_name"], one["spans"]) for one in said["present"]] == [
        ("ill\x1b[31m[bold]", 2),
        ("ill\x1b[31m[bold]", 1),
        ("well", 4),
    ]
    assert all(datetime.fromisoformat(one["earliest"]).tzinfo for one in said["present"])
    assert report(file)["present"] == []


def test_only_some_spans_are_looked_at(tmp_path: Path, file: Path) -> None:
    """--service, --environment and --since leave out what else there is, also of the services that are listed."""
    services = {
        "service": report(file, "--service", "well"),
        "environment": report(file, "--environment", "prod"),
        "none": report(file, "--environment", "nowhere"),
    }
    found = {option: [row["service_name"] for row in said["services"]] for option, said in services.items()}
    assert found == {"service": ["well"], "environment": ["ill\x1b[31m[bold]"], "none": []}
    assert services["service"]["covered"]
    age = datetime.now(UTC).timestamp() - DAWN / SECOND
    later = replace(write(9, 1, "p", 0.8, service="late"), start=age - 60, end=age)
    recent = report(file_of(tmp_path / "late.binpb", [*COVERED, later]), "--since", "1h")
    assert [row["service_name"] for row in recent["services"]] == ["late"]


def test_people_get_a_table_and_the_lines(file: Path) -> None:
    """A service is named without obeying it; each gap has a row, and what mends several is printed once."""
    lines = printed("doctor", file).splitlines()
    assert "ill\\x1b[31m[bold]: 2 spans" in lines
    assert "ill\\x1b[31m[bold] in prod: 1 span" in lines
    assert "memledger: write: 2 spans, 2 records; read: 1 span, 1 record" in lines
    rows = [[cell.strip() for cell in line.split("│")[1:4]] for line in lines if line.startswith("│ read")]
    assert rows == [
        ["read", "ids", "1 of 1"],
        ["read", "confidence", "1 of 1"],
        ["read", "agent", "1 of 1, 1 inherit it"],
        ["read", "session", "1 of 1"],
    ]
    told = "ids, confidence, agent of read: memledger.memory.id; see span 0000000000000002 of trace "
    (mend,) = [number for number, line in enumerate(lines) if line.startswith(told)]
    assert lines[mend + 1].startswith("    ledger.search = ")
    assert max(map(len, lines)) <= 120


def test_the_json_is_told(tmp_path: Path) -> None:
    """docs/commands.md has every key of the JSON, and of the objects in it."""
    page = (Path(__file__).parents[2] / "docs" / "commands.md").read_text()
    (section,) = re.findall(r"^## doctor\n(.*?)(?=^## )", page, re.MULTILINE | re.DOTALL)
    said = report(file_of(tmp_path / "spans.binpb", [*FORGETFUL, S(3, 1, "recall")]))
    objects = [said, *(said[key][0] for key in ("services", "recognised", "gaps", "hints")), said["gaps"][0]["mend"]]
    assert [key for one in objects for key in one if f"`{key}`" not in section] == []


def test_a_gap_is_of_its_environment(file: Path) -> None:
    """A service's spans in two environments are told apart."""
    said = report(file)
    assert {row["environment"] for row in said["recognised"]} == {"", "prod"}
    assert gaps(said, "well") == {}

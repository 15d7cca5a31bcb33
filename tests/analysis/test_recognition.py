"""Recognition is a function of the batch: what is taken of a batch carries along what was recognised on it."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import duckdb
import numpy as np
import pytest

from otlp import S, payload, read, write
from weaklink_analysis.batch import SpanBatch
from weaklink_analysis.conventions import CONVENTIONS
from weaklink_analysis.conventions.convention import Convention
from weaklink_analysis.operations import Matcher
from weaklink_analysis.recognition import Recogniser
from weaklink_processor.config import Config
from weaklink_processor.decode.batch import decode
from weaklink_processor.receive import otlp_json
from weaklink_processor.wiring import limits

CAPTURED = Path(__file__).parents[1] / "conventions" / "captured"
LIMITS = limits(Config())

SPANS = [
    S(1, 1, attributes={"gen_ai.agent.id": "root"}),
    write(1, 2, "m", 0.9),
    S(1, 3),
    read(1, 4, "m", 0.9),
    S(
        1,
        5,
        attributes={"gen_ai.operation.name": "search_memory", "gen_ai.memory.records": '[{"id": "x"}, {"id": "y"}]'},
    ),
]


@pytest.mark.parametrize("rows", [[], [1, 4], [0, 2, 3]])
@pytest.mark.parametrize("as_mask", [False, True])
def test_what_is_taken_is_what_those_spans_alone_give(rows: list[int], *, as_mask: bool) -> None:
    """Taking spans of a recognised batch, by index or by mask, equals recognising those spans alone."""
    recogniser = Recogniser(duckdb.connect())
    everything = recogniser.recognise(decode([payload(SPANS)]))
    taken = everything.take(np.isin(np.arange(len(SPANS)), rows) if as_mask else np.array(rows, dtype=np.int64))
    alone = recogniser.recognise(decode([payload([SPANS[row] for row in rows])]))
    assert len(taken) == len(rows)
    for part in ("spans", "context"):
        assert getattr(taken, part).to_pylist() == getattr(alone, part).to_pylist()
    by_place = [("at", "ascending"), ("ordinal", "ascending")]
    assert taken.operations.sort_by(by_place).to_pylist() == alone.operations.sort_by(by_place).to_pylist()
    assert taken.keys.drop_columns(["request"]) == alone.keys.drop_columns(["request"])


@pytest.mark.parametrize("name", sorted(path.stem for path in CAPTURED.glob("*.json")))
def test_each_span_is_recognised_by_itself(name: str) -> None:
    """What a framework's spans give does not depend on which others come with them."""
    recogniser = Recogniser(duckdb.connect())
    together = recogniser.recognise(decode([otlp_json.to_protobuf((CAPTURED / f"{name}.json").read_bytes(), LIMITS)]))
    batch = SpanBatch(together.spans, together.keys)
    for at in range(len(batch)):
        one = SpanBatch(batch.spans.slice(at, 1), batch.keys.slice(at, 1))
        alone, taken = recogniser.recognise(one), together.take(np.array([at]))
        for part in ("operations", "marks"):
            first, second = (getattr(recognised, part).to_pylist() for recognised in (alone, taken))
            assert sorted(first, key=repr) == sorted(second, key=repr)


def test_a_model_that_no_span_calls_for_is_not_run() -> None:
    """It is not even looked at: spans without memory do not pay for conventions."""
    without_file = Convention("no_such_model", names=("acme.*",), reads=("acme",), events=("acme",))
    recogniser = Recogniser(duckdb.connect(), (), (without_file, *CONVENTIONS))
    assert recogniser.recognise(decode([payload([S(1, 1, "acne"), SPANS[1]])])).operations.num_rows == 1
    for called in (S(1, 1, "acme.x"), S(1, 1, attributes={"acme": 1}), S(1, 1, events=[("acme", {})])):
        with pytest.raises(FileNotFoundError):
            recogniser.recognise(decode([payload([called])]))


def test_threads_share_a_recogniser() -> None:
    """Two batches at once do not meet: each call has its own names on the connection."""
    recogniser = Recogniser(duckdb.connect())
    batches = [decode([payload([write(1, n + 1, f"m{n}", 0.5)])]) for n in range(4)]
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(recogniser.recognise, batches))
    ids = [one.operations.column("memory_id").to_pylist() for one in found]
    assert ids == [[f"m{n}"] for n in range(4)]


@pytest.mark.parametrize(
    ("pattern", "name", "fits"),
    [
        ("step [1]", "step [1]", True),
        ("step [1]", "step 1", False),
        ("x?y", "x日y", True),
        ("x?y", "x/y", True),
        ("x?y", "xy", False),
        ("a\\b*", "a\\bc", True),
        ("a\\b*", "abc", False),
        ("50%_*", "50%_off", True),
        ("50%_*", "500 off", False),
        ("*", "two\nlines", True),
    ],
)
def test_only_two_characters_of_a_matcher_s_name_are_wild(pattern: str, name: str, *, fits: bool) -> None:
    """`*` is any text and `?` is one character, however many bytes it has; all others are themselves."""
    batch = decode([payload([S(1, 1, name)])])
    found = Recogniser(duckdb.connect(), [Matcher(pattern)]).recognise(batch).marks
    assert (len(found) == 1) is fits


@pytest.mark.parametrize(
    ("matcher", "matched"),
    [
        (Matcher("approve *"), {1, 2}),
        (Matcher("approve ?efund"), {1}),
        (Matcher(attributes={"my.kind": "decision"}), {2, 3}),
        (Matcher("approve *", {"my.kind": "decision", "my.sure": "true"}), {2}),
        (Matcher("x' OR '1' = '1", {'my"kind': "' OR TRUE OR '"}), set()),
    ],
)
def test_matchers_say_which_spans_decide(matcher: Matcher, matched: set[int]) -> None:
    """By name with wildcards, by attributes as text, by all of it together; a mark of the span's own goes first."""
    spans = [
        S(1, 1, "approve refund"),
        S(1, 2, "approve this", attributes={"my.kind": "decision", "my.sure": True}),
        S(1, 3, "other", attributes={"my.kind": "decision"}),
        S(1, 4, "approve that", attributes={"memory.decision": True}),
        S(1, 5, "x"),
    ]
    marks = Recogniser(duckdb.connect(), [matcher]).recognise(decode([payload(spans)])).marks.to_pylist()
    kinds = {spans[mark["at"]].span: mark["decision"] for mark in marks}
    assert kinds == {4: "marked"} | dict.fromkeys(matched, "matched")

"""Record and span sets with every odd value we could think of, the same for the same seed.

Where weaklink differs from the reference by declaration, a value comes as a pair: what weaklink is given, and what the
reference must be given to come to the same. So the pairs are the list of what may differ, and all else must be equal.
"""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from math import inf, nan
from random import Random
from typing import Any

MISSING = object()
TINY = 5e-324
"""The reference reads 0.0 as 0.5, so it is given the next number."""

CONFIDENCES = [MISSING, None, "", False, [], 1, 1.0, 0.4, 0.6, 0.39999999999999997, 0.5999999999999999, 1e-9, TINY]
REFUSED: list[Any] = [
    nan,
    inf,
    -inf,
    1.7,
    -0.3,
    2,
    True,
    "high",
    "nan",
    "1.7",
    "\u0660.\u0669",
    "0_1",
    b"0.9",
    [0.9],
    {},
]
CONFIDENCES_READ_OTHERWISE: list[tuple[Any, Any]] = [
    *((zero, TINY) for zero in (0, 0.0, -0.0, "0", "-0.0")),
    *((value, 0.5) for value in REFUSED),
    *(("0.9", 0.9), (" 3e-1 ", 0.3), ("1", 1.0), (Decimal("0.7"), 0.7)),
]
NAMES = [MISSING, None, "", 0, False, "a", "b", "c", " ", "Unknown", "агент", "a\u0000b", "'; --", 5, True, ("t",), 1.0]
NAMES_READ_OTHERWISE = [("unknown", None), (nan, None)]
HEDGES = [MISSING, None, False, 0, "", "true", True]
HEDGES_READ_OTHERWISE = [(1, False), ("false", False), ("True", False), ("yes", False), (nan, False), ([1], False)]
CHAIN_CONFIDENCES = [MISSING, 0.0, 0.3, 0.4, 0.9, 1, 2.0, inf, True]
CHAIN_CONFIDENCES_READ_OTHERWISE = [(None, 1.0), (nan, 1.0), (-1, 1.0), (False, 1.0), ("low", 1.0), ("0.3", 0.3)]
THRESHOLDS = [0.7, 0.7, 0.0, 1.0, 0.5, 0.9]

PARENTS: list[Any] = [
    MISSING,
    None,
    "",
    [],
    ["p"],
    [f"p{n}" for n in range(7)],
    "p",
    ("p", "q"),
    {"p": 1},
    [None, ""],
    5,
]
PARENT_TEXTS: list[Any] = [
    *("[]", "[", "null", '"p"', '{"p": 1}', "p", "[" * 9999, "[1, 2, 3, 4, 5, 6]", '["a", "b", "c", "d", "e"]'),
]
VERBS: list[Any] = ["search", "recall", "add", "ingest", "outcome", "lineage", "delete", "SEARCH", "", None, 5, MISSING]
SPAN_CONFIDENCES = [MISSING, 0, 0.0, nan, inf, 1.7, -0.3, True, False, 1, 0.4, 0.6]
RAISING_CONFIDENCES = [None, "0.9", "high", [0.9]]
"""What the reference cannot compare."""


@dataclass(frozen=True)
class Pair:
    """Arguments for weaklink, and for the reference."""

    ours: Any
    theirs: Any


def record_sets(seed: int, *, read_otherwise: bool) -> Iterator[Pair]:
    """(records, chain, threshold), endlessly; with values that are read otherwise, or without."""
    random = Random(seed)
    while True:
        pairs = [_record(random, read_otherwise=read_otherwise) for _ in range(_size(random))]
        chain = _chain(random, read_otherwise=read_otherwise)
        threshold = random.choice((*THRESHOLDS, random.random()))
        yield Pair(
            ([pair.ours for pair in pairs], chain.ours, threshold),
            ([pair.theirs for pair in pairs], chain.theirs, threshold),
        )


def span_sets(seed: int) -> Iterator[tuple[list[dict[str, Any]], float]]:
    """(spans, threshold), endlessly. Most sets are such that the reference has an answer."""
    random = Random(seed)
    while True:
        odd = random.random() < 0.1
        yield [_span(random, odd=odd) for _ in range(_size(random))], random.choice((*THRESHOLDS, random.random()))


def _size(random: Random) -> int:
    return random.choice((*[0, 40], *[1, 2, 3, 4, 5, 6, 7, 8] * 8))


def _record(random: Random, *, read_otherwise: bool) -> Pair:
    def draw(same: list[Any], otherwise: list[Any]) -> Pair:
        if read_otherwise and random.random() < 0.3:
            return Pair(*random.choice(otherwise))
        value = random.choice(same)
        return Pair(value, value)

    usual = [round(random.random(), 2) or 0.5 for _ in CONFIDENCES]
    drawn = {
        "id": draw([MISSING, None, "", "m1", "m2", "ключ"], [("m3", "m3")]),
        "confidence": draw(CONFIDENCES + usual, CONFIDENCES_READ_OTHERWISE),
        "importance": draw(CONFIDENCES, CONFIDENCES_READ_OTHERWISE),
        "created_by": draw(NAMES, NAMES_READ_OTHERWISE),
        "session_id": draw(NAMES, NAMES_READ_OTHERWISE),
        "hedged": draw(HEDGES, HEDGES_READ_OTHERWISE),
        "derived_from": draw(PARENTS, [("p", "p")]),
    }
    return _without_missing(drawn)


def _chain(random: Random, *, read_otherwise: bool) -> Pair:
    if random.random() < 0.5:
        return Pair(*random.choice([(None, None), ({}, {}), ({"chain": []}, {"chain": []})]))
    shown = random.choice(CHAIN_CONFIDENCES)
    pair = Pair(shown, shown)
    if read_otherwise and random.random() < 0.5:
        pair = Pair(*random.choice(CHAIN_CONFIDENCES_READ_OTHERWISE))
    hops, truncated = random.choice([[], ["hop"]]), random.choice([MISSING, None, False, True, 1, "yes"])
    return _without_missing(
        {"chain": Pair(hops, hops), "min_confidence": pair, "truncated": Pair(truncated, truncated)}
    )


def _without_missing(drawn: dict[str, Pair]) -> Pair:
    return Pair(
        {key: pair.ours for key, pair in drawn.items() if pair.ours is not MISSING},
        {key: pair.theirs for key, pair in drawn.items() if pair.theirs is not MISSING},
    )


def _span(random: Random, *, odd: bool) -> dict[str, Any]:
    usual = [round(random.random(), 2) for _ in SPAN_CONFIDENCES]
    drawn = {
        "id": random.choice([MISSING, "m", ""]),
        "confidence": random.choice(SPAN_CONFIDENCES + usual + RAISING_CONFIDENCES * odd),
        "source_agent_id": random.choice(["a", "a", "b", *NAMES, "unknown", nan]),
        "parent_ids": random.choice(PARENTS + PARENT_TEXTS),
        "operation": random.choice(VERBS[:4] * 3 + VERBS),
        "hedged": random.choice([*HEDGES, 1, "false", nan]),
    }
    carried = {f"memledger.memory.{key}": value for key, value in drawn.items() if value is not MISSING}
    name = random.choice(["memledger.memory.search", "memledger.memory.", "memledger.get", "x", "", MISSING])
    named = {} if name is MISSING else {"name": name}
    shapes: list[Callable[[], dict[str, Any]]] = [
        *[lambda: named | {"attributes": carried}] * 4,
        lambda: named | carried,
        lambda: named | {"attributes": {"other": 1}, "resource": {"attributes": carried}},
        lambda: named | {"attributes": {}},
        lambda: named | {"attributes": {"other": 1}, **carried},
    ]
    return random.choice(shapes)()


def as_json(value: object) -> str:
    """A value in a message."""
    return json.dumps(value, default=str, ensure_ascii=False)

"""Rubrics as data: what the structural tier (MAI Tier 3) checks, with which weights and limits."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields
from math import isfinite
from typing import Any

STRUCTURAL_CHECKS = (
    "confidence_populated",
    "confidence_above_threshold",
    "source_agent_present",
    "chain_depth_bounded",
    "no_low_confidence_unhedged",
)
FINDING_CHECKS = (
    "unresolved_parent",
    "cycle",
    "derived_before_parent",
    "read_without_ids",
    "missing_session",
    "confidence_mismatch",
    "confidence_inflated",
    "filtered_memory_returned",
    "decision_cites_unread",
    "cross_environment_parent",
    "memory_span_without_agent_run",
)
"""Codes of findings that a rubric may weigh: such a check passes when there is no such finding."""

COUNTING = ("operations", "spans")

MAX_HOPS = 5
"""So many derivations up a version's ancestors are looked for, unless configured."""


class RubricError(ValueError):
    """A rubric that cannot be used. Its text has a line for each fault, with the field and the value."""

    def __init__(self, faults: Iterable[str]) -> None:
        self.faults = tuple(faults)
        super().__init__("\n".join(self.faults))


@dataclass(frozen=True, slots=True)
class Rubric:
    """A structural rubric. Shares are of what is counted, in [0, 1]; confidences too. Raises RubricError."""

    name: str
    evaluation: str
    weights: dict[str, float]
    """Check name -> weight, in the order in which checks are shown."""
    populated_share: float = 0.9
    confident: float = 0.6
    confident_share: float = 0.7
    missing_confidence: float = 0.5
    agent_share: float = 0.9
    max_depth: int = MAX_HOPS
    low: float = 0.4
    counting: str = "operations"
    """operations: a record a span names, values as weaklink reads them, depth of the rebuilt chains.
    spans: as memledger 2.0.1 does: one a span, values as they came, the number of parents on one span for depth."""

    def __post_init__(self) -> None:
        found = _faults({field.name: getattr(self, field.name) for field in fields(self)})
        if found:
            raise RubricError(f"{self.name}: {fault}" for fault in found)

    @property
    def findings(self) -> tuple[str, ...]:
        """The checks that are codes of findings."""
        return tuple(check for check in self.weights if check in FINDING_CHECKS)


def rubric_from(data: Mapping[str, object], max_hops: int = MAX_HOPS) -> Rubric:
    """A rubric from plain data, as a config file has it: Rubric's fields by name; `evaluation` may be left out.

    Chains are followed `max_hops` derivations up, so a deeper limit could not fail: it is refused. Raises RubricError
    with all faults at once.
    """
    values: dict[str, Any] = {"evaluation": EVALUATION, **data}
    faults = [*_faults(values)]
    depth = values.get("max_depth")
    if isinstance(depth, int) and depth > max_hops:
        faults.append(f"max_depth: {depth!r} is more than max_hops ({max_hops}): chains are followed no further")
    if faults:
        raise RubricError(f"{data.get('name', 'a rubric without a name')}: {fault}" for fault in faults)
    return Rubric(**values | {"weights": {check: float(weight) for check, weight in values["weights"].items()}})


def rubrics_from(configured: Iterable[Mapping[str, object]], max_hops: int = MAX_HOPS) -> dict[str, Rubric]:
    """The built-in rubrics and the configured ones by name. Raises RubricError with all faults of all of them."""
    found, faults = dict(RUBRICS), list[str]()
    for data in configured:
        try:
            made = rubric_from(data, max_hops)
        except RubricError as error:
            faults += error.faults
            continue
        if found.get(made.name, made) != made:
            faults.append(f"{made.name}: name: {made.name!r} is taken")
        found[made.name] = made
    if faults:
        raise RubricError(faults)
    return found


def find_rubric(wanted: str | Rubric, among: Mapping[str, Rubric] | None = None) -> Rubric:
    """The rubric of that name (a Rubric stands for itself). Raises RubricError for a name nobody has."""
    if isinstance(wanted, Rubric):
        return wanted
    known = RUBRICS if among is None else among
    if wanted not in known:
        raise RubricError([f"rubric: no rubric is named {wanted!r}; known are {', '.join(known)}"])
    return known[wanted]


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value)


def _is_share(value: Any) -> bool:
    return _is_number(value) and 0 <= value <= 1


def _is_text(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip())


_Rule = tuple[Callable[[Any], bool], str]
_TEXT: _Rule = (_is_text, "must be a text that is not empty")
_SHARE: _Rule = (_is_share, "must be a number from 0 to 1")
_RULES: dict[str, _Rule] = {
    "name": _TEXT,
    "evaluation": _TEXT,
    "weights": (lambda v: isinstance(v, Mapping) and bool(v), "must name at least one check with its weight"),
    "populated_share": _SHARE,
    "confident": _SHARE,
    "confident_share": _SHARE,
    "missing_confidence": _SHARE,
    "agent_share": _SHARE,
    "max_depth": (lambda v: type(v) is int and v >= 0, "must be a whole number from 0 on"),
    "low": _SHARE,
    "counting": (lambda v: v in COUNTING, f"must be one of {', '.join(COUNTING)}"),
}
_DEFAULTS = {field.name: field.default for field in fields(Rubric)}
_REQUIRED = ("name", "evaluation", "weights")


def _faults(values: Mapping[str, Any]) -> list[str]:
    faults = [f"{key}: is missing" for key in _REQUIRED if key not in values]
    for key, value in values.items():
        if key not in _RULES:
            faults.append(f"{key}: {value!r} is for no field that a rubric has; it has {', '.join(_RULES)}")
            continue
        holds, rule = _RULES[key]
        if not holds(value):
            faults.append(f"{key}: {value!r} {rule}")
    if isinstance(values.get("weights"), Mapping):
        faults += _weight_faults(values["weights"])
    low, confident = (values.get(key, _DEFAULTS[key]) for key in ("low", "confident"))
    if _is_share(low) and _is_share(confident) and low > confident:
        faults.append(f"low: {low!r} is more than confident ({confident!r})")
    return faults


def _weight_faults(weights: Mapping[Any, Any]) -> list[str]:
    checks = (*STRUCTURAL_CHECKS, *FINDING_CHECKS)
    unknown = [
        f"weights.{check}: {weight!r} is for no check there is; there are {', '.join(checks)}"
        for check, weight in weights.items()
        if check not in checks
    ]
    return unknown + [
        f"weights.{check}: {weight!r} must be a number above 0"
        for check, weight in weights.items()
        if not _is_number(weight) or weight <= 0
    ]


EVALUATION = "memory_attribution_integrity_structural"
_WEIGHTS = dict(zip(STRUCTURAL_CHECKS, (2.0, 2.0, 2.0, 1.0, 3.0), strict=True))

STRUCTURAL = Rubric(name="mai-structural/1", evaluation=EVALUATION, weights=_WEIGHTS)

MEMLEDGER = Rubric(name="memledger/2.0", evaluation=EVALUATION, weights=_WEIGHTS, counting="spans")

STRICT = Rubric(
    name="mai-structural-strict/1",
    evaluation=EVALUATION,
    # Light enough, together, that a trace which fails mai-structural/1 never passes here for want of findings.
    weights=_WEIGHTS | dict.fromkeys(FINDING_CHECKS, 0.3),
)

RUBRICS = {known.name: known for known in (STRUCTURAL, MEMLEDGER, STRICT)}
"""The built-in rubrics by name."""

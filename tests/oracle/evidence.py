"""The confidence of a memory whose writer gives none, from how it came to be: docs/confidence.md by brute force."""

import math
import re
from collections.abc import Sequence

from oracle.operations import Op
from oracle.spans import Spot
from oracle.values import Row, as_text, cited, confidence, parsed

STRENGTH = (
    dict.fromkeys(("direct", "direct_statement", "user_message"), 0.95)
    | dict.fromkeys(("confirmation", "user_confirmation"), 0.8)
    | dict.fromkeys(("strong_inference", "tool_output"), 0.7)
    | dict.fromkeys(("weak_inference", "retrieved_document"), 0.5)
    | dict.fromkeys(("speculation", "model_inference"), 0.3)
)
MODELS = {"gpt-3.5": 0.65, "sonnet": 0.9, "haiku": 0.8, "gpt-4": 0.85, "opus": 0.9}
PRIOR = {"entity": 0.9, "event": 0.85, "fact": 0.8, "preference": 0.75, "relation": 0.7}
CALLS = {"chat", "generate_content", "text_completion"}


def said(op: Op, key: str, attribute: str) -> str | None:
    """What the record says of itself, else what its span says."""
    value = op.about.get(key)
    return op.spot.text.get(attribute) if value is None else as_text(value)  # type: ignore[arg-type]


def word(text: str | None) -> str:
    return "_".join(re.split(r"[\s_-]+", text or "")).strip("_").lower()


def content(op: Op) -> str:
    """What is written, as it is known again; '' for nothing."""
    value = op.about.get("content")
    return " ".join(as_text(value).split()).lower() if value is not None else ""  # type: ignore[arg-type]


def called(spot: Spot) -> str | None:
    """The model that a span calls."""
    if spot.text.get("gen_ai.operation.name") not in CALLS and spot.text.get("openinference.span.kind") != "LLM":
        return None
    keys = ("gen_ai.response.model", "gen_ai.request.model", "llm.model_name")
    return next((spot.text[key] for key in keys if key in spot.text), None) or None


def extractor(spot: Spot) -> str | None:
    """The model of the nearest call around a write, else of the last call before it under the same parent."""
    around = [model for up in spot.up if (model := called(up))]
    before = [s for s in spot.trace.values() if s.s.parent == spot.s.parent != 0 and s is not spot and called(s)]
    ended = sorted((s.time, s.s.span) for s in before if s.time <= spot.start)
    return around[0] if around else called(spot.trace[ended[-1][1]]) if ended else None


def observations(op: Op, writes: Sequence[Op]) -> int:
    """In how many spans this content was written so far, this one included, not counting what derives from memories."""
    same = [w for w in writes if w.spot.s.environment == op.spot.s.environment and content(w) == content(op) != ""]
    return max(1, len({w.spot for w in same if w.order <= op.order and not w.parents}))


def derived(op: Op, writes: Sequence[Op]) -> tuple[float, list[Row]] | None:
    """The confidence, and of what: of a write among all writes that make a version."""
    named = [word(source) for source in cited(said(op, "source", "memory.source"))]
    told = [STRENGTH[name] for name in named if name in STRENGTH]
    if op.confidence is not None or not told:
        return None
    sure = said(op, "confirmed", "memory.confirmed") == "true"
    s, counted = max(told + [0.8] * sure), said(op, "observations", "memory.observations")
    declares = counted is not None and re.fullmatch(r"[0-9]{1,9}", counted) is not None
    n = sure + (int(counted or 0) if declares else observations(op, writes) + len(told) - 1)
    r = 1 - 1 / (1 + math.log(1 + n))
    e, model, model_origin = extracted(op)
    kind = word(op.memory_type)
    t = PRIOR.get(kind, 0.75)
    value = min(1.0, 0.45 * s + 0.2 * r + 0.25 * e + 0.1 * t)
    value = min(0.99, value) if sure else value
    rows: list[tuple[str, str | None, float, str]] = [
        ("source_strength", ", ".join(named), s, "span"),
        ("repetition", str(n), r, "span" if declares else "writes" if content(op) else "default"),
        ("extractor", model, e, model_origin),
        ("type_prior", op.memory_type, t, "span" if kind in PRIOR else "default"),
    ]
    rows += [("confirmation", "true", 0.99, "span")] * sure
    verdict = said(op, "grounding", "memory.grounding")
    penalty = 0.2 if word(verdict) == "partial" else confidence(verdict)
    if penalty is not None:
        value = max(0.0, value - penalty)
        rows.append(("grounding", verdict, penalty, "span"))
        rows += [("below_floor", None, 0.3, "default")] * (value < 0.3)
    return value, [dict(zip(("signal", "said", "value", "origin"), row, strict=True)) for row in rows]


def extracted(op: Op) -> tuple[float, str | None, str]:
    """Extractor confidence, what says so, and whence that is known."""
    logprobs = parsed(said(op, "logprobs", "memory.extractor.logprobs"))
    if isinstance(logprobs, list) and logprobs and all(isinstance(p, int | float) and p <= 0 for p in logprobs):
        total = 0.0
        for p in logprobs:  # sum() compensates from Python 3.12 on
            total += p
        return math.exp(total / len(logprobs)), "logprobs", "span"
    own = said(op, "extractor", "memory.extractor.model")
    model = own or extractor(op.spot)
    values = [value for part, value in MODELS.items() if part in (model or "").lower()]
    return (values[0], model, "span" if own else "trace") if values else (0.65, model, "default")

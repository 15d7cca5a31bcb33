"""The analysis of weaklink. Imported from here: the functions that score a handful of records or spans.

This module costs nothing to import: what needs DuckDB or Arrow is in modules of its own.
"""

from weaklink_analysis.mai.attribution import (
    ATTRIBUTION,
    Attribution,
    AttributionIntegrityResult,
    ReliedOn,
    evaluate_attribution_integrity,
    evaluate_decision,
)
from weaklink_analysis.mai.files import evaluate_from_file
from weaklink_analysis.mai.rubrics import RUBRICS, Rubric, RubricError, rubric_from
from weaklink_analysis.mai.structural import (
    StructuralCheckResult,
    StructuralEvalResult,
    evaluate_from_memory_records,
    evaluate_structural,
)

__all__ = [
    "ATTRIBUTION",
    "RUBRICS",
    "Attribution",
    "AttributionIntegrityResult",
    "ReliedOn",
    "Rubric",
    "RubricError",
    "StructuralCheckResult",
    "StructuralEvalResult",
    "evaluate_attribution_integrity",
    "evaluate_decision",
    "evaluate_from_file",
    "evaluate_from_memory_records",
    "evaluate_structural",
    "rubric_from",
]

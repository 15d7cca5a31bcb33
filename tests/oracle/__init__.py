"""What the tables must hold, by brute force: plain Python from semantics.md, sharing no code with the engine.

`tables` walks graphs and sorts lists; nothing is kept between calls, so no order of arrival can matter. Rows have the
columns of schema.md without row keys, revision and evaluated_at; JSON columns are Python values.

values -> spans -> operations -> evidence, versions -> world -> judged, found -> rows: each knows those before it only.
"""

from oracle.found import SEVERITY, findings
from oracle.judged import attribution, structure
from oracle.operations import SESSION, Op
from oracle.rows import tables
from oracle.spans import Spot
from oracle.values import Memory, Row
from oracle.versions import Decision, Version
from oracle.world import Oracle, Rules

__all__ = [
    "SESSION",
    "SEVERITY",
    "Decision",
    "Memory",
    "Op",
    "Oracle",
    "Row",
    "Rules",
    "Spot",
    "Version",
    "attribution",
    "findings",
    "structure",
    "tables",
]

"""The codes of findings."""

from weaklink_analysis.models import environment
from weaklink_analysis.scoring import SCORING

_KNOWN = environment("views").get_template("finding_codes.jinja").make_module({"rounded": str, "scoring": SCORING})
CODES = tuple(sorted(code for codes in _KNOWN.finding_codes.values() for code in codes))  # type: ignore[attr-defined]

"""Baselines of gates in files: JSON, written whole or not at all."""

import os
import tempfile
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from weaklink_analysis.gate.verdict import Key, Mean, Rules, Verdict
from weaklink_processor.errors import UsageError

VERSION: Literal[1] = 1


class _Strict(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class _Entry(_Strict):
    tier: Literal["1", "3"]
    environment: str
    service_name: str
    agent_id: str
    check: str
    memory: str
    author: str
    score: float = Field(ge=0, le=1)
    targets: int = Field(ge=1)


class _Baseline(_Strict):
    version: Literal[1]
    rubrics: Mapping[str, str]
    entries: tuple[_Entry, ...]


def read_baseline(file: Path, rules: Rules) -> Mapping[Key, Mean]:
    """Read what a run was like.

    Raises:
        UsageError: it cannot be read, is none, or was made by other rubrics.
    """
    try:
        found = _Baseline.model_validate_json(file.read_text("utf-8"))
    except OSError as error:
        raise UsageError(f"--baseline: {file}: {error.strerror}") from error
    except ValidationError as error:
        (first, *_) = error.errors()
        if first["loc"] == ("version",) and isinstance(first["input"], int) and first["input"] > VERSION:
            newer = f"version {first['input']} is newer than the {VERSION} that this weaklink reads"
            raise UsageError(f"--baseline: {file}: {newer}") from error
        where = ".".join(map(str, first["loc"]))
        raise UsageError(f"--baseline: {file}: no baseline: {f'{where}: ' if where else ''}{first['msg']}") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"--baseline: {file}: no baseline: not UTF-8") from error
    if found.rubrics != _rubrics(rules):
        theirs, ours = (", ".join(rubrics.values()) for rubrics in (found.rubrics, _rubrics(rules)))
        raise UsageError(f"--baseline: {file}: made by {theirs}, and what is judged now is by {ours}")
    return {
        Key(**entry.model_dump(exclude={"score", "targets"})): Mean(entry.score, entry.targets)
        for entry in found.entries
    }


def write_baseline(file: Path, verdict: Verdict) -> None:
    """Write what this run is like."""
    means = sorted(verdict.means.items(), key=str)
    entries = tuple(_Entry(**asdict(key), score=mean.score, targets=mean.targets) for key, mean in means)
    told = _Baseline(version=VERSION, rubrics=_rubrics(verdict.rules), entries=entries)
    write_whole(file, told.model_dump_json(indent=2) + "\n")


def write_whole(file: Path, text: str) -> None:
    """Write a file, or leave what is there.

    Raises:
        UsageError: it cannot be written.
    """
    aside = None
    try:
        descriptor, name = tempfile.mkstemp(prefix=f".{file.name}.", dir=file.parent)
        aside = Path(name)
        with os.fdopen(descriptor, "w", encoding="utf-8") as whole:
            whole.write(text)
        aside.chmod(0o644)
        aside.replace(file)
    except OSError as error:
        if aside:
            aside.unlink(missing_ok=True)
        raise UsageError(f"{file}: {error.strerror}") from error


def _rubrics(rules: Rules) -> dict[str, str]:
    return {"1": rules.attribution.name, "3": rules.rubric.name}

"""A small catalogue with the views that the commands read."""

from pathlib import Path

import duckdb
import pytest

from weaklink_analysis.operations import Settings
from weaklink_analysis.views import VIEWS, create_statements

VERSIONS = """
    CREATE SCHEMA lake;
    CREATE TABLE lake.memory_versions AS
    SELECT row_number() OVER () AS version_key, environment, store, memory_id, version::BIGINT AS version, agent_id,
           declared::DOUBLE AS declared_confidence, effective::DOUBLE AS effective_confidence, flag AS confidence_flag,
           TIMESTAMPTZ '2026-01-02 03:04:05+00' AS written_at, weakest_id
    FROM (VALUES
        ('', '', 'triage-1', 1, 'triage', 0.30, 0.30, 'FILTER', 'triage-1'),
        ('', '', 'diagnosis-1', 1, 'old', 0.99, 0.99, 'PASS', 'diagnosis-1'),
        ('', '', 'diagnosis-1', 2, 'diagnosis', 0.85, 0.30, 'FILTER', 'triage-1'),
        ('', '', 'action-1', 1, 'action', 0.95, 0.30, 'FILTER', 'triage-1'),
        ('', '', 'loop-a', 1, NULL, 0.8, 0.7, 'PASS', 'loop-b'),
        ('', '', 'loop-b', 1, NULL, 0.7, 0.7, 'PASS', 'loop-b'),
        ('', '', 'diamond', 1, 'd', 0.9, 0.3, 'FILTER', 'triage-1'),
        ('', '', 'far', 1, 'f', 0.9, 0.5, 'FLAG', 'shelf'),
        ('', 'elsewhere', 'shelf', 1, 's', 0.5, 0.5, 'FLAG', 'shelf'),
        ('prod', '', 'twin', 1, 't', 0.5, 0.5, 'FLAG', 'twin'),
        ('prod', 'b', 'twin', 1, 't', 0.6, 0.6, 'PASS', 'twin'),
        ('test', '', 'twin', 1, 't', 0.7, 0.7, 'PASS', 'twin'),
        ('', '', 'evil' || chr(27) || '[31m', 1, 'x[bold]', 0.7, 0.7, 'PASS', 'evil' || chr(27) || '[31m')
    ) t(environment, store, memory_id, version, agent_id, declared, effective, flag, weakest_id);
    CREATE VIEW memory_versions AS SELECT * EXCLUDE (version_key) FROM lake.memory_versions;
"""
DERIVATIONS = """
    CREATE VIEW derivations AS
    SELECT '' AS environment, '' AS store, child_id, child_version::BIGINT AS child_version, parent_id,
           parent_store, parent_version::BIGINT AS parent_version
    FROM (VALUES
        ('action-1', 1, 'diagnosis-1', '', 2), ('diagnosis-1', 2, 'triage-1', '', 1),
        ('action-1', 1, 'ghost', NULL, NULL),
        ('loop-a', 1, 'loop-b', '', 1), ('loop-b', 1, 'loop-a', '', 1),
        ('diamond', 1, 'diagnosis-1', '', 2), ('diamond', 1, 'triage-1', '', 1),
        ('far', 1, 'shelf', 'elsewhere', 1)
    ) t(child_id, child_version, parent_id, parent_store, parent_version);
    CREATE TABLE lake.derivations AS
    SELECT d.*, child.version_key AS child_key, parent.version_key AS parent_key
    FROM derivations AS d
    JOIN lake.memory_versions AS child
      ON (child.memory_id, child.version) = (d.child_id, d.child_version)
    LEFT JOIN lake.memory_versions AS parent
      ON (parent.memory_id, parent.store, parent.version) = (d.parent_id, d.parent_store, d.parent_version);
"""
OTHERS = """
    CREATE VIEW memories AS
    FROM memory_versions QUALIFY version = max(version) OVER (PARTITION BY environment, store, memory_id);
    CREATE VIEW spans AS SELECT 't' || range // 2 AS trace_id, 's' || range AS span_id FROM range(10);
    CREATE VIEW evaluations AS SELECT 't0' AS trace_id;
"""


@pytest.fixture
def data_dir(tmp_path: Path) -> Path:
    """A data folder that holds a catalogue."""
    folder = tmp_path / "data"
    folder.mkdir()
    with duckdb.connect(folder / "weaklink.duckdb") as catalogue:
        for statement in (VERSIONS, DERIVATIONS, OTHERS, *create_statements(Settings())[len(VIEWS) :]):
            catalogue.execute(statement)
    return folder

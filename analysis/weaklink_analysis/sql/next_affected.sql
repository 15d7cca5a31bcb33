-- Grain: a version one derivation below the newest affected ones, and not among the affected yet.
SELECT DISTINCT e.child_key AS version_key
FROM edges AS e
SEMI JOIN frontier AS f ON e.parent_key = f.version_key
ANTI JOIN affected AS a ON e.child_key = a.version_key

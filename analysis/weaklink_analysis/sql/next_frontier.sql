-- Grain: a version one derivation below those that the last round changed.
SELECT DISTINCT e.child_key AS version_key
FROM edges AS e
SEMI JOIN chain_round AS c ON e.parent_key = c.version_key

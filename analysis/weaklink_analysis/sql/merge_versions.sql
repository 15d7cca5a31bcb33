DELETE FROM versions WHERE version_key IN (SELECT version_key FROM removed_versions);
UPDATE versions SET
    version = c.version, store = c.store, origin = c.origin, agent_id = c.agent_id, session_id = c.session_id,
    declared = c.declared, confidence_source = c.confidence_source, confidence_signals = c.confidence_signals,
    min_threshold = c.min_threshold, flag_threshold = c.flag_threshold
FROM (FROM changed_versions WHERE known) AS c
WHERE versions.version_key = c.version_key;
INSERT INTO versions BY NAME FROM new_versions;
DELETE FROM chains WHERE version_key IN (SELECT version_key FROM removed_versions);

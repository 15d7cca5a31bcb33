DELETE FROM versions WHERE version_key IN (
    SELECT version_key FROM changed_versions UNION ALL SELECT version_key FROM removed_versions
);
INSERT INTO versions BY NAME FROM changed_versions;
DELETE FROM chains WHERE version_key IN (SELECT version_key FROM removed_versions);

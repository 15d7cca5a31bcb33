-- Grain: an affected version that was stored before. What derives from a new one was resolved anew, so is affected too.
FROM affected
ANTI JOIN (FROM changed_versions WHERE NOT known) AS n USING (version_key)

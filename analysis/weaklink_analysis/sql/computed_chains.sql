-- Grain: an affected version: its chain numbers.
SELECT n.*, o.others
FROM computed AS n
LEFT JOIN others AS o ON n.version_key = o.version_key

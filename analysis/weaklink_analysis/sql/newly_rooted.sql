-- Grain: a stored edge whose parent becomes resolved, or unresolved: the child may begin, or cease, to have a chain.
SELECT c.child_key
FROM changed_edges AS c
INNER JOIN known_edges AS k ON c.child_key = k.child_key AND c.parent_name_key = k.parent_name_key
WHERE (c.parent_key IS NULL) <> (k.parent_key IS NULL)

-- Grain: a version. For 1, 2, ... hops: the lowest confidence declared at most so far above it, and by whom: the nearest, of
-- several the smallest memory id. Null where there is none. A version needs only its direct parents' numbers.
CREATE TABLE IF NOT EXISTS chains (
    version_key BIGINT,
    {%- for h in hops %}
    low_{{ h }} DOUBLE,
    at_{{ h }} BIGINT,  -- a version; below 0: an unresolved parent, by its name key
    {%- endfor %}
    chain_depth INTEGER,  -- the longest chain above, capped at max_hops + 1
    unresolved_parents INTEGER,
    gap INTEGER,  -- hops to the nearest version with an unresolved parent, capped at max_hops
    loops BOOLEAN,  -- on a cycle the version found itself to be its weakest ancestor, which it is not
    others DOUBLE  -- then the lowest confidence among its ancestors but for itself
);

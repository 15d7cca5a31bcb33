-- Grain: a version. Its hop-vector: the weakest ancestor at most 1, 2, ... hops above it, smallest of
-- (confidence, hop, memory id); null where there is none. A version needs only its direct parents' vectors.
CREATE TABLE IF NOT EXISTS chains (
    version_key BIGINT,
    {%- for h in hops %}
    above_{{ h }} STRUCT(confidence DOUBLE, hop INTEGER, memory_id VARCHAR, version_key BIGINT),
    {%- endfor %}
    chain_depth INTEGER,  -- the longest chain above, capped at max_hops + 1
    unresolved_parents INTEGER,
    loops BOOLEAN,  -- on a cycle the version found itself to be its weakest ancestor, which it is not
    others DOUBLE,  -- then the lowest confidence among its ancestors but for itself
    gap INTEGER  -- hops to the nearest version with an unresolved parent, capped at max_hops
);

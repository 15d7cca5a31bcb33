-- What is published of due traces, and what findings there may refer to.
CREATE OR REPLACE TEMP TABLE due_keys AS
SELECT v.version_key FROM versions AS v SEMI JOIN due AS d ON v.trace = d.trace;
-- With what they derive from: the derivation that shows a cycle may be another's on it, whose trace is not due.
CREATE OR REPLACE TEMP TABLE due_lines AS
WITH RECURSIVE lines(version_key, hop) AS (
    SELECT version_key, 0 FROM due_keys
    UNION
    SELECT e.parent_key, l.hop + 1
    FROM lines AS l
    INNER JOIN edges AS e ON l.version_key = e.child_key
    WHERE e.parent_key IS NOT NULL AND l.hop < {{ max_hops }}
)
SELECT DISTINCT version_key FROM lines;
{%- for table, keys in {
    'memory_operations': 'due_operations',
    'memory_versions': 'due_keys',
    'derivations': '(SELECT e.child_key, e.parent_name_key FROM edges AS e SEMI JOIN due_lines AS k ON e.child_key = k.version_key)',
    'decisions': 'judged_decisions',
}.items() %}
CREATE OR REPLACE TEMP TABLE due_{{ table }} AS
{% set changed = keys %}{% include table ~ '.sql' %};
{%- endfor %}
CREATE OR REPLACE TEMP VIEW known_links AS
SELECT e.child_key, e.parent_key, n.memory_id AS parent_id
FROM main.edges AS e
INNER JOIN main.names AS n ON e.parent_name_key = n.name_key;

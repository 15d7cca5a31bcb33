-- The keys of published rows that changed or ceased to be, before a batch says which; and what it changed them by.
CREATE OR REPLACE TEMP TABLE changed_memory_operations (row_id BIGINT, ordinal INTEGER, trace UUID);
CREATE OR REPLACE TEMP TABLE removed_memory_operations (row_id BIGINT, ordinal INTEGER);
CREATE OR REPLACE TEMP TABLE changed_memory_versions (version_key BIGINT);
CREATE OR REPLACE TEMP TABLE removed_memory_versions (version_key BIGINT);
CREATE OR REPLACE TEMP TABLE changed_derivations (child_key BIGINT, parent_name_key BIGINT);
CREATE OR REPLACE TEMP TABLE removed_derivations (child_key BIGINT, parent_name_key BIGINT);
CREATE OR REPLACE TEMP TABLE changed_decisions (trace UUID, span UBIGINT);
CREATE OR REPLACE TEMP TABLE removed_decisions (trace_id VARCHAR, span_id VARCHAR);
CREATE OR REPLACE TEMP TABLE changed_evaluations (evaluation_key BIGINT, revised BOOLEAN);
CREATE OR REPLACE TEMP TABLE removed_evaluations (evaluation_key BIGINT);
CREATE OR REPLACE TEMP TABLE touched (name_key BIGINT);
CREATE OR REPLACE TEMP TABLE changed_edges (child_key BIGINT);
CREATE OR REPLACE TEMP TABLE removed_edges (child_key BIGINT);
CREATE OR REPLACE TEMP TABLE affected (version_key BIGINT);
CREATE OR REPLACE TEMP TABLE known_edges (child_key BIGINT, parent_name_key BIGINT, parent_key BIGINT);
CREATE OR REPLACE TEMP TABLE links (child_key BIGINT, parent_key BIGINT);
CREATE OR REPLACE TEMP TABLE frontier (version_key BIGINT);

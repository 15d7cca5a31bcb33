-- The keys of published rows that changed or ceased to be, before a batch says which.
CREATE OR REPLACE TEMP TABLE changed_memory_operations (row_id BIGINT, ordinal INTEGER);
CREATE OR REPLACE TEMP TABLE removed_memory_operations (row_id BIGINT, ordinal INTEGER);
CREATE OR REPLACE TEMP TABLE changed_memory_versions (version_key BIGINT);
CREATE OR REPLACE TEMP TABLE removed_memory_versions (version_key BIGINT);
CREATE OR REPLACE TEMP TABLE changed_derivations (child_key BIGINT, parent_name_key BIGINT);
CREATE OR REPLACE TEMP TABLE removed_derivations (child_key BIGINT, parent_name_key BIGINT);
CREATE OR REPLACE TEMP TABLE changed_evaluations (trace UUID, name VARCHAR, rubric VARCHAR, revised BOOLEAN);
CREATE OR REPLACE TEMP TABLE removed_evaluations (trace_id VARCHAR, name VARCHAR, rubric VARCHAR);

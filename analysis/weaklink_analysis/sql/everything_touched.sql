-- The inputs of the version models when nothing arrived but every name is to be computed anew.
CREATE OR REPLACE TEMP TABLE touched AS SELECT name_key FROM names;
CREATE OR REPLACE TEMP TABLE named_operations AS FROM operations LIMIT 0;
CREATE OR REPLACE TEMP TABLE known_names AS FROM names LIMIT 0;
CREATE OR REPLACE TEMP TABLE removed_operations AS FROM operations LIMIT 0;
CREATE OR REPLACE TEMP TABLE inherited AS FROM operations LIMIT 0;

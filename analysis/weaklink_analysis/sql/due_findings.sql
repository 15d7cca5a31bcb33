-- Grain: a finding on a due trace, or on what memories of one derive from.
{% include 'findings.sql' %}

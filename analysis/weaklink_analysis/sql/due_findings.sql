-- Grain: a finding on a due trace.
{% include 'findings.sql' %}

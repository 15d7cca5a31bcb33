{% include 'evaluation_history.sql' %}
WHERE NOT e.ceased

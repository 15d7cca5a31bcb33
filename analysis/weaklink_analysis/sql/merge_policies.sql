-- The configured thresholds may have changed since the operations were admitted.
UPDATE operations SET
    min_threshold = {{ policy('operations', 'min') }},
    flag_threshold = {{ policy('operations', 'flag') }};

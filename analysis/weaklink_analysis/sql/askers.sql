-- Grain: a span in a trace of this batch whose writes say from what source, but neither how sure nor by which extractor.
SELECT DISTINCT o.trace, o.span, o.parent, o.start_ns
FROM operations AS o
SEMI JOIN fresh AS f ON o.trace = f.trace
WHERE
    o.signals IS NOT NULL
    AND o.confidence IS NULL
    AND o.signals.extractor IS NULL

-- What one view believes of each slot, as it is served without a time. {of} is its database, {side} tells it from the other.
-- A value is known by its canonical form, so that 1 and 1.0 are the same; true and false by themselves, since verdicts have
-- keys of their own and a predicate may be one in one view alone.
CREATE OR REPLACE TEMP TABLE believed_{side} AS
WITH
served AS (
    SELECT
        m.*,
        CASE
            WHEN m.status = 'current' AND NOT m.failed AND m.support IN (SELECT node FROM {of}down) THEN 'withdrawn'
            ELSE m.status
        END AS told
    FROM {of}memory AS m
    WHERE m.namespace = $namespace OR $namespace IS NULL
)
SELECT
    v.namespace, v.scope, v.subject, v.predicate, coalesce(v.many, '') AS many,
    v.told AS status,
    CASE WHEN v.told = 'current' THEN v.value END AS value,
    CASE
        WHEN v.told <> 'current' THEN NULL
        WHEN v.value IN ('true', 'false') THEN v.value
        ELSE s.value_key
    END AS value_key,
    v.assertion_id, v.source, v.id, s.readers
FROM served AS v LEFT JOIN {of}assertion AS s ON s.a = v.a;

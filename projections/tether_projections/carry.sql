-- The outbox of a former generation, attached as `former`, in the ids of the one that follows it. Statements are
-- parted by empty lines; each runs in the same transaction.

-- Names are the same in both: a name's digest tells which id it has here.
CREATE TEMP TABLE id_now AS
SELECT o.id AS former, n.id AS now
FROM (
    SELECT hi, lo, ev AS id FROM former.evidence
    UNION SELECT hi, lo, node FROM former.node
    UNION SELECT hi, lo, a FROM former.assertion
    UNION SELECT hi, lo, l FROM former.link
) AS o
JOIN (
    SELECT hi, lo, ev AS id FROM evidence
    UNION SELECT hi, lo, node FROM node
    UNION SELECT hi, lo, a FROM assertion
    UNION SELECT hi, lo, l FROM link
) AS n USING (hi, lo);

CREATE TEMP TABLE slot_now AS
SELECT o.slot AS former, n.slot AS now
FROM former.memory AS o
JOIN id_now AS i ON i.former = o.object
JOIN memory AS n
    ON n.object = i.now AND n.scope = o.scope AND n.predicate = o.predicate AND n.many IS NOT DISTINCT FROM o.many;

-- What this generation does not have gets a number below zero, and keeps its names: a slot that changes were told of, or
-- one that was served and whose name has no slot any more.
CREATE TEMP TABLE slot_gone AS
WITH
left_over AS (
    SELECT m.slot, m.namespace, m.scope, m.subject, m.predicate, m.status
    FROM former.memory AS m ANTI JOIN slot_now AS s ON s.former = m.slot
),
ended AS (                              -- no slot of these names here: whoever read it must be told
    SELECT slot FROM left_over ANTI JOIN memory USING (namespace, scope, subject, predicate) WHERE status = 'current'
),
known AS (
    SELECT slot, namespace, scope, subject, predicate FROM left_over
    UNION ALL
    SELECT slot, namespace, scope, subject, predicate FROM former.slot_past
),
told AS (
    SELECT slot FROM former.change UNION SELECT slot FROM ended
)
SELECT
    o.slot AS former, o.namespace, o.scope, o.subject, o.predicate, e.slot IS NOT NULL AS served,
    -row_number() OVER (ORDER BY o.slot) AS now
FROM known AS o SEMI JOIN told USING (slot) LEFT JOIN ended AS e ON e.slot = o.slot;

INSERT INTO slot_past SELECT now, namespace, scope, subject, predicate FROM slot_gone;

INSERT INTO change
SELECT
    c.seq, coalesce(s.now, g.now), c.kind, c.status, coalesce(a.now, 0),
    CASE WHEN root.now IS NULL THEN '' ELSE c.cause END, coalesce(ref.now, 0), coalesce(root.now, 0), c.position
FROM former.change AS c
LEFT JOIN slot_now AS s ON s.former = c.slot
LEFT JOIN slot_gone AS g ON g.former = c.slot
LEFT JOIN id_now AS a ON a.former = c.a
LEFT JOIN id_now AS ref ON ref.former = c.ref
LEFT JOIN id_now AS root ON root.former = c.root
ORDER BY c.seq;

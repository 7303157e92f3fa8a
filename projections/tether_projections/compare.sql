-- What every id is called in one view: {of} is its database, {side} tells its names from the other's. Parts of a name
-- stand on lines of their own, since no name holds a line break. An id that two rows claim has both names.
CREATE OR REPLACE TEMP TABLE names_{side} AS
WITH
claimed AS (
    SELECT ev AS id, concat_ws(chr(10), 'evidence', namespace, source, id) AS name FROM {of}evidence
    UNION ALL
    SELECT node, concat_ws(chr(10), kind, namespace, source, text) FROM {of}node
    UNION ALL
    SELECT s.a, concat_ws(chr(10), 'assertion', m.namespace, s.assertion_id)
    FROM {of}assertion AS s LEFT JOIN {of}memory AS m USING (slot)
    UNION ALL
    SELECT l.l, concat_ws(chr(10), 'link', e.namespace, l.link_id)
    FROM {of}link AS l LEFT JOIN {of}evidence AS e USING (ev)
    UNION ALL
    SELECT slot, concat_ws(chr(10), 'slot', namespace, scope, subject, predicate, many) FROM {of}memory
    UNION ALL
    SELECT 0, 'nothing'
)
SELECT id, CASE WHEN min(name) = max(name) THEN min(name) ELSE concat(min(name), ' and ', max(name)) END AS name
FROM claimed
GROUP BY id;

-- A phantom's row stays when what it names is recorded at last, and is not made where that was recorded before: left
-- out where it says what the record says, and only once.
CREATE OR REPLACE TEMP VIEW node_{side} AS
WITH
recorded AS (
    SELECT ev AS node, hi, lo, 'evidence' AS kind, namespace, id AS text, source FROM {of}evidence
    UNION ALL
    SELECT s.a, s.hi, s.lo, 'assertion', m.namespace, s.assertion_id, NULL
    FROM {of}assertion AS s JOIN {of}memory AS m USING (slot)
),
numbered AS (
    SELECT *, row_number() OVER (PARTITION BY node ORDER BY kind, hi, lo, text) AS nth FROM {of}node
)
SELECT n.* EXCLUDE (nth)
FROM numbered AS n ANTI JOIN recorded AS r
    ON r.node = n.node AND n.nth = 1 AND r.hi = n.hi AND r.lo = n.lo AND r.kind = n.kind
    AND r.namespace = n.namespace AND r.text = n.text AND r.source IS NOT DISTINCT FROM n.source
    AND n.base IS NULL AND n.version IS NULL;

-- Edges, each as often as it counts. Which copies there are depends on the batches: what names both an assertion and its
-- evidence says one edge twice, and an evidence that comes with what named it is found twice; a statement that names its
-- own subject says so beside resting on it. More copies than that are told. A link that named an assertion before it was
-- recorded leaves edges that died then: left out.
CREATE OR REPLACE TEMP VIEW edge_{side} AS
WITH
counted AS (
    SELECT dependent, premise, via, of, flags, count(*) AS copies FROM {of}edge GROUP BY ALL
),
doubtful AS (
    SELECT * FROM counted WHERE copies > 1 OR flags & 1 = 0
),
named AS (                              -- by how many premises of what says so, and whether it waited for its dependent
    SELECT d.dependent, d.premise, d.via, d.of, d.flags, count(*) AS ways, false AS waited
    FROM doubtful AS d JOIN {of}premise AS p ON p.owner = d.via AND p.node = d.premise
    GROUP BY ALL
    UNION ALL
    SELECT d.dependent, d.premise, d.via, d.of, d.flags, 2 * count(*), false
    FROM doubtful AS d JOIN {of}assertion AS s ON s.a = d.premise
    JOIN {of}premise AS p ON p.owner = d.via AND p.node = s.ev
    GROUP BY ALL
    UNION ALL
    SELECT d.dependent, d.premise, d.via, d.of, d.flags, 0, true
    FROM doubtful AS d JOIN {of}link AS l ON l.l = d.via AND l.kind = 1 AND l.dependent = d.dependent
    WHERE d.of = d.dependent
    GROUP BY ALL
),
allowed AS (
    SELECT
        dependent, premise, via, of, flags,
        sum(ways) * CASE WHEN bool_or(waited) THEN 2 ELSE 1 END + any_value(CAST(via = dependent AS INTEGER)) AS copies,
        bool_or(waited) AND bool_or(NOT waited) AS waited
    FROM named
    GROUP BY ALL
),
left_over AS (
    SELECT a.dependent, a.premise, a.via, a.of, a.flags
    FROM allowed AS a
    JOIN {of}assertion AS s ON s.a = a.dependent
    JOIN {of}memory AS m ON m.slot = s.slot
    LEFT JOIN {of}node AS o ON o.node = a.premise AND o.kind = 'object'
    WHERE
        a.waited AND a.flags & 21 = 0   -- neither live, nor content, nor dynamic
        AND (
            (a.via NOT IN (SELECT id FROM {of}invalidated) AND a.of NOT IN (SELECT id FROM {of}invalidated))
            OR (a.flags & 2 = 2 AND o.node IS NULL)
            OR (m.verdict AND o.node IS NOT NULL)
        )
)
SELECT
    c.dependent, c.premise, c.via, c.of, c.flags,
    CASE WHEN c.copies <= a.copies THEN 1 ELSE c.copies END AS copies
FROM counted AS c
LEFT JOIN allowed AS a USING (dependent, premise, via, of, flags)
ANTI JOIN left_over AS o USING (dependent, premise, via, of, flags);

-- Who decides over each slot. A statement that rests on its subject alone may stand for itself or be stood for by that:
-- an edge from it to its subject is made when it is first named, which believes no slot anew. Both are down together.
CREATE OR REPLACE TEMP TABLE decides_{side} AS
WITH
claimed AS (
    SELECT slot, node FROM {of}support
    UNION
    SELECT slot, support FROM {of}memory
),
bound AS (                              -- statements that rest on something else too
    SELECT DISTINCT e.dependent AS node
    FROM {of}edge AS e
    JOIN {of}assertion AS s ON s.a = e.dependent
    JOIN {of}memory AS m ON m.slot = s.slot
    WHERE e.flags & 1 = 1 AND e.premise <> m.object
)
SELECT
    c.slot, c.node,
    CASE
        WHEN s.a IS NULL OR b.node IS NOT NULL THEN c.node
        WHEN m.verdict OR m.rests THEN m.object
        ELSE 0
    END AS decider
FROM claimed AS c
JOIN {of}memory AS m ON m.slot = c.slot
LEFT JOIN {of}assertion AS s ON s.a = c.node AND s.slot = c.slot
LEFT JOIN bound AS b ON b.node = c.node;

CREATE OR REPLACE TEMP TABLE deciders_{side} AS
SELECT
    d.slot,
    CASE WHEN bool_or(d.decider = 0) THEN 'nothing' ELSE string_agg(DISTINCT n.name, ' or ' ORDER BY n.name) END AS name,
    count(DISTINCT d.decider) AS several
FROM decides_{side} AS d LEFT JOIN names_{side} AS n ON n.id = d.decider
GROUP BY d.slot;

-- Rows of slots over which several decide; one row alone, or one that stands twice, is never made.
CREATE OR REPLACE TEMP VIEW support_{side} AS
WITH
counted AS (
    SELECT slot, node, count(*) AS copies, count(*) OVER (PARTITION BY slot) AS of_slot
    FROM {of}support
    GROUP BY slot, node
)
SELECT DISTINCT c.slot, coalesce(d.decider, c.node) AS node, c.copies
FROM counted AS c LEFT JOIN decides_{side} AS d USING (slot, node) LEFT JOIN deciders_{side} AS r USING (slot)
WHERE c.of_slot = 1 OR c.copies > 1 OR (r.several > 1 AND r.name <> 'nothing') OR r.slot IS NULL;

-- What is reached, from the stored tables alone: layer D as one plain recursive UNION (design, part 7). It ends on cycles
-- since no column but the node is carried. The one parameter is the flags an edge must have: 1 (LIVE) with possible
-- premises, 3 (LIVE and STATED) without; 8 is BLOCKED (graph.py).
WITH RECURSIVE
wanted AS (
    SELECT ?::TINYINT AS needs
),
hard AS (                               -- bad in itself, along every edge
    SELECT node FROM cause              -- an object: advisory, failed verdict, higher version
    UNION SELECT id FROM invalidated    -- declared wrong
    UNION SELECT id FROM ghost WHERE id > 0 -- erased; below zero are payloads alone
    UNION SELECT a FROM assertion WHERE NOT fit
    UNION
    SELECT s.ev                         -- evidence all of whose assertions are erased
    FROM assertion AS s LEFT JOIN ghost AS g ON g.id = s.a
    GROUP BY s.ev
    HAVING count(*) = count(g.id)
),
soft AS (                               -- superseded, outranked, disputed: not along blocked edges
    SELECT a AS node FROM stance WHERE stance <> 'invalidated'
),
live AS (
    SELECT e.dependent, e.premise, e.flags FROM edge AS e, wanted AS w WHERE e.flags & w.needs = w.needs
),
reached (node) AS (
    SELECT e.dependent FROM live AS e WHERE e.premise IN (SELECT node FROM hard)
    UNION
    SELECT e.dependent FROM live AS e WHERE e.flags & 8 = 0 AND e.premise IN (SELECT node FROM soft)
    UNION
    SELECT e.dependent FROM reached AS r JOIN live AS e ON e.premise = r.node
)
SELECT node FROM reached ORDER BY node

"""What two views believe differently, in SQL over both files; values that are erased anywhere are not shown."""

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

import orjson
from tether_schemas.answers import EvidenceId
from tether_schemas.reports import Belief, BeliefDifference, DifferingBelief, GenerationSide
from tether_schemas.reports import PredicateDifference as Difference

from tether_projections.rebuild import drop_tables
from tether_projections.store import Row, ViewStore

SIDES = ("a", "b")
MADE = ("believed_a", "believed_b", "erased_evidence", "beliefs")

# Evidence of which something is erased: itself, its payload, one of its assertions; or that is deleted in advance.
ERASED = """
    SELECT namespace, source, id FROM {of}evidence WHERE ev IN (SELECT abs(id) FROM {of}ghost)
    UNION
    SELECT e.namespace, e.source, e.id
    FROM {of}evidence AS e JOIN {of}assertion AS s USING (ev) JOIN {of}ghost AS g ON g.id = s.a
    UNION
    SELECT n.namespace, n.source, n.text
    FROM {of}node AS n JOIN {of}ghost AS g ON g.id = n.node
    WHERE n.kind = 'evidence'
"""
BELIEFS = """
    CREATE OR REPLACE TEMP TABLE beliefs AS
    SELECT
        namespace, scope, subject, predicate, many,
        CASE
            WHEN a.status IS NULL THEN 'added'
            WHEN b.status IS NULL THEN 'gone'
            WHEN a.status <> b.status OR a.value_key IS DISTINCT FROM b.value_key THEN 'changed'
            ELSE 'same'
        END AS kind,
        a.status AS status_a, a.value AS value_a, a.assertion_id AS assertion_a, a.source AS source_a, a.id AS id_a,
        a.readers IS NOT NULL AS restricted_a,
        b.status AS status_b, b.value AS value_b, b.assertion_id AS assertion_b, b.source AS source_b, b.id AS id_b,
        b.readers IS NOT NULL AS restricted_b
    FROM believed_a AS a FULL JOIN believed_b AS b USING (namespace, scope, subject, predicate, many)
"""
COUNTS = """
    SELECT
        namespace, predicate,
        count(*) FILTER (kind = 'added'), count(*) FILTER (kind = 'gone'), count(*) FILTER (kind = 'changed'),
        count(*) FILTER (kind = 'same')
    FROM beliefs
    GROUP BY namespace, predicate
    ORDER BY namespace, predicate
"""
BELIEF = (
    "status_{side}, value_{side}, "
    "restricted_{side} OR (namespace, source_{side}, id_{side}) IN (FROM erased_evidence), "
    "assertion_{side}, source_{side}, id_{side}"
)
EXAMPLES = f"""
    SELECT namespace, predicate, kind, scope, subject, {BELIEF.format(side="a")}, {BELIEF.format(side="b")}
    FROM beliefs
    WHERE kind <> 'same'
    QUALIFY row_number() OVER (PARTITION BY namespace, predicate, kind ORDER BY subject, scope, many) <= ?
    ORDER BY namespace, predicate, kind, subject, scope, many
"""


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two views: what it is called, and its file; None: the store that compares."""

    name: str
    path: str | None


def beliefs(store: ViewStore, sides: tuple[Side, Side], namespace: str | None, examples: int) -> BeliefDifference:
    """What the first of two views and the second believe of each slot, of one namespace or of all; at most `examples`
    of each kind for each predicate.

    What is erased by any of the three views is not shown. Raises ViewLocked for a file that another process has open,
    DataDirectory for one that is no view of this schema.
    """
    of = _attach(store, sides)
    try:
        with store.transaction():
            for side, prefix in zip(SIDES, of, strict=True):
                sql = files("tether_projections").joinpath("beliefs.sql").read_text("utf-8")
                store.execute(sql.format(of=prefix, side=side), {"namespace": namespace})
            erased = " UNION ".join(ERASED.format(of=prefix) for prefix in dict.fromkeys(("", *of)))
            store.execute(f"CREATE OR REPLACE TEMP TABLE erased_evidence AS {erased}")
            store.execute(BELIEFS)
        return _told(store, sides, of, examples)
    finally:
        with store.transaction():
            drop_tables(store, *MADE)
        for prefix in set(of) - {""}:
            store.detach(prefix.removesuffix("."))


def _attach(store: ViewStore, sides: tuple[Side, Side]) -> tuple[str, str]:
    """What stands before the tables of each side."""
    first, second = sides
    of_first = "" if first.path is None else "a."
    if first.path is not None:
        store.attach(first.path, "a")
    if second.path == first.path:
        return of_first, of_first
    if second.path is None:
        return of_first, ""
    try:
        store.attach(second.path, "b")
    except BaseException:
        if first.path is not None:
            store.detach("a")
        raise
    return of_first, "b."


def _told(store: ViewStore, sides: tuple[Side, Side], of: tuple[str, str], examples: int) -> BeliefDifference:
    shown: dict[tuple[str, str], list[DifferingBelief]] = {}
    for namespace, predicate, kind, scope, subject, *both in store.rows(EXAMPLES, [examples]):
        differing = DifferingBelief(kind, scope, subject, _belief(both[:6]), _belief(both[6:]))
        shown.setdefault((namespace, predicate), []).append(differing)
    predicates: list[Difference] = []
    for namespace, predicate, added, gone, changed, same in store.rows(COUNTS):
        of_it = tuple(shown.get((namespace, predicate), ()))
        predicates.append(Difference(namespace, predicate, added, gone, changed, same, of_it))
    return BeliefDifference(
        not any(one.added or one.gone or one.changed for one in predicates),
        GenerationSide(sides[0].name, _position(store, of[0])),
        GenerationSide(sides[1].name, _position(store, of[1])),
        tuple(predicates),
    )


def _belief(row: Sequence[Any] | Row) -> Belief | None:
    status, value, guarded, assertion, source, identifier = row
    if status is None:
        return None
    withheld = value is not None and bool(guarded)
    evidence = None if source is None else EvidenceId(source, identifier)
    return Belief(status, None if value is None or withheld else orjson.loads(value), withheld, assertion, evidence)


def _position(store: ViewStore, of: str) -> str:
    return str(store.rows(f"SELECT coalesce(max(position), 0) FROM {of}evidence")[0][0])
